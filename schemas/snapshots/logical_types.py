"""Flink SQL's logical types, as they stand Java-serialized in the snapshots of the Table runtime.

``type_root`` is the constant of ``LogicalTypeRoot``, and tells the type; the other fields are Flink's.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_LENGTH = 0x7FFFFFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicalType:
    """A type without parameters: BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, FLOAT, DOUBLE, DATE, NULL,
    VARIANT, BITMAP, DESCRIPTOR, SYMBOL; base of the others."""

    type_root: str
    is_nullable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthType(LogicalType):
    """CHAR, VARCHAR, BINARY, VARBINARY; STRING and BYTES have the length 2**31 - 1."""

    length: int = MAX_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class DecimalType(LogicalType):
    """DECIMAL."""

    type_root: str = "DECIMAL"
    precision: int
    scale: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeType(LogicalType):
    """TIME_WITHOUT_TIME_ZONE."""

    type_root: str = "TIME_WITHOUT_TIME_ZONE"
    precision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampType(LogicalType):
    """TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE, TIMESTAMP_WITH_TIME_ZONE; ``kind`` is
    REGULAR, ROWTIME or PROCTIME."""

    precision: int
    kind: str = "REGULAR"


@dataclass(frozen=True, slots=True, kw_only=True)
class YearMonthIntervalType(LogicalType):
    """INTERVAL_YEAR_MONTH."""

    type_root: str = "INTERVAL_YEAR_MONTH"
    year_precision: int
    resolution: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DayTimeIntervalType(LogicalType):
    """INTERVAL_DAY_TIME."""

    type_root: str = "INTERVAL_DAY_TIME"
    day_precision: int
    fractional_precision: int
    resolution: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionType(LogicalType):
    """ARRAY, MULTISET."""

    element_type: LogicalType


@dataclass(frozen=True, slots=True, kw_only=True)
class MapType(LogicalType):
    """MAP."""

    type_root: str = "MAP"
    key_type: LogicalType
    value_type: LogicalType


@dataclass(frozen=True, slots=True, kw_only=True)
class RowField:
    """A field of a RowType, or an attribute of a StructuredType."""

    name: str
    type: LogicalType
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowType(LogicalType):
    """ROW."""

    type_root: str = "ROW"
    fields: tuple[RowField, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredType(LogicalType):
    """STRUCTURED_TYPE: laid out as the ROW of its attributes. ``class_name`` is that of the
    implementation; ``object_identifier`` is its catalog name, where it has one."""

    type_root: str = "STRUCTURED_TYPE"
    attributes: tuple[RowField, ...]
    class_name: str | None
    super_type: LogicalType | None = None
    object_identifier: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctType(LogicalType):
    """DISTINCT_TYPE: laid out as its source type."""

    type_root: str = "DISTINCT_TYPE"
    source_type: LogicalType
    object_identifier: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RawType(LogicalType):
    """RAW: bytes of a serializer of its own. ``class_name`` is the class of the values (None for the legacy
    types that keep a TypeInformation), ``serializer_class`` its serializer's."""

    type_root: str = "RAW"
    class_name: str | None
    serializer_class: str | None
