"""Snapshots of types made by hand: they say the type again, and are byte for byte what each Flink wrote for it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statelift.schemas import types as t
from statelift.schemas.errors import EncodeError, PlanError, StateliftError
from statelift.schemas.from_logical import type_of_logical
from statelift.schemas.from_snapshot import type_of
from statelift.schemas.snapshots import (
    CompositeSnapshot,
    PojoSnapshot,
    RowDataSnapshot,
    SerializerSnapshot,
    SimpleSnapshot,
    SortedMapSnapshot,
    read_proxy,
    write_proxy,
)
from statelift.schemas.to_snapshot import snapshot_of
from statelift.schemas.type_syntax import parse_type
from statelift.schemas.wire import Reader, Writer

from .test_snapshots_corpus import STATE_SERIALIZER, read_and_write

_SCALARS = (
    "boolean", "byte", "short", "int", "long", "float", "double", "char", "string", "string_value", "void",
    "null", "date", "sql_date", "sql_time", "sql_timestamp", "instant", "local_date", "local_time",
    "local_date_time", "big_integer", "big_decimal", "bytes", "window", "global_window", "count_window",
    "string_data", "flipped_long", "tuple0", "unit", "nothing",
)  # fmt: skip
_BINARY = ("boolean", "byte", "short", "int", "long", "float", "double", "days", "string_data", "bytes")


def _numbered(nodes: list[t.DataType]) -> tuple[t.Field, ...]:
    return tuple(t.Field(name=f"f{i}", type=node) for i, node in enumerate(nodes))


def _pojo(name: str, nodes: list[t.DataType]) -> t.DataType:
    named = zip("BCabcdéüz", nodes, strict=False)
    return t.PojoType(class_name=name, fields=tuple(t.Field(name=n, type=node) for n, node in named))


def _nest(of: st.SearchStrategy[t.DataType]) -> st.SearchStrategy[t.DataType]:
    several = st.lists(of, min_size=1, max_size=4)
    names = st.sampled_from(["com.acme.A", "com.acme.Outer$Inner", "Süß"])
    plain = of.filter(lambda node: not isinstance(node, t.NullableType) and str(node) not in t.ONE_VALUE)
    return st.one_of(
        several.map(
            lambda nodes: t.TupleType(class_name=f"{t.JAVA_TUPLE}{len(nodes)}", fields=_numbered(nodes))
        ),
        st.builds(
            lambda name, nodes, scala: t.TupleType(
                class_name=name, fields=_numbered(nodes), case_class=scala
            ),
            names,
            several,
            st.booleans(),
        ),
        st.builds(_pojo, names, st.lists(of, max_size=6)),
        several.map(lambda nodes: t.RowType(fields=_numbered(nodes))),
        of.map(lambda node: t.ListType(element=node)),
        of.map(lambda node: t.ListType(element=node, element_flag="mask")),
        of.map(lambda node: t.ListType(element=node, flavour="set", element_flag="is_null")),
        st.builds(
            lambda node, name: t.ListType(
                element=node, flavour="array", element_flag="is_present", class_name=name
            ),
            of,
            names,
        ),
        st.builds(lambda key, value: t.MapType(key=key, value=value), of, of),
        st.builds(
            lambda node, padding: t.NullableType(inner=node, padding=padding), plain, st.sampled_from([0, 8])
        ),
        plain.map(lambda node: t.NullableType(inner=node, flag="is_present")),
        of.map(lambda node: t.TtlType(inner=node)),
        of.map(lambda node: t.RawDataType(inner=node)),
        st.builds(
            lambda left, right: t.UnionType(
                class_name="Either",
                alternatives=(t.Field(name="left", type=left), t.Field(name="right", type=right)),
                tags=(1, 0),
            ),
            of,
            of,
        ),
        st.builds(lambda key, space: parse_type(f"timer<{key}, {space}>"), of, of),
    )


_row_data = st.lists(st.sampled_from(_BINARY).map(t.scalar), max_size=5).map(
    lambda nodes: t.RowDataType(fields=_numbered(nodes))
)
_leaves = st.one_of(
    st.sampled_from(_SCALARS).map(t.scalar),
    st.integers(1, 38).map(lambda p: t.DecimalType(precision=p, scale=p // 2, storage=t.decimal_storage(p))),
    st.integers(0, 9).map(lambda p: t.TimestampDataType(precision=p)),
    st.just(t.EnumType(class_name="com.acme.Color", constants=("RED", "GREEN"))),
    st.sampled_from(["int", "char", "boolean", "string"]).map(
        lambda name: t.ListType(element=t.scalar(name), flavour="array")  # type: ignore[arg-type]
    ),
    _row_data,
)
writable_types = st.recursive(_leaves, _nest, max_leaves=8)


@given(writable_types, st.sampled_from(["2.0", "2.2", "2.3"]))
def test_the_snapshot_of_a_type_is_of_that_type(node: t.DataType, version: str) -> None:
    snapshot = snapshot_of(node, version)
    assert type_of(snapshot) == node
    writer = Writer()
    write_proxy(writer, snapshot)
    assert read_proxy(Reader(writer.getvalue())) == snapshot


@pytest.mark.parametrize("text", ["pojo P {b: int, B: int, a: int}", "pojo P {a: int, B: int, b: int}"])
def test_pojo_fields_stand_in_flinks_order_however_they_were_written(text: str) -> None:
    """PojoTypeInfo sorts by ``String.compareTo``: upper case first."""
    assert str(type_of(snapshot_of(parse_type(text)))) == "pojo P {B: int, a: int, b: int}"


def test_void_is_a_namespace_by_itself_and_in_a_timer_and_a_value_elsewhere() -> None:
    def classes(text: str) -> list[str]:
        found = snapshot_of(parse_type(text))
        nested = getattr(found, "nested", ())
        return [one.class_name.rpartition("$")[2] for one in (found, *nested)]

    assert classes("void") == ["VoidNamespaceSerializerSnapshot"]
    assert classes("timer<void, void>")[1:] == ["VoidSerializerSnapshot", "VoidNamespaceSerializerSnapshot"]
    assert classes("list<void>")[1:] == ["VoidSerializerSnapshot"]


@pytest.mark.parametrize(
    ("text", "snapshot", "outer"),
    [
        (
            "case_class com.acme.Item {f0: string, f1: int}",
            "ScalaCaseClassSerializerSnapshot",
            "com.acme.Item",
        ),
        ("case_class com.acme.Empty {}", "ScalaCaseClassSerializerSnapshot", "com.acme.Empty"),
        ("tuple scala.Tuple2 {f0: string, f1: int}", "ScalaCaseClassSerializerSnapshot", "scala.Tuple2"),
        ("tuple com.acme.T {f0: string, f1: int}", "TupleSerializerSnapshot", "com.acme.T"),
    ],
)
def test_case_classes_have_a_serializer_of_their_own(text: str, snapshot: str, outer: str) -> None:
    """Of tuples too: that is what ``createTypeInformation[(String, Int)]`` of Flink 1.20 makes."""
    made = snapshot_of(parse_type(text))
    assert isinstance(made, CompositeSnapshot)
    assert made.class_name.rpartition(".")[2] == snapshot
    assert made.outer == outer


@pytest.mark.parametrize(
    ("text", "version", "reason"),
    [
        ("set<string>", "1.20", "its serializer exists since Flink 2.0"),
        ("list<set<string>>", "1.20", "its serializer exists since Flink 2.0"),
        ("variant", "2.0", "its serializer exists since Flink 2.1"),
        ("rowdata {a: int}", "1.10", "its serializer exists since Flink 1.11"),
        ("row {a: int}", "1.10", "a row of Flink 1.10 has not a row kind"),
        ("row[supports_row_kind=false] {a: int}", "1.13", "a row of Flink 1.13 has a row kind"),
        ("list[element_flag=is_present]<int>", "1.20", "holds the job's Scala code"),
        ("rowdata {a: array<int>}", "1.20", "the serializer of a ARRAY type cannot be made by hand"),
        ("list[framing=block]<int>", "1.20", "only Avro and binary rows lay values out so"),
        ("tuple com.acme.Record {id: int}", "1.20", "those of Avro's records named"),
        ("opaque<com.acme.X>", "1.20", "declared opaque"),
        ("raw_data", "1.20", "only Avro and binary rows lay values out so"),
    ],
)
def test_what_no_flink_writes_is_refused(text: str, version: str, reason: str) -> None:
    with pytest.raises(EncodeError, match=re.escape(reason)):
        snapshot_of(parse_type(text), version)


@pytest.mark.parametrize("version", ["1.7", "2", "twenty", "1.20-SNAPSHOT"])
def test_a_version_that_is_none_is_refused(version: str) -> None:
    with pytest.raises(PlanError, match="no release of Flink from 1"):
        snapshot_of(t.scalar("int"), version)


#: What a type does not keep, by the test of Flink that wrote it, and why.
LOST = {
    "(boolean|byte|char|double|float|int|long|short)-value-serializer": "a mutable value is laid out as the plain one",
    "arraylist-serializer": "the heap's list is laid out as a list",
    "list-view-serializer|map-view-serializer": "a view is laid out as what it shows",
    "ttl-aware-serializer-(string|ttl)-value": "a wrapper that adds no bytes",
    "dewey-number-serializer": "laid out as an array of ints",
    "linked-list-serializer": "without a mask, before Flink 1.15, laid out as a list",
}  # fmt: skip
#: What cannot be made, and why.
REFUSED = {
    "(generic|specific)-avro-serializer": "a type does not keep the schema's text",
    "traversable-serializer-.*": "a type does not keep the code that builds the collection",
}


def written(snapshot: SerializerSnapshot) -> bytes:
    writer = Writer()
    write_proxy(writer, snapshot)
    return writer.getvalue()


def snapshot_files(corpus: Path) -> Iterator[Path]:
    for folder in ("known", "savepoints", "sql-restore"):
        for file in sorted((corpus / folder).rglob("*")):
            if "state-evolution-1." in str(file):  # Flink 1.6 and 1.7
                continue
            if file.is_file() and file.suffix not in (".json", ".txt", ".sst"):
                yield file


def state_serializers(file: Path) -> Iterator[tuple[SerializerSnapshot, bytes]]:
    data = file.read_bytes()
    for match in STATE_SERIALIZER.finditer(data):
        reader = Reader(data, match.end(), str(file))
        try:
            yield read_and_write(reader), data[match.end() : reader.pos]
        except StateliftError:
            continue


def known_as(table: dict[str, str], name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in table)


@pytest.mark.corpus
def test_as_each_flink_wrote_it(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes: defaultdict[str, set[str]] = defaultdict(set)
    for file in sorted((corpus / "serializers").glob("*/serializer-snapshot")):
        name, _, version = file.parent.name.rpartition("-")
        data = file.read_bytes()
        node = type_of(read_proxy(Reader(data)))
        if t.opaque_in(node):
            outcomes["opaque"].add(file.parent.name)
            continue
        try:
            made = snapshot_of(node, "1.8" if version == "1.7" else version)
        except EncodeError:
            outcomes["refused"].add(file.parent.name)
            assert known_as(REFUSED, name), file.parent.name
            continue
        assert type_of(made) == node
        same = written(made) == data
        outcomes["same" if same else "lost"].add(file.parent.name)
        assert same or known_as(LOST, name), file.parent.name
    with capsys.disabled():
        print("\nserializers of the corpus:", {kind: len(names) for kind, names in outcomes.items()})
    assert len(outcomes["same"]) > 480


def without_what_types_lose(value: object) -> object:
    """A snapshot with what no type keeps taken out: serializers of one layout are one, SQL's types are types."""
    match value:
        case RowDataSnapshot():
            # Lengths, nullability, time attributes and the names of structured types.
            nested = tuple(map(without_what_types_lose, value.nested))
            return ("row data", tuple(map(type_of_logical, value.types)), nested)
        case SortedMapSnapshot():
            return (*_SAME["MapSerializerSnapshot"], tuple(map(without_what_types_lose, value.nested)))
        case CompositeSnapshot() if value.class_name.endswith(
            ("ViewSerializerSnapshot", "ExternalSerializerSnapshot")
        ):
            return without_what_types_lose(value.nested[0])
        case SimpleSnapshot():
            return type_of(value)
        case CompositeSnapshot():
            nested = tuple(map(without_what_types_lose, value.nested))
            name = value.class_name.rpartition(".")[2].replace("ArrayListSer", "ListSer")
            return (name, value.outer_version, value.outer, nested)
        case PojoSnapshot():
            return (
                value.pojo_class,
                *((part.field_name, without_what_types_lose(part.snapshot)) for part in value.fields),
            )
    return value


