# mypy: ignore-errors
"""Kernels of :mod:`.hashing`: Java's hash codes of what has no fixed width, 32-bit wrap-around throughout."""

from __future__ import annotations

import numpy as np
from numba import types

from .kernels import kernel

_M32 = np.int64(0xFFFFFFFF)

_bytes = types.Array(types.uint8, 1, "C", readonly=True)
_positions = types.Array(types.int64, 1, "C", readonly=True)
_hashes = types.int32[::1]
_elements = types.Array(types.int32, 1, "C", readonly=True)


@kernel(types.void(_bytes, _positions, _hashes))
def hash_strings(data, offsets, out):
    """``String.hashCode`` of the valid UTF-8 texts ``data[offsets[i]:offsets[i + 1]]``, over UTF-16 units."""
    for i in range(out.size):
        value = np.int64(0)
        k = offsets[i]
        stop = offsets[i + 1]
        while k < stop:
            byte = np.int64(data[k])
            if byte < 0x80:
                unit = byte
                k += 1
            elif byte < 0xE0:
                unit = (byte & 0x1F) << 6 | np.int64(data[k + 1]) & 0x3F
                k += 2
            elif byte < 0xF0:
                unit = (
                    (byte & 0x0F) << 12 | (np.int64(data[k + 1]) & 0x3F) << 6 | np.int64(data[k + 2]) & 0x3F
                )
                k += 3
            else:
                point = (byte & 0x07) << 18 | (np.int64(data[k + 1]) & 0x3F) << 12
                point |= (np.int64(data[k + 2]) & 0x3F) << 6 | np.int64(data[k + 3]) & 0x3F
                point -= 0x10000
                value = (31 * value + 0xD800 + (point >> 10)) & _M32
                unit = 0xDC00 + (point & 0x3FF)
                k += 4
            value = (31 * value + unit) & _M32
        out[i] = np.int32(value)


@kernel(types.void(_bytes, _positions, _hashes))
def hash_big_integers(data, offsets, out):
    """``BigInteger.hashCode`` of two's complement bytes: the magnitude's ints folded with 31, times the sign."""
    for i in range(out.size):
        start = offsets[i]
        size = offsets[i + 1] - start
        negative = size > 0 and data[start] >= 0x80
        # The magnitude of a negative number is its complement plus one: bytes are inverted up to the last
        # one that is not zero, which is negated, and the zeros behind it stay.
        last = start + size - 1
        while negative and data[last] == 0:
            last -= 1
        value = np.int64(0)
        word = np.int64(0)
        for k in range(start, start + size):
            byte = np.int64(data[k])
            if negative and k < last:
                byte = 0xFF - byte
            elif negative and k == last:
                byte = 0x100 - byte
            word = word << 8 | byte
            if (start + size - 1 - k) & 3 == 0:
                value = (31 * value + word) & _M32
                word = np.int64(0)
        out[i] = np.int32(-value if negative else value)


@kernel(types.void(_elements, _positions, types.int64, types.int64, _hashes))
def fold_lists(elements, offsets, first, factor, out):
    """r = first; r = factor * r + h for each element of a list: ``List.hashCode`` with (1, 31), a sum with (0, 1)."""
    for i in range(out.size):
        value = first
        for k in range(offsets[i], offsets[i + 1]):
            value = (factor * value + np.int64(elements[k])) & _M32
        out[i] = np.int32(value)


@kernel(types.void(_bytes, _positions, _positions, _hashes))
def hash_binary_rows(data, starts, ends, out):
    """``BinaryRowData.hashCode``: murmur3 with seed 42 over the row's little-endian words (a multiple of 4 bytes)."""
    for i in range(out.size):
        value = np.uint32(42)
        for k in range(starts[i], ends[i] - 3, 4):
            word = np.uint32(data[k]) | np.uint32(data[k + 1]) << 8
            word |= np.uint32(data[k + 2]) << 16 | np.uint32(data[k + 3]) << 24
            word = np.uint32(word * np.uint32(0xCC9E2D51))
            word = np.uint32(word << 15 | word >> 17)
            value ^= np.uint32(word * np.uint32(0x1B873593))
            value = np.uint32(value << 13 | value >> 19)
            value = np.uint32(value * np.uint32(5) + np.uint32(0xE6546B64))
        value ^= np.uint32(ends[i] - starts[i])
        value = np.uint32((value ^ value >> 16) * np.uint32(0x85EBCA6B))
        value = np.uint32((value ^ value >> 13) * np.uint32(0xC2B2AE35))
        out[i] = np.int32(value ^ value >> 16)
