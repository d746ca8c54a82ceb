"""The classes that Kryo writes without other objects in them, and what they are in plain bytes."""

from __future__ import annotations

import typing
from dataclasses import dataclass

from .. import types as t
from . import kryo_ops as k


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A class without other objects in it: its name, its body, whether it is final, what it is in plain bytes."""

    class_name: str
    body: int
    final: bool = True
    referenced: bool = True
    plain: t.DataType
    #: Of Kryo 2, where it writes the fields of the class as objects.
    fields: tuple[t.DataType, ...] = ()
    #: Whether it is not read as Kryo 2 writes it.
    only_5: bool = False


def _leaf(
    class_name: str,
    body: int,
    plain: t.DataType,
    *,
    final: bool = True,
    referenced: bool = True,
    fields: tuple[t.DataType, ...] = (),
    only_5: bool = False,
) -> Leaf:
    return Leaf(
        class_name=class_name,
        body=body,
        plain=plain,
        final=final,
        referenced=referenced,
        fields=fields,
        only_5=only_5,
    )


def _boxed(name: str, body: int, scalar: t.ScalarName) -> Leaf:
    return _leaf(f"java.lang.{name}", body, t.scalar(scalar), referenced=False)


def _struct(class_name: str, **fields: t.DataType) -> t.TupleType:
    return t.TupleType(
        class_name=class_name, fields=tuple(t.Field(name=n, type=one) for n, one in fields.items())
    )


def _numbers(class_name: str, body: int, *names: str) -> Leaf:
    return _leaf(class_name, body, _struct(class_name, **dict.fromkeys(names, _INT)))


def _optional(name: str, body: int, scalar: t.ScalarName) -> Leaf:
    class_name = f"java.util.Optional{name}"
    return _leaf(class_name, body, _struct(class_name, value=t.NullableType(inner=t.scalar(scalar))))


def _atomic(name: str, body: int, scalar: t.ScalarName) -> Leaf:
    return _leaf(f"java.util.concurrent.atomic.Atomic{name}", body, t.scalar(scalar), final=False)


_TEXT, _INT, _DATE_TIME = t.scalar("string_value"), t.scalar("int"), t.scalar("local_date_time")
_MOMENT = _struct("java.time.Duration", seconds=t.scalar("long"), nanos=_INT)
_BITS = t.ListType(element=t.scalar("int"), flavour="array")

#: Java's primitives and their boxes, in the order in which ``object`` offers them.
BOXED: dict[str, Leaf] = {
    "boolean": _boxed("Boolean", k.BOOLEAN, "boolean"),
    "byte": _boxed("Byte", k.BYTE, "byte"),
    "short": _boxed("Short", k.SHORT, "short"),
    "int": _boxed("Integer", k.INT, "int"),
    "long": _boxed("Long", k.LONG, "long"),
    "float": _boxed("Float", k.FLOAT, "float"),
    "double": _boxed("Double", k.DOUBLE, "double"),
    "char": _boxed("Character", k.SHORT, "char"),
}
LEAVES: dict[str, Leaf] = {
    **BOXED,
    "string": _leaf("java.lang.String", k.STRING, _TEXT),
    "bytes": _leaf("[B", k.BYTES, t.scalar("bytes")),
    "uuid": _leaf("java.util.UUID", k.UUID, _TEXT),
    "uri": _leaf("java.net.URI", k.STRING, _TEXT),
    "bit_set": _leaf("java.util.BitSet", k.BIT_SET, _BITS, final=False),
    "big_integer": _leaf("java.math.BigInteger", k.BIG_INTEGER, t.scalar("big_integer"), final=False),
    "big_decimal": _leaf("java.math.BigDecimal", k.BIG_DECIMAL, t.scalar("big_decimal"), final=False),
    "date": _leaf("java.util.Date", k.DATE, t.scalar("date"), final=False),
    "sql_date": _leaf("java.sql.Date", k.DATE, t.scalar("sql_date"), final=False),
    "sql_time": _leaf("java.sql.Time", k.DATE, t.scalar("sql_time"), final=False),
    "sql_timestamp": _leaf("java.sql.Timestamp", k.STAMP, t.scalar("sql_timestamp"), final=False),
    "instant": _leaf("java.time.Instant", k.INSTANT, t.scalar("instant")),
    "duration": _leaf("java.time.Duration", k.DURATION, _MOMENT),
    "local_date": _leaf("java.time.LocalDate", k.LOCAL_DATE, t.scalar("local_date")),
    "local_time": _leaf("java.time.LocalTime", k.LOCAL_TIME, t.scalar("local_time")),
    "local_date_time": _leaf("java.time.LocalDateTime", k.LOCAL_DATE_TIME, _DATE_TIME),
    "currency": _leaf("java.util.Currency", k.STRING, _TEXT),
    "atomic_boolean": _atomic("Boolean", k.ATOMIC_BOOLEAN, "boolean"),
    "atomic_int": _atomic("Integer", k.INT, "int"),
    "atomic_long": _atomic("Long", k.LONG, "long"),
    "year": _leaf("java.time.Year", k.YEAR, _INT),
    "year_month": _numbers("java.time.YearMonth", k.YEAR_MONTH, "year", "month"),
    "month_day": _numbers("java.time.MonthDay", k.MONTH_DAY, "month", "day"),
    "period": _numbers("java.time.Period", k.PERIOD, "years", "months", "days"),
    "optional_int": _optional("Int", k.OPTIONAL_INT, "int"),
    "optional_long": _optional("Long", k.OPTIONAL_LONG, "long"),
    "optional_double": _optional("Double", k.OPTIONAL_DOUBLE, "double"),
    "zone_offset": _leaf("java.time.ZoneOffset", k.ZONE_OFFSET, _INT),
    "zone_region": _leaf("java.time.ZoneRegion", k.STRING, _TEXT, fields=(t.scalar("string"),)),
    "offset_date_time": _leaf(
        "java.time.OffsetDateTime",
        k.OFFSET_DATE_TIME,
        _struct("java.time.OffsetDateTime", local_date_time=_DATE_TIME, offset=_INT),
        fields=(t.scalar("local_date_time"), t.JavaType(name="zone_offset")),
    ),
    "zoned_date_time": _leaf(
        "java.time.ZonedDateTime",
        k.ZONED_DATE_TIME,
        _struct("java.time.ZonedDateTime", local_date_time=_DATE_TIME, zone=_TEXT),
        only_5=True,
    ),
    "locale": _leaf(
        "java.util.Locale",
        k.LOCALE,
        _struct("java.util.Locale", language=_TEXT, country=_TEXT, variant=_TEXT),
        only_5=True,
    ),
    "url": _leaf("java.net.URL", k.STRING, _TEXT, only_5=True),
}


def leaf_of(node: t.DataType) -> Leaf | None:
    name = node.name if isinstance(node, t.Scalar | t.JavaType) else ""
    return LEAVES.get(name)


def leaf_type(name: str) -> t.DataType:
    """The type of this name in :data:`LEAVES`."""
    if name in typing.get_args(t.JavaName):
        return t.JavaType(name=name)  # type: ignore[arg-type]
    return t.scalar(name)  # type: ignore[arg-type]
