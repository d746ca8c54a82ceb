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
from .kryo_kernels import flagged, varint, varlong
from .memory import get_1, get_8, load_i2, put_1, set_word, store_i2, store_i4, store_i8, word
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
from .slot_kernels import PART_OF_KERNEL

_BAD = np.int64(-KRYO_SHAPE)
_UNKNOWN = np.int64(-BAD_KRYO)
_SHARED = np.int64(-KRYO_REFERENCE)
_ORDERED = np.int64(-KRYO_COMPARATOR)
_SHORT = np.int64(-SHORT)
_FULL = np.int64(-OVERFLOW)
_MOST_EMPTY = 65536

#: Arguments: written as numbers they would be types of their own to the compiler.
_NONE, _NO = np.int64(-1), np.int64(0)

_read = types.Array(uint8, 1, "C", readonly=True)
_words = types.Array(int64, 1, "C", readonly=True)


@njit(**PART_OF_KERNEL)
def put(out, state, value, n):
    """Append ``n`` bytes (1, 2, 4 or 8), big-endian; False where ``out`` is full."""
    at = state[k.OUT]
    if at < 0:
        return True
    if at + n > out.size:
        return False
    if n == 1:
        put_1(out, at, value)
    elif n == 2:
        store_i2(out, at, value)
    elif n == 4:
        store_i4(out, at, value)
    else:
        store_i8(out, at, value)
    state[k.OUT] = at + n
    return True


@njit(**PART_OF_KERNEL)
def put_units(out, state, value):
    """Append a base-128 varint, low bits first."""
    value &= 0xFFFFFFFF
    while value >= 0x80:
        if not put(out, state, value & 0x7F | 0x80, 1):
            return False
        value >>= 7
    return put(out, state, value, 1)


@njit(**PART_OF_KERNEL)
def _zigzag(value):
    return (value >> 1) & np.int64(0x7FFFFFFFFFFFFFFF) ^ -(value & 1)


@njit(**PART_OF_KERNEL)
def _swapped(buf, pos, n, little):
    value = np.int64(0)
    for i in range(n):
        value = value << 8 | get_1(buf, pos + (n - 1 - i if little else i))
    return value


@njit(**PART_OF_KERNEL)
def _take_string(buf, pos, end, out, state):
    if pos >= end:
        return _SHORT
    if get_1(buf, pos) < 0x80:
        stop = pos
        while stop < end and get_1(buf, stop) < 0x80:
            stop += 1
        if stop >= end:
            return _SHORT
        stop += 1
        if not put_units(out, state, stop - pos):
            return _FULL
        at = state[k.OUT]
        if at >= 0:
            if at + stop - pos > out.size:
                return _FULL
            for i in range(stop - pos):
                put_1(out, at + i, get_1(buf, pos + i) & 0x7F)
            state[k.OUT] = at + stop - pos
        return stop
    n, pos = flagged(buf, pos, end)
    if pos < 0:
        return _SHORT
    if n < 1 or n - 1 > end - pos:
        return _BAD
    full = not put_units(out, state, n - 1)
    for _ in range(n - 1):
        if pos >= end:
            return _SHORT
        unit = get_1(buf, pos)
        pos += 1
        more = np.int64(0)
        if unit >= 0xE0:
            more, unit = np.int64(2), unit & 0x0F
        elif unit >= 0x80:
            more, unit = np.int64(1), unit & 0x1F
        if more > end - pos:
            return _SHORT
        for _ in range(more):
            unit = unit << 6 | get_1(buf, pos) & 0x3F
            pos += 1
        full = full or not put_units(out, state, unit)
    return _FULL if full else pos


@njit(**PART_OF_KERNEL)
def _take_array(kind, five, buf, pos, end, out, state):
    """BYTES to EIGHTS: a count from 1, then the elements."""
    n, pos = varint(buf, pos, end)
    if pos < 0:
        return _SHORT
    n -= 1
    width = np.int64(1)
    if kind == k.TWOS:
        width = np.int64(2)
    elif kind == k.FOURS:
        width = np.int64(4)
    elif kind == k.EIGHTS:
        width = np.int64(8)
    if n < 0 or n * width > end - pos:
        return np.int64(-BAD_LENGTH)
    full = not put(out, state, n, 4)
    for _ in range(n):
        if kind == k.INTS:
            value, pos = varint(buf, pos, end)
            if pos < 0:
                return _SHORT
            full = full or not put(out, state, _zigzag(value & 0xFFFFFFFF), 4)
        elif kind == k.LONGS:
            value, pos = varlong(buf, pos, end)
            if pos < 0:
                return _SHORT
            full = full or not put(out, state, _zigzag(value), 8)
        else:
            full = full or not put(out, state, _swapped(buf, pos, width, five), width)
            pos += width
    return _FULL if full else pos


