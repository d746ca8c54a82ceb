"""Serializer snapshots to types: what the bytes of a state mean, from the savepoint alone.

What has no rule here becomes an OpaqueType that says whose it is: a value that holds one is carried as bytes.
"""

from __future__ import annotations

from typing import Literal

from . import types as t
from .from_avro import type_of_avro
from .from_composite import DEWEY_NUMBER, EVENT_ID, NESTED, RULES
from .from_logical import decimal_type, type_of_logical
from .snapshots import (
    ArrayDataSnapshot,
    AvroSnapshot,
    BinaryRowDataSnapshot,
    CompositeSnapshot,
    DecimalDataSnapshot,
    EnumSnapshot,
    GenericSnapshot,
    KryoSnapshot,
    MapDataSnapshot,
    OpaqueSnapshot,
    PojoSnapshot,
    PojoSubclass,
    RowDataKeySnapshot,
    RowDataSnapshot,
    ScalaEnumSnapshot,
    SerializerSnapshot,
    SimpleSnapshot,
    SortedMapSnapshot,
    TimestampDataSnapshot,
    TtlAwareSnapshot,
)
from .snapshots.names import CEP, DV, FLINK, SCALA, TW, A, B, R, S, T, W, inner

_MOST_IDS = 4096

_SCALARS: dict[str, t.ScalarName] = {
    **{
        inner(f"{B}{java}Serializer"): name
        for java, name in {
            "Boolean": "boolean", "Byte": "byte", "Short": "short", "Int": "int", "Long": "long", "Float": "float",
            "Double": "double", "Char": "char", "String": "string", "Void": "void", "Date": "date",
            "SqlDate": "sql_date", "SqlTime": "sql_time", "SqlTimestamp": "sql_timestamp", "Instant": "instant",
            "LocalDate": "local_date", "LocalTime": "local_time", "LocalDateTime": "local_date_time",
            "BigInt": "big_integer", "BigDec": "big_decimal", "BooleanValue": "boolean", "ByteValue": "byte",
            "ShortValue": "short", "IntValue": "int", "LongValue": "long", "FloatValue": "float",
            "DoubleValue": "double", "CharValue": "char", "StringValue": "string_value", "NullValue": "null",
        }.items()
    },
    inner(f"{S}VoidNamespaceSerializer"): "void",
    inner(f"{A}BytePrimitiveArraySerializer"): "bytes",
    inner("org.apache.flink.streaming.api.utils.ByteArrayWrapperSerializer"): "bytes",
    f"{W}TimeWindow$Serializer$TimeWindowSerializerSnapshot": "window",
    f"{W}GlobalWindow$Serializer$GlobalWindowSerializerSnapshot": "global_window",
    f"{TW}TimeWindow$Serializer$TimeWindowSerializerSnapshot": "window",
    f"{TW}CountWindow$Serializer$CountWindowSerializerSnapshot": "count_window",
    f"{TW}GlobalWindow$Serializer$GlobalWindowSerializerSnapshot": "global_window",
    inner(f"{T}StringDataSerializer"): "string_data",
    inner(f"{FLINK}queryablestate.client.VoidNamespaceSerializer"): "void",
    inner(f"{DV}NullSerializer"): "void",
    inner(f"{B}VariantSerializer"): "variant",
    inner(f"{B}BitmapSerializer"): "bitmap",
    inner(f"{FLINK}table.runtime.operators.sink.SortedLongSerializer"): "flipped_long",
    f"{R}Tuple0SerializerSnapshot": "tuple0",
    **{package + "UnitSerializer$UnitSerializerSnapshot": "void" for package in SCALA},
    **{package + "NothingSerializerSnapshot": "null" for package in SCALA},
}  # fmt: skip

_ARRAYS: dict[str, t.ScalarName] = {
    **{
        inner(f"{A}{name.capitalize()}PrimitiveArraySerializer"): name  # type: ignore[misc]
        for name in ("boolean", "char", "short", "int", "long", "float", "double")
    },
    inner(f"{A}StringArraySerializer"): "string",
}

_SIMPLE_NODES: dict[str, t.DataType] = {
    CEP + "DeweyNumber$DeweyNumberSerializer$DeweyNumberSerializerSnapshot": DEWEY_NUMBER,
    CEP + "sharedbuffer.EventId$EventIdSerializer$EventIdSerializerSnapshot": EVENT_ID,
}

#: Classes that write themselves and whose layout is known: Flink's mutable values.
_VALUES: dict[str, t.ScalarName] = {
    f"org.apache.flink.types.{java}Value": name
    for java, name in {
        "Boolean": "boolean", "Byte": "byte", "Short": "short", "Int": "int", "Long": "long", "Float": "float",
        "Double": "double", "Char": "char", "String": "string_value", "Null": "null",
    }.items()
}  # type: ignore[assignment]  # fmt: skip

#: Kryo states of these are JDK objects all through, as far as the type can tell.
_KRYO_MEASURED = (
    "java.util.List", "java.util.ArrayList", "java.util.LinkedList", "java.util.Collection", "java.util.Set",
    "java.util.HashSet", "java.util.LinkedHashSet", "java.util.TreeSet", "java.util.Map", "java.util.HashMap",
    "java.util.LinkedHashMap", "java.util.TreeMap", "java.util.SortedMap", "java.util.SortedSet",
    "java.util.Queue", "java.util.Deque", "java.util.ArrayDeque", "java.util.PriorityQueue",
    "java.util.concurrent.ConcurrentHashMap", "java.util.Optional", "java.util.UUID", "java.util.BitSet",
    "java.lang.Object", "java.lang.Iterable", "java.lang.Number", "java.net.URI", "java.util.Currency",
)  # fmt: skip


