# mypy: ignore-errors
"""Instructions of Flink SQL's binary rows, arrays and maps, both ways; :mod:`.binary_kernels` knows how these lie.

As all steps of a program, they answer (next instruction, depth of the stack, next position, reason).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from . import ops
from .binary_kernels import (
    ALONE,
    BASE,
    CURRENT,
    INDEX,
    KEYS,
    KIND,
    LEFT,
    LOOP,
    NESTED,
    START,
    STOP,
    VALUES,
    finish_value,
    open_elements,
    open_value,
    start_elements,
)
from .kernel_options import PART_OF_KERNEL, STEP_OF_KERNEL
from .memory import get_1, get_2, get_4, get_8, put_1, put_2, put_4, put_8, set_word, word
from .slot_kernels import advance, push_1, push_2, push_4, push_8, push_length

_F = ops.FRAME_WORDS
_ROOM = ops.ROOM


@njit(**STEP_OF_KERNEL)
def take_binary(op, code, at, pool, pc, buf, pos, end, mem, head, limit, stack, depth):
    if op >= ops.B_1:
        done = _take_slot(
            op, word(code, at + 1), buf, mem, head, limit, word(stack, (depth - 1) * _F + CURRENT)
        )
        return pc, depth, pos, ops.OK if done else ops.OVERFLOW
    if op == ops.B_ARRAY_NEXT:
        pc, depth = _next_element(code, at, pc, stack, depth)
        return pc, depth, pos, ops.OK
    return _open(op, code, at, pc, buf, pos, end, mem, head, limit, stack, depth)


@njit(**STEP_OF_KERNEL)
def _take_slot(op, slot, buf, mem, head, limit, current):
    if op == ops.B_8:
        return push_8(mem, head, limit, slot, get_8(buf, current))
    if op == ops.B_4:
        return push_4(mem, head, limit, slot, get_4(buf, current))
    if op == ops.B_2:
        return push_2(mem, head, limit, slot, get_2(buf, current))
    return push_1(mem, head, limit, slot, get_1(buf, current))


@njit(**STEP_OF_KERNEL)
def _next_element(code, at, pc, stack, depth):
    """(next instruction, depth): the loop once more, or behind it with the frame still to be closed."""
    frame = (depth - 1) * _F
    left = word(stack, frame + LEFT) - 1
    if left <= 0:
        return pc, depth - 1
    set_word(stack, frame + LEFT, left)
    set_word(stack, frame + INDEX, word(stack, frame + INDEX) + 1)
    set_word(stack, frame + CURRENT, word(stack, frame + CURRENT) + word(code, at + 1))
    return word(stack, frame + LOOP), depth


@njit(**PART_OF_KERNEL)
def _open(op, code, at, pc, buf, pos, end, mem, head, limit, stack, depth):
    """B_ROW, B_ARRAY, B_MAP, B_MAP_KEYS, B_MAP_VALUES."""
    a = word(code, at + 1)
    b = word(code, at + 2)
    frame = depth * _F
    if op == ops.B_MAP_KEYS or op == ops.B_MAP_VALUES:
        below = (depth - 1) * _F
        middle = word(stack, below + START)
        if op == ops.B_MAP_KEYS:
            set_word(stack, frame + BASE, word(stack, below + BASE) + 4)
            set_word(stack, frame + STOP, middle)
        else:
            set_word(stack, frame + BASE, middle)
            set_word(stack, frame + STOP, word(stack, below + STOP))
        n = open_elements(buf, stack, depth, b)
        if n != word(stack, below + LEFT):
            return pc, depth, pos, ops.BAD_BINARY
        if n == 0:
            return a, depth, pos, ops.OK
        set_word(stack, frame + LOOP, pc)
        return pc, depth + 1, pos, ops.OK
    if op == ops.B_ROW:
        if depth >= ops.STACK:
            return pc, depth, pos, ops.DEEP
        header = (a + 8 + 63) >> 6 << 3
        p = open_value(buf, pos, end, stack, depth, word(code, at + 3), header + (a << 3))
        if p < 0:
            return pc, depth, pos, -p
        base = word(stack, frame + BASE)
        set_word(stack, frame + START, base + header)
        done = push_1(mem, head, limit, b, get_1(buf, base))
        return pc, depth + 1, p, ops.OK if done else ops.OVERFLOW
    if depth + 1 >= ops.STACK:
        return pc, depth, pos, ops.DEEP
    p = open_value(buf, pos, end, stack, depth, word(code, at + 4), np.int64(4))
    if p < 0:
        return pc, depth, pos, -p
    if op == ops.B_ARRAY:
        n = open_elements(buf, stack, depth, word(code, at + 3))
        if n < 0:
            return pc, depth, p, -n
        if n == 0:
            pc = b
        else:
            set_word(stack, frame + LOOP, pc)
            depth += 1
    else:
        base = word(stack, frame + BASE)
        n = get_4(buf, base)
        if n < 4 or n + 8 > word(stack, frame + STOP) - base:
            return pc, depth, p, ops.BAD_BINARY
        set_word(stack, frame + START, base + 4 + n)
        n = get_4(buf, base + 4)
        set_word(stack, frame + LEFT, n)
        depth += 1
    return pc, depth, p, ops.OK if push_length(mem, head, limit, a, n) else ops.OVERFLOW


@njit(**STEP_OF_KERNEL)
def give_binary(op, code, where, pool, pc, out, at, end, mem, head, base, stack, depth):
    if op >= ops.B_1:
        _give_slot(op, word(code, where + 1), out, mem, head, word(stack, (depth - 1) * _F + CURRENT))
        return pc, depth, at, ops.OK
    if op == ops.B_ARRAY_NEXT:
        pc, after = _next_element(code, where, pc, stack, depth)
        if after < depth:
            at = finish_value(out, stack, depth, at)
        return pc, after, at, ops.OK
    return _start(op, code, where, pc, out, at, end, mem, head, stack, depth)


@njit(**STEP_OF_KERNEL)
def _give_slot(op, slot, out, mem, head, current):
    if op == ops.B_8:
        put_8(out, current, get_8(mem, advance(head, slot, 8)))
    elif op == ops.B_4:
        put_4(out, current, get_4(mem, advance(head, slot, 4)))
    elif op == ops.B_2:
        put_2(out, current, get_2(mem, advance(head, slot, 2)))
    else:
        put_1(out, current, get_1(mem, advance(head, slot, 1)))


@njit(**PART_OF_KERNEL)
def _start(op, code, where, pc, out, at, end, mem, head, stack, depth):
    """B_ROW, B_ARRAY, B_MAP, B_MAP_KEYS, B_MAP_VALUES."""
    a = word(code, where + 1)
    b = word(code, where + 2)
    frame = depth * _F
    if op == ops.B_ROW:
        header = (a + 8 + 63) >> 6 << 3
        total = header + (a << 3)
        if at + total + _ROOM > end:
            return pc, depth, at, ops.OVERFLOW
        if depth >= ops.STACK:
            return pc, depth, at, ops.DEEP
        nested = word(code, where + 3)
        if nested == 0:
            at += 4
        for k in range(0, total, 8):
            put_8(out, at + k, np.int64(0))
        put_1(out, at, get_1(mem, advance(head, b, 1)))
        set_word(stack, frame + BASE, at)
        set_word(stack, frame + START, at + header)
        set_word(stack, frame + KIND, np.int64(NESTED if nested else ALONE))
        return pc, depth + 1, at + total, ops.OK
    if op == ops.B_MAP:
        if depth + 1 >= ops.STACK:
            return pc, depth, at, ops.DEEP
        h = advance(head, a, 4)
        set_word(stack, frame + LEFT, get_4(mem, h + 4) - get_4(mem, h))
        nested = word(code, where + 4)
        if nested == 0:
            at += 4
        set_word(stack, frame + BASE, at)
        set_word(stack, frame + KIND, np.int64(NESTED if nested else ALONE))
        return pc, depth + 1, at + 4, ops.OK
    if op == ops.B_ARRAY:
        h = word(head, a)
        n = get_4(mem, h + 4) - get_4(mem, h)
        size = word(code, where + 3)
        behind = b
    else:
        n = word(stack, (depth - 1) * _F + LEFT)
        size = b
        behind = a
    if at + n * size + (n >> 3) + 2 * _ROOM > end:
        return pc, depth, at, ops.OVERFLOW
    if depth >= ops.STACK:
        return pc, depth, at, ops.DEEP
    kind = np.int64(KEYS if op == ops.B_MAP_KEYS else VALUES)
    if op == ops.B_ARRAY:
        set_word(head, a, h + 4)
        kind = np.int64(NESTED)
        if word(code, where + 4) == 0:
            kind = np.int64(ALONE)
            at += 4
    at = start_elements(out, at, stack, depth, n, size, kind)
    if n == 0:
        return behind, depth, finish_value(out, stack, depth + 1, at), ops.OK
    set_word(stack, frame + LOOP, pc)
    return pc, depth + 1, at, ops.OK
