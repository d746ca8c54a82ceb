# mypy: ignore-errors
"""Instructions of choices, both ways: the classes of POJOs and the alternatives of unions, each behind its tag.

As all steps of a program, they answer (next instruction, depth of the stack, next position, reason).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from . import ops
from .kernel_options import PART_OF_KERNEL, STEP_OF_KERNEL
from .memory import get_1, get_4, load_i4, put_1, set_word, store_i4, word
from .slot_kernels import advance, push_1, push_4

_ROOM = ops.ROOM
#: ``PojoSerializer``'s flags.
_NULL, _NO_SUBCLASS, _NAMED, _TAGGED = 1, 2, 4, 8


@njit(**STEP_OF_KERNEL)
def take_choice(op, code, at, pool, pc, buf, pos, end, mem, head, limit, stack, depth):
    if op == ops.POJO:
        pc, pos, reason = _take_pojo(code, at, pool, pc, buf, pos, end, mem, head, limit)
        return pc, depth, pos, reason
    size = word(code, at + 3)
    if pos + size > end:
        return pc, depth, pos, ops.SHORT
    case = _case_of(code, at, word(code, at + 2), get_1(buf, pos) if size == 1 else load_i4(buf, pos))
    if case < 0:
        return pc, depth, pos, ops.BAD_TAG
    if not push_1(mem, head, limit, word(code, at + 1), case):
        return pc, depth, pos, ops.OVERFLOW
    return word(code, at + 8 * (case + 1) + 1), depth, pos + size, ops.OK


@njit(**STEP_OF_KERNEL)
def _case_of(code, at, cases, tag):
    """The number of the case with this tag, or -1."""
    case = np.int64(-1)
    for k in range(cases):
        if word(code, at + 8 * (k + 1) + 2) == tag:
            case = np.int64(k)
    return case


@njit(**PART_OF_KERNEL)
def _case_named(code, at, cases, pool, buf, pos, n):
    """The number of the case whose class name is the ``n`` bytes at ``pos``, or -1."""
    case = np.int64(-1)
    for k in range(cases):
        entry = at + 8 * (k + 1)
        if word(code, entry + 2) < 0 and word(code, entry + 4) == n:
            start = word(code, entry + 3)
            same = True
            for i in range(n):
                same = same and pool[start + i] == buf[pos + i]
            if same:
                case = np.int64(k)
    return case


@njit(**STEP_OF_KERNEL)
def _take_pojo(code, at, pool, pc, buf, pos, end, mem, head, limit):
    if pos >= end:
        return pc, pos, ops.SHORT
    flag = get_1(buf, pos)
    pos += 1
    if flag == _NULL:
        return word(code, at + 2), pos, ops.OK
    cases = word(code, at + 3)
    case = np.int64(-1)
    named = pos
    if flag == _NAMED and pos + 2 <= end:
        n = (get_1(buf, pos) << 8 | get_1(buf, pos + 1)) + 2
        if n > end - pos:
            return pc, pos, ops.SHORT
        case = _case_named(code, at, cases, pool, buf, pos, n)
        pos += n
    elif flag == _TAGGED and pos < end:
        case = _case_of(code, at, cases, get_1(buf, pos))
        pos += 1
    elif flag != _NO_SUBCLASS:
        return pc, pos, ops.SHORT if flag == _NAMED or flag == _TAGGED else ops.BAD_FLAG
    if flag != _NO_SUBCLASS and case < 0:
        return pc, named, ops.SUBCLASS
    if not push_1(mem, head, limit, word(code, at + 1), np.int64(1)):
        return pc, pos, ops.OVERFLOW
    if cases == 0:
        return pc, pos, ops.OK
    full = not push_4(mem, head, limit, word(code, at + 4), max(case, np.int64(0)))
    if full or not push_1(mem, head, limit, word(code, at + 5), np.int64(case >= 0)):
        return pc, pos, ops.OVERFLOW
    return word(code, at + 8 * (case + 1) + 1) if case >= 0 else pc + cases, pos, ops.OK


@njit(**STEP_OF_KERNEL)
def give_choice(op, code, where, pool, pc, out, at, end, mem, head, base, stack, depth):
    if op == ops.POJO:
        pc, at, reason = _give_pojo(code, where, pool, pc, out, at, end, mem, head)
        return pc, depth, at, reason
    entry = where + 8 * (get_1(mem, advance(head, word(code, where + 1), 1)) + 1)
    if word(code, where + 3) == 1:
        put_1(out, at, word(code, entry + 2))
        at += 1
    else:
        store_i4(out, at, word(code, entry + 2))
        at += 4
    return word(code, entry + 1), depth, at, ops.OK


@njit(**STEP_OF_KERNEL)
def _give_pojo(code, where, pool, pc, out, at, end, mem, head):
    a = word(code, where + 1)
    h = word(head, a)
    if get_1(mem, h) == 0:
        put_1(out, at, np.int64(_NULL))
        return word(code, where + 2), at + 1, ops.OK
    set_word(head, a, h + 1)
    cases = word(code, where + 3)
    case = np.int64(-1)
    if cases:
        number = get_4(mem, advance(head, word(code, where + 4), 4))
        if get_1(mem, advance(head, word(code, where + 5), 1)):
            case = number
    if case < 0:
        put_1(out, at, np.int64(_NO_SUBCLASS))
        return pc + cases, at + 1, ops.OK
    entry = where + 8 * (case + 1)
    tag = word(code, entry + 2)
    if tag >= 0:
        put_1(out, at, np.int64(_TAGGED))
        put_1(out, at + 1, tag)
        return word(code, entry + 1), at + 2, ops.OK
    n = word(code, entry + 4)
    if at + n + _ROOM > end:
        return pc, at, ops.OVERFLOW
    put_1(out, at, np.int64(_NAMED))
    start = word(code, entry + 3)
    for k in range(n):
        out[at + 1 + k] = pool[start + k]
    return word(code, entry + 1), at + 1 + n, ops.OK
