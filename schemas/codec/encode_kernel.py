"""The encoder: runs a program over filled slots and writes each row's bytes. The mirror of the decoder.

It stops at the first row that the output has no room for and says so; the caller grows the output and goes on
from that row, since the cursors of a row that was not finished are put back.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .memory import store_i2, store_i4, store_i8
from .ops import (
    BAD_STRING,
    BIG_INT,
    BLOB,
    BOOL,
    CONST,
    DECIMAL,
    DEEP,
    DELIMITED,
    DELIMITED_NEXT,
    END,
    ENUM,
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
    REST,
    ROW_KIND,
    SQL_TIMESTAMP,
    STR,
    STR_VALUE,
    UNMASK,
)  # fmt: skip

_MIN8 = np.int64(-0x8000000000000000)
_MIN4 = np.int64(-0x80000000)
_NANOS = np.int64(1_000_000_000)
_DAY_NANOS = np.int64(86_400_000_000_000)
_STACK = 64
#: The most that one instruction writes beside strings and blobs: LocalDateTime, 13 bytes.
_ROOM = 16

_SIGNATURE = (
    "(int64[:,::1], int64, int64, uint8[::1], int64[::1], uint8[::1], uint16[::1], uint32[::1], uint64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)


@njit(cache=True, nogil=True)
def civil_from_days(days: int) -> tuple[int, int, int]:
    """Year, month, day of a day count since 1970-01-01 in the proleptic Gregorian calendar."""
    days += 719468
    era = days // 146097
    day_of_era = days - era * 146097
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


@njit(cache=True, nogil=True)
def _put_varint(out: np.ndarray, at: int, value: int) -> int:
    while value >= 0x80:
        out[at] = value & 0x7F | 0x80
        value >>= 7
        at += 1
    out[at] = value
    return at + 1


@njit(cache=True, nogil=True)
def _put_text(out: np.ndarray, at: int, src: np.ndarray, start: int, stop: int, plus: int) -> int:
    """StringValue of UTF-8 bytes (valid: they come from Arrow): varint(units + ``plus``), then the units."""
    units = np.int64(0)
    for k in range(start, stop):
        byte = src[k]
        units += byte & 0xC0 != 0x80
        units += byte >= 0xF0
    at = _put_varint(out, at, units + plus)
    if units == stop - start:
        for k in range(stop - start):
            out[at + k] = src[start + k]
        return at + units
    k = start
    while k < stop:
        byte = np.int64(src[k])
        if byte < 0x80:
            out[at] = byte
            at += 1
            k += 1
        elif byte < 0xE0:
            at = _put_varint(out, at, (byte & 0x1F) << 6 | np.int64(src[k + 1]) & 0x3F)
            k += 2
        elif byte < 0xF0:
            unit = (byte & 0x0F) << 12 | (np.int64(src[k + 1]) & 0x3F) << 6 | np.int64(src[k + 2]) & 0x3F
            at = _put_varint(out, at, unit)
            k += 3
        else:
            point = (byte & 0x07) << 18 | (np.int64(src[k + 1]) & 0x3F) << 12
            point |= (np.int64(src[k + 2]) & 0x3F) << 6 | np.int64(src[k + 3]) & 0x3F
            point -= 0x10000
            at = _put_varint(out, at, 0xD800 + (point >> 10))
            at = _put_varint(out, at, 0xDC00 + (point & 0x3FF))
            k += 4
    return at


@njit(cache=True, nogil=True)
def _put_big_integer(out: np.ndarray, at: int, src: np.ndarray, start: int, stop: int) -> int:
    """BigIntSerializer of two's complement bytes, with the short codes for 0, 1 and 10."""
    if stop == start + 1 and (src[start] == 0 or src[start] == 1 or src[start] == 10):
        store_i4(out, at, 1 if src[start] == 0 else 2 if src[start] == 1 else 3)
        return at + 4
    store_i4(out, at, stop - start + 4)
    at += 4
    for k in range(stop - start):
        out[at + k] = src[start + k]
    return at + stop - start


