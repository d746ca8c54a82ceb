# mypy: ignore-errors
"""Kryo's arrays of primitives, sets of bits and big numbers, both ways."""

from __future__ import annotations

import numpy as np
from numba import njit

from . import kryo_ops as k
from .kernel_options import MAKES_ARRAYS, PART_OF_KERNEL
from .kryo_number_kernels import put, put_fixed, put_long, put_units, swapped, unzigzag, varlong, zigzag
from .memory import get_1, get_8, load_i4
from .ops import BAD_LENGTH, KRYO_SHAPE, NULL, OVERFLOW, RANGE, SHORT
from .text_kernels import take_varint

_BAD = np.int64(-KRYO_SHAPE)
_SHORT = np.int64(-SHORT)
_FULL = np.int64(-OVERFLOW)


@njit(**PART_OF_KERNEL)
def take_array(kind, five, buf, pos, end, out, state):
    """BYTES to EIGHTS: a count from 1, then the elements."""
    n, pos = take_varint(buf, pos, end)
    if pos < 0:
        return _SHORT
    n -= 1
    width = np.int64(1)
    if kind == k.TWOS:
        width = np.int64(2)
    elif kind == k.FOURS:
        width = np.int64(4)
    elif kind == k.EIGHTS:
        width = np.int64(8)
    if n < 0 or n * width > end - pos:
        return np.int64(-BAD_LENGTH)
    full = not put(out, state, n, 4)
    for _ in range(n):
        if kind == k.INTS:
            value, pos = take_varint(buf, pos, end)
            if pos < 0:
                return _SHORT
            full = full or not put(out, state, unzigzag(value & 0xFFFFFFFF), 4)
        elif kind == k.LONGS:
            value, pos = varlong(buf, pos, end)
            if pos < 0:
                return _SHORT
            full = full or not put(out, state, unzigzag(value), 8)
        else:
            full = full or not put(out, state, swapped(buf, pos, width, five), width)
            pos += width
    return _FULL if full else pos


@njit(**PART_OF_KERNEL)
def give_array(kind, five, plain, pos, out, state):
    n = load_i4(plain, pos)
    pos += 4
    done = put_units(out, state, n + 1)
    width = np.int64(1)
    if kind == k.TWOS:
        width = np.int64(2)
    elif kind == k.FOURS or kind == k.INTS:
        width = np.int64(4)
    elif kind == k.EIGHTS or kind == k.LONGS:
        width = np.int64(8)
    for _ in range(n):
        value = np.int64(0)
        for i in range(width):
            value = value << 8 | get_1(plain, pos + i)
        pos += width
        if kind == k.INTS:
            value = zigzag(value - ((value >> 31) << 32))
            done = done and put_units(out, state, value)
        elif kind == k.LONGS:
            done = done and put_long(out, state, zigzag(value))
        else:
            done = done and put_fixed(out, state, value, width, five)
    return pos if done else _FULL


@njit(**PART_OF_KERNEL)
def take_bit_set(five, buf, pos, end, out, state):
    n, pos = take_varint(buf, pos, end)
    if pos < 0:
        return _SHORT
    if n * 8 > end - pos or n > 1 << 24:
        return np.int64(-BAD_LENGTH)
    if five and n and get_8(buf, pos + 8 * (n - 1)) == 0:
        return _BAD  # never written: chill (Kryo 2) writes all words that the set has room for, Kryo 5 those in use
    bits = np.int64(0)
    for i in range(n):
        rest = get_8(buf, pos + 8 * i)
        while rest != 0:
            bits += 1
            rest &= rest - 1
    full = not put(out, state, bits, 4)
    for i in range(n):
        value = swapped(buf, pos + 8 * i, 8, five)
        for bit in range(64):
            if value >> bit & 1:
                full = full or not put(out, state, 64 * i + bit, 4)
    return _FULL if full else pos + 8 * n


@njit(**PART_OF_KERNEL | MAKES_ARRAYS)
def give_bit_set(five, plain, pos, out, state):
    n = load_i4(plain, pos)
    pos += 4
    most = np.int64(-1)
    for i in range(n):
        bit = load_i4(plain, pos + 4 * i)
        if bit < 0 or bit >= 1 << 30:
            return np.int64(-RANGE)
        most = max(most, bit)
    size = (most >> 6) + 1
    if not five:
        size = max(size, np.int64(1))  # what an empty set of Java has room for
    words = np.zeros(size, np.int64)
    for i in range(n):
        bit = load_i4(plain, pos + 4 * i)
        words[bit >> 6] |= np.int64(1) << (bit & 63)
    done = put_units(out, state, size)
    for i in range(size):
        done = done and put_fixed(out, state, words[i], 8, five)
    return pos + 4 * n if done else _FULL


@njit(**PART_OF_KERNEL)
def take_big(kind, buf, pos, end, out, state):
    """BIG_INTEGER, BIG_DECIMAL."""
    n, pos = take_varint(buf, pos, end)
    if pos < 0:
        return _SHORT
    n -= 1
    if n < 1 or n > end - pos:
        return np.int64(-BAD_LENGTH)
    full = not put(out, state, n + 4, 4)
    for i in range(n):
        full = full or not put(out, state, get_1(buf, pos + i), 1)
    pos += n
    if kind == k.BIG_DECIMAL:
        scale, pos = take_varint(buf, pos, end)
        if pos < 0:
            return _SHORT
        full = full or not put(out, state, unzigzag(scale & 0xFFFFFFFF), 4)
    return _FULL if full else pos


@njit(**PART_OF_KERNEL)
def give_big(kind, plain, pos, out, state):
    """BIG_INTEGER, BIG_DECIMAL. Plain are Flink's: 0 is null, and 1 to 3 stand for 0, 1 and 10."""
    n = load_i4(plain, pos)
    pos += 4
    if n == 0:
        return np.int64(-NULL)
    if n < 4:
        done = put(out, state, np.int64(2), 1) and put(out, state, np.int64(10 if n == 3 else n - 1), 1)
    else:
        done = put_units(out, state, n - 3)
        for i in range(n - 4):
            done = done and put(out, state, get_1(plain, pos + i), 1)
        pos += n - 4
    if kind == k.BIG_DECIMAL:
        done = done and put_units(out, state, zigzag(load_i4(plain, pos)))
        pos += 4
    return pos if done else _FULL
