# mypy: ignore-errors
"""Instructions of numbers, both ways: of fixed width, behind a null flag, the constants of enums.

``take_number`` answers (next position, reason), ``give_number`` the next position.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from . import ops
from .kernel_options import STEP_OF_KERNEL
from .memory import (
    get_1,
    get_2,
    get_4,
    get_8,
    load_i2,
    load_i4,
    load_i8,
    put_1,
    put_2,
    put_4,
    put_8,
    store_i2,
    store_i4,
    store_i8,
    word,
)
from .slot_kernels import advance, claim, push_1, push_2, push_4, push_8

_MIN8 = np.int64(-0x8000000000000000)


@njit(**STEP_OF_KERNEL)
def take_number(op, code, at, buf, pos, end, mem, head, limit):
    a = word(code, at + 1)
    if op >= ops.F_I1 and op <= ops.F_BOOL:
        return _take_flagged(op, code, at, buf, pos, end, mem, head, limit)
    size = np.int64(4)
    if op == ops.I8 or op == ops.I8_FLIPPED:
        size = np.int64(8)
    elif op == ops.I1 or op == ops.BOOL:
        size = np.int64(1)
    elif op == ops.I2:
        size = np.int64(2)
    if pos + size > end:
        return pos, ops.SHORT
    if op == ops.I8 or op == ops.I8_FLIPPED:
        value = load_i8(buf, pos)
        done = push_8(mem, head, limit, a, value if op == ops.I8 else value ^ _MIN8)
    elif op == ops.I4 or op == ops.ENUM:
        value = load_i4(buf, pos)
        if op == ops.ENUM and (value < 0 or value >= word(code, at + 2)):
            return pos, ops.BAD_ENUM
        done = push_4(mem, head, limit, a, value)
    elif op == ops.I2:
        done = push_2(mem, head, limit, a, load_i2(buf, pos))
    else:
        value = get_1(buf, pos)
        done = push_1(mem, head, limit, a, value if op == ops.I1 else np.int64(value != 0))
    if not done:
        return pos, ops.OVERFLOW
    return pos + size, ops.OK


@njit(**STEP_OF_KERNEL)
def _take_flagged(op, code, at, buf, pos, end, mem, head, limit):
    size = np.int64(8 if op == ops.F_I8 else 4 if op == ops.F_I4 else 2 if op == ops.F_I2 else 1)
    if pos >= end:
        return pos, ops.SHORT
    flag = get_1(buf, pos)
    if flag > 1:
        return pos, ops.BAD_FLAG
    pos += 1
    value = np.int64(0)
    present = flag != word(code, at + 3)
    if present:
        if pos + size > end:
            return pos, ops.SHORT
        if op == ops.F_I8:
            value = load_i8(buf, pos)
        elif op == ops.F_I4:
            value = load_i4(buf, pos)
        elif op == ops.F_I2:
            value = load_i2(buf, pos)
        elif op == ops.F_I1:
            value = get_1(buf, pos)
        else:
            value = np.int64(get_1(buf, pos) != 0)
        pos += size
    h = claim(head, limit, word(code, at + 1), size)
    if h < 0 or not push_1(mem, head, limit, word(code, at + 2), np.int64(present)):
        return pos, ops.OVERFLOW
    if op == ops.F_I8:
        put_8(mem, h, value)
    elif op == ops.F_I4:
        put_4(mem, h, value)
    elif op == ops.F_I2:
        put_2(mem, h, value)
    else:
        put_1(mem, h, value)
    return pos, ops.OK


@njit(**STEP_OF_KERNEL)
def give_number(op, code, where, out, at, mem, head):
    a = word(code, where + 1)
    if op >= ops.F_I1 and op <= ops.F_BOOL:
        return _give_flagged(op, code, where, out, at, mem, head)
    if op == ops.I8 or op == ops.I8_FLIPPED:
        value = get_8(mem, advance(head, a, 8))
        store_i8(out, at, value if op == ops.I8 else value ^ _MIN8)
        return at + 8
    if op == ops.I4 or op == ops.ENUM:
        store_i4(out, at, get_4(mem, advance(head, a, 4)))
        return at + 4
    if op == ops.I2:
        store_i2(out, at, get_2(mem, advance(head, a, 2)))
        return at + 2
    put_1(out, at, get_1(mem, advance(head, a, 1)))
    return at + 1


@njit(**STEP_OF_KERNEL)
def _give_flagged(op, code, where, out, at, mem, head):
    size = np.int64(8 if op == ops.F_I8 else 4 if op == ops.F_I4 else 2 if op == ops.F_I2 else 1)
    h = advance(head, word(code, where + 1), size)
    present = get_1(mem, advance(head, word(code, where + 2), 1)) != 0
    null_byte = word(code, where + 3)
    if not present:
        put_1(out, at, null_byte)
        return at + 1
    put_1(out, at, 1 - null_byte)
    if op == ops.F_I8:
        store_i8(out, at + 1, get_8(mem, h))
    elif op == ops.F_I4:
        store_i4(out, at + 1, get_4(mem, h))
    elif op == ops.F_I2:
        store_i2(out, at + 1, get_2(mem, h))
    else:
        put_1(out, at + 1, get_1(mem, h))
    return at + 1 + size
