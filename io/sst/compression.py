"""Decompression of RocksDB blocks into memory that the caller took.

From table format version 2 on all but Snappy put the decompressed size as a varint32 before the data
(``util/compression.h``); Snappy has it in its own header. Errors here do not know the place: the caller adds it.
"""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable

import cramjam

from ...schemas.errors import FormatError, UnsupportedVersionError
from .format import Compression

_RAW_DEFLATE = -15

_MAX_RATIO = {
    Compression.SNAPPY: 64,
    Compression.ZLIB: 1100,
    Compression.BZIP2: 1 << 16,
    Compression.LZ4: 256,
    Compression.LZ4HC: 256,
    Compression.ZSTD: 1 << 16,
    Compression.ZSTD_NOT_FINAL: 1 << 16,
}
"""More than a format can expand a block by; a size above is not what the data decompresses to."""


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


_DECOMPRESSORS: dict[Compression, Callable[[memoryview, memoryview], int]] = {
    Compression.SNAPPY: _snappy,
    Compression.ZLIB: _zlib,
    Compression.BZIP2: _bzip2,
    Compression.LZ4: _lz4,
    Compression.LZ4HC: _lz4,
    Compression.ZSTD: _zstd,
    Compression.ZSTD_NOT_FINAL: _zstd,
}
_ERRORS = (cramjam.DecompressionError, zlib.error, OSError, EOFError, ValueError)


def compression_of(number: int, format_version: int) -> Compression:
    """The compression of a block's trailer byte; one that is not read is refused by name."""
    try:
        kind = Compression(number)
    except ValueError:
        raise UnsupportedVersionError(f"block compression {number} is not known") from None
    if kind is not Compression.NONE and kind not in _DECOMPRESSORS:
        raise UnsupportedVersionError(f"block compression {kind.name} is not read")
    if format_version < 2 and kind not in (Compression.NONE, Compression.SNAPPY):
        raise UnsupportedVersionError(f"{kind.name} in SST format version {format_version} is not read")
    return kind


def decompressed_size(kind: Compression, data: memoryview) -> tuple[int, int]:
    """Bytes that ``data`` decompresses to, and where in ``data`` the compressed bytes begin."""
    if kind is Compression.NONE:
        return len(data), 0
    size = pos = 0
    while True:
        if pos == len(data) or pos == 5:
            raise FormatError(f"{kind.name} block of {len(data)} bytes does not say what it decompresses to")
        byte = data[pos]
        size |= (byte & 0x7F) << 7 * pos
        pos += 1
        if byte < 0x80:
            break
    if size > len(data) * _MAX_RATIO[kind]:
        raise FormatError(f"{kind.name} block of {len(data)} bytes says that it decompresses to {size}")
    return size, 0 if kind is Compression.SNAPPY else pos


def decompress_into(kind: Compression, data: memoryview, out: memoryview) -> None:
    """Decompresses ``data`` into ``out``, which it must fill exactly."""
    if kind is Compression.NONE:
        out[:] = data
        return
    try:
        got = _DECOMPRESSORS[kind](data, out)
    except _ERRORS as error:
        raise FormatError(f"{kind.name} block does not decompress: {error}") from None
    if got != len(out):
        raise FormatError(f"{kind.name} block decompresses to {got} bytes and not {len(out)}")
