"""Java hash codes and key groups: spec "savepoint format" 4.1 and 4.2, whose numbers come from a JVM."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statelift.schemas import types as t
from statelift.schemas.codec import shapes
from statelift.schemas.errors import EncodeError
from statelift.schemas.hashing import binary_row_hash, java_hash, key_groups, may_have_names, stability
from statelift.schemas.type_syntax import parse_type


def fields(*types: t.DataType) -> tuple[t.Field, ...]:
    return tuple(t.Field(name=f"f{i}", type=one) for i, one in enumerate(types))


def tuple_of(*types: t.DataType) -> t.TupleType:
    name = f"org.apache.flink.api.java.tuple.Tuple{len(types)}"
    return t.TupleType(class_name=name, fields=fields(*types))


def hash_of(value: object, node: t.DataType) -> int:
    kind = shapes.compile_type(node).shape.arrow_type
    hashes = java_hash(pa.array([value], kind), node)
    assert hashes is not None
    return int(hashes[0])


@pytest.mark.parametrize(
    ("value", "name", "expected"),
    [
        (True, "boolean_value", 1),
        (False, "boolean_value", 0),
        (2**40, "long_value", 299),
        (-5, "long_value", 47),
        (0.1, "double_value", -1507852254),
        (math.nan, "double_value", 2146959391),
        ("abc😀", "string_value", 94369093),
    ],
)
def test_flinks_mutable_values_hash_as_they_do_in_java(value: object, name: str, expected: int) -> None:
    assert hash_of(value, t.scalar(name)) == expected  # type: ignore[arg-type]


def twos_complement(value: int) -> bytes:
    return value.to_bytes((value + (value < 0)).bit_length() // 8 + 1, "big", signed=True)


STRING, INT, LONG = t.scalar("string"), t.scalar("int"), t.scalar("long")
BYTES = t.scalar("bytes")


@pytest.mark.parametrize(
    ("value", "name", "expected", "of_128", "of_300"),
    [
        ("hello", "string", 99162322, 35, 179),
        ("key0", "string", 3288497, 93, 85),
        (42, "int", 42, 29, 265),
        (-1, "byte", -1, 80, 148),
        (-5, "long", 4, 7, 175),
        (2**40, "long", 256, 54, 190),
        (True, "boolean", 1231, 77, 165),
        (2.25, "float", 1074790400, 125, 77),
        (1.5, "double", 1073217536, 65, 77),
    ],
)
def test_scalars_as_the_jvm_hashes_them(
    value: object, name: str, expected: int, of_128: int, of_300: int
) -> None:
    node = t.scalar(name)  # type: ignore[arg-type]
    assert hash_of(value, node) == expected
    hashes = np.array([expected], np.int32)
    assert key_groups(hashes, 128)[0] == of_128
    assert key_groups(hashes, 300)[0] == of_300


@pytest.mark.parametrize(
    ("value", "name", "groups"),
    [
        ("user-1", "string", (121, 121, 1657)),
        ("user-2", "string", (22, 22, 1302)),
        ("user-3", "string", (40, 168, 4008)),
        ("", "string", (94, 222, 2526)),
        (0, "int", (94, 222, 2526)),
        (1, "int", (86, 214, 4054)),
        (-1, "int", (80, 80, 2896)),
        (1, "long", (86, 214, 4054)),
        (2**40, "long", (54, 54, 3382)),
        (-1, "long", (94, 222, 2526)),
    ],
)
def test_key_groups_of_the_corpus(value: object, name: str, groups: tuple[int, ...]) -> None:
    hashes = np.array([hash_of(value, t.scalar(name))], np.int32)  # type: ignore[arg-type]
    assert tuple(int(key_groups(hashes, m)[0]) for m in (128, 256, 4096)) == groups


def test_tuples_fold_without_a_leading_one() -> None:
    assert hash_of({"f0": "a", "f1": 1}, tuple_of(STRING, INT)) == 3008
    value = {"f0": "a", "f1": 1, "f2": True}
    assert hash_of(value, tuple_of(STRING, LONG, t.scalar("boolean"))) == 94479
    assert tuple(key_groups(np.array([3008], np.int32), m)[0] for m in (128, 300)) == (29, 29)


def test_lists_and_big_numbers_and_dates() -> None:
    assert hash_of([1, 2, 3], t.ListType(element=INT)) == 30817
    big = twos_complement(-123456789012345678901234567890)
    assert hash_of(big, t.scalar("big_integer")) == -1915528825
    decimal_value = {"unscaled": twos_complement(12340), "scale": 3}
    assert hash_of(decimal_value, t.scalar("big_decimal")) == 382543
    assert hash_of(dt.date(2024, 2, 29), t.scalar("local_date")) == 4145309


def test_uuids_that_kryo_wrote() -> None:
    """Values of ``java.util.UUID.hashCode``."""
    node = parse_type("kryo[kryo=5]<java.util.UUID, uuid>")
    hashes = {
        "01234567-89ab-cdef-ffff-ffffffffffff": -2004318072,
        "00000000-0000-004d-ffff-ffffffffffff": 77,
        "F47AC10B-58CC-4372-A567-0E02B2C3D479": -1156425726,
    }
    found = java_hash(pa.array([*hashes, None]), node)
    assert found is not None
    assert found.tolist() == [*hashes.values(), 0]
    with pytest.raises(EncodeError, match="a UUID has 32 hexadecimal digits"):
        java_hash(pa.array(["user-1"]), node)


def test_positional_rows() -> None:
    one = t.RowType(fields=fields(STRING))
    assert hash_of({"__kind": 0, "f0": "a"}, one) == 159
    assert tuple(key_groups(np.array([159], np.int32), m)[0] for m in (128, 300)) == (64, 108)
    assert hash_of({"__kind": 0, "f0": None}, one) == 31
    assert hash_of({"__kind": 0, "f0": "a", "f1": 1}, t.RowType(fields=fields(STRING, INT))) == 4961
    row_of_bytes = t.RowType(fields=fields(BYTES))
    assert hash_of({"__kind": 0, "f0": bytes.fromhex("0102c8")}, row_of_bytes) == 30820
    assert tuple(key_groups(np.array([30820], np.int32), m)[0] for m in (128, 300)) == (99, 283)


def test_the_kind_of_a_row_counts_31_times() -> None:
    assert hash_of({"__kind": 3, "f0": "a"}, t.RowType(fields=fields(STRING))) == 159 + 3 * 31


@pytest.mark.parametrize(
    ("text", "row", "group"),
    [
        ("f0: short", {"f0": -32768}, 2171),
        ("f0: short", {"f0": 0}, 2683),
        ("f0: short", {"f0": 2}, 1693),
        ("f0: boolean_value, f1: long_value, f2: int", {"f0": False, "f1": 0, "f2": 1}, 2878),
        ("f0: boolean_value, f1: long_value, f2: int", {"f0": None, "f1": None, "f2": None}, 3639),
    ],
)
def test_rows_of_old_hash_as_their_arrays_do(text: str, row: dict[str, Any], group: int) -> None:
    """Key groups of 4096 that Flink 1.8.3 gave its rows, which have no kind."""
    node = parse_type(f"row[supports_row_kind=false] {{{text}}}")
    array = pa.array([row], shapes.compile_type(node).shape.arrow_type)
    hashes = java_hash(array, node)
    assert hashes is not None
    assert key_groups(hashes, 4096).tolist() == [group]
    assert not may_have_names(node)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("array<int>", None),
        ("array[class_name=a.B]<bytes>", None),
        ("list<long>", None),
        ("list<bytes>", "identity"),
        ("tuple<array<int>>", "identity"),
    ],
)
def test_arrays_of_old_rows(text: str, reason: str | None) -> None:
    """``Arrays.deepHashCode`` looks into arrays, but not into what else holds one."""
    found = stability(parse_type(f"row[supports_row_kind=false] {{f0: {text}}}"))
    assert (found is None) == (reason is None)


def test_binary_rows() -> None:
    row = bytes.fromhex("00000000000000004d000000000000000b0000001800000068656c6c6f20776f726c640000000000")
    data = np.frombuffer(row, np.uint8)
    hashes = binary_row_hash(data, np.array([0]), np.array([len(row)]))
    assert hashes[0] == -433607030
    assert tuple(key_groups(hashes, m)[0] for m in (128, 300)) == (81, 45)


def test_sql_keys_are_hashed_by_the_bytes_of_their_row() -> None:
    node = t.RowDataType(fields=fields(LONG, t.scalar("string_data")))
    assert hash_of({"__kind": 0, "f0": 77, "f1": "hello world"}, node) == -433607030


def test_a_null_sql_row_in_a_row() -> None:
    """As Flink 2.0.2 placed ``Row.of(null, BigInteger.valueOf(-1), List.of('\\u7fff'))`` among 128 key groups."""
    node = parse_type("row {f0: rowdata {f0: millis_of_day}, f1: big_integer, f2: list<char>}")
    rows = [
        {"__kind": 0, "f0": inner, "f1": b"\xff", "f2": [32767]}
        for inner in (None, {"__kind": 0, "f0": dt.time(1)}, None)
    ]
    hashes = java_hash(pa.array(rows, shapes.compile_type(node).shape.arrow_type), node)
    assert hashes is not None
    groups = key_groups(hashes, 128)
    assert groups[[0, 2]].tolist() == [120, 120]
    assert hashes[1] == java_hash(pa.array(rows[1:2], shapes.compile_type(node).shape.arrow_type), node)


def test_a_null_hashes_to_zero() -> None:
    hashes = java_hash(pa.array(["a", None]), STRING)
    assert hashes is not None
    assert hashes.tolist() == [97, 0]


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (t.PojoType(class_name="com.acme.Key", fields=()), "com.acme.Key is the user's"),
        (t.EnumType(class_name="Color", constants=("RED",)), "by its identity"),
        (tuple_of(INT, t.EnumType(class_name="Color", constants=("RED",))), "by its identity"),
        (BYTES, "an array hashes by its identity"),
        (t.ListType(element=INT, flavour="array"), "an array hashes by its identity"),
        (t.RowType(fields=fields(tuple_of(INT, BYTES))), "an array hashes by its identity"),
        (t.TupleType(class_name="com.acme.Case", fields=fields(INT)), "com.acme.Case is its own"),
        (
            t.ListType(element=INT, element_flag="is_present"),
            "a collection of Scala hashes in a way of its own",
        ),
        (t.EnumType(class_name="com.acme.Color", constants=("RED",)), "hashes by its identity"),
        (t.OpaqueType(class_name="com.acme.Blob", reason="Kryo"), "opaque"),
    ],
)
def test_what_has_no_hash_says_why(node: t.DataType, reason: str) -> None:
    said = stability(node)
    assert said is not None
    assert reason in said
    assert java_hash(pa.array([], pa.null()), node) is None


def test_values_of_a_scala_enumeration_hash_as_their_ids() -> None:
    """``Enumeration$Value.hashCode``."""
    node = t.EnumType(class_name="com.acme.Status$", constants=("Open", "#1", "Sent"))
    names = pa.array(["Sent", "Open", None]).dictionary_encode()
    hashes = java_hash(names, node)
    assert hashes is not None
    assert hashes.tolist() == [2, 0, 0]


def test_arrays_are_stable_below_a_row() -> None:
    assert stability(t.RowType(fields=fields(BYTES))) is None


# -- the twins ---------------------------------------------------------------------------------------------


def wrap(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


@given(st.text(max_size=12))
def test_strings_hash_by_utf16_unit(text: str) -> None:
    expected = 0
    for unit in struct.unpack(f">{len(text.encode('utf-16-be')) // 2}H", text.encode("utf-16-be")):
        expected = wrap(31 * expected + unit)
    assert hash_of(text, STRING) == expected


@given(st.integers(-(2**200), 2**200))
def test_big_integers_fold_their_magnitude(value: int) -> None:
    magnitude, expected = abs(value), 0
    words = [magnitude >> 32 * k & 0xFFFFFFFF for k in range(7)]
    for word in reversed(words):
        expected = wrap(31 * expected + word)
    assert hash_of(twos_complement(value), t.scalar("big_integer")) == wrap(
        expected if value >= 0 else -expected
    )


@given(st.dates(), st.times())
def test_dates_and_times(date: dt.date, time: dt.time) -> None:
    nanos = ((time.hour * 60 + time.minute) * 60 + time.second) * 10**9 + time.microsecond * 1000
    of_date = wrap(date.year & 0xFFFFF800 ^ (date.year << 11) + (date.month << 6) + date.day)
    of_time = wrap(nanos ^ nanos >> 32)
    assert hash_of(date, t.scalar("local_date")) == of_date
    assert hash_of(nanos, t.scalar("local_time")) == of_time
    if 1700 < date.year < 2200:
        both = dt.datetime.combine(date, time)
        assert hash_of(both, t.scalar("local_date_time")) == wrap(of_date ^ of_time)


@given(st.integers(-(2**33), 2**33), st.integers(0, 999_999_999))
def test_instants_and_timestamps(seconds: int, nanos: int) -> None:
    value = seconds * 10**9 + nanos
    of_seconds = wrap(seconds ^ (seconds % 2**64) >> 32)
    assert hash_of(value, t.scalar("instant")) == wrap(of_seconds + 51 * nanos)
    millis = value // 10**6
    assert hash_of(value, t.scalar("sql_timestamp")) == wrap(millis ^ (millis % 2**64) >> 32)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=5))
def test_the_scale_of_a_decimal_counts(value: decimal.Decimal) -> None:
    unscaled = int(value.scaleb(5))
    of_unscaled = hash_of(twos_complement(unscaled), t.scalar("big_integer"))
    struct_value = {"unscaled": twos_complement(unscaled), "scale": 5}
    assert hash_of(struct_value, t.scalar("big_decimal")) == wrap(31 * of_unscaled + 5)


@given(st.dates(dt.date(1700, 1, 1), dt.date(2200, 1, 1)), st.integers(0, 86_400 * 10**9 - 1))
def test_a_time_in_its_parts_hashes_as_the_time(date: dt.date, nano: int) -> None:
    """``wide_times`` gives keys so, and a key has one key group."""
    days = (date - dt.date(1970, 1, 1)).days
    total = days * 86_400 * 10**9 + nano
    seconds, nanos = divmod(total, 10**9)
    day = {"year": date.year, "month": date.month, "day": date.day}
    millis, nano_of_milli = divmod(total, 10**6)
    timestamp = t.TimestampDataType(precision=9)
    cases: list[tuple[t.DataType, object, object]] = [
        (t.scalar("instant"), total, {"seconds": seconds, "nanos": nanos}),
        (t.scalar("sql_timestamp"), total, {"millis": millis, "nanos": nanos}),
        (t.scalar("local_date"), days, day),
        (t.scalar("local_date_time"), total, {**day, "nano_of_day": nano}),
        (
            t.RowDataType(fields=fields(LONG, t.ArrayDataType(element=timestamp))),
            {"__kind": 0, "f0": 7, "f1": [total]},
            {"__kind": 0, "f0": 7, "f1": [{"millis": millis, "nanos": nano_of_milli}]},
        ),
    ]
    for node, value, parts in cases:
        kind = shapes.compile_type(node, wide_times=True).shape.arrow_type
        hashes = java_hash(pa.array([parts], kind), node)
        assert hashes is not None
        assert int(hashes[0]) == hash_of(value, node), node


@pytest.mark.parametrize("name", ["variant", "bitmap", "raw_data", "tuple0", "days", "timestamp_nanos_utc"])
def test_what_is_never_a_key_by_itself_has_no_hash(name: t.ScalarName) -> None:
    assert stability(t.scalar(name)) == f"{name} is not a key type"
