"""Objects that Flink 1.20.5 (Kryo 2) and 2.3.0 (Kryo 5) wrote (``tests/golden/KryoShapes.java``): their values, and
the same bytes from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from statelift.io.stores import Stores
from statelift.schemas import types as t
from statelift.schemas.codec.codec import Codec, DecodeError
from statelift.schemas.codec.shapes import compile_type
from statelift.state_ops.class_types import declared

from .codec_strategies import plain
from .kryo_reference import OBJECT

GOLDEN = Path(__file__).parents[1] / "golden"
DECLARED = declared(str(GOLDEN / "kryo_shapes.yaml"), Stores())
LINES = [line.split("\t") for line in (GOLDEN / "kryo_shapes.tsv").read_text().splitlines()]
SECOND = 10**9
DAY = 86_400 * SECOND
STAMP = 1_700_000_000 * SECOND + 123_456_789


def one(name: str, value: Any) -> dict[str, Any]:
    return {**dict.fromkeys(OBJECT), name: value}


def base(b: int) -> dict[str, Any]:
    return {"Base": {"b": b}, "Sub": None}


def sub(b: int, more: str) -> dict[str, Any]:
    return {"Base": None, "Sub": {"b": b, "more": more}}


#: As the Java program has them.
VALUES: dict[str, dict[str, Any]] = {
    "Fields": {
        "bo": True, "by": -2, "sh": -300, "in": -70000, "lo": 1 << 40, "fl": 1.5, "dou": -2.25, "ch": ord("é"),
        "Bo": False, "By": 3, "Sh": 4, "In": 5, "Lo": -6, "Fl": 7.0, "Dou": 8.0, "Ch": ord("x"),
        "st": "häß", "nul": None, "longer": "a string of more than thirty-two characters, and fewer than 64",
        "bytes": b"\1\xff", "ints": [1, -2, 300], "longs": [5, -6], "doubles": [0.5], "flags": [True, False],
        "shorts": [1, -1], "chars": [ord("a"), ord("é")], "floats": [1.5], "strings": ["a", None, "b"],
        "array": [{"name": "k", "n": 3}, None], "grid": [[1, 2], [], None], "boxes": [1, None],
        "bi": (-12345678901234567890).to_bytes(9, "big", signed=True), "one": b"\1",
        "bd": {"unscaled": (-12340).to_bytes(2, "big", signed=True), "scale": 3},
        "uuid": "01234567-89ab-cdef-ffff-ffffffffffff", "bits": [0, 2, 64], "uri": "http://acme.com/a",
        "color": "GREEN", "none": None, "any": one("long", 5), "text": one("string", "t"),
        "base": base(7), "sub": sub(8, "m"), "fin": {"x": 9}, "noFin": None,
    },
    "Times": {
        "date": 1700000000123, "old": -5, "instant": STAMP, "early": -5 * SECOND + 7, "none": None,
        "duration": {"seconds": -3, "nanos": 5}, "day": 19782, "hour": 0,
        "minute": 12 * 3600 * SECOND + 1800 * SECOND, "second": 3659 * SECOND, "nano": DAY - 2 * SECOND + 7,
        "both": 10_956 * DAY + 82_801 * SECOND + 5, "sqlDate": 86_400_000, "sqlTime": 3_600_000, "stamp": STAMP,
    },
    "Collections": {
        "ls": ["x", None, "y"], "li": [1, 2], "items": [{"name": "i", "n": 1}, {"name": "j", "n": 2}],
        "mixed": [base(1), sub(2, "s")], "fins": [{"x": 1}, None], "colors": ["RED", "BLUE"],
        "nested": [["n1"], []], "uuids": ["00000000-0000-0001-0000-000000000002"],
        "bds": [{"unscaled": b"\x0f", "scale": 1}], "arrays": [[7]],
        "raw": [one("string", "r"), one("int", 1), one("long", 2)], "objects": [one("double", 1.5), None],
        "coll": ["c"], "tree": ["a", "b"], "hs": [5], "linked": [1], "deque": ["d"],
        "msi": [("a", 1)], "msl": [("k", [1, 2])], "mli": [(3, {"name": "m", "n": 4})], "byColor": [("BLUE", 3)],
        "deep": [("o", [("i", 1)])],
    },
    "Base": sub(1, "m"),
    "Shared": {"a": "same", "b": "same", "l": ["same", "o"]},
}  # fmt: skip


def codec_of(version: str, name: str) -> Codec:
    """The type itself is the one class that the job registered."""
    class_name = f"KryoShapes${name}"
    node = t.KryoType(
        class_name=class_name,
        kryo=5 if version.startswith("2.") else 2,
        registered=(class_name,),
        shape=DECLARED.kryo(class_name),
    )
    return Codec(compile_type(node))


def of(*names: str) -> Any:
    lines = [line for line in LINES if line[1] in names]
    assert len(lines) == 2 * len(names)
    return pytest.mark.parametrize(
        ("version", "name", "raw"), lines, ids=[" ".join(line[:2]) for line in lines]
    )


@of("Fields", "Times", "Collections", "Base")
def test_an_object_of_flinks_is_read_and_written_as_it_was(version: str, name: str, raw: str) -> None:
    codec = codec_of(version, name)
    encoded = pa.array([bytes.fromhex(raw)], pa.large_binary())
    decoded = codec.decode_column(encoded)
    assert plain(decoded) == [VALUES[name]]
    assert codec.encode(decoded).equals(encoded)


@of("Shared")
def test_a_string_that_is_there_twice_is_read_and_written_twice(version: str, name: str, raw: str) -> None:
    codec = codec_of(version, name)
    decoded = codec.decode_column(pa.array([bytes.fromhex(raw)], pa.large_binary()))
    assert plain(decoded) == [VALUES[name]]
    again = codec.encode(decoded)
    assert again[0].as_py().count(b"sam\xe5") == 3
    assert codec.decode_column(again).equals(decoded)


@of("Twice")
def test_an_object_with_parts_that_is_there_twice_stays_bytes(version: str, name: str, raw: str) -> None:
    with pytest.raises(DecodeError):
        codec_of(version, name).decode_column(pa.array([bytes.fromhex(raw)], pa.large_binary()))