_SAME = {"MapSerializerSnapshot": ("MapSerializerSnapshot", 1, None)}


@pytest.mark.corpus
def test_as_the_jobs_of_the_corpus_had_it(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found: dict[bytes, tuple[SerializerSnapshot, str | None]] = {}
    for file in snapshot_files(corpus):
        release = re.search(r"/known/(\d\.\d+)|flink(\d\.\d+)", str(file))
        for snapshot, data in state_serializers(file):
            found.setdefault(data, (snapshot, release and (release[1] or release[2])))
    outcomes: Counter[str] = Counter()
    for data, (snapshot, release) in found.items():
        node = type_of(snapshot)
        if t.opaque_in(node):
            outcomes["opaque"] += 1
            continue
        try:
            made = [snapshot_of(node, version) for version in ([release] if release else ["1.20", "2.3"])]
        except EncodeError as error:
            reason = error.what.rpartition(": ")[2]
            outcomes[reason] += 1
            assert reason in REFUSED_IN_JOBS
            continue
        same = data in map(written, made)
        outcomes["same" if same else "same but for what types lose"] += 1
        expected = without_what_types_lose(snapshot)
        assert same or expected in map(without_what_types_lose, made), snapshot
    with capsys.disabled():
        print("\nstates of jobs:", dict(outcomes))
    assert outcomes["same"] > 100


REFUSED_IN_JOBS = {
    "raw_data is no type of a SQL row",
    "raw<void> is no type of a SQL row",
    "the fields of a tuple are f0, f1, … and those of Avro's records named",
    "the serializer of a ARRAY type cannot be made by hand",
}
