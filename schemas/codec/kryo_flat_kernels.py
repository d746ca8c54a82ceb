# mypy: ignore-errors
"""Where the body of a Kryo object ends that holds no object but strings: its parts, one behind the other."""

from __future__ import annotations

import numpy as np
from numba import njit

from .kernel_options import PART_OF_KERNEL
from .kryo_classes import (
    CALENDAR,
    LAST_BODY,
    LOCALE,
    NUMBER,
    OFFSET_DATE_TIME,
    OFFSET_TIME,
    OPTIONAL_DOUBLE,
    OPTIONAL_INT,
    OPTIONAL_LONG,
    THREE_NUMBERS,
    TWO_NUMBERS,
    URL,
    ZONE_OFFSET,
    ZONE_REGION,
    ZONED_DATE_TIME,
)
from .kryo_number_kernels import flagged, varlong
from .memory import get_1, load_i2
from .text_kernels import take_varint

# A varint; 1, 4, 8 bytes; a string; one behind its mark, or the number of an earlier one; a date, a time, an offset of
# Kryo 5's; whether there is anything behind.
_VARINT, _ONE, _FOUR, _EIGHT, _STRING, _MARKED, _DATE, _TIME, _OFFSET, _PRESENT = range(1, 11)
_MOST_PARTS = 7
_PARTS: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {
    LOCALE: ((), (_STRING,) * 3),
    NUMBER: ((_VARINT,), (_VARINT,)),
    TWO_NUMBERS: ((_VARINT,) * 2, (_VARINT,) * 2),
    THREE_NUMBERS: ((_VARINT,) * 3, (_VARINT,) * 3),
    OPTIONAL_INT: ((_ONE, _VARINT), (_PRESENT, _FOUR)),
    OPTIONAL_LONG: ((_ONE, _VARINT), (_PRESENT, _EIGHT)),
    OPTIONAL_DOUBLE: ((_ONE, _EIGHT), (_PRESENT, _EIGHT)),
    ZONE_OFFSET: ((_VARINT,), (_OFFSET,)),
    ZONE_REGION: ((_MARKED,), (_STRING,)),
    OFFSET_TIME: ((), (_TIME, _OFFSET)),
    OFFSET_DATE_TIME: ((), (_DATE, _TIME, _OFFSET)),
    ZONED_DATE_TIME: ((), (_DATE, _TIME, _STRING)),
    CALENDAR: ((_STRING, _VARINT, _ONE) + (_VARINT,) * 3,) * 2,
    URL: ((_MARKED, _MARKED, _VARINT, _MARKED, _VARINT, _MARKED, _MARKED), (_STRING,)),
}
"""The parts in Kryo 2 and in Kryo 5; none where the body is of objects."""
_parts = np.zeros((2, LAST_BODY + 1, _MOST_PARTS + 1), np.uint8)
for _kind, _both in _PARTS.items():
    for _five, _each in enumerate(_both):
        _parts[_five, _kind, : len(_each)] = _each

# Of Kryo 2, which leaves Locale to Java: the description of the class in ObjectOutputStream.
_L = b"Ljava/lang/String;"
_described = np.frombuffer(
    b"\x72\0\x10java.util.Locale" + bytes.fromhex("7ef811609c30f9ec 03 0006")
    + b"I\0\x08hashcodeL\0\x07countryt\0\x12" + _L
    + b"".join(b"L" + len(name).to_bytes(2, "big") + name + b"q\0\x7e\0\x01" for name in (
        b"extensions", b"language", b"script", b"variant")) + b"xp",
    np.uint8,
)  # fmt: skip


@njit(**PART_OF_KERNEL)
def string(buf, pos, end):
    """(next position, start, length) of a string; the length is -1 where it is not plain ASCII. Position -1: short."""
    if pos >= end:
        return np.int64(-1), pos, pos
    start = pos
    if get_1(buf, pos) < 0x80:
        while pos < end and get_1(buf, pos) < 0x80:
            pos += 1
        return (pos + 1 if pos < end else np.int64(-1)), start, pos + 1 - start
    n, pos = flagged(buf, pos, end)
    if pos < 0:
        return np.int64(-1), start, start
    start = pos
    ascii_only = True
    for _ in range(n - 1):
        if pos >= end:
            return np.int64(-1), start, start
        byte = get_1(buf, pos)
        if byte >= 0x80:
            ascii_only = False
        pos += 1 if byte < 0x80 else 2 if byte < 0xE0 else 3
    if pos > end:
        return np.int64(-1), start, start
    return pos, start, (pos - start if ascii_only else np.int64(-1))


@njit(**PART_OF_KERNEL)
def local_time(buf, pos, end):
    """Kryo 5: hour, minute, second, nanoseconds, cut off where the rest is zero: the last part is inverted."""
    for _ in range(3):
        if pos >= end:
            return np.int64(-1)
        pos += 1
        if get_1(buf, pos - 1) >= 0x80:
            return pos
    return take_varint(buf, pos, end)[1]


@njit(**PART_OF_KERNEL)
def by_parts(buf, pos, end, kind, five):
    """The next position; -1 where the data ends, -2 for a body that is not of parts."""
    row = 1 if five else 0
    if _parts[row, kind, 0] == 0:
        return np.int64(-2)
    for i in range(_MOST_PARTS):
        part = _parts[row, kind, i]
        n = np.int64(0)
        if part == 0:
            break
        if part == _VARINT:
            pos = varlong(buf, pos, end)[1]
        elif part == _STRING:
            pos = string(buf, pos, end)[0]
        elif part == _MARKED:
            mark, pos = take_varint(buf, pos, end)
            if pos >= 0 and mark == 1:
                pos = string(buf, pos, end)[0]
        elif part == _TIME:
            pos = local_time(buf, pos, end)
        elif part == _DATE:
            pos = take_varint(buf, pos, end)[1]
            n = np.int64(2)
        elif part == _OFFSET or part == _PRESENT:
            if pos >= end:
                return np.int64(-1)
            byte = get_1(buf, pos)
            pos += 1
            if part == _PRESENT and byte == 0:
                return pos
            n = np.int64(4 if part == _OFFSET and byte == 0x7F else 0)
        else:
            n = np.int64(1 if part == _ONE else 4 if part == _FOUR else 8)
        if pos < 0 or n > end - pos:
            return np.int64(-1)
        pos += n
    return pos


@njit(**PART_OF_KERNEL)
def java_locale(buf, pos, end):
    """The next position behind a Locale that ObjectOutputStream wrote; -1 where the data ends, -2 if it is none.

    The stream begins with the first Locale of a value; in the others the class and texts are the numbers of earlier
    ones.
    """
    if pos + 4 <= end and get_1(buf, pos) == 0xAC:
        pos += 4
    if pos + 2 > end:
        return np.int64(-1)
    if get_1(buf, pos) != 0x73:
        return np.int64(-2)
    pos += 1
    if get_1(buf, pos) == 0x71:
        pos += 5
    else:
        if pos + _described.size > end:
            return np.int64(-1)
        for i in range(_described.size):
            if get_1(buf, pos + i) != _described[i]:
                return np.int64(-2)
        pos += _described.size
    pos += 4  # the hash
    for _ in range(5):
        if pos + 3 > end:
            return np.int64(-1)
        what = get_1(buf, pos)
        if what == 0x71:
            pos += 5
        elif what == 0x74:
            pos += 3 + (load_i2(buf, pos + 1) & 0xFFFF)
        else:
            return np.int64(-2)
    if pos >= end:
        return np.int64(-1)
    return pos + 1 if get_1(buf, pos) == 0x78 else np.int64(-2)
