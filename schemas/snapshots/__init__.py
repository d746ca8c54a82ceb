"""Serializer snapshots: what a savepoint says about how its state is encoded, read, written and built."""

from __future__ import annotations

from . import build
from .avro import AvroSnapshot
from .base import (
    OpaqueSnapshot,
    SerializerSnapshot,
    is_known,
    read_proxy,
    read_snapshot,
    write_proxy,
    write_snapshot,
)
from .composite import CompositeSnapshot
from .kryo import KryoRegistration, KryoSnapshot
from .legacy import LegacyConfigSnapshot
from .logical_type_writer import write_logical_type
from .logical_types import (
    CollectionType,
    DayTimeIntervalType,
    DecimalType,
    DistinctType,
    LengthType,
    LogicalType,
    MapType,
    RawType,
    RowField,
    RowType,
    StructuredType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
)
from .omap import Entry
from .outer import ExternalOuter
from .pojo import PojoField, PojoSnapshot, PojoSubclass
from .scala import ScalaEnumSnapshot
from .simple import EnumSnapshot, GenericSnapshot, SimpleSnapshot, TtlAwareSnapshot
from .table import (
    ArrayDataSnapshot,
    BinaryRowDataSnapshot,
    DecimalDataSnapshot,
    MapDataSnapshot,
    RowDataKeySnapshot,
    RowDataSnapshot,
    SortedMapSnapshot,
    TimestampDataSnapshot,
)

__all__ = [
    "ArrayDataSnapshot",
    "AvroSnapshot",
    "BinaryRowDataSnapshot",
    "CollectionType",
    "CompositeSnapshot",
    "DayTimeIntervalType",
    "DecimalDataSnapshot",
    "DecimalType",
    "DistinctType",
    "Entry",
    "EnumSnapshot",
    "ExternalOuter",
    "GenericSnapshot",
    "KryoRegistration",
    "KryoSnapshot",
    "LegacyConfigSnapshot",
    "LengthType",
    "LogicalType",
    "MapDataSnapshot",
    "MapType",
    "OpaqueSnapshot",
    "PojoField",
    "PojoSnapshot",
    "PojoSubclass",
    "RawType",
    "RowDataKeySnapshot",
    "RowDataSnapshot",
    "RowField",
    "RowType",
    "ScalaEnumSnapshot",
    "SerializerSnapshot",
    "SimpleSnapshot",
    "SortedMapSnapshot",
    "StructuredType",
    "TimeType",
    "TimestampDataSnapshot",
    "TimestampType",
    "TtlAwareSnapshot",
    "YearMonthIntervalType",
    "build",
    "is_known",
    "read_proxy",
    "read_snapshot",
    "write_logical_type",
    "write_proxy",
    "write_snapshot",
]
