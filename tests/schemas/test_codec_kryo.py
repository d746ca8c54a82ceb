"""Kryo values of JDK classes: where they end (spec "serializers", section 4; bytes dumped from Flink 1.20 and 2.3)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statelift.schemas import types as t
from statelift.schemas.codec.codec import Codec, DecodeError
from statelift.schemas.codec.shapes import compile_type
from statelift.schemas.from_snapshot import type_of
from statelift.schemas.snapshots import Entry, KryoRegistration, KryoSnapshot

Version = Literal[2, 5]


def name(text: str) -> str:
    """A class name as Kryo writes a short ASCII string: the last byte has its high bit set."""
    raw = text.encode()
    return (raw[:-1] + bytes([raw[-1] | 0x80])).hex()


def long_name(text: str) -> str:
    """A class name behind its length, as Kryo 5 writes those of more than 32 characters."""
    n = len(text) + 1
    return (bytes([0x80 | 0x40 | n & 0x3F, n >> 6]) + text.encode()).hex()


def codec(kryo: Version, registered: tuple[str, ...] = ()) -> Codec:
    """A Kryo value with an int behind it: what is behind tells whether its end was found."""
    value = t.KryoType(class_name="java.lang.Object", kryo=kryo, registered=registered)
    fields = (t.Field(name="kryo", type=value), t.Field(name="behind", type=t.scalar("int")))
    return Codec(compile_type(t.TupleType(class_name="T", fields=fields)))


LIST, TREE = ("java.util.ArrayList",), ("java.util.TreeMap",)
INSTANT, DATE_TIME = ("java.time.Instant",), ("java.time.LocalDateTime",)


@pytest.mark.parametrize(
    ("kryo", "raw", "registered"),
    [
        (2, "00", ()),
        (2, "57 01 02 03018271 0303", LIST),
        (5, "57 01 83 03 00 018271 03", LIST),
        (2, "57 01 02 0202 00", LIST),
        (5, "57 01 83 02 01 0102 00", LIST),
        (5, "57 01 01", LIST),
        (2, "57 01 00 01 03018261 0202", TREE),
        (5, "57 01 02 00 03018261 0202", TREE),
        (2, "54 01 02 04", ()),
        (5, "54 01 0100000000000000 0200000000000000", ()),
        (2, "4c 01 02 0000000000000002 0000000000000002", ()),
        (5, "4c 01 02 0200000000000000 0200000000000000", ()),
        (2, "01 00" + name("java.util.ArrayList") + "01 01 03 01 8278", ()),
        (5, "01 00" + name("java.util.HashMap") + "01 02 03 01826b 020e", ()),
        (5, "01 00" + long_name("java.util.concurrent.ConcurrentHashMap") + "01 01", ()),
        (2, "57 01 01 57 01 01 03 01 61e2", LIST),
        (2, "57 01 02", INSTANT),
        (2, "0a 3ff8000000000000", ()),
        (2, "03 01 83eda0bdedb880", ()),
    ],
)
def test_the_end_of_a_value_is_found(kryo: Version, raw: str, registered: tuple[str, ...]) -> None:
    if registered == INSTANT:
        raw += "04"
    value = bytes.fromhex(raw)
    column = pa.array([value + b"\0\0\0\7"], pa.large_binary())
    decoded = codec(kryo, registered).decode_column(column)
    assert decoded.to_pylist() == [{"kryo": value, "behind": 7}]
    assert codec(kryo, registered).encode(decoded).equals(column)


GOLDEN = Path(__file__).parents[1] / "golden" / "kryo_jdk.tsv"
LINES = [
    line
    for line in (text.split("\t") for text in GOLDEN.read_text().splitlines())
    if line[1] in ("top", "list")
]
CLASSES = sorted({line[2] for line in LINES})


@pytest.mark.parametrize("version", ["1.20.5", "2.3.0"])
@pytest.mark.parametrize("class_name", CLASSES)
def test_jdk_classes_are_stepped_over_as_flink_wrote_them(version: str, class_name: str) -> None:
    """``tests/golden/KryoJdk.java``: by themselves, and in a list: twice the same one, and another."""
    lines = [line for line in LINES if line[0] == version and line[2] == class_name]
    assert {line[1] for line in lines} == {"top", "list"}
    for _, how, _, raw in lines:
        value = bytes.fromhex(raw)
        column = pa.array([value + b"\0\0\0\7"], pa.large_binary())
        one = codec(5 if version == "2.3.0" else 2, LIST if how == "list" else (class_name,))
        decoded = one.decode_column(column)
        assert decoded.to_pylist() == [{"kryo": value, "behind": 7}]
        assert one.encode(decoded).equals(column)
        for end in range(len(value)):
            with pytest.raises(DecodeError):
                one.decode_column(pa.array([value[:end]], pa.large_binary()))


@pytest.mark.parametrize("raw", ["01 00" + name("com.acme.Order") + "01 02", "58 01", "0c 01"])
def test_a_user_class_is_not_guessed(raw: str) -> None:
    column = pa.array([bytes.fromhex(raw)], pa.large_binary())
    with pytest.raises(DecodeError, match="a Kryo value of a class that is not known here"):
        codec(2, LIST).decode_column(column)


@given(st.binary(max_size=80), st.sampled_from([2, 5]))
def test_any_bytes_end_in_a_value_or_an_error(raw: bytes, kryo: Version) -> None:
    column = pa.array([raw], pa.large_binary())
    try:
        decoded = codec(kryo, LIST).decode_column(column)
    except DecodeError:
        return
    assert codec(kryo, LIST).encode(decoded).equals(column)


def snapshot(type_class: str, *classes: str) -> KryoSnapshot:
    entries = tuple(
        Entry(key_name=one, key=one, value=KryoRegistration(registered_class=one, serializer=None))
        for one in classes
    )
    return KryoSnapshot(
        class_name="org.apache.flink.api.java.typeutils.runtime.kryo.KryoSerializerSnapshot",
        version=2,
        type_class=type_class,
        kryo_registrations=entries,
    )


def test_registered_classes_are_numbered_from_85_but_those_that_have_a_number() -> None:
    node = type_of(
        snapshot("java.util.List", "java.util.List", "java.util.UUID", "java.util.TreeMap"), kryo=2
    )
    assert isinstance(node, t.KryoType)
    assert node.registered == ("java.util.List", "java.util.TreeMap")


def test_without_kryos_version_nothing_is_known() -> None:
    node = type_of(snapshot("java.util.List", "java.util.List"))
    assert node == t.OpaqueType(class_name="java.util.List", reason="written by Kryo, of an unknown version")
