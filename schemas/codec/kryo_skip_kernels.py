# mypy: ignore-errors
"""Where a Kryo value ends, for values made of JDK classes (spec "serializers", section 4).

Every object names its class, by number or by name, so a value can be stepped over without the user's classes as
long as it holds none. Kryo 2 (Flink 1.x) and Kryo 5 (2.x) lay some classes out differently.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .kernel_options import MAKES_ARRAYS, PART_OF_KERNEL
from .kryo_classes import (
    ADDRESS,
    AS_LIST,
    BIG_DECIMAL,
    BIG_INTEGER,
    BITS,
    BYTE,
    BYTES,
    CLASSES,
    COLLECTION,
    DATE,
    DEFAULT_IDS,
    DURATION,
    EIGHT,
    EIGHTS,
    EMPTY,
    FIRST_ID,
    FOUR,
    FOURS,
    IMMUTABLE,
    INSTANT,
    LAST_BODY,
    LOCAL_DATE,
    LOCAL_DATE_TIME,
    LOCAL_TIME,
    LOCALE,
    MAP,
    OBJECTS,
    OFFSET_DATE_TIME,
    OFFSET_TIME,
    ONE,
    PAIR,
    PATTERN,
    SORTED_MAP,
    SORTED_SET,
    STAMP,
    STRING,
    STRINGS,
    TWO,
    TWOS,
    UNKNOWN,
    UUID,
    VARINT,
    VARINTS,
    ZONE_OFFSET,
    ZONED_DATE_TIME,
)
from .kryo_flat_kernels import by_parts, java_locale, local_time, string
from .kryo_number_kernels import flagged, varlong
from .memory import get_1, set_word
from .ops import BAD_KRYO, BAD_LENGTH, CLASS_AT, DEEP, SHORT
from .text_kernels import take_varint

_ids = np.zeros(FIRST_ID, np.uint8)
for _name, _id in DEFAULT_IDS.items():
    _ids[_id] = CLASSES.get(_name, UNKNOWN)
_encoded = [name.encode() for name in CLASSES]
_text = np.frombuffer(b"".join(_encoded), np.uint8)
_starts = np.concatenate([[0], np.cumsum([len(name) for name in _encoded])]).astype(np.int64)
_kinds = np.array(list(CLASSES.values()), np.int64)

# The objects in an object of Kryo 2's, the last first; -1 is one behind its class.
_objects = np.zeros((LAST_BODY + 1, 3), np.int8)
_objects[LOCAL_DATE_TIME, :2] = LOCAL_TIME, LOCAL_DATE
_objects[OFFSET_TIME, :2] = LOCAL_TIME, ZONE_OFFSET
_objects[OFFSET_DATE_TIME, :2] = ZONE_OFFSET, LOCAL_DATE_TIME
_objects[ZONED_DATE_TIME] = -1, ZONE_OFFSET, LOCAL_DATE_TIME

# What a frame still has to read, ``n`` times: objects with their class, objects of one class, a body, the elements
# of a Kryo 5 collection.
_CLASS_OBJECT, _OBJECT, _OBJECT_OR_NULL, _BODY, _ELEMENTS = range(5)
_DEPTH = 96
_NAMES = 64


@njit(**PART_OF_KERNEL)
def _kind_of_name(buf, start, length):
    for k in range(_kinds.size):
        if _starts[k + 1] - _starts[k] == length:
            same = True
            for i in range(length):
                byte = get_1(buf, start + i)
                if i == length - 1:
                    byte &= 0x7F
                same = same and byte == _text[_starts[k] + i]
            if same:
                return _kinds[k]
    return np.int64(UNKNOWN)


@njit(**PART_OF_KERNEL)
def _class(buf, pos, end, pool, first, count, names, seen):
    """(next position or minus a reason, body, names seen): body -1 is null."""
    tag, p = take_varint(buf, pos, end)
    if p < 0:
        return np.int64(-SHORT), np.int64(0), seen
    if tag == 0:
        return p, np.int64(-1), seen
    if tag > 1:
        number = tag - 2
        kind = np.int64(UNKNOWN)
        if number < FIRST_ID:
            kind = np.int64(_ids[number])
        elif number - FIRST_ID < count:
            kind = get_1(pool, first + number - FIRST_ID)
        return p, kind, seen
    number, p = take_varint(buf, p, end)
    if p < 0:
        return np.int64(-SHORT), np.int64(0), seen
    if number < seen:
        return p, names[number], seen
    if number > seen or seen >= _NAMES:
        return np.int64(-BAD_KRYO), np.int64(0), seen
    p, start, length = string(buf, p, end)
    if p < 0:
        return np.int64(-SHORT), np.int64(0), seen
    kind = _kind_of_name(buf, start, length) if length > 0 else np.int64(UNKNOWN)
    names[seen] = kind
    return p, kind, seen + 1


@njit(**PART_OF_KERNEL)
def _flat(buf, pos, end, kind, five):
    """The next position behind a body that holds no other objects; -1 where the data ends, -2 for other bodies."""
    n = np.int64(0)
    if kind == VARINT or kind == DATE:
        return varlong(buf, pos, end)[1]
    if kind == STRING or kind == PATTERN or kind == ADDRESS:
        p = string(buf, pos, end)[0]
        if p >= 0 and (kind == ADDRESS or (kind == PATTERN and five)):
            p = take_varint(buf, p, end)[1]
        return p
    if kind == LOCALE and not five:
        return java_locale(buf, pos, end)
    if kind >= LOCALE:
        return by_parts(buf, pos, end, kind, five)
    if kind == BITS:
        n, pos = take_varint(buf, pos, end)
        n *= 8
    elif kind == UUID and five:
        n = np.int64(16)
    elif kind == BYTES or kind == BIG_INTEGER or kind == BIG_DECIMAL:
        n, pos = take_varint(buf, pos, end)
        n = max(n - 1, 0)
        if kind == BIG_DECIMAL and pos >= 0 and n <= end - pos:
            return take_varint(buf, pos + n, end)[1]
    elif kind == TWOS or kind == FOURS or kind == EIGHTS:
        n, pos = take_varint(buf, pos, end)
        n = max(n - 1, 0) * (2 if kind == TWOS else 4 if kind == FOURS else 8)
    elif kind == VARINTS:
        n, pos = take_varint(buf, pos, end)
        for _ in range(n - 1):
            if pos >= 0:
                pos = varlong(buf, pos, end)[1]
        return pos
    elif kind == UUID or kind == STAMP or kind == INSTANT or (kind == DURATION and not five):
        pos = varlong(buf, pos, end)[1]
        return varlong(buf, pos, end)[1] if pos >= 0 else pos
    elif kind == DURATION:
        return take_varint(buf, pos + 8, end)[1] if pos + 8 <= end else np.int64(-1)
    elif kind == LOCAL_DATE or (kind == LOCAL_DATE_TIME and five):
        if five:
            pos = take_varint(buf, pos, end)[1]
            pos = pos + 2 if pos >= 0 and pos + 2 <= end else np.int64(-1)
            return local_time(buf, pos, end) if kind == LOCAL_DATE_TIME and pos >= 0 else pos
        return take_varint(buf, pos + 4, end)[1] if pos + 4 <= end else np.int64(-1)
    elif kind == LOCAL_TIME:
        if five:
            return local_time(buf, pos, end)
        pos = take_varint(buf, pos + 2, end)[1] if pos + 2 <= end else np.int64(-1)
        n = np.int64(1)
    elif kind == BYTE or kind == TWO or kind == FOUR or kind == EIGHT:
        n = np.int64(1 if kind == BYTE else 2 if kind == TWO else 4 if kind == FOUR else 8)
    elif kind != EMPTY:
        return np.int64(-2)
    if pos < 0 or n > end - pos:
        return np.int64(-1)
    return pos + n


@njit(**PART_OF_KERNEL | MAKES_ARRAYS)
def skip_kryo(buf, pos, end, five, pool, first, count, stack):
    """The position behind one ``writeClassAndObject``, or minus a reason.

    ``five`` is true for Kryo 5; ``pool[first:first + count]`` are the bodies of the registered classes from
    number 85 on. A class that is not known is named where ``stack[CLASS_AT]`` says.
    """
    place = pos
    set_word(stack, np.int64(CLASS_AT), np.int64(-1))
    names = np.empty(_NAMES, np.int64)
    seen = np.int64(0)
    todo = np.empty(_DEPTH, np.int64)
    left = np.empty(_DEPTH, np.int64)
    kinds = np.empty(_DEPTH, np.int64)
    depth = 1
    todo[0], left[0], kinds[0] = _CLASS_OBJECT, 1, 0
    while depth > 0:
        top = depth - 1
        if left[top] <= 0:
            depth -= 1
            continue
        task = todo[top]
        kind = kinds[top]
        if task == _ELEMENTS:
            # Of one class: the class, whether there are nulls, the objects.
            n = left[top]
            place = pos
            pos, kind, seen = _class(buf, pos, end, pool, first, count, names, seen)
            if pos < 0:
                return pos
            if kind < 0:
                depth -= 1
                continue
            nulls = np.int64(0)
            if kinds[top] == 0:
                if pos >= end:
                    return np.int64(-SHORT)
                nulls = get_1(buf, pos)
                pos += 1
            todo[top], left[top], kinds[top] = (_OBJECT_OR_NULL if nulls else _OBJECT), n, kind
            continue
        left[top] -= 1
        if task == _CLASS_OBJECT:
            place = pos
            pos, kind, seen = _class(buf, pos, end, pool, first, count, names, seen)
            if pos < 0:
                return pos
            if kind < 0:
                continue
        if kind == UNKNOWN or kind > LAST_BODY:
            set_word(stack, np.int64(CLASS_AT), place)
            return np.int64(-BAD_KRYO)
        if task != _BODY and kind > EIGHT:
            ref, pos = take_varint(buf, pos, end)
            if pos < 0:
                return np.int64(-SHORT)
            if ref != 1:
                continue
        elif task == _OBJECT_OR_NULL:
            if pos >= end:
                return np.int64(-SHORT)
            pos += 1
            if get_1(buf, pos - 1) == 0:
                continue
        after = _flat(buf, pos, end, kind, five)
        if after == -1:
            return np.int64(-SHORT)
        if after >= 0:
            pos = after
            continue
        if depth + 3 > _DEPTH:
            return np.int64(-DEEP)
        n = np.int64(1)
        flag = np.int64(0)
        if kind == SORTED_MAP or kind == SORTED_SET:
            if not five:
                # The comparator, then the body of a map or collection.
                todo[depth], left[depth], kinds[depth] = _BODY, 1, MAP if kind == SORTED_MAP else COLLECTION
                todo[depth + 1], left[depth + 1], kinds[depth + 1] = _CLASS_OBJECT, 1, 0
                depth += 2
                continue
        if kind == COLLECTION or kind == IMMUTABLE or kind == AS_LIST or kind == SORTED_SET:
            if five:
                flag = get_1(buf, pos) & 0x80 if pos < end else np.int64(0)
                n, pos = flagged(buf, pos, end)
                n -= 1
            else:
                n, pos = take_varint(buf, pos, end)
        elif kind == MAP or kind == SORTED_MAP:
            n, pos = take_varint(buf, pos, end)
            n = (n - 1 if five else n) * 2
        elif kind == STRINGS or kind == OBJECTS:
            n, pos = take_varint(buf, pos, end)
            n -= 1
        elif kind == PAIR:
            n = np.int64(2)
        elif _objects[kind, 0]:
            for i in range(3):
                part = np.int64(_objects[kind, i])
                if part:
                    todo[depth], left[depth], kinds[depth] = (_OBJECT if part > 0 else _CLASS_OBJECT), 1, part
                    depth += 1
            continue
        elif kind != ONE:
            set_word(stack, np.int64(CLASS_AT), place)
            return np.int64(-BAD_KRYO)
        if pos < 0:
            return np.int64(-SHORT)
        if n > end - pos:
            return np.int64(-BAD_LENGTH)
        if kind == AS_LIST and not five:
            pos, _component, seen = _class(buf, pos, end, pool, first, count, names, seen)
            if pos < 0:
                return pos
        todo[depth], left[depth], kinds[depth] = _CLASS_OBJECT, n, 0
        if kind == STRINGS:
            todo[depth], kinds[depth] = _OBJECT, STRING
        elif flag:
            todo[depth], kinds[depth] = _ELEMENTS, np.int64(kind == IMMUTABLE)
        depth += 1
        if kind == SORTED_MAP or kind == SORTED_SET:
            todo[depth], left[depth], kinds[depth] = _CLASS_OBJECT, 1, 0
            depth += 1
    return pos
