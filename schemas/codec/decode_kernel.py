# mypy: ignore-errors
"""The decoder: runs a program over each row's bytes and fills the slots. See :mod:`.ops` for the instructions.

Every read is checked against the row's end and every slot against its capacity; what breaks comes back as
(reason, row, position), never as a read or a write outside a buffer.
"""

from __future__ import annotations

import numpy as np
from numba import int64, types, uint8

from ..kernels import kernel
from . import ops
from .binary_kernels import (
    BASE,
    CURRENT,
    INDEX,
    LEFT,
    LOOP,
    START,
    STOP,
    find_bytes,
    open_elements,
    open_value,
)
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
    set_word,
    word,
)
from .slot_kernels import claim, push_1, push_2, push_4, push_8, push_length
from .take_kernels import take_bytes, take_value
from .text_kernels import take_text, take_varint

_MIN8 = np.int64(-0x8000000000000000)
_F = ops.FRAME_WORDS
_CLASS = ops.CLASS_AT
_ODD = np.int64(ops.ODD_TIME)

_read = types.Array(uint8, 1, "C", readonly=True)
_words = types.Array(int64, 1, "C", readonly=True)
_SIGNATURE = types.void(
    _words,
    _read,
    _read,
    _words,
    _words,
    int64,
    uint8[::1],
    int64[::1],
    _words,
    int64[::1],
    uint8[::1],
    int64[::1],
)


