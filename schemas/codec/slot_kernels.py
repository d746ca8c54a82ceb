# mypy: ignore-errors
"""Growing slots: claim room for an element, or append one."""

from __future__ import annotations

import numpy as np
from numba import njit

from .kernel_options import PART_OF_KERNEL
from .memory import get_4, put_1, put_2, put_4, put_8, set_word, word


@njit(**PART_OF_KERNEL)
def claim(head, limit, slot, size):
    """The address of a new element of ``size`` bytes, or -1 where the slot is full."""
    at = word(head, slot)
    if at >= word(limit, slot):
        return np.int64(-1)
    set_word(head, slot, at + size)
    return at


@njit(**PART_OF_KERNEL)
def push_1(mem, head, limit, slot, value):
    """Append a byte; False where the slot is full. As all of these."""
    at = claim(head, limit, slot, 1)
    if at < 0:
        return False
    put_1(mem, at, value)
    return True


@njit(**PART_OF_KERNEL)
def push_2(mem, head, limit, slot, value):
    at = claim(head, limit, slot, 2)
    if at < 0:
        return False
    put_2(mem, at, value)
    return True


@njit(**PART_OF_KERNEL)
def push_4(mem, head, limit, slot, value):
    at = claim(head, limit, slot, 4)
    if at < 0:
        return False
    put_4(mem, at, value)
    return True


@njit(**PART_OF_KERNEL)
def push_8(mem, head, limit, slot, value):
    at = claim(head, limit, slot, 8)
    if at < 0:
        return False
    put_8(mem, at, value)
    return True


@njit(**PART_OF_KERNEL)
def push_length(mem, head, limit, slot, n):
    """Append an offset that is ``n`` behind the last one."""
    at = word(head, slot)
    if at + 4 >= word(limit, slot):
        return False
    put_4(mem, at + 4, get_4(mem, at) + n)
    set_word(head, slot, at + 4)
    return True


@njit(**PART_OF_KERNEL)
def advance(head, slot, size):
    """The address of the next element to read, of ``size`` bytes."""
    at = word(head, slot)
    set_word(head, slot, at + size)
    return at
