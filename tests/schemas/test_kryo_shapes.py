"""Kryo values of a shape: decoded to Arrow and encoded to the same bytes, in both of Kryo's layouts.

The bytes of the examples are Flink's: from the known snapshots of 1.16 (Kryo 2) and 2.0 (Kryo 5), and dumped from
1.20 and 2.3 (spec "serializers", section 4).
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from statelift.schemas import types as t
from statelift.schemas.codec import ops
from statelift.schemas.codec.codec import Codec, DecodeError
from statelift.schemas.codec.kryo_leaves import BOXED
from statelift.schemas.codec.shapes import compile_type
from statelift.schemas.errors import EncodeError, PlanError
from statelift.schemas.from_kryo import in_key
from statelift.schemas.type_syntax import parse_type

from . import kryo_reference
from .codec_strategies import plain
from .kryo_strategies import kryo_types, values

OBJECT = dict.fromkeys([*BOXED, "string"])


def kryo(version: int, class_name: str, shape: str) -> t.KryoType:
    """A state of this class: it is the only one that is registered."""
    node = parse_type(f'kryo[kryo={version}, registered=("{class_name}")]<"{class_name}", {shape}>')
    assert isinstance(node, t.KryoType)
    assert parse_type(str(node)) == node
    return node


def column(*rows: bytes) -> pa.Array:
    return pa.array(rows, pa.large_binary())


LIST = ("java.util.ArrayList", "list<object>")
LINKED = ("java.util.LinkedHashMap", "map[class_name=java.util.LinkedHashMap]<string, object>")
TREE = ("java.util.TreeMap", "map[class_name=java.util.TreeMap]<string, int>")
BITS, UUID = ("java.util.BitSet", "bit_set"), ("java.util.UUID", "uuid")
OPAQUE = ("M$Opaque", "class M$Opaque {left: string, many: list<nullable<int>>, right: int}")
LINKED_2 = (
    "57 01 05 0301827a 0902 03018261 0301737472b1 0301826d 0202 0301826e 00 03018264 0a3fe0000000000000"
)
LINKED_5 = (
    "57 01 06 0301827a 0902 03018261 0301737472b1 0301826d 0202 0301826e 00 03018264 0a000000000000e03f"
)
LINKED_VALUE = [
    ("z", {**OBJECT, "long": 1}),
    ("a", {**OBJECT, "string": "str1"}),
    ("m", {**OBJECT, "int": 1}),
    ("n", None),
    ("d", {**OBJECT, "double": 0.5}),
]
STRINGS = [{**OBJECT, "string": "s0"}]
MIXED = [{**OBJECT, "string": "s0"}, {**OBJECT, "long": 3}, {**OBJECT, "string": "s2"}]
OPAQUE_RAW = "57 01 016f70b1 01 00 6a6176612e7574696c2e41727261794c6973f4 01 {} 02"


@pytest.mark.parametrize(
    ("version", "of", "raw", "value"),
    [
        (2, LIST, "57 01 01 030173b0", STRINGS),
        (5, LIST, "57 01 82 03 00 0173b0", STRINGS),
        (2, LIST, "57 01 03 030173b0 0906 030173b2", MIXED),
        (5, LIST, "57 01 04 030173b0 0906 030173b2", MIXED),
        (2, LIST, "57 01 02 0202 00", [{**OBJECT, "int": 1}, None]),
        (5, LIST, "57 01 83 02 01 0102 00", [{**OBJECT, "int": 1}, None]),
        (2, LIST, "57 01 00", []),
        (5, LIST, "57 01 01", []),
        (5, LIST, "57 01 83 00", [None, None]),
        (2, LINKED, LINKED_2, LINKED_VALUE),
        (5, LINKED, LINKED_5, LINKED_VALUE),
        (2, TREE, "57 01 00 01 03018261 0202", [("a", 1)]),
        (5, TREE, "57 01 02 00 03018261 0202", [("a", 1)]),
        (2, BITS, "4c 01 02 0000000000000002 0000000000000002", [1, 65]),
        (5, BITS, "4c 01 02 0200000000000000 0200000000000000", [1, 65]),
        (2, BITS, "4c 01 01 0000000000000000", []),
        (2, UUID, "54 01 9a01 01", "00000000-0000-004d-ffff-ffffffffffff"),
        (2, UUID, "54 01 ce03 ffffffffffffffffff", "00000000-0000-00e7-8000-000000000000"),
        (5, UUID, "54 01 e700000000000000 0000000000000080", "00000000-0000-00e7-8000-000000000000"),
        (2, OPAQUE, OPAQUE_RAW.format("02 0102 0104"), {"left": "op1", "many": [1, 2], "right": 1}),
        (5, OPAQUE, OPAQUE_RAW.format("03 02 04"), {"left": "op1", "many": [1, 2], "right": 1}),
    ],
)
def test_what_flink_wrote(version: int, of: tuple[str, str], raw: str, value: Any) -> None:
    if of in (BITS, UUID):
        node = t.KryoType(class_name=of[0], kryo=version, shape=parse_type(of[1]))  # type: ignore[arg-type]
    else:
        node = kryo(version, *of)
    codec = Codec(compile_type(node))
    encoded = column(bytes.fromhex(raw))
    decoded = codec.decode_column(encoded)
    assert decoded.to_pylist() == [value]
    assert codec.encode(decoded).equals(encoded)


K = (
    "class K {any: object, boxed: nullable<int>, list: list<string>, map: map<string, nullable<int>>, n: int,"
    " s: string}"
)
K_VALUE = {
    "any": {**OBJECT, "string": "o"}, "boxed": 5, "list": ["x"], "map": [("k", 7)], "n": -3, "s": "ab",
}  # fmt: skip
K_RAW = (
    "57 01 03 01 826f 01 0a 01 00 6a6176612e7574696c2e41727261794c6973f4 01 {0} 018278"
    " 01 01 6a6176612e7574696c2e486173684d61f0 01 {0} 01826b 010e 05 01 61e2"
)


@pytest.mark.parametrize(("version", "count"), [(2, "01"), (5, "02")])
def test_the_fields_of_a_class_are_written_as_their_declaration_says(version: int, count: str) -> None:
    codec = Codec(compile_type(kryo(version, "K", K)))
    encoded = column(bytes.fromhex(K_RAW.format(count)))
    decoded = codec.decode_column(encoded)
    assert decoded.to_pylist() == [K_VALUE]
    assert codec.encode(decoded).equals(encoded)


@pytest.mark.parametrize("version", [2, 5])
def test_a_string_that_came_before_is_read_and_written_again(version: int) -> None:
    """Flink writes the same String object once; what we write has it twice, which Java reads as equal."""
    first, again = {2: ("57 01 02 03018271 0303", "02"), 5: ("57 01 83 03 00 018271 03", "83")}[version]
    codec = Codec(compile_type(kryo(version, *LIST)))
    decoded = codec.decode_column(column(bytes.fromhex(first)))
    assert decoded.to_pylist() == [[{**OBJECT, "string": "q"}] * 2]
    assert again in codec.encode(decoded)[0].as_py().hex()
    assert codec.decode_column(codec.encode(decoded)).equals(decoded)


LISTS = ("java.util.ArrayList", "list<nullable<list<object>>>")
OF_ARRAY_LIST = "01 00 6a6176612e7574696c2e41727261794c6973f4 01"
BY = "636f6d2e61636d652e42f9"  # com.acme.By
ORDER = "636f6d2e61636d652e4f726465f2"  # com.acme.Order


@pytest.mark.parametrize(
    ("node", "raw", "reason", "class_name"),
    [
        (kryo(2, *LIST), f"57 01 01 01 00 {ORDER} 01", ops.BAD_KRYO, "com.acme.Order"),
        (kryo(5, *LIST), f"57 01 02 01 00 {ORDER} 01", ops.BAD_KRYO, "com.acme.Order"),
        (kryo(5, *LIST), f"57 01 82 01 00 {ORDER} 00 01", ops.BAD_KRYO, "com.acme.Order"),
        (kryo(2, *LIST), f"57 01 01 {OF_ARRAY_LIST} 00", ops.BAD_KRYO, "java.util.ArrayList"),
        (kryo(2, *LIST), "57 01 01 4c 01 00", ops.BAD_KRYO, "java.util.BitSet"),
        (kryo(2, *LIST), "57 01 01 60 01 00", ops.BAD_KRYO, "number 94 of Kryo's"),
        (kryo(2, *LIST), "58 01 00", ops.BAD_KRYO, "number 86 of Kryo's"),
        (kryo(2, *OPAQUE), "4c 01 00", ops.BAD_KRYO, "java.util.BitSet"),
        (kryo(2, *LISTS), "57 01 02 57 01 01 03018271 57 03", ops.KRYO_REFERENCE, None),
        (kryo(5, *LISTS), "57 01 03 57 01 02 03018271 57 03", ops.KRYO_REFERENCE, None),
        (kryo(2, *TREE), f"57 01 01 00 {BY} 01 01 03016bb0 0902", ops.KRYO_COMPARATOR, "com.acme.By"),
        (kryo(5, *TREE), f"57 01 02 01 00 {BY} 01 03016bb0 0902", ops.KRYO_COMPARATOR, "com.acme.By"),
        (kryo(2, *LIST), "57 01 01 030173", ops.KRYO_SHAPE, None),  # cut off
        (kryo(2, *LIST), "00", ops.KRYO_SHAPE, None),
    ],
)
def test_a_value_that_is_not_of_its_shape_is_left_undecoded(
    node: t.KryoType, raw: str, reason: int, class_name: str | None
) -> None:
    """With the class that is not known: by its name, or its number among Kryo's."""
    codec = Codec(compile_type(node, alone=True))
    data = bytes.fromhex(raw)
    buffer = np.frombuffer(data, np.uint8)
    values, stops, undecoded = codec.decode_most(buffer, np.array([0]), np.array([len(data)]))
    assert values.to_pylist() == [None]
    assert stops.tolist() == [len(data)]
    assert undecoded.why() == {(reason, class_name): 1}
    with pytest.raises(DecodeError, match=re.escape(ops.REASONS[reason])) as caught:
        codec.decode_column(column(data))
    assert class_name is None or f": {class_name}, at byte 0 of row 0" in str(caught.value)