@kernel(_SIGNATURE, error_model="numpy", no_cfunc_wrapper=True)
def decode(code, pool, buf, starts, ends, lie, mem, head, limit, stops, reasons, failure):
    """Decode each row [starts[i], ends[i]) of ``buf``; the position behind it goes to stops[i].

    ``lie`` is PART, EXACT (the row ends where the program does) or CHAINED: ``stops.size`` values one behind
    the other from starts[0] to at most ends[0]. ``failure`` gets (reason, row, position). With SKIP a value that
    no column holds, with SKIP_ALL any that does not decode, leaves nothing in the slots: reasons[i] says why, and
    stops[i] is where the class is named that is not known, or else the position behind what was read. With STEP
    texts and times that no column holds are taken as anything.
    ``head`` is the address in ``mem`` of each slot's next element (of the last offset, in slots of offsets), and
    ``limit`` the address behind its last one.
    """
    stack = np.empty(ops.STACK * ops.FRAME_WORDS + 1, np.int64)
    row = 0
    pos = np.int64(0)
    reason = ops.OK
    end = np.int64(0)
    skip = lie & ops.SKIP_ALL
    step = lie & ops.STEP
    lie = lie & ops.PLACES
    odd = np.int64(ops.OK)
    before = head.copy()
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
            before[:] = head
        if pos < 0 or end > buf.size or pos > end:
            reason = ops.SHORT
            break
        while True:
            at = pc << 3
            op = word(code, at)
            a = word(code, at + 1)
            b = word(code, at + 2)
            pc += 1
            if op == ops.END:
                break
            if op == ops.I8 or op == ops.I8_FLIPPED:
                if pos + 8 > end:
                    reason = ops.SHORT
                    break
                value = load_i8(buf, pos)
                if not push_8(mem, head, limit, a, value if op == ops.I8 else value ^ _MIN8):
                    reason = ops.OVERFLOW
                    break
                pos += 8
            elif op == ops.I4:
                if pos + 4 > end:
                    reason = ops.SHORT
                    break
                if not push_4(mem, head, limit, a, load_i4(buf, pos)):
                    reason = ops.OVERFLOW
                    break
                pos += 4
            elif op == ops.I1 or op == ops.BOOL:
                if pos >= end:
                    reason = ops.SHORT
                    break
                value = get_1(buf, pos)
                if not push_1(mem, head, limit, a, value if op == ops.I1 else np.int64(value != 0)):
                    reason = ops.OVERFLOW
                    break
                pos += 1
            elif op == ops.I2:
                if pos + 2 > end:
                    reason = ops.SHORT
                    break
                if not push_2(mem, head, limit, a, load_i2(buf, pos)):
                    reason = ops.OVERFLOW
                    break
                pos += 2
            elif op == ops.F_I8 or op == ops.F_I4 or op == ops.F_I2 or op == ops.F_I1 or op == ops.F_BOOL:
                size = np.int64(8 if op == ops.F_I8 else 4 if op == ops.F_I4 else 2 if op == ops.F_I2 else 1)
                if pos >= end:
                    reason = ops.SHORT
                    break
                flag = get_1(buf, pos)
                if flag > 1:
                    reason = ops.BAD_FLAG
                    break
                pos += 1
                value = np.int64(0)
                present = flag != word(code, at + 3)
                if present:
                    if pos + size > end:
                        reason = ops.SHORT
                        break
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
                h = claim(head, limit, a, size)
                if h < 0 or not push_1(mem, head, limit, b, np.int64(present)):
                    reason = ops.OVERFLOW
                    break
                if op == ops.F_I8:
                    put_8(mem, h, value)
                elif op == ops.F_I4:
                    put_4(mem, h, value)
                elif op == ops.F_I2:
                    put_2(mem, h, value)
                else:
                    put_1(mem, h, value)
            elif op == ops.STR or op == ops.F_STR or op == ops.STR_VALUE:
                n = np.int64(0)
                if op == ops.F_STR:
                    if pos >= end:
                        reason = ops.SHORT
                        break
                    flag = get_1(buf, pos)
                    if flag > 1:
                        reason = ops.BAD_FLAG
                        break
                    pos += 1
                    n = np.int64(-1 if flag == word(code, at + 4) else 0)
                if n == 0:
                    if pos >= end:
                        reason = ops.SHORT
                        break
                    n = get_1(buf, pos)
                    pos += 1
                    if n >= 0x80:
                        n, pos = take_varint(buf, pos - 1, end)
                        if pos < 0:
                            pos = end
                            reason = ops.SHORT
                            break
                    if op == ops.STR_VALUE:
                        n += 1
                full = op != ops.STR_VALUE and not push_1(
                    mem, head, limit, word(code, at + 3), np.int64(n > 0)
                )
                d = word(head, b)
                after = d
                if n > 1:
                    p, after = take_text(buf, pos, end, n - 1, mem, d, word(limit, b) - d)
                    if p < 0:
                        reason = after
                        break
                    if p >= _ODD:
                        p -= ops.ODD_TEXT
                        odd = np.int64(ops.NO_TEXT) if odd == ops.OK else odd
                        if skip == 0 and step == 0:
                            reason = odd
                            break
                    pos = p
                    set_word(head, b, after)
                if full or not push_length(mem, head, limit, a, after - d):
                    reason = ops.OVERFLOW
                    break
            elif op == ops.FLAG:
                if pos >= end:
                    reason = ops.SHORT
                    break
                flag = get_1(buf, pos)
                if flag > 1:
                    reason = ops.BAD_FLAG
                    break
                pos += 1
                if flag == word(code, at + 3):
                    pc = b
                elif word(code, at + 4):
                    if not push_1(mem, head, limit, a, np.int64(1)):
                        reason = ops.OVERFLOW
                        break
            elif op == ops.POJO:
                if pos >= end:
                    reason = ops.SHORT
                    break
                flag = get_1(buf, pos)
                pos += 1
                if flag == 1:
                    pc = b
                    continue
                cases = word(code, at + 3)
                case = np.int64(-1)
                named = pos
                if flag == 4 and pos + 2 <= end:
                    n = (get_1(buf, pos) << 8 | get_1(buf, pos + 1)) + 2
                    if n > end - pos:
                        reason = ops.SHORT
                        break
                    for k in range(cases):
                        entry = at + 8 * (k + 1)
                        if word(code, entry + 2) < 0 and word(code, entry + 4) == n:
                            start = word(code, entry + 3)
                            same = True
                            for i in range(n):
                                same = same and pool[start + i] == buf[pos + i]
                            if same:
                                case = np.int64(k)
                    pos += n
                elif flag == 8 and pos < end:
                    tag = get_1(buf, pos)
                    for k in range(cases):
                        if word(code, at + 8 * (k + 1) + 2) == tag:
                            case = np.int64(k)
                    pos += 1
                elif flag != 2:
                    reason = ops.SHORT if flag == 4 or flag == 8 else ops.BAD_FLAG
                    break
                if flag != 2 and case < 0:
                    pos = named
                    reason = ops.SUBCLASS
                    break
                if not push_1(mem, head, limit, a, np.int64(1)):
                    reason = ops.OVERFLOW
                    break
                if cases:
                    number = case if case >= 0 else np.int64(0)
                    full = not push_4(mem, head, limit, word(code, at + 4), number)
                    if full or not push_1(mem, head, limit, word(code, at + 5), np.int64(case >= 0)):
                        reason = ops.OVERFLOW
                        break
                    pc = word(code, at + 8 * (case + 1) + 1) if case >= 0 else pc + cases
            elif op == ops.JUMP:
                pc = a
            elif op == ops.PRESENT:
                if not push_1(mem, head, limit, a, np.int64(1)):
                    reason = ops.OVERFLOW
                    break
            elif op == ops.MARK:
                if not push_8(mem, head, limit, a, pos):
                    reason = ops.OVERFLOW
                    break
            elif op == ops.FILL1:
                if not push_1(mem, head, limit, a, np.int64(0)):
                    reason = ops.OVERFLOW
                    break
            elif op == ops.FILL2:
                if not push_2(mem, head, limit, a, np.int64(0)):
                    reason = ops.OVERFLOW
                    break
            elif op == ops.FILL4:
                if not push_4(mem, head, limit, a, np.int64(0)):
                    reason = ops.OVERFLOW
                    break
            elif op == ops.FILL8:
                if not push_8(mem, head, limit, a, np.int64(0)):
                    reason = ops.OVERFLOW
                    break
            elif op == ops.FILL16:
                h = claim(head, limit, a, 16)
                if h < 0:
                    reason = ops.OVERFLOW
                    break
                put_8(mem, h, np.int64(0))
                put_8(mem, h + 8, np.int64(0))
            elif op == ops.FILL_OFFSET:
                if not push_length(mem, head, limit, a, np.int64(0)):
                    reason = ops.OVERFLOW
                    break
            elif op == ops.LIST or op == ops.BLOCK or op == ops.MASKED_LIST:
                if depth >= ops.STACK:
                    reason = ops.DEEP
                    break
                frame = depth * _F
                if op == ops.BLOCK:
                    n, p = take_varint(buf, pos, end)
                    if p < 0:
                        reason = ops.SHORT
                        break
                    pos = p
                elif pos + 4 > end:
                    reason = ops.SHORT
                    break
                else:
                    n = load_i4(buf, pos)
                    pos += 4
                if op == ops.MASKED_LIST:
                    if n < 0 or (n + 7) >> 3 > end - pos:
                        reason = ops.BAD_LENGTH
                        break
                    set_word(stack, frame + BASE, pos)
                    set_word(stack, frame + INDEX, np.int64(0))
                    pos += (n + 7) >> 3
                else:
                    # Elements of no bytes are bounded too, or a few bytes could ask for billions of them.
                    least = word(code, at + 3)
                    if n < 0 or n * least > end - pos or n > end - pos + 65536:
                        reason = ops.BAD_LENGTH
                        break
                if not push_length(mem, head, limit, a, n):
                    reason = ops.OVERFLOW
                    break
                if n == 0:
                    pc = b
                else:
                    set_word(stack, frame + LEFT, n)
                    set_word(stack, frame + LOOP, pc)
                    depth += 1
            elif op == ops.NEXT or op == ops.BLOCK_NEXT:
                frame = (depth - 1) * _F
                left = word(stack, frame + LEFT) - 1
                set_word(stack, frame + INDEX, word(stack, frame + INDEX) + 1)
                if left > 0:
                    set_word(stack, frame + LEFT, left)
                    pc = word(stack, frame + LOOP)
                else:
                    depth -= 1
                    if op == ops.BLOCK_NEXT:
                        if pos >= end:
                            reason = ops.SHORT
                            break
                        if get_1(buf, pos) != 0:
                            reason = ops.BAD_LENGTH
                            break
                        pos += 1
            elif op == ops.DELIMITED:
                if depth >= ops.STACK:
                    reason = ops.DEEP
                    break
                if not push_length(mem, head, limit, a, np.int64(pos != end)):
                    reason = ops.OVERFLOW
                    break
                if pos == end:
                    pc = b
                else:
                    set_word(stack, depth * _F + START, a)
                    set_word(stack, depth * _F + LOOP, pc)
                    set_word(stack, depth * _F + INDEX, pos)
                    depth += 1
            elif op == ops.DELIMITED_NEXT:
                frame = (depth - 1) * _F
                if pos == end:
                    depth -= 1
                elif a == 0 and get_1(buf, pos) != 0x2C:
                    reason = ops.BAD_SEPARATOR
                    break
                elif a == 0 and pos + 1 == end:
                    reason = ops.SHORT
                    break
                elif a and pos == word(
                    stack, frame + INDEX
                ):  # an element of no bytes: there is no end to them
                    reason = ops.BAD_LENGTH
                    break
                else:
                    pos += 1 - a
                    set_word(stack, frame + INDEX, pos)
                    h = word(head, word(stack, frame + START))
                    put_4(mem, h, get_4(mem, h) + 1)
                    pc = word(stack, frame + LOOP)
            elif op == ops.MASK:
                if a > end - pos:
                    reason = ops.SHORT
                    break
                if depth >= ops.STACK:
                    reason = ops.DEEP
                    break
                set_word(stack, depth * _F + BASE, pos)
                depth += 1
                pos += a
            elif op == ops.MASK_BIT or op == ops.LIST_BIT or op == ops.B_BIT or op == ops.B_ELEMENT_BIT:
                frame = (depth - 1) * _F
                base = word(stack, frame + BASE)
                bit = word(code, at + 3)
                if op == ops.LIST_BIT:
                    bit = word(stack, frame + INDEX)
                if op == ops.B_BIT:
                    set_word(stack, frame + CURRENT, word(stack, frame + START) + (bit << 3))
                    bit += 8
                elif op == ops.B_ELEMENT_BIT:
                    base += 4
                    bit = word(stack, frame + INDEX)
                byte = get_1(buf, base + (bit >> 3))
                if op == ops.MASK_BIT or op == ops.LIST_BIT:
                    null = byte >> (7 - (bit & 7)) & 1
                else:
                    null = byte >> (bit & 7) & 1
                if null:
                    pc = b
                elif word(code, at + 4):
                    if not push_1(mem, head, limit, a, np.int64(1)):
                        reason = ops.OVERFLOW
                        break
            elif op == ops.ROW_KIND:
                mask = get_1(buf, word(stack, (depth - 1) * _F + BASE))
                if not push_1(mem, head, limit, a, (mask >> 7 & 1) | (mask >> 6 & 1) << 1):
                    reason = ops.OVERFLOW
                    break
            elif op == ops.UNMASK or op == ops.B_END:
                depth -= 1
            elif op == ops.BRANCH:
                if pos + 4 > end:
                    reason = ops.SHORT
                    break
                flag = load_i4(buf, pos)
                if flag < 0 or flag > 1:
                    reason = ops.BAD_TAG
                    break
                pos += 4
                if flag == word(code, at + 3):
                    pc = b
                elif word(code, at + 4):
                    if not push_1(mem, head, limit, a, np.int64(1)):
                        reason = ops.OVERFLOW
                        break
            elif op == ops.SWITCH:
                size = word(code, at + 3)
                if pos + size > end:
                    reason = ops.SHORT
                    break
                tag = get_1(buf, pos) if size == 1 else load_i4(buf, pos)
                case = np.int64(-1)
                for k in range(b):
                    if word(code, at + 8 * (k + 1) + 2) == tag:
                        case = np.int64(k)
                if case < 0:
                    reason = ops.BAD_TAG
                    break
                if not push_1(mem, head, limit, a, case):
                    reason = ops.OVERFLOW
                    break
                pos += size
                pc = word(code, at + 8 * (case + 1) + 1)
            elif op == ops.CONST:
                if a > end - pos:
                    reason = ops.SHORT
                    break
                pos = pos + a if a != ops.TO_END else end
            elif op == ops.EXPECT:
                if pos >= end:
                    reason = ops.SHORT
                    break
                if get_1(buf, pos) != a:
                    reason = ops.BAD_FLAG
                    break
                pos += 1
            elif op == ops.ENUM:
                if pos + 4 > end:
                    reason = ops.SHORT
                    break
                n = load_i4(buf, pos)
                if n < 0 or n >= b:
                    reason = ops.BAD_ENUM
                    break
                if not push_4(mem, head, limit, a, n):
                    reason = ops.OVERFLOW
                    break
                pos += 4
            elif op == ops.FRAME:
                if pos + 4 > end:
                    reason = ops.SHORT
                    break
                n = load_i4(buf, pos)
                if n < 0 or n > end - pos - 4:
                    reason = ops.BAD_LENGTH
                    break
                if depth >= ops.STACK:
                    reason = ops.DEEP
                    break
                pos += 4
                set_word(stack, depth * _F + STOP, end)
                depth += 1
                end = pos + n
            elif op == ops.UNFRAME:
                if pos != end:
                    reason = ops.TRAILING
                    break
                depth -= 1
                end = word(stack, depth * _F + STOP)
            elif op == ops.B_FRAME:
                if depth >= ops.STACK:
                    reason = ops.DEEP
                    break
                p, n = find_bytes(buf, stack, depth, np.int64(0))
                if n < 0:
                    reason = ops.BAD_BINARY
                    break
                set_word(stack, depth * _F + START, pos)
                set_word(stack, depth * _F + STOP, end)
                depth += 1
                pos = p
                end = p + n
            elif op == ops.B_UNFRAME:
                if pos != end:
                    reason = ops.TRAILING
                    break
                depth -= 1
                pos = word(stack, depth * _F + START)
                end = word(stack, depth * _F + STOP)
            elif op == ops.B_ROW:
                if depth >= ops.STACK:
                    reason = ops.DEEP
                    break
                header = (a + 8 + 63) >> 6 << 3
                p = open_value(buf, pos, end, stack, depth, word(code, at + 3), header + (a << 3))
                if p < 0:
                    reason = -p
                    break
                pos = p
                frame = depth * _F
                base = word(stack, frame + BASE)
                set_word(stack, frame + START, base + header)
                depth += 1
                if not push_1(mem, head, limit, b, get_1(buf, base)):
                    reason = ops.OVERFLOW
                    break
            elif op == ops.B_8 or op == ops.B_4 or op == ops.B_2 or op == ops.B_1:
                current = word(stack, (depth - 1) * _F + CURRENT)
                if op == ops.B_8:
                    done = push_8(mem, head, limit, a, get_8(buf, current))
                elif op == ops.B_4:
                    done = push_4(mem, head, limit, a, get_4(buf, current))
                elif op == ops.B_2:
                    done = push_2(mem, head, limit, a, get_2(buf, current))
                else:
                    done = push_1(mem, head, limit, a, get_1(buf, current))
                if not done:
                    reason = ops.OVERFLOW
                    break
            elif op == ops.BLOB or op == ops.B_BYTES:
                p = take_bytes(op, code, at, pool, buf, pos, end, mem, head, limit, stack, depth)
                if p < 0:
                    reason = -p
                    break
                if p >= _ODD:
                    p -= ops.ODD_TEXT
                    odd = np.int64(ops.NO_TEXT) if odd == ops.OK else odd
                    if skip == 0 and step == 0:
                        reason = odd
                        break
                pos = p
            elif op == ops.B_ARRAY or op == ops.B_MAP:
                if depth + 1 >= ops.STACK:
                    reason = ops.DEEP
                    break
                p = open_value(buf, pos, end, stack, depth, word(code, at + 4), np.int64(4))
                if p < 0:
                    reason = -p
                    break
                pos = p
                frame = depth * _F
                if op == ops.B_ARRAY:
                    n = open_elements(buf, stack, depth, word(code, at + 3))
                    if n < 0:
                        reason = -n
                        break
                    if n == 0:
                        pc = b
                    else:
                        set_word(stack, frame + LOOP, pc)
                        depth += 1
                else:
                    base = word(stack, frame + BASE)
                    n = get_4(buf, base)
                    if n < 4 or n + 8 > word(stack, frame + STOP) - base:
                        reason = ops.BAD_BINARY
                        break
                    set_word(stack, frame + START, base + 4 + n)
                    n = get_4(buf, base + 4)
                    set_word(stack, frame + LEFT, n)
                    depth += 1
                if not push_length(mem, head, limit, a, n):
                    reason = ops.OVERFLOW
                    break
            elif op == ops.B_MAP_KEYS or op == ops.B_MAP_VALUES:
                below = (depth - 1) * _F
                frame = depth * _F
                middle = word(stack, below + START)
                if op == ops.B_MAP_KEYS:
                    set_word(stack, frame + BASE, word(stack, below + BASE) + 4)
                    set_word(stack, frame + STOP, middle)
                else:
                    set_word(stack, frame + BASE, middle)
                    set_word(stack, frame + STOP, word(stack, below + STOP))
                n = open_elements(buf, stack, depth, b)
                if n != word(stack, below + LEFT):
                    reason = ops.BAD_BINARY
                    break
                if n == 0:
                    pc = a
                else:
                    set_word(stack, frame + LOOP, pc)
                    depth += 1
            elif op == ops.B_ARRAY_NEXT:
                frame = (depth - 1) * _F
                left = word(stack, frame + LEFT) - 1
                if left > 0:
                    set_word(stack, frame + LEFT, left)
                    set_word(stack, frame + INDEX, word(stack, frame + INDEX) + 1)
                    set_word(stack, frame + CURRENT, word(stack, frame + CURRENT) + a)
                    pc = word(stack, frame + LOOP)
                else:
                    depth -= 1
            else:
                p = take_value(op, code, at, pool, buf, pos, end, mem, head, limit, stack, depth)
                if p < 0:
                    reason = -p
                    if reason >= ops.BAD_KRYO:
                        pos = word(stack, _CLASS)
                    break
                if p >= _ODD:
                    p -= ops.ODD_TIME
                    odd = np.int64(ops.FAR_TIME) if odd == ops.OK else odd
                    if skip == 0 and step == 0:
                        reason = odd
                        break
                pos = p
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
            head[:] = before
            reasons[row] = reason
            reason = ops.OK
    failure[0] = reason
    failure[1] = row
    failure[2] = pos
