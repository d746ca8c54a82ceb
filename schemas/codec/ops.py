"""The instructions of the codec programs. One program serves both ways: decode reads bytes, encode writes them.

A program is an int64 array of shape (n, 8): op, then operands. Operands that start with ``s`` are slots: growing
columns of one element width that live in one arena. A *null path* is a run of ``FILL*`` instructions which gives
each slot below a null node its placeholder, so that the children of an Arrow struct keep its length.
"""

from __future__ import annotations

from itertools import count

_number = count()


def _next(n: int) -> list[int]:
    return [next(_number) for _ in range(n)]


# The instructions stand in groups, which the kernels tell by their last one; the first groups are the most frequent.
END = next(_number)
# Numbers. Big-endian, of fixed width: slot
I1, I2, I4, I8, BOOL = _next(5)  # BOOL: any byte but 0 is true
# The same behind a null flag: slot, svalid, the byte that means null. What POJO fields are made of.
F_I1, F_I2, F_I4, F_I8, F_BOOL = _next(5)
I8_FLIPPED = next(_number)  # slot; the sign bit is flipped on the wire (timers)
ENUM = next(_number)  # slot, number of constants
LAST_NUMBER = ENUM
# Strings: soff, sdata[, svalid[, null byte]]. STR: StringValue, null = 0; STR_VALUE: varint(n), no null.
STR, F_STR, STR_VALUE = _next(3)
LAST_STRING = STR_VALUE
# What may be null: svalid, target of the null path, -, 1 if svalid is the flag's own
FLAG, BRANCH = _next(2)  # the byte that means null; an i4, the union branch that means null
MASK = next(_number)  # bytes of the mask, which begins a row
MASK_BIT, B_BIT = _next(2)  # bit of the mask; field of a binary row
LIST_BIT, B_ELEMENT_BIT = _next(2)  # of the element where a masked list or a binary array is
ROW_KIND = next(_number)  # slot: bits 0 and 1 of the mask
LAST_NULL = ROW_KIND
# Slots without bytes
PRESENT = next(_number)  # svalid: the value is there
FILL1, FILL2, FILL4, FILL8, FILL16, FILL_OFFSET = _next(6)  # slot; FILL_OFFSET repeats the last offset
LAST_FILL = FILL_OFFSET
# Collections
LIST, NEXT = _next(2)  # soff, target behind the loop, least bytes of an element
# Elements up to the end of the value or frame: soff, target; DELIMITED_NEXT: 1 if no ',' stands between them
DELIMITED, DELIMITED_NEXT = _next(2)
BLOCK, BLOCK_NEXT = _next(2)  # soff, target, least: Avro's varint count, the elements, 0
MASKED_LIST = next(_number)  # soff, target
LAST_LOOP = MASKED_LIST
# Choices
POJO = next(_number)  # svalid, target of the null path, number of CASEs, sclass, svalid of the class
SWITCH = next(_number)  # stag, number of CASEs, bytes of the tag
CASE = next(_number)  # target, tag (-1: a class name), start and length in the pool
LAST_CHOICE = CASE
# Flink SQL's binary formats; a frame on the stack knows where the current field or element lies
B_ROW = next(_number)  # fields, skind, 1 if nested in another binary value
B_ARRAY, B_ARRAY_NEXT = _next(2)  # soff, target behind the loop, bytes of an element, nested
B_MAP, B_MAP_KEYS, B_MAP_VALUES = _next(3)  # soff, -, -, nested; target, bytes of an element
B_1, B_2, B_4, B_8 = _next(4)  # slot
LAST_BINARY = B_8
# Others, which the kernels see to by themselves
JUMP = next(_number)  # target
UNMASK, B_END = _next(2)  # the row or map is done
CONST = next(_number)  # count: that many zero bytes, of no meaning (VoidNamespace, padding)
EXPECT = next(_number)  # a byte that has to be there
FRAME, UNFRAME = _next(2)  # i4 length, and what it frames
B_FRAME, B_UNFRAME = _next(2)  # what the slot points at is a value of another serializer
MARK = next(_number)  # slot of 8 bytes: the position itself, for callers that cut a value in pieces
LAST_OTHER = MARK

