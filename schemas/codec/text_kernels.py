# mypy: ignore-errors
"""Varints, strings and runs of bytes, both ways.

``take_*`` copy from ``buf`` to ``mem`` and answer (next position, next address), or (-1, reason).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .kernel_options import PART_OF_KERNEL
from .memory import get_1, get_8, put_1, put_8
from .ops import BAD_LENGTH, BAD_STRING, ODD_TEXT, OVERFLOW, SHORT

_HIGH_BITS = np.int64(-0x7F7F7F7F7F7F7F80)
_ODD = np.int64(ODD_TEXT)


@njit(**PART_OF_KERNEL)
def take_varint(buf, pos, end):
    """(value, next position); the position is -1 where it runs past ``end`` or five bytes."""
    value = np.int64(0)
    shift = np.int64(0)
    while pos < end and shift <= 28:
        byte = get_1(buf, pos)
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7
    return value, np.int64(-1)


@njit(**PART_OF_KERNEL)
def copy_bytes(src, start, n, out, at, room):
    """Copy ``n`` bytes; by words where both sides have 8 bytes to spare (``room`` counts those of ``out``)."""
    k = np.int64(0)
    if start + n + 8 <= src.size and n + 8 <= room:
        while k < n:
            put_8(out, at + k, get_8(src, start + k))
            k += 8
    else:
        while k < n:
            put_1(out, at + k, get_1(src, start + k))
            k += 1


@njit(**PART_OF_KERNEL)
def take_text(buf, pos, end, units, mem, at, room):
    """Copies ``units`` varint UTF-16 units as UTF-8; half a surrogate pair is left out, and makes the text odd."""
    if units > end - pos:
        return np.int64(-1), np.int64(BAD_LENGTH)
    if units > room:
        return np.int64(-1), np.int64(OVERFLOW)
    high = np.int64(0)
    k = np.int64(0)
    if pos + units + 8 <= buf.size and units + 8 <= room:
        while k < units:
            eight = get_8(buf, pos + k)
            put_8(mem, at + k, eight)
            left = units - k
            high |= eight if left >= 8 else eight & ((np.int64(1) << (left << 3)) - 1)
            k += 8
    else:
        while k < units:
            byte = get_1(buf, pos + k)
            put_1(mem, at + k, byte)
            high |= byte
            k += 1
    if high & _HIGH_BITS == 0:
        return pos + units, at + units
    return _take_wide_text(buf, pos, end, units, mem, at, room)


@njit(**PART_OF_KERNEL)
def _take_wide_text(buf, pos, end, units, mem, at, room):
    pending = np.int64(0)
    odd = np.int64(0)
    limit = at + room
    for _ in range(units):
        before = pos
        unit, pos = take_varint(buf, pos, end)
        if pos < 0 and end - before < 5:
            return np.int64(-1), np.int64(SHORT)
        if pos < 0 or unit > 0xFFFF:
            return np.int64(-1), np.int64(BAD_STRING)
        low = 0xDC00 <= unit <= 0xDFFF
        if (pending != 0) != low:
            odd = _ODD
        if 0xD800 <= unit <= 0xDBFF:
            pending = unit
            continue
        if low:
            if pending == 0:
                continue
            unit = 0x10000 + ((pending - 0xD800) << 10) + (unit - 0xDC00)
        pending = np.int64(0)
        if at + 4 > limit:
            return np.int64(-1), np.int64(OVERFLOW)
        if unit < 0x80:
            mem[at] = unit
            at += 1
        elif unit < 0x800:
            mem[at] = 0xC0 | unit >> 6
            mem[at + 1] = 0x80 | unit & 0x3F
            at += 2
        elif unit < 0x10000:
            mem[at] = 0xE0 | unit >> 12
            mem[at + 1] = 0x80 | unit >> 6 & 0x3F
            mem[at + 2] = 0x80 | unit & 0x3F
            at += 3
        else:
            mem[at] = 0xF0 | unit >> 18
            mem[at + 1] = 0x80 | unit >> 12 & 0x3F
            mem[at + 2] = 0x80 | unit >> 6 & 0x3F
            mem[at + 3] = 0x80 | unit & 0x3F
            at += 4
    return pos + (_ODD if pending else odd), at


@njit(**PART_OF_KERNEL)
def is_utf8(buf, pos, n):
    """Whether the bytes are UTF-8 as Arrow wants it: shortest forms, no surrogates."""
    stop = pos + n
    while pos < stop:
        if pos + 8 <= stop and get_8(buf, pos) & _HIGH_BITS == 0:
            pos += 8
            continue
        lead = get_1(buf, pos)
        pos += 1
        if lead < 0x80:
            continue
        if lead < 0xC2 or lead > 0xF4:
            return False
        more = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        if pos + more > stop:
            return False
        second = get_1(buf, pos)
        if (lead == 0xE0 and second < 0xA0) or (lead == 0xED and second > 0x9F):
            return False
        if (lead == 0xF0 and second < 0x90) or (lead == 0xF4 and second > 0x8F):
            return False
        for k in range(more):
            if get_1(buf, pos + k) & 0xC0 != 0x80:
                return False
        pos += more
    return True


@njit(**PART_OF_KERNEL)
def put_varint(out, at, value):
    while value >= 0x80:
        put_1(out, at, value & 0x7F | 0x80)
        value >>= 7
        at += 1
    put_1(out, at, value)
    return at + 1


@njit(**PART_OF_KERNEL)
def put_text(out, at, src, start, stop, plus):
    """StringValue of UTF-8 bytes (valid: they come from Arrow): varint(units + ``plus``), then the units.

    Writes up to 8 bytes more than it answers for, and at most 2 * (stop - start) + 16 in all.
    """
    n = stop - start
    high = np.int64(0)
    k = np.int64(0)
    if stop + 8 <= src.size:
        head = put_varint(out, at, n + plus)
        while k < n:
            eight = get_8(src, start + k)
            put_8(out, head + k, eight)
            left = n - k
            high |= eight if left >= 8 else eight & ((np.int64(1) << (left << 3)) - 1)
            k += 8
        if high & _HIGH_BITS == 0:
            return head + n
    units = np.int64(0)
    for k in range(start, stop):
        byte = get_1(src, k)
        units += np.int64(byte & 0xC0 != 0x80) + np.int64(byte >= 0xF0)
    at = put_varint(out, at, units + plus)
    k = start
    while k < stop:
        byte = get_1(src, k)
        if byte < 0x80:
            put_1(out, at, byte)
            at += 1
            k += 1
        elif byte < 0xE0:
            at = put_varint(out, at, (byte & 0x1F) << 6 | get_1(src, k + 1) & 0x3F)
            k += 2
        elif byte < 0xF0:
            unit = (byte & 0x0F) << 12 | (get_1(src, k + 1) & 0x3F) << 6 | get_1(src, k + 2) & 0x3F
            at = put_varint(out, at, unit)
            k += 3
        else:
            point = (byte & 0x07) << 18 | (get_1(src, k + 1) & 0x3F) << 12
            point |= (get_1(src, k + 2) & 0x3F) << 6 | get_1(src, k + 3) & 0x3F
            point -= 0x10000
            at = put_varint(out, at, 0xD800 + (point >> 10))
            at = put_varint(out, at, 0xDC00 + (point & 0x3FF))
            k += 4
    return at
