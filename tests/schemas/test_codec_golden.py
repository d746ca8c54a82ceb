"""Values whose bytes the format description gives (spec "serializers", sections 2, 3 and 5; dumped from Flink)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from statelift.schemas import types as t
from statelift.schemas.codec.codec import Codec, DecodeError
from statelift.schemas.codec.shapes import compile_delimited, compile_map_value, compile_type
from statelift.schemas.errors import EncodeError, NameNotFoundError
from statelift.schemas.from_avro import type_of_avro
from statelift.schemas.from_logical import type_of_logical
from statelift.schemas.from_snapshot import type_of
from statelift.schemas.snapshots import (
    DistinctType,
    LogicalType,
    RawType,
    RowDataSnapshot,
    RowField,
    SerializerSnapshot,
    StructuredType,
    build,
)
from statelift.schemas.type_syntax import parse_type

from .codec_strategies import plain

S = t.scalar


def fields(**types: t.DataType) -> tuple[t.Field, ...]:
    return tuple(t.Field(name=name, type=one) for name, one in types.items())


def numbered(*types: t.DataType) -> tuple[t.Field, ...]:
    return fields(**{f"f{i}": one for i, one in enumerate(types)})


def either(left: t.DataType, right: t.DataType) -> t.UnionType:
    return t.UnionType(class_name="Either", alternatives=fields(left=left, right=right), tags=(1, 0))


P = t.PojoType(class_name="demo.P", fields=fields(id=S("int"), name=S("string"), ts=S("long")))
SUB = t.PojoType(
    class_name="demo.Sub", fields=fields(extra=S("int"), id=S("int"), name=S("string"), ts=S("long"))
)
UNREGISTERED = t.PojoType(
    class_name="demo.P", fields=P.fields, non_registered=(t.Field(name="demo.Sub", type=SUB),)
)
REGISTERED = t.PojoType(
    class_name="demo.P", fields=P.fields, registered=(t.Field(name="demo.Sub", type=SUB),)
)
SUB_VALUE = {"__class": "demo.Sub", "id": 1, "name": "a", "ts": 2, "extra": 3}
ROW = t.RowType(fields=numbered(S("string"), S("int"), S("long")))
SQL_ROW = t.RowDataType(fields=numbered(S("long"), S("string_data"), S("int")))
AVRO = """{"type": "record", "name": "R", "namespace": "n", "fields": [
  {"name": "i", "type": "int"}, {"name": "l", "type": "long"}, {"name": "s", "type": "string"},
  {"name": "u", "type": ["null", "string"]}, {"name": "a", "type": {"type": "array", "items": "int"}},
  {"name": "m", "type": {"type": "map", "values": "int"}},
  {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}},
  {"name": "f", "type": {"type": "fixed", "name": "F", "size": 2}}, {"name": "b", "type": "bytes"},
  {"name": "z", "type": "boolean"}, {"name": "d", "type": "double"}]}"""
AVRO_VALUE = {
    "i": 1, "l": 2, "s": "ab", "u": None, "a": [7, 8], "m": [], "e": "B", "f": b"\1\2", "b": b"\3", "z": True,
    "d": 1.5,
}  # fmt: skip

CASES: list[tuple[str, t.DataType, str, Any]] = [
    ("2.1 boolean", S("boolean"), "01", True),
    ("2.1 byte", S("byte"), "fe", -2),
    ("2.1 short", S("short"), "fffe", -2),
    ("2.1 int", S("int"), "00000102", 258),
    ("2.1 long", S("long"), "0000000000000102", 258),
    ("2.1 float", S("float"), "3fc00000", 1.5),
    ("2.1 double", S("double"), "3ff8000000000000", 1.5),
    ("2.1 char", S("char"), "0041", 65),
    ("1.4 null string", S("string"), "00", None),
    ("1.4 empty string", S("string"), "01", ""),
    ("1.4 ascii", S("string"), "036162", "ab"),
    ("1.4 two and three bytes", S("string"), "03 e901 ac41", "é€"),
    ("1.4 surrogates", S("string"), "03 bdb003 80bc03", "\U0001f600"),
    ("1.4 127 characters", S("string"), "8001" + "78" * 127, "x" * 127),
    ("2.1 void", S("void"), "00", None),
    ("2.2 date", S("date"), "00000000000003e8", 1000),
    ("2.2 null date", S("date"), "8000000000000000", None),
    ("2.2 sql timestamp", S("sql_timestamp"), "00000000000005dc 1dcd6507", 1_500_000_007),
    ("2.2 null sql timestamp", S("sql_timestamp"), "8000000000000000 00000000", None),
    ("2.2 instant", S("instant"), "0000000000000001 00000002", 1_000_000_002),
    ("2.2 null instant", S("instant"), "8000000000000000 80000000", None),
    ("2.2 local date", S("local_date"), "000007e8 02 1d", 19782),
    ("2.2 null local date", S("local_date"), "80000000 8000", None),
    ("2.2 local time", S("local_time"), "01 02 03 00000004", 3723 * 10**9 + 4),
    ("2.2 null local time", S("local_time"), "80 8000 80000000", None),
    ("2.2 null local date time", S("local_date_time"), "80000000 8000 80 8000 80000000", None),
    ("2.2 big integer", S("big_integer"), "00000006 0100", b"\1\0"),
    ("2.2 big decimal", S("big_decimal"), "00000006 fb2e 00000002", {"unscaled": b"\xfb\x2e", "scale": 2}),
    ("2.2 decimal zero", S("big_decimal"), "00000001 00000000", {"unscaled": b"\0", "scale": 0}),
    ("2.3 StringValue", S("string_value"), "02 6162", "ab"),
    ("2.4 byte[]", S("bytes"), "00000002 0102", b"\1\2"),
    ("2.4 long[]", t.ListType(element=S("long"), flavour="array"), "00000001 0000000000000001", [1]),
    ("2.4 boolean[]", t.ListType(element=S("boolean"), flavour="array"), "00000002 0100", [True, False]),
    ("2.4 String[]", t.ListType(element=S("string"), flavour="array"), "00000002 0261 00", ["a", None]),
    ("2.5 Integer[]", t.ListType(element=S("int"), element_flag="is_present"), "00000002 01 00000001 00", [1, None]),
    ("2.6 enum", t.EnumType(class_name="C", constants=("RED", "GREEN", "BLUE")), "00000002", "BLUE"),
    ("2.7 list", t.ListType(element=S("int")), "00000002 00000001 00000002", [1, 2]),
    (
        "2.7 map",
        t.MapType(key=S("string"), value=S("int")),
        "00000002 0261 00 00000001 0262 01",
        [("a", 1), ("b", None)],
    ),
    ("2.7 set", t.ListType(element=S("string"), element_flag="is_null"), "00000002 00 0261 01", ["a", None]),
    ("2.7 left", either(S("int"), S("string")), "01 00000001", {"left": 1, "right": None}),
    ("2.7 right", either(S("int"), S("string")), "00 0261", {"left": None, "right": "a"}),
    ("2.7 nullable", t.NullableType(inner=S("int")), "00 00000001", 1),
    ("2.7 padded null", t.NullableType(inner=S("int"), padding=4), "01 00000000", None),
    ("2.9 pojo", P, "02 00 00000001 00 0261 01", {"id": 1, "name": "a", "ts": None}),
    ("2.9 null pojo", P, "01", None),
    (
        "2.9 subclass",
        UNREGISTERED,
        "04 0008" + b"demo.Sub".hex() + "02 00 00000003 00 00000001 00 0261 00 0000000000000002",
        SUB_VALUE,
    ),
    ("2.9 registered", REGISTERED, "08 00 02 00 00000003 00 00000001 00 0261 00 0000000000000002", SUB_VALUE),
    (
        "2.9 the base class",
        REGISTERED,
        "02 00 00000001 00 0261 01",
        {"__class": None, "id": 1, "name": "a", "ts": None, "extra": None},
    ),
    (
        "2.10 tuple",
        t.TupleType(class_name="Tuple2", fields=numbered(S("string"), S("int"))),
        "0261 00000001",
        {"f0": "a", "f1": 1},
    ),
    ("2.11 +I", ROW, "08 0261 00000001", {"__kind": 0, "f0": "a", "f1": 1, "f2": None}),
    ("2.11 -U", ROW, "88 0261 00000001", {"__kind": 1, "f0": "a", "f1": 1, "f2": None}),
    ("2.11 +U", ROW, "48 0261 00000001", {"__kind": 2, "f0": "a", "f1": 1, "f2": None}),
    ("2.11 -D", ROW, "c8 0261 00000001", {"__kind": 3, "f0": "a", "f1": 1, "f2": None}),
    (
        "2.11 seven fields",
        t.RowType(fields=numbered(*[S("byte")] * 7)),
        "3f00 09",
        {"__kind": 0, **{f"f{i}": None for i in range(6)}, "f6": 9},
    ),
    (
        "2.11 no kind",
        t.RowType(fields=numbered(S("int"), S("int")), supports_row_kind=False),
        "40 00000001",
        {"f0": 1, "f1": None},
    ),
    (
        "2.12 avro",
        type_of_avro(AVRO),
        "00000001 0000000000000002 00000002 6162 00000000 02 00000007 00000008 00 00 00000001 0102 00000001 03 01"
        " 3ff8000000000000",
        AVRO_VALUE,
    ),
    (
        "2.13 variant",
        S("variant"),
        "00000005 00000003 1405000000 010000",
        {"value": bytes.fromhex("1405000000"), "metadata": b"\1\0\0"},
    ),
    ("2.14 ttl", t.TtlType(inner=S("int")), "00000000000003e8 00000007", {"ttl_timestamp": 1000, "value": 7}),
    ("2.14 timer's time", S("flipped_long"), "80000000000003e8", 1000),
    ("3 Some", t.NullableType(inner=S("int"), flag="is_present"), "0100000005", 5),
    ("3 None", t.NullableType(inner=S("int"), flag="is_present"), "00", None),
    ("5.2 StringData", S("string_data"), "00000002 c3a9", "é"),
    ("5.2 decimal", t.DecimalType(precision=10, scale=2, storage="long"), "00000000000004d2", 1234),
    ("5.2 long decimal", t.DecimalType(precision=30, scale=2, storage="bytes"), "00000002 fb2e", -1234),
    ("5.2 timestamp", t.TimestampDataType(precision=9), "0000000000000005 00000006", 5_000_006),
    ("5.2 raw value", t.RawDataType(inner=S("int")), "00000004 00000005", 5),
    (
        "5.2 linked list",
        t.ListType(element=S("int"), element_flag="mask"),
        "00000003 40 00000001 00000003",
        [1, None, 3],
    ),
    (
        "5.2 null-aware map",
        t.ListType(
            element=t.TupleType(
                class_name="",
                fields=fields(key=t.NullableType(inner=S("int")), value=t.NullableType(inner=S("int"))),
            )
        ),
        "00000001 01 00 00000003",
        [{"key": None, "value": 3}],
    ),
    (
        "5.3 row",
        SQL_ROW,
        "00000020 0000000000000000 0201000000000000 61626300000000 83 0700000000000000",
        {"__kind": 0, "f0": 258, "f1": "abc", "f2": 7},
    ),
    (
        "5.3 -D row",
        SQL_ROW,
        "00000028 03 01 000000000000 0000000000000000 08000000 20000000 0700000000000000 6162636465666768",
        {"__kind": 3, "f0": None, "f1": "abcdefgh", "f2": 7},
    ),
    (
        "5.3 array",
        t.ArrayDataType(element=S("int")),
        "00000018 03000000 02000000 01000000 00000000 03000000 00000000",
        [1, None, 3],
    ),
    (
        "5.3 map",
        t.MapDataType(key=S("string_data"), value=S("int")),
        "00000024 10000000 01000000 00000000 6b00000000000081 01000000 00000000 09000000 00000000",
        [("k", 9)],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("node", "raw", "value"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_bytes_of_the_format_description(node: t.DataType, raw: str, value: Any) -> None:
    codec = Codec(compile_type(node))
    column = pa.array([bytes.fromhex(raw)], pa.large_binary())
    decoded = codec.decode_column(column)
    decoded.validate(full=True)
    assert plain(decoded) == [value]
    assert codec.encode(decoded).equals(column)


def test_list_state() -> None:
    column = pa.array([bytes.fromhex("00000001 2c 00000002")], pa.large_binary())
    assert Codec(compile_delimited(S("int"))).decode_column(column).to_pylist() == [[1, 2]]


@pytest.mark.parametrize(
    ("text", "null", "of_null"),
    [
        ("nullable<tuple<string>>", "01", "00 00"),
        ("pojo P {f: tuple<string>}", "02 01", "02 00 00"),
        ("pojo P {f: tuple<tuple<string>>, n: int}", "02 01 01", "02 00 00 01"),
        ("map<int, tuple<string>>", "00000001 00000005 01", "00000001 00000005 00 00"),
        ("array[class_name=a.B]<tuple<string>>", "00000001 00", "00000001 01 00"),
    ],
)
def test_a_null_tuple_is_not_a_tuple_of_a_null_string(text: str, null: str, of_null: str) -> None:
    codec = Codec(compile_type(parse_type(text)))
    raw = pa.array([bytes.fromhex(null), bytes.fromhex(of_null)], pa.large_binary())
    values = codec.decode_column(raw)
    assert values[0] != values[1]
    assert codec.encode(values).equals(raw)


def test_one_of_the_big_integers_may_be_long_form() -> None:
    codec = Codec(compile_type(S("big_integer")))
    column = pa.array([bytes.fromhex("00000002"), bytes.fromhex("0000000501")], pa.large_binary())
    assert codec.decode_column(column).to_pylist() == [b"\1", b"\1"]


def test_a_null_sql_timestamp_may_lack_its_nanoseconds() -> None:
    column = pa.array([bytes.fromhex("8000000000000000")], pa.large_binary())
    assert Codec(compile_type(S("sql_timestamp"))).decode_column(column).to_pylist() == [None]


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("instant", "00701cd2fa9578ff 3b9ac9ff", {"seconds": 31556889864403199, "nanos": 999_999_999}),
        ("instant", "8000000000000000 80000000", None),
        ("sql_timestamp", "7fffffffffffffff 3019d7c7", {"millis": 2**63 - 1, "nanos": 807_000_007}),
        ("local_date", "3b9ac9ff 0c 1f", {"year": 999_999_999, "month": 12, "day": 31}),
        (
            "local_date_time",
            "c4653601 01 01 00 00 01 00000000",
            {"year": -999_999_999, "month": 1, "day": 1, "nano_of_day": 10**9},
        ),
    ],
)
def test_times_beyond_64_bits_have_wide_columns(name: t.ScalarName, raw: str, value: Any) -> None:
    column = pa.array([bytes.fromhex(raw)], pa.large_binary())
    wide = Codec(compile_type(S(name), wide_times=True))
    assert wide.decode_column(column).to_pylist() == [value]
    assert wide.encode(wide.decode_column(column)).equals(column)
    if value is not None:
        with pytest.raises(DecodeError, match="beyond what its Arrow column holds"):
            Codec(compile_type(S(name))).decode_column(column)


def test_what_is_opaque_at_the_end_leaves_the_rest_readable() -> None:
    node = t.TtlType(inner=t.OpaqueType(class_name="com.acme.Blob", reason="Kryo"))
    column = pa.array([bytes.fromhex("00000000000003e8 cafe")], pa.large_binary())
    codec = Codec(compile_type(node, alone=True))
    decoded = codec.decode_column(column)
    assert plain(decoded) == [{"ttl_timestamp": 1000, "value": b"\xca\xfe"}]
    assert codec.encode(decoded).equals(column)
    assert Codec(compile_type(node)).decode_column(column).to_pylist() == [column[0].as_py()]


# -- errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "raw", "message"),
    [
        (S("long"), "00", "the data ends inside the value, at byte 0 of row 0"),
        (S("byte"), "0000", "bytes follow the end of the value, at byte 1 of row 0"),
        (S("string"), "03 bdb003", "the data ends inside the value"),
        (S("string"), "02 bdb003", "a string has half of a surrogate pair"),
        (S("string"), "02 ffff0f", "a string is not what Flink writes"),
        (P, "02 02", "a flag byte has a value that Flink does not write"),
        (UNREGISTERED, "04 0003 666f6f 02", "a subclass whose serializer is not in the snapshot"),
        (t.ListType(element=S("int")), "7fffffff", "a length cannot be held"),
        (either(S("int"), S("int")), "02 00000000", "a tag names no alternative of its union"),
        (t.EnumType(class_name="C", constants=("A",)), "00000001", "an enum index is beyond its constants"),
        (SQL_ROW, "00000020" + "00" * 16 + "ffffff7f00000000" + "00" * 8, "points outside itself"),
    ],
)
def test_a_value_that_does_not_decode_says_why_and_where(node: t.DataType, raw: str, message: str) -> None:
    column = pa.array([bytes.fromhex(raw)], pa.large_binary())
    with pytest.raises(DecodeError, match=message):
        Codec(compile_type(node)).decode_column(column)


def test_encode_errors_name_the_column_and_the_row() -> None:
    codec = Codec(compile_type(P))
    row = {"id": 1, "name": "a", "ts": 2}
    with pytest.raises(EncodeError, match=r"value\.id is string and cannot be written as int32"):
        codec.encode(pa.array([{**row, "id": "one"}]))
    with pytest.raises(EncodeError, match=r"lacks the field 'ts'"):
        codec.encode(pa.array([{"id": 1, "name": "a"}]))
    with pytest.raises(NameNotFoundError, match=r"'nmae'"):
        codec.encode(pa.array([{**row, "nmae": 1}]))
    with pytest.raises(EncodeError, match=r"v is null and its serializer holds no null, at row 1"):
        Codec(compile_type(S("long"))).encode(pa.array([1, None]), "v")
    neither = pa.array(
        [{"left": None, "right": None}], pa.struct([("left", pa.int32()), ("right", pa.int32())])
    )
    with pytest.raises(EncodeError, match=r"value has none of left, right, at row 0"):
        Codec(compile_type(either(S("int"), S("int")))).encode(neither)


def test_lists_below_a_null_are_left_out() -> None:
    node = t.PojoType(class_name="P", fields=fields(many=t.ListType(element=S("int"))))
    inner = pa.array([[1], [2, 3], [4]], pa.list_(pa.int32()))
    below_null = pa.StructArray.from_arrays([inner], ["many"], mask=pa.array([False, True, False]))
    codec = Codec(compile_type(node))
    assert codec.decode_column(codec.encode(below_null)).to_pylist() == [{"many": [1]}, None, {"many": [4]}]


@pytest.mark.parametrize(
    "raw",
    ["02 80b003", "02 80b803", "03 80b803 80b003", "03 80b003 61"],
    ids=[
        "a high half at the end",
        "a low half",
        "the halves the wrong way round",
        "a high half before a letter",
    ],
)
def test_half_a_surrogate_pair_is_refused_by_name(raw: str) -> None:
    """Java's strings can hold one and Flink writes it (1.4); a column of UTF-8 cannot, and it is never replaced."""
    column = pa.array([bytes.fromhex(raw)], pa.large_binary())
    with pytest.raises(DecodeError, match="half of a surrogate pair"):
        Codec(compile_type(S("string"))).decode_column(column)


