"""Restoring state with other serializers: one test for each rule, its source named; real Flink judges the same in
tests/flink/compatibility."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statelift.schemas import types as t
from statelift.schemas.avro_resolution import SchemaError, equal, parse_schema
from statelift.schemas.compatibility import Compatibility, Role, Verdict, compatibility
from statelift.schemas.snapshots import (
    CompositeSnapshot,
    LengthType,
    LogicalType,
    PojoField,
    PojoSnapshot,
    ScalaEnumSnapshot,
    SerializerSnapshot,
    SimpleSnapshot,
    SortedMapSnapshot,
    TtlAwareSnapshot,
    build,
)
from statelift.schemas.snapshots.names import FLINK, R, S, T
from statelift.schemas.to_snapshot import snapshot_of
from statelift.schemas.type_syntax import parse_type

from .test_to_snapshot import writable_types

AS_IS, RECONFIGURED, MIGRATED, INCOMPATIBLE = Compatibility


def judged(
    written: str, wanted: str, version: str = "2.3", role: Role = "value", written_by: str | None = None
) -> Verdict:
    old, new = (snapshot_of(parse_type(text), version) for text in (written, wanted))
    return compatibility(old, new, flink_version=version, role=role, written_by=written_by)


def both(verdict: Verdict) -> tuple[Compatibility, Compatibility]:
    return verdict.flink_says, verdict.safe


@given(writable_types, st.sampled_from(["2.0", "2.3"]))
def test_what_has_not_changed_is_as_is(node: t.DataType, version: str) -> None:
    snapshot = snapshot_of(node, version)
    verdict = compatibility(snapshot, snapshot, flink_version=version)
    assert both(verdict) == (AS_IS, AS_IS), verdict
    assert verdict.explain() == ("nothing differs: as is",)


@given(writable_types, writable_types, st.sampled_from(["1.8", "1.20", "2.3"]))
def test_any_two_are_judged_and_never_safer_than_flink_says(
    one: t.DataType, other: t.DataType, version: str
) -> None:
    verdict = compatibility(snapshot_of(one, "2.3"), snapshot_of(other, "2.3"), flink_version=version)
    assert verdict.safe >= verdict.flink_says
    assert all("\n" not in line for line in verdict.explain())


@pytest.mark.parametrize(
    ("source", "written", "wanted", "expected"),
    [
        # spec 6.1 "Simple": the same serializer class.
        ("SimpleTypeSerializerSnapshot", "int", "long", INCOMPATIBLE),
        ("SimpleTypeSerializerSnapshot", "array<int>", "array<long>", INCOMPATIBLE),
        # spec 6.1 "Composite": the number of nested serializers, then the worst of their verdicts.
        ("CompositeTypeSerializerSnapshot", "tuple<int>", "tuple<int, int>", INCOMPATIBLE),
        ("CompositeTypeSerializerSnapshot", "tuple<int, enum E {A}>", "tuple<int, enum E {A, B}>", RECONFIGURED),
        ("CompositeTypeSerializerSnapshot", "list<pojo P {a: int}>", "list<pojo P {a: int, b: int}>", MIGRATED),
        ("CompositeTypeSerializerSnapshot", "map<string, int>", "map<string, long>", INCOMPATIBLE),
        # spec 6.1 "GenericArray": also the component class.
        ("GenericArraySerializerSnapshot", "array[class_name=A]<int>", "array[class_name=B]<int>", INCOMPATIBLE),
        # spec 6.1 "Nullable": the padding; a plain value is none.
        ("NullableSerializerSnapshot", "nullable<long>", "nullable[padding=8]<long>", INCOMPATIBLE),
        ("NullableSerializerSnapshot", "int", "nullable<int>", INCOMPATIBLE),
        # spec 6.1 "Row": arity, the names of fields are not known, row kind by migration.
        ("RowSerializerSnapshot", "row {a: int}", "row {b: int}", AS_IS),
        ("RowSerializerSnapshot", "row {a: int}", "row {a: int, b: int}", INCOMPATIBLE),
        ("RowSerializerSnapshot", "row[supports_row_kind=false] {a: int}", "row {a: int}", MIGRATED),
        # spec 6.1 "POJO".
        ("PojoSerializerSnapshot", "pojo P {a: int}", "pojo Q {a: int}", INCOMPATIBLE),
        ("PojoSerializerSnapshot", "pojo P {a: int}", "pojo P {a: int, b: int}", MIGRATED),
        ("PojoSerializerSnapshot", "pojo P {a: int, b: int}", "pojo P {a: int}", MIGRATED),
        ("PojoSerializerSnapshot", "pojo P {a: int}", "pojo P {a: long}", INCOMPATIBLE),
        ("PojoSerializerSnapshot", "pojo P {a: int, b: int}", "pojo P {a: long}", INCOMPATIBLE),
        ("PojoSerializerSnapshot", "pojo P {a: enum E {A}}", "pojo P {a: enum E {A, B}}", RECONFIGURED),
        ("PojoSerializerSnapshot", "pojo P {a: int}", "row {a: int}", INCOMPATIBLE),
        ("PojoSerializerSnapshot", "pojo P {}", "pojo P {} registered {S: pojo S {}}", AS_IS),
        (
            "PojoSerializerSnapshot",
            "pojo P {} registered {S: pojo S {}, T: pojo T {}}",
            "pojo P {} registered {T: pojo T {}, S: pojo S {}}",
            RECONFIGURED,
        ),
        ("PojoSerializerSnapshot", "pojo P {} registered {S: pojo S {}}", "pojo P {}", RECONFIGURED),
        ("PojoSerializerSnapshot", "pojo P {} non_registered {S: pojo S {}}", "pojo P {}", RECONFIGURED),
        (
            "PojoSerializerSnapshot",
            "pojo P {} registered {S: pojo S {a: int}}",
            "pojo P {} registered {S: pojo S {a: long}}",
            INCOMPATIBLE,
        ),
        # spec 6.1 "Enum".
        ("EnumSerializerSnapshot", "enum E {A, B}", "enum E {A, B, C}", RECONFIGURED),
        ("EnumSerializerSnapshot", "enum E {A, B}", "enum E {B, A}", RECONFIGURED),
        ("EnumSerializerSnapshot", "enum E {A, B}", "enum E {A}", INCOMPATIBLE),
        ("EnumSerializerSnapshot", "enum E {A}", "enum F {A}", INCOMPATIBLE),
        # spec 6.1 "Kryo": the type, and registrations whose order stays.
        ("KryoSerializerSnapshot", "kryo[kryo=5]<K>", "kryo[kryo=5]<L>", INCOMPATIBLE),
        ("KryoSerializerSnapshot", "kryo[kryo=5]<K>", "kryo[kryo=5, registered=(P)]<K>", RECONFIGURED),
        ("KryoSerializerSnapshot", "kryo[kryo=5]<K>", "pojo K {a: int}", INCOMPATIBLE),
        # spec 6.1 "ArrayData/MapData/Decimal/Timestamp": equal parameters.
        ("DecimalSerializerSnapshot", "decimal(10, 2)", "decimal(12, 2)", INCOMPATIBLE),
        ("TimestampDataSerializerSnapshot", "timestamp(3)", "timestamp(6)", INCOMPATIBLE),
        # spec 6.1 "RowData": equal types.
        ("RowDataSerializerSnapshot", "rowdata {a: int}", "rowdata {a: long}", INCOMPATIBLE),
        ("RowDataSerializerSnapshot", "rowdata {a: int}", "rowdata {a: int, b: int}", INCOMPATIBLE),
    ],
)  # fmt: skip
def test_a_rule(source: str, written: str, wanted: str, expected: Compatibility) -> None:
    assert both(judged(written, wanted)) == (expected, expected), source


def test_nullability_and_length_of_sql_types_count() -> None:
    """spec 6.1 "RowData": ``LogicalType.equals``; the kind of a timestamp is not in it."""
    text = LengthType(type_root="VARCHAR")
    row = build.row_data(text)
    for other in (
        dataclasses.replace(text, is_nullable=False),
        dataclasses.replace(text, length=20),
        LogicalType(type_root="DATE"),
    ):
        assert compatibility(row, build.row_data(other), flink_version="2.3").safe == INCOMPATIBLE


# Where Flink does not see a danger --------------------------------------------------------------------------------


def reordered(snapshot: SerializerSnapshot) -> PojoSnapshot:
    assert isinstance(snapshot, PojoSnapshot)
    return dataclasses.replace(snapshot, fields=snapshot.fields[::-1])


def test_flink_does_not_see_the_order_of_pojo_fields() -> None:
    """spec 6.1, trap 5: RocksDB then reads in the job's order."""
    pojo = snapshot_of(parse_type("pojo P {a: int, b: string}"))
    verdict = compatibility(reordered(pojo), pojo, flink_version="2.3")
    assert both(verdict) == (AS_IS, INCOMPATIBLE)
    assert verdict.explain() == (
        "value: the fields stand as b, a and are read as a, b: incompatible, which Flink takes as is",
    )


