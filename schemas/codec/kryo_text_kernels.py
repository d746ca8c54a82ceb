# mypy: ignore-errors
"""Kryo's strings, and the UUIDs that are strings in plain bytes, both ways."""

from __future__ import annotations

import numpy as np
from numba import njit

from . import kryo_ops as k
from .kernel_options import MAKES_ARRAYS, PART_OF_KERNEL
from .kryo_number_kernels import (
    flagged,
    put,
    put_flagged,
    put_little,
    put_long,
    put_units,
    unzigzag,
    varlong,
    zigzag,
)
from .memory import get_1, get_8, put_1
from .ops import BAD_STRING, KRYO_SHAPE, OVERFLOW, SHORT
from .text_kernels import take_varint

_BAD = np.int64(-KRYO_SHAPE)
_SHORT = np.int64(-SHORT)
_FULL = np.int64(-OVERFLOW)


@njit(**PART_OF_KERNEL)
def take_string(buf, pos, end, out, state):
    if pos >= end:
        return _SHORT
    if get_1(buf, pos) < 0x80:
        stop = pos
        while stop < end and get_1(buf, stop) < 0x80:
            stop += 1
        if stop >= end:
            return _SHORT
        stop += 1
        if not put_units(out, state, stop - pos):
            return _FULL
        at = state[k.OUT]
        if at >= 0:
            if at + stop - pos > out.size:
                return _FULL
            for i in range(stop - pos):
                put_1(out, at + i, get_1(buf, pos + i) & 0x7F)
            state[k.OUT] = at + stop - pos
        return stop
    n, pos = flagged(buf, pos, end)
    if pos < 0:
        return _SHORT
    if n < 1 or n - 1 > end - pos:
        return _BAD
    full = not put_units(out, state, n - 1)
    for _ in range(n - 1):
        if pos >= end:
            return _SHORT
        unit = get_1(buf, pos)
        pos += 1
        more = np.int64(0)
        if unit >= 0xE0:
            more, unit = np.int64(2), unit & 0x0F
        elif unit >= 0x80:
            more, unit = np.int64(1), unit & 0x1F
        if more > end - pos:
            return _SHORT
        for _ in range(more):
            unit = unit << 6 | get_1(buf, pos) & 0x3F
            pos += 1
        full = full or not put_units(out, state, unit)
    return _FULL if full else pos


@njit(**PART_OF_KERNEL)
def give_string(five, plain, pos, end, out, state):
    n, pos = take_varint(plain, pos, end)
    start = pos
    ascii_only = n > 1 and (n <= 32 if five else n < 64) and n <= end - pos
    if ascii_only:
        for i in range(n):
            ascii_only = ascii_only and get_1(plain, pos + i) < 0x80
    done = True
    if ascii_only:
        for i in range(n - 1):
            done = done and put(out, state, get_1(plain, start + i), 1)
        done = done and put(out, state, get_1(plain, start + n - 1) | 0x80, 1)
        return start + n if done else _FULL
    done = put_flagged(out, state, n + 1, np.int64(1))
    for _ in range(n):
        unit, pos = take_varint(plain, pos, end)
        if unit < 0x80:
            done = done and put(out, state, unit, 1)
        elif unit < 0x800:
            done = done and put(out, state, (0xC0 | unit >> 6) << 8 | 0x80 | unit & 0x3F, 2)
        else:
            three = (0xE0 | unit >> 12) << 16 | (0x80 | unit >> 6 & 0x3F) << 8 | 0x80 | unit & 0x3F
            done = done and put(out, state, three >> 16, 1) and put(out, state, three & 0xFFFF, 2)
    return pos if done else _FULL


@njit(**PART_OF_KERNEL)
def _hex_digit(value):
    return value + (0x30 if value < 10 else 0x57)


@njit(**PART_OF_KERNEL)
def take_uuid(five, buf, pos, end, out, state):
    most = np.int64(0)
    least = np.int64(0)
    if five:
        if pos + 16 > end:
            return _SHORT
        most, least, pos = get_8(buf, pos), get_8(buf, pos + 8), pos + 16
    else:
        most, pos = varlong(buf, pos, end)
        if pos < 0:
            return _SHORT
        least, pos = varlong(buf, pos, end)
        if pos < 0:
            return _SHORT
        most, least = unzigzag(most), unzigzag(least)
    at = state[k.OUT]
    if at < 0:
        return pos
    if at + 37 > out.size:
        return _FULL
    put_1(out, at, np.int64(36))
    at += 1
    for i in range(32):
        half = most if i < 16 else least
        if i == 8 or i == 12 or i == 16 or i == 20:
            put_1(out, at, np.int64(0x2D))
            at += 1
        put_1(out, at, _hex_digit(half >> ((15 - (i & 15)) << 2) & 15))
        at += 1
    state[k.OUT] = at
    return pos


@njit(**PART_OF_KERNEL | MAKES_ARRAYS)
def give_uuid(five, plain, pos, out, state):
    """36 characters; hexadecimal digits of either case."""
    n = get_1(plain, pos)
    if n != 36:
        return np.int64(-BAD_STRING)
    pos += 1
    halves = np.zeros(2, np.int64)
    digits = np.int64(0)
    for i in range(36):
        char = get_1(plain, pos + i)
        if i == 8 or i == 13 or i == 18 or i == 23:
            if char != 0x2D:
                return np.int64(-BAD_STRING)
            continue
        if 0x30 <= char <= 0x39:
            char -= 0x30
        elif 0x61 <= char <= 0x66:
            char -= 0x57
        elif 0x41 <= char <= 0x46:
            char -= 0x37
        else:
            return np.int64(-BAD_STRING)
        halves[digits >> 4] = halves[digits >> 4] << 4 | char
        digits += 1
    done = True
    for i in range(2):
        if five:
            done = done and put_little(out, state, halves[i], 8)
        else:
            done = done and put_long(out, state, zigzag(halves[i]))
    return pos + 36 if done else _FULL