def type_of(snapshot: SerializerSnapshot, *, kryo: Literal[2, 5] | None = None) -> t.DataType:
    """The type that ``snapshot`` stands for; parts that are not decoded are OpaqueType nodes with the reason.

    ``kryo`` is the major version of the Kryo that wrote the values (Flink 1.x: 2, Flink 2.x: 5), which snapshots
    do not tell; without it all that Kryo wrote is opaque.
    """
    match snapshot:
        case SimpleSnapshot():
            return _simple(snapshot)
        case CompositeSnapshot():
            return _composite(snapshot, tuple(type_of(nested, kryo=kryo) for nested in snapshot.nested))
        case PojoSnapshot():
            return _pojo(snapshot, kryo)
        case EnumSnapshot():
            return t.EnumType(class_name=snapshot.enum_class, constants=snapshot.constants)
        case ScalaEnumSnapshot():
            return _scala_enum(snapshot)
        case TtlAwareSnapshot():
            return type_of(snapshot.inner, kryo=kryo)
        case AvroSnapshot():
            return type_of_avro(snapshot.schema)
        case RowDataSnapshot():
            fields = enumerate(snapshot.types)
            return t.RowDataType(
                fields=tuple(t.Field(name=f"f{i}", type=type_of_logical(one)) for i, one in fields)
            )
        case BinaryRowDataSnapshot():
            return t.scalar("raw_data")
        case RowDataKeySnapshot():
            return type_of(snapshot.row, kryo=kryo)
        case DecimalDataSnapshot():
            return decimal_type(snapshot.precision, snapshot.scale)
        case TimestampDataSnapshot():
            return t.TimestampDataType(precision=snapshot.precision)
        case ArrayDataSnapshot():
            return t.ArrayDataType(element=type_of_logical(snapshot.element_type))
        case MapDataSnapshot():
            key, value = type_of_logical(snapshot.key_type), type_of_logical(snapshot.value_type)
            return t.MapDataType(key=key, value=value)
        case SortedMapSnapshot() if len(snapshot.nested) == 2:
            key, value = (type_of(nested, kryo=kryo) for nested in snapshot.nested)
            return t.MapType(key=key, value=value)
        case KryoSnapshot():
            return _kryo(snapshot, kryo)
        case GenericSnapshot() if snapshot.type_class in _VALUES:
            return t.scalar(_VALUES[snapshot.type_class])
        case GenericSnapshot():
            return t.OpaqueType(
                class_name=snapshot.type_class, reason="written by the class's own write method"
            )
        case OpaqueSnapshot():
            return t.OpaqueType(
                class_name=snapshot.unknown_class, reason="serializer snapshot of unknown layout"
            )
    return t.OpaqueType(class_name=snapshot.class_name, reason="no codec for this serializer")


def _simple(snapshot: SimpleSnapshot) -> t.DataType:
    name = snapshot.class_name
    if name in _SCALARS:
        return t.scalar(_SCALARS[name])
    if name in _ARRAYS:
        return t.ListType(element=t.scalar(_ARRAYS[name]), flavour="array")
    if name in _SIMPLE_NODES:
        return _SIMPLE_NODES[name]
    return t.OpaqueType(class_name=name, reason="no codec for this serializer")


def _composite(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    rule = RULES.get(snapshot.class_name)
    if rule is None or len(nested) < NESTED.get(snapshot.class_name, 1):
        return t.OpaqueType(class_name=snapshot.class_name, reason="no codec for this serializer")
    return rule(snapshot, nested)


def _pojo(snapshot: PojoSnapshot, kryo: Literal[2, 5] | None) -> t.DataType:
    def optional(nested: SerializerSnapshot | None, name: str) -> t.DataType:
        if nested is None:
            return t.OpaqueType(class_name=name, reason="its serializer snapshot is missing")
        return type_of(nested, kryo=kryo)

    def classes(parts: tuple[PojoSubclass, ...]) -> tuple[t.Field, ...]:
        return tuple(
            t.Field(name=part.subclass, type=optional(part.snapshot, part.subclass)) for part in parts
        )

    return t.PojoType(
        class_name=snapshot.pojo_class,
        fields=tuple(
            t.Field(name=part.field_name or part.key_name, type=optional(part.snapshot, part.key_name))
            for part in snapshot.fields
        ),
        registered=classes(snapshot.registered_subclasses),
        non_registered=classes(snapshot.non_registered_subclasses),
    )


def _scala_enum(snapshot: ScalaEnumSnapshot) -> t.DataType:
    """A value is an id: ids without a name stand as ``#id`` among the constants."""
    names = {number: name for name, number in snapshot.enum_constants}
    top = max(names, default=-1)
    if min(names, default=0) < 0 or top >= _MOST_IDS:
        return t.OpaqueType(class_name=snapshot.enumeration_class, reason="its ids are no small numbers")
    constants = tuple(names.get(number, f"#{number}") for number in range(top + 1))
    return t.EnumType(class_name=snapshot.enumeration_class, constants=constants)


def _kryo(snapshot: KryoSnapshot, kryo: Literal[2, 5] | None) -> t.DataType:
    if kryo is None:
        return t.OpaqueType(class_name=snapshot.type_class, reason="written by Kryo, of an unknown version")
    return t.OpaqueType(class_name=snapshot.type_class, reason="Kryo without a declared shape")
