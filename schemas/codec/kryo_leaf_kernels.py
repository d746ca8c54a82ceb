# mypy: ignore-errors
"""Bodies of Kryo's objects that hold no other object, both ways: numbers here, and where the others are read.

All answer the next position, or minus the reason.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from . import kryo_ops as k
from .kernel_options import PART_OF_KERNEL
from .kryo_array_kernels import give_array, give_big, give_bit_set, take_array, take_big, take_bit_set
from .kryo_jdk_kernels import give_jdk, take_jdk
from .kryo_number_kernels import put, put_fixed, put_long, put_units, swapped, unzigzag, varlong, zigzag
from .kryo_text_kernels import give_string, give_uuid, take_string, take_uuid
from .kryo_time_kernels import (
    give_date,
    give_date_time,
    give_moment,
    give_time,
    take_date,
    take_date_time,
    take_moment,
    take_time,
)
from .memory import get_1
from .ops import OVERFLOW, SHORT

_SHORT = np.int64(-SHORT)
_FULL = np.int64(-OVERFLOW)


@njit(**PART_OF_KERNEL)
def take_leaf(kind, five, buf, pos, end, out, state):
    """A body that holds no other object. The next position, or minus the reason."""
    if kind == k.INT or kind == k.LONG:
        value, pos = varlong(buf, pos, end)
        if pos < 0:
            return _SHORT
        if kind == k.INT:
            value &= 0xFFFFFFFF
        return pos if put(out, state, unzigzag(value), 4 if kind == k.INT else 8) else _FULL
    if kind <= k.DOUBLE:
        n = np.int64(1)
        if kind == k.SHORT:
            n = np.int64(2)
        elif kind == k.FLOAT:
            n = np.int64(4)
        elif kind == k.DOUBLE:
            n = np.int64(8)
        if pos + n > end:
            return _SHORT
        return pos + n if put(out, state, swapped(buf, pos, n, five), n) else _FULL
    if kind == k.LOCAL_DATE_TIME or kind == k.OFFSET_DATE_TIME or kind == k.ZONED_DATE_TIME:
        pos = take_date_time(five, buf, pos, end, out, state)
        if pos < 0 or kind == k.LOCAL_DATE_TIME:
            return pos
        kind = np.int64(k.ZONE_OFFSET if kind == k.OFFSET_DATE_TIME else k.STRING)
    if kind == k.STRING or kind == k.LOCALE:
        for _ in range(3 if kind == k.LOCALE else 1):
            if pos >= 0:
                pos = take_string(buf, pos, end, out, state)
        return pos
    if kind <= k.EIGHTS:
        return take_array(kind, five, buf, pos, end, out, state)
    if kind == k.UUID:
        return take_uuid(five, buf, pos, end, out, state)
    if kind == k.BIT_SET:
        return take_bit_set(five, buf, pos, end, out, state)
    if kind <= k.BIG_DECIMAL:
        return take_big(kind, buf, pos, end, out, state)
    if kind <= k.DURATION:
        return take_moment(kind, five, buf, pos, end, out, state)
    if kind == k.LOCAL_DATE:
        return take_date(five, buf, pos, end, out, state)
    if kind == k.LOCAL_TIME:
        return take_time(five, buf, pos, end, out, state)
    return take_jdk(kind, five, buf, pos, end, out, state)


@njit(**PART_OF_KERNEL)
def give_leaf(kind, five, plain, pos, end, out, state):
    if kind <= k.DOUBLE:
        n = np.int64(1)
        if kind == k.SHORT:
            n = np.int64(2)
        elif kind == k.FLOAT or kind == k.INT:
            n = np.int64(4)
        elif kind == k.DOUBLE or kind == k.LONG:
            n = np.int64(8)
        value = np.int64(0)
        for i in range(n):
            value = value << 8 | get_1(plain, pos + i)
        if kind == k.INT:
            done = put_units(out, state, zigzag(value - ((value >> 31) << 32)))
        elif kind == k.LONG:
            done = put_long(out, state, zigzag(value))
        else:
            done = put_fixed(out, state, value, n, five)
        return pos + n if done else _FULL
    if kind == k.LOCAL_DATE_TIME or kind == k.OFFSET_DATE_TIME or kind == k.ZONED_DATE_TIME:
        pos = give_date_time(five, plain, pos, out, state)
        if pos < 0 or kind == k.LOCAL_DATE_TIME:
            return pos
        kind = np.int64(k.ZONE_OFFSET if kind == k.OFFSET_DATE_TIME else k.STRING)
    if kind == k.STRING or kind == k.LOCALE:
        for _ in range(3 if kind == k.LOCALE else 1):
            if pos >= 0:
                pos = give_string(five, plain, pos, end, out, state)
        return pos
    if kind <= k.EIGHTS:
        return give_array(kind, five, plain, pos, out, state)
    if kind == k.UUID:
        return give_uuid(five, plain, pos, out, state)
    if kind == k.BIT_SET:
        return give_bit_set(five, plain, pos, out, state)
    if kind <= k.BIG_DECIMAL:
        return give_big(kind, plain, pos, out, state)
    if kind <= k.DURATION:
        return give_moment(kind, five, plain, pos, out, state)
    if kind == k.LOCAL_DATE:
        return give_date(five, plain, pos, out, state)
    if kind == k.LOCAL_TIME:
        return give_time(five, plain, pos, out, state)
    return give_jdk(kind, five, plain, pos, out, state)