@pytest.mark.parametrize(
    ("name", "raw"),
    [("null", b"\0"), ("tuple0", b"\0\x2a"), ("unit", b"\0\0"), ("global_window", b"\0\0"), ("void", b"\1")],
)
def test_a_map_value_without_content_is_the_one_that_there_is(name: t.ScalarName, raw: bytes) -> None:
    """``NullValue``, ``Tuple0``, ``Unit`` and ``GlobalWindow`` have one value each, and a null beside it is left out;
    of ``Void`` there is none."""
    codec = Codec(compile_map_value(S(name)))
    assert codec.encode(pa.nulls(1)).to_pylist() == [raw]
    both = np.frombuffer(raw + b"\1", np.uint8)
    ends = np.array([len(raw), len(raw) + 1])
    array, _, undecoded = codec.decode_most(both, ends - [len(raw), 1], ends)
    assert array.null_count == 2
    assert undecoded.mask.tolist() == [False, name != "void"]


#: A row of two fields: the null bits, an INT, and what points at the bytes of a RAW, which begin at 24.
RAW_ROW = "{size} 00 {nulls} 000000000000 0700000000000000 {slot} {raw}"


@pytest.mark.parametrize(
    ("inner", "size", "slot", "raw", "value"),
    [
        ("string", "00000020", "0300000018000000", "0361620000000000", "ab"),
        ("long", "00000020", "0800000018000000", "0000000000000005", 5),
        ("void", "00000020", "0100000018000000", "0000000000000000", None),
    ],
)
def test_raw_in_a_row_is_what_its_serializer_wrote(
    inner: t.ScalarName, size: str, slot: str, raw: str, value: Any
) -> None:
    """Flink writes the byte of ``NullSerializer`` (a data view in an accumulator), and does not set the null bit."""
    logical = RawType(
        class_name="com.acme.X",
        serializer_class={
            "string": "org.apache.flink.api.common.typeutils.base.StringSerializer",
            "long": "org.apache.flink.api.common.typeutils.base.LongSerializer",
            "void": "org.apache.flink.table.dataview.NullSerializer",
        }[inner],
    )
    node = t.RowDataType(
        fields=(
            t.Field(name="n", type=S("int")),
            t.Field(name="raw", type=type_of_logical(logical)),
        )
    )
    assert str(node) == f"rowdata {{n: int, raw: raw<{inner}>}}"
    assert parse_type(str(node)) == node
    codec = Codec(compile_type(node))
    column = pa.array(
        [bytes.fromhex(RAW_ROW.format(size=size, nulls="00", slot=slot, raw=raw))], pa.large_binary()
    )
    assert codec.decode_column(column).to_pylist() == [{"__kind": 0, "n": 7, "raw": value}]
    assert codec.encode(codec.decode_column(column)).equals(column)
    null = RAW_ROW.format(size="00000018", nulls="02", slot="0000000000000000", raw="")
    column = pa.array([bytes.fromhex(null)], pa.large_binary())
    decoded = codec.decode_column(column)
    assert decoded.to_pylist() == [{"__kind": 0, "n": 7, "raw": None}]
    assert codec.encode(decoded).equals(column) == (inner != "void")