@njit(**PART_OF_KERNEL)
def _hex_digit(value):
    return value + (0x30 if value < 10 else 0x57)


@njit(**PART_OF_KERNEL)
def _take_uuid(five, buf, pos, end, out, state):
    most = np.int64(0)
    least = np.int64(0)
    if five:
        if pos + 16 > end:
            return _SHORT
        most, least, pos = get_8(buf, pos), get_8(buf, pos + 8), pos + 16
    else:
        most, pos = varlong(buf, pos, end)
        if pos < 0:
            return _SHORT
        least, pos = varlong(buf, pos, end)
        if pos < 0:
            return _SHORT
        most, least = _zigzag(most), _zigzag(least)
    at = state[k.OUT]
    if at < 0:
        return pos
    if at + 37 > out.size:
        return _FULL
    put_1(out, at, np.int64(36))
    at += 1
    for i in range(32):
        half = most if i < 16 else least
        if i == 8 or i == 12 or i == 16 or i == 20:
            put_1(out, at, np.int64(0x2D))
            at += 1
        put_1(out, at, _hex_digit(half >> ((15 - (i & 15)) << 2) & 15))
        at += 1
    state[k.OUT] = at
    return pos


@njit(**PART_OF_KERNEL)
def _take_bit_set(five, buf, pos, end, out, state):
    n, pos = varint(buf, pos, end)
    if pos < 0:
        return _SHORT
    if n * 8 > end - pos or n > 1 << 24:
        return np.int64(-BAD_LENGTH)
    if five and n and get_8(buf, pos + 8 * (n - 1)) == 0:
        return _BAD  # never written: chill (Kryo 2) writes all words that the set has room for, Kryo 5 those in use
    bits = np.int64(0)
    for i in range(n):
        rest = get_8(buf, pos + 8 * i)
        while rest != 0:
            bits += 1
            rest &= rest - 1
    full = not put(out, state, bits, 4)
    for i in range(n):
        value = _swapped(buf, pos + 8 * i, 8, five)
        for bit in range(64):
            if value >> bit & 1:
                full = full or not put(out, state, 64 * i + bit, 4)
    return _FULL if full else pos + 8 * n


@njit(**PART_OF_KERNEL)
def _take_big(kind, buf, pos, end, out, state):
    """BIG_INTEGER, BIG_DECIMAL."""
    n, pos = varint(buf, pos, end)
    if pos < 0:
        return _SHORT
    n -= 1
    if n < 1 or n > end - pos:
        return np.int64(-BAD_LENGTH)
    full = not put(out, state, n + 4, 4)
    for i in range(n):
        full = full or not put(out, state, get_1(buf, pos + i), 1)
    pos += n
    if kind == k.BIG_DECIMAL:
        scale, pos = varint(buf, pos, end)
        if pos < 0:
            return _SHORT
        full = full or not put(out, state, _zigzag(scale & 0xFFFFFFFF), 4)
    return _FULL if full else pos


@njit(**PART_OF_KERNEL)
def _take_moment(kind, five, buf, pos, end, out, state):
    """DATE, STAMP, INSTANT, DURATION: plain is an i8 and, but for dates, an i4 of nanoseconds."""
    nanos = np.int64(0)
    if (kind == k.INSTANT or kind == k.DURATION) and not five:
        # Fields, by name: nanos, seconds.
        nanos, pos = varint(buf, pos, end)
        if pos < 0:
            return _SHORT
        value, pos = varlong(buf, pos, end)
        nanos, value = _zigzag(nanos & 0xFFFFFFFF), _zigzag(value)
    elif kind == k.DURATION:
        if pos + 8 > end:
            return _SHORT
        value, pos = get_8(buf, pos), pos + 8
    else:
        value, pos = varlong(buf, pos, end)
    if pos < 0:
        return _SHORT
    if kind != k.DATE and (five or kind == k.STAMP):
        nanos, pos = varint(buf, pos, end)
        if pos < 0:
            return _SHORT
        if kind == k.STAMP and five:  # whole seconds, in milliseconds
            value += nanos // 1_000_000
    done = put(out, state, value, 8) and (kind == k.DATE or put(out, state, nanos, 4))
    return pos if done else _FULL