def test_a_migration_reads_pojo_fields_in_their_written_order() -> None:
    """``PojoSerializerSnapshot.restoreSerializer`` keeps the snapshot's order."""
    written = reordered(snapshot_of(parse_type("pojo P {a: int, b: string}")))
    wanted = snapshot_of(parse_type("pojo P {a: int, b: string, c: int}"))
    assert both(compatibility(written, wanted, flink_version="2.3")) == (MIGRATED, MIGRATED)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("tuple<string, int>", "either<string, int>"),
        ("row {a: list<int>}", "row {a: set<int>}"),
    ],
)
def test_flink_does_not_see_the_class_of_a_composite(written: str, wanted: str) -> None:
    """spec 6.1, trap 6: ``CompositeTypeSerializerSnapshot`` compares the nested serializers alone."""
    assert both(judged(written, wanted)) == (AS_IS, INCOMPATIBLE)


def test_flink_does_not_see_the_class_of_a_tuple() -> None:
    """spec 6.1: ``Tuple2 <- snapshot naming Tuple3`` as is; the heap then holds values of the old class."""
    verdict = judged("tuple com.acme.Pair {f0: int, f1: int}", "tuple<int, int>")
    assert both(verdict) == (AS_IS, INCOMPATIBLE)


def test_an_array_list_is_laid_out_as_a_list() -> None:
    """spec 2.7: ``S.ArrayListSerializer``, the same value bytes; inside of others Flink does not look."""
    array_list = CompositeSnapshot(
        class_name=S + "ArrayListSerializerSnapshot",
        version=3,
        outer_version=1,
        nested=(build.scalar("Int"),),
    )
    written, wanted = build.tuple_of(array_list), build.tuple_of(build.list_of(build.scalar("Int")))
    assert both(compatibility(written, wanted, flink_version="2.3")) == (AS_IS, AS_IS)


