"""Where the key groups of a handle lie in its stream, and their bytes in bounded pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import numpy.typing as npt

from ...schemas.errors import FormatError, Where
from ..metadata import KeyGroupRange
from ..streams import StateStream
from .snappy_frames import decompress


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """One key group's bytes [start, stop) of its stream."""

    key_group: int
    start: int
    stop: int


def regions_of(
    offsets: Sequence[int],
    key_groups: KeyGroupRange,
    stream: StateStream,
    wanted: KeyGroupRange | None = None,
) -> list[Region]:
    """The written key groups (offset above 0) in ``wanted``, each up to where the next one begins.

    Raises FormatError for an offset outside the stream.
    """
    size = stream.size
    starts = sorted({offset for offset in offsets if offset > 0})
    stops = dict(zip(starts, [*starts[1:], size][: len(starts)], strict=True))
    regions = []
    for key_group, offset in zip(key_groups, offsets, strict=True):
        if offset <= 0 or (wanted is not None and key_group not in wanted):
            continue
        if offset > size:
            where = Where(file=stream.name, key_group=key_group, offset=offset)
            raise FormatError(
                f"the key group begins behind the end of its stream of {size} bytes", where=where
            )
        regions.append(Region(key_group=key_group, start=offset, stop=stops[offset]))
    return regions


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Plain bytes of whole key groups (``bounds`` int64 of shape (n, 2), in ``data``), or of a part of a large one.

    ``offset`` is where ``data`` begins in the stream (in plain bytes behind the start of the region, where the
    stream is compressed); ``last`` is False where the one region goes on in the next piece.
    """

    regions: Sequence[Region]
    data: npt.NDArray[np.uint8]
    bounds: npt.NDArray[np.int64]
    offset: int
    last: bool = True


def pieces(
    stream: StateStream, regions: Sequence[Region], *, compressed: bool, chunk_bytes: int, raw_head: int = 0
) -> Iterator[Piece]:
    """The bytes of the regions in their order, in pieces of about ``chunk_bytes``; small ones come together.

    The first ``raw_head`` bytes of a compressed region stand as they are.
    """
    for run, data in _read(stream, list(_runs(regions, chunk_bytes)), chunk_bytes):
        if data is None:
            yield from _large(stream, run[0], compressed, chunk_bytes, raw_head)
            continue
        if compressed:
            yield _plain(stream, run, data, raw_head)
            continue
        start = run[0].start
        bounds = np.array([(region.start - start, region.stop - start) for region in run], np.int64)
        yield Piece(regions=run, data=np.frombuffer(data, np.uint8), bounds=bounds, offset=start)


def _read(
    stream: StateStream, runs: Sequence[list[Region]], chunk_bytes: int
) -> Iterator[tuple[list[Region], bytes | None]]:
    """Each run with its bytes, those of the next one read ahead; None for one larger than ``chunk_bytes``."""

    def read(run: list[Region]) -> bytes | None:
        size = run[-1].stop - run[0].start
        return stream.read(run[0].start, size) if size <= chunk_bytes else None

    if len(runs) < 2:
        yield from ((run, read(run)) for run in runs)
        return
    executor = ThreadPoolExecutor(1)
    try:
        ahead = executor.submit(read, runs[0])
        for run, following in zip(runs, [*runs[1:], None], strict=True):
            data = ahead.result()
            if following is not None:
                ahead = executor.submit(read, following)
            yield run, data
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


@dataclass(slots=True)
class Rest:
    """What a piece left of an entry. An entry of many pieces waits until it has doubled before it is looked at
    again, so that a large one is not copied for each of its pieces."""

    parts: list[npt.NDArray[np.uint8]] = field(default_factory=list)
    least: int = 0

    def before(self, piece: Piece) -> npt.NDArray[np.uint8] | None:
        """The rest and the piece behind it; None where more is to come first."""
        self.parts.append(piece.data)
        if not piece.last and sum(map(len, self.parts)) < self.least:
            return None
        data = self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts)
        self.parts, self.least = [], 0
        return data

    def keep(self, data: npt.NDArray[np.uint8]) -> None:
        """``data`` is to come before the next piece."""
        self.parts, self.least = [data], 2 * len(data)


def _plain(stream: StateStream, run: Sequence[Region], data: bytes, raw_head: int) -> Piece:
    plain, bounds = bytearray(), []
    for region in run:
        raw = data[region.start - run[0].start : region.stop - run[0].start]
        before = len(plain)
        plain += raw[:raw_head]
        for part in decompress(iter((raw[raw_head:],)), stream.name, region.start + raw_head):
            plain += part
        bounds.append((before, len(plain)))
    array = np.frombuffer(bytes(plain), np.uint8)
    return Piece(regions=run, data=array, bounds=np.array(bounds, np.int64), offset=run[0].start)


def _runs(regions: Sequence[Region], chunk_bytes: int) -> Iterator[list[Region]]:
    """Neighbours that fit in one piece."""
    run: list[Region] = []
    for region in regions:
        if run and (region.start != run[-1].stop or region.stop - run[0].start > chunk_bytes):
            yield run
            run = []
        run.append(region)
    if run:
        yield run


def _large(
    stream: StateStream, region: Region, compressed: bool, chunk_bytes: int, raw_head: int
) -> Iterator[Piece]:
    start = region.start + raw_head if compressed else region.start
    raw: Iterator[bytes] = stream.chunks(start, region.stop, chunk_bytes)
    if compressed:
        head = stream.read(region.start, raw_head)
        raw = _joined(chain((head,), decompress(raw, stream.name, start)), chunk_bytes)
    offset = region.start
    ahead = next(raw, b"")
    while True:
        data, ahead = ahead, next(raw, b"")
        bounds = np.array([(0, len(data))], np.int64)
        array = np.frombuffer(data, np.uint8)
        yield Piece(regions=[region], data=array, bounds=bounds, offset=offset, last=not ahead)
        if not ahead:
            return
        offset += len(data)


def _joined(parts: Iterator[bytes], chunk_bytes: int) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= chunk_bytes:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)
