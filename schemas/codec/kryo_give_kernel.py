# mypy: ignore-errors
"""Plain bytes to Kryo's bytes: the mirror of :mod:`.kryo_take_kernel`.

The plain bytes are the ordinary encoder's, so they are whole; what can be wrong is a null where Java has none and
the room in ``out``. Each object is written by itself, never as a reference to an earlier one; but enum constants,
which are there only once in Java (and which Kryo 5 does not number).
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit, types, uint8

from ..kernels import kernel
from . import kryo_ops as k
from .kernel_options import KERNEL, MAKES_ARRAYS, PART_OF_KERNEL, READ, WORDS
from .kryo_class_kernels import give_class
from .kryo_leaf_kernels import give_leaf
from .kryo_number_kernels import put, put_flagged, put_units
from .kryo_walk_kernels import NO, NONE, WALK, parts_of
from .memory import get_1, load_i4, word
from .ops import BAD_LENGTH, NULL, OVERFLOW

_FULL = np.int64(-OVERFLOW)


@njit(**PART_OF_KERNEL)
def _earlier(constant, state):
    """The number of an enum constant that was written before, else -1; it is there only once in Java."""
    n = state[k.ENUMS]
    for i in range(n):
        if state[k.CONSTANTS_AT + 2 * i] == constant:
            return state[k.CONSTANTS_AT + 2 * i + 1]
    if n < k.MOST_ENUMS:
        state[k.CONSTANTS_AT + 2 * n] = constant
        state[k.CONSTANTS_AT + 2 * n + 1] = state[k.REFS]
        state[k.ENUMS] = n + 1
    return np.int64(-1)


@kernel(WALK, **KERNEL)
def give(code, pool, row, forced, nulls, five, plain, pos, end, out, state):
    """Write what stands at the place ``row``: the next position in ``plain``, or minus the reason."""
    at = row << 3
    mode, first, form = word(code, at + 1), word(code, at + 3), word(code, at + 4)
    null = False
    alternative = np.int64(0)
    if form & k.FLAGGED:
        null = get_1(plain, pos) == 1
        pos += 1
    if not null and form & k.CHOICE:
        alternative = get_1(plain, pos)
        pos += 1
    at = (first + alternative) << 3
    referenced = word(code, at + 6) != 0
    body = word(code, at + 5) << 3
    kind = word(code, body)
    earlier = np.int64(-1)
    if referenced and not null:
        if kind == k.ENUM:
            earlier = _earlier(word(code, at + 4) << 32 | load_i4(plain, pos), state)
        if earlier < 0:
            state[k.REFS] += 1
    mark = np.int64(not null) if earlier < 0 else earlier + 2
    done = True
    if forced >= 0:
        if nulls or referenced:
            done = put_units(out, state, mark)
    elif mode == k.KNOWN:
        done = put_units(out, state, mark)
    elif mode == k.TAGGED:
        if null:
            done = put(out, state, np.int64(0), 1)
        else:
            done = give_class(code, pool, at, out, state)
            if referenced:
                done = done and put_units(out, state, mark)
    if not done:
        return _FULL
    if earlier >= 0:
        return pos + 4
    if null:
        return pos if mode != k.PRIMITIVE else np.int64(-NULL)
    if kind <= k.LAST_LEAF:
        if kind == k.LOCAL_DATE_TIME and not five:
            state[k.REFS] += 2  # its date and its time
        return give_leaf(kind, five, plain, pos, end, out, state)
    if kind == k.CLASS:
        for i in range(word(code, body + 1)):
            pos = give(code, pool, word(code, body + 2) + i, NONE, NO, five, plain, pos, end, out, state)
            if pos < 0:
                return pos
        return pos
    n = load_i4(plain, pos)
    pos += 4
    if kind == k.ENUM:
        return pos if put_units(out, state, n + 1) else _FULL
    inner, other, each, comparator = parts_of(code, body)
    told = np.int64(-1)
    maybe = np.int64(0)
    if five and kind == k.COLLECTION and n > 0:
        # The class, where all elements have the same one, comes once. So they are looked at before.
        kept = state[k.OUT]
        state[k.OUT] = k.DISCARD
        at = inner << 3
        form = word(code, at + 4)
        several = False
        probe = pos
        for _ in range(n):
            if form & k.FLAGGED and get_1(plain, probe) == 1:
                maybe = np.int64(1)
                probe += 1
                continue
            one = np.int64(0)
            if form & k.CHOICE:
                one = get_1(plain, probe + (form & k.FLAGGED))
            several = several or (told >= 0 and told != one)
            told = one
            probe = give(code, pool, inner, NONE, NO, five, plain, probe, end, out, state)
            if probe < 0:
                state[k.OUT] = kept
                return probe
        state[k.OUT] = kept
        tagged = word(code, at + 1) == k.TAGGED
        flag = np.int64(not several) if tagged else maybe
        done = put_flagged(out, state, n + 1, flag)
        if comparator:
            done = done and put(out, state, np.int64(0), 1)
        if tagged and told < 0:
            return pos + n if done and put(out, state, np.int64(0), 1) else _FULL
        if tagged and not several:
            done = done and give_class(code, pool, (word(code, at + 3) + told) << 3, out, state)
            done = done and put(out, state, maybe, 1)
        if several:
            told = np.int64(-1)
        elif not tagged:
            told = np.int64(0)
    else:
        if comparator and not five:
            done = put(out, state, np.int64(0), 1)
        more = np.int64(five or kind == k.ARRAY)
        done = done and put_units(out, state, n + more)
        if comparator and five:
            done = done and put(out, state, np.int64(0), 1)
    if not done:
        return _FULL
    for i in range(n * each):
        pos = give(code, pool, other if i & 1 else inner, told, maybe, five, plain, pos, end, out, state)
        if pos < 0:
            return pos
    return pos


@kernel(
    types.void(WORDS, READ, int64, int64, READ, WORDS, uint8[::1], int64[::1], int64, int64[::1]),
    **KERNEL | MAKES_ARRAYS,
)
def give_rows(code, pool, row, five, plain, offsets, out, stops, classes, failure):
    """Each row of plain bytes as Kryo's, which end at stops[i] of ``out``. ``classes`` is how many a shape names.

    failure gets (reason, row) where a row cannot be written, or OVERFLOW.
    """
    state = np.zeros(k.NAMES_AT + classes, np.int64)
    for i in range(offsets.size - 1):
        state[k.NAMES], state[k.REFS], state[k.ENUMS] = 0, 0, 0
        state[k.NAMES_AT :] = -1
        pos = give(code, pool, row, NONE, NO, five, plain, offsets[i], offsets[i + 1], out, state)
        if pos != offsets[i + 1]:
            failure[0] = -pos if pos < 0 else BAD_LENGTH
            failure[1] = i
            return
        stops[i] = state[k.OUT]
