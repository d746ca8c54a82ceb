# mypy: ignore-errors
"""Flink SQL's BinaryRow, BinaryArray and BinaryMap, decoded and encoded in place. Native byte order throughout.

A stack frame of a binary value: BASE its first byte, STOP the byte behind it, CURRENT the slot or element that is
read or written now, LEFT the elements to come and LOOP the instruction that starts their body, START the first
slot or element, INDEX the element, KIND how it ends.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .kernel_options import PART_OF_KERNEL
from .memory import get_1, get_4, get_8, load_i4, put_1, put_4, put_8, set_word, store_i4, word
from .ops import BAD_BINARY, BAD_LENGTH, FRAME_WORDS, SHORT

BASE, STOP, CURRENT, LEFT, LOOP, START, INDEX, KIND = range(8)
#: How a frame ends: alone behind an i4 size, in a slot of the frame below, as the keys or values of a map.
ALONE, NESTED, KEYS, VALUES = range(4)


@njit(**PART_OF_KERNEL)
def open_value(buf, pos, end, stack, depth, nested, least):
    """Make the frame at ``depth`` for a binary value of at least ``least`` bytes: the position behind the value, or
    minus a reason. Nested ones are found through the current slot of the frame below, and leave ``pos``."""
    if nested:
        below = (depth - 1) * FRAME_WORDS
        both = get_8(buf, word(stack, below + CURRENT))
        size = both & 0xFFFFFFFF
        base = word(stack, below + BASE) + (both >> 32)
        if both >> 32 < 0 or base + size > word(stack, below + STOP):
            return np.int64(-BAD_BINARY)
        after = pos
    else:
        if pos + 4 > end:
            return np.int64(-SHORT)
        size = load_i4(buf, pos)
        base = pos + 4
        if size < 0 or size > end - base:
            return np.int64(-BAD_LENGTH)
        after = base + size
    if size < least:
        return np.int64(-BAD_BINARY)
    frame = depth * FRAME_WORDS
    set_word(stack, frame + BASE, base)
    set_word(stack, frame + STOP, base + size)
    set_word(stack, frame + KIND, np.int64(nested))
    return after


@njit(**PART_OF_KERNEL)
def open_elements(buf, stack, depth, size):
    """Set the frame at ``depth``, whose BASE and STOP are set, to the first element of its array: the count, or
    minus a reason. ``size`` is the bytes of an element."""
    frame = depth * FRAME_WORDS
    base = word(stack, frame + BASE)
    room = word(stack, frame + STOP) - base
    n = get_4(buf, base)
    if n > room:
        return np.int64(-BAD_BINARY)
    start = 4 + ((n + 31) >> 5 << 2)
    if start + n * size > room:
        return np.int64(-BAD_BINARY)
    set_word(stack, frame + LEFT, n)
    set_word(stack, frame + START, base + start)
    set_word(stack, frame + CURRENT, base + start)
    set_word(stack, frame + INDEX, np.int64(0))
    return n


@njit(**PART_OF_KERNEL)
def find_bytes(buf, stack, depth, inline):
    """(position, length) of the bytes that the current slot holds or points at; the length is -1 if it is wrong."""
    frame = (depth - 1) * FRAME_WORDS
    current = word(stack, frame + CURRENT)
    mark = get_1(buf, current + 7)
    if inline and mark >= 0x80:
        n = mark & 0x7F
        return current, n if n <= 7 else np.int64(-1)
    both = get_8(buf, current)
    size = both & 0xFFFFFFFF
    base = word(stack, frame + BASE) + (both >> 32)
    if both >> 32 < 0 or base + size > word(stack, frame + STOP):
        return current, np.int64(-1)
    return base, size


@njit(**PART_OF_KERNEL)
def put_slot(out, stack, depth, at, start):
    """Point the current slot of the frame below ``depth`` at [start, at) and pad it to words: the next position."""
    frame = (depth - 1) * FRAME_WORDS
    offset = start - word(stack, frame + BASE)
    put_8(out, word(stack, frame + CURRENT), offset << 32 | (at - start))
    while (at - start) & 7:
        put_1(out, at, np.int64(0))
        at += 1
    return at


@njit(**PART_OF_KERNEL)
def start_elements(out, at, stack, depth, n, size, kind):
    """Write the count, null bits and zeroed elements of an array at ``at`` and make its frame: the next position."""
    frame = depth * FRAME_WORDS
    header = 4 + ((n + 31) >> 5 << 2)
    total = (header + n * size + 7) & ~np.int64(7)
    for k in range(0, total, 8):
        put_8(out, at + k, np.int64(0))
    put_4(out, at, n)
    set_word(stack, frame + BASE, at)
    set_word(stack, frame + START, at + header)
    set_word(stack, frame + CURRENT, at + header)
    set_word(stack, frame + INDEX, np.int64(0))
    set_word(stack, frame + LEFT, n)
    set_word(stack, frame + KIND, np.int64(kind))
    return at + total


@njit(**PART_OF_KERNEL)
def finish_value(out, stack, depth, at):
    """Close the topmost frame, whose value ends at ``at``: write its size where its KIND says; the next position."""
    frame = (depth - 1) * FRAME_WORDS
    base = word(stack, frame + BASE)
    kind = word(stack, frame + KIND)
    if kind == ALONE:
        store_i4(out, base - 4, at - base)
    elif kind == NESTED:
        at = put_slot(out, stack, depth - 1, at, base)
    elif kind == KEYS:
        put_4(out, base - 4, at - base)
    return at
