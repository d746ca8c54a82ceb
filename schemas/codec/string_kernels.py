# mypy: ignore-errors
"""Instructions of strings, both ways: with their null in band, behind a null flag, without one.

``take_string`` answers (next position, reason), ``give_string`` the next position.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from . import ops
from .kernel_options import STEP_OF_KERNEL
from .memory import get_1, get_4, put_1, set_word, word
from .slot_kernels import advance, push_1, push_length
from .text_kernels import put_text, take_text, take_varint

_ODD = np.int64(ops.ODD_TEXT)


@njit(**STEP_OF_KERNEL)
def take_string(op, code, at, buf, pos, end, mem, head, limit, lenient):
    """The reason is NO_TEXT for one that no column holds; ``lenient``, it is read all the same."""
    n = np.int64(0)
    if op == ops.F_STR:
        if pos >= end:
            return pos, ops.SHORT
        flag = get_1(buf, pos)
        if flag > 1:
            return pos, ops.BAD_FLAG
        pos += 1
        n = np.int64(-1 if flag == word(code, at + 4) else 0)
    if n == 0:
        if pos >= end:
            return pos, ops.SHORT
        n = get_1(buf, pos)
        pos += 1
        if n >= 0x80:
            n, pos = take_varint(buf, pos - 1, end)
            if pos < 0:
                return end, ops.SHORT
        if op == ops.STR_VALUE:
            n += 1
    full = op != ops.STR_VALUE and not push_1(mem, head, limit, word(code, at + 3), np.int64(n > 0))
    data = word(code, at + 2)
    d = word(head, data)
    after = d
    reason = ops.OK
    if n > 1:
        p, after = take_text(buf, pos, end, n - 1, mem, d, word(limit, data) - d)
        if p < 0:
            return pos, after
        if p >= _ODD:
            p -= ops.ODD_TEXT
            reason = ops.NO_TEXT
            if not lenient:
                return pos, reason
        pos = p
        set_word(head, data, after)
    if full or not push_length(mem, head, limit, word(code, at + 1), after - d):
        return pos, ops.OVERFLOW
    return pos, reason


@njit(**STEP_OF_KERNEL)
def string_room(code, where, mem, head):
    """The most bytes that ``give_string`` writes, but a few."""
    h = word(head, word(code, where + 1))
    return 2 * (get_4(mem, h + 4) - get_4(mem, h))


@njit(**STEP_OF_KERNEL)
def give_string(op, code, where, out, at, mem, head, base):
    h = advance(head, word(code, where + 1), 4)
    present = True
    if op != ops.STR_VALUE:
        present = get_1(mem, advance(head, word(code, where + 3), 1)) != 0
    if op == ops.F_STR:
        null_byte = word(code, where + 4)
        put_1(out, at, 1 - null_byte if present else null_byte)
        at += 1
    if present:
        d = word(base, word(code, where + 2))
        return put_text(out, at, mem, d + get_4(mem, h), d + get_4(mem, h + 4), np.int64(op != ops.STR_VALUE))
    if op == ops.STR:
        put_1(out, at, np.int64(0))
        at += 1
    return at
