# mypy: ignore-errors
"""Kryo's dates, times and durations, both ways."""

from __future__ import annotations

import numpy as np
from numba import njit

from . import kryo_ops as k
from .kernel_options import MAKES_ARRAYS, PART_OF_KERNEL
from .kryo_number_kernels import put, put_little, put_long, put_units, unzigzag, varlong, zigzag
from .memory import get_1, get_8, load_i2, load_i4, load_i8
from .ops import KRYO_SHAPE, NULL, OVERFLOW, SHORT
from .text_kernels import take_varint

_BAD = np.int64(-KRYO_SHAPE)
_SHORT = np.int64(-SHORT)
_FULL = np.int64(-OVERFLOW)


@njit(**PART_OF_KERNEL)
def take_moment(kind, five, buf, pos, end, out, state):
    """DATE, STAMP, INSTANT, DURATION: plain is an i8 and, but for dates, an i4 of nanoseconds."""
    nanos = np.int64(0)
    if (kind == k.INSTANT or kind == k.DURATION) and not five:
        # Fields, by name: nanos, seconds.
        nanos, pos = take_varint(buf, pos, end)
        if pos < 0:
            return _SHORT
        value, pos = varlong(buf, pos, end)
        nanos, value = unzigzag(nanos & 0xFFFFFFFF), unzigzag(value)
    elif kind == k.DURATION:
        if pos + 8 > end:
            return _SHORT
        value, pos = get_8(buf, pos), pos + 8
    else:
        value, pos = varlong(buf, pos, end)
    if pos < 0:
        return _SHORT
    if kind != k.DATE and (five or kind == k.STAMP):
        nanos, pos = take_varint(buf, pos, end)
        if pos < 0:
            return _SHORT
        if kind == k.STAMP and five:  # whole seconds, in milliseconds
            value += nanos // 1_000_000
    done = put(out, state, value, 8) and (kind == k.DATE or put(out, state, nanos, 4))
    return pos if done else _FULL


@njit(**PART_OF_KERNEL)
def give_moment(kind, five, plain, pos, out, state):
    """DATE, STAMP, INSTANT, DURATION."""
    value = load_i8(plain, pos)
    pos += 8
    if kind != k.DURATION and value == np.int64(-0x8000000000000000):
        return np.int64(-NULL)
    if kind == k.DATE:
        return pos if put_long(out, state, value) else _FULL
    nanos = load_i4(plain, pos)
    pos += 4
    if (kind == k.INSTANT or kind == k.DURATION) and not five:
        done = put_units(out, state, zigzag(nanos)) and put_long(out, state, zigzag(value))
    elif kind == k.DURATION:
        done = put_little(out, state, value, 8) and put_units(out, state, nanos)
    else:
        if kind == k.STAMP and five:
            value -= nanos // 1_000_000
        done = put_long(out, state, value) and put_units(out, state, nanos)
    return pos if done else _FULL


@njit(**PART_OF_KERNEL)
def take_date(five, buf, pos, end, out, state):
    if five:
        year, pos = take_varint(buf, pos, end)
        if pos < 0 or pos + 2 > end:
            return _SHORT
        month, day, pos = get_1(buf, pos), get_1(buf, pos + 1), pos + 2
    else:
        # Fields, by name: day, month, year.
        if pos + 4 > end:
            return _SHORT
        day, month = load_i2(buf, pos), load_i2(buf, pos + 2)
        year, pos = take_varint(buf, pos + 4, end)
        if pos < 0:
            return _SHORT
        year = unzigzag(year & 0xFFFFFFFF)
    done = put(out, state, year, 4) and put(out, state, month, 1) and put(out, state, day, 1)
    return pos if done else _FULL


@njit(**PART_OF_KERNEL)
def give_date(five, plain, pos, out, state):
    year, month, day = load_i4(plain, pos), get_1(plain, pos + 4), get_1(plain, pos + 5)
    if year == -0x80000000:
        return np.int64(-NULL)
    if five:
        done = put_units(out, state, year) and put(out, state, month, 1) and put(out, state, day, 1)
    else:
        done = put(out, state, day, 2) and put(out, state, month, 2) and put_units(out, state, zigzag(year))
    return pos + 6 if done else _FULL


@njit(**PART_OF_KERNEL | MAKES_ARRAYS)
def take_time(five, buf, pos, end, out, state):
    """Kryo 5 leaves out what is zero at the end; the last part is inverted then."""
    parts = np.zeros(4, np.int64)
    if five:
        last = 0
        while last < 3:
            if pos >= end:
                return _SHORT
            byte = get_1(buf, pos)
            pos += 1
            parts[last] = byte if byte < 0x80 else 0xFF - byte
            if byte >= 0x80:
                break
            last += 1
        if last == 3:
            parts[3], pos = take_varint(buf, pos, end)
    else:
        # Fields, by name: hour, minute, nano, second.
        if pos + 2 > end:
            return _SHORT
        parts[0], parts[1] = get_1(buf, pos), get_1(buf, pos + 1)
        nano, pos = take_varint(buf, pos + 2, end)
        if pos < 0 or pos >= end:
            return _SHORT
        parts[3] = unzigzag(nano & 0xFFFFFFFF)
        parts[2] = get_1(buf, pos)
        pos += 1
    if pos < 0:
        return _SHORT
    done = True
    for i in range(3):
        done = done and put(out, state, parts[i], 1)
    return pos if done and put(out, state, parts[3], 4) else _FULL


@njit(**PART_OF_KERNEL)
def give_time(five, plain, pos, out, state):
    hour, minute, second = get_1(plain, pos), get_1(plain, pos + 1), get_1(plain, pos + 2)
    nano = load_i4(plain, pos + 3)
    if hour >= 0x80:
        return np.int64(-NULL)
    if not five:
        done = put(out, state, hour, 1) and put(out, state, minute, 1)
        done = done and put_units(out, state, zigzag(nano)) and put(out, state, second, 1)
    elif nano:
        done = put(out, state, hour << 8 | minute, 2) and put(out, state, second, 1)
        done = done and put_units(out, state, nano)
    elif second:
        done = put(out, state, hour << 8 | minute, 2) and put(out, state, 0xFF - second, 1)
    elif minute:
        done = put(out, state, hour << 8 | 0xFF - minute, 2)
    else:
        done = put(out, state, 0xFF - hour, 1)
    return pos + 7 if done else _FULL


@njit(**PART_OF_KERNEL)
def take_date_time(five, buf, pos, end, out, state):
    if five:
        pos = take_date(five, buf, pos, end, out, state)
        return pos if pos < 0 else take_time(five, buf, pos, end, out, state)
    # Objects of their own, each with its mark.
    if pos >= end or get_1(buf, pos) != 1:
        return _BAD
    pos = take_date(five, buf, pos + 1, end, out, state)
    if pos < 0:
        return pos
    if pos >= end or get_1(buf, pos) != 1:
        return _BAD
    return take_time(five, buf, pos + 1, end, out, state)


@njit(**PART_OF_KERNEL)
def give_date_time(five, plain, pos, out, state):
    if not five and not put(out, state, np.int64(1), 1):
        return _FULL
    pos = give_date(five, plain, pos, out, state)
    if pos < 0:
        return pos
    if not five and not put(out, state, np.int64(1), 1):
        return _FULL
    return give_time(five, plain, pos, out, state)
