# mypy: ignore-errors
"""Instructions of what may be null, both ways: flags, branches, the bits of rows and of elements.

As all steps of a program, they answer (next instruction, depth of the stack, next position, reason).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from . import ops
from .binary_kernels import BASE, CURRENT, INDEX, START
from .kernel_options import STEP_OF_KERNEL
from .memory import get_1, load_i4, put_1, put_8, set_word, store_i4, word
from .slot_kernels import advance, claim, push_1, push_2, push_4, push_8, push_length

_F = ops.FRAME_WORDS
_ROOM = ops.ROOM


@njit(**STEP_OF_KERNEL)
def take_null(op, code, at, pool, pc, buf, pos, end, mem, head, limit, stack, depth):
    a = word(code, at + 1)
    if op == ops.MASK:
        if a > end - pos:
            return pc, depth, pos, ops.SHORT
        if depth >= ops.STACK:
            return pc, depth, pos, ops.DEEP
        set_word(stack, depth * _F + BASE, pos)
        return pc, depth + 1, pos + a, ops.OK
    if op == ops.ROW_KIND:
        mask = get_1(buf, word(stack, (depth - 1) * _F + BASE))
        done = push_1(mem, head, limit, a, (mask >> 7 & 1) | (mask >> 6 & 1) << 1)
        return pc, depth, pos, ops.OK if done else ops.OVERFLOW
    if op == ops.FLAG:
        if pos >= end:
            return pc, depth, pos, ops.SHORT
        flag = get_1(buf, pos)
        if flag > 1:
            return pc, depth, pos, ops.BAD_FLAG
        pos += 1
        null = flag == word(code, at + 3)
    elif op == ops.BRANCH:
        if pos + 4 > end:
            return pc, depth, pos, ops.SHORT
        flag = load_i4(buf, pos)
        if flag < 0 or flag > 1:
            return pc, depth, pos, ops.BAD_TAG
        pos += 4
        null = flag == word(code, at + 3)
    else:
        base, bit = _bit_of(op, code, at, stack, depth)
        null = get_1(buf, base + (bit >> 3)) >> (bit & 7) & 1 != 0
    if null:
        return word(code, at + 2), depth, pos, ops.OK
    if word(code, at + 4) and not push_1(mem, head, limit, a, np.int64(1)):
        return pc, depth, pos, ops.OVERFLOW
    return pc, depth, pos, ops.OK


@njit(**STEP_OF_KERNEL)
def give_null(op, code, where, pool, pc, out, at, end, mem, head, base, stack, depth):
    a = word(code, where + 1)
    if op == ops.MASK:
        if at + a + _ROOM > end:
            return pc, depth, at, ops.OVERFLOW
        if depth >= ops.STACK:
            return pc, depth, at, ops.DEEP
        set_word(stack, depth * _F + BASE, at)
        for k in range(a):
            put_1(out, at + k, np.int64(0))
        return pc, depth + 1, at + a, ops.OK
    if op == ops.ROW_KIND:
        kind = get_1(mem, advance(head, a, 1))
        byte = word(stack, (depth - 1) * _F + BASE)
        put_1(out, byte, get_1(out, byte) | (kind & 1) << 7 | (kind >> 1 & 1) << 6)
        return pc, depth, at, ops.OK
    h = word(head, a)
    present = get_1(mem, h) != 0
    if op == ops.FLAG or op == ops.BRANCH:
        null = word(code, where + 3)
        flag = 1 - null if present else null
        if op == ops.FLAG:
            put_1(out, at, flag)
            at += 1
        else:
            store_i4(out, at, flag)
            at += 4
    else:
        start, bit = _bit_of(op, code, where, stack, depth)
        if not present:
            byte = start + (bit >> 3)
            put_1(out, byte, get_1(out, byte) | np.int64(1) << (bit & 7))
    if not present:
        return word(code, where + 2), depth, at, ops.OK
    if word(code, where + 4):
        set_word(head, a, h + 1)
    return pc, depth, at, ops.OK


@njit(**STEP_OF_KERNEL)
def _bit_of(op, code, at, stack, depth):
    """(first byte, number) of the null bit; of B_BIT the frame is set to the field too. A row's mask begins with the
    highest bit of a byte, a binary one with the lowest."""
    frame = (depth - 1) * _F
    base = word(stack, frame + BASE)
    if op == ops.MASK_BIT:
        return base, word(code, at + 3) ^ 7
    if op == ops.LIST_BIT:
        return base, word(stack, frame + INDEX) ^ 7
    if op == ops.B_BIT:
        field = word(code, at + 3)
        set_word(stack, frame + CURRENT, word(stack, frame + START) + (field << 3))
        return base, field + 8
    return base + 4, word(stack, frame + INDEX)


@njit(**STEP_OF_KERNEL)
def take_fill(op, slot, mem, head, limit):
    """A placeholder, or that the value is there; False where the slot is full."""
    if op == ops.PRESENT or op == ops.FILL1:
        return push_1(mem, head, limit, slot, np.int64(op == ops.PRESENT))
    if op == ops.FILL2:
        return push_2(mem, head, limit, slot, np.int64(0))
    if op == ops.FILL4:
        return push_4(mem, head, limit, slot, np.int64(0))
    if op == ops.FILL8:
        return push_8(mem, head, limit, slot, np.int64(0))
    if op == ops.FILL_OFFSET:
        return push_length(mem, head, limit, slot, np.int64(0))
    h = claim(head, limit, slot, 16)
    if h < 0:
        return False
    put_8(mem, h, np.int64(0))
    put_8(mem, h + 8, np.int64(0))
    return True


@njit(**STEP_OF_KERNEL)
def give_fill(op, slot, head):
    """Nothing is written: on to the next element."""
    size = np.int64(4)
    if op == ops.PRESENT or op == ops.FILL1:
        size = np.int64(1)
    elif op == ops.FILL2:
        size = np.int64(2)
    elif op == ops.FILL8:
        size = np.int64(8)
    elif op == ops.FILL16:
        size = np.int64(16)
    advance(head, slot, size)
