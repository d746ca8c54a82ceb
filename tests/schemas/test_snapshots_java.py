"""Java streams and logical types, against what Flink 1.20 and 2.3 wrote (``tests/golden/TableSnapshots.java``)."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from statelift.schemas.errors import EncodeError, FormatError
from statelift.schemas.snapshots import (
    ArrayDataSnapshot,
    BinaryRowDataSnapshot,
    CollectionType,
    CompositeSnapshot,
    DayTimeIntervalType,
    DecimalDataSnapshot,
    DecimalType,
    DistinctType,
    ExternalOuter,
    LengthType,
    LogicalType,
    MapDataSnapshot,
    MapType,
    RawType,
    RowDataSnapshot,
    RowField,
    RowType,
    SerializerSnapshot,
    SortedMapSnapshot,
    StructuredType,
    TimestampDataSnapshot,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
    build,
    read_snapshot,
    write_logical_type,
    write_snapshot,
)
from statelift.schemas.snapshots.java_stream import JavaObject, read_java
from statelift.schemas.snapshots.java_writer import write_java
from statelift.schemas.snapshots.logical_type_reader import read_logical_type
from statelift.schemas.wire import Reader, Writer


def load(kind: str) -> list[tuple[str, str, bytes]]:
    """Version, name and bytes of the lines of one kind."""
    file = Path(__file__).parents[1] / "golden" / "table_snapshots.tsv"
    lines = (line.split("\t") for line in file.read_text().splitlines())
    return [(versions, name, bytes.fromhex(raw)) for versions, of, name, raw in lines if of == kind]


TYPES = load("type")
SNAPSHOTS = load("snapshot")

STRING = LengthType(type_root="VARCHAR")
INT = LogicalType(type_root="INTEGER")
BIGINT = LogicalType(type_root="BIGINT")
WRITABLE: dict[str, LogicalType] = {
    "CHAR(3)": LengthType(type_root="CHAR", length=3),
    "STRING": STRING,
    "VARCHAR(5) NOT NULL": LengthType(type_root="VARCHAR", length=5, is_nullable=False),
    "BOOLEAN": LogicalType(type_root="BOOLEAN"),
    "BINARY(4)": LengthType(type_root="BINARY", length=4),
    "BYTES": LengthType(type_root="VARBINARY"),
    "DECIMAL(10, 2)": DecimalType(precision=10, scale=2),
    "TINYINT": LogicalType(type_root="TINYINT"),
    "SMALLINT": LogicalType(type_root="SMALLINT"),
    "INT": INT,
    "INT NOT NULL": LogicalType(type_root="INTEGER", is_nullable=False),
    "BIGINT": BIGINT,
    "FLOAT": LogicalType(type_root="FLOAT"),
    "DOUBLE": LogicalType(type_root="DOUBLE"),
    "DATE": LogicalType(type_root="DATE"),
    "TIME(3)": TimeType(precision=3),
    "TIMESTAMP(6)": TimestampType(type_root="TIMESTAMP_WITHOUT_TIME_ZONE", precision=6),
    "TIMESTAMP(3) *ROWTIME*": TimestampType(
        type_root="TIMESTAMP_WITHOUT_TIME_ZONE", precision=3, kind="ROWTIME"
    ),
    "TIMESTAMP_LTZ(3) *PROCTIME*": TimestampType(
        type_root="TIMESTAMP_WITH_LOCAL_TIME_ZONE", precision=3, kind="PROCTIME"
    ),
    "TIMESTAMP(9) WITH TIME ZONE": TimestampType(type_root="TIMESTAMP_WITH_TIME_ZONE", precision=9),
    "INTERVAL YEAR(2) TO MONTH": YearMonthIntervalType(year_precision=2, resolution="YEAR_TO_MONTH"),
    "INTERVAL DAY(2) TO SECOND(6)": DayTimeIntervalType(
        day_precision=2, fractional_precision=6, resolution="DAY_TO_SECOND"
    ),
    "ARRAY<INT>": CollectionType(type_root="ARRAY", element_type=INT),
    "MULTISET<STRING>": CollectionType(type_root="MULTISET", element_type=STRING),
    "MAP<STRING, BIGINT NOT NULL>": MapType(
        key_type=STRING, value_type=LogicalType(type_root="BIGINT", is_nullable=False)
    ),
    "NULL": LogicalType(type_root="NULL"),
    "ROW<a INT, b ROW<c DECIMAL(30, 4), d ARRAY<TIMESTAMP(3)>> NOT NULL 'why'>": RowType(
        fields=(
            RowField(name="a", type=INT),
            RowField(
                name="b",
                description="why",
                type=RowType(
                    is_nullable=False,
                    fields=(
                        RowField(name="c", type=DecimalType(precision=30, scale=4)),
                        RowField(
                            name="d",
                            type=CollectionType(
                                type_root="ARRAY",
                                element_type=TimestampType(
                                    type_root="TIMESTAMP_WITHOUT_TIME_ZONE", precision=3
                                ),
                            ),
                        ),
                    ),
                ),
            ),
        )
    ),
    "ROW<>": RowType(fields=()),
    "VARIANT": LogicalType(type_root="VARIANT"),
    "BITMAP": LogicalType(type_root="BITMAP"),
    "DESCRIPTOR": LogicalType(type_root="DESCRIPTOR"),
}
READABLE: dict[str, LogicalType] = {
    "SYMBOL": LogicalType(type_root="SYMBOL"),
    "RAW": RawType(
        class_name="java.util.UUID",
        serializer_class="org.apache.flink.api.common.typeutils.base.StringSerializer",
    ),
    "DISTINCT": DistinctType(
        source_type=DecimalType(precision=10, scale=2), object_identifier="cat.db.Money"
    ),
    "STRUCTURED": StructuredType(
        attributes=(
            RowField(name="name", type=STRING),
            RowField(name="age", type=LogicalType(type_root="INTEGER", is_nullable=False)),
        ),
        class_name=None,
        object_identifier="cat.db.User",
    ),
    "STRUCTURED class": StructuredType(
        attributes=(RowField(name="lang", type=STRING),), class_name="java.util.Locale"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("versions", "name", "stream"), TYPES, ids=[f"{v}: {n}" for v, n, _ in TYPES])
def test_logical_type_of_a_stream(versions: str, name: str, stream: bytes) -> None:
    reader = Reader(stream)
    logical_type, kept = read_logical_type(reader)
    reader.expect_end("the stream")
    assert logical_type == {**WRITABLE, **READABLE}[name]
    assert kept == stream
    assert write_java(read_java(Reader(stream))) == stream


@pytest.mark.parametrize("name", WRITABLE)
def test_logical_type_is_written_as_flink_writes_it(name: str) -> None:
    streams = [stream for _, of, stream in TYPES if of == name]
    assert streams == [write_logical_type(WRITABLE[name])]


@pytest.mark.parametrize("name", READABLE)
def test_type_of_the_jobs_own_objects_is_not_made_up(name: str) -> None:
    with pytest.raises(EncodeError, match="copy the serializer snapshot"):
        write_logical_type(READABLE[name])


def read(name: str) -> SerializerSnapshot:
    (data,) = (raw for _, of, raw in SNAPSHOTS if of == name)
    return read_snapshot(Reader(data))


@pytest.mark.parametrize(("versions", "name", "data"), SNAPSHOTS, ids=[name for _, name, _ in SNAPSHOTS])
def test_table_snapshot_round_trip(versions: str, name: str, data: bytes) -> None:
    reader = Reader(data)
    snapshot = read_snapshot(reader)
    reader.expect_end(name)
    writer = Writer()
    write_snapshot(writer, snapshot)
    assert writer.getvalue() == data


def test_what_table_snapshots_say() -> None:
    row = read("RowData(BIGINT, STRING, DECIMAL(10, 2), TIMESTAMP(3))")
    assert isinstance(row, RowDataSnapshot)
    assert [one.type_root for one in row.types] == [
        "BIGINT", "VARCHAR", "DECIMAL", "TIMESTAMP_WITHOUT_TIME_ZONE",
    ]  # fmt: skip
    assert isinstance(row.nested[2], DecimalDataSnapshot)
    array = read("ArrayData(ROW<a ARRAY<STRING>>)")
    assert isinstance(array, ArrayDataSnapshot)
    assert array.element_type == RowType(
        fields=(RowField(name="a", type=CollectionType(type_root="ARRAY", element_type=STRING)),)
    )
    map_data = read("MapData(STRING, BIGINT)")
    assert isinstance(map_data, MapDataSnapshot)
    assert (map_data.key_type, map_data.value_type) == (STRING, BIGINT)
    binary_row, decimal, timestamp = (
        read("BinaryRowData(3)"), read("DecimalData(30, 4)"), read("TimestampData(9)"),
    )  # fmt: skip
    assert isinstance(binary_row, BinaryRowDataSnapshot)
    assert binary_row.num_fields == 3
    assert isinstance(decimal, DecimalDataSnapshot)
    assert (decimal.precision, decimal.scale) == (30, 4)
    assert isinstance(timestamp, TimestampDataSnapshot)
    assert timestamp.precision == 9
    sorted_map = read("SortedMap(Int, String)")
    assert isinstance(sorted_map, SortedMapSnapshot)
    assert sorted_map.comparator_class == "TableSnapshots$MyCmp"
    external = read("External(ROW<a INT, b STRING>)")
    assert isinstance(external, CompositeSnapshot)
    assert isinstance(external.outer, ExternalOuter)
    assert external.outer.logical_type == RowType(
        fields=(RowField(name="a", type=INT), RowField(name="b", type=STRING))
    )


@pytest.mark.parametrize(
    "name",
    ["RowData(BIGINT, STRING, DECIMAL(10, 2), TIMESTAMP(3))", "RowData(ROW<x BOOLEAN, y BYTES>)"],
)
def test_row_data_is_built_as_flink_writes_it(name: str) -> None:
    snapshot = read(name)
    assert isinstance(snapshot, RowDataSnapshot)
    assert build.row_data(*snapshot.types) == snapshot


def test_row_data_with_a_map_cannot_be_built() -> None:
    with pytest.raises(EncodeError, match="MAP"):
        build.row_data(MapType(key_type=STRING, value_type=INT))


HEADER = bytes.fromhex("aced0005")


def desc(name: str, fields: bytes, count: int, flags: int = 2, above: bytes = b"\x70") -> bytes:
    return (
        b"\x72" + struct.pack(">H", len(name)) + name.encode() + bytes(8) + bytes([flags])
        + struct.pack(">H", count) + fields + b"\x78" + above
    )  # fmt: skip


def test_an_object_may_hold_itself() -> None:
    field = b"L\0\4self" + b"\x74\0\3LA;"
    content = read_java(Reader(HEADER + b"\x73" + desc("A", field, 1) + bytes.fromhex("71007e0002")))
    assert isinstance(content, JavaObject)
    assert content.get("self") is content


def test_a_type_that_holds_itself_is_refused() -> None:
    (stream,) = (raw for _, name, raw in TYPES if name == "ARRAY<INT>")
    # The element, the last object, becomes a handle to the array: the third handle after two descriptors
    # and their signatures.
    element = stream.index(b"sr\x00,org.apache.flink.table.types.logical.IntType")
    for handle in range(12):
        data = stream[:element] + bytes.fromhex("71007e00") + bytes([handle])
        with pytest.raises(FormatError):
            read_logical_type(Reader(data))


@pytest.mark.parametrize(
    "data",
    [
        HEADER + bytes.fromhex("71007e0000"),  # a handle to nothing
        HEADER + bytes.fromhex("7b"),  # an exception
        HEADER + bytes.fromhex("7d00000000"),  # a proxy class
        HEADER + b"\x73" + desc("A", b"", 0, flags=4),  # externalizable, of no length
        HEADER + b"\x73" + desc("A", b"", 0, flags=0),  # not serializable
        HEADER + b"\x72\0\1A" + bytes(8) + b"\2\0\0\x73" + bytes.fromhex("71007e0000"),  # of half a class
        HEADER + b"\x73\x70",  # an object of no class
        HEADER + b"\x72\0\1A" + bytes(8) + b"\2\0\0\x78" + bytes.fromhex("71007e0000"),  # its own superclass
        HEADER + b"\x75" + desc("[I", b"", 0) + bytes.fromhex("7fffffff"),  # a huge array
        HEADER + b"\x73" + desc("A", b"I\0\1a" * 2, 2) + bytes(8),  # two fields of a name
        bytes.fromhex("aced0004"),
        HEADER,
    ],
)
def test_streams_that_are_not_read(data: bytes) -> None:
    with pytest.raises(FormatError):
        read_java(Reader(data))


def test_depth_of_streams_is_bounded() -> None:
    array = b"\x75" + desc("[Ljava.lang.Object;", b"", 0) + bytes.fromhex("00000001")
    with pytest.raises(FormatError, match="nested deeper"):
        read_java(Reader(HEADER + array * 100_000))
