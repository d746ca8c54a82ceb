"""Types of Flink SQL's own formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..type_text import braced, options
from .base import DataType, Field

_COMPACT_DECIMAL = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class DecimalType(DataType):
    """A decimal of known precision and scale: its unscaled number is an i8, i4 n and n bytes, or ``size`` bytes."""

    precision: int
    scale: int
    storage: Literal["long", "bytes", "fixed"]
    size: int = 0

    def __str__(self) -> str:
        given = options(storage=(self.storage, decimal_storage(self.precision)), size=(self.size, 0))
        return f"decimal{given}({self.precision}, {self.scale})"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampDataType(DataType):
    """``TimestampDataSerializer``: i8 epoch milliseconds and, above precision 3, i4 nanoseconds of that."""

    precision: int
    utc: bool = False

    def __str__(self) -> str:
        return f"timestamp{'_ltz' if self.utc else ''}({self.precision})"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDataType(DataType):
    """``RowDataSerializer``: i4 size, BinaryRow. The fields are laid out as the binary formats say (spec 5.3)."""

    fields: tuple[Field, ...]

    def children(self) -> tuple[DataType, ...]:
        return tuple(field.type for field in self.fields)

    def __str__(self) -> str:
        return f"rowdata {braced(self.fields)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayDataType(DataType):
    """``ArrayDataSerializer``: i4 size, BinaryArray."""

    element: DataType

    def children(self) -> tuple[DataType, ...]:
        return (self.element,)

    def __str__(self) -> str:
        return f"array_data<{self.element}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class RawDataType(DataType):
    """``RawValueDataSerializer``: i4 size, then the value as its own serializer wrote it."""

    inner: DataType

    def children(self) -> tuple[DataType, ...]:
        return (self.inner,)

    def __str__(self) -> str:
        return f"raw<{self.inner}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapDataType(DataType):
    """``MapDataSerializer``: i4 size, BinaryMap; also the multisets, whose value is the count."""

    key: DataType
    value: DataType

    def children(self) -> tuple[DataType, ...]:
        return (self.key, self.value)

    def __str__(self) -> str:
        return f"map_data<{self.key}, {self.value}>"


def decimal_storage(precision: int) -> Literal["long", "bytes"]:
    """How ``DecimalDataSerializer`` stores a decimal: an i8 up to precision 18."""
    return "long" if precision <= _COMPACT_DECIMAL else "bytes"