def test_the_rows_beside_it_are_read_and_all_are_written_as_they_were() -> None:
    codec = Codec(compile_type(kryo(2, *LIST), alone=True))
    good, data = bytes.fromhex("5701010301 73b0"), bytes.fromhex(f"57 01 01 01 00 {ORDER} 01")
    rows = column(good, data, good)
    buffer = np.frombuffer(good + data + good, np.uint8)
    ends = np.cumsum([len(good), len(data), len(good)])
    decoded, _, undecoded = codec.decode_most(buffer, np.concatenate([[0], ends[:-1]]), ends)
    assert decoded.to_pylist() == [STRINGS, None, STRINGS]
    assert undecoded.mask.tolist() == [False, True, False]
    kept = pa.array([None, data, None], pa.binary())
    assert codec.encode_most(decoded, kept, np.array([True, False, True])).equals(rows)


@pytest.mark.parametrize(("version", "count"), [(2, "01"), (5, "02")])
def test_a_jdk_class_in_its_place_hides_nothing_that_follows(version: int, count: str) -> None:
    """Its end is found, as that of a user's class is not."""
    field = t.Field(name="list", type=kryo(version, *LIST))
    node = t.TupleType(class_name="T", fields=(field, t.Field(name="n", type=t.scalar("int"))))
    lists = bytes.fromhex(f"57 01 {count} {OF_ARRAY_LIST} {'00' if version == 2 else '01'}")
    orders = bytes.fromhex(f"57 01 {count} 01 00 {ORDER} 01")
    data = lists + bytes(4) + orders + bytes(4)
    bounds = np.array([0, len(lists) + 4, len(data)])
    codec = Codec(compile_type(node))
    buffer = np.frombuffer(data, np.uint8)
    values, _, undecoded = codec.decode_most(buffer, bounds[:-1], bounds[1:])
    assert values.to_pylist() == [None, None]
    assert undecoded.why() == {
        (ops.BAD_KRYO, "java.util.ArrayList"): 1,
        (ops.BAD_KRYO, "com.acme.Order"): 1,
    }
    assert codec.stops(buffer, bounds[:1], bounds[2:]).tolist() == bounds[1:2].tolist()
    with pytest.raises(DecodeError, match=r"com\.acme\.Order"):
        codec.stops(buffer, bounds[1:2], bounds[2:])


