"""Blocks as they lie in a file: checked, decompressed and decoded, many at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...schemas.errors import FormatError, UnsupportedVersionError, Where
from .checksums import block_checksum, first_bad_crc32c
from .compression import compression_of, decompress_into, decompressed_size
from .decode_kernels import KEEP_SEQUENCE, MESSAGES, OK, UNREAD_TYPE, decode_blocks, measure_blocks
from .format import BLOCK_TRAILER_SIZE, INTERNAL_KEY_SUFFIX, BlockHandle, Checksum, ValueType

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Tags = np.ndarray[Any, np.dtype[np.uint64]]

MAX_DECODED_BYTES = 1 << 32
"""A run of blocks that decodes to more than this is not what RocksDB writes: keys share at most a few blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Decoded entries: key ``i`` is ``keys[key_offsets[i]:key_offsets[i + 1]]``, its value
    ``data[value_starts[i]:][:value_lengths[i]]``; ``tags`` are ``sequence << 8 | value type``."""

    data: Bytes
    keys: Bytes
    key_offsets: Ints
    tags: Tags
    value_starts: Ints
    value_lengths: Ints

    def __len__(self) -> int:
        return len(self.tags)

    @property
    def nbytes(self) -> int:
        arrays = (self.data, self.keys, self.key_offsets, self.tags, self.value_starts, self.value_lengths)
        return sum(array.nbytes for array in arrays)

    def key(self, i: int) -> bytes:
        return self.keys[self.key_offsets[i] : self.key_offsets[i + 1]].tobytes()

    def value(self, i: int) -> bytes:
        return self.data[self.value_starts[i] :][: self.value_lengths[i]].tobytes()


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFormat:
    """What is the same for all blocks of a file."""

    file: str
    checksum: Checksum
    format_version: int
    verify: bool
    file_size: int

    def where(self, offset: int) -> Where:
        return Where(file=self.file, offset=offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRun:
    """Blocks that lie near each other in a file: ``data`` is the file from ``offset`` on; block ``i`` has ``sizes[i]`` bytes
    at ``offsets[i]`` of the file, and its trailer behind it."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackedRun:
    """A decompressed run: block ``i`` is ``data[starts[i]:ends[i]]`` and lies at ``offsets[i]`` of the file."""

    data: Bytes
    starts: Ints
    ends: Ints
    offsets: Ints


def unpack(form: BlockFormat, run: RawRun) -> UnpackedRun:
    """Checks and decompresses the blocks of a run; sizes are checked before the memory is taken."""
    needed = int(run.offsets[-1] + run.sizes[-1]) + BLOCK_TRAILER_SIZE - run.offset
    if len(run.data) != needed:
        raise FormatError(
            f"{needed} bytes were asked for and {len(run.data)} came", where=form.where(run.offset)
        )
    raw = memoryview(run.data)
    begins = run.offsets - run.offset
    if form.verify:
        _verify(form, run, begins)
    plans = []
    ends = np.empty(len(begins), dtype=np.int64)
    total = 0
    for i, (begin, size) in enumerate(zip(begins.tolist(), run.sizes.tolist(), strict=True)):
        block = raw[begin : begin + size]
        try:
            kind = compression_of(raw[begin + size], form.format_version)
            length, skip = decompressed_size(kind, block)
        except FormatError as error:
            raise error.at(form.where(int(run.offsets[i]))) from None
        plans.append((kind, block[skip:] if skip else block, total))
        total += length
        ends[i] = total
    if total > MAX_DECODED_BYTES:
        raise FormatError(f"{len(plans)} blocks decompress to {total} bytes", where=form.where(run.offset))
    buffer = np.empty(total, dtype=np.uint8)
    out = buffer.data
    for i, ((kind, block, start), end) in enumerate(zip(plans, ends.tolist(), strict=True)):
        try:
            decompress_into(kind, block, out[start:end])
        except FormatError as error:
            raise error.at(form.where(int(run.offsets[i]))) from None
    starts = np.array([plan[2] for plan in plans], dtype=np.int64)
    return UnpackedRun(data=buffer, starts=starts, ends=ends, offsets=run.offsets)


def _verify(form: BlockFormat, run: RawRun, begins: Ints) -> None:
    """Raises FormatError at the first block whose checksum is not the stored one."""
    if form.checksum is Checksum.NONE:
        return
    if form.checksum is Checksum.CRC32C:
        bad = int(first_bad_crc32c(np.frombuffer(run.data, dtype=np.uint8), begins, run.sizes + 1))
    else:
        raw = memoryview(run.data)
        bad = -1
        for i, (begin, end) in enumerate(
            zip(begins.tolist(), (begins + run.sizes + 1).tolist(), strict=True)
        ):
            if block_checksum(form.checksum, raw[begin:end]) != int.from_bytes(raw[end : end + 4], "little"):
                bad = i
                break
    if bad >= 0:
        raise FormatError(
            f"{form.checksum.name} of the block of {int(run.sizes[bad])} bytes does not match: the file is damaged",
            where=form.where(int(run.offsets[bad])),
        )


def decode(
    form: BlockFormat,
    run: UnpackedRun,
    *,
    internal_keys: bool = True,
    ordered: bool = True,
    sequence: int | None = None,
    types: frozenset[ValueType] = frozenset(),
) -> Columns:
    """The entries of a run; ``sequence`` stands in for every entry's own sequence number.

    Internal keys of a type that is not among ``types`` are refused by name.
    """
    suffix = INTERNAL_KEY_SUFFIX if internal_keys else 0
    limits = np.empty(len(run.starts), dtype=np.int64)
    code, block, position, n, key_bytes = measure_blocks(run.data, run.starts, run.ends, suffix, limits)
    if code == OK and key_bytes > MAX_DECODED_BYTES:
        raise FormatError(f"{n} keys add up to {key_bytes} bytes", where=form.where(int(run.offsets[0])))
    if code == OK:
        columns = Columns(
            data=run.data,
            keys=np.empty(key_bytes, dtype=np.uint8),
            key_offsets=np.empty(n + 1, dtype=np.int64),
            tags=np.empty(n, dtype=np.uint64),
            value_starts=np.empty(n, dtype=np.int64),
            value_lengths=np.empty(n, dtype=np.int64),
        )
        code, block, position = decode_blocks(
            run.data,
            run.starts,
            limits,
            suffix,
            KEEP_SEQUENCE if sequence is None else np.uint64(sequence),
            np.uint64(sum(1 << kind for kind in types)),
            ordered,
            columns.keys,
            columns.key_offsets,
            columns.tags,
            columns.value_starts,
            columns.value_lengths,
        )
        if code == OK:
            return columns
    if code >= UNREAD_TYPE:
        raise _unread_type(code - UNREAD_TYPE, form.where(int(run.offsets[block])))
    raise FormatError(
        f"{MESSAGES[code]} (at byte {position - int(run.starts[block])} of the decompressed block)",
        where=form.where(int(run.offsets[block])),
    )


def _unread_type(number: int, where: Where) -> FormatError:
    try:
        return UnsupportedVersionError(f"entries of type {ValueType(number).name} are not read", where=where)
    except ValueError:
        return FormatError(f"entry is of type {number}, which is not known", where=where)


def as_mapping(columns: Columns) -> dict[bytes, bytes]:
    """The entries of a small block: metaindex, properties."""
    return {columns.key(i): columns.value(i) for i in range(len(columns))}