@njit(_SIGNATURE, cache=True, nogil=True)
def encode(code, first, rows, out, offsets, a8, a16, a32, a64, base, capacity, cursor, saved, failure):  # type: ignore[no-untyped-def]
    """Write rows [first, rows) to ``out``; row i ends at offsets[i + 1]. Returns the rows written, in failure[1].

    failure gets (OK | OVERFLOW | another reason, row it stopped at, bytes that row needs at least).
    """
    stack = np.empty(_STACK * 3, np.int64)
    at = offsets[first]
    reason = OK
    need = np.int64(0)
    row = first
    while row < rows:
        saved[:] = cursor
        pc = 0
        depth = 0
        while reason == OK:
            op = code[pc, 0]
            a = code[pc, 1]
            b = code[pc, 2]
            if op == END:
                break
            if at + _ROOM > out.size:
                reason = OVERFLOW
            elif op == I8:
                store_i8(out, at, np.int64(a64[base[a] + cursor[a]]))
                cursor[a] += 1
                at += 8
            elif op == FLAG:
                present = a8[base[a] + cursor[a]]
                if present:
                    out[at] = 1 - code[pc, 3]
                    cursor[a] += code[pc, 4]
                else:
                    out[at] = code[pc, 3]
                    pc = b - 1
                at += 1
            elif op == STR or op == STR_VALUE:
                start = np.int64(a32[base[a] + cursor[a]])
                stop = np.int64(a32[base[a] + cursor[a] + 1])
                need = 2 * (stop - start) + _ROOM
                if at + need > out.size:
                    reason = OVERFLOW
                else:
                    present = True
                    if op == STR:
                        v = code[pc, 3]
                        present = a8[base[v] + cursor[v]] != 0
                        cursor[v] += 1
                    if present:
                        at = _put_text(out, at, a8, base[b] + start, base[b] + stop, np.int64(op == STR))
                    else:
                        out[at] = 0
                        at += 1
                    cursor[a] += 1
            elif op == POJO:
                present = a8[base[a] + cursor[a]]
                if present:
                    out[at] = 2
                    cursor[a] += 1
                else:
                    out[at] = 1
                    pc = b - 1
                at += 1
            elif op == I4 or op == ENUM:
                store_i4(out, at, np.int64(a32[base[a] + cursor[a]]))
                cursor[a] += 1
                at += 4
            elif op == I1 or op == BOOL:
                out[at] = a8[base[a] + cursor[a]]
                cursor[a] += 1
                at += 1
            elif op == I2:
                store_i2(out, at, np.int64(a16[base[a] + cursor[a]]))
                cursor[a] += 1
                at += 2
            elif op == I8_FLIPPED:
                store_i8(out, at, np.int64(a64[base[a] + cursor[a]]) ^ _MIN8)
                cursor[a] += 1
                at += 8
            elif op == CONST or op == PAD or op == MASK:
                need = a + _ROOM
                if at + need > out.size:
                    reason = OVERFLOW
                elif op == MASK and depth >= _STACK:
                    reason = DEEP
                else:
                    if op == MASK:
                        stack[3 * depth] = at
                        depth += 1
                    for k in range(a):
                        out[at + k] = 0
                    at += a
            elif op == BLOB or op == REST:
                start = np.int64(a32[base[a] + cursor[a]])
                stop = np.int64(a32[base[a] + cursor[a] + 1])
                need = stop - start + _ROOM
                if at + need > out.size:
                    reason = OVERFLOW
                else:
                    if op == BLOB:
                        store_i4(out, at, stop - start)
                        at += 4
                    for k in range(stop - start):
                        out[at + k] = a8[base[b] + start + k]
                    at += stop - start
                    cursor[a] += 1
            elif op == BIG_INT or op == DECIMAL:
                start = np.int64(a32[base[a] + cursor[a]])
                stop = np.int64(a32[base[a] + cursor[a] + 1])
                v = code[pc, 3]
                present = a8[base[v] + cursor[v]] != 0
                need = stop - start + _ROOM
                if present and stop == start:
                    reason = BAD_STRING
                elif at + need > out.size:
                    reason = OVERFLOW
                else:
                    if present:
                        at = _put_big_integer(out, at, a8, base[b] + start, base[b] + stop)
                    else:
                        store_i4(out, at, np.int64(0))
                        at += 4
                    if op == DECIMAL:
                        s = code[pc, 4]
                        if present:
                            store_i4(out, at, np.int64(a32[base[s] + cursor[s]]))
                            at += 4
                        cursor[s] += 1
                    cursor[a] += 1
                    cursor[v] += 1
            elif op == LIST or op == DELIMITED:
                n = np.int64(a32[base[a] + cursor[a] + 1]) - np.int64(a32[base[a] + cursor[a]])
                cursor[a] += 1
                if op == LIST:
                    store_i4(out, at, n)
                    at += 4
                if depth >= _STACK:
                    reason = DEEP
                elif n == 0:
                    pc = b - 1
                else:
                    stack[3 * depth] = n
                    stack[3 * depth + 1] = pc
                    depth += 1
            elif op == NEXT or op == DELIMITED_NEXT:
                stack[3 * depth - 3] -= 1
                if stack[3 * depth - 3] > 0:
                    if op == DELIMITED_NEXT:
                        out[at] = 0x2C
                        at += 1
                    pc = stack[3 * depth - 2]
                else:
                    depth -= 1
            elif op == MASK_BIT:
                if a8[base[a] + cursor[a]]:
                    cursor[a] += code[pc, 4]
                else:
                    bit = code[pc, 3]
                    out[stack[3 * depth - 3] + (bit >> 3)] |= np.uint8(1 << (7 - (bit & 7)))
                    pc = b - 1
            elif op == ROW_KIND:
                kind = a8[base[a] + cursor[a]]
                cursor[a] += 1
                out[stack[3 * depth - 3]] |= np.uint8((kind & 1) << 7 | (kind >> 1 & 1) << 6)
            elif op == UNMASK:
                depth -= 1
            elif op == MILLIS or op == INSTANT or op == SQL_TIMESTAMP:
                present = a8[base[b] + cursor[b]] != 0
                value = np.int64(a64[base[a] + cursor[a]])
                if op == MILLIS:
                    store_i8(out, at, value if present else _MIN8)
                    at += 8
                else:
                    seconds = value // _NANOS
                    nanos = value - seconds * _NANOS
                    if op == INSTANT:
                        store_i8(out, at, seconds if present else _MIN8)
                        store_i4(out, at + 8, nanos if present else _MIN4)
                    else:
                        store_i8(out, at, seconds * 1000 + nanos // 1_000_000 if present else _MIN8)
                        store_i4(out, at + 8, nanos if present else np.int64(0))
                    at += 12
                cursor[a] += 1
                cursor[b] += 1
            elif op == LOCAL_DATE or op == LOCAL_TIME or op == LOCAL_DATE_TIME:
                present = a8[base[b] + cursor[b]] != 0
                days = np.int64(0)
                nanos = np.int64(0)
                if op == LOCAL_DATE:
                    days = np.int64(np.int32(a32[base[a] + cursor[a]]))
                elif op == LOCAL_TIME:
                    nanos = np.int64(a64[base[a] + cursor[a]])
                else:
                    nanos = np.int64(a64[base[a] + cursor[a]])
                    days = nanos // _DAY_NANOS
                    nanos -= days * _DAY_NANOS
                cursor[a] += 1
                cursor[b] += 1
                if op != LOCAL_TIME:
                    if present:
                        year, month, day = civil_from_days(days)
                        store_i4(out, at, year)
                        out[at + 4] = month
                        out[at + 5] = day
                    else:
                        store_i4(out, at, _MIN4)
                        store_i2(out, at + 4, np.int64(-0x8000))
                    at += 6
                if op != LOCAL_DATE:
                    if present:
                        seconds = nanos // _NANOS
                        out[at] = seconds // 3600
                        out[at + 1] = seconds // 60 % 60
                        out[at + 2] = seconds % 60
                        store_i4(out, at + 3, nanos - seconds * _NANOS)
                    else:
                        out[at] = 0x80
                        store_i2(out, at + 1, np.int64(-0x8000))
                        store_i4(out, at + 3, _MIN4)
                    at += 7
            elif op == MARK or op == FILL1 or op == FILL2 or op == FILL4 or op == FILL8 or op == FILL_OFFSET:
                cursor[a] += 1
            elif op == JUMP:
                pc = a - 1
            pc += 1
        if reason != OK:
            cursor[:] = saved
            break
        row += 1
        offsets[row] = at
    failure[0] = reason
    failure[1] = row
    failure[2] = need
