"""The decoder: runs a program over each row's bytes and fills the slots. See :mod:`.ops` for the instructions.

Every read is checked against the row's end and every slot against its capacity; what breaks comes back as
(reason, row, position), never as a read or a write outside a buffer.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .memory import load_i2, load_i4, load_i8
from .ops import (
    BAD_ENUM,
    BAD_FLAG,
    BAD_LENGTH,
    BAD_SEPARATOR,
    BAD_STRING,
    BIG_INT,
    BLOB,
    BOOL,
    CHAINED,
    CONST,
    DECIMAL,
    DEEP,
    DELIMITED,
    DELIMITED_NEXT,
    END,
    ENUM,
    EXACT,
    FILL1,
    FILL2,
    FILL4,
    FILL8,
    FILL_OFFSET,
    FLAG,
    I1,
    I2,
    I4,
    I8,
    I8_FLIPPED,
    INSTANT,
    JUMP,
    LIST,
    LOCAL_DATE,
    LOCAL_DATE_TIME,
    LOCAL_TIME,
    MARK,
    MASK,
    MASK_BIT,
    MILLIS,
    NEXT,
    OK,
    OVERFLOW,
    PAD,
    POJO,
    RANGE,
    REST,
    ROW_KIND,
    SHORT,
    SQL_TIMESTAMP,
    STR,
    STR_VALUE,
    SUBCLASS,
    TRAILING,
    UNMASK,
)  # fmt: skip

_MIN8 = np.int64(-0x8000000000000000)
_MIN4 = np.int64(-0x80000000)
_NANOS = np.int64(1_000_000_000)
_DAY_NANOS = np.int64(86_400_000_000_000)
_STACK = 64

_SIGNATURE = (
    "(int64[:,::1], Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True),"
    " Array(int64, 1, 'C', readonly=True), int64, uint8[::1], uint16[::1], uint32[::1], uint64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)


@njit(cache=True, nogil=True)
def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    year -= month <= 2
    era = year // 400
    year_of_era = year - era * 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719468


@njit(cache=True, nogil=True)
def _nanos(seconds: int, nanos: int) -> tuple[bool, int]:
    """Nanoseconds since the epoch, and whether they fit in 64 bits."""
    if seconds > 9_223_372_035 or seconds < -9_223_372_036 or nanos < 0 or nanos >= _NANOS:
        return False, np.int64(0)
    return True, seconds * _NANOS + nanos


@njit(cache=True, nogil=True)
def _varint(buf: np.ndarray, pos: int, end: int) -> tuple[int, int]:
    """(value, next position); the position is -1 where it runs past ``end`` or five bytes."""
    value = np.int64(0)
    shift = np.int64(0)
    while pos < end and shift <= 28:
        byte = np.int64(buf[pos])
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7
    return value, np.int64(-1)


@njit(cache=True, nogil=True)
def _text(
    buf: np.ndarray, pos: int, end: int, units: int, out: np.ndarray, at: int, room: int
) -> tuple[int, int]:
    """Copies ``units`` varint UTF-16 units as UTF-8: (next position, next output), or (-1, reason)."""
    if units > end - pos:
        return np.int64(-1), BAD_LENGTH
    if units > room:
        return np.int64(-1), OVERFLOW
    high = np.uint8(0)
    for k in range(units):
        high |= buf[pos + k]
    if high < 0x80:
        for k in range(units):
            out[at + k] = buf[pos + k]
        return pos + units, at + units
    pending = np.int64(0)
    limit = at + room
    for _ in range(units):
        unit, pos = _varint(buf, pos, end)
        if pos < 0 or unit > 0xFFFF:
            return np.int64(-1), BAD_STRING
        if pending:
            if unit < 0xDC00 or unit > 0xDFFF:
                return np.int64(-1), BAD_STRING
            unit = 0x10000 + ((pending - 0xD800) << 10) + (unit - 0xDC00)
            pending = np.int64(0)
        elif 0xD800 <= unit <= 0xDBFF:
            pending = unit
            continue
        elif 0xDC00 <= unit <= 0xDFFF:
            return np.int64(-1), BAD_STRING
        if at + 4 > limit:
            return np.int64(-1), OVERFLOW
        if unit < 0x80:
            out[at] = unit
            at += 1
        elif unit < 0x800:
            out[at] = 0xC0 | unit >> 6
            out[at + 1] = 0x80 | unit & 0x3F
            at += 2
        elif unit < 0x10000:
            out[at] = 0xE0 | unit >> 12
            out[at + 1] = 0x80 | unit >> 6 & 0x3F
            out[at + 2] = 0x80 | unit & 0x3F
            at += 3
        else:
            out[at] = 0xF0 | unit >> 18
            out[at + 1] = 0x80 | unit >> 12 & 0x3F
            out[at + 2] = 0x80 | unit >> 6 & 0x3F
            out[at + 3] = 0x80 | unit & 0x3F
            at += 4
    if pending:
        return np.int64(-1), BAD_STRING
    return pos, at


@njit(cache=True, nogil=True)
def _big_integer(
    buf: np.ndarray, pos: int, end: int, out: np.ndarray, at: int, room: int
) -> tuple[int, int, bool]:
    """BigIntSerializer as two's complement: (next position, next output, present), or (-1, reason, False)."""
    if pos + 4 > end:
        return np.int64(-1), SHORT, False
    code = load_i4(buf, pos)
    pos += 4
    if code == 0:
        return pos, at, False
    if code < 0 or code == 4 or code - 4 > end - pos:
        return np.int64(-1), BAD_LENGTH, False
    n = np.int64(1) if code < 4 else code - 4
    if n > room:
        return np.int64(-1), OVERFLOW, False
    if code < 4:
        out[at] = 0 if code == 1 else 1 if code == 2 else 10
        return pos, at + 1, True
    for k in range(n):
        out[at + k] = buf[pos + k]
    return pos + n, at + n, True