@njit(**PART_OF_KERNEL)
def _take_date(five, buf, pos, end, out, state):
    if five:
        year, pos = varint(buf, pos, end)
        if pos < 0 or pos + 2 > end:
            return _SHORT
        month, day, pos = get_1(buf, pos), get_1(buf, pos + 1), pos + 2
    else:
        # Fields, by name: day, month, year.
        if pos + 4 > end:
            return _SHORT
        day, month = load_i2(buf, pos), load_i2(buf, pos + 2)
        year, pos = varint(buf, pos + 4, end)
        if pos < 0:
            return _SHORT
        year = _zigzag(year & 0xFFFFFFFF)
    done = put(out, state, year, 4) and put(out, state, month, 1) and put(out, state, day, 1)
    return pos if done else _FULL


@njit(**PART_OF_KERNEL)
def _take_time(five, buf, pos, end, out, state):
    """Kryo 5 leaves out what is zero at the end; the last part is inverted then."""
    parts = np.zeros(4, np.int64)
    if five:
        last = 0
        while last < 3:
            if pos >= end:
                return _SHORT
            byte = get_1(buf, pos)
            pos += 1
            parts[last] = byte if byte < 0x80 else 0xFF - byte
            if byte >= 0x80:
                break
            last += 1
        if last == 3:
            parts[3], pos = varint(buf, pos, end)
    else:
        # Fields, by name: hour, minute, nano, second.
        if pos + 2 > end:
            return _SHORT
        parts[0], parts[1] = get_1(buf, pos), get_1(buf, pos + 1)
        nano, pos = varint(buf, pos + 2, end)
        if pos < 0 or pos >= end:
            return _SHORT
        parts[3] = _zigzag(nano & 0xFFFFFFFF)
        parts[2] = get_1(buf, pos)
        pos += 1
    if pos < 0:
        return _SHORT
    done = True
    for i in range(3):
        done = done and put(out, state, parts[i], 1)
    return pos if done and put(out, state, parts[3], 4) else _FULL


@njit(**PART_OF_KERNEL)
def _take_date_time(five, buf, pos, end, out, state):
    if five:
        pos = _take_date(five, buf, pos, end, out, state)
        return pos if pos < 0 else _take_time(five, buf, pos, end, out, state)
    # Objects of their own, each with its mark.
    if pos >= end or get_1(buf, pos) != 1:
        return _BAD
    pos = _take_date(five, buf, pos + 1, end, out, state)
    if pos < 0:
        return pos
    if pos >= end or get_1(buf, pos) != 1:
        return _BAD
    return _take_time(five, buf, pos + 1, end, out, state)


@njit(**PART_OF_KERNEL)
def take_leaf(kind, five, buf, pos, end, out, state):
    """A body that holds no other object. The next position, or minus the reason."""
    if kind == k.INT or kind == k.LONG:
        value, pos = varlong(buf, pos, end)
        if pos < 0:
            return _SHORT
        if kind == k.INT:
            value &= 0xFFFFFFFF
        return pos if put(out, state, _zigzag(value), 4 if kind == k.INT else 8) else _FULL
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
        return pos + n if put(out, state, _swapped(buf, pos, n, five), n) else _FULL
    if kind == k.STRING:
        return _take_string(buf, pos, end, out, state)
    if kind <= k.EIGHTS:
        return _take_array(kind, five, buf, pos, end, out, state)
    if kind == k.UUID:
        return _take_uuid(five, buf, pos, end, out, state)
    if kind == k.BIT_SET:
        return _take_bit_set(five, buf, pos, end, out, state)
    if kind <= k.BIG_DECIMAL:
        return _take_big(kind, buf, pos, end, out, state)
    if kind <= k.DURATION:
        return _take_moment(kind, five, buf, pos, end, out, state)
    if kind == k.LOCAL_DATE:
        return _take_date(five, buf, pos, end, out, state)
    if kind == k.LOCAL_TIME:
        return _take_time(five, buf, pos, end, out, state)
    return _take_date_time(five, buf, pos, end, out, state)


