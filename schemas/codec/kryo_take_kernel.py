# mypy: ignore-errors
"""Kryo's bytes to plain bytes, by the rows of :mod:`.kryo_ops` (spec "serializers", section 4).

Every read is checked against the value's end and every write against the room in ``out``. What the shape does not
tell (another class, a reference to an object that holds others, a comparator) is no value of the shape: the reason
is BAD_KRYO or its kin, and the caller keeps the bytes.
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit, types, uint8

from ..kernels import kernel
from . import kryo_ops as k
from .kernel_options import KERNEL, MAKES_ARRAYS, PART_OF_KERNEL, READ, WORDS
from .kryo_class_kernels import take_class
from .kryo_leaf_kernels import take_leaf
from .kryo_number_kernels import flagged, put
from .kryo_walk_kernels import NO, NONE, WALK, parts_of
from .memory import get_1, set_word, word
from .ops import (
    BAD_KRYO,
    BAD_LENGTH,
    CLASS_AT,
    KRYO_COMPARATOR,
    KRYO_REFERENCE,
    KRYO_SHAPE,
    OK,
    OVERFLOW,
    SHORT,
)
from .text_kernels import take_varint

_BAD = np.int64(-KRYO_SHAPE)
_UNKNOWN = np.int64(-BAD_KRYO)
_SHARED = np.int64(-KRYO_REFERENCE)
_ORDERED = np.int64(-KRYO_COMPARATOR)
_SHORT = np.int64(-SHORT)
_FULL = np.int64(-OVERFLOW)
_MOST_EMPTY = 65536


@njit(**PART_OF_KERNEL)
def take_enum(constants, buf, pos, end, out, state):
    n, pos = take_varint(buf, pos, end)
    if pos < 0:
        return _SHORT
    if n < 1 or n > constants:
        return _BAD
    return pos if put(out, state, n - 1, 4) else _FULL


@njit(**PART_OF_KERNEL)
def _number_parts(state):
    """The date and the time in a LocalDateTime of Kryo 2 are objects of their own, that are not read twice."""
    for _ in range(2):
        number = state[k.REFS]
        if k.OBJECTS_AT + 2 * number + 1 < state.size:
            state[k.OBJECTS_AT + 2 * number + 1] = -1
        state[k.REFS] = number + 1


@kernel(WALK, **KERNEL)
def take(code, pool, row, forced, nulls, five, buf, pos, end, out, state):
    """What stands at the place ``row``: the next position, or minus the reason.

    ``forced`` is the alternative where the collection around has told the class (else -1), and ``nulls`` whether
    it may have null elements then.
    """
    at = row << 3
    mode, first, form = word(code, at + 1), word(code, at + 3), word(code, at + 4)
    alternative = forced if forced >= 0 else np.int64(0)
    if forced < 0 and mode == k.TAGGED:
        pos, alternative = take_class(code, pool, first, word(code, at + 2), buf, pos, end, state)
        if pos < 0:
            return pos
    null = alternative < 0
    or_null = (mode == k.KNOWN) if forced < 0 else nulls != 0
    at = (first + max(alternative, 0)) << 3
    body = word(code, at + 5) << 3
    kind = word(code, body)
    what = kind | word(code, at + 4) << 8
    meant = np.int64(-1)
    if not null and word(code, at + 6):
        reference, pos = take_varint(buf, pos, end)
        if pos < 0:
            return _SHORT
        if reference == 0:
            null = True
            if not or_null:
                return _BAD
        elif reference == 1:
            number = state[k.REFS]
            if k.OBJECTS_AT + 2 * number + 1 < state.size:
                state[k.OBJECTS_AT + 2 * number] = pos
                state[k.OBJECTS_AT + 2 * number + 1] = what
            state[k.REFS] = number + 1
        else:
            meant = reference - 2
            if meant >= state[k.REFS]:
                return _BAD
            if state[k.OUT] < 0:
                return pos
            meant = k.OBJECTS_AT + 2 * meant
            if meant + 1 >= state.size or kind > k.LAST_SHARED or state[meant + 1] != what:
                return _SHARED
    elif not null and or_null:
        if pos >= end:
            return _SHORT
        flag = get_1(buf, pos)
        pos += 1
        if flag > 1:
            return _BAD
        null = flag == 0
    if form & k.FLAGGED and not put(out, state, np.int64(null), 1):
        return _FULL
    if null:
        return pos if form & k.FLAGGED else _BAD
    if form & k.CHOICE and not put(out, state, alternative, 1):
        return _FULL
    if kind <= k.LAST_SHARED:
        start = state[meant] if meant >= 0 else pos
        if kind == k.ENUM:
            stop = take_enum(word(code, body + 1), buf, start, end, out, state)
        else:
            stop = take_leaf(kind, five, buf, start, end, out, state)
            if kind == k.LOCAL_DATE_TIME and not five and meant < 0:
                _number_parts(state)
        return pos if meant >= 0 and stop >= 0 else stop
    if kind == k.CLASS:
        for i in range(word(code, body + 1)):
            pos = take(code, pool, word(code, body + 2) + i, NONE, NO, five, buf, pos, end, out, state)
            if pos < 0:
                return pos
        return pos
    n = np.int64(0)
    flag = np.int64(0)
    inner, other, each, comparator = parts_of(code, body)
    if comparator and not five:
        if pos >= end:
            return _SHORT
        if get_1(buf, pos) != 0:
            state[k.PLACE] = pos
            return _ORDERED
        pos += 1
    if five and kind == k.COLLECTION:
        flag = get_1(buf, pos) & 0x80 if pos < end else np.int64(0)
        n, pos = flagged(buf, pos, end)
    else:
        n, pos = take_varint(buf, pos, end)
    if pos < 0:
        return _SHORT
    if five or kind == k.ARRAY:
        n -= 1
    if n < 0 or n > end - pos + _MOST_EMPTY:
        return np.int64(-BAD_LENGTH)
    if comparator and five:
        if pos >= end:
            return _SHORT
        if get_1(buf, pos) != 0:
            state[k.PLACE] = pos
            return _ORDERED
        pos += 1
    if not put(out, state, n, 4):
        return _FULL
    told = np.int64(-1)
    maybe = np.int64(0)
    if five and kind == k.COLLECTION and n > 0:
        at = inner << 3
        if word(code, at + 1) != k.TAGGED:
            told, maybe = np.int64(0), flag
        elif flag:
            pos, told = take_class(code, pool, word(code, at + 3), word(code, at + 2), buf, pos, end, state)
            if pos < 0:
                return pos
            if told < 0:
                for _ in range(n):
                    if not put(out, state, np.int64(1), 1):
                        return _FULL
                return pos
            if pos >= end:
                return _SHORT
            maybe = get_1(buf, pos)
            pos += 1
    for i in range(n * each):
        pos = take(code, pool, other if i & 1 else inner, told, maybe, five, buf, pos, end, out, state)
        if pos < 0:
            return pos
    return pos


@kernel(
    types.void(
        WORDS, READ, int64, int64, READ, WORDS, WORDS, uint8[::1], int64[::1], uint8[::1], int64, int64[::1]
    ),
    **KERNEL | MAKES_ARRAYS,
)
def take_rows(code, pool, row, five, buf, starts, ends, out, stops, reasons, objects, failure):
    """Each row [starts[i], ends[i]) of ``buf`` as plain bytes that end at stops[i] of ``out``; a row that is no value
    of the shape, to its last byte, has none, reasons[i] says why, and stops[i] is where in ``buf`` the class is named
    that does not fit, or -1. failure[0] is 1 where ``out`` is full.

    References to the first ``objects`` of a value are read; one to a later object is not.
    """
    state = np.zeros(k.OBJECTS_AT + 2 * objects, np.int64)
    done = np.int64(0)
    for i in range(starts.size):
        state[k.OUT], state[k.REFS], state[k.NAMES], state[k.PLACE] = done, 0, 0, k.NOWHERE
        pos = take(code, pool, row, NONE, NO, five, buf, starts[i], ends[i], out, state)
        if pos == _FULL:
            failure[0] = 1
            return
        if pos == ends[i]:
            done = state[k.OUT]
            stops[i], reasons[i] = done, OK
        else:
            stops[i] = state[k.PLACE]
            reasons[i] = -pos if pos <= _UNKNOWN else KRYO_SHAPE


@njit(**PART_OF_KERNEL | MAKES_ARRAYS)
def end_of_shape(code, pool, row, five, buf, pos, end, stack):
    """The position behind a value of a shape, or minus the reason; a class that does not fit is named where
    ``stack[CLASS_AT]`` says."""
    state = np.zeros(k.OBJECTS_AT, np.int64)
    state[k.OUT], state[k.PLACE] = k.DISCARD, k.NOWHERE
    pos = take(code, pool, row, NONE, NO, five, buf, pos, end, np.empty(0, np.uint8), state)
    set_word(stack, np.int64(CLASS_AT), state[k.PLACE])
    return pos