def test_a_list_state_is_told_from_a_set_since_ttl_can_be_turned() -> None:
    """``TtlAwareSerializerSnapshotWrapper`` wraps the elements of a list and the whole of a set."""
    assert both(judged("list<int>", "set<int>", "2.3")) == (INCOMPATIBLE, INCOMPATIBLE)
    assert both(judged("list<int>", "set<int>", "2.0")) == (AS_IS, INCOMPATIBLE)


def test_before_1_19_flink_compared_the_class() -> None:
    """FLINK-30613: the written snapshot asked for ``correspondingSerializerClass``."""
    assert both(judged("tuple<string, int>", "either<string, int>", "1.18")) == (INCOMPATIBLE, INCOMPATIBLE)
    assert both(judged("tuple<string, int>", "either<string, int>", "1.19")) == (AS_IS, INCOMPATIBLE)


def test_kryo_of_flink_1_is_not_read_by_flink_2() -> None:
    """spec 4.1: other bytes under the same snapshot."""
    kryo = "tuple<kryo[kryo=5]<K>>"
    assert both(judged(kryo, kryo, "2.3")) == (AS_IS, AS_IS)
    assert both(judged(kryo, kryo, "2.3", written_by="1.20")) == (AS_IS, INCOMPATIBLE)
    assert both(judged(kryo, kryo, "1.20", written_by="1.16")) == (AS_IS, AS_IS)


# POJO fields by their class ---------------------------------------------------------------------------------------


def pojo(*fields: tuple[str, str | None]) -> PojoSnapshot:
    return PojoSnapshot(
        class_name=R + "PojoSerializerSnapshot",
        version=2,
        pojo_class="P",
        fields=tuple(
            PojoField(
                key_name=name,
                declaring_class=owner,
                field_name=name if owner else None,
                snapshot=build.scalar("Int"),
            )
            for name, owner in fields
        ),
    )


@pytest.mark.parametrize(
    ("written", "wanted", "expected"),
    [
        ("P", "Base", AS_IS),
        ("Base", "P", MIGRATED),
        (None, "P", MIGRATED),
    ],
)
def test_a_field_is_looked_for_in_its_class_and_above(
    written: str | None, wanted: str, expected: Compatibility
) -> None:
    """``PojoFieldUtils.getField`` walks up from the declaring class; None is a field that an earlier restore lost."""
    verdict = compatibility(pojo(("a", written)), pojo(("a", wanted)), flink_version="2.3")
    assert both(verdict) == (expected, expected)


