"""Every serializer snapshot that Flink wrote is read to its last byte and written back as it was."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from statelift.schemas.errors import UnknownSerializerError
from statelift.schemas.snapshots import (
    CompositeSnapshot,
    EnumSnapshot,
    LegacyConfigSnapshot,
    OpaqueSnapshot,
    PojoSnapshot,
    RowDataSnapshot,
    ScalaEnumSnapshot,
    SerializerSnapshot,
    SimpleSnapshot,
    SortedMapSnapshot,
    read_proxy,
    write_proxy,
)
from statelift.schemas.wire import Reader, Writer

pytestmark = pytest.mark.corpus

NOT_READ = {
    # A user's own class; there is no telling where it ends.
    "org.apache.flink.test.migration.TypeSerializerSnapshotMigrationITCase$TestSerializerSnapshot",
}
# Before a snapshot; in Flink 1.6 a table of offsets stands there instead, which begins with a 0.
STATE_SERIALIZER = re.compile(
    rb"\x00.(?:KEY|VALUE|NAMESPACE|USER_KEY)_SERIALIZER(?=\x00\x00\x00\x02(?!\x00\x00))", re.DOTALL
)


def read_and_write(reader: Reader) -> SerializerSnapshot:
    start = reader.pos
    snapshot = read_proxy(reader)
    writer = Writer()
    write_proxy(writer, snapshot)
    assert writer.out == reader.data[start : reader.pos]
    return snapshot


def parts(value: Any) -> Iterator[Any]:
    """A snapshot and all that is in it."""
    yield value
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from parts(getattr(value, field.name))
    elif isinstance(value, tuple):
        for one in value:
            yield from parts(one)


@pytest.fixture(scope="module")
def serializers(corpus: Path) -> dict[str, SerializerSnapshot]:
    found = {}
    for file in sorted((corpus / "serializers").glob("*/serializer-snapshot")):
        reader = Reader(file.read_bytes(), file=str(file))
        found[file.parent.name] = read_and_write(reader)
        reader.expect_end(file.parent.name)
    return found


@pytest.fixture(scope="module")
def in_headers(corpus: Path) -> tuple[list[SerializerSnapshot], Counter[str]]:
    """The distinct snapshots of states in headers, and how often each class was not read."""
    found: dict[bytes, SerializerSnapshot] = {}
    unknown: Counter[str] = Counter()
    for folder in ("known", "savepoints", "sql-restore"):
        for file in sorted((corpus / folder).rglob("*")):
            if not file.is_file() or file.suffix in (".json", ".txt", ".sst"):
                continue
            data = file.read_bytes()
            for match in STATE_SERIALIZER.finditer(data):
                reader = Reader(data, match.end(), str(file))
                try:
                    snapshot = read_and_write(reader)
                except UnknownSerializerError as error:
                    unknown[error.class_name] += 1
                else:
                    found[data[match.end() : reader.pos]] = snapshot
    return list(found.values()), unknown


def test_all_are_read_and_nothing_stays_opaque(serializers: dict[str, SerializerSnapshot]) -> None:
    assert len(serializers) == 693
    assert not [
        name for name, one in serializers.items() for x in parts(one) if isinstance(x, OpaqueSnapshot)
    ]


@pytest.mark.parametrize(
    ("name", "outer", "nested"),
    [
        ("nullable-padded-serializer", 8, ["Long"]),
        ("nullable-not-padded-serializer", 0, ["Long"]),
        ("generic-array-serializer", "java.lang.String", ["String"]),
        ("tuple-serializer", "org.apache.flink.api.java.tuple.Tuple3", ["String", "String", "Int"]),
        ("timer-serializer", None, ["String", "Int"]),
        ("ttl-serializer", None, ["Long", "String"]),
        ("map-serializer", None, ["Int", "String"]),
        ("either-serializer", None, ["String", "Int"]),
    ],
)
def test_what_the_migration_tests_of_flink_made(
    serializers: dict[str, SerializerSnapshot], name: str, outer: object, nested: list[str]
) -> None:
    of_name = [one for key, one in serializers.items() if key.rpartition("-")[0] == name]
    assert len(of_name) == 8
    for snapshot in of_name:
        assert isinstance(snapshot, CompositeSnapshot)
        assert snapshot.outer == outer
        assert [
            one.class_name.rpartition(".")[2].partition("Serializer")[0] for one in snapshot.nested
        ] == nested


def test_row_kind_is_told_since_outer_version_4(serializers: dict[str, SerializerSnapshot]) -> None:
    rows = [one for key, one in serializers.items() if key.startswith("row-serializer")]
    assert {(row.outer_version, row.outer) for row in rows if isinstance(row, CompositeSnapshot)} == {
        (2, None),
        (3, None),
        (4, True),
    }


def test_enum_constants(serializers: dict[str, SerializerSnapshot]) -> None:
    snapshot = serializers["enum-serializer-2.2"]
    assert isinstance(snapshot, EnumSnapshot)
    assert snapshot.constants == ("FOO", "BAR", "PETER", "PAULA", "NATHANIEL", "EMMA")


def test_pojo_fields_stand_by_name(serializers: dict[str, SerializerSnapshot]) -> None:
    pojos = [x for one in serializers.values() for x in parts(one) if isinstance(x, PojoSnapshot)]
    assert pojos
    for pojo in pojos:
        names = [field.field_name for field in pojo.fields]
        assert names == sorted(names, key=str)


def test_scala_enum(serializers: dict[str, SerializerSnapshot]) -> None:
    snapshot = serializers["scala-enum-serializer-2.2"]
    assert isinstance(snapshot, ScalaEnumSnapshot)
    assert snapshot.enumeration_class.endswith("$")
    assert [number for _, number in snapshot.enum_constants] == list(range(len(snapshot.enum_constants)))


def test_all_states_in_headers_are_read(in_headers: tuple[list[SerializerSnapshot], Counter[str]]) -> None:
    snapshots, unknown = in_headers
    assert len(snapshots) > 250
    assert set(unknown) == NOT_READ


def test_row_data_tells_a_type_for_each_nested(
    in_headers: tuple[list[SerializerSnapshot], Counter[str]],
) -> None:
    rows = [x for one in in_headers[0] for x in parts(one) if isinstance(x, RowDataSnapshot)]
    assert len(rows) > 100
    assert all(len(row.types) == len(row.streams) == len(row.nested) for row in rows)
    sorted_maps = [x for one in in_headers[0] for x in parts(one) if isinstance(x, SortedMapSnapshot)]
    assert {one.comparator_class for one in sorted_maps} == {
        "org.apache.flink.table.runtime.operators.rank.ComparableRecordComparator"
    }


def test_flink_1_7_keeps_its_serializers_in_java_streams(
    in_headers: tuple[list[SerializerSnapshot], Counter[str]],
) -> None:
    legacy = {
        one.class_name.rpartition(".")[2]: one
        for one in in_headers[0]
        if isinstance(one, LegacyConfigSnapshot)
    }
    assert set(legacy) == {"ParameterlessTypeSerializerConfig", "TupleSerializerConfigSnapshot"}
    tuple_config = legacy["TupleSerializerConfigSnapshot"]
    assert tuple_config.serializer_class == "org.apache.flink.api.java.typeutils.runtime.TupleSerializer"
    base = "org.apache.flink.api.common.typeutils.base."
    assert tuple_config.nested == tuple(
        SimpleSnapshot(
            class_name=f"{base}{name}Serializer${name}SerializerSnapshot",
            version=2,
            serializer_class=f"{base}{name}Serializer",
        )
        for name in ("String", "Int")
    )
