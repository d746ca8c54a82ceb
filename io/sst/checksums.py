"""The checksums that guard RocksDB blocks and log records.

CRC32c is a kernel (slicing by eight) so that a run of blocks is checked in one call without the GIL; the
xxHash family comes from the ``xxhash`` package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xxhash

from ...schemas.kernels import kernel
from .arrays import Ints
from .format import Checksum

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
_LAST_BYTE_PRIME = 0x6B9083D9


def _tables() -> np.ndarray[Any, np.dtype[np.uint32]]:
    """``tables[n][b]``: the CRC of byte ``b`` followed by ``n`` zero bytes."""
    tables = np.zeros((8, 256), dtype=np.uint32)
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        tables[0, byte] = value
    for n in range(1, 8):
        before = tables[n - 1]
        tables[n] = before >> np.uint32(8) ^ tables[0][before & np.uint32(0xFF)]
    return tables


_TABLES = _tables()


@kernel("uint32(Array(uint8, 1, 'C', readonly=True), int64, int64)")
def crc32c_kernel(data, start, end):  # type: ignore[no-untyped-def]
    """CRC32c of ``data[start:end]``; the caller has checked the bounds."""
    crc = np.uint32(0xFFFFFFFF)
    low = np.uint32(0xFF)
    pos = start
    while pos + 8 <= end:
        one = crc ^ (
            np.uint32(data[pos])
            | np.uint32(data[pos + 1]) << np.uint32(8)
            | np.uint32(data[pos + 2]) << np.uint32(16)
            | np.uint32(data[pos + 3]) << np.uint32(24)
        )
        crc = (
            _TABLES[7, one & low]
            ^ _TABLES[6, (one >> np.uint32(8)) & low]
            ^ _TABLES[5, (one >> np.uint32(16)) & low]
            ^ _TABLES[4, one >> np.uint32(24)]
            ^ _TABLES[3, data[pos + 4]]
            ^ _TABLES[2, data[pos + 5]]
            ^ _TABLES[1, data[pos + 6]]
            ^ _TABLES[0, data[pos + 7]]
        )
        pos += 8
    while pos < end:
        crc = _TABLES[0, (crc ^ data[pos]) & low] ^ (crc >> np.uint32(8))
        pos += 1
    return crc ^ np.uint32(0xFFFFFFFF)


def crc32c(data: bytes | bytearray | memoryview) -> int:
    """CRC32c (Castagnoli) of ``data``, unmasked."""
    array = np.frombuffer(data, dtype=np.uint8)
    array.flags.writeable = False
    return int(crc32c_kernel(array, 0, len(array)))


@kernel("int64(Array(uint8, 1, 'C', readonly=True), int64[::1], int64[::1], int64[::1])")
def first_bad_crc32c(data, starts, sizes, modifiers):  # type: ignore[no-untyped-def]
    """The first ``i`` where the masked CRC32c of ``data[starts[i]:][:sizes[i]]`` plus ``modifiers[i]`` is not the u4
    behind it, or -1. The caller has checked the bounds.
    """
    for i in range(len(starts)):
        end = starts[i] + sizes[i]
        crc = np.int64(crc32c_kernel(data, starts[i], end))
        masked = ((crc >> 15 | crc << 17) + _MASK_DELTA + modifiers[i]) & 0xFFFFFFFF
        for byte in range(4):
            if data[end + byte] != (masked >> (8 * byte)) & 0xFF:
                return i
    return -1


def mask_crc32c(crc: int) -> int:
    """What RocksDB stores for a CRC32c (``crc32c::Mask``): rotated right by 15 bits, plus a constant."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def unmask_crc32c(masked: int) -> int:
    """The CRC32c of what :func:`mask_crc32c` made."""
    rotated = (masked - _MASK_DELTA) & 0xFFFFFFFF
    return (rotated >> 17 | rotated << 15) & 0xFFFFFFFF


def _xxh3(data: bytes | bytearray | memoryview) -> int:
    if not len(data):
        return 0
    view = memoryview(data)
    return xxhash.xxh3_64_intdigest(view[:-1]) & 0xFFFFFFFF ^ (view[-1] * _LAST_BYTE_PRIME) & 0xFFFFFFFF


BLOCK_CHECKSUMS: dict[Checksum, Callable[[bytes | bytearray | memoryview], int]] = {
    Checksum.NONE: lambda data: 0,
    Checksum.CRC32C: lambda data: mask_crc32c(crc32c(data)),
    Checksum.XXHASH: lambda data: xxhash.xxh32_intdigest(data),
    Checksum.XXHASH64: lambda data: xxhash.xxh64_intdigest(data) & 0xFFFFFFFF,
    Checksum.XXH3: _xxh3,
}


def block_checksum(kind: Checksum, data: bytes | bytearray | memoryview) -> int:
    """The u4 behind ``data`` = a block as it lies in the file and its compression byte.

    ``ComputeBuiltinChecksum`` of ``table/format.cc``: CRC32c masked, xxHash64 and XXH3 cut to 32 bits, the
    last byte of XXH3 mixed in afterwards.
    """
    return BLOCK_CHECKSUMS[kind](data)


def context_modifiers(base: int, offsets: Ints) -> Ints:
    """What is added (modulo 2^32) to the checksums of blocks at ``offsets`` of a file from format version 6 on.

    ``ChecksumModifierForContext`` of ``table/format.h``; nothing where ``base`` is 0, as it is before version 6.
    """
    if base == 0:
        return np.zeros_like(offsets)
    return base ^ ((offsets & 0xFFFFFFFF) + (offsets >> 32) & 0xFFFFFFFF)


def context_modifier(base: int, offset: int) -> int:
    """:func:`context_modifiers` of one offset."""
    return int(context_modifiers(base, np.array([offset], dtype=np.int64))[0])