# TTL, versions, roles ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("long", "ttl<long>"),
        ("ttl<long>", "long"),
        ("list<long>", "list<ttl<long>>"),
        ("map<string, ttl<long>>", "map<string, long>"),
    ],
)
def test_ttl_is_turned_on_and_off_since_2_2(written: str, wanted: str) -> None:
    """spec 6.1 "TTL on/off", ``TtlAwareSerializerSnapshot``."""
    assert both(judged(written, wanted, "2.3")) == (MIGRATED, MIGRATED)
    assert both(judged(written, wanted, "1.20")) == (INCOMPATIBLE, INCOMPATIBLE)


def test_ttl_is_turned_only_where_state_has_it() -> None:
    assert both(judged("tuple<ttl<long>>", "tuple<long>")) == (INCOMPATIBLE, INCOMPATIBLE)
    assert both(judged("ttl<long>", "string")) == (INCOMPATIBLE, INCOMPATIBLE)


def test_the_wrapper_of_ttl_adds_nothing() -> None:
    """spec 2.14: ``TtlAwareSerializerSnapshot`` may reach the disk."""
    inner = build.scalar("Long")
    wrapped = TtlAwareSnapshot(
        class_name=S + "ttl.TtlAwareSerializerSnapshot", version=1, ttl_enabled=False, inner=inner
    )
    verdict = compatibility(build.map_of(inner, wrapped), build.map_of(inner, inner), flink_version="2.3")
    assert both(verdict) == (AS_IS, AS_IS)


@pytest.mark.parametrize("role", ["key", "namespace"])
def test_keys_and_namespaces_are_not_migrated(role: Role) -> None:
    """spec 6.1, first table."""
    verdict = judged("pojo P {a: int}", "pojo P {a: int, b: int}", role=role)
    assert both(verdict) == (INCOMPATIBLE, INCOMPATIBLE)
    assert verdict.explain() == (f"{role}.b: the field is new, and a {role} is not migrated: incompatible",)
    assert judged("enum E {A}", "enum E {A, B}", role=role).safe == RECONFIGURED


@pytest.mark.parametrize(
    ("written", "wanted", "expected"),
    [
        ("map<pojo P {a: int}, int>", "map<pojo P {a: int, b: int}, int>", INCOMPATIBLE),
        ("map<enum E {A}, int>", "map<enum E {A, B}, int>", RECONFIGURED),
        ("map<enum E {A}, pojo P {a: int}>", "map<enum E {A, B}, pojo P {a: int, b: int}>", INCOMPATIBLE),
        ("map<string, pojo P {a: int}>", "map<string, pojo P {a: int, b: int}>", MIGRATED),
    ],
)
def test_a_map_state_in_rocksdb_migrates_values_where_keys_stay(
    written: str, wanted: str, expected: Compatibility
) -> None:
    """``RocksDBKeyedStateBackend.checkMapStateKeySchemaCompatibility``: keys as is, or no migration."""
    assert both(judged(written, wanted, role="map")) == (expected, expected)


@pytest.mark.parametrize(
    ("written", "wanted", "version", "expected"),
    [
        ({"A": 0, "B": 1}, {"A": 0, "B": 1}, "1.20", AS_IS),
        ({"A": 0}, {"A": 0, "B": 1}, "1.20", AS_IS),
        ({"A": 0, "B": 1}, {"A": 0}, "1.20", INCOMPATIBLE),
        ({"A": 0, "B": 1}, {"A": 0, "C": 1}, "1.20", INCOMPATIBLE),
        (
            {"A": 0, "B": 7},
            {"A": 0, "B": 7},
            "1.20",
            INCOMPATIBLE,
        ),  # the restore fails: IndexOutOfBoundsException
        ({"A": 1, "B": 2}, {"A": 1, "B": 2}, "1.20", INCOMPATIBLE),
        ({"A": 0, "B": 7}, {"A": 0, "B": 7}, "1.18", AS_IS),
    ],
)
def test_values_of_an_enumeration_are_ids(
    written: dict[str, int], wanted: dict[str, int], version: str, expected: Compatibility
) -> None:
    """``ScalaEnumSerializerSnapshot``: since 1.19 it takes the ids for places among the values."""
    old, new = (
        ScalaEnumSnapshot(
            class_name=FLINK + "api.scala.typeutils.ScalaEnumSerializerSnapshot",
            version=3,
            enumeration_class="E$",
            enum_constants=tuple(values.items()),
        )
        for values in (written, wanted)
    )
    assert both(compatibility(old, new, flink_version=version)) == (expected, expected)


