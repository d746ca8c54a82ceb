"""Flink SQL's logical types to types of the binary formats (spec "serializers", 5.1 and 5.3)."""

from __future__ import annotations

from . import types as t
from .from_simple import type_of_simple
from .snapshots import (
    CollectionType,
    DecimalType,
    DistinctType,
    LogicalType,
    MapType,
    RawType,
    RowField,
    RowType,
    StructuredType,
    TimestampType,
)
from .snapshots.names import inner

_COMPACT_DECIMAL = 18
_SCALARS: dict[str, t.ScalarName] = {
    "BOOLEAN": "boolean", "TINYINT": "byte", "SMALLINT": "short", "INTEGER": "int", "BIGINT": "long",
    "FLOAT": "float", "DOUBLE": "double", "DATE": "days", "TIME_WITHOUT_TIME_ZONE": "millis_of_day",
    "INTERVAL_YEAR_MONTH": "months", "INTERVAL_DAY_TIME": "day_time_millis", "CHAR": "string_data",
    "VARCHAR": "string_data", "BINARY": "bytes", "VARBINARY": "bytes", "RAW": "raw_data", "NULL": "null",
    "BITMAP": "bitmap", "VARIANT": "raw_data",
}  # fmt: skip


def type_of_logical(logical: LogicalType) -> t.DataType:
    """The type of a field or element; VARIANT is its bytes, as is a RAW whose serializer is not known by its
    name: a logical type says no more of it."""
    match logical:
        case DecimalType():
            return decimal_type(logical.precision, logical.scale)
        case TimestampType() if logical.type_root != "TIMESTAMP_WITH_TIME_ZONE":
            utc = logical.type_root == "TIMESTAMP_WITH_LOCAL_TIME_ZONE"
            return t.TimestampDataType(precision=logical.precision, utc=utc)
        case CollectionType() if logical.type_root == "MULTISET":
            return t.MapDataType(key=type_of_logical(logical.element_type), value=t.scalar("int"))
        case CollectionType():
            return t.ArrayDataType(element=type_of_logical(logical.element_type))
        case MapType():
            return t.MapDataType(
                key=type_of_logical(logical.key_type), value=type_of_logical(logical.value_type)
            )
        case RowType() | StructuredType():
            return t.RowDataType(fields=_fields(fields_of(logical)))
        case DistinctType():
            return type_of_logical(logical.source_type)
        case RawType() if logical.serializer_class is not None:
            own = type_of_simple(inner(logical.serializer_class))
            return t.scalar("raw_data") if isinstance(own, t.OpaqueType) else t.RawDataType(inner=own)
    if logical.type_root in _SCALARS:
        return t.scalar(_SCALARS[logical.type_root])
    return t.OpaqueType(class_name=logical.type_root, reason="no codec for this logical type")


def decimal_type(precision: int, scale: int) -> t.DecimalType:
    """``DecimalDataSerializer``: an i8 up to precision 18."""
    storage = "long" if precision <= _COMPACT_DECIMAL else "bytes"
    return t.DecimalType(precision=precision, scale=scale, storage=storage)  # type: ignore[arg-type]


def _fields(fields: tuple[RowField, ...]) -> tuple[t.Field, ...]:
    return tuple(t.Field(name=part.name, type=type_of_logical(part.type)) for part in fields)


def fields_of(logical: RowType | StructuredType) -> tuple[RowField, ...]:
    """The fields of a row, or the attributes of a class, those of the class above it first."""
    if isinstance(logical, RowType):
        return logical.fields
    above = fields_of(logical.super_type) if isinstance(logical.super_type, StructuredType) else ()
    return (*above, *logical.attributes)
