"""The instructions of the codec programs. One program serves both ways: decode reads bytes, encode writes them.

A program is an int64 array of shape (n, 5): op, then operands. ``s*`` operands are slots: growing columns of one
element width that live in one arena. A *null path* is a run of ``FILL*`` instructions which gives each slot
below a null node its placeholder, so that the children of an Arrow struct keep its length.
"""

from __future__ import annotations

END = 0
JUMP = 1  # target
# Fixed-width big-endian values: slot
I1, I2, I4, I8 = 2, 3, 4, 5
BOOL = 6  # slot; any byte but 0 is true
I8_FLIPPED = 7  # slot; the sign bit is flipped on the wire (timers)
CONST = 8  # count: that many zero bytes, of no meaning (VoidNamespace)
# Variable-width values: offsets slot, data slot[, validity slot]
STR = 9  # soff, sdata, svalid: StringValue; null = 0
STR_VALUE = 10  # soff, sdata: StringValueSerializer; varint(n), no null
BLOB = 11  # soff, sdata: i4 length, bytes
REST = 12  # soff, sdata, keep: the bytes up to the end of the value, less ``keep``
BIG_INT = 13  # soff, sdata, svalid
# Null flags: svalid, target of the null path, the byte that means null
FLAG = 14
POJO = 15  # svalid, target, -: flags byte 1 = null, 2 = this class
# Collections
LIST = 16  # soff, target behind the loop, least bytes of an element
NEXT = 17  # -: back to the body while elements remain
DELIMITED = 18  # soff, target behind the loop: elements up to the end of the value, one ',' between them
DELIMITED_NEXT = 19
# Row masks
MASK = 20  # bytes of the mask
MASK_BIT = 21  # svalid, target of the null path, bit
ROW_KIND = 22  # slot: bits 0 and 1 of the mask
UNMASK = 23
# Dates and times, null in band: slot, svalid
MILLIS = 24  # i8, Long.MIN_VALUE = null
SQL_TIMESTAMP = 25  # -> nanoseconds
INSTANT = 26  # -> nanoseconds
LOCAL_DATE = 27  # -> days
LOCAL_TIME = 28  # -> nanoseconds of the day
LOCAL_DATE_TIME = 29  # -> nanoseconds
ENUM = 30  # slot, number of constants
# Null paths: slot (FILL_OFFSET repeats the last offset)
FILL1, FILL2, FILL4, FILL8, FILL_OFFSET = 31, 32, 33, 34, 35
PAD = 37  # count: zero bytes that stand for a null value
DECIMAL = 38  # soff, sdata, svalid, slot of the scale

MARK = 39  # slot: the position itself, for callers that cut a value in pieces

# How rows lie: each its own span that its value may leave in part or must fill, or one behind the other.
PART, EXACT, CHAINED = 0, 1, 2

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
) = range(13)

REASONS = {
    SHORT: "the data ends inside the value",
    TRAILING: "bytes follow the end of the value",
    BAD_LENGTH: "a length cannot be held in the bytes that are left",
    BAD_FLAG: "a flag byte has a value that Flink does not write",
    BAD_STRING: "a string is not what Flink writes",
    BAD_ENUM: "an enum index is beyond its constants",
    RANGE: "a time is beyond what Arrow's 64-bit column holds",
    SUBCLASS: "a subclass whose serializer is not in the snapshot",
    OVERFLOW: "the value has more elements than its bytes can hold",
    BAD_SEPARATOR: "list elements are not separated by a comma",
    DEEP: "the value is nested too deeply",
}
