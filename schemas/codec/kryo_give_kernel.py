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
from .kryo_take_kernel import put, put_units
from .memory import get_1, load_i4, load_i8, word
from .ops import BAD_LENGTH, BAD_STRING, NULL, OVERFLOW, RANGE
from .slot_kernels import PART_OF_KERNEL
from .text_kernels import take_varint

_FULL = np.int64(-OVERFLOW)
#: Arguments: written as numbers they would be types of their own to the compiler.
_NONE, _NO = np.int64(-1), np.int64(0)

_read = types.Array(uint8, 1, "C", readonly=True)
_words = types.Array(int64, 1, "C", readonly=True)


@njit(**PART_OF_KERNEL)
def _put_little(out, state, value, n):
    done = True
    for i in range(n):
        done = done and put(out, state, value >> (i << 3) & 0xFF, 1)
    return done


@njit(**PART_OF_KERNEL)
def _put_fixed(out, state, value, n, little):
    return _put_little(out, state, value, n) if little else put(out, state, value, n)


@njit(**PART_OF_KERNEL)
def _put_long(out, state, value):
    """``writeLong(value, true)``: base 128, the ninth byte with eight bits."""
    for _ in range(8):
        rest = (value >> 7) & np.int64(0x01FFFFFFFFFFFFFF)
        if rest == 0:
            return put(out, state, value & 0x7F, 1)
        if not put(out, state, value & 0x7F | 0x80, 1):
            return False
        value = rest
    return put(out, state, value & 0xFF, 1)


@njit(**PART_OF_KERNEL)
def _zigzag(value):
    return value << 1 ^ value >> 63


@njit(**PART_OF_KERNEL)
def _put_flagged(out, state, value, flag):
    """A varint with a flag in bit 7 of its first byte."""
    first = value & 0x3F | flag << 7
    if value >> 6 == 0:
        return put(out, state, first, 1)
    return put(out, state, first | 0x40, 1) and put_units(out, state, value >> 6)


@njit(**PART_OF_KERNEL)
def _give_string(five, plain, pos, end, out, state):
    n, pos = take_varint(plain, pos, end)
    start = pos
    ascii_only = n > 1 and (n <= 32 if five else n < 64) and n <= end - pos
    if ascii_only:
        for i in range(n):
            ascii_only = ascii_only and get_1(plain, pos + i) < 0x80
    done = True
    if ascii_only:
        for i in range(n - 1):
            done = done and put(out, state, get_1(plain, start + i), 1)
        done = done and put(out, state, get_1(plain, start + n - 1) | 0x80, 1)
        return start + n if done else _FULL
    done = _put_flagged(out, state, n + 1, np.int64(1))
    for _ in range(n):
        unit, pos = take_varint(plain, pos, end)
        if unit < 0x80:
            done = done and put(out, state, unit, 1)
        elif unit < 0x800:
            done = done and put(out, state, (0xC0 | unit >> 6) << 8 | 0x80 | unit & 0x3F, 2)
        else:
            three = (0xE0 | unit >> 12) << 16 | (0x80 | unit >> 6 & 0x3F) << 8 | 0x80 | unit & 0x3F
            done = done and put(out, state, three >> 16, 1) and put(out, state, three & 0xFFFF, 2)
    return pos if done else _FULL


@njit(**PART_OF_KERNEL)
def _give_array(kind, five, plain, pos, out, state):
    n = load_i4(plain, pos)
    pos += 4
    done = put_units(out, state, n + 1)
    width = np.int64(1)
    if kind == k.TWOS:
        width = np.int64(2)
    elif kind == k.FOURS or kind == k.INTS:
        width = np.int64(4)
    elif kind == k.EIGHTS or kind == k.LONGS:
        width = np.int64(8)
    for _ in range(n):
        value = np.int64(0)
        for i in range(width):
            value = value << 8 | get_1(plain, pos + i)
        pos += width
        if kind == k.INTS:
            value = _zigzag(value - ((value >> 31) << 32))
            done = done and put_units(out, state, value)
        elif kind == k.LONGS:
            done = done and _put_long(out, state, _zigzag(value))
        else:
            done = done and _put_fixed(out, state, value, width, five)
    return pos if done else _FULL


