"""One subtask's keyed state, whatever its format: a header, and entries that go forward through the key groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from ...schemas.errors import FormatError, UnsupportedVersionError, Where
from ...schemas.snapshots import SerializerSnapshot
from ...schemas.wire import Reader
from ..memory import BATCH_BYTES
from ..metadata import (
    ChangelogStateBackendHandle,
    IncrementalRemoteKeyedStateHandle,
    KeyedStateHandle,
    KeyGroupRange,
    KeyGroupsSavepointStateHandle,
    KeyGroupsStateHandle,
)
from ..sst.table import SstTable
from ..streams import StateStream, StreamOpener
from .canonical import read_canonical
from .changelog import open_changelog
from .entries import Window, merge_small
from .hashmap import HeapState, read_hashmap
from .header import KeyedBackendHeader, header_end
from .lenient import RawKeyedHeader, read_keyed_header_lenient
from .regions import Region, regions_of
from .rocksdb import open_database, read_rocksdb
from .state_types import KeyedStateType, keyed_state_type, state_types

__all__ = ["FormatName", "KeyedBackend", "KeyedStateType", "keyed_state_type", "open_keyed"]

FormatName = Literal["canonical", "hashmap", "rocksdb", "changelog", "timers"]


class EntrySource(Protocol):
    """Entries that come neither from one stream nor from SST files: changelogs, raw timers."""

    def windows(
        self, key_groups: KeyGroupRange, wanted: frozenset[int] | None, batch_bytes: int
    ) -> Iterator[Window]:
        """As :meth:`KeyedBackend.windows`, for key groups of the handle."""

    @property
    def nbytes(self) -> int:
        """Bytes of all that is read."""


@dataclass(slots=True)
class KeyedBackend:
    """An opened keyed handle. ``states`` are the types of the header's states, by state id.

    Opening reads the header only; ``windows`` reads the entries, ``batch_bytes`` of them at once unless it is told
    otherwise. ``bases`` are the materialized parts of a changelog, ``remarks`` what the user is to be told of how the
    handle was read.
    """

    format: FormatName
    header: KeyedBackendHeader | RawKeyedHeader
    key_groups: KeyGroupRange
    max_parallelism: int
    states: Sequence[KeyedStateType]
    stream: StateStream | None = None
    offsets: Sequence[int] = ()
    files: dict[str, StateStream] = field(default_factory=dict)
    source: EntrySource | None = None
    bases: tuple[KeyedBackend, ...] = ()
    remarks: tuple[str, ...] = ()
    batch_bytes: int = BATCH_BYTES
    _families: dict[str, list[SstTable]] | None = None

    @property
    def state_count(self) -> int:
        """How many states the header has, those without a known type too."""
        if isinstance(self.header, KeyedBackendHeader):
            return len(self.header.states)
        return self.header.state_count

    @property
    def hidden(self) -> str | None:
        """Which states an unknown serializer hides, of those that the header counts; None where it hides none."""
        header = self.header
        if not isinstance(header, RawKeyedHeader) or self.source is not None:
            return None
        count = header.state_count - len(self.states)
        which = f"the last {count} of {header.state_count} states" if self.states else "the states"
        return f"{which} cannot be told apart: {header.reason.what}"

    def windows(
        self,
        key_groups: KeyGroupRange | None = None,
        wanted: frozenset[int] | None = None,
        batch_bytes: int | None = None,
    ) -> Iterator[Window]:
        """The entries of the states ``wanted`` (ids; all if not given) in ``key_groups`` (all of the handle's)."""
        batch_bytes = batch_bytes or self.batch_bytes
        if self.source is not None:
            return self.source.windows(_intersect(self.key_groups, key_groups), wanted, batch_bytes)
        if self.format == "rocksdb":
            names = {i: s.name for i, s in enumerate(self.states) if wanted is None or i in wanted}
            return read_rocksdb(
                self.families(),
                names,
                _intersect(self.key_groups, key_groups),
                max_parallelism=self.max_parallelism,
                batch_bytes=batch_bytes,
            )
        stream = self._stream()
        if self.format == "hashmap":
            windows = read_hashmap(
                stream,
                self.regions(key_groups),
                states=[self._heap_state(state) for state in self.states],
                compressed=self.header.compressed,
                wanted=wanted,
                batch_bytes=batch_bytes,
            )
            return merge_small(windows, batch_bytes // 4)
        return read_canonical(
            stream,
            self.regions(key_groups),
            states=self.state_count or 0x8000,
            max_parallelism=self.max_parallelism,
            compressed=self.header.compressed,
            wanted=wanted,
            batch_bytes=batch_bytes,
        )

    def regions(self, key_groups: KeyGroupRange | None = None) -> list[Region]:
        """Where the key groups lie in the stream (canonical and hashmap)."""
        return regions_of(self.offsets, self.key_groups, self._stream(), key_groups)

    def families(self) -> dict[str, list[SstTable]]:
        """The SST files by column family (rocksdb), opened at the first call."""
        if self._families is None:
            self._families = open_database(self.files)
        return self._families

    @property
    def nbytes(self) -> int:
        """Bytes of the stream or of all files."""
        if self.source is not None:
            return self.source.nbytes
        if self.format == "rocksdb":
            return sum(stream.size for stream in self.files.values())
        return self._stream().size

    def _stream(self) -> StateStream:
        if self.stream is None:
            raise ValueError(f"a backend of format {self.format} has no one stream")
        return self.stream

    def _heap_state(self, state: KeyedStateType) -> HeapState:
        kind = state.kind if state.kind in ("list", "map", "timer") else "value"
        return HeapState(
            name=state.name, kind=kind, keys=state.composite(self.max_parallelism), value=state.value
        )


def _intersect(own: KeyGroupRange, wanted: KeyGroupRange | None) -> KeyGroupRange:
    if wanted is None:
        return own
    start, end = max(own.start, wanted.start), min(own.end, wanted.end)
    return KeyGroupRange(start, max(0, end - start + 1))


def open_keyed(
    handle: KeyedStateHandle,
    opener: StreamOpener,
    max_parallelism: int,
    key_serializer: SerializerSnapshot | None = None,
) -> KeyedBackend:
    """Open a managed keyed handle by reading its header; of a changelog, also its changes.

    ``key_serializer`` is the key's where the caller knows it; only a changelog without a materialized part asks.
    Raises UnsupportedVersionError for a kind of handle that is not read, FormatError for a damaged header.
    """
    match handle:
        case KeyGroupsSavepointStateHandle() | KeyGroupsStateHandle():
            stream = opener.open(handle.stream, "keyed state")
            return _open_stream(handle, stream, max_parallelism, opener)
        case IncrementalRemoteKeyedStateHandle():
            meta = opener.open(handle.meta_state_handle, "RocksDB meta file")
            size = meta.size
            header = read_keyed_header_lenient(Reader(meta.read(0, size), file=meta.name), size)
            files = {
                entry.local_path: opener.open(entry.handle, entry.local_path)
                for entry in (*handle.shared_state, *handle.private_state)
            }
            return KeyedBackend(
                format="rocksdb",
                header=header,
                key_groups=handle.key_group_range,
                max_parallelism=max_parallelism,
                states=state_types(header, opener.types),
                files=files,
                batch_bytes=opener.memory.batch_bytes,
            )
        case ChangelogStateBackendHandle():
            bases = [open_keyed(one, opener, max_parallelism) for one in handle.materialized]
            log = open_changelog(handle, bases, opener, max_parallelism, key_serializer)
            return KeyedBackend(
                format="changelog",
                header=log.header,
                key_groups=handle.key_group_range,
                max_parallelism=max_parallelism,
                states=log.states,
                source=log,
                bases=tuple(bases),
                remarks=log.remarks,
                batch_bytes=opener.memory.batch_bytes,
            )
    raise UnsupportedVersionError(f"keyed handles of type {type(handle).__name__} are not read")


def _open_stream(
    handle: KeyGroupsSavepointStateHandle | KeyGroupsStateHandle,
    stream: StateStream,
    max_parallelism: int,
    opener: StreamOpener,
) -> KeyedBackend:
    end = header_end(handle.offsets, stream.size)
    header = read_keyed_header_lenient(Reader(stream.read(0, end), file=stream.name), end)
    canonical = isinstance(handle, KeyGroupsSavepointStateHandle) or not _is_heap(handle, stream)
    return KeyedBackend(
        format="canonical" if canonical else "hashmap",
        header=header,
        key_groups=handle.key_group_range,
        max_parallelism=max_parallelism,
        states=state_types(header, opener.types),
        stream=stream,
        offsets=handle.offsets,
        batch_bytes=opener.memory.batch_bytes,
    )


def _is_heap(handle: KeyGroupsStateHandle, stream: StateStream) -> bool:
    """Whether each of the first key groups begins with its own number (spec 2.7): native heap, not RocksDB full."""
    written = [(kg, o) for kg, o in zip(handle.key_group_range, handle.offsets, strict=True) if o > 0]
    if len(written) < len(handle.offsets):
        return False
    for key_group, offset in written[:4]:
        if offset + 4 > stream.size:
            raise FormatError(
                "a key group begins behind the end", where=Where(file=stream.name, offset=offset)
            )
        if int.from_bytes(stream.read(offset, 4), "big") != key_group:
            return False
    return True
