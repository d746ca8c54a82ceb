# mypy: ignore-errors
"""Atomic booleans, years, months, days, periods, optional numbers and offsets of time zones, both ways."""

from __future__ import annotations

import numpy as np
from numba import njit

from . import kryo_ops as k
from .kernel_options import PART_OF_KERNEL
from .kryo_number_kernels import (
    put,
    put_fixed,
    put_little,
    put_long,
    put_units,
    swapped,
    unzigzag,
    varlong,
    zigzag,
)
from .memory import get_1, load_i4, load_i8
from .ops import KRYO_SHAPE, OVERFLOW, RANGE, SHORT
from .text_kernels import take_varint

_BAD = np.int64(-KRYO_SHAPE)
_SHORT = np.int64(-SHORT)
_FULL = np.int64(-OVERFLOW)
_RANGE = np.int64(-RANGE)
_NAN = np.int64(0x7FF8000000000000)
_QUARTER = 900
_MOST_SECONDS = 18 * 3600
_MOST_YEARS = 999_999_999


@njit(**PART_OF_KERNEL)
def _count(kind):
    return 3 if kind == k.PERIOD else 1 if kind == k.YEAR else 2


@njit(**PART_OF_KERNEL)
def _in_range(kind, first, second):
    """Whether Java has such a year, month and day; a period is of any numbers."""
    if kind == k.PERIOD:
        return True
    if kind == k.MONTH_DAY:
        days = 29 if first == 2 else 30 if first == 4 or first == 6 or first == 9 or first == 11 else 31
        return 1 <= first <= 12 and 1 <= second <= days
    return -_MOST_YEARS <= first <= _MOST_YEARS and (kind == k.YEAR or 1 <= second <= 12)


@njit(**PART_OF_KERNEL)
def _take_parts(kind, five, buf, pos, end, out, state):
    """YEAR to PERIOD: the greater unit first, in Kryo 2 (fields, by name) last; plain is an i4 of each."""
    n = _count(kind)
    stop = pos
    first = np.int64(0)
    value = np.int64(0)
    for i in range(n):
        first, value = value, np.int64(0)
        at = pos
        for _ in range(i + 1 if five else n - i):
            value, at = take_varint(buf, at, end)
            if at < 0:
                return _SHORT
        stop = max(stop, at)
        value &= 0xFFFFFFFF
        value = value - ((value >> 31) << 32) if five else unzigzag(value)
        if not put(out, state, value, 4):
            return _FULL
    if not (_in_range(kind, value, value) if n == 1 else _in_range(kind, first, value)):
        return _BAD
    return stop


@njit(**PART_OF_KERNEL)
def _give_parts(kind, five, plain, pos, out, state):
    n = _count(kind)
    if not _in_range(kind, load_i4(plain, pos), load_i4(plain, pos + 4 * min(n - 1, 1))):
        return _RANGE
    done = True
    for i in range(n):
        value = load_i4(plain, pos + 4 * (i if five else n - 1 - i))
        done = done and put_units(out, state, value if five else zigzag(value))
    return pos + 4 * n if done else _FULL


@njit(**PART_OF_KERNEL)
def _take_optional(kind, five, buf, pos, end, out, state):
    """Plain is a null flag, and the number. Kryo 2 writes a number where there is none, too: Java's 0 or NaN."""
    if pos >= end:
        return _SHORT
    present = get_1(buf, pos)
    pos += 1
    if present > 1:
        return _BAD
    width = np.int64(4 if kind == k.OPTIONAL_INT else 8)
    value = np.int64(0)
    if five or kind == k.OPTIONAL_DOUBLE:
        if present or not five:
            if pos + width > end:
                return _SHORT
            value, pos = swapped(buf, pos, width, five), pos + width
    else:
        value, pos = varlong(buf, pos, end)
        if pos < 0:
            return _SHORT
        value = unzigzag(value & 0xFFFFFFFF if kind == k.OPTIONAL_INT else value)
    if not put(out, state, np.int64(1 - present), 1):
        return _FULL
    if present:
        return pos if put(out, state, value, width) else _FULL
    none = _NAN if kind == k.OPTIONAL_DOUBLE and not five else np.int64(0)
    return pos if value == none else _BAD


@njit(**PART_OF_KERNEL)
def _give_optional(kind, five, plain, pos, out, state):
    present = np.int64(1) - get_1(plain, pos)
    pos += 1
    width = np.int64(4 if kind == k.OPTIONAL_INT else 8)
    value = _NAN if kind == k.OPTIONAL_DOUBLE else np.int64(0)
    if present:
        value = load_i4(plain, pos) if kind == k.OPTIONAL_INT else load_i8(plain, pos)
        pos += width
    done = put(out, state, present, 1)
    if five or kind == k.OPTIONAL_DOUBLE:
        if present or not five:
            done = done and put_fixed(out, state, value, width, five)
    else:
        done = done and put_long(out, state, zigzag(value))
    return pos if done else _FULL


@njit(**PART_OF_KERNEL)
def _take_offset(five, buf, pos, end, out, state):
    """Seconds; Kryo 5: quarters of an hour in a byte, or 127 and the seconds."""
    if not five:
        value, pos = take_varint(buf, pos, end)
        if pos < 0:
            return _SHORT
        value = unzigzag(value & 0xFFFFFFFF)
    else:
        if pos >= end:
            return _SHORT
        value = get_1(buf, pos)
        pos += 1
        if value == 0x7F:
            if pos + 4 > end:
                return _SHORT
            value, pos = swapped(buf, pos, np.int64(4), five), pos + 4
            value -= (value >> 31) << 32
            if value % _QUARTER == 0:
                return _BAD
        else:
            value = (value - ((value >> 7) << 8)) * _QUARTER
    if value < -_MOST_SECONDS or value > _MOST_SECONDS:
        return _BAD
    return pos if put(out, state, value, 4) else _FULL


@njit(**PART_OF_KERNEL)
def _give_offset(five, plain, pos, out, state):
    value = load_i4(plain, pos)
    if value < -_MOST_SECONDS or value > _MOST_SECONDS:
        return _RANGE
    if not five:
        done = put_units(out, state, zigzag(value))
    elif value % _QUARTER == 0:
        done = put(out, state, value // _QUARTER & 0xFF, 1)
    else:
        done = put(out, state, np.int64(0x7F), 1) and put_little(out, state, value, 4)
    return pos + 4 if done else _FULL


@njit(**PART_OF_KERNEL)
def take_jdk(kind, five, buf, pos, end, out, state):
    if kind <= k.PERIOD:
        return _take_parts(kind, five, buf, pos, end, out, state)
    if kind <= k.OPTIONAL_DOUBLE:
        return _take_optional(kind, five, buf, pos, end, out, state)
    if kind == k.ZONE_OFFSET:
        return _take_offset(five, buf, pos, end, out, state)
    value, pos = varlong(buf, pos, end)  # ATOMIC_BOOLEAN: an int
    if pos < 0:
        return _SHORT
    if value != 0 and value != 2:
        return _BAD
    return pos if put(out, state, value >> 1, 1) else _FULL


@njit(**PART_OF_KERNEL)
def give_jdk(kind, five, plain, pos, out, state):
    if kind <= k.PERIOD:
        return _give_parts(kind, five, plain, pos, out, state)
    if kind <= k.OPTIONAL_DOUBLE:
        return _give_optional(kind, five, plain, pos, out, state)
    if kind == k.ZONE_OFFSET:
        return _give_offset(five, plain, pos, out, state)
    return pos + 1 if put(out, state, get_1(plain, pos) << 1, 1) else _FULL
