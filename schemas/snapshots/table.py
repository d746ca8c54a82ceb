"""Snapshots of the Table runtime.

They hold Java streams without a length: each is parsed to find its end, what is needed of it is kept typed,
and its bytes are kept as they are, for writing.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..wire import Reader, Writer
from .base import Head, SerializerSnapshot, read_nested, register, write_snapshot
from .composite import read_nested_all, write_nested_all
from .java_stream import JavaObject, read_java
from .logical_type_reader import read_logical_type
from .logical_types import LogicalType
from .names import FLINK, T


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDataSnapshot(SerializerSnapshot):
    """``RowDataSerializerSnapshot``: types of the fields without their names; ``streams`` are their Java streams,
    ``nested`` the serializers of the fields."""

    types: tuple[LogicalType, ...]
    streams: tuple[bytes, ...]
    nested: tuple[SerializerSnapshot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryRowDataSnapshot(SerializerSnapshot):
    """``BinaryRowDataSerializerSnapshot``."""

    num_fields: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DecimalDataSnapshot(SerializerSnapshot):
    """``DecimalSerializerSnapshot``."""

    precision: int
    scale: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampDataSnapshot(SerializerSnapshot):
    """``TimestampDataSerializerSnapshot``."""

    precision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayDataSnapshot(SerializerSnapshot):
    """``ArrayDataSerializerSnapshot``; the Java streams are those of the element's type and serializer."""

    element_type: LogicalType
    element_type_stream: bytes
    element_serializer_stream: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MapDataSnapshot(SerializerSnapshot):
    """``MapDataSerializerSnapshot``; the Java streams are those of the types and serializers of key and value."""

    key_type: LogicalType
    value_type: LogicalType
    key_type_stream: bytes
    value_type_stream: bytes
    key_serializer_stream: bytes
    value_serializer_stream: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedMapSnapshot(SerializerSnapshot):
    """``SortedMapSerializerSnapshot``: the comparator as a Java stream, the serializers of key and value."""

    comparator_class: str | None
    comparator_stream: bytes
    nested: tuple[SerializerSnapshot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDataKeySnapshot(SerializerSnapshot):
    """``RowDataKeySerializerSnapshot`` (2.3): framed Java streams of generated code, and the row's serializer."""

    equaliser_stream: bytes
    hash_function_stream: bytes
    row: SerializerSnapshot


def read_stream(reader: Reader) -> tuple[str | None, bytes]:
    """One Java stream, not understood: the class of its object (None if it is no object) and its bytes."""
    start = reader.pos
    content = read_java(reader)
    name = content.desc.name if isinstance(content, JavaObject) else None
    return name, bytes(reader.data[start : reader.pos])


def read_row_data(reader: Reader, head: Head) -> RowDataSnapshot:
    _expect_version(reader, head, 3)
    types, streams = [], []
    for _ in range(reader.count("row types", at_least=5)):
        logical_type, stream = read_logical_type(reader)
        types.append(logical_type)
        streams.append(stream)
    return RowDataSnapshot(
        class_name=head.class_name,
        version=head.version,
        types=tuple(types),
        streams=tuple(streams),
        nested=read_nested_all(reader, head),
    )


def write_row_data(writer: Writer, snapshot: RowDataSnapshot) -> None:
    writer.i4(len(snapshot.streams))
    for stream in snapshot.streams:
        writer.bytes(stream)
    write_nested_all(writer, snapshot.nested)


def read_binary_row(reader: Reader, head: Head) -> BinaryRowDataSnapshot:
    _expect_version(reader, head, 3)
    return BinaryRowDataSnapshot(
        class_name=head.class_name, version=head.version, num_fields=reader.i4("numFields")
    )


def write_binary_row(writer: Writer, snapshot: BinaryRowDataSnapshot) -> None:
    writer.i4(snapshot.num_fields)


def read_decimal(reader: Reader, head: Head) -> DecimalDataSnapshot:
    _expect_version(reader, head, 3)
    return DecimalDataSnapshot(
        class_name=head.class_name,
        version=head.version,
        precision=reader.i4("precision"),
        scale=reader.i4("scale"),
    )


def write_decimal(writer: Writer, snapshot: DecimalDataSnapshot) -> None:
    writer.i4(snapshot.precision)
    writer.i4(snapshot.scale)


def read_timestamp(reader: Reader, head: Head) -> TimestampDataSnapshot:
    _expect_version(reader, head, 1)
    return TimestampDataSnapshot(
        class_name=head.class_name, version=head.version, precision=reader.i4("precision")
    )


def write_timestamp(writer: Writer, snapshot: TimestampDataSnapshot) -> None:
    writer.i4(snapshot.precision)


def read_array_data(reader: Reader, head: Head) -> ArrayDataSnapshot:
    _expect_version(reader, head, 3)
    element_type, type_stream = read_logical_type(reader)
    return ArrayDataSnapshot(
        class_name=head.class_name,
        version=head.version,
        element_type=element_type,
        element_type_stream=type_stream,
        element_serializer_stream=read_stream(reader)[1],
    )


def write_array_data(writer: Writer, snapshot: ArrayDataSnapshot) -> None:
    writer.bytes(snapshot.element_type_stream)
    writer.bytes(snapshot.element_serializer_stream)


def read_map_data(reader: Reader, head: Head) -> MapDataSnapshot:
    _expect_version(reader, head, 3)
    key_type, key_stream = read_logical_type(reader)
    value_type, value_stream = read_logical_type(reader)
    return MapDataSnapshot(
        class_name=head.class_name,
        version=head.version,
        key_type=key_type,
        value_type=value_type,
        key_type_stream=key_stream,
        value_type_stream=value_stream,
        key_serializer_stream=read_stream(reader)[1],
        value_serializer_stream=read_stream(reader)[1],
    )


def write_map_data(writer: Writer, snapshot: MapDataSnapshot) -> None:
    writer.bytes(snapshot.key_type_stream)
    writer.bytes(snapshot.value_type_stream)
    writer.bytes(snapshot.key_serializer_stream)
    writer.bytes(snapshot.value_serializer_stream)


def read_sorted_map(reader: Reader, head: Head) -> SortedMapSnapshot:
    _expect_version(reader, head, 3)
    comparator_class, stream = read_stream(reader)
    return SortedMapSnapshot(
        class_name=head.class_name,
        version=head.version,
        comparator_class=comparator_class,
        comparator_stream=stream,
        nested=read_nested_all(reader, head),
    )


def write_sorted_map(writer: Writer, snapshot: SortedMapSnapshot) -> None:
    writer.bytes(snapshot.comparator_stream)
    write_nested_all(writer, snapshot.nested)


def read_row_data_key(reader: Reader, head: Head) -> RowDataKeySnapshot:
    _expect_version(reader, head, 0)
    return RowDataKeySnapshot(
        class_name=head.class_name,
        version=head.version,
        equaliser_stream=reader.ba("record equaliser"),
        hash_function_stream=reader.ba("hash function"),
        row=read_nested(reader, head),
    )


def write_row_data_key(writer: Writer, snapshot: RowDataKeySnapshot) -> None:
    writer.ba(snapshot.equaliser_stream)
    writer.ba(snapshot.hash_function_stream)
    write_snapshot(writer, snapshot.row)


def _expect_version(reader: Reader, head: Head, version: int) -> None:
    if head.version != version:
        raise head.unsupported(reader)


register(RowDataSnapshot, [T + "RowDataSerializer$RowDataSerializerSnapshot"], read_row_data, write_row_data)
register(
    BinaryRowDataSnapshot,
    [T + "BinaryRowDataSerializer$BinaryRowDataSerializerSnapshot"],
    read_binary_row,
    write_binary_row,
)
register(
    DecimalDataSnapshot, [T + "DecimalDataSerializer$DecimalSerializerSnapshot"], read_decimal, write_decimal
)
register(
    TimestampDataSnapshot,
    [T + "TimestampDataSerializer$TimestampDataSerializerSnapshot"],
    read_timestamp,
    write_timestamp,
)
register(
    ArrayDataSnapshot,
    [T + "ArrayDataSerializer$ArrayDataSerializerSnapshot"],
    read_array_data,
    write_array_data,
)
register(MapDataSnapshot, [T + "MapDataSerializer$MapDataSerializerSnapshot"], read_map_data, write_map_data)
register(SortedMapSnapshot, [T + "SortedMapSerializerSnapshot"], read_sorted_map, write_sorted_map)
register(
    RowDataKeySnapshot,
    [FLINK + "table.runtime.sequencedmultisetstate.linked.RowDataKeySerializerSnapshot"],
    read_row_data_key,
    write_row_data_key,
)
