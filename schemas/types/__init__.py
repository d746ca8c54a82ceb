"""Types of state, as a tree of frozen nodes: what a serializer snapshot says, without the user's classes.

A node says how Flink's serializer lays a value out (spec "serializers", sections 2 to 5); its Arrow type is
given by :mod:`..codec.shapes`. Nodes are built from snapshots by :mod:`..from_snapshot` and by hand.
"""

from .base import JAVA_TUPLE, ONE_VALUE, TIMER, DataType, Field, Scalar, ScalarName, is_numbered, scalar
from .composite import (
    EnumType,
    FixedType,
    ListType,
    MapType,
    NullableType,
    PojoType,
    RowType,
    TtlType,
    TupleType,
    UnionType,
    is_option,
)
from .kryo import ClassType, JavaName, JavaType, KryoType, NamedType
from .length import serializer_length
from .opaque import OpaqueType, SpanType, opaque_at_end, opaque_in, opaque_parts
from .table import (
    ArrayDataType,
    DecimalType,
    MapDataType,
    RawDataType,
    RowDataType,
    TimestampDataType,
    decimal_storage,
)

__all__ = [
    "JAVA_TUPLE",
    "ONE_VALUE",
    "TIMER",
    "ArrayDataType",
    "ClassType",
    "DataType",
    "DecimalType",
    "EnumType",
    "Field",
    "FixedType",
    "JavaName",
    "JavaType",
    "KryoType",
    "ListType",
    "MapDataType",
    "MapType",
    "NamedType",
    "NullableType",
    "OpaqueType",
    "PojoType",
    "RawDataType",
    "RowDataType",
    "RowType",
    "Scalar",
    "ScalarName",
    "SpanType",
    "TimestampDataType",
    "TtlType",
    "TupleType",
    "UnionType",
    "decimal_storage",
    "is_numbered",
    "is_option",
    "opaque_at_end",
    "opaque_in",
    "opaque_parts",
    "scalar",
    "serializer_length",
]