def test_times_and_texts_in_it_say_what_reads_them() -> None:
    """A far time is no shape that differs: ``wide_times`` reads it."""
    node = t.ListType(element=kryo(5, "java.time.LocalDateTime", "local_date_time"))
    far = bytes.fromhex("00000001 57 01 8f4e 0c 1f e8")  # 9999-12-31T23:00
    buffer, ends = np.frombuffer(far, np.uint8), np.array([len(far)])
    _, _, undecoded = Codec(compile_type(node)).decode_most(buffer, np.array([0]), ends)
    assert undecoded.why() == {(ops.FAR_TIME, None): 1}
    wide, _, undecoded = Codec(compile_type(node, wide_times=True)).decode_most(buffer, np.array([0]), ends)
    assert not len(undecoded)
    assert wide.to_pylist() == [[{"year": 9999, "month": 12, "day": 31, "nano_of_day": 23 * 3600 * 10**9}]]


def test_kryo_in_the_middle_of_other_types_is_found_to_its_end() -> None:
    inner = kryo(2, *OPAQUE)
    node = t.ListType(
        element=t.PojoType(
            class_name="P",
            fields=(t.Field(name="a", type=inner), t.Field(name="b", type=t.scalar("int"))),
        )
    )
    value = bytes.fromhex(OPAQUE_RAW.format("02 0102 0104"))
    raw = b"\0\0\0\3" + 2 * (b"\2\0" + value + b"\0\0\0\0\7") + b"\2\1\0\0\0\0\7"
    codec = Codec(compile_type(node))
    decoded = codec.decode_column(column(raw, b"\0\0\0\0"))
    one = {"left": "op1", "many": [1, 2], "right": 1}
    assert decoded.to_pylist() == [[{"a": one, "b": 7}, {"a": one, "b": 7}, {"a": None, "b": 7}], []]
    assert codec.encode(decoded).equals(column(raw, b"\0\0\0\0"))


