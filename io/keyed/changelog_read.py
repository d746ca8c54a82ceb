"""The changes of a changelog (spec 12) in the order in which they were made, from files or from ``_metadata``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from ...schemas.errors import FormatError, UnexpectedEndError, UnsupportedVersionError, Where
from ..metadata import (
    ChangelogStateHandleStreamImpl,
    FileStateHandle,
    HandleAndOffset,
    InMemoryChangelogStateHandle,
    RelativeFileStateHandle,
    StreamStateHandle,
)
from ..streams import StateStream, StreamOpener
from . import changelog_kernels as kernels
from .entries import Bytes, Positions
from .snappy_frames import decompress

#: StateChangeOperation, by code.
CLEAR, SET, SET_INTERNAL, ADD, MERGE_NS, ADD_ELEMENT, ADD_OR_UPDATE_ELEMENT, REMOVE_ELEMENT, METADATA = range(
    9
)
OPERATIONS = (
    "CLEAR", "SET", "SET_INTERNAL", "ADD", "MERGE_NS", "ADD_ELEMENT", "ADD_OR_UPDATE_ELEMENT", "REMOVE_ELEMENT",
    "METADATA",
)  # fmt: skip

_FIRST_READ, _MOST_READ = 256 << 10, 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Changes as rows: change i is ``data[starts[i]:ends[i]]``, of the key group ``key_groups[i]`` (int32; -1 is
    meta information). Begins with its operation's code. ``name`` and ``offset`` say where ``data`` lies."""

    name: str
    offset: int
    data: Bytes
    key_groups: npt.NDArray[np.int32]
    starts: Positions
    ends: Positions

    def where(self, row: int, state: str | None = None) -> Where:
        """The place of change ``row``; its offset counts plain bytes, where the file is compressed."""
        group = int(self.key_groups[row])
        offset = self.offset + int(self.starts[row])
        return Where(file=self.name, state=state, key_group=group if group >= 0 else None, offset=offset)


def read_changes(handles: Sequence[object], opener: StreamOpener) -> Iterator[Changes]:
    """The changes of the non-materialized ``handles``, in order, in steps of some MiB.

    Raises FormatError for what is no change set, UnsupportedVersionError for a handle of another kind or storage.
    """
    for handle in handles:
        match handle:
            case InMemoryChangelogStateHandle():
                yield _in_memory(handle)
            case ChangelogStateHandleStreamImpl():
                if handle.storage_identifier not in (None, "filesystem"):
                    raise UnsupportedVersionError(
                        f"changelogs of the storage {handle.storage_identifier!r} are not read"
                    )
                for one in handle.handles_and_offsets:
                    yield from _change_set(one, opener)
            case _:
                raise UnsupportedVersionError(f"{type(handle).__name__} is no changelog handle")


def _in_memory(handle: InMemoryChangelogStateHandle) -> Changes:
    bounds = np.array([0, *accumulate(len(change.change) for change in handle.changes)], np.int64)
    name = f"in-memory changelog {handle.state_handle_id}"
    if (empty := np.flatnonzero(np.diff(bounds) == 0)).size:
        raise FormatError("a change of no bytes", where=Where(file=name, offset=int(bounds[empty[0]])))
    return Changes(
        name=name,
        offset=0,
        data=np.frombuffer(b"".join(change.change for change in handle.changes), np.uint8),
        key_groups=np.array([change.key_group for change in handle.changes], np.int32),
        starts=bounds[:-1],
        ends=bounds[1:],
    )


def _change_set(one: HandleAndOffset, opener: StreamOpener) -> Iterator[Changes]:
    stream = opener.open(_whole(one.stream), "changelog")
    if one.offset < 0:
        raise FormatError(f"a change set at {one.offset}", where=Where(file=stream.name))
    rest, offset = b"", one.offset
    at = np.array([0, -1, 0, -1, 0, kernels.MORE], np.int64)
    for chunk in _plain_bytes(stream, one.offset):
        data = np.frombuffer(rest + chunk, np.uint8)
        capacity = len(data) // 5 + 1
        groups = np.empty(capacity, np.int32)
        starts, ends = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        at[0] = 0
        kernels.scan_changes(data, groups, starts, ends, at)
        pos, rows, reason = int(at[0]), int(at[4]), int(at[5])
        if reason in (kernels.BAD_COUNT, kernels.BAD_LENGTH):
            what = "count of changes or a key group" if reason == kernels.BAD_COUNT else "length of a change"
            raise FormatError(f"an impossible {what}", where=Where(file=stream.name, offset=offset + pos))
        if rows:
            yield Changes(
                name=stream.name, offset=offset, data=data,
                key_groups=groups[:rows], starts=starts[:rows], ends=ends[:rows],
            )  # fmt: skip
        if reason == kernels.DONE:
            return
        rest = data[pos:].tobytes()
        offset += pos
    raise UnexpectedEndError(
        "the data ends inside a change set", where=Where(file=stream.name, offset=offset)
    )


def _whole(handle: StreamStateHandle) -> StreamStateHandle:
    """The handle without its size: Flink gives that in plain bytes and without the flag byte."""
    if isinstance(handle, FileStateHandle | RelativeFileStateHandle):
        return replace(handle, state_size=-1)
    return handle


def _plain_bytes(stream: StateStream, offset: int) -> Iterator[bytes]:
    """What follows the flag byte, undone, from ``offset`` on. Nothing says how far a change set goes in a file
    that others share, so the chunks begin small and double."""
    flag = stream.read(0, 1)[0]
    if flag > 1:
        raise FormatError(
            f"no changelog file: it begins with {flag}", where=Where(file=stream.name, offset=0)
        )
    if flag == 0:
        yield from _chunks(stream, 1 + offset)
        return
    held = bytearray()
    for part in decompress(_chunks(stream, 1), stream.name, 1):
        held += part[offset:]
        offset = max(0, offset - len(part))
        if len(held) >= _FIRST_READ:
            yield bytes(held)
            held.clear()
    yield bytes(held)


def _chunks(stream: StateStream, start: int) -> Iterator[bytes]:
    length, size = _FIRST_READ, stream.size
    while start < size:
        yield stream.read(start, min(length, size - start))
        start += length
        length = min(2 * length, _MOST_READ)
