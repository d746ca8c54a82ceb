# mypy: ignore-errors
"""The class before an object, by number or by name, both ways; of a name that stood before only which one it was."""

from __future__ import annotations

import numpy as np
from numba import njit

from . import kryo_ops as k
from .kernel_options import PART_OF_KERNEL
from .kryo_number_kernels import put, put_units
from .memory import word
from .ops import BAD_KRYO, KRYO_SHAPE, SHORT
from .text_kernels import take_varint

_BAD = np.int64(-KRYO_SHAPE)
_UNKNOWN = np.int64(-BAD_KRYO)
_SHORT = np.int64(-SHORT)


@njit(**PART_OF_KERNEL)
def _named(code, pool, first, n, buf, pos, end):
    """The alternative whose name stands at ``pos``, or -1."""
    for i in range(n):
        at = (first + i) << 3
        start, length = word(code, at + 2), word(code, at + 3)
        if pos + length <= end:
            same = length > 0
            for j in range(length):
                same = same and pool[start + j] == buf[pos + j]
            if same:
                return np.int64(i)
    return np.int64(-1)


@njit(**PART_OF_KERNEL)
def take_class(code, pool, first, n, buf, pos, end, state):
    """(next position or minus a reason, alternative): -1 is null."""
    place = pos
    tag, pos = take_varint(buf, pos, end)
    if pos < 0:
        return _SHORT, np.int64(0)
    if tag == 0:
        return pos, np.int64(-1)
    number = np.int64(-1)
    if tag == 1:
        seen = state[k.NAMES]
        number, pos = take_varint(buf, pos, end)
        if pos < 0:
            return _SHORT, np.int64(0)
        if number == seen and seen < k.MOST_NAMES:
            i = _named(code, pool, first, n, buf, pos, end)
            if i < 0:
                state[k.PLACE] = place
                return _UNKNOWN, i
            at = (first + i) << 3
            state[k.CLASSES_AT + seen] = word(code, at + 4)
            state[k.NAMES] = seen + 1
            return pos + word(code, at + 3), i
        if number >= seen:
            return _BAD, np.int64(0)
        number = state[k.CLASSES_AT + number]
    for i in range(n):
        at = (first + i) << 3
        if word(code, at + 1) == tag if tag > 1 else word(code, at + 4) == number:
            return pos, np.int64(i)
    if tag > 1:
        state[k.PLACE] = place
    return _UNKNOWN, np.int64(0)


@njit(**PART_OF_KERNEL)
def give_class(code, pool, at, out, state):
    """The class of the alternative at word ``at``: its number, or its name when it comes first."""
    tag = word(code, at + 1)
    if tag > 0:
        return put_units(out, state, tag)
    number = word(code, at + 4)
    if not put(out, state, np.int64(1), 1):
        return False
    if state[k.OUT] < 0:
        return True
    known = k.NAMES_AT + number
    if state[known] >= 0:
        return put_units(out, state, state[known])
    state[known] = state[k.NAMES]
    state[k.NAMES] += 1
    done = put_units(out, state, state[known])
    for i in range(word(code, at + 3)):
        done = done and put(out, state, np.int64(pool[word(code, at + 2) + i]), 1)
    return done