def test_raw_of_another_serializer_is_its_bytes() -> None:
    kryo = RawType(class_name="com.acme.X", serializer_class="com.acme.XSerializer")
    assert type_of_logical(kryo) == S("raw_data")
    assert type_of_logical(RawType(class_name=None, serializer_class=None)) == S("raw_data")


def row_snapshot(types: list[LogicalType], *nested: SerializerSnapshot) -> RowDataSnapshot:
    name = "org.apache.flink.table.runtime.typeutils.RowDataSerializer$RowDataSerializerSnapshot"
    streams = (b"",) * len(types)
    return RowDataSnapshot(class_name=name, version=3, types=tuple(types), streams=streams, nested=nested)


def test_of_raw_in_a_row_its_serializer_says_what_it_is() -> None:
    """An accumulator: a class whose attributes are RAW, and a RAW beside it, of serializers with parts."""
    long, text = build.scalar("Long"), build.scalar("String")
    raw = "org.apache.flink.table.runtime.typeutils.RawValueDataSerializer$RawValueDataSerializerSnapshot"
    raws = [build.composite(raw, one) for one in (build.list_of(long), build.map_of(text, long))]
    own = RawType(class_name="com.acme.X", serializer_class="com.acme.XSerializer")
    attributes = (RowField(name="longs", type=own), RowField(name="counts", type=own))
    structured = StructuredType(attributes=attributes, class_name="com.acme.Acc")
    types = [structured, DistinctType(source_type=own), own]
    unknown = build.composite(raw, build.kryo("com.acme.X"))
    node = type_of(row_snapshot(types, row_snapshot([own, own], *raws), raws[0], unknown))
    assert str(node) == (
        "rowdata {f0: rowdata {longs: raw<list<long>>, counts: raw<map<string, long>>}, f1: raw<list<long>>,"
        " f2: raw_data}"
    )