@njit(**PART_OF_KERNEL)
def _give_uuid(five, plain, pos, out, state):
    """36 characters; hexadecimal digits of either case."""
    n = get_1(plain, pos)
    if n != 36:
        return np.int64(-BAD_STRING)
    pos += 1
    halves = np.zeros(2, np.int64)
    digits = np.int64(0)
    for i in range(36):
        char = get_1(plain, pos + i)
        if i == 8 or i == 13 or i == 18 or i == 23:
            if char != 0x2D:
                return np.int64(-BAD_STRING)
            continue
        if 0x30 <= char <= 0x39:
            char -= 0x30
        elif 0x61 <= char <= 0x66:
            char -= 0x57
        elif 0x41 <= char <= 0x46:
            char -= 0x37
        else:
            return np.int64(-BAD_STRING)
        halves[digits >> 4] = halves[digits >> 4] << 4 | char
        digits += 1
    done = True
    for i in range(2):
        if five:
            done = done and _put_little(out, state, halves[i], 8)
        else:
            done = done and _put_long(out, state, _zigzag(halves[i]))
    return pos + 36 if done else _FULL


@njit(**PART_OF_KERNEL)
def _give_bit_set(five, plain, pos, out, state):
    n = load_i4(plain, pos)
    pos += 4
    most = np.int64(-1)
    for i in range(n):
        bit = load_i4(plain, pos + 4 * i)
        if bit < 0 or bit >= 1 << 30:
            return np.int64(-RANGE)
        most = max(most, bit)
    size = (most >> 6) + 1
    if not five:
        size = max(size, np.int64(1))  # what an empty set of Java has room for
    words = np.zeros(size, np.int64)
    for i in range(n):
        bit = load_i4(plain, pos + 4 * i)
        words[bit >> 6] |= np.int64(1) << (bit & 63)
    done = put_units(out, state, size)
    for i in range(size):
        done = done and _put_fixed(out, state, words[i], 8, five)
    return pos + 4 * n if done else _FULL


@njit(**PART_OF_KERNEL)
def _give_big(kind, plain, pos, out, state):
    """BIG_INTEGER, BIG_DECIMAL. Plain are Flink's: 0 is null, and 1 to 3 stand for 0, 1 and 10."""
    n = load_i4(plain, pos)
    pos += 4
    if n == 0:
        return np.int64(-NULL)
    if n < 4:
        done = put(out, state, np.int64(2), 1) and put(out, state, np.int64(10 if n == 3 else n - 1), 1)
    else:
        done = put_units(out, state, n - 3)
        for i in range(n - 4):
            done = done and put(out, state, get_1(plain, pos + i), 1)
        pos += n - 4
    if kind == k.BIG_DECIMAL:
        done = done and put_units(out, state, _zigzag(load_i4(plain, pos)))
        pos += 4
    return pos if done else _FULL


@njit(**PART_OF_KERNEL)
def _give_moment(kind, five, plain, pos, out, state):
    """DATE, STAMP, INSTANT, DURATION."""
    value = load_i8(plain, pos)
    pos += 8
    if kind != k.DURATION and value == np.int64(-0x8000000000000000):
        return np.int64(-NULL)
    if kind == k.DATE:
        return pos if _put_long(out, state, value) else _FULL
    nanos = load_i4(plain, pos)
    pos += 4
    if (kind == k.INSTANT or kind == k.DURATION) and not five:
        done = put_units(out, state, _zigzag(nanos)) and _put_long(out, state, _zigzag(value))
    elif kind == k.DURATION:
        done = _put_little(out, state, value, 8) and put_units(out, state, nanos)
    else:
        if kind == k.STAMP and five:
            value -= nanos // 1_000_000
        done = _put_long(out, state, value) and put_units(out, state, nanos)
    return pos if done else _FULL


@njit(**PART_OF_KERNEL)
def _give_date(five, plain, pos, out, state):
    year, month, day = load_i4(plain, pos), get_1(plain, pos + 4), get_1(plain, pos + 5)
    if year == -0x80000000:
        return np.int64(-NULL)
    if five:
        done = put_units(out, state, year) and put(out, state, month, 1) and put(out, state, day, 1)
    else:
        done = put(out, state, day, 2) and put(out, state, month, 2) and put_units(out, state, _zigzag(year))
    return pos + 6 if done else _FULL


@njit(**PART_OF_KERNEL)
def _give_time(five, plain, pos, out, state):
    hour, minute, second = get_1(plain, pos), get_1(plain, pos + 1), get_1(plain, pos + 2)
    nano = load_i4(plain, pos + 3)
    if hour >= 0x80:
        return np.int64(-NULL)
    if not five:
        done = put(out, state, hour, 1) and put(out, state, minute, 1)
        done = done and put_units(out, state, _zigzag(nano)) and put(out, state, second, 1)
    elif nano:
        done = put(out, state, hour << 8 | minute, 2) and put(out, state, second, 1)
        done = done and put_units(out, state, nano)
    elif second:
        done = put(out, state, hour << 8 | minute, 2) and put(out, state, 0xFF - second, 1)
    elif minute:
        done = put(out, state, hour << 8 | 0xFF - minute, 2)
    else:
        done = put(out, state, 0xFF - hour, 1)
    return pos + 7 if done else _FULL


