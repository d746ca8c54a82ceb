# mypy: ignore-errors
"""The mirror of :mod:`.take_kernels`: each function writes one instruction's value.

All answer the next position, or minus the reason; the caller has seen to 32 bytes of room.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from . import ops
from .big_kernels import fits_int128, put_big_integer, put_int128
from .binary_kernels import BASE, CURRENT, put_slot
from .kernel_options import PART_OF_KERNEL, STEP_OF_KERNEL
from .memory import get_1, get_4, get_8, put_1, put_8, store_i4, store_i8, word
from .slot_kernels import advance
from .span_kernels import end_of_span
from .text_kernels import copy_bytes
from .time_kernels import is_time, put_local, put_stamp

_F = ops.FRAME_WORDS
_MILLI = np.int64(1_000_000)
_FULL = np.int64(-ops.OVERFLOW)
_ROOM = ops.ROOM


@njit(**STEP_OF_KERNEL)
def give_value(op, code, where, out, at, end, mem, head, base, stack, depth):
    a = word(code, where + 1)
    b = word(code, where + 2)
    if op <= ops.KRYO:
        return give_bytes(op, code, where, out, at, end, mem, head, base, stack, depth)
    if op <= ops.BIG_DECIMAL:
        return give_big(op, code, where, out, at, end, mem, head, base)
    if op <= ops.B_DECIMAL_BYTES:
        return give_decimal(op, a, b, out, at, end, mem, head, stack, depth)
    if op <= ops.WIDE_DATE_TIME:
        return give_time(op, code, where, out, at, mem, head)
    if op <= ops.B_WIDE_TIMESTAMP:
        return give_timestamp(op, a, b, out, at, mem, head, stack, depth)
    return np.int64(-ops.BAD_TAG)


@njit(**PART_OF_KERNEL)
def give_bytes(op, code, where, out, at, end, mem, head, base, stack, depth):
    """BLOB, REST, RAW, B_BYTES, KRYO, SPAN, VARIANT."""
    extra = word(code, where + 3)
    h = advance(head, word(code, where + 1), 4)
    start = get_4(mem, h)
    n = get_4(mem, h + 4) - start
    start += word(base, word(code, where + 2))
    more = np.int64(0)
    then = start
    if op == ops.VARIANT:
        h = advance(head, extra, 4)
        then = get_4(mem, h)
        more = get_4(mem, h + 4) - then
        then += word(base, word(code, where + 4))
    if at + n + more + _ROOM > end:
        return _FULL
    if op == ops.RAW and n != extra:
        return np.int64(-ops.BAD_LENGTH)
    if op == ops.B_BYTES and n <= 7 and word(code, where + 4):
        current = word(stack, (depth - 1) * _F + CURRENT)
        for k in range(n):
            put_1(out, current + k, get_1(mem, start + k))
        put_1(out, current + 7, n | 0x80)
        return at
    if op == ops.BLOB or op == ops.VARIANT:
        store_i4(out, at, n)
        at += 4
        if op == ops.VARIANT:
            store_i4(out, at, more)
            at += 4
    copy_bytes(mem, start, n, out, at, end - at)
    at += n
    if op == ops.SPAN and end_of_span(code, extra, out, at - n, at) != at:
        return np.int64(-ops.BAD_LENGTH)
    if op == ops.VARIANT:
        copy_bytes(mem, then, more, out, at, end - at)
    return put_slot(out, stack, depth, at, at - n) if op == ops.B_BYTES else at + more


@njit(**PART_OF_KERNEL)
def give_big(op, code, where, out, at, end, mem, head, base):
    """BIG_INT, BIG_DECIMAL."""
    h = advance(head, word(code, where + 1), 4)
    start = get_4(mem, h)
    stop = get_4(mem, h + 4)
    present = get_1(mem, advance(head, word(code, where + 3), 1)) != 0
    if present and stop == start:
        return np.int64(-ops.BAD_LENGTH)
    if at + stop - start + _ROOM > end:
        return _FULL
    if present:
        data = word(base, word(code, where + 2))
        at = put_big_integer(out, at, mem, data + start, data + stop)
    else:
        store_i4(out, at, np.int64(0))
        at += 4
    if op == ops.BIG_DECIMAL:
        h = advance(head, word(code, where + 4), 4)
        if present:
            store_i4(out, at, get_4(mem, h))
            at += 4
    return at


@njit(**PART_OF_KERNEL)
def give_decimal(op, slot, size, out, at, end, mem, head, stack, depth):
    """DECIMAL_LONG, DECIMAL_BYTES, DECIMAL_FIXED, B_DECIMAL_LONG, B_DECIMAL_BYTES."""
    h = advance(head, slot, 16)
    low = get_8(mem, h)
    high = get_8(mem, h + 8)
    if op == ops.DECIMAL_BYTES:
        after = put_int128(out, at + 4, np.int64(0), low, high)
        store_i4(out, at, after - at - 4)
        return after
    frame = (depth - 1) * _F
    if op == ops.B_DECIMAL_BYTES:
        # Flink keeps 16 bytes whatever the number needs.
        put_8(out, at, np.int64(0))
        put_8(out, at + 8, np.int64(0))
        n = put_int128(out, at, np.int64(0), low, high) - at
        put_8(out, word(stack, frame + CURRENT), (at - word(stack, frame + BASE)) << 32 | n)
        return at + 16
    if op != ops.DECIMAL_FIXED:
        size = np.int64(8)
    if at + size + _ROOM > end:
        return _FULL
    if not fits_int128(low, high, size):
        return np.int64(-ops.RANGE)
    if op == ops.B_DECIMAL_LONG:
        put_8(out, word(stack, frame + CURRENT), low)
        return at
    return put_int128(out, at, size, low, high)


@njit(**PART_OF_KERNEL)
def give_time(op, code, where, out, at, mem, head):
    """MILLIS to WIDE_DATE_TIME."""
    month = np.int64(0)
    day = np.int64(0)
    nanos = np.int64(0)
    if op == ops.LOCAL_DATE or op == ops.WIDE_DATE or op == ops.WIDE_DATE_TIME:
        value = get_4(mem, advance(head, word(code, where + 1), 4))
        value -= (value >> 31) << 32
    else:
        value = get_8(mem, advance(head, word(code, where + 1), 8))
    present = get_1(mem, advance(head, word(code, where + 2), 1)) != 0
    if op == ops.WIDE_INSTANT or op == ops.WIDE_SQL_TIMESTAMP:
        nanos = get_4(mem, advance(head, word(code, where + 3), 4))
    elif op == ops.WIDE_DATE or op == ops.WIDE_DATE_TIME:
        month = get_1(mem, advance(head, word(code, where + 3), 1))
        day = get_1(mem, advance(head, word(code, where + 4), 1))
        if op == ops.WIDE_DATE_TIME:
            nanos = get_8(mem, advance(head, word(code, where + 5), 8))
    wide = op >= ops.WIDE_DATE or op == ops.WIDE_INSTANT or op == ops.WIDE_SQL_TIMESTAMP
    if wide and present and not is_time(op, value, month, day, nanos):
        return np.int64(-ops.RANGE)
    if op <= ops.WIDE_SQL_TIMESTAMP:
        return put_stamp(op, out, at, value, present, nanos)
    return put_local(op, out, at, value, present, month, day, nanos)


@njit(**PART_OF_KERNEL)
def give_timestamp(op, a, b, out, at, mem, head, stack, depth):
    """TIMESTAMP_DATA, B_TIMESTAMP and the wide ones."""
    millis = get_8(mem, advance(head, a, 8))
    if op == ops.WIDE_TIMESTAMP_DATA or op == ops.B_WIDE_TIMESTAMP:
        nanos = get_4(mem, advance(head, b, 4))
        if nanos >= _MILLI:
            return np.int64(-ops.RANGE)
    else:
        per_milli = _MILLI // b
        value = millis
        millis = value // per_milli
        nanos = (value - millis * per_milli) * b
    if op == ops.TIMESTAMP_DATA or op == ops.WIDE_TIMESTAMP_DATA:
        store_i8(out, at, millis)
        store_i4(out, at + 8, nanos)
        return at + 12
    frame = (depth - 1) * _F
    put_8(out, at, millis)
    put_8(out, word(stack, frame + CURRENT), (at - word(stack, frame + BASE)) << 32 | nanos)
    return at + 8