@pytest.mark.parametrize(
    ("class_name", "version"),
    [
        (FLINK + "api.scala.typeutils.UnitSerializer$UnitSerializerSnapshot", "2.0"),
        (T + "StringDataSerializer$StringDataSerializerSnapshot", "1.10"),
    ],
)
def test_a_release_does_not_read_what_it_does_not_have(class_name: str, version: str) -> None:
    """spec 3 and 6.1: Flink loads every snapshot class by name; the Scala API went with 2.0."""
    snapshot = SimpleSnapshot(class_name=class_name, version=3)
    assert both(compatibility(snapshot, snapshot, flink_version=version)) == (INCOMPATIBLE, INCOMPATIBLE)
    assert both(compatibility(snapshot, snapshot, flink_version="1.20")) == (AS_IS, AS_IS)


def test_a_row_of_a_newer_flink_is_not_read() -> None:
    """spec 2.11: the row kind is told since outer version 4."""
    row = snapshot_of(parse_type("row {a: int}"), "1.20")
    assert compatibility(row, row, flink_version="1.13").safe == INCOMPATIBLE


def test_the_comparator_of_a_sorted_map_counts() -> None:
    """spec 6.1 "SortedMap"."""

    def sorted_map(comparator: bytes) -> SortedMapSnapshot:
        return SortedMapSnapshot(
            class_name=T + "SortedMapSerializerSnapshot",
            version=3,
            comparator_class="C",
            comparator_stream=comparator,
            nested=(build.scalar("Int"), build.scalar("Int")),
        )

    assert compatibility(sorted_map(b"1"), sorted_map(b"2"), flink_version="2.3").safe == INCOMPATIBLE


def test_reasons_say_where_and_the_worst_comes_first() -> None:
    verdict = judged(
        "map<string, pojo P {address: pojo A {zip: int}, tags: list<enum E {A}>, gone: int}>",
        "map<string, pojo P {address: pojo A {zip: string}, tags: list<enum E {A, B}>}>",
    )
    assert verdict.explain() == (
        "value.value.address.zip: Int is now String: incompatible",
        "value.value.gone: the field is gone, and its values with it: after migration",
        "value.value.tags[]: the constants B are new: after reconfiguration",
    )


# Avro -------------------------------------------------------------------------------------------------------------

SCHEMA = '{"type": "record", "name": "R", "namespace": "a", "fields": [{"name": "x", "type": %s}%s]}'


@pytest.mark.parametrize(
    ("reader", "expected", "explained"),
    [
        (SCHEMA % ('"int"', ""), AS_IS, "nothing differs: as is"),
        (SCHEMA % ('"long"', ""), MIGRATED, "value: the Avro schema has changed: after migration"),
        (SCHEMA % ('"string"', ""), INCOMPATIBLE, "value.x: string does not read int: incompatible"),
        (
            SCHEMA % ('"int"', ', {"name": "y", "type": "int"}'),
            INCOMPATIBLE,
            "value.y: is new and has no default: incompatible",
        ),
        (
            SCHEMA % ('"int"', ', {"name": "y", "type": "int", "default": 0}'),
            MIGRATED,
            "value: the Avro schema has changed: after migration",
        ),
        ("{", INCOMPATIBLE, None),
    ],
)
def test_avro_schemas(reader: str, expected: Compatibility, explained: str | None) -> None:
    """spec 6.1 "Avro": ``Schema.equals``, then ``SchemaCompatibility.checkReaderWriterCompatibility``."""
    verdict = compatibility(build.avro(SCHEMA % ('"int"', "")), build.avro(reader), flink_version="2.3")
    assert both(verdict) == (expected, expected)
    assert explained is None or verdict.explain() == (explained,)


def test_an_avro_schema_may_be_recursive() -> None:
    text = SCHEMA % ('["null", "R"]', "")
    other = SCHEMA % ('["null", "R"]', ', {"name": "y", "type": "int", "default": 0}')
    assert equal(parse_schema(text), parse_schema(text))
    assert compatibility(build.avro(text), build.avro(other), flink_version="2.3").safe == MIGRATED


_json = st.recursive(
    st.sampled_from(["null", "int", "record", "enum", "array", "map", "fixed", "R", 1, None, True]),
    lambda of: (
        st.lists(of, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "name", "fields", "symbols", "items", "values", "size"]), of
        )
    ),
    max_leaves=12,
)


@given(_json)
def test_any_text_is_an_avro_schema_or_a_schema_error(value: object) -> None:
    text = json.dumps(value)
    try:
        schema = parse_schema(text)
    except SchemaError:
        return
    assert equal(schema, parse_schema(text))
