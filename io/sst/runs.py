"""Runs of blocks as they lie in a file: checked and decompressed, many at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...schemas.errors import FormatError, Where
from .arrays import Bytes, Ints
from .checksums import block_checksum, context_modifiers, first_bad_crc32c
from .compression import MAX_RATIO, decompress_into, refuse
from .decode_kernels import packed_sizes
from .format import BLOCK_TRAILER_SIZE, BlockHandle, Checksum

MAX_DECODED_BYTES = 1 << 32
"""A run of blocks that decodes to more than this is not what RocksDB writes: a scan reads a few MiB at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFormat:
    """What is the same for all blocks of a file."""

    file: str
    checksum: Checksum
    format_version: int
    verify: bool
    file_size: int
    base_context_checksum: int = 0

    def where(self, offset: int) -> Where:
        return Where(file=self.file, offset=offset)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawRun:
    """Blocks that lie near each other in a file: ``data`` is the file from ``offset`` on; block ``i`` has
    ``sizes[i]`` bytes at ``offsets[i]`` of the file, and its trailer behind it."""

    data: bytes
    offset: int
    offsets: Ints
    sizes: Ints

    @classmethod
    def of(cls, handle: BlockHandle, data: bytes) -> RawRun:
        """The run of one block."""
        return cls(
            data=data,
            offset=handle.offset,
            offsets=np.array([handle.offset], dtype=np.int64),
            sizes=np.array([handle.size], dtype=np.int64),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnpackedRun:
    """A decompressed run: block ``i`` is ``data[starts[i]:ends[i]]`` and lies at ``offsets[i]`` of the file."""

    data: Bytes
    starts: Ints
    ends: Ints
    offsets: Ints


def unpack(form: BlockFormat, run: RawRun) -> UnpackedRun:
    """Checks and decompresses the blocks of a run; sizes are checked before the memory is taken."""
    check(form, run)
    begins = run.offsets - run.offset
    array = np.frombuffer(run.data, dtype=np.uint8)
    kinds = array[begins + run.sizes]
    for kind in np.unique(kinds).tolist():
        refused = refuse(kind, form.format_version)
        if refused:
            raise refused.at(form.where(int(run.offsets[np.argmax(kinds == kind)])))
    skips, lengths = np.empty_like(begins), np.empty_like(begins)
    bad = packed_sizes(array, begins, run.sizes, MAX_RATIO, skips, lengths)
    if bad >= 0:
        raise FormatError(
            f"compressed block of {int(run.sizes[bad])} bytes does not say, or not credibly, what it decompresses to",
            where=form.where(int(run.offsets[bad])),
        )
    ends = np.cumsum(lengths)
    if ends[-1] > MAX_DECODED_BYTES:
        raise FormatError(f"{len(ends)} blocks decompress to {ends[-1]} bytes", where=form.where(run.offset))
    buffer = np.empty(ends[-1], dtype=np.uint8)
    starts = ends - lengths
    _decompress(form, run, kinds, (begins + skips, begins + run.sizes), buffer, (starts, ends))
    return UnpackedRun(data=buffer, starts=starts, ends=ends, offsets=run.offsets)


def check(form: BlockFormat, run: RawRun) -> None:
    """Checks that a run is whole and, where they are to be verified, its blocks' checksums."""
    needed = int(run.offsets[-1] + run.sizes[-1]) + BLOCK_TRAILER_SIZE - run.offset
    if len(run.data) != needed:
        raise FormatError(
            f"{needed} bytes were asked for and {len(run.data)} came", where=form.where(run.offset)
        )
    if form.verify:
        _verify(form, run, run.offsets - run.offset)


def _decompress(
    form: BlockFormat,
    run: RawRun,
    kinds: Bytes,
    packed: tuple[Ints, Ints],
    buffer: Bytes,
    plain: tuple[Ints, Ints],
) -> None:
    """The one loop over blocks in Python: each is a call of a library of some microseconds."""
    raw, out = memoryview(run.data), buffer.data
    columns = (kinds, *packed, *plain)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for i, (kind, begin, stop, start, end) in enumerate(rows):
        try:
            decompress_into(kind, raw[begin:stop], out[start:end])
        except FormatError as error:
            raise error.at(form.where(int(run.offsets[i]))) from None


def _verify(form: BlockFormat, run: RawRun, begins: Ints) -> None:
    """Raises FormatError at the first block whose checksum is not the stored one."""
    if form.checksum is Checksum.NONE:
        return
    modifiers = context_modifiers(form.base_context_checksum, run.offsets)
    if form.checksum is Checksum.CRC32C:
        bad = int(first_bad_crc32c(np.frombuffer(run.data, dtype=np.uint8), begins, run.sizes + 1, modifiers))
    else:
        raw = memoryview(run.data)
        bad = -1
        ends = begins + run.sizes + 1
        rows = zip(begins.tolist(), ends.tolist(), modifiers.tolist(), strict=True)
        for i, (begin, end, modifier) in enumerate(rows):
            computed = block_checksum(form.checksum, raw[begin:end]) + modifier & 0xFFFFFFFF
            if computed != int.from_bytes(raw[end : end + 4], "little"):
                bad = i
                break
    if bad >= 0:
        raise FormatError(
            f"{form.checksum.name} of the block of {int(run.sizes[bad])} bytes does not match: the file is damaged",
            where=form.where(int(run.offsets[bad])),
        )
