# mypy: ignore-errors
"""Varints, strings, big integers and runs of bytes, both ways.

``take_*`` copy from ``buf`` to ``mem`` and answer (next position, next address), or (-1, reason).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .memory import get_1, get_8, load_i4, put_1, put_8, store_i4
from .ops import BAD_LENGTH, BAD_STRING, ODD_TEXT, OVERFLOW, RANGE, SHORT
from .slot_kernels import PART_OF_KERNEL

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