def test_a_null_where_java_has_none_is_refused() -> None:
    codec = Codec(compile_type(kryo(2, *OPAQUE)))
    with pytest.raises(EncodeError, match=r"value.right is null and its serializer holds no null, at row 0"):
        codec.encode(pa.array([{"left": None, "many": None, "right": None}], codec.arrow_type))


@pytest.mark.parametrize(
    "shape", ["list[class_name=com.acme.Bag]<int>", "row<int>", "map[class_name=java.util.List]<int, int>"]
)
def test_what_kryo_is_not_known_to_write_is_refused(shape: str) -> None:
    with pytest.raises(PlanError, match=r"it is not known how Kryo writes|no type of Kryo's objects"):
        compile_type(kryo(2, "com.acme.X", shape))


@given(
    kryo_types.flatmap(
        lambda node: st.tuples(st.just(node), st.lists(values(node.shape), min_size=1, max_size=3))
    )
)
def test_what_the_twin_writes_decodes_to_its_values_and_back(case: tuple[t.KryoType, list[Any]]) -> None:
    node, rows = case
    encoded = column(*(kryo_reference.encode(node, row) for row in rows))
    codec = Codec(compile_type(node))
    decoded = codec.decode_column(encoded)
    decoded.validate(full=True)
    assert plain(decoded) == rows
    assert codec.encode(decoded).equals(encoded)


@given(kryo_types, st.binary(max_size=60), st.data())
def test_any_bytes_are_a_value_or_stay_bytes(node: t.KryoType, raw: bytes, data: st.DataObject) -> None:
    note(str(node))
    if data.draw(st.booleans()):
        written = bytearray(kryo_reference.encode(node, data.draw(values(node.shape))))
        for _ in range(data.draw(st.integers(1, 3))):
            written[data.draw(st.integers(0, len(written) - 1))] = data.draw(st.integers(0, 255))
        raw = bytes(written)
    codec = Codec(compile_type(node, alone=True))
    try:
        decoded = codec.decode_column(column(raw))
    except DecodeError:
        return
    assert plain(codec.decode_column(codec.encode(decoded))) == plain(decoded)


def test_keys_are_decoded_where_equal_ones_are_the_same_bytes() -> None:
    uuid = kryo(2, *UUID)
    pair = t.TupleType(
        class_name="T", fields=(t.Field(name="f0", type=uuid), t.Field(name="f1", type=kryo(2, *LIST)))
    )
    assert in_key(uuid) == uuid
    assert in_key(pair).children() == (uuid, dataclasses.replace(kryo(2, *LIST), shape=None))
    assert in_key(kryo(2, *OPAQUE)) == kryo(2, *OPAQUE)
