"""Serializer snapshots to types: what the bytes of a state mean, from the savepoint alone.

What has no rule here becomes an OpaqueType that says whose it is: a value that holds one is carried as bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from . import types as t
from .snapshots import (
    CompositeSnapshot,
    EnumSnapshot,
    GenericSnapshot,
    KryoSnapshot,
    OpaqueSnapshot,
    PojoField,
    PojoSnapshot,
    SerializerSnapshot,
    SimpleSnapshot,
    TtlAwareSnapshot,
)
from .snapshots.names import TW, A, B, R, S, T, W, inner

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
}  # fmt: skip

_ARRAYS: dict[str, t.ScalarName] = {
    **{
        inner(f"{A}{name.capitalize()}PrimitiveArraySerializer"): name  # type: ignore[misc]
        for name in ("boolean", "char", "short", "int", "long", "float", "double")
    },
    inner(f"{A}StringArraySerializer"): "string",
}


def type_of(snapshot: SerializerSnapshot) -> t.DataType:
    """The type that ``snapshot`` stands for; parts that are not decoded are OpaqueType nodes with the reason."""
    match snapshot:
        case SimpleSnapshot():
            return _simple(snapshot)
        case CompositeSnapshot():
            rule = _COMPOSITES.get(snapshot.class_name)
            if rule is not None:
                return rule(snapshot)
        case PojoSnapshot():
            return _pojo(snapshot)
        case EnumSnapshot():
            return t.EnumType(class_name=snapshot.enum_class, constants=snapshot.constants)
        case TtlAwareSnapshot():
            return type_of(snapshot.inner)
        case KryoSnapshot():
            return t.OpaqueType(class_name=snapshot.type_class, reason="Kryo without a declared shape")
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
    return t.OpaqueType(class_name=name, reason="no codec for this serializer")


def _pojo(snapshot: PojoSnapshot) -> t.DataType:
    return t.PojoType(
        class_name=snapshot.pojo_class,
        fields=tuple(_pojo_field(part) for part in snapshot.fields),
        registered=tuple(
            t.Field(name=part.subclass, type=_optional(part.snapshot, part.subclass))
            for part in snapshot.registered_subclasses
        ),
        non_registered=tuple(
            t.Field(name=part.subclass, type=_optional(part.snapshot, part.subclass))
            for part in snapshot.non_registered_subclasses
        ),
    )


def _pojo_field(part: PojoField) -> t.Field:
    return t.Field(name=part.field_name or part.key_name, type=_optional(part.snapshot, part.key_name))


def _optional(snapshot: SerializerSnapshot | None, name: str) -> t.DataType:
    if snapshot is None:
        return t.OpaqueType(class_name=name, reason="its serializer snapshot is missing")
    return type_of(snapshot)


def _fields(snapshot: CompositeSnapshot) -> tuple[t.Field, ...]:
    return tuple(t.Field(name=f"f{i}", type=type_of(nested)) for i, nested in enumerate(snapshot.nested))


def _list(snapshot: CompositeSnapshot) -> t.DataType:
    return t.ListType(element=type_of(snapshot.nested[0]))


def _tuple(snapshot: CompositeSnapshot) -> t.DataType:
    return t.TupleType(class_name=str(snapshot.outer), fields=_fields(snapshot))


def _row(snapshot: CompositeSnapshot) -> t.DataType:
    kind = snapshot.outer if isinstance(snapshot.outer, bool) else snapshot.outer_version == 3
    return t.RowType(fields=_fields(snapshot), supports_row_kind=kind)


_COMPOSITES: dict[str, Callable[[CompositeSnapshot], t.DataType]] = {
    f"{B}ListSerializerSnapshot": _list,
    f"{S}ArrayListSerializerSnapshot": _list,
    f"{B}SetSerializerSnapshot": lambda s: t.ListType(
        element=type_of(s.nested[0]), flavour="set", element_flag="is_null"
    ),
    f"{B}GenericArraySerializerSnapshot": lambda s: t.ListType(
        element=type_of(s.nested[0]), flavour="array", element_flag="is_present", class_name=str(s.outer)
    ),
    f"{B}MapSerializerSnapshot": lambda s: t.MapType(key=type_of(s.nested[0]), value=type_of(s.nested[1])),
    f"{R}NullableSerializer$NullableSerializerSnapshot": lambda s: t.NullableType(
        inner=type_of(s.nested[0]), padding=s.outer if isinstance(s.outer, int) else 0
    ),
    f"{R}TupleSerializerSnapshot": _tuple,
    f"{R}RowSerializer$RowSerializerSnapshot": _row,
    f"{S}ttl.TtlStateFactory$TtlSerializerSnapshot": lambda s: t.TtlType(inner=type_of(s.nested[1])),
    f"{S}v2.ttl.TtlStateFactory$TtlSerializerSnapshot": lambda s: t.TtlType(inner=type_of(s.nested[1])),
}
