# mypy: ignore-errors
"""The encoder: runs a program over filled slots and writes each row's bytes. The mirror of the decoder.

The slots come from Arrow arrays and have as many elements as the program takes. What can be wrong is the room in
the output: the encoder stops there, and the caller begins anew with more.
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit, types, uint8

from ..kernels import kernel
from . import ops
from .binary_kernels import BASE, finish_value, put_slot
from .binary_step_kernels import give_binary
from .choice_kernels import give_choice
from .give_kernels import give_value
from .kernel_options import KERNEL, READ, STEP_OF_KERNEL, WORDS
from .loop_kernels import give_loop
from .memory import put_1, set_word, store_i4, word
from .null_kernels import give_fill, give_null
from .number_kernels import give_number
from .string_kernels import give_string, string_room

_F = ops.FRAME_WORDS
_ROOM = ops.ROOM

_SIGNATURE = types.void(
    WORDS, READ, int64, uint8[::1], int64[::1], uint8[::1], int64[::1], WORDS, int64[::1], int64[::1]
)


@njit(**STEP_OF_KERNEL)
def _give_other(op, a, out, at, end, stack, depth):
    """(depth, next position, reason) of what stands between values, and of the frames around some."""
    if op == ops.UNMASK:
        return depth - 1, at, ops.OK
    if op == ops.B_END:
        return depth - 1, finish_value(out, stack, depth, at), ops.OK
    if op == ops.CONST:
        if at + a + _ROOM > end:
            return depth, at, ops.OVERFLOW
        for k in range(a):
            put_1(out, at + k, np.int64(0))
        return depth, at + max(a, np.int64(0)), ops.OK
    if op == ops.EXPECT:
        put_1(out, at, a)
        return depth, at + 1, ops.OK
    if op == ops.UNFRAME:
        start = word(stack, (depth - 1) * _F + BASE)
        store_i4(out, start, at - start - 4)
        return depth - 1, at, ops.OK
    if op == ops.B_UNFRAME:
        start = word(stack, (depth - 1) * _F + BASE)
        return depth - 1, put_slot(out, stack, depth - 1, at, start), ops.OK
    if depth >= ops.STACK:
        return depth, at, ops.DEEP
    set_word(stack, depth * _F + BASE, at)
    return depth + 1, at + 4 if op == ops.FRAME else at, ops.OK


@kernel(_SIGNATURE, **KERNEL)
def encode(code, pool, rows, out, offsets, mem, head, base, stack, failure):
    """Write ``rows`` values to ``out``; row i ends at offsets[i + 1], and offsets[0] is where the first begins.

    ``head`` is the address in ``mem`` of each slot's next element, ``base`` that of its first; ``stack`` of
    ``ops.STACK_WORDS`` is for the kernel alone. failure gets
    (OK | OVERFLOW | another reason, row it stopped at).
    """
    at = offsets[0]
    end = np.int64(out.size)
    reason = ops.OK
    row = np.int64(0)
    while row < rows:
        pc = np.int64(0)
        depth = np.int64(0)
        while True:
            where = pc << 3
            op = word(code, where)
            a = word(code, where + 1)
            pc += 1
            if at + _ROOM > end:
                reason = ops.OVERFLOW
                break
            if op == ops.END:
                break
            if op <= ops.LAST_NUMBER:
                at = give_number(op, code, where, out, at, mem, head)
            elif op <= ops.LAST_STRING:
                if at + string_room(code, where, mem, head) + _ROOM > end:
                    reason = ops.OVERFLOW
                    break
                at = give_string(op, code, where, out, at, mem, head, base)
            elif op <= ops.LAST_NULL:
                pc, depth, at, reason = give_null(
                    op, code, where, pool, pc, out, at, end, mem, head, base, stack, depth
                )
            elif op <= ops.LAST_FILL:
                give_fill(op, a, head)
            elif op <= ops.LAST_LOOP:
                pc, depth, at, reason = give_loop(
                    op, code, where, pool, pc, out, at, end, mem, head, base, stack, depth
                )
            elif op <= ops.LAST_CHOICE:
                pc, depth, at, reason = give_choice(
                    op, code, where, pool, pc, out, at, end, mem, head, base, stack, depth
                )
            elif op <= ops.LAST_BINARY:
                pc, depth, at, reason = give_binary(
                    op, code, where, pool, pc, out, at, end, mem, head, base, stack, depth
                )
            elif op == ops.JUMP:
                pc = a
            elif op <= ops.LAST_OTHER:
                depth, at, reason = _give_other(op, a, out, at, end, stack, depth)
            else:
                p = give_value(op, code, where, out, at, end, mem, head, base, stack, depth)
                if p < 0:
                    reason = -p
                    break
                at = p
            if reason != ops.OK:
                break
        if reason != ops.OK:
            break
        row += 1
        offsets[row] = at
    failure[0] = reason
    failure[1] = row
