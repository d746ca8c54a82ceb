"""The JDK classes whose Kryo bodies are known, and Kryo's numbers of some (spec "serializers", section 4)."""

from __future__ import annotations

# Bodies. Those up to DOUBLE are of classes that Kryo does not number for references.
UNKNOWN, VARINT, BYTE, TWO, FOUR, EIGHT = range(6)
(
    STRING, COLLECTION, IMMUTABLE, AS_LIST, SORTED_SET, MAP, SORTED_MAP, EMPTY, ONE, PAIR, BITS, UUID, DATE, STAMP,
    BIG_INTEGER, BIG_DECIMAL, BYTES, VARINTS, TWOS, FOURS, EIGHTS, STRINGS, OBJECTS, INSTANT, DURATION, LOCAL_DATE,
    LOCAL_TIME, LOCAL_DATE_TIME, PATTERN, ADDRESS, LOCALE, NUMBER, TWO_NUMBERS, THREE_NUMBERS, OPTIONAL_INT,
    OPTIONAL_LONG, OPTIONAL_DOUBLE, ZONE_OFFSET, ZONE_REGION, OFFSET_TIME, OFFSET_DATE_TIME, ZONED_DATE_TIME, CALENDAR,
    URL,
) = range(6, 50)  # fmt: skip
LAST_BODY = URL

_U = "java.util."
_C = "java.util.concurrent."
_T = "java.time."
_I = "java.util.ImmutableCollections$"
CLASSES: dict[str, int] = {
    "java.lang.Integer": VARINT, "java.lang.Long": VARINT, "java.lang.Boolean": BYTE, "java.lang.Byte": BYTE,
    "java.lang.Short": TWO, "java.lang.Character": TWO, "java.lang.Float": FOUR, "java.lang.Double": EIGHT,
    "java.lang.String": STRING, "java.net.URI": STRING, _U + "Currency": STRING, "java.lang.StringBuilder": STRING,
    **{_U + name: COLLECTION for name in (
        "ArrayList", "LinkedList", "HashSet", "LinkedHashSet", "ArrayDeque", "Vector", "Stack")},
    **{_C + name: COLLECTION for name in (
        "CopyOnWriteArrayList", "CopyOnWriteArraySet", "ConcurrentLinkedQueue", "ConcurrentLinkedDeque")},
    **{_I + name: IMMUTABLE for name in ("ListN", "List12", "SetN", "Set12")},
    _U + "Arrays$ArrayList": AS_LIST, _U + "TreeSet": SORTED_SET, _U + "PriorityQueue": SORTED_SET,
    **{_U + name: MAP for name in ("HashMap", "LinkedHashMap", "Hashtable")},
    _C + "ConcurrentHashMap": MAP, _I + "MapN": MAP, _I + "Map1": MAP,
    _U + "TreeMap": SORTED_MAP, _C + "ConcurrentSkipListMap": SORTED_MAP,
    **{_U + "Collections$Empty" + name: EMPTY for name in ("List", "Map", "Set")},
    _U + "Collections$SingletonList": ONE, _U + "Collections$SingletonSet": ONE, _U + "Optional": ONE,
    _U + "Collections$SingletonMap": PAIR, _U + "BitSet": BITS, _U + "UUID": UUID, _U + "Date": DATE,
    "java.sql.Date": DATE, "java.sql.Time": DATE, "java.sql.Timestamp": STAMP,
    "java.math.BigInteger": BIG_INTEGER, "java.math.BigDecimal": BIG_DECIMAL, "[B": BYTES, "[I": VARINTS,
    "[J": VARINTS, "[S": TWOS, "[C": TWOS, "[F": FOURS, "[D": EIGHTS, "[Ljava.lang.String;": STRINGS,
    "[Ljava.lang.Object;": OBJECTS, "java.time.Instant": INSTANT, "java.time.Duration": DURATION,
    "java.time.LocalDate": LOCAL_DATE, "java.time.LocalTime": LOCAL_TIME,
    "java.time.LocalDateTime": LOCAL_DATE_TIME, _U + "regex.Pattern": PATTERN,
    "java.net.InetSocketAddress": ADDRESS, _U + "Locale": LOCALE, "[Z": BYTES, "java.lang.StringBuffer": STRING,
    **{_C + "atomic.Atomic" + name: NUMBER for name in ("Integer", "Long", "Boolean")},
    _T + "Year": NUMBER, _T + "YearMonth": TWO_NUMBERS, _T + "MonthDay": TWO_NUMBERS, _T + "Period": THREE_NUMBERS,
    _U + "OptionalInt": OPTIONAL_INT, _U + "OptionalLong": OPTIONAL_LONG, _U + "OptionalDouble": OPTIONAL_DOUBLE,
    _T + "ZoneOffset": ZONE_OFFSET, _T + "ZoneRegion": ZONE_REGION, _T + "OffsetTime": OFFSET_TIME,
    _T + "OffsetDateTime": OFFSET_DATE_TIME, _T + "ZonedDateTime": ZONED_DATE_TIME,
    "sun.util.calendar.ZoneInfo": STRING, _U + "GregorianCalendar": CALENDAR, "java.net.URL": URL,
}  # fmt: skip
"""Classes whose bodies are known, by name."""

_PRIMITIVES = ("Integer", "String", "Float", "Boolean", "Byte", "Character", "Short", "Long", "Double")
DEFAULT_IDS: dict[str, int] = {
    **{"java.lang." + name: i for i, name in enumerate(_PRIMITIVES)},
    **{name: i for i, name in enumerate((
        _U + "Arrays$ArrayList", _U + "BitSet", _U + "PriorityQueue", _U + "regex.Pattern", "java.sql.Date",
        "java.sql.Time", "java.sql.Timestamp", "java.net.URI", "java.net.InetSocketAddress", _U + "UUID",
        _U + "Locale", "java.text.SimpleDateFormat"), 73)},
}  # fmt: skip
"""Kryo's numbers of classes that Flink always registers; the snapshot's own begin at :data:`FIRST_ID`."""
FIRST_ID = 85
