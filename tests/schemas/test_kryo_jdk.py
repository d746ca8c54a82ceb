"""JDK classes that Flink 1.20.5 (Kryo 2) and 2.3.0 (Kryo 5) wrote (``tests/golden/KryoJdk.java``): their values,
and the same bytes from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from statelift.schemas import types as t
from statelift.schemas.codec.codec import Codec, DecodeError
from statelift.schemas.codec.kryo_classes import DEFAULT_IDS
from statelift.schemas.codec.kryo_leaves import LEAVES, leaf_type
from statelift.schemas.codec.shapes import compile_type
from statelift.schemas.errors import EncodeError, PlanError
from statelift.schemas.from_snapshot import type_of
from statelift.schemas.snapshots import build

from .codec_strategies import plain

GOLDEN = Path(__file__).parents[1] / "golden" / "kryo_jdk.tsv"
LINES = [line.split("\t") for line in GOLDEN.read_text().splitlines()]
HOUR = -365 * 86_400 * 10**9 + 13 * 3600 * 10**9
NANOS = 1_709_212_455_123_456_789
#: As the Java program has them: the first of each class, and the other one.
VALUES: dict[str, tuple[Any, Any]] = {
    "atomic_long": (-3, 1 << 40),
    "atomic_int": (7, -70000),
    "atomic_boolean": (True, False),
    "zone_region": ("Europe/Berlin", "UTC"),
    "offset_date_time": (
        {"local_date_time": NANOS, "offset": 7200},
        {"local_date_time": HOUR, "offset": 7200},
    ),
    "zoned_date_time": (
        {"local_date_time": NANOS, "zone": "Europe/Berlin"},
        {"local_date_time": HOUR, "zone": "Z"},
    ),
    "year": (2024, -5),
    "year_month": ({"year": 2024, "month": 11}, {"year": -5, "month": 1}),
    "month_day": ({"month": 2, "day": 29}, {"month": 12, "day": 31}),
    "period": ({"years": 1, "months": -2, "days": 300}, {"years": 0, "months": 0, "days": 0}),
    "url": ("https://example.org/a?b=c#d", "http://ü.example/x"),
    "currency": ("EUR", "USD"),
    "optional_int": ({"value": -70000}, {"value": None}),
    "optional_long": ({"value": 1 << 40}, {"value": None}),
    "optional_double": ({"value": 2.5}, {"value": None}),
}
#: Of several pairs.
MORE: dict[str, list[tuple[Any, Any]]] = {
    "zone_offset": [(7200, -19815), (0, 901)],
    "locale": [
        (
            {"language": "de", "country": "DE", "variant": ""},
            {"language": "es", "country": "ES", "variant": "Trad"},
        ),
        (
            {"language": "en", "country": "", "variant": ""},
            {"language": "", "country": "", "variant": ""},
        ),
    ],
}
PAIRS = {**{name: [pair] for name, pair in VALUES.items()}, **MORE}
#: Objects with parts in Kryo 2: one that is there twice is not read.
IN_PARTS = ("zone_region", "offset_date_time")
CASES = [
    (name, version) for name in PAIRS for version in (2, 5) if version == 5 or not LEAVES[name].only_5
]  # fmt: skip


def golden(version: int, how: str, class_name: str) -> list[bytes]:
    flink = "1.20.5" if version == 2 else "2.3.0"
    return [bytes.fromhex(raw) for *line, raw in LINES if line == [flink, how, class_name]]


def codec(version: int, class_name: str, shape: t.DataType) -> Codec:
    """Flink registers the class of the value, but where it has a number."""
    registered = () if class_name in DEFAULT_IDS else (class_name,)
    node = t.KryoType(class_name=class_name, kryo=version, registered=registered, shape=shape)  # type: ignore[arg-type]
    return Codec(compile_type(node))


def column(*rows: bytes) -> pa.Array:
    return pa.array(rows, pa.large_binary())


def list_of(*shapes: t.DataType) -> t.DataType:
    """A list of elements of several classes."""
    return t.ListType(element=t.ClassType(class_name="None", fields=(), subclasses=shapes))


def elements(decoded: pa.Array) -> list[Any]:
    """Each element's value, of whatever class."""
    (rows,) = plain(decoded)
    return [next(value for value in row.values() if value is not None) for row in rows]


