"""The kernels against their slow twin: any type, any value, any bytes."""

from __future__ import annotations

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
from statelift.schemas.codec.shapes import compile_delimited, compile_map_value, compile_timer, compile_type
from statelift.schemas.errors import EncodeError

from . import reference
from .codec_strategies import PARTS, plain, types, values
from .reference_scalars import decode_parts, encode_parts, encode_scalar
from .reference_wire import Bytes, WireError, big, varint


def column(rows: list[bytes]) -> pa.Array:
    return pa.array(rows, pa.large_binary())


typed_values = types.flatmap(
    lambda node: st.tuples(st.just(node), st.lists(values(node), min_size=1, max_size=4))
)


@given(typed_values)
def test_what_the_twin_writes_decodes_to_its_values_and_back(case: tuple[t.DataType, list[Any]]) -> None:
    node, rows = case
    encoded = column([reference.encode(node, row) for row in rows])
    codec = Codec(compile_type(node))
    decoded = codec.decode_column(encoded)
    decoded.validate(full=True)
    assert decoded.type == codec.arrow_type
    assert plain(decoded) == rows
    assert codec.encode(decoded).equals(encoded)
    assert codec.encode(decoded.slice(1)).equals(encoded.slice(1))


@given(typed_values, st.data())
def test_damaged_bytes_fail_where_the_twin_fails(
    case: tuple[t.DataType, list[Any]], data: st.DataObject
) -> None:
    node, rows = case
    raw = bytearray(reference.encode(node, rows[0]))
    for _ in range(data.draw(st.integers(0, 3))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    agree(node, bytes(raw[: data.draw(st.integers(0, len(raw)))]))


@given(types, st.binary(max_size=60))
def test_random_bytes_fail_where_the_twin_fails(node: t.DataType, raw: bytes) -> None:
    agree(node, raw)


def agree(node: t.DataType, raw: bytes) -> None:
    note(f"{node} of {raw.hex()}")
    expected: list[Any] | None
    cursor = Bytes(raw)
    try:
        expected = [reference.decode(node, cursor)]
    except (WireError, RecursionError):
        expected = None
    codec = Codec(compile_type(node))
    decoded, failure = attempt(codec, raw)
    agree_on_what_is_left_out(codec, cursor, expected is not None)
    if decoded is None:
        assert failure is not None
        assert 0 <= failure.position <= len(raw)
        if cursor.odd and expected is not None:
            return
        # Values that overlap, or elements without bytes, may need more room than a batch is given.
        assert expected is None or cursor.pos != len(raw) or failure.reason == ops.OVERFLOW
        return
    validate(decoded)
    assert expected is not None
    assert cursor.pos == len(raw)
    assert repr(plain(decoded)) == repr(expected)


#: A kernel tells of texts and times, and what is made of its slots of nulls: those are seen later.
ODD = {"text": ops.NO_TEXT, "time": ops.FAR_TIME, "null": ops.OTHER_NULL}


def agree_on_what_is_left_out(codec: Codec, cursor: Bytes, reads: bool) -> None:
    """A value that no column holds is null, its end known, and the value behind it read: as the twin says."""
    data = np.frombuffer(cursor.raw + cursor.raw, np.uint8)
    starts = np.array([0, len(cursor.raw)])
    try:
        found, stops, undecoded = codec.decode_most(data, starts, starts + len(cursor.raw), exact=False)
    except DecodeError as error:
        assert not reads or error.reason == ops.OVERFLOW  # noqa: PT017
        return
    assert len(found) == 2
    assert codec.stops(data, starts, starts + len(cursor.raw)).tolist() == stops.tolist() or not reads
    why = undecoded.why()
    if not reads:  # the twin stops at a subclass that it does not know
        assert {reason for reason, _ in why} <= {ops.SUBCLASS}
        return
    assert stops.tolist() == [cursor.pos, len(cursor.raw) + cursor.pos]
    first = min(cursor.odd, key="null".__eq__, default=None)
    assert why == ({(ODD[first], None): 2} if first else {})
    if cursor.odd:
        assert not found.is_valid()[0].as_py()


def validate(array: pa.Array) -> None:
    """Arrow's own check, but for numbers that damaged bytes make larger than their type says: they are kept."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        assert re.search("acceptable range|does not fit in precision", str(error)), error  # noqa: PT017


def attempt(codec: Codec, raw: bytes) -> tuple[pa.Array | None, DecodeError | None]:
    try:
        return codec.decode_column(column([raw])), None
    except DecodeError as error:
        return None, error


@given(types.flatmap(lambda node: st.tuples(st.just(node), st.lists(values(node), max_size=4))))
def test_list_state_has_a_comma_between_elements(case: tuple[t.DataType, list[Any]]) -> None:
    node, elements = case
    parts = [reference.encode(node, one) for one in elements]
    if b"" in parts:
        return
    codec = Codec(compile_delimited(node))
    encoded = column([b",".join(parts), b""])
    decoded = codec.decode_column(encoded)
    assert plain(decoded) == [elements, []]
    assert codec.encode(decoded).equals(encoded)


@given(typed_values)
def test_map_state_has_a_null_flag_before_each_value(case: tuple[t.DataType, list[Any]]) -> None:
    node, rows = case
    expected = [row for row in rows if not reference.is_missing(node, row)]
    nulls = [] if reference.none_is_value(node) else [None]
    encoded = column([*(b"\0" + reference.encode(node, row) for row in expected), *(b"\1" for _ in nulls)])
    codec = Codec(compile_map_value(node))
    decoded = codec.decode_column(encoded)
    assert plain(decoded)[len(expected) :] == nulls
    if not reference.can_be_null(node) or reference.none_is_value(node):
        assert plain(decoded)[: len(expected)] == expected
        assert codec.encode(decoded).equals(encoded)


@given(st.integers(-(2**63), 2**63 - 1), values(t.scalar("string")), values(t.scalar("window")))
def test_timers_have_a_flipped_timestamp_first(stamp: int, key: Any, window: Any) -> None:
    key_type, window_type = t.scalar("string"), t.scalar("window")
    raw = encode_scalar("flipped_long", stamp)
    raw += reference.encode(key_type, key) + reference.encode(window_type, window)
    codec = Codec(compile_timer(key_type, window_type))
    decoded = codec.decode_column(column([raw]))
    assert decoded.to_pylist() == [{"timestamp": stamp, "key": key, "namespace": window}]
    assert codec.encode(decoded).equals(column([raw]))


@given(st.sampled_from(sorted(PARTS)).flatmap(lambda name: st.tuples(st.just(name), st.lists(PARTS[name]))))
def test_wide_times_are_what_the_twin_writes(case: tuple[t.ScalarName, list[Any]]) -> None:
    name, rows = case
    encoded = column([encode_parts(name, row) for row in rows])
    codec = Codec(compile_type(t.scalar(name), wide_times=True))
    decoded = codec.decode_column(encoded)
    assert decoded.to_pylist() == rows
    assert codec.encode(decoded).equals(encoded)


@given(st.sampled_from(sorted(PARTS)), st.data())
def test_damaged_wide_times_fail_where_the_twin_fails(name: t.ScalarName, data: st.DataObject) -> None:
    raw = bytearray(encode_parts(name, data.draw(PARTS[name])))
    for _ in range(data.draw(st.integers(0, 2))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cursor = Bytes(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    try:
        expected = [decode_parts(name, cursor)]
    except WireError:
        expected = None
    decoded, _ = attempt(Codec(compile_type(t.scalar(name), wide_times=True)), cursor.raw)
    if expected is None or cursor.pos != len(cursor.raw):
        assert decoded is None
    else:
        assert decoded is not None
        assert decoded.to_pylist() == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("instant", {"seconds": 2**62, "nanos": 0}),
        ("instant", {"seconds": 0, "nanos": 10**9}),
        ("sql_timestamp", {"millis": 5, "nanos": 0}),
        ("local_date", {"year": 2023, "month": 2, "day": 29}),
        ("local_date", {"year": 10**9, "month": 1, "day": 1}),
        ("local_date_time", {"year": 2024, "month": 2, "day": 29, "nano_of_day": 86_400 * 10**9}),
    ],
)
def test_parts_that_are_no_time_of_java_are_not_written(name: t.ScalarName, value: dict[str, int]) -> None:
    codec = Codec(compile_type(t.scalar(name), wide_times=True))
    with pytest.raises(EncodeError, match="a part of a time is out of range, at row 0"):
        codec.encode(pa.array([value], codec.arrow_type))


@pytest.mark.parametrize("depth", [10, 60])
def test_nesting_ends_in_an_error_and_not_in_the_stack(depth: int) -> None:
    node: t.DataType = t.scalar("int")
    raw = bytes(4)
    for _ in range(depth):
        node = t.ListType(element=node)
        raw = b"\0\0\0\1" + raw
    assert Codec(compile_type(node)).decode_column(column([raw])).to_pylist()


def test_nesting_beyond_the_stack_is_refused() -> None:
    node: t.DataType = t.scalar("int")
    for _ in range(ops.STACK + 1):
        node = t.ListType(element=node)
    raw = b"\0\0\0\1" * (ops.STACK + 1) + bytes(4)
    with pytest.raises(DecodeError, match="nested too deeply"):
        Codec(compile_type(node)).decode_column(column([raw]))


_UNITS = st.sampled_from([0x41, 0x3B1, 0x20AC, 0xD83D, 0xDBFF, 0xDC00, 0xDE00, 0xFFFF])


@given(st.lists(st.lists(_UNITS, max_size=5), max_size=4))
def test_texts_of_any_utf_16_units_are_left_out_where_the_twin_says(texts: list[list[int]]) -> None:
    encoded = [varint(len(one) + 1) + b"".join(map(varint, one)) for one in texts]
    agree(t.ListType(element=t.scalar("string")), big(len(texts), 4) + b"".join(encoded))


@given(st.sampled_from(sorted(PARTS)).flatmap(lambda name: st.tuples(st.just(name), st.lists(PARTS[name]))))
def test_far_times_are_left_out_where_the_twin_says(case: tuple[t.ScalarName, list[Any]]) -> None:
    name, rows = case
    parts = [encode_parts(name, row) for row in rows]
    agree(t.ListType(element=t.scalar(name)), big(len(rows), 4) + b"".join(parts))
