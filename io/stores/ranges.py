"""Which requests to make for a set of ranges: near ones together, large ones in pieces. Pure arithmetic."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

Range = tuple[int, int]
"""(start, length), in bytes."""

GAP_BYTES = 64 * 1024
"""Ranges nearer than this are read together: the bytes between cost less than another request."""

PIECE_BYTES = 8 * 1024 * 1024
"""The largest single request: larger ranges are read in parallel pieces."""


def split(start: int, length: int) -> Iterator[Range]:
    """The range in pieces of at most PIECE_BYTES."""
    end = start + length
    for at in range(start, end, PIECE_BYTES):
        yield at, min(PIECE_BYTES, end - at)


def plan(ranges: Sequence[Range]) -> list[Range]:
    """The requests that together hold ``ranges``: sorted, not overlapping, each at most PIECE_BYTES.

    Ranges that overlap, touch or have a gap below GAP_BYTES between them are merged first.
    """
    spans: list[Range] = []
    for start, length in sorted(r for r in ranges if r[1] > 0):
        if spans and start - sum(spans[-1]) < GAP_BYTES:
            first, before = spans[-1]
            spans[-1] = first, max(before, start + length - first)
        else:
            spans.append((start, length))
    return [piece for span in spans for piece in split(*span)]


def cut(wanted: Range, pieces: Sequence[Range], data: Sequence[bytes]) -> bytes:
    """The bytes of one range out of the planned ``pieces`` and their ``data``; no copy of a whole piece."""
    start, length = wanted
    if length == 0:
        return b""
    i = bisect_right(pieces, start, key=lambda piece: piece[0]) - 1
    chunks: list[bytes] = []
    end = start + length
    while start < end:
        offset, size = pieces[i]
        stop = min(end, offset + size)
        chunks.append(data[i][start - offset : stop - offset])
        start = stop
        i += 1
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
