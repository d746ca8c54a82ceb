"""Concatenation inside S3: ranges of the sources become parts of the target without passing through here.

S3 wants every part but the last to have 5 MiB at least. So what is smaller is read and sent up, together with
as much of what follows as makes a part; only that much of a large source is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .base import Store
from .s3_client import S3Access
from .s3_write import MIN_PART_BYTES, Upload

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef

MAX_PARTS = 10_000

COPY_PART_BYTES = 512 * 1024 * 1024
"""What is copied in one request (S3 allows 5 GiB): a large object goes in parallel parts."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Bytes [start, start + length) of the source with number ``source``."""

    source: int
    start: int
    length: int


def plan_parts(sizes: Sequence[int]) -> list[list[Slice]]:
    """The parts of a target that concatenates sources of ``sizes`` bytes.

    Every part but the last has MIN_PART_BYTES at least. A part of one slice can be copied inside the store.
    """
    least = max(MIN_PART_BYTES, -(-sum(sizes) // (MAX_PARTS // 2)))
    parts: list[list[Slice]] = []
    small: list[Slice] = []
    missing = least
    for source, size in enumerate(sizes):
        start = 0
        while start < size:
            rest = size - start
            if not small and rest >= least:
                length = min(rest, max(COPY_PART_BYTES, least))
                parts.append([Slice(source, start, length)])
            else:
                length = min(rest, missing)
                small.append(Slice(source, start, length))
                missing -= length
            if missing == 0:
                parts.append(small)
                small, missing = [], least
            start += length
    return [*parts, small] if small else parts


def compose(access: S3Access, store: Store, sources: Sequence[tuple[str, int]], target: str) -> None:
    """Write ``target`` as the concatenation of ``sources``: (URL, size in bytes), none of them empty."""
    upload = Upload(access, target)

    def make(number: int, part: list[Slice]) -> CompletedPartTypeDef:
        first = part[0]
        url, size = sources[first.source]
        if len(part) == 1 and first.length == size:
            return upload.copy(number, url, None)
        if len(part) == 1 and size > MIN_PART_BYTES:
            return upload.copy(number, url, (first.start, first.length))
        data = bytearray()
        for piece in part:
            data += store.read(sources[piece.source][0], piece.start, piece.length)
        return upload.send(number, data)

    parts = plan_parts([size for _, size in sources])
    running = [access.pool.submit(make, number, part) for number, part in enumerate(parts, 1)]
    try:
        upload.complete([future.result() for future in running])
    except BaseException:
        upload.abort(running)
        raise