@njit(_SIGNATURE, cache=True, nogil=True)
def decode(code, buf, starts, ends, lie, a8, a16, a32, a64, base, capacity, cursor, stops, failure):  # type: ignore[no-untyped-def]
    """Decode each row [starts[i], ends[i]) of ``buf``; the position behind it goes to stops[i].

    ``lie`` is PART, EXACT (the row ends where the program does) or CHAINED: ``stops.size`` values one behind
    the other from starts[0] to at most ends[0]. ``failure`` gets (reason, row, position).
    ``base`` is each slot's first element in the arena, ``capacity`` its elements, ``cursor`` how many are filled.
    """
    stack = np.empty(_STACK * 2, np.int64)
    row = 0
    pos = np.int64(0)
    end = np.int64(0)
    reason = OK
    for row in range(stops.size):
        if lie != CHAINED:
            pos = starts[row]
            end = ends[row]
        elif row == 0:
            pos = starts[0]
            end = ends[0]
        pc = 0
        depth = 0
        reason = OK
        if pos < 0 or end > buf.size or pos > end:
            reason = SHORT
        while reason == OK:
            op = code[pc, 0]
            a = code[pc, 1]
            b = code[pc, 2]
            if op == END:
                break
            if op == I8:
                if pos + 8 > end:
                    reason = SHORT
                elif cursor[a] >= capacity[a]:
                    reason = OVERFLOW
                else:
                    a64[base[a] + cursor[a]] = load_i8(buf, pos)
                    cursor[a] += 1
                    pos += 8
            elif op == FLAG:
                if pos >= end:
                    reason = SHORT
                elif buf[pos] > 1:
                    reason = BAD_FLAG
                elif buf[pos] == code[pc, 3]:
                    pos += 1
                    pc = b - 1
                else:
                    pos += 1
                    if code[pc, 4] == 1:
                        if cursor[a] >= capacity[a]:
                            reason = OVERFLOW
                        else:
                            a8[base[a] + cursor[a]] = 1
                            cursor[a] += 1
            elif op == STR or op == STR_VALUE:
                n, p = _varint(buf, pos, end)
                if p < 0:
                    reason = SHORT
                elif cursor[a] + 1 >= capacity[a]:
                    reason = OVERFLOW
                else:
                    present = True
                    if op == STR:
                        present = n > 0
                        if cursor[code[pc, 3]] >= capacity[code[pc, 3]]:
                            reason = OVERFLOW
                        else:
                            a8[base[code[pc, 3]] + cursor[code[pc, 3]]] = present
                            cursor[code[pc, 3]] += 1
                        n -= 1
                    if present and reason == OK:
                        room = capacity[b] - cursor[b]
                        p, at = _text(buf, p, end, n, a8, base[b] + cursor[b], room)
                        if p < 0:
                            reason = at
                        else:
                            cursor[b] = at - base[b]
                    cursor[a] += 1
                    a32[base[a] + cursor[a]] = cursor[b]
                    if p >= 0:
                        pos = p
            elif op == POJO:
                if pos >= end:
                    reason = SHORT
                elif buf[pos] == 2:
                    pos += 1
                    if cursor[a] >= capacity[a]:
                        reason = OVERFLOW
                    else:
                        a8[base[a] + cursor[a]] = 1
                        cursor[a] += 1
                elif buf[pos] == 1:
                    pos += 1
                    pc = b - 1
                elif buf[pos] == 4 or buf[pos] == 8:
                    reason = SUBCLASS
                else:
                    reason = BAD_FLAG
            elif op == I4:
                if pos + 4 > end:
                    reason = SHORT
                elif cursor[a] >= capacity[a]:
                    reason = OVERFLOW
                else:
                    a32[base[a] + cursor[a]] = load_i4(buf, pos)
                    cursor[a] += 1
                    pos += 4
            elif op == BOOL or op == I1:
                if pos >= end:
                    reason = SHORT
                elif cursor[a] >= capacity[a]:
                    reason = OVERFLOW
                else:
                    a8[base[a] + cursor[a]] = buf[pos] if op == I1 else np.uint8(buf[pos] != 0)
                    cursor[a] += 1
                    pos += 1
            elif op == I2:
                if pos + 2 > end:
                    reason = SHORT
                elif cursor[a] >= capacity[a]:
                    reason = OVERFLOW
                else:
                    a16[base[a] + cursor[a]] = load_i2(buf, pos)
                    cursor[a] += 1
                    pos += 2
            elif op == I8_FLIPPED:
                if pos + 8 > end:
                    reason = SHORT
                elif cursor[a] >= capacity[a]:
                    reason = OVERFLOW
                else:
                    a64[base[a] + cursor[a]] = load_i8(buf, pos) ^ _MIN8
                    cursor[a] += 1
                    pos += 8
            elif op == CONST or op == PAD:
                if a > end - pos:
                    reason = SHORT
                else:
                    pos += a
            elif op == BLOB or op == REST:
                n = end - pos - code[pc, 3]
                if op == BLOB:
                    n = np.int64(-1)
                    if pos + 4 <= end:
                        n = load_i4(buf, pos)
                        pos += 4
                if n < 0 or n > end - pos:
                    reason = BAD_LENGTH
                elif cursor[a] + 1 >= capacity[a] or n > capacity[b] - cursor[b]:
                    reason = OVERFLOW
                else:
                    at = base[b] + cursor[b]
                    for k in range(n):
                        a8[at + k] = buf[pos + k]
                    pos += n
                    cursor[b] += n
                    cursor[a] += 1
                    a32[base[a] + cursor[a]] = cursor[b]
            elif op == BIG_INT or op == DECIMAL:
                v = code[pc, 3]
                if cursor[a] + 1 >= capacity[a] or cursor[v] >= capacity[v]:
                    reason = OVERFLOW
                else:
                    room = capacity[b] - cursor[b]
                    p, at, present = _big_integer(buf, pos, end, a8, base[b] + cursor[b], room)
                    if p < 0:
                        reason = at
                    else:
                        pos = p
                        cursor[b] = at - base[b]
                        cursor[a] += 1
                        a32[base[a] + cursor[a]] = cursor[b]
                        a8[base[v] + cursor[v]] = present
                        cursor[v] += 1
                        if op == DECIMAL:
                            s = code[pc, 4]
                            scale = np.int64(0)
                            if present:
                                if pos + 4 > end:
                                    reason = SHORT
                                else:
                                    scale = load_i4(buf, pos)
                                    pos += 4
                            if cursor[s] >= capacity[s]:
                                reason = OVERFLOW
                            else:
                                a32[base[s] + cursor[s]] = scale
                                cursor[s] += 1
            elif op == LIST:
                if pos + 4 > end:
                    reason = SHORT
                else:
                    n = load_i4(buf, pos)
                    if n < 0 or n * code[pc, 3] > end - pos - 4:
                        reason = BAD_LENGTH
                    elif cursor[a] + 1 >= capacity[a]:
                        reason = OVERFLOW
                    elif depth >= _STACK:
                        reason = DEEP
                    else:
                        pos += 4
                        a32[base[a] + cursor[a] + 1] = np.int64(a32[base[a] + cursor[a]]) + n
                        cursor[a] += 1
                        if n == 0:
                            pc = b - 1
                        else:
                            stack[2 * depth] = n
                            stack[2 * depth + 1] = pc
                            depth += 1
            elif op == NEXT:
                stack[2 * depth - 2] -= 1
                if stack[2 * depth - 2] > 0:
                    pc = stack[2 * depth - 1]
                else:
                    depth -= 1
            elif op == DELIMITED:
                if cursor[a] + 1 >= capacity[a]:
                    reason = OVERFLOW
                elif depth >= _STACK:
                    reason = DEEP
                else:
                    a32[base[a] + cursor[a] + 1] = a32[base[a] + cursor[a]]
                    cursor[a] += 1
                    if pos == end:
                        pc = b - 1
                    else:
                        a32[base[a] + cursor[a]] += 1
                        stack[2 * depth] = a
                        stack[2 * depth + 1] = pc
                        depth += 1
            elif op == DELIMITED_NEXT:
                if pos == end:
                    depth -= 1
                elif buf[pos] != 0x2C:
                    reason = BAD_SEPARATOR
                elif pos + 1 == end:
                    reason = SHORT
                else:
                    pos += 1
                    s = stack[2 * depth - 2]
                    a32[base[s] + cursor[s]] += 1
                    pc = stack[2 * depth - 1]
            elif op == MASK:
                if a > end - pos:
                    reason = SHORT
                elif depth >= _STACK:
                    reason = DEEP
                else:
                    stack[2 * depth] = pos
                    depth += 1
                    pos += a
            elif op == MASK_BIT:
                bit = code[pc, 3]
                if buf[stack[2 * depth - 2] + (bit >> 3)] >> (7 - (bit & 7)) & 1:
                    pc = b - 1
                elif code[pc, 4] == 1:
                    if cursor[a] >= capacity[a]:
                        reason = OVERFLOW
                    else:
                        a8[base[a] + cursor[a]] = 1
                        cursor[a] += 1
            elif op == ROW_KIND:
                mask = buf[stack[2 * depth - 2]]
                if cursor[a] >= capacity[a]:
                    reason = OVERFLOW
                else:
                    a8[base[a] + cursor[a]] = (mask >> 7 & 1) | (mask >> 6 & 1) << 1
                    cursor[a] += 1
            elif op == UNMASK:
                depth -= 1
            elif op == MILLIS or op == INSTANT or op == SQL_TIMESTAMP:
                size = 8 if op == MILLIS else 12
                if pos + 8 > end:
                    reason = SHORT
                elif cursor[a] >= capacity[a] or cursor[b] >= capacity[b]:
                    reason = OVERFLOW
                else:
                    value = load_i8(buf, pos)
                    present = value != _MIN8
                    if op == SQL_TIMESTAMP and not present:
                        # Flink writes 12 bytes for a null here and reads 8 back (spec 2.2).
                        size = 12 if pos + 12 <= end and load_i4(buf, pos + 8) == 0 else 8
                    if pos + size > end:
                        reason = SHORT
                    elif op != MILLIS and present:
                        nanos = load_i4(buf, pos + 8)
                        seconds = value if op == INSTANT else value // 1000
                        fits, value = _nanos(seconds, nanos)
                        if not fits:
                            reason = RANGE
                    a64[base[a] + cursor[a]] = value if present else 0
                    a8[base[b] + cursor[b]] = present
                    cursor[a] += 1
                    cursor[b] += 1
                    pos += size
            elif op == LOCAL_DATE or op == LOCAL_TIME or op == LOCAL_DATE_TIME:
                size = 6 if op == LOCAL_DATE else 7 if op == LOCAL_TIME else 13
                if pos + size > end:
                    reason = SHORT
                elif cursor[a] >= capacity[a] or cursor[b] >= capacity[b]:
                    reason = OVERFLOW
                else:
                    days = np.int64(0)
                    nanos = np.int64(0)
                    present = True
                    p = pos
                    if op != LOCAL_TIME:
                        year = load_i4(buf, p)
                        present = year != _MIN4
                        if present:
                            days = days_from_civil(year, np.int64(buf[p + 4]), np.int64(buf[p + 5]))
                        p += 6
                    if op != LOCAL_DATE:
                        present = present and buf[p] != 0x80
                        hour, minute, second = np.int64(buf[p]), np.int64(buf[p + 1]), np.int64(buf[p + 2])
                        nanos = (hour * 3600 + minute * 60 + second) * _NANOS + load_i4(buf, p + 3)
                    value = days
                    if present:
                        if op == LOCAL_DATE:
                            if days > 0x7FFFFFFF or days < _MIN4:
                                reason = RANGE
                        elif nanos < 0 or nanos >= _DAY_NANOS or days > 106751 or days < -106751:
                            reason = RANGE
                        else:
                            value = days * _DAY_NANOS + nanos
                    else:
                        value = np.int64(0)
                    if op == LOCAL_DATE:
                        a32[base[a] + cursor[a]] = value
                    else:
                        a64[base[a] + cursor[a]] = value
                    a8[base[b] + cursor[b]] = present
                    cursor[a] += 1
                    cursor[b] += 1
                    if reason == OK:
                        pos += size
            elif op == ENUM:
                if pos + 4 > end:
                    reason = SHORT
                elif cursor[a] >= capacity[a]:
                    reason = OVERFLOW
                else:
                    n = load_i4(buf, pos)
                    if n < 0 or n >= b:
                        reason = BAD_ENUM
                    else:
                        a32[base[a] + cursor[a]] = n
                        cursor[a] += 1
                        pos += 4
            elif op == FILL1:
                if cursor[a] >= capacity[a]:
                    reason = OVERFLOW
                else:
                    a8[base[a] + cursor[a]] = 0
                    cursor[a] += 1
            elif op == FILL2:
                if cursor[a] >= capacity[a]:
                    reason = OVERFLOW
                else:
                    a16[base[a] + cursor[a]] = 0
                    cursor[a] += 1
            elif op == FILL4:
                if cursor[a] >= capacity[a]:
                    reason = OVERFLOW
                else:
                    a32[base[a] + cursor[a]] = 0
                    cursor[a] += 1
            elif op == FILL8:
                if cursor[a] >= capacity[a]:
                    reason = OVERFLOW
                else:
                    a64[base[a] + cursor[a]] = 0
                    cursor[a] += 1
            elif op == FILL_OFFSET:
                if cursor[a] + 1 >= capacity[a]:
                    reason = OVERFLOW
                else:
                    a32[base[a] + cursor[a] + 1] = a32[base[a] + cursor[a]]
                    cursor[a] += 1
            elif op == JUMP:
                pc = a - 1
            elif op == MARK:
                if cursor[a] >= capacity[a]:
                    reason = OVERFLOW
                else:
                    a64[base[a] + cursor[a]] = pos
                    cursor[a] += 1
            pc += 1
        if reason == OK and lie == EXACT and pos != end:
            reason = TRAILING
        if reason != OK:
            break
        stops[row] = pos
    failure[0] = reason
    failure[1] = row
    failure[2] = pos
