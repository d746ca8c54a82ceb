"""What the fuzz test feeds with damaged bytes: each target reads one kind of file to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from statelift.io.keyed.backend import open_keyed
from statelift.io.keyed.raw_timers import RawKeyedState, open_raw_keyed
from statelift.io.metadata import (
    ByteStreamStateHandle,
    ChangelogStateBackendHandle,
    ChangelogStateHandleStreamImpl,
    HandleAndOffset,
    IncrementalRemoteKeyedStateHandle,
    InMemoryChangelogStateHandle,
    KeyGroupsSavepointStateHandle,
    KeyGroupsStateHandle,
    Metadata,
    OperatorStateHandle,
    StreamStateHandle,
    read_metadata,
)
from statelift.io.operator_state import open_operator
from statelift.io.sst.manifest_read import read_manifest
from statelift.io.sst.scan import scan
from statelift.io.sst.table import open_table
from statelift.io.streams import StreamOpener

from .keyed_snapshots import STORES


@dataclass(frozen=True, slots=True)
class Sample:
    """Bytes that Flink wrote, and how they are read."""

    kind: str
    data: bytes
    read: Callable[[bytes], None]


def samples(snapshot: Path) -> Iterator[Sample]:
    """The files of a snapshot, and the streams that lie in ``_metadata`` itself."""
    raw = (snapshot / "_metadata").read_bytes()
    metadata = read_metadata(raw, "_metadata")
    yield Sample("metadata", raw, lambda data: _read_metadata(data, snapshot))
    opener = StreamOpener(stores=STORES, base_url=str(snapshot))
    for operator in metadata.operator_states:
        for subtask in operator.subtask_states:
            most = operator.max_parallelism
            match subtask.managed_keyed_state:
                case KeyGroupsSavepointStateHandle() | KeyGroupsStateHandle() as keyed:
                    kind = "canonical" if isinstance(keyed, KeyGroupsSavepointStateHandle) else "hashmap"
                    yield Sample(kind, _bytes(keyed.stream, opener), _read_keyed(keyed, opener, most))
                case IncrementalRemoteKeyedStateHandle() as keyed:
                    yield from _files(keyed, opener)
                case ChangelogStateBackendHandle() as keyed:
                    yield from _changelog(keyed, opener, most)
            if subtask.managed_operator_state is not None:
                handle = subtask.managed_operator_state
                yield Sample("operator", _bytes(handle.stream, opener), _read_operator(handle, opener))
            if isinstance(subtask.raw_keyed_state, KeyGroupsStateHandle):
                timers = subtask.raw_keyed_state
                yield Sample("timers", _bytes(timers.stream, opener), _read_timers(timers, opener, most))


def _files(keyed: IncrementalRemoteKeyedStateHandle, opener: StreamOpener) -> Iterator[Sample]:
    for entry in (*keyed.shared_state, *keyed.private_state):
        data = _bytes(entry.handle, opener)
        if entry.local_path.endswith(".sst"):
            yield Sample("sst", data, lambda data: _read_table(data, verify=True))
            yield Sample("sst unverified", data, lambda data: _read_table(data, verify=False))
        elif entry.local_path.startswith("MANIFEST"):
            yield Sample("manifest", data, lambda data: _drop(read_manifest(data, "MANIFEST")))


def _changelog(keyed: ChangelogStateBackendHandle, opener: StreamOpener, most: int) -> Iterator[Sample]:
    for handle in keyed.non_materialized:
        if isinstance(handle, ChangelogStateHandleStreamImpl):
            for one in handle.handles_and_offsets:
                stream = (
                    replace(one.stream, state_size=-1) if hasattr(one.stream, "state_size") else one.stream
                )
                yield Sample(
                    "changelog", _bytes(stream, opener), _read_change_set(keyed, handle, one, opener, most)
                )
        if isinstance(handle, InMemoryChangelogStateHandle):
            data = b"".join(change.change for change in handle.changes)
            yield Sample("changes", data, _read_changes(keyed, handle, opener, most))


# -- readers -----------------------------------------------------------------------------------------------


def _read_metadata(data: bytes, snapshot: Path) -> None:
    """With every stream opened, but not read: damaged names and numbers lead nowhere or to an error."""
    metadata: Metadata = read_metadata(data, "_metadata")
    opener = StreamOpener(stores=STORES, base_url=str(snapshot))
    for operator in metadata.operator_states:
        for subtask in operator.subtask_states:
            if subtask.managed_keyed_state is not None:
                open_keyed(subtask.managed_keyed_state, opener, operator.max_parallelism)
                return


def _read_keyed(
    handle: KeyGroupsSavepointStateHandle | KeyGroupsStateHandle, opener: StreamOpener, most: int
) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        backend = open_keyed(replace(handle, stream=_inline(data)), opener, most)
        for _ in backend.windows(batch_bytes=1 << 10):
            pass

    return read


def _read_operator(handle: OperatorStateHandle, opener: StreamOpener) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        backend = open_operator(replace(handle, stream=_inline(data)), opener)
        for state in backend.states if backend is not None else ():
            backend.read(state)

    return read


def _read_timers(handle: KeyGroupsStateHandle, opener: StreamOpener, most: int) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        backend = open_raw_keyed(replace(handle, stream=_inline(data)), opener, most)
        if isinstance(backend, RawKeyedState):
            return
        for _ in backend.windows():
            pass

    return read


def _read_change_set(
    keyed: ChangelogStateBackendHandle,
    log: ChangelogStateHandleStreamImpl,
    one: HandleAndOffset,
    opener: StreamOpener,
    most: int,
) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        sets = [replace(s, stream=_inline(data)) if s is one else s for s in log.handles_and_offsets]
        damaged = replace(log, handles_and_offsets=tuple(sets))
        backend = open_keyed(replace(keyed, materialized=(), non_materialized=(damaged,)), opener, most)
        for _ in backend.windows():
            pass

    return read


def _read_changes(
    keyed: ChangelogStateBackendHandle, log: InMemoryChangelogStateHandle, opener: StreamOpener, most: int
) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        changes, at = [], 0
        for change in log.changes:
            changes.append(replace(change, change=data[at : at + len(change.change)]))
            at += len(change.change)
        damaged = replace(log, changes=tuple(changes))
        backend = open_keyed(replace(keyed, materialized=(), non_materialized=(damaged,)), opener, most)
        for _ in backend.windows():
            pass

    return read


def _read_table(data: bytes, *, verify: bool) -> None:
    def ranges(asked: list[tuple[int, int]]) -> list[bytes]:
        return [data[start : start + length] for start, length in asked]

    for _ in scan([open_table(ranges, len(data), "table.sst", verify=verify)]):
        pass


def _bytes(handle: StreamStateHandle, opener: StreamOpener) -> bytes:
    stream = opener.open(handle, "sample")
    return stream.read(0, stream.size)


def _inline(data: bytes) -> ByteStreamStateHandle:
    return ByteStreamStateHandle(handle_name="damaged", data=data)


def _drop(value: object) -> None:
    del value
