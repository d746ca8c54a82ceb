# mypy: ignore-errors
"""What the decoder does for values that are not the most frequent ones: each function reads one instruction's value.

All answer the next position, or minus the reason. ``at`` is the instruction's place in the code.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from . import ops
from .big_kernels import take_big_integer, take_int128
from .binary_kernels import BASE, CURRENT, STOP, find_bytes
from .kernel_options import PART_OF_KERNEL, STEP_OF_KERNEL
from .kryo_skip_kernels import skip_kryo
from .kryo_take_kernel import end_of_shape
from .memory import get_8, load_i4, load_i8, put_8, set_word, word
from .slot_kernels import claim, push_1, push_4, push_8, push_length
from .span_kernels import end_of_span
from .text_kernels import copy_bytes, is_utf8
from .time_kernels import take_local, take_stamp, timestamp_of

_F = ops.FRAME_WORDS
_FULL = np.int64(-ops.OVERFLOW)
_SHORT = np.int64(-ops.SHORT)
_MILLI = np.int64(1_000_000)
_ODD_TEXT = np.int64(ops.ODD_TEXT)
_ODD_TIME = np.int64(ops.ODD_TIME)


@njit(**STEP_OF_KERNEL)
def take_value(op, code, at, pool, buf, pos, end, mem, head, limit, stack, depth):
    a = word(code, at + 1)
    b = word(code, at + 2)
    if op <= ops.KRYO:
        return take_bytes(op, code, at, pool, buf, pos, end, mem, head, limit, stack, depth)
    if op <= ops.BIG_DECIMAL:
        return take_big(op, code, at, buf, pos, end, mem, head, limit)
    if op <= ops.B_DECIMAL_BYTES:
        return take_decimal(op, a, b, buf, pos, end, mem, head, limit, stack, depth)
    if op <= ops.WIDE_DATE_TIME:
        return take_time(op, code, at, buf, pos, end, mem, head, limit)
    if op <= ops.B_WIDE_TIMESTAMP:
        return take_timestamp(op, a, b, buf, pos, end, mem, head, limit, stack, depth)
    return np.int64(-ops.BAD_TAG)


@njit(**PART_OF_KERNEL)
def _keep(buf, start, n, mem, head, limit, offsets, data):
    """Append ``n`` bytes to a slot of data and their offset; False where either is full."""
    into = word(head, data)
    room = word(limit, data) - into
    if n > room or not push_length(mem, head, limit, offsets, n):
        return False
    copy_bytes(buf, start, n, mem, into, room)
    set_word(head, data, into + n)
    return True


@njit(**PART_OF_KERNEL)
def take_bytes(op, code, at, pool, buf, pos, end, mem, head, limit, stack, depth):
    """BLOB, REST, RAW, B_BYTES, KRYO, SPAN, VARIANT."""
    a = word(code, at + 1)
    b = word(code, at + 2)
    extra = word(code, at + 3)
    start = pos
    n = extra
    if op == ops.BLOB or op == ops.VARIANT:
        if pos + 4 > end:
            return _SHORT
        n = load_i4(buf, pos)
        start = pos + 4
        if op == ops.VARIANT:
            start = pos + 8
            if start > end:
                return _SHORT
            more = load_i4(buf, pos + 4)
            if n < 0 or more < 0 or n + more > end - start:
                return np.int64(-ops.BAD_LENGTH)
            if not _keep(buf, start + n, more, mem, head, limit, extra, word(code, at + 4)):
                return _FULL
            return start + n + more if _keep(buf, start, n, mem, head, limit, a, b) else _FULL
    elif op == ops.REST:
        n = end - pos - extra
    elif op == ops.SPAN:
        n = end_of_span(code, extra, buf, pos, end)
        if n < 0:
            return n
        n -= pos
    elif op == ops.KRYO:
        shape = word(code, at + 6)
        reason = np.int64(0)
        if shape:
            n = end_of_shape(code, pool, shape, np.int64(extra == 5), buf, pos, end, stack)
            reason = n
        if shape == 0 or n <= -ops.BAD_KRYO:  # of another shape, but its end may be found all the same
            n = skip_kryo(buf, pos, end, extra == 5, pool, word(code, at + 4), word(code, at + 5), stack)
        if n < 0:
            return reason if reason < 0 else n
        n -= pos
    elif op == ops.B_BYTES:
        start, n = find_bytes(buf, stack, depth, word(code, at + 4))
        if n < 0:
            return np.int64(-ops.BAD_BINARY)
    after = pos if op == ops.B_BYTES else start + n
    if n < 0 or after > end:
        return np.int64(-ops.BAD_LENGTH)
    if (op == ops.BLOB or op == ops.B_BYTES) and extra and not is_utf8(buf, start, n):
        after += _ODD_TEXT
    return after if _keep(buf, start, n, mem, head, limit, a, b) else _FULL


@njit(**PART_OF_KERNEL)
def take_big(op, code, at, buf, pos, end, mem, head, limit):
    """BIG_INT, BIG_DECIMAL."""
    data = word(code, at + 2)
    into = word(head, data)
    pos, after, present = take_big_integer(buf, pos, end, mem, into, word(limit, data) - into)
    if pos < 0:
        return -after
    set_word(head, data, after)
    if not push_length(mem, head, limit, word(code, at + 1), after - into):
        return _FULL
    if not push_1(mem, head, limit, word(code, at + 3), np.int64(present)):
        return _FULL
    if op == ops.BIG_DECIMAL:
        scale = np.int64(0)
        if present:
            if pos + 4 > end:
                return _SHORT
            scale = load_i4(buf, pos)
            pos += 4
        if not push_4(mem, head, limit, word(code, at + 4), scale):
            return _FULL
    return pos


@njit(**PART_OF_KERNEL)
def take_decimal(op, slot, size, buf, pos, end, mem, head, limit, stack, depth):
    """DECIMAL_LONG, DECIMAL_BYTES, DECIMAL_FIXED, B_DECIMAL_LONG, B_DECIMAL_BYTES."""
    into = claim(head, limit, slot, 16)
    if into < 0:
        return _FULL
    if op == ops.B_DECIMAL_LONG:
        value = get_8(buf, word(stack, (depth - 1) * _F + CURRENT))
        put_8(mem, into, value)
        put_8(mem, into + 8, value >> 63)
        return pos
    start = pos
    n = size
    if op == ops.DECIMAL_LONG:
        n = np.int64(8)
    elif op == ops.DECIMAL_BYTES:
        if pos + 4 > end:
            return _SHORT
        n = load_i4(buf, pos)
        start = pos + 4
    elif op == ops.B_DECIMAL_BYTES:
        start, n = find_bytes(buf, stack, depth, np.int64(0))
        if n < 0:
            return np.int64(-ops.BAD_BINARY)
    if op != ops.B_DECIMAL_BYTES:
        if n < 0 or n > end - start:
            return np.int64(-ops.BAD_LENGTH)
        pos = start + n
    return pos if take_int128(buf, start, n, mem, into) == 0 else np.int64(-ops.RANGE)


@njit(**PART_OF_KERNEL)
def take_time(op, code, at, buf, pos, end, mem, head, limit):
    """MILLIS to WIDE_DATE_TIME."""
    narrow = op == ops.LOCAL_DATE or op == ops.WIDE_DATE or op == ops.WIDE_DATE_TIME
    into = claim(head, limit, word(code, at + 1), np.int64(4 if narrow else 8))
    valid = claim(head, limit, word(code, at + 2), 1)
    third = np.int64(0)
    fourth = np.int64(0)
    nanos = np.int64(0)
    if op == ops.WIDE_INSTANT or op == ops.WIDE_SQL_TIMESTAMP:
        nanos = claim(head, limit, word(code, at + 3), 4)
    elif op == ops.WIDE_DATE or op == ops.WIDE_DATE_TIME:
        third = claim(head, limit, word(code, at + 3), 1)
        fourth = claim(head, limit, word(code, at + 4), 1)
        if op == ops.WIDE_DATE_TIME:
            nanos = claim(head, limit, word(code, at + 5), 8)
    if into < 0 or valid < 0 or third < 0 or fourth < 0 or nanos < 0:
        return _FULL
    if op <= ops.WIDE_SQL_TIMESTAMP:
        return take_stamp(op, buf, pos, end, mem, into, valid, nanos)
    return take_local(op, buf, pos, end, mem, into, valid, third, fourth, nanos)


@njit(**PART_OF_KERNEL)
def take_timestamp(op, a, b, buf, pos, end, mem, head, limit, stack, depth):
    """TIMESTAMP_DATA, B_TIMESTAMP and the wide ones."""
    if op == ops.TIMESTAMP_DATA or op == ops.WIDE_TIMESTAMP_DATA:
        if pos + 12 > end:
            return _SHORT
        millis = load_i8(buf, pos)
        nanos = load_i4(buf, pos + 8)
        pos += 12
    else:
        frame = (depth - 1) * _F
        both = get_8(buf, word(stack, frame + CURRENT))
        nanos = both & 0xFFFFFFFF
        start = word(stack, frame + BASE) + (both >> 32)
        if both >> 32 < 0 or start + 8 > word(stack, frame + STOP):
            return np.int64(-ops.BAD_BINARY)
        millis = get_8(buf, start)
    if op == ops.WIDE_TIMESTAMP_DATA or op == ops.B_WIDE_TIMESTAMP:
        if nanos < 0 or nanos >= _MILLI:
            return np.int64(-ops.RANGE)
        done = push_4(mem, head, limit, b, nanos)
    else:
        done = True
        reason, millis = timestamp_of(millis, nanos, b)
        if reason == ops.FAR_TIME:
            pos += _ODD_TIME
        elif reason != 0:
            return np.int64(-reason)
    return pos if push_8(mem, head, limit, a, millis) and done else _FULL
