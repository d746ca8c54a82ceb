# mypy: ignore-errors
"""Instructions of collections, both ways: how many elements there are, and on to the next one.

As all steps of a program, they answer (next instruction, depth of the stack, next position, reason). A frame of
a loop knows the elements LEFT and the instruction LOOP that starts their body; of a masked list BASE, where its mask
is, and INDEX, the element; of a delimited one START, the slot of its offsets, and INDEX, where the element begins.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from . import ops
from .binary_kernels import BASE, INDEX, LEFT, LOOP, START
from .kernel_options import STEP_OF_KERNEL
from .memory import get_1, get_4, load_i4, put_1, put_4, set_word, store_i4, word
from .slot_kernels import advance, push_length
from .text_kernels import put_varint, take_varint

_F = ops.FRAME_WORDS
_ROOM = ops.ROOM
_COMMA = np.int64(0x2C)
#: Elements of no bytes are bounded too, or a few bytes could ask for billions of them.
_MOST_EMPTY = 65536


@njit(**STEP_OF_KERNEL)
def take_loop(op, code, at, pool, pc, buf, pos, end, mem, head, limit, stack, depth):
    if op == ops.NEXT or op == ops.BLOCK_NEXT:
        return _take_next(op, pc, buf, pos, end, stack, depth)
    if op == ops.DELIMITED_NEXT:
        return _take_delimited_next(code, at, pc, buf, pos, end, mem, head, stack, depth)
    a = word(code, at + 1)
    if depth >= ops.STACK:
        return pc, depth, pos, ops.DEEP
    frame = depth * _F
    if op == ops.DELIMITED:
        if not push_length(mem, head, limit, a, np.int64(pos != end)):
            return pc, depth, pos, ops.OVERFLOW
        if pos == end:
            return word(code, at + 2), depth, pos, ops.OK
        set_word(stack, frame + START, a)
        set_word(stack, frame + LOOP, pc)
        set_word(stack, frame + INDEX, pos)
        return pc, depth + 1, pos, ops.OK
    if op == ops.BLOCK:
        n, p = take_varint(buf, pos, end)
        if p < 0:
            return pc, depth, pos, ops.SHORT
        pos = p
    elif pos + 4 > end:
        return pc, depth, pos, ops.SHORT
    else:
        n = load_i4(buf, pos)
        pos += 4
    if op == ops.MASKED_LIST:
        if n < 0 or (n + 7) >> 3 > end - pos:
            return pc, depth, pos, ops.BAD_LENGTH
        set_word(stack, frame + BASE, pos)
        set_word(stack, frame + INDEX, np.int64(0))
        pos += (n + 7) >> 3
    elif n < 0 or n * word(code, at + 3) > end - pos or n > end - pos + _MOST_EMPTY:
        return pc, depth, pos, ops.BAD_LENGTH
    if not push_length(mem, head, limit, a, n):
        return pc, depth, pos, ops.OVERFLOW
    if n == 0:
        return word(code, at + 2), depth, pos, ops.OK
    set_word(stack, frame + LEFT, n)
    set_word(stack, frame + LOOP, pc)
    return pc, depth + 1, pos, ops.OK


@njit(**STEP_OF_KERNEL)
def _take_next(op, pc, buf, pos, end, stack, depth):
    frame = (depth - 1) * _F
    left = word(stack, frame + LEFT) - 1
    set_word(stack, frame + INDEX, word(stack, frame + INDEX) + 1)
    if left > 0:
        set_word(stack, frame + LEFT, left)
        return word(stack, frame + LOOP), depth, pos, ops.OK
    depth -= 1
    if op == ops.BLOCK_NEXT:
        if pos >= end:
            return pc, depth, pos, ops.SHORT
        if get_1(buf, pos) != 0:
            return pc, depth, pos, ops.BAD_LENGTH
        pos += 1
    return pc, depth, pos, ops.OK


@njit(**STEP_OF_KERNEL)
def _take_delimited_next(code, at, pc, buf, pos, end, mem, head, stack, depth):
    joined = word(code, at + 1)
    frame = (depth - 1) * _F
    if pos == end:
        return pc, depth - 1, pos, ops.OK
    if joined == 0 and get_1(buf, pos) != _COMMA:
        return pc, depth, pos, ops.BAD_SEPARATOR
    if joined == 0 and pos + 1 == end:
        return pc, depth, pos, ops.SHORT
    if joined and pos == word(stack, frame + INDEX):  # an element of no bytes: there is no end to them
        return pc, depth, pos, ops.BAD_LENGTH
    pos += 1 - joined
    set_word(stack, frame + INDEX, pos)
    h = word(head, word(stack, frame + START))
    put_4(mem, h, get_4(mem, h) + 1)
    return word(stack, frame + LOOP), depth, pos, ops.OK


@njit(**STEP_OF_KERNEL)
def give_loop(op, code, where, pool, pc, out, at, end, mem, head, base, stack, depth):
    if op == ops.NEXT or op == ops.DELIMITED_NEXT or op == ops.BLOCK_NEXT:
        return _give_next(op, code, where, pc, out, at, stack, depth)
    h = advance(head, word(code, where + 1), 4)
    n = get_4(mem, h + 4) - get_4(mem, h)
    if depth >= ops.STACK:
        return pc, depth, at, ops.DEEP
    frame = depth * _F
    if op == ops.LIST:
        store_i4(out, at, n)
        at += 4
    elif op == ops.BLOCK:
        at = put_varint(out, at, n)
    elif op == ops.MASKED_LIST:
        if at + (n >> 3) + _ROOM > end:
            return pc, depth, at, ops.OVERFLOW
        store_i4(out, at, n)
        at += 4
        set_word(stack, frame + BASE, at)
        set_word(stack, frame + INDEX, np.int64(0))
        for _ in range((n + 7) >> 3):
            put_1(out, at, np.int64(0))
            at += 1
    if n == 0:
        return word(code, where + 2), depth, at, ops.OK
    set_word(stack, frame + LEFT, n)
    set_word(stack, frame + LOOP, pc)
    return pc, depth + 1, at, ops.OK


@njit(**STEP_OF_KERNEL)
def _give_next(op, code, where, pc, out, at, stack, depth):
    frame = (depth - 1) * _F
    left = word(stack, frame + LEFT) - 1
    set_word(stack, frame + INDEX, word(stack, frame + INDEX) + 1)
    if left > 0:
        set_word(stack, frame + LEFT, left)
        if op == ops.DELIMITED_NEXT and word(code, where + 1) == 0:
            put_1(out, at, _COMMA)
            at += 1
        return word(stack, frame + LOOP), depth, at, ops.OK
    if op == ops.BLOCK_NEXT:
        put_1(out, at, np.int64(0))
        at += 1
    return pc, depth - 1, at, ops.OK
