"""The rows of a compiled Kryo shape: what is read where, and in what form it is handed on.

A shape is turned into rows of eight words, in the code of the program it belongs to, behind its END. The Kryo
kernels follow them and copy a value between Kryo's bytes and *plain* bytes: those of an ordinary type
(:func:`.kryo_plain.plain_type`), which the ordinary codec reads and writes.
"""

from __future__ import annotations

from itertools import count

# A place where an object stands: SLOT, mode, number of alternatives, row of the first, form
#: A Java primitive; an object of a class that is known, or null; an object behind its class.
PRIMITIVE, KNOWN, TAGGED = range(3)
#: Bits of a place's form in plain bytes: a null flag, and the number of the alternative.
FLAGGED, CHOICE = 1, 2
# An alternative: ALTERNATIVE, tag (-1: by name), start and length of the name in the pool, number of the class,
# row of the body, whether Kryo numbers such objects for references

# Bodies. Those up to LAST_LEAF hold no other objects; the order matters to the kernels.
_number = count()


def _next(n: int) -> list[int]:
    return [next(_number) for _ in range(n)]


BOOLEAN, BYTE, SHORT, INT, LONG, FLOAT, DOUBLE = _next(7)
STRING, BYTES, INTS, LONGS, ONES, TWOS, FOURS, EIGHTS = _next(8)
UUID, BIT_SET, BIG_INTEGER, BIG_DECIMAL, DATE, STAMP = _next(6)
INSTANT, DURATION, LOCAL_DATE, LOCAL_TIME, LOCAL_DATE_TIME = _next(5)
YEAR, YEAR_MONTH, MONTH_DAY, PERIOD, OPTIONAL_INT, OPTIONAL_LONG, OPTIONAL_DOUBLE, ZONE_OFFSET = _next(8)
ATOMIC_BOOLEAN, OFFSET_DATE_TIME, ZONED_DATE_TIME, LOCALE = _next(4)
LAST_LEAF = LOCALE
ENUM = next(_number)  # constants
LAST_SHARED = ENUM
"""Up to here a reference to an earlier object is read as that object once more."""
CLASS = next(_number)  # fields, row of the first
COLLECTION = next(_number)  # row of the element, 1 if a comparator comes with it
MAP = next(_number)  # row of the key, row of the value, 1 if a comparator comes with it
ARRAY = next(_number)  # row of the element

# The words of a kernel's state; behind them stand the tables of one value.
OUT, REFS, NAMES, ENUMS, PLACE = range(5)
WORDS = 5
NOWHERE = -1
"""In the place of PLACE, which is where a class is named that does not fit: none is."""
DISCARD = -1
"""In the place of OUT: nothing is written, only the end of the value is looked for."""
MOST_NAMES = 64
MOST_ENUMS = 64
#: Taking: the classes that names stood for, then pairs of an object's place and what it is.
CLASSES_AT = WORDS
OBJECTS_AT = CLASSES_AT + MOST_NAMES
#: Giving: pairs of an enum constant and its number, then the numbers of names that were written.
CONSTANTS_AT = WORDS
NAMES_AT = CONSTANTS_AT + 2 * MOST_ENUMS
