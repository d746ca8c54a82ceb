# mypy: ignore-errors
"""Big integers and numbers of 128 bits, both ways."""

from __future__ import annotations

import numpy as np
from numba import njit

from .kernel_options import PART_OF_KERNEL
from .memory import get_1, load_i4, put_1, put_8, store_i4
from .ops import BAD_LENGTH, OVERFLOW, RANGE, SHORT


@njit(**PART_OF_KERNEL)
def take_big_integer(buf, pos, end, mem, at, room):
    """BigIntSerializer as two's complement: (next position, next address, present), or (-1, reason, False)."""
    if pos + 4 > end:
        return np.int64(-1), np.int64(SHORT), False
    code = load_i4(buf, pos)
    pos += 4
    if code == 0:
        return pos, at, False
    if code < 0 or code == 4 or code - 4 > end - pos:
        return np.int64(-1), np.int64(BAD_LENGTH), False
    n = np.int64(1) if code < 4 else code - 4
    if n > room:
        return np.int64(-1), np.int64(OVERFLOW), False
    if code < 4:
        put_1(mem, at, np.int64(0) if code == 1 else np.int64(1) if code == 2 else np.int64(10))
        return pos, at + 1, True
    for k in range(n):
        mem[at + k] = buf[pos + k]
    return pos + n, at + n, True


@njit(**PART_OF_KERNEL)
def put_big_integer(out, at, src, start, stop):
    """BigIntSerializer of two's complement bytes, with the short codes for 0, 1 and 10."""
    first = get_1(src, start)
    if stop == start + 1 and (first == 0 or first == 1 or first == 10):
        store_i4(out, at, np.int64(1) if first == 0 else np.int64(2) if first == 1 else np.int64(3))
        return at + 4
    store_i4(out, at, stop - start + 4)
    at += 4
    for k in range(stop - start):
        out[at + k] = src[start + k]
    return at + stop - start


@njit(**PART_OF_KERNEL)
def take_int128(buf, pos, n, mem, at):
    """``n`` bytes of big-endian two's complement as a native 128-bit number at ``at``; OK (0) or RANGE."""
    sign = np.int64(-1) if n > 0 and get_1(buf, pos) >= 0x80 else np.int64(0)
    while n > 16:
        if get_1(buf, pos) != sign & 0xFF:
            return RANGE
        pos += 1
        n -= 1
        if n == 16 and (get_1(buf, pos) >= 0x80) != (sign != 0):
            return RANGE
    high = sign
    low = sign
    for k in range(n):
        high = high << 8 | (low >> 56 & 0xFF)
        low = low << 8 | get_1(buf, pos + k)
    put_8(mem, at, low)
    put_8(mem, at + 8, high)
    return 0


@njit(**PART_OF_KERNEL)
def put_int128(out, at, size, low, high):
    """The number big-endian in ``size`` bytes, or in the fewest that hold it if ``size`` is 0: the next position."""
    if size == 0:
        size = 16
        while size > 1:
            top = _byte_of(low, high, size - 1)
            below = _byte_of(low, high, size - 2)
            if (top == 0 and below < 0x80) or (top == 0xFF and below >= 0x80):
                size -= 1
            else:
                break
    for k in range(size):
        put_1(out, at + k, _byte_of(low, high, size - 1 - k))
    return at + size


@njit(**PART_OF_KERNEL)
def _byte_of(low, high, index):
    if index < 8:
        return low >> (index * 8) & 0xFF
    if index < 16:
        return high >> ((index - 8) * 8) & 0xFF
    return high >> 63 & 0xFF


@njit(**PART_OF_KERNEL)
def fits_int128(low, high, size):
    """Whether ``size`` bytes hold the number."""
    sign = high >> 63
    if size >= 16:
        return True
    for k in range(size, 16):
        if _byte_of(low, high, k) != sign & 0xFF:
            return False
    return (_byte_of(low, high, size - 1) >= 0x80) == (sign != 0)
