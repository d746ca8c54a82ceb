# mypy: ignore-errors
"""Where a value of a type that holds itself ends: the rows of :mod:`.spans`, run over its bytes."""

from __future__ import annotations

import numpy as np
from numba import njit

from . import ops
from .kernel_options import MAKES_ARRAYS, PART_OF_KERNEL
from .memory import get_1, load_i4, set_word, word
from .text_kernels import take_varint

_DEEP = 8192
"""Words of the stack: calls take one, collections two. A call at the end of its caller takes none."""
_STEPS = 65536
"""Calls and elements without a byte of their own that a value may have beyond one for each of its bytes."""


@njit(**PART_OF_KERNEL)
def _beyond_gotos(code, row):
    while word(code, row * 8) == ops.SPAN_GOTO:
        row = word(code, row * 8 + 1)
    return row


@njit(**PART_OF_KERNEL | MAKES_ARRAYS)
def end_of_span(code, row, buf, pos, end):
    """Where the value at ``pos`` of the type at ``row`` ends, or minus the reason why it does not."""
    stack = np.empty(_DEEP, np.int64)
    depth = 0
    steps = end - pos + _STEPS
    set_word(stack, 0, np.int64(-1))
    while row >= 0:
        op = word(code, row * 8)
        a = word(code, row * 8 + 1)
        row += 1
        n = np.int64(0)
        if op == ops.SPAN_GOTO:
            row = a
        elif op == ops.SPAN_BYTES:
            n = a
        elif op == ops.SPAN_CALL:
            steps -= 1
            back = _beyond_gotos(code, row)
            if word(code, back * 8) != ops.SPAN_RETURN:
                depth += 1
                if depth + 2 >= _DEEP:
                    return np.int64(-ops.DEEP)
                set_word(stack, depth, back)
            row = a
        elif op == ops.SPAN_RETURN:
            row = word(stack, depth)
            depth -= 1
        elif op == ops.SPAN_BLOCK:
            left, pos = take_varint(buf, pos, end)
            if pos < 0:
                return np.int64(-ops.SHORT)
            if left > steps:
                return np.int64(-ops.BAD_LENGTH)
            if left == 0:
                row = a
            else:
                depth += 2
                if depth + 2 >= _DEEP:
                    return np.int64(-ops.DEEP)
                set_word(stack, depth - 1, row)
                set_word(stack, depth, left)
        elif op == ops.SPAN_NEXT:
            steps -= 1
            left = word(stack, depth) - 1
            if left > 0:
                set_word(stack, depth, left)
                row = word(stack, depth - 1)
            else:
                depth -= 2
                if pos >= end:
                    return np.int64(-ops.SHORT)
                if get_1(buf, pos) != 0:
                    return np.int64(-ops.BAD_LENGTH)
                pos += 1
        else:  # SPAN_FRAMED, SPAN_BRANCH
            if pos + 4 > end:
                return np.int64(-ops.SHORT)
            found = load_i4(buf, pos)
            pos += 4
            if op == ops.SPAN_FRAMED:
                n = np.int64(found)
            elif found < 0 or found >= a:
                return np.int64(-ops.BAD_TAG)
            else:
                row += found
        if n < 0 or n > end - pos:
            return np.int64(-ops.BAD_LENGTH)
        if steps < 0:
            return np.int64(-ops.BAD_LENGTH)
        pos += n
    return pos
