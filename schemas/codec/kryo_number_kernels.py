# mypy: ignore-errors
"""Kryo's numbers, both ways: of fixed width, of base 128 with the low bits first, with a flag in their first byte.

Those that take answer (value, next position), the position -1 at the end of the data; those that put append to ``out``,
where ``state[OUT]`` says, and answer whether there was room.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .kernel_options import PART_OF_KERNEL
from .kryo_ops import OUT
from .memory import get_1, put_1, store_i2, store_i4, store_i8
from .text_kernels import take_varint


@njit(**PART_OF_KERNEL)
def put(out, state, value, n):
    """Append ``n`` bytes (1, 2, 4 or 8), big-endian; False where ``out`` is full."""
    at = state[OUT]
    if at < 0:
        return True
    if at + n > out.size:
        return False
    if n == 1:
        put_1(out, at, value)
    elif n == 2:
        store_i2(out, at, value)
    elif n == 4:
        store_i4(out, at, value)
    else:
        store_i8(out, at, value)
    state[OUT] = at + n
    return True


@njit(**PART_OF_KERNEL)
def put_units(out, state, value):
    """Append a base-128 varint, low bits first."""
    value &= 0xFFFFFFFF
    while value >= 0x80:
        if not put(out, state, value & 0x7F | 0x80, 1):
            return False
        value >>= 7
    return put(out, state, value, 1)


@njit(**PART_OF_KERNEL)
def varlong(buf, pos, end):
    """(value, next position); the position is -1 at the end of the data."""
    value = np.int64(0)
    shift = np.int64(0)
    while pos < end:
        byte = get_1(buf, pos)
        pos += 1
        if shift == 56:  # the ninth byte of a long has eight bits of value
            return value | byte << 56, pos
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7
    return value, np.int64(-1)


@njit(**PART_OF_KERNEL)
def put_long(out, state, value):
    """``writeLong(value, true)``: base 128, the ninth byte with eight bits."""
    for _ in range(8):
        rest = (value >> 7) & np.int64(0x01FFFFFFFFFFFFFF)
        if rest == 0:
            return put(out, state, value & 0x7F, 1)
        if not put(out, state, value & 0x7F | 0x80, 1):
            return False
        value = rest
    return put(out, state, value & 0xFF, 1)


@njit(**PART_OF_KERNEL)
def flagged(buf, pos, end):
    """A varint whose first byte keeps a flag in bit 7: (value, next position); the caller looks at the flag."""
    if pos >= end:
        return np.int64(0), np.int64(-1)
    byte = get_1(buf, pos)
    pos += 1
    value = byte & 0x3F
    if byte & 0x40 == 0:
        return value, pos
    more, pos = take_varint(buf, pos, end)
    return value | more << 6, pos


@njit(**PART_OF_KERNEL)
def put_flagged(out, state, value, flag):
    """A varint with a flag in bit 7 of its first byte."""
    first = value & 0x3F | flag << 7
    if value >> 6 == 0:
        return put(out, state, first, 1)
    return put(out, state, first | 0x40, 1) and put_units(out, state, value >> 6)


@njit(**PART_OF_KERNEL)
def unzigzag(value):
    return (value >> 1) & np.int64(0x7FFFFFFFFFFFFFFF) ^ -(value & 1)


@njit(**PART_OF_KERNEL)
def zigzag(value):
    return value << 1 ^ value >> 63


@njit(**PART_OF_KERNEL)
def swapped(buf, pos, n, little):
    value = np.int64(0)
    for i in range(n):
        value = value << 8 | get_1(buf, pos + (n - 1 - i if little else i))
    return value


@njit(**PART_OF_KERNEL)
def put_fixed(out, state, value, n, little):
    return put_little(out, state, value, n) if little else put(out, state, value, n)


@njit(**PART_OF_KERNEL)
def put_little(out, state, value, n):
    done = True
    for i in range(n):
        done = done and put(out, state, value >> (i << 3) & 0xFF, 1)
    return done
