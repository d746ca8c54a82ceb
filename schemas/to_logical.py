"""Types of the binary formats to Flink SQL's logical types: the inverse of :mod:`.from_logical`."""

from __future__ import annotations

from . import types as t
from .errors import EncodeError
from .snapshots import (
    CollectionType,
    DayTimeIntervalType,
    DecimalType,
    LengthType,
    LogicalType,
    MapType,
    RowField,
    RowType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
)

_SCALARS: dict[str, LogicalType] = {
    **{
        name: LogicalType(type_root=root)
        for name, root in {
            "boolean": "BOOLEAN", "byte": "TINYINT", "short": "SMALLINT", "int": "INTEGER", "long": "BIGINT",
            "float": "FLOAT", "double": "DOUBLE", "days": "DATE", "null": "NULL", "bitmap": "BITMAP",
            "variant": "VARIANT",
        }.items()
    },
    "string_data": LengthType(type_root="VARCHAR"),
    "bytes": LengthType(type_root="VARBINARY"),
    "millis_of_day": TimeType(),
    "months": YearMonthIntervalType(year_precision=2, resolution="YEAR_TO_MONTH"),
    "day_time_millis": DayTimeIntervalType(
        day_precision=2, fractional_precision=6, resolution="DAY_TO_SECOND"
    ),
}  # fmt: skip


def logical_of(node: t.DataType) -> LogicalType:
    """The nullable logical type of a field or element, of the greatest length; EncodeError where there is none.

    What a type does not hold is as SQL has it by default: STRING, BYTES, TIME(0), INTERVAL DAY(2) TO SECOND(6).
    """
    match node:
        case t.Scalar() if node.name in _SCALARS:
            return _SCALARS[node.name]
        case t.DecimalType():
            return DecimalType(precision=node.precision, scale=node.scale)
        case t.TimestampDataType():
            zone = "WITH_LOCAL_TIME_ZONE" if node.utc else "WITHOUT_TIME_ZONE"
            return TimestampType(type_root=f"TIMESTAMP_{zone}", precision=node.precision)
        case t.RowDataType():
            parts = tuple(RowField(name=part.name, type=logical_of(part.type)) for part in node.fields)
            return RowType(fields=parts)
        case t.ArrayDataType():
            return CollectionType(type_root="ARRAY", element_type=logical_of(node.element))
        case t.MapDataType():
            return MapType(key_type=logical_of(node.key), value_type=logical_of(node.value))
    raise EncodeError(f"{node} is no type of a SQL row")
