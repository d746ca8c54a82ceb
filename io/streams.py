"""State streams, wherever their bytes are: inline in ``_metadata`` or a range of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..schemas.errors import UnexpectedEndError, Where
from ..schemas.from_snapshot import SNAPSHOTS_ALONE, TypeRules
from .memory import NO_LIMIT, Memory
from .metadata import FileRange, Inline, Location, StreamStateHandle, resolve
from .stores import Stores


@dataclass(frozen=True, slots=True, kw_only=True)
class StateStream:
    """Bytes addressed from the start of the stream. ``name`` is what errors call it."""

    stores: Stores
    location: Location
    name: str

    @property
    def size(self) -> int:
        """Bytes in the stream."""
        match self.location:
            case Inline(data=data):
                return len(data)
            case FileRange(length=int(length)):
                return length
            case FileRange(url=url, start=start):
                return self.stores.size(url) - start

    def read(self, start: int, length: int) -> bytes:
        """``length`` bytes from ``start``. Raises UnexpectedEndError where the stream is shorter."""
        self._check(start, length)
        match self.location:
            case Inline(data=data):
                return data[start : start + length]
            case FileRange(url=url, start=base):
                return self.stores.read(url, base + start, length)

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Several (start, length) ranges, in parallel where the store can."""
        for start, length in ranges:
            self._check(start, length)
        match self.location:
            case Inline(data=data):
                return [data[start : start + length] for start, length in ranges]
            case FileRange(url=url, start=base):
                return self.stores.read_ranges(url, [(base + start, length) for start, length in ranges])

    def chunks(self, start: int, stop: int, chunk_bytes: int) -> Iterator[bytes]:
        """The bytes [start, stop) in pieces of at most ``chunk_bytes``, the next one read ahead."""
        self._check(start, stop - start)
        match self.location:
            case Inline(data=data):
                for at in range(start, stop, chunk_bytes):
                    yield data[at : min(stop, at + chunk_bytes)]
            case FileRange(url=url, start=base):
                yield from self.stores.iter_chunks(url, base + start, stop - start, chunk_bytes)

    def _check(self, start: int, length: int) -> None:
        known = self.location.length if isinstance(self.location, FileRange) else len(self.location.data)
        if start < 0 or length < 0 or (known is not None and start + length > known):
            raise UnexpectedEndError(
                f"{length} bytes from {start} are not in the {known} bytes of the stream",
                where=Where(file=self.name, offset=start),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOpener:
    """Opens the streams of one snapshot: ``base_url`` is the folder of its ``_metadata``.

    ``path_map`` are (old, new) prefixes for files that were moved; a file that is at neither place is looked for
    in the checkpoint folder's own layout. ``types`` is what makes types of the snapshot's serializers. ``wide_times``
    has what is in the streams decoded so (``compile_type``). ``memory`` is what their readers may take.
    """

    stores: Stores
    base_url: str
    path_map: tuple[tuple[str, str], ...] = ()
    types: TypeRules = SNAPSHOTS_ALONE
    wide_times: bool = False
    memory: Memory = NO_LIMIT

    def open(self, handle: StreamStateHandle, name: str) -> StateStream:
        """The stream of a handle. Raises StoreError for a file that is nowhere."""
        location = resolve(handle, self.base_url, self.path_map, self.stores.exists)
        label = (
            location.url
            if isinstance(location, FileRange)
            else f"_metadata of {self.base_url}, inline {name}"
        )
        return StateStream(stores=self.stores, location=location, name=label)