@njit(**PART_OF_KERNEL)
def _take_enum(constants, buf, pos, end, out, state):
    n, pos = varint(buf, pos, end)
    if pos < 0:
        return _SHORT
    if n < 1 or n > constants:
        return _BAD
    return pos if put(out, state, n - 1, 4) else _FULL


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
def _take_class(code, pool, first, n, buf, pos, end, state):
    """(next position or minus a reason, alternative): -1 is null."""
    place = pos
    tag, pos = varint(buf, pos, end)
    if pos < 0:
        return _SHORT, np.int64(0)
    if tag == 0:
        return pos, np.int64(-1)
    number = np.int64(-1)
    if tag == 1:
        seen = state[k.NAMES]
        number, pos = varint(buf, pos, end)
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


@kernel(
    int64(_words, _read, int64, int64, int64, int64, _read, int64, int64, uint8[::1], int64[::1]),
    error_model="numpy", no_cfunc_wrapper=True,
)  # fmt: skip
def take(code, pool, row, forced, nulls, five, buf, pos, end, out, state):
    """What stands at the place ``row``: the next position, or minus the reason.

    ``forced`` is the alternative where the collection around has told the class (else -1), and ``nulls`` whether
    it may have null elements then.
    """
    at = row << 3
    mode, first, form = word(code, at + 1), word(code, at + 3), word(code, at + 4)
    alternative = forced if forced >= 0 else np.int64(0)
    if forced < 0 and mode == k.TAGGED:
        pos, alternative = _take_class(code, pool, first, word(code, at + 2), buf, pos, end, state)
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
        reference, pos = varint(buf, pos, end)
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
            stop = _take_enum(word(code, body + 1), buf, start, end, out, state)
        else:
            stop = take_leaf(kind, five, buf, start, end, out, state)
        return pos if meant >= 0 and stop >= 0 else stop
    if kind == k.CLASS:
        inner = word(code, body + 2)
        for i in range(word(code, body + 1)):
            pos = take(code, pool, inner + i, _NONE, _NO, five, buf, pos, end, out, state)
            if pos < 0:
                return pos
        return pos
    n = np.int64(0)
    inner = word(code, body + 1)
    each = np.int64(1)
    comparator = np.int64(0)
    flag = np.int64(0)
    if kind == k.MAP:
        each, comparator = np.int64(2), word(code, body + 3)
    elif kind == k.COLLECTION:
        comparator = word(code, body + 2)
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
        n, pos = varint(buf, pos, end)
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
            pos, told = _take_class(code, pool, word(code, at + 3), word(code, at + 2), buf, pos, end, state)
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
        place = word(code, body + 2) if kind == k.MAP and i & 1 else inner
        pos = take(code, pool, place, told, maybe, five, buf, pos, end, out, state)
        if pos < 0:
            return pos
    return pos


@kernel(
    types.void(
        _words, _read, int64, int64, _read, _words, _words, uint8[::1], int64[::1], uint8[::1], int64, int64[::1]
    ),
    error_model="numpy", no_cfunc_wrapper=True,
)  # fmt: skip
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
        pos = take(code, pool, row, _NONE, _NO, five, buf, starts[i], ends[i], out, state)
        if pos == _FULL:
            failure[0] = 1
            return
        if pos == ends[i]:
            done = state[k.OUT]
            stops[i], reasons[i] = done, OK
        else:
            stops[i] = state[k.PLACE]
            reasons[i] = -pos if pos <= _UNKNOWN else KRYO_SHAPE


@njit(**PART_OF_KERNEL)
def end_of_shape(code, pool, row, five, buf, pos, end, stack):
    """The position behind a value of a shape, or minus the reason; a class that does not fit is named where
    ``stack[CLASS_AT]`` says."""
    state = np.zeros(k.OBJECTS_AT, np.int64)
    state[k.OUT], state[k.PLACE] = k.DISCARD, k.NOWHERE
    pos = take(code, pool, row, _NONE, _NO, five, buf, pos, end, np.empty(0, np.uint8), state)
    set_word(stack, np.int64(CLASS_AT), state[k.PLACE])
    return pos
