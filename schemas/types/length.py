"""How many bytes a serializer says that its values have."""

from __future__ import annotations

from .base import DataType, Scalar
from .composite import EnumType, TtlType, TupleType
from .table import DecimalType, TimestampDataType

#: What ``getLength()`` of the serializer gives in Java: bytes, or -1 where values differ (spec 5.3, "ambiguous").
_FIXED_LENGTH: dict[str, int] = {
    "boolean": 1, "byte": 1, "short": 2, "int": 4, "long": 8, "float": 4, "double": 8, "char": 2,
    "boolean_value": 1, "long_value": 8, "double_value": 8,
    "void": 0, "date": 8, "sql_date": 8, "sql_time": 8, "sql_timestamp": 12, "instant": 12,
    "local_date": 6, "local_time": 7, "local_date_time": 13, "window": 16, "global_window": 0, "count_window": 8,
    "unit": 1,
}  # fmt: skip


def serializer_length(node: DataType) -> int:
    """``TypeSerializer.getLength()`` of the serializer that wrote ``node``: bytes, or -1 for variable."""
    match node:
        case Scalar():
            return _FIXED_LENGTH.get(node.name, -1)
        case EnumType():
            return 4
        case DecimalType():
            return 8 if node.storage == "long" else -1
        case TimestampDataType():
            return 8 if node.precision <= 3 else 12
        case TupleType() | TtlType():
            lengths = [serializer_length(child) for child in node.children()]
            if isinstance(node, TtlType):
                lengths.append(8)
            return -1 if -1 in lengths else sum(lengths)
    return -1