@pytest.mark.parametrize(("name", "version"), CASES)
def test_a_value_of_flinks_is_read_and_written_as_it_was(name: str, version: int) -> None:
    class_name = LEAVES[name].class_name
    node = type_of(build.kryo(class_name), kryo=version)  # type: ignore[arg-type]
    assert isinstance(node, t.KryoType)
    assert node.shape == leaf_type(name)
    one = codec(version, class_name, leaf_type(name))
    encoded = column(*golden(version, "top", class_name))
    decoded = one.decode_column(encoded)
    assert plain(decoded) == [value for pair in PAIRS[name] for value in pair]
    assert one.encode(decoded).equals(encoded)


@pytest.mark.parametrize(("name", "version"), CASES)
def test_in_a_list_one_that_is_there_twice_is_read_twice(name: str, version: int) -> None:
    shape = list_of(leaf_type(name), t.scalar("string"), t.scalar("int"))
    one = codec(version, "java.util.ArrayList", shape)
    lists = golden(version, "list", LEAVES[name].class_name)
    assert len(lists) == len(PAIRS[name])
    for raw, (value, other) in zip(lists, PAIRS[name], strict=True):
        if version == 2 and name in IN_PARTS:
            with pytest.raises(DecodeError, match="the same object at two places"):
                one.decode_column(column(raw))
            continue
        decoded = one.decode_column(column(raw))
        assert elements(decoded) == [value, "z", value, other, 9]
        assert one.decode_column(one.encode(decoded)).equals(decoded)


@pytest.mark.parametrize("version", [2, 5])
def test_what_comes_behind_a_local_date_time_is_counted_as_java_does(version: int) -> None:
    time = t.scalar("local_date_time")
    (raw,) = golden(version, "strings", "java.time.LocalDateTime")
    strings = codec(version, "java.util.ArrayList", list_of(time, t.scalar("string")))
    assert elements(strings.decode_column(column(raw))) == [HOUR, "a", "b", "c", "d", "b"]
    (raw,) = golden(version, "enums", "java.time.LocalDateTime")
    days = t.EnumType(class_name="java.time.DayOfWeek", constants=("MONDAY", "TUESDAY"))
    enums = codec(version, "java.util.ArrayList", list_of(time, days))
    decoded = enums.decode_column(column(raw))
    assert elements(decoded) == [HOUR, "MONDAY", "TUESDAY", "MONDAY"]
    assert enums.encode(decoded).equals(column(raw))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("year", 10**9),
        ("year_month", {"year": 1, "month": 13}),
        ("month_day", {"month": 2, "day": 30}),
        ("zone_offset", 64_801),
    ],
)
@pytest.mark.parametrize("version", [2, 5])
def test_what_java_has_no_value_of_is_not_written(name: str, value: Any, version: int) -> None:
    one = codec(version, LEAVES[name].class_name, leaf_type(name))
    kind = one.decode_column(column(*golden(version, "top", LEAVES[name].class_name))).type
    with pytest.raises(EncodeError, match="out of range"):
        one.encode(pa.array([value], kind))


@pytest.mark.parametrize("name", ["url", "locale", "zoned_date_time"])
def test_what_flink_1_writes_otherwise_is_only_stepped_over(name: str) -> None:
    class_name = LEAVES[name].class_name
    assert getattr(type_of(build.kryo(class_name), kryo=2), "shape", "") is None
    with pytest.raises(PlanError, match="is not read as Kryo 2"):
        codec(2, class_name, leaf_type(name))
