# mypy: ignore-errors
"""The encoder: runs a program over filled slots and writes each row's bytes. The mirror of the decoder.

The slots come from Arrow arrays and have as many elements as the program takes. What can be wrong is the room in
the output: the encoder stops there, and the caller begins anew with more.
"""

from __future__ import annotations

import numpy as np
from numba import int64, types, uint8

from ..kernels import kernel
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
    VALUES,
    finish_value,
    put_slot,
    start_elements,
)
from .give_kernels import give_bytes, give_value
from .memory import (
    get_1,
    get_2,
    get_4,
    get_8,
    put_1,
    put_2,
    put_4,
    put_8,
    set_word,
    store_i2,
    store_i4,
    store_i8,
    word,
)
from .slot_kernels import advance
from .text_kernels import put_text, put_varint

_MIN8 = np.int64(-0x8000000000000000)
_F = ops.FRAME_WORDS
#: The most that one instruction writes beside strings, masks and binary values.
_ROOM = 32

_read = types.Array(uint8, 1, "C", readonly=True)
_words = types.Array(int64, 1, "C", readonly=True)
_SIGNATURE = types.void(
    _words, _read, int64, uint8[::1], int64[::1], uint8[::1], int64[::1], _words, int64[::1]
)


@kernel(_SIGNATURE, error_model="numpy", no_cfunc_wrapper=True)
def encode(code, pool, rows, out, offsets, mem, head, base, failure):
    """Write ``rows`` values to ``out``; row i ends at offsets[i + 1], and offsets[0] is where the first begins.

    ``head`` is the address in ``mem`` of each slot's next element, ``base`` that of its first. failure gets
    (OK | OVERFLOW | another reason, row it stopped at, bytes that are missing at least).
    """
    stack = np.empty(ops.STACK * ops.FRAME_WORDS, np.int64)
    at = offsets[0]
    size_of_out = np.int64(out.size)
    reason = ops.OK
    need = np.int64(0)
    row = np.int64(0)
    while row < rows:
        pc = np.int64(0)
        depth = np.int64(0)
        while True:
            where = pc << 3
            op = word(code, where)
            a = word(code, where + 1)
            b = word(code, where + 2)
            pc += 1
            if at + _ROOM > size_of_out:
                reason = ops.OVERFLOW
                break
            if op == ops.END:
                break
            if op == ops.I8 or op == ops.I8_FLIPPED:
                value = get_8(mem, advance(head, a, 8))
                store_i8(out, at, value if op == ops.I8 else value ^ _MIN8)
                at += 8
            elif op == ops.I4 or op == ops.ENUM:
                store_i4(out, at, get_4(mem, advance(head, a, 4)))
                at += 4
            elif op == ops.I1 or op == ops.BOOL:
                put_1(out, at, get_1(mem, advance(head, a, 1)))
                at += 1
            elif op == ops.I2:
                store_i2(out, at, get_2(mem, advance(head, a, 2)))
                at += 2
            elif op == ops.F_I8 or op == ops.F_I4 or op == ops.F_I2 or op == ops.F_I1 or op == ops.F_BOOL:
                size = np.int64(8 if op == ops.F_I8 else 4 if op == ops.F_I4 else 2 if op == ops.F_I2 else 1)
                h = word(head, a)
                v = word(head, b)
                null_byte = word(code, where + 3)
                if get_1(mem, v):
                    put_1(out, at, 1 - null_byte)
                    if op == ops.F_I8:
                        store_i8(out, at + 1, get_8(mem, h))
                    elif op == ops.F_I4:
                        store_i4(out, at + 1, get_4(mem, h))
                    elif op == ops.F_I2:
                        store_i2(out, at + 1, get_2(mem, h))
                    else:
                        put_1(out, at + 1, get_1(mem, h))
                    at += 1 + size
                else:
                    put_1(out, at, null_byte)
                    at += 1
                set_word(head, a, h + size)
                set_word(head, b, v + 1)
            elif op == ops.STR or op == ops.F_STR or op == ops.STR_VALUE:
                h = word(head, a)
                start = get_4(mem, h)
                stop = get_4(mem, h + 4)
                need = 2 * (stop - start) + _ROOM
                if at + need > size_of_out:
                    reason = ops.OVERFLOW
                    break
                set_word(head, a, h + 4)
                present = True
                if op != ops.STR_VALUE:
                    s = word(code, where + 3)
                    v = word(head, s)
                    present = get_1(mem, v) != 0
                    set_word(head, s, v + 1)
                if op == ops.F_STR:
                    null_byte = word(code, where + 4)
                    put_1(out, at, 1 - null_byte if present else null_byte)
                    at += 1
                if present:
                    d = word(base, b)
                    at = put_text(out, at, mem, d + start, d + stop, np.int64(op != ops.STR_VALUE))
                elif op == ops.STR:
                    put_1(out, at, np.int64(0))
                    at += 1
            elif op == ops.FLAG:
                h = word(head, a)
                null_byte = word(code, where + 3)
                if get_1(mem, h):
                    put_1(out, at, 1 - null_byte)
                    if word(code, where + 4):
                        set_word(head, a, h + 1)
                else:
                    put_1(out, at, null_byte)
                    pc = b
                at += 1
            elif op == ops.POJO:
                h = word(head, a)
                if get_1(mem, h) == 0:
                    put_1(out, at, np.int64(1))
                    at += 1
                    pc = b
                    continue
                set_word(head, a, h + 1)
                cases = word(code, where + 3)
                case = np.int64(-1)
                if cases:
                    s = word(code, where + 4)
                    v = word(code, where + 5)
                    h = word(head, s)
                    hv = word(head, v)
                    if get_1(mem, hv):
                        case = get_4(mem, h)
                    set_word(head, s, h + 4)
                    set_word(head, v, hv + 1)
                if case < 0:
                    put_1(out, at, np.int64(2))
                    at += 1
                    pc += cases
                else:
                    entry = where + 8 * (case + 1)
                    tag = word(code, entry + 2)
                    pc = word(code, entry + 1)
                    if tag >= 0:
                        put_1(out, at, np.int64(8))
                        put_1(out, at + 1, tag)
                        at += 2
                    else:
                        n = word(code, entry + 4)
                        need = n + _ROOM
                        if at + need > size_of_out:
                            reason = ops.OVERFLOW
                            break
                        put_1(out, at, np.int64(4))
                        start = word(code, entry + 3)
                        for k in range(n):
                            out[at + 1 + k] = pool[start + k]
                        at += 1 + n
            elif op == ops.JUMP:
                pc = a
            elif op == ops.PRESENT or op == ops.FILL1:
                set_word(head, a, word(head, a) + 1)
            elif op == ops.FILL2:
                set_word(head, a, word(head, a) + 2)
            elif op == ops.FILL4 or op == ops.FILL_OFFSET:
                set_word(head, a, word(head, a) + 4)
            elif op == ops.FILL8:
                set_word(head, a, word(head, a) + 8)
            elif op == ops.FILL16:
                set_word(head, a, word(head, a) + 16)
            elif op == ops.LIST or op == ops.DELIMITED or op == ops.BLOCK or op == ops.MASKED_LIST:
                h = word(head, a)
                n = get_4(mem, h + 4) - get_4(mem, h)
                set_word(head, a, h + 4)
                if depth >= ops.STACK:
                    reason = ops.DEEP
                    break
                frame = depth * _F
                if op == ops.LIST:
                    store_i4(out, at, n)
                    at += 4
                elif op == ops.BLOCK:
                    at = put_varint(out, at, n)
                elif op == ops.MASKED_LIST:
                    need = _ROOM + (n >> 3)
                    if at + need > size_of_out:
                        reason = ops.OVERFLOW
                        break
                    store_i4(out, at, n)
                    at += 4
                    set_word(stack, frame + BASE, at)
                    set_word(stack, frame + INDEX, np.int64(0))
                    for _ in range((n + 7) >> 3):
                        put_1(out, at, np.int64(0))
                        at += 1
                if n == 0:
                    pc = b
                else:
                    set_word(stack, frame + LEFT, n)
                    set_word(stack, frame + LOOP, pc)
                    depth += 1
            elif op == ops.NEXT or op == ops.DELIMITED_NEXT or op == ops.BLOCK_NEXT:
                frame = (depth - 1) * _F
                left = word(stack, frame + LEFT) - 1
                set_word(stack, frame + INDEX, word(stack, frame + INDEX) + 1)
                if left > 0:
                    set_word(stack, frame + LEFT, left)
                    if op == ops.DELIMITED_NEXT and a == 0:
                        put_1(out, at, np.int64(0x2C))
                        at += 1
                    pc = word(stack, frame + LOOP)
                else:
                    depth -= 1
                    if op == ops.BLOCK_NEXT:
                        put_1(out, at, np.int64(0))
                        at += 1
            elif op == ops.MASK:
                need = a + _ROOM
                if at + need > size_of_out:
                    reason = ops.OVERFLOW
                    break
                if depth >= ops.STACK:
                    reason = ops.DEEP
                    break
                set_word(stack, depth * _F + BASE, at)
                depth += 1
                for _ in range(a):
                    put_1(out, at, np.int64(0))
                    at += 1
            elif op == ops.MASK_BIT or op == ops.LIST_BIT or op == ops.B_BIT or op == ops.B_ELEMENT_BIT:
                frame = (depth - 1) * _F
                start = word(stack, frame + BASE)
                bit = word(code, where + 3)
                if op == ops.LIST_BIT:
                    bit = word(stack, frame + INDEX)
                if op == ops.B_BIT:
                    set_word(stack, frame + CURRENT, word(stack, frame + START) + (bit << 3))
                    bit += 8
                elif op == ops.B_ELEMENT_BIT:
                    start += 4
                    bit = word(stack, frame + INDEX)
                h = word(head, a)
                if get_1(mem, h):
                    if word(code, where + 4):
                        set_word(head, a, h + 1)
                else:
                    shift = bit & 7
                    if op == ops.MASK_BIT or op == ops.LIST_BIT:
                        shift = 7 - shift
                    byte = start + (bit >> 3)
                    put_1(out, byte, get_1(out, byte) | np.int64(1) << shift)
                    pc = b
            elif op == ops.ROW_KIND:
                h = word(head, a)
                kind = get_1(mem, h)
                set_word(head, a, h + 1)
                byte = word(stack, (depth - 1) * _F + BASE)
                put_1(out, byte, get_1(out, byte) | (kind & 1) << 7 | (kind >> 1 & 1) << 6)
            elif op == ops.UNMASK:
                depth -= 1
            elif op == ops.BRANCH:
                h = word(head, a)
                null_branch = word(code, where + 3)
                if get_1(mem, h):
                    store_i4(out, at, 1 - null_branch)
                    if word(code, where + 4):
                        set_word(head, a, h + 1)
                else:
                    store_i4(out, at, null_branch)
                    pc = b
                at += 4
            elif op == ops.SWITCH:
                h = word(head, a)
                case = get_1(mem, h)
                set_word(head, a, h + 1)
                entry = where + 8 * (case + 1)
                if word(code, where + 3) == 1:
                    put_1(out, at, word(code, entry + 2))
                    at += 1
                else:
                    store_i4(out, at, word(code, entry + 2))
                    at += 4
                pc = word(code, entry + 1)
            elif op == ops.CONST:
                need = a + _ROOM
                if at + need > size_of_out:
                    reason = ops.OVERFLOW
                    break
                for _ in range(a):
                    put_1(out, at, np.int64(0))
                    at += 1
            elif op == ops.EXPECT:
                put_1(out, at, a)
                at += 1
            elif op == ops.FRAME:
                if depth >= ops.STACK:
                    reason = ops.DEEP
                    break
                set_word(stack, depth * _F + BASE, at)
                depth += 1
                at += 4
            elif op == ops.UNFRAME:
                depth -= 1
                start = word(stack, depth * _F + BASE)
                store_i4(out, start, at - start - 4)
            elif op == ops.B_FRAME:
                if depth >= ops.STACK:
                    reason = ops.DEEP
                    break
                set_word(stack, depth * _F + BASE, at)
                depth += 1
            elif op == ops.B_UNFRAME:
                depth -= 1
                at = put_slot(out, stack, depth, at, word(stack, depth * _F + BASE))
            elif op == ops.B_ROW:
                header = (a + 8 + 63) >> 6 << 3
                total = header + (a << 3)
                need = total + _ROOM
                if at + need > size_of_out:
                    reason = ops.OVERFLOW
                    break
                if depth >= ops.STACK:
                    reason = ops.DEEP
                    break
                nested = word(code, where + 3)
                if nested == 0:
                    at += 4
                for k in range(0, total, 8):
                    put_8(out, at + k, np.int64(0))
                h = word(head, b)
                put_1(out, at, get_1(mem, h))
                set_word(head, b, h + 1)
                frame = depth * _F
                set_word(stack, frame + BASE, at)
                set_word(stack, frame + START, at + header)
                set_word(stack, frame + KIND, np.int64(NESTED if nested else ALONE))
                depth += 1
                at += total
            elif op == ops.B_8 or op == ops.B_4 or op == ops.B_2 or op == ops.B_1:
                current = word(stack, (depth - 1) * _F + CURRENT)
                if op == ops.B_8:
                    put_8(out, current, get_8(mem, advance(head, a, 8)))
                elif op == ops.B_4:
                    put_4(out, current, get_4(mem, advance(head, a, 4)))
                elif op == ops.B_2:
                    put_2(out, current, get_2(mem, advance(head, a, 2)))
                else:
                    put_1(out, current, get_1(mem, advance(head, a, 1)))
            elif op == ops.BLOB or op == ops.B_BYTES:
                p = give_bytes(op, code, where, out, at, size_of_out, mem, head, base, stack, depth)
                if p < 0:
                    reason = -p
                    break
                at = p
            elif op == ops.B_ARRAY:
                h = word(head, a)
                n = get_4(mem, h + 4) - get_4(mem, h)
                size = word(code, where + 3)
                need = n * size + (n >> 3) + 2 * _ROOM
                if at + need > size_of_out:
                    reason = ops.OVERFLOW
                    break
                if depth >= ops.STACK:
                    reason = ops.DEEP
                    break
                set_word(head, a, h + 4)
                kind = np.int64(NESTED)
                if word(code, where + 4) == 0:
                    kind = np.int64(ALONE)
                    at += 4
                at = start_elements(out, at, stack, depth, n, size, kind)
                depth += 1
                if n == 0:
                    at = finish_value(out, stack, depth, at)
                    depth -= 1
                    pc = b
                else:
                    set_word(stack, (depth - 1) * _F + LOOP, pc)
            elif op == ops.B_MAP:
                if depth + 1 >= ops.STACK:
                    reason = ops.DEEP
                    break
                h = word(head, a)
                frame = depth * _F
                set_word(stack, frame + LEFT, get_4(mem, h + 4) - get_4(mem, h))
                set_word(head, a, h + 4)
                nested = word(code, where + 4)
                if nested == 0:
                    at += 4
                set_word(stack, frame + BASE, at)
                set_word(stack, frame + KIND, np.int64(NESTED if nested else ALONE))
                depth += 1
                at += 4
            elif op == ops.B_MAP_KEYS or op == ops.B_MAP_VALUES:
                n = word(stack, (depth - 1) * _F + LEFT)
                need = n * b + (n >> 3) + 2 * _ROOM
                if at + need > size_of_out:
                    reason = ops.OVERFLOW
                    break
                kind = np.int64(KEYS if op == ops.B_MAP_KEYS else VALUES)
                at = start_elements(out, at, stack, depth, n, b, kind)
                depth += 1
                if n == 0:
                    at = finish_value(out, stack, depth, at)
                    depth -= 1
                    pc = a
                else:
                    set_word(stack, (depth - 1) * _F + LOOP, pc)
            elif op == ops.B_ARRAY_NEXT:
                frame = (depth - 1) * _F
                left = word(stack, frame + LEFT) - 1
                if left > 0:
                    set_word(stack, frame + LEFT, left)
                    set_word(stack, frame + INDEX, word(stack, frame + INDEX) + 1)
                    set_word(stack, frame + CURRENT, word(stack, frame + CURRENT) + a)
                    pc = word(stack, frame + LOOP)
                else:
                    at = finish_value(out, stack, depth, at)
                    depth -= 1
            elif op == ops.B_END:
                at = finish_value(out, stack, depth, at)
                depth -= 1
            else:
                p = give_value(op, code, where, out, at, size_of_out, mem, head, base, stack, depth)
                if p < 0:
                    reason = -p
                    break
                at = p
        if reason != ops.OK:
            break
        row += 1
        offsets[row] = at
    failure[0] = reason
    failure[1] = row
    failure[2] = need
