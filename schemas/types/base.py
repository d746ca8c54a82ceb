"""The base of all types, the scalars, and the fields of what has fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..type_text import quoted

ScalarName = Literal[
    "boolean", "byte", "short", "int", "long", "float", "double", "char", "string", "string_value",
    "boolean_value", "long_value", "double_value",
    "void", "null", "date", "sql_date", "sql_time", "sql_timestamp", "instant", "local_date", "local_time",
    "local_date_time", "big_integer", "big_decimal", "bytes", "window", "global_window", "count_window",
    "string_data", "bitmap", "variant", "days", "millis_of_day", "micros_of_day", "months", "day_time_millis",
    "timestamp_millis", "timestamp_micros", "timestamp_nanos",
    "timestamp_millis_utc", "timestamp_micros_utc", "timestamp_nanos_utc", "raw_data",
    "flipped_long", "tuple0", "unit", "nothing",
]  # fmt: skip


JAVA_TUPLE = "org.apache.flink.api.java.tuple.Tuple"
TIMER = "TimerHeapInternalTimer"
ONE_VALUE = ("null", "tuple0", "unit", "global_window")
"""Scalars of which there is one value, which their columns have as null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataType:
    """Base of all nodes. ``__str__`` is the type in the words of the plan language (:mod:`.type_syntax`)."""

    def children(self) -> tuple[DataType, ...]:
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar(DataType):
    """A type without parts; ``name`` is Flink's serializer without ``Serializer``, in snake case."""

    name: ScalarName

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    name: str
    type: DataType

    def __str__(self) -> str:
        return f"{quoted(self.name)}: {self.type}"


def is_numbered(fields: tuple[Field, ...]) -> bool:
    """Whether the fields are named f0, f1, …, as those that have no names are."""
    return all(field.name == f"f{i}" for i, field in enumerate(fields))


def scalar(name: ScalarName) -> Scalar:
    return Scalar(name=name)