# From here on each instruction is a value by itself.
# Bytes: soff, sdata
BLOB = next(_number)  # -, -, 1 if it is text: i4 length, bytes
REST = next(_number)  # -, -, keep: the bytes up to the end of the value, less ``keep``
RAW = next(_number)  # -, -, n: that many bytes
VARIANT = next(_number)  # soff, sdata of the value; soff, sdata of the metadata
B_BYTES = next(_number)  # -, -, 1 if it is text, 1 if short ones stand in the slot
SPAN = next(_number)  # -, -, row: what the rows of SPAN_* step over
KRYO = next(
    _number
)  # -, -, Kryo's version, bodies of registered classes in the pool, how many, row of the shape
# Numbers of any size
BIG_INT = next(_number)  # soff, sdata, svalid
BIG_DECIMAL = next(_number)  # soff, sdata, svalid, sscale
DECIMAL_LONG, DECIMAL_BYTES, DECIMAL_FIXED = _next(3)  # slot of 16 bytes[, size]
B_DECIMAL_LONG, B_DECIMAL_BYTES = _next(2)  # slot of 16 bytes
# Times, null in band: slot, svalid; the wide ones where Arrow's 64 bits do not hold them
MILLIS = next(_number)  # i8, Long.MIN_VALUE = null
SQL_TIMESTAMP, INSTANT = _next(2)  # nanoseconds
WIDE_INSTANT, WIDE_SQL_TIMESTAMP = _next(2)  # sseconds or smillis, svalid, snanos
LOCAL_DATE, LOCAL_TIME, LOCAL_DATE_TIME = _next(3)  # days, nanoseconds of the day, nanoseconds
WIDE_DATE, WIDE_DATE_TIME = _next(2)  # syear, svalid, smonth, sday[, snanos of the day]
TIMESTAMP_DATA, B_TIMESTAMP = _next(2)  # slot, nanoseconds of the column's unit
WIDE_TIMESTAMP_DATA, B_WIDE_TIMESTAMP = _next(2)  # smillis, snanos

# The rows that find the end of a value of a type that holds itself
SPAN_BYTES, SPAN_FRAMED = _next(2)  # count; i4 length, bytes
SPAN_BLOCK, SPAN_NEXT = _next(2)  # target behind the loop: Avro's varint count, the elements, 0
SPAN_BRANCH, SPAN_GOTO = _next(2)  # an i4, how many GOTOs follow; target
SPAN_CALL, SPAN_RETURN = _next(2)  # target

#: CONST instead of a count: what is left of the value is dropped, and nothing is written.
TO_END = -1

# How rows lie: each its own span that its value may leave in part or must fill, or one behind the other.
PART, EXACT, CHAINED = 0, 1, 2
# Added to these: a value that no column holds (:data:`UNHELD`) is left out instead of ending it all; one with anything
# wrong; only one whose end is found. With STEP what no column holds is stepped over, for who asks where values end.
SKIP, SKIP_ALL, SKIP_ODD, STEP = 4, 12, 8, 16
PLACES = 3

#: Added to the position behind a text or time that is as Flink writes it and that its Arrow column does not hold.
ODD_TIME, ODD_TEXT = 1 << 61, 1 << 62

#: The most that one instruction writes beside strings, masks, binary values and other bytes.
ROOM = 32

#: Words of a stack frame: collections, masks and binary values keep their place in one.
FRAME_WORDS = 8
STACK = 64
CLASS_AT = FRAME_WORDS * STACK
"""The word behind the stack: where a Kryo value names a class that is not known."""
STACK_WORDS = CLASS_AT + 1

# What a kernel answers beside the position: 0 is success.
(
    OK,
    SHORT,
    TRAILING,
    BAD_LENGTH,
    BAD_FLAG,
    BAD_STRING,
    BAD_ENUM,
    RANGE,
    SUBCLASS,
    OVERFLOW,
    NULL,
    BAD_SEPARATOR,
    DEEP,
    BAD_TAG,
    BAD_BINARY,
    BAD_KRYO,
    FAR_TIME,
    NO_TEXT,
    KRYO_REFERENCE,
    KRYO_COMPARATOR,
    KRYO_SHAPE,
    NULL_KEY,
    OTHER_NULL,
) = range(23)

#: What of it are values as Flink writes them, that nothing here reads: they are left out, and the others are read.
UNHELD = (
    SUBCLASS, BAD_KRYO, FAR_TIME, NO_TEXT, KRYO_REFERENCE, KRYO_COMPARATOR, KRYO_SHAPE, NULL_KEY, OTHER_NULL,
)  # fmt: skip

REASONS = {
    SHORT: "the data ends inside the value",
    TRAILING: "bytes follow the end of the value",
    BAD_LENGTH: "a length cannot be held in the bytes that are left",
    BAD_FLAG: "a flag byte has a value that Flink does not write",
    BAD_STRING: "a string is not what Flink writes",
    BAD_ENUM: "an enum index is beyond its constants",
    RANGE: "a number or a part of a time is out of range",
    SUBCLASS: "a subclass whose serializer is not in the snapshot",
    OVERFLOW: "the value has more elements than its bytes can hold",
    NULL: "a null stands where the serializer holds none",
    BAD_SEPARATOR: "list elements are not separated by a comma",
    DEEP: "the value is nested too deeply",
    BAD_TAG: "a tag names no alternative of its union",
    BAD_BINARY: "a binary row, array or map points outside itself",
    BAD_KRYO: "a Kryo value of a class that is not known here",
    KRYO_SHAPE: "a Kryo value that is not of the shape declared for it",
    KRYO_REFERENCE: "a Kryo value with the same object at two places",
    KRYO_COMPARATOR: "a Kryo collection with a comparator",
    NO_TEXT: "a string has half of a surrogate pair or is no UTF-8, and no column of text holds it",
    FAR_TIME: "a time is beyond what its Arrow column holds",
    NULL_KEY: "a map with a null key, and no column of maps holds it",
    OTHER_NULL: "a null that its column does not tell from another (Some(null) from None, null from None or Unit)",
}
