# mypy: ignore-errors
"""The decoder: runs a program over each row's bytes and fills the slots. See :mod:`.ops` for the instructions.

Every read is checked against the row's end and every slot against its capacity; what breaks comes back as
(reason, row, position), never as a read or a write outside a buffer.
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit, types, uint8

from ..kernels import kernel
from . import ops
from .binary_kernels import START, STOP, find_bytes
from .binary_step_kernels import take_binary
from .choice_kernels import take_choice
from .kernel_options import KERNEL, READ, STEP_OF_KERNEL, WORDS
from .loop_kernels import take_loop
from .memory import get_1, load_i4, set_word, word
from .null_kernels import take_fill, take_null
from .number_kernels import take_number
from .slot_kernels import push_8
from .string_kernels import take_string
from .take_kernels import take_value

_F = ops.FRAME_WORDS
_CLASS = ops.CLASS_AT
_ODD_TIME = np.int64(ops.ODD_TIME)
_ODD_TEXT = np.int64(ops.ODD_TEXT)

_SIGNATURE = types.void(
    WORDS, READ, READ, WORDS, WORDS, int64, uint8[::1], int64[::1], WORDS, int64[::1], int64[::1], int64[::1],
    uint8[::1], int64[::1],
)  # fmt: skip


@njit(**STEP_OF_KERNEL)
def _copy(words, to):
    for i in range(words.size):
        set_word(to, i, word(words, i))


@njit(**STEP_OF_KERNEL)
def _take_other(op, a, buf, pos, end, mem, head, limit, stack, depth):
    """(depth, next position, end, reason) of what stands between values, and of the frames around some."""
    frame = depth * _F
    if op == ops.UNMASK or op == ops.B_END:
        return depth - 1, pos, end, ops.OK
    if op == ops.MARK:
        return depth, pos, end, ops.OK if push_8(mem, head, limit, a, pos) else ops.OVERFLOW
    if op == ops.CONST:
        if a > end - pos:
            return depth, pos, end, ops.SHORT
        return depth, pos + a if a != ops.TO_END else end, end, ops.OK
    if op == ops.EXPECT:
        if pos >= end:
            return depth, pos, end, ops.SHORT
        if get_1(buf, pos) != a:
            return depth, pos, end, ops.BAD_FLAG
        return depth, pos + 1, end, ops.OK
    if op == ops.UNFRAME or op == ops.B_UNFRAME:
        if pos != end:
            return depth, pos, end, ops.TRAILING
        frame -= _F
        back = pos if op == ops.UNFRAME else word(stack, frame + START)
        return depth - 1, back, word(stack, frame + STOP), ops.OK
    if op == ops.FRAME:
        if pos + 4 > end:
            return depth, pos, end, ops.SHORT
        start, n = pos + 4, load_i4(buf, pos)
        if n < 0 or n > end - start:
            return depth, pos, end, ops.BAD_LENGTH
        if depth >= ops.STACK:
            return depth, pos, end, ops.DEEP
    else:
        if depth >= ops.STACK:
            return depth, pos, end, ops.DEEP
        start, n = find_bytes(buf, stack, depth, np.int64(0))
        if n < 0:
            return depth, pos, end, ops.BAD_BINARY
    set_word(stack, frame + START, pos)
    set_word(stack, frame + STOP, end)
    return depth + 1, start, start + n, ops.OK


@kernel(_SIGNATURE, **KERNEL)
def decode(code, pool, buf, starts, ends, lie, mem, head, limit, before, stack, stops, reasons, failure):
    """Decode each row [starts[i], ends[i]) of ``buf``; the position behind it goes to stops[i].

    ``lie`` is PART, EXACT (the row ends where the program does) or CHAINED: ``stops.size`` values one behind
    the other from starts[0] to at most ends[0]. ``failure`` gets (reason, row, position). With SKIP a value that
    no column holds, with SKIP_ALL any that does not decode, leaves nothing in the slots: reasons[i] says why, and
    stops[i] is where the class is named that is not known, or else the position behind what was read. With STEP
    texts and times that no column holds are taken as anything.
    ``head`` is the address in ``mem`` of each slot's next element (of the last offset, in slots of offsets), and
    ``limit`` the address behind its last one. ``before``, as long as ``head``, and ``stack`` of ``ops.STACK_WORDS`` are
    for the kernel alone.
    """
    row = 0
    pos = np.int64(0)
    reason = ops.OK
    end = np.int64(0)
    skip = lie & ops.SKIP_ALL
    step = lie & ops.STEP
    lie = lie & ops.PLACES
    odd = np.int64(ops.OK)
    for row in range(stops.size):
        if lie != ops.CHAINED or row == 0:
            pos = starts[row]
            end = ends[row]
        pc = np.int64(0)
        depth = np.int64(0)
        reason = ops.OK
        odd = np.int64(ops.OK)
        reasons[row] = ops.OK
        if skip:
            _copy(head, before)
        if pos < 0 or end > buf.size or pos > end:
            reason = ops.SHORT
            break
        while True:
            at = pc << 3
            op = word(code, at)
            a = word(code, at + 1)
            pc += 1
            if op == ops.END:
                break
            if op <= ops.LAST_NUMBER:
                pos, reason = take_number(op, code, at, buf, pos, end, mem, head, limit)
            elif op <= ops.LAST_STRING:
                pos, reason = take_string(op, code, at, buf, pos, end, mem, head, limit, skip | step)
                if reason == ops.NO_TEXT:
                    odd = np.int64(ops.NO_TEXT) if odd == ops.OK else odd
                    reason = ops.OK if skip | step else odd
            elif op <= ops.LAST_NULL:
                pc, depth, pos, reason = take_null(
                    op, code, at, pool, pc, buf, pos, end, mem, head, limit, stack, depth
                )
            elif op <= ops.LAST_FILL:
                if not take_fill(op, a, mem, head, limit):
                    reason = ops.OVERFLOW
            elif op <= ops.LAST_LOOP:
                pc, depth, pos, reason = take_loop(
                    op, code, at, pool, pc, buf, pos, end, mem, head, limit, stack, depth
                )
            elif op <= ops.LAST_CHOICE:
                pc, depth, pos, reason = take_choice(
                    op, code, at, pool, pc, buf, pos, end, mem, head, limit, stack, depth
                )
            elif op <= ops.LAST_BINARY:
                pc, depth, pos, reason = take_binary(
                    op, code, at, pool, pc, buf, pos, end, mem, head, limit, stack, depth
                )
            elif op == ops.JUMP:
                pc = a
            elif op <= ops.LAST_OTHER:
                depth, pos, end, reason = _take_other(op, a, buf, pos, end, mem, head, limit, stack, depth)
            else:
                p = take_value(op, code, at, pool, buf, pos, end, mem, head, limit, stack, depth)
                if p < 0:
                    reason = -p
                    if reason >= ops.BAD_KRYO:
                        pos = word(stack, _CLASS)
                    break
                if p >= _ODD_TIME:
                    text = p >= _ODD_TEXT
                    p -= _ODD_TEXT if text else _ODD_TIME
                    if odd == ops.OK:
                        odd = np.int64(ops.NO_TEXT if text else ops.FAR_TIME)
                    if skip == 0 and step == 0:
                        reason = odd
                        break
                pos = p
            if reason != ops.OK:
                break
        if reason == ops.OK and lie == ops.EXACT and pos != end:
            reason = ops.TRAILING
        if reason == ops.OK and odd != ops.OK and skip:
            reason = odd
        stops[row] = pos
        if reason != ops.OK:
            unheld = reason == odd or (
                skip == ops.SKIP and (reason == ops.SUBCLASS or reason >= ops.BAD_KRYO)
            )
            lost = lie == ops.CHAINED and reason != odd  # nothing tells where the next value begins
            if reason == ops.OVERFLOW or skip == 0 or lost or not (unheld or skip == ops.SKIP_ALL):
                break
            _copy(before, head)
            reasons[row] = reason
            reason = ops.OK
    failure[0] = reason
    failure[1] = row
    failure[2] = pos