@njit(**PART_OF_KERNEL)
def _give_date_time(five, plain, pos, out, state):
    if not five and not put(out, state, np.int64(1), 1):
        return _FULL
    pos = _give_date(five, plain, pos, out, state)
    if pos < 0:
        return pos
    if not five and not put(out, state, np.int64(1), 1):
        return _FULL
    return _give_time(five, plain, pos, out, state)


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
            done = put_units(out, state, _zigzag(value - ((value >> 31) << 32)))
        elif kind == k.LONG:
            done = _put_long(out, state, _zigzag(value))
        else:
            done = _put_fixed(out, state, value, n, five)
        return pos + n if done else _FULL
    if kind == k.STRING:
        return _give_string(five, plain, pos, end, out, state)
    if kind <= k.EIGHTS:
        return _give_array(kind, five, plain, pos, out, state)
    if kind == k.UUID:
        return _give_uuid(five, plain, pos, out, state)
    if kind == k.BIT_SET:
        return _give_bit_set(five, plain, pos, out, state)
    if kind <= k.BIG_DECIMAL:
        return _give_big(kind, plain, pos, out, state)
    if kind <= k.DURATION:
        return _give_moment(kind, five, plain, pos, out, state)
    if kind == k.LOCAL_DATE:
        return _give_date(five, plain, pos, out, state)
    if kind == k.LOCAL_TIME:
        return _give_time(five, plain, pos, out, state)
    return _give_date_time(five, plain, pos, out, state)


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


@njit(**PART_OF_KERNEL)
def _give_class(code, pool, at, out, state):
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


@kernel(
    int64(_words, _read, int64, int64, int64, int64, _read, int64, int64, uint8[::1], int64[::1]),
    error_model="numpy", no_cfunc_wrapper=True,
)  # fmt: skip
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
            done = _give_class(code, pool, at, out, state)
            if referenced:
                done = done and put_units(out, state, mark)
    if not done:
        return _FULL
    if earlier >= 0:
        return pos + 4
    if null:
        return pos if mode != k.PRIMITIVE else np.int64(-NULL)
    if kind <= k.LAST_LEAF:
        return give_leaf(kind, five, plain, pos, end, out, state)
    inner = word(code, body + 1)
    if kind == k.CLASS:
        for i in range(inner):
            pos = give(code, pool, word(code, body + 2) + i, _NONE, _NO, five, plain, pos, end, out, state)
            if pos < 0:
                return pos
        return pos
    n = load_i4(plain, pos)
    pos += 4
    if kind == k.ENUM:
        return pos if put_units(out, state, n + 1) else _FULL
    comparator = np.int64(0)
    each = np.int64(1)
    if kind == k.MAP:
        each, comparator = np.int64(2), word(code, body + 3)
    elif kind == k.COLLECTION:
        comparator = word(code, body + 2)
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
            probe = give(code, pool, inner, _NONE, _NO, five, plain, probe, end, out, state)
            if probe < 0:
                state[k.OUT] = kept
                return probe
        state[k.OUT] = kept
        tagged = word(code, at + 1) == k.TAGGED
        flag = np.int64(not several) if tagged else maybe
        done = _put_flagged(out, state, n + 1, flag)
        if comparator:
            done = done and put(out, state, np.int64(0), 1)
        if tagged and told < 0:
            return pos + n if done and put(out, state, np.int64(0), 1) else _FULL
        if tagged and not several:
            done = done and _give_class(code, pool, (word(code, at + 3) + told) << 3, out, state)
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
        place = word(code, body + 2) if kind == k.MAP and i & 1 else inner
        pos = give(code, pool, place, told, maybe, five, plain, pos, end, out, state)
        if pos < 0:
            return pos
    return pos


@kernel(
    types.void(
        _words, _read, int64, int64, _read, _words, uint8[::1], int64[::1], int64, int64[::1]
    ),
    error_model="numpy", no_cfunc_wrapper=True,
)  # fmt: skip
def give_rows(code, pool, row, five, plain, offsets, out, stops, classes, failure):
    """Each row of plain bytes as Kryo's, which end at stops[i] of ``out``. ``classes`` is how many a shape names.

    failure gets (reason, row) where a row cannot be written, or OVERFLOW.
    """
    state = np.zeros(k.NAMES_AT + classes, np.int64)
    for i in range(offsets.size - 1):
        state[k.NAMES], state[k.REFS], state[k.ENUMS] = 0, 0, 0
        state[k.NAMES_AT :] = -1
        pos = give(code, pool, row, _NONE, _NO, five, plain, offsets[i], offsets[i + 1], out, state)
        if pos != offsets[i + 1]:
            failure[0] = -pos if pos < 0 else BAD_LENGTH
            failure[1] = i
            return
        stops[i] = state[k.OUT]
