"""Decompression of RocksDB blocks into memory that the caller took.

From table format version 2 on all but Snappy put the decompressed size as a varint32 before the data
(``util/compression.h``); Snappy has it in its own header. Errors here do not know the place: the caller adds it.
"""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable

import cramjam
import numpy as np

from ...schemas.errors import FormatError, UnsupportedVersionError
from .format import Compression

_RAW_DEFLATE = -15

MAX_RATIO = np.zeros(256, dtype=np.int64)
"""More than a compression (by its number) can expand a block by; 0 where it is not read."""
MAX_RATIO[Compression.NONE] = 1
MAX_RATIO[Compression.SNAPPY] = 64
MAX_RATIO[Compression.ZLIB] = 1100
MAX_RATIO[[Compression.LZ4, Compression.LZ4HC]] = 256
MAX_RATIO[[Compression.BZIP2, Compression.ZSTD, Compression.ZSTD_NOT_FINAL]] = 1 << 16


def _snappy(data: memoryview, out: memoryview) -> int:
    return int(cramjam.snappy.decompress_raw_into(data, out))


def _zlib(data: memoryview, out: memoryview) -> int:
    inflater = zlib.decompressobj(_RAW_DEFLATE)
    return _copy(inflater.decompress(data, len(out) + 1), out)


def _bzip2(data: memoryview, out: memoryview) -> int:
    return _copy(bz2.BZ2Decompressor().decompress(data, len(out) + 1), out)


def _lz4(data: memoryview, out: memoryview) -> int:
    return int(cramjam.lz4.decompress_block_into(data, out, output_len=len(out)))


def _zstd(data: memoryview, out: memoryview) -> int:
    return int(cramjam.zstd.decompress_into(data, out))


def _copy(data: bytes, out: memoryview) -> int:
    if len(data) <= len(out):
        out[: len(data)] = data
    return len(data)


def _none(data: memoryview, out: memoryview) -> int:
    return _copy(bytes(data), out)


Decompressor = Callable[[memoryview, memoryview], int]
"""Writes what its first argument decompresses to into the second, and returns how many bytes that is."""

_DECOMPRESSORS: dict[int, Decompressor] = {
    Compression.NONE: _none,
    Compression.SNAPPY: _snappy,
    Compression.ZLIB: _zlib,
    Compression.BZIP2: _bzip2,
    Compression.LZ4: _lz4,
    Compression.LZ4HC: _lz4,
    Compression.ZSTD: _zstd,
    Compression.ZSTD_NOT_FINAL: _zstd,
}
DECOMPRESSION_ERRORS = (cramjam.DecompressionError, zlib.error, OSError, EOFError, ValueError)


def refuse(kind: int, format_version: int) -> UnsupportedVersionError | None:
    """The error for a block's compression that is not read, None for one that is."""
    if not MAX_RATIO[kind]:
        name = Compression(kind).name if kind in Compression.__members__.values() else "of an unknown kind"
        return UnsupportedVersionError(f"block compression {kind} ({name}) is not read")
    if format_version < 2 and kind not in (Compression.NONE, Compression.SNAPPY):
        return UnsupportedVersionError(
            f"{Compression(kind).name} in SST format version {format_version} is not read"
        )
    return None


def decompress_into(kind: int, data: memoryview, out: memoryview) -> None:
    """Decompresses ``data`` into ``out``, which it must fill exactly."""
    try:
        got = _DECOMPRESSORS[kind](data, out)
    except DECOMPRESSION_ERRORS as error:
        raise FormatError(f"{Compression(kind).name} block does not decompress: {error}") from None
    if got != len(out):
        raise FormatError(f"{Compression(kind).name} block decompresses to {got} bytes and not {len(out)}")
