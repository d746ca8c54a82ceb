"""Reads the Java-serialized ``LogicalType``s of the Table runtime's snapshots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import FormatError
from ..wire import Reader
from .java_stream import BlockData, JavaArray, JavaClass, JavaEnum, JavaObject, JavaString, read_java
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

MAX_TYPES = 65536
MAX_DEPTH = 48


def read_logical_type(reader: Reader) -> tuple[LogicalType, bytes]:
    """Read one Java stream that holds a LogicalType: the type and the stream's bytes.

    Raises FormatError where the stream holds something else.
    """
    start = reader.pos
    content = read_java(reader)
    stream = bytes(reader.data[start : reader.pos])
    return _Converter(reader, start).type(content), stream


def logical_type_of(reader: Reader, start: int, content: Any) -> LogicalType:
    """The LogicalType that the Java object ``content`` of the stream at ``start`` stands for."""
    return _Converter(reader, start).type(content)


class _Converter:
    """From the Java tree to types. An object may be shared, or hold itself: number and depth are bounded."""

    def __init__(self, reader: Reader, start: int) -> None:
        self.reader = reader
        self.start = start
        self.budget = MAX_TYPES
        self.depth = 0

    def fail(self, what: str) -> FormatError:
        return self.reader.error(f"a Java-serialized logical type {what}", self.start)

    def type(self, value: Any) -> LogicalType:
        self.budget -= 1
        if self.budget < 0 or self.depth > MAX_DEPTH:
            raise self.fail(f"has more than {MAX_TYPES} parts or is deeper than {MAX_DEPTH}")
        if not isinstance(value, JavaObject):
            raise self.fail(f"is {type(value).__name__}, not an object")
        root, nullable = self.constant(value, "typeRoot"), value.get("isNullable")
        if not isinstance(nullable, bytes):
            raise self.fail(f"of class {value.desc.name} has no isNullable")
        name = value.desc.name.rpartition(".")[2]
        build = _BUILDERS.get(name, _simple)
        self.depth += 1
        built = build(self, value, {"type_root": root, "is_nullable": nullable != b"\0"})
        self.depth -= 1
        return built

    def number(self, value: JavaObject, name: str) -> int:
        raw = value.get(name)
        if not isinstance(raw, bytes):
            raise self.fail(f"of class {value.desc.name} has no {name}")
        return int.from_bytes(raw, "big", signed=True)

    def constant(self, value: JavaObject, name: str) -> str:
        found = value.get(name)
        if not isinstance(found, JavaEnum):
            raise self.fail(f"of class {value.desc.name} has no {name}")
        return found.constant.value

    def text(self, value: JavaObject, name: str) -> str | None:
        found = value.get(name)
        if found is not None and not isinstance(found, JavaString):
            raise self.fail(f"of class {value.desc.name} has no text as {name}")
        return found.value if found is not None else None

    def of_class(self, value: JavaObject, name: str) -> str | None:
        found = value.get(name)
        return found.desc.name if isinstance(found, JavaClass | JavaObject) else None

    def identifier(self, value: JavaObject) -> str | None:
        found = value.get("objectIdentifier")
        if not isinstance(found, JavaObject):
            return None
        parts = (self.text(found, part) for part in ("catalogName", "databaseName", "objectName"))
        return ".".join(part for part in parts if part is not None)

    def fields(self, value: JavaObject, name: str) -> tuple[RowField, ...]:
        return tuple(self.field(one) for one in self.elements(value.get(name)))

    def field(self, value: Any) -> RowField:
        field_name = self.text(value, "name") if isinstance(value, JavaObject) else None
        if field_name is None:
            raise self.fail("has a field without a name")
        return RowField(
            name=field_name, type=self.type(value.get("type")), description=self.text(value, "description")
        )

    def elements(self, value: Any) -> list[Any]:
        """The elements of a ``java.util`` list, or of the one that an unmodifiable list wraps."""
        if isinstance(value, JavaObject) and value.desc.name.startswith("java.util.Collections$Unmodifiable"):
            value = value.get("c")
        if isinstance(value, JavaObject):
            if value.desc.name in _WRITTEN_OUT_LISTS:
                return [one for one in value.annotations[-1] if not isinstance(one, BlockData)]
            array = value.get("a") if value.desc.name == "java.util.Arrays$ArrayList" else None
            if isinstance(array, JavaArray):
                return list(array.elements)
            if value.desc.name == "java.util.Collections$SingletonList":
                return [value.get("element")]
            if value.desc.name == "java.util.Collections$EmptyList":
                return []
        raise self.fail("has fields that are not a list")


_WRITTEN_OUT_LISTS = ("java.util.ArrayList", "java.util.LinkedList", "java.util.CollSer")
"""Lists whose own ``writeObject`` writes the size and the elements."""

_Common = dict[str, Any]
_Builder = Callable[[_Converter, JavaObject, _Common], LogicalType]


def _simple(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return LogicalType(**common)


def _length(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return LengthType(**common, length=get.number(value, "length"))


def _decimal(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return DecimalType(**common, precision=get.number(value, "precision"), scale=get.number(value, "scale"))


def _time(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return TimeType(**common, precision=get.number(value, "precision"))


def _timestamp(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return TimestampType(**common, precision=get.number(value, "precision"), kind=get.constant(value, "kind"))


def _year_month(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return YearMonthIntervalType(
        **common,
        year_precision=get.number(value, "yearPrecision"),
        resolution=get.constant(value, "resolution"),
    )


def _day_time(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return DayTimeIntervalType(
        **common,
        day_precision=get.number(value, "dayPrecision"),
        fractional_precision=get.number(value, "fractionalPrecision"),
        resolution=get.constant(value, "resolution"),
    )


def _collection(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return CollectionType(**common, element_type=get.type(value.get("elementType")))


def _map(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return MapType(
        **common, key_type=get.type(value.get("keyType")), value_type=get.type(value.get("valueType"))
    )


def _row(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return RowType(**common, fields=get.fields(value, "fields"))


def _structured(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return StructuredType(
        **common,
        attributes=get.fields(value, "attributes"),
        class_name=get.text(value, "className") or get.of_class(value, "implementationClass"),
        super_type=get.type(value.get("superType")) if value.get("superType") is not None else None,
        object_identifier=get.identifier(value),
    )


def _distinct(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return DistinctType(
        **common,
        source_type=get.type(value.get("sourceType")),
        object_identifier=get.identifier(value),
    )


def _raw(get: _Converter, value: JavaObject, common: _Common) -> LogicalType:
    return RawType(
        **common,
        class_name=get.of_class(value, "clazz"),
        serializer_class=get.of_class(value, "serializer"),
    )


_BUILDERS: dict[str, _Builder] = {
    **dict.fromkeys(("CharType", "VarCharType", "BinaryType", "VarBinaryType"), _length),
    "DecimalType": _decimal,
    "TimeType": _time,
    **dict.fromkeys(("TimestampType", "LocalZonedTimestampType", "ZonedTimestampType"), _timestamp),
    "YearMonthIntervalType": _year_month,
    "DayTimeIntervalType": _day_time,
    **dict.fromkeys(("ArrayType", "MultisetType"), _collection),
    "MapType": _map,
    "RowType": _row,
    "StructuredType": _structured,
    "DistinctType": _distinct,
    **dict.fromkeys(("RawType", "TypeInformationRawType", "LegacyTypeInformationType"), _raw),
}
