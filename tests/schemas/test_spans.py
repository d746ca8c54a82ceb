"""Types that hold themselves, as Avro's records may: what is within is bytes, whose end is known."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from statelift.schemas import types as t
from statelift.schemas.codec.codec import Codec
from statelift.schemas.codec.shapes import compile_type
from statelift.schemas.errors import StateliftError
from statelift.schemas.from_avro import type_of_avro

LINKED = {
    "type": "record", "name": "Linked", "namespace": "org.acme",
    "fields": [{"name": "value", "type": "long"}, {"name": "next", "type": ["null", "Linked"]}],
}  # fmt: skip
#: Flink's layout (spec "serializers" 2.12): an i8, an i4 for the branch, and so on.
END = bytes.fromhex("0000000000000003 00000000")
TWO = bytes.fromhex("0000000000000002 00000001") + END


def of(schema: Any) -> Codec:
    return Codec(compile_type(type_of_avro(json.dumps(schema))))


def decode(schema: Any, *raw: bytes) -> pa.Array:
    return of(schema).decode_column(pa.array(raw, pa.large_binary()))


def test_what_is_within_is_its_bytes() -> None:
    values = decode(LINKED, END, TWO)
    assert values.to_pylist() == [{"value": 3, "next": None}, {"value": 2, "next": END}]
    assert of(LINKED).encode(values).to_pylist() == [END, TWO]


def test_what_follows_it_is_read() -> None:
    """A list of a record that holds itself, then a text."""
    schema = {
        "type": "record", "name": "R", "fields": [
            {"name": "all", "type": {"type": "array", "items": LINKED}}, {"name": "last", "type": "string"},
        ],
    }  # fmt: skip
    raw = b"\x02" + TWO + END + b"\x00" + b"\0\0\0\x01z"
    values = decode(schema, raw)
    found = [{"value": 2, "next": END}, {"value": 3, "next": None}]
    assert values.to_pylist() == [{"all": found, "last": "z"}]
    assert of(schema).encode(values).to_pylist() == [raw]


def test_a_chain_may_be_as_long_as_it_is() -> None:
    link = bytes.fromhex("0000000000000001 00000001")
    long = link * 1_000_000 + END
    assert decode(LINKED, link + long).to_pylist() == [{"value": 1, "next": long}]


def test_a_tree_too_deep_is_an_error_and_no_crash() -> None:
    tree = {
        "type": "record",
        "name": "T",
        "fields": [{"name": "below", "type": {"type": "array", "items": "T"}}],
    }
    deep = b"\x01" * 100_000 + b"\x00" * 100_001
    with pytest.raises(StateliftError, match="nested too deeply"):
        decode(tree, deep)


def test_a_type_that_holds_itself_without_end_is_an_error() -> None:
    endless = {"type": "record", "name": "E", "fields": [{"name": "again", "type": "E"}]}
    with pytest.raises(StateliftError, match="a length cannot be held"):
        decode(endless, b"")


def test_only_whole_values_are_written() -> None:
    node = type_of_avro(json.dumps(LINKED))
    kind = compile_type(node).shape.arrow_type
    with pytest.raises(StateliftError):
        of(LINKED).encode(pa.array([{"value": 1, "next": END[:-1]}], kind))


def test_records_that_hold_each_other() -> None:
    """The type of B within A, and behind it by its name."""
    b = {"type": "record", "name": "B", "fields": [{"name": "back", "type": ["null", "A"]}]}
    schema = {
        "type": "record", "name": "R", "fields": [
            {"name": "a", "type": {"type": "record", "name": "A", "fields": [{"name": "b", "type": ["null", b]}]}},
            {"name": "other", "type": "B"},
        ],
    }  # fmt: skip
    none, some = b"\0\0\0\0", b"\0\0\0\x01"
    raw = some + some + none + some + some + none
    values = decode(schema, raw)
    assert values.to_pylist() == [{"a": {"b": {"back": none}}, "other": {"back": some + none}}]
    assert of(schema).encode(values).to_pylist() == [raw]


def test_records_that_only_share_others_are_shared() -> None:
    """Each holds the one before it twice: to go into every one of them would take as long as there are 2^40."""
    schema: Any = {"type": "record", "name": "R0", "fields": []}
    for i in range(1, 41):
        twice = [{"name": "a", "type": schema}, {"name": "b", "type": f"R{i - 1}"}]
        schema = {"type": "record", "name": f"R{i}", "fields": twice}
    node = type_of_avro(json.dumps(schema))
    while node.children():
        a, b = node.children()
        assert a is b
        node = a


def test_it_is_named_as_not_decoded() -> None:
    [(path, part)] = t.opaque_parts(type_of_avro(json.dumps(LINKED)), "value")
    assert (path, part.class_name, part.reason) == (
        "value.next",
        "org.acme.Linked",
        "its schema is recursive",
    )
    assert t.opaque_in(type_of_avro(json.dumps(LINKED))) is None
