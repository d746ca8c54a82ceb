"""Types written by hand: what each text means, that every type's own text reads back, and what errors say."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from statelift.schemas import types as t
from statelift.schemas.errors import PlanError
from statelift.schemas.type_syntax import parse_type

from .codec_strategies import declarable_types

LONG, STRING, INT = t.scalar("long"), t.scalar("string"), t.scalar("int")
TUPLE = "org.apache.flink.api.java.tuple.Tuple"


def fields(**named: t.DataType) -> tuple[t.Field, ...]:
    return tuple(t.Field(name=name, type=node) for name, node in named.items())


MEANT: dict[str, t.DataType] = {
    "long": LONG,
    " list < string > ": t.ListType(element=STRING),
    "set<string>": t.ListType(element=STRING, flavour="set", element_flag="is_null"),
    "map<string, long>": t.MapType(key=STRING, value=LONG),
    "pojo com.acme.FraudScore {score: double, timestamp: long}": t.PojoType(
        class_name="com.acme.FraudScore", fields=fields(score=t.scalar("double"), timestamp=LONG)
    ),
    "pojo a.P {b: long, a: int} registered {a.Q: pojo a.Q {}} non_registered {a.R: pojo a.R {}}": t.PojoType(
        class_name="a.P",
        fields=fields(a=INT, b=LONG),
        registered=(t.Field(name="a.Q", type=t.PojoType(class_name="a.Q", fields=())),),
        non_registered=(t.Field(name="a.R", type=t.PojoType(class_name="a.R", fields=())),),
    ),
    "row {name: string, number: long, string: int}": t.RowType(
        fields=fields(name=STRING, number=LONG, string=INT)
    ),
    "enum a.E$Color {RED, GREEN}": t.EnumType(class_name="a.E$Color", constants=("RED", "GREEN")),
    "tuple<string, int>": t.TupleType(class_name=TUPLE + "2", fields=fields(f0=STRING, f1=INT)),
    "tuple a.T {x: int}": t.TupleType(class_name="a.T", fields=fields(x=INT)),
    "case_class a.C {f0: int}": t.TupleType(class_name="a.C", fields=fields(f0=INT), case_class=True),
    "tuple scala.Tuple1 {f0: int}": t.TupleType(
        class_name="scala.Tuple1", fields=fields(f0=INT), case_class=True
    ),
    "row {a: int}": t.RowType(fields=fields(a=INT)),
    "row[supports_row_kind=false]<int, long>": t.RowType(
        fields=fields(f0=INT, f1=LONG), supports_row_kind=False
    ),
    "nullable<long>": t.NullableType(inner=LONG),
    "nullable[padding=8]<long>": t.NullableType(inner=LONG, padding=8),
    "ttl<long>": t.TtlType(inner=LONG),
    "either<string, int>": t.UnionType(
        class_name="Either", alternatives=fields(left=STRING, right=INT), tags=(1, 0)
    ),
    "decimal(10, 2)": t.DecimalType(precision=10, scale=2, storage="long"),
    "decimal(30, 2)": t.DecimalType(precision=30, scale=2, storage="bytes"),
    "timestamp_ltz(3)": t.TimestampDataType(precision=3, utc=True),
    "timer<string, window>": t.TupleType(
        class_name="TimerHeapInternalTimer",
        fields=fields(timestamp=t.scalar("flipped_long"), key=STRING, namespace=t.scalar("window")),
    ),
    "kryo[kryo=5]<java.util.UUID>": t.KryoType(class_name="java.util.UUID", kryo=5),
}

#: The serializers of the extracted array fields (spec serializers 2.8): primitive, String[], object arrays.
ARRAYS = {
    "array<byte>": t.scalar("bytes"),
    "array<int>": t.ListType(element=INT, flavour="array"),
    "array<string>": t.ListType(element=STRING, flavour="array"),
    "array<pojo a.P {}>": t.ListType(
        element=t.PojoType(class_name="a.P", fields=()),
        flavour="array",
        element_flag="is_present",
        class_name="a.P",
    ),
    "array<array<string>>": t.ListType(
        element=t.ListType(element=STRING, flavour="array"),
        flavour="array",
        element_flag="is_present",
        class_name="[Ljava.lang.String;",
    ),
    "array[class_name=java.lang.Integer]<int>": t.ListType(
        element=INT, flavour="array", element_flag="is_present", class_name="java.lang.Integer"
    ),
}


@pytest.mark.parametrize("text", [*MEANT, *ARRAYS])
def test_a_text_means(text: str) -> None:
    assert parse_type(text) == {**MEANT, **ARRAYS}[text]


def test_sql_types_stand_in_a_sql_row() -> None:
    """Only there: java.util.Date and a String of the DataStream API are other bytes than DATE and STRING."""
    assert parse_type("rowdata {a: array<string>, b: map<int, row {c: date}>, d: raw<list<string>>}") == (
        t.RowDataType(
            fields=fields(
                a=t.ArrayDataType(element=t.scalar("string_data")),
                b=t.MapDataType(key=INT, value=t.RowDataType(fields=fields(c=t.scalar("days")))),
                d=t.RawDataType(inner=t.ListType(element=STRING)),
            )
        )
    )


@given(declarable_types)
def test_the_text_of_a_type_reads_back(node: t.DataType) -> None:
    assert parse_type(str(node)) == node


@given(st.text(min_size=1), st.text(min_size=1), st.text(min_size=1))
@example("true", "null", "registered")
@example("a.b", "_", "$")
def test_names_of_any_letters_read_back(class_name: str, field: str, constant: str) -> None:
    enum = t.EnumType(class_name=class_name, constants=(constant, constant + "x"))
    node = t.ListType(
        element=t.PojoType(class_name=class_name, fields=(t.Field(name=field, type=enum),)),
        flavour="array",
        element_flag="is_present",
        class_name=class_name,
    )
    assert "\n" not in str(node)
    assert parse_type(str(node)) == node


def test_a_field_name_may_be_a_word_of_the_language() -> None:
    node = parse_type("pojo a.P {list: list<int>, map: string, registered: long}")
    assert [field.name for field in getattr(node, "fields")] == ["list", "map", "registered"]  # noqa: B009


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "type '', position 1: expected a type, found the end"),
        (
            "list<strng>",
            "type 'list<strng>', position 6: expected a type, found strng; nearest: string, string_data",
        ),
        ("map<int>", "type 'map<int>', position 8: expected ',', found >"),
        ("list<int", "type 'list<int', position 9: expected '>', found the end"),
        ("list<int>>", "type 'list<int>>', position 10: expected the end, found >"),
        ("pojo {a: int}", "type 'pojo {a: int}', position 6: expected a class name, found {"),
        ("row {a int}", "type 'row {a int}', position 8: expected ':', found int"),
        ("row {a: int, a: int}", "type 'row {a: int, a: int}', position 14: expected no second field 'a', found a"),
        ("tuple<>", "type 'tuple<>', position 7: expected a type, found >"),
        ("enum E {A B}", "type 'enum E {A B}', position 11: expected ',' or '}', found B"),
        ("set[x=1]<int>", "type 'set[x=1]<int>', position 14: expected no option x before this, found the end"),
        ("list\x00", r"type 'list\x00', position 5: expected '<', found '\x00'"),
    ],
)  # fmt: skip
def test_an_error_says_where_and_what_was_expected(text: str, error: str) -> None:
    with pytest.raises(PlanError) as raised:
        parse_type(text)
    assert str(raised.value) == error


@pytest.mark.parametrize(
    "text", ["decimal(39, 2)", "decimal(4, 5)", "timestamp(10)", "fixed(-1)", "nullable[padding=-1]<int>"]
)
def test_impossible_numbers_are_refused(text: str) -> None:
    with pytest.raises(PlanError, match="expected a"):
        parse_type(text)


def test_an_array_of_a_type_without_a_class_is_refused() -> None:
    with pytest.raises(PlanError, match="class_name=…"):
        parse_type("array<ttl<int>>")


def test_a_type_nested_too_deeply_is_refused() -> None:
    with pytest.raises(PlanError, match="at most 48 types in each other"):
        parse_type("list<" * 100_000)


@given(st.text('<>{}()[],:= "\\al0ist$é', max_size=40))
def test_any_text_is_a_type_or_a_plan_error_of_one_line(text: str) -> None:
    try:
        node = parse_type(text)
    except PlanError as error:
        said = str(error)
    else:
        said = str(node)
        assert parse_type(said) == node
    assert len(said.splitlines()) == 1
