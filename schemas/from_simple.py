"""Serializers without parameters, by the class of their snapshot."""

from __future__ import annotations

from . import types as t
from .from_composite import DEWEY_NUMBER, EVENT_ID
from .snapshots.names import CEP, DV, FLINK, SCALA, TW, A, B, R, S, T, W, inner

#: Flink's mutable values: those that hash otherwise than Java's own are types of their own.
_VALUES: dict[str, t.ScalarName] = {
    "Boolean": "boolean_value", "Byte": "byte", "Short": "short", "Int": "int", "Long": "long_value",
    "Float": "float", "Double": "double_value", "Char": "char", "String": "string_value", "Null": "null",
}  # fmt: skip
BASE: dict[str, t.ScalarName] = {
    "Boolean": "boolean", "Byte": "byte", "Short": "short", "Int": "int", "Long": "long", "Float": "float",
    "Double": "double", "Char": "char", "String": "string", "Void": "void", "Date": "date",
    "SqlDate": "sql_date", "SqlTime": "sql_time", "SqlTimestamp": "sql_timestamp", "Instant": "instant",
    "LocalDate": "local_date", "LocalTime": "local_time", "LocalDateTime": "local_date_time",
    "BigInt": "big_integer", "BigDec": "big_decimal", "Variant": "variant", "Bitmap": "bitmap",
}  # fmt: skip
_OTHERS: dict[str, t.ScalarName] = {
    inner(f"{S}VoidNamespaceSerializer"): "void",
    inner(f"{FLINK}queryablestate.client.VoidNamespaceSerializer"): "void",
    inner(f"{DV}NullSerializer"): "void",
    inner(f"{A}BytePrimitiveArraySerializer"): "bytes",
    inner(f"{FLINK}streaming.api.utils.ByteArrayWrapperSerializer"): "bytes",
    f"{W}TimeWindow$Serializer$TimeWindowSerializerSnapshot": "window",
    f"{W}GlobalWindow$Serializer$GlobalWindowSerializerSnapshot": "global_window",
    f"{TW}TimeWindow$Serializer$TimeWindowSerializerSnapshot": "window",
    f"{TW}CountWindow$Serializer$CountWindowSerializerSnapshot": "count_window",
    f"{TW}GlobalWindow$Serializer$GlobalWindowSerializerSnapshot": "global_window",
    inner(f"{T}StringDataSerializer"): "string_data",
    inner(f"{FLINK}table.runtime.operators.sink.SortedLongSerializer"): "flipped_long",
    f"{R}Tuple0SerializerSnapshot": "tuple0",
}
_PRIMITIVES: tuple[t.ScalarName, ...] = ("boolean", "char", "short", "int", "long", "float", "double")

#: Classes of ``ValueSerializer`` whose layout is known: Flink's own mutable values.
VALUES: dict[str, t.DataType] = {
    f"{FLINK}types.{java}Value": t.scalar(name) for java, name in _VALUES.items()
}

_SIMPLE: dict[str, t.DataType] = {
    **{inner(f"{B}{java}Serializer"): t.scalar(name) for java, name in BASE.items()},
    **{inner(f"{B}{java}ValueSerializer"): t.scalar(name) for java, name in _VALUES.items()},
    **{name: t.scalar(kind) for name, kind in _OTHERS.items()},
    **{package + "UnitSerializer$UnitSerializerSnapshot": t.scalar("unit") for package in SCALA},
    **{package + "NothingSerializerSnapshot": t.scalar("nothing") for package in SCALA},
    **{
        inner(f"{A}{name.capitalize()}PrimitiveArraySerializer"): t.ListType(
            element=t.scalar(name), flavour="array"
        )
        for name in _PRIMITIVES
    },
    inner(f"{A}StringArraySerializer"): t.ListType(element=t.scalar("string"), flavour="array"),
    CEP + "DeweyNumber$DeweyNumberSerializer$DeweyNumberSerializerSnapshot": DEWEY_NUMBER,
    CEP + "sharedbuffer.EventId$EventIdSerializer$EventIdSerializerSnapshot": EVENT_ID,
}


def type_of_simple(class_name: str) -> t.DataType:
    """The type behind a simple snapshot class, opaque where there is no codec."""
    return _SIMPLE.get(class_name) or t.OpaqueType(
        class_name=class_name, reason="no codec for this serializer"
    )
