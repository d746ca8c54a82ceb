"""Arrow values as JSON."""

from __future__ import annotations

import pyarrow as pa
import pytest
from statelift.state_ops.values import values


@pytest.mark.parametrize(
    ("array", "wanted"),
    [
        (pa.array([b"\x00\xff", None]), ["00ff", None]),
        (pa.array([float("nan"), float("inf"), float("-inf"), 0.5]), ["NaN", "Infinity", "-Infinity", 0.5]),
        (pa.array([True, None]), [True, None]),
        (pa.array([2**62], pa.int64()), [2**62]),
        (pa.array(["1.50"]).cast(pa.decimal128(10, 2)), ["1.50"]),
        (pa.array(["12345678901234567890"]).cast(pa.decimal128(38, 0)), [12345678901234567890]),
        (pa.array([19000], pa.date32()), ["2022-01-08"]),
        (pa.array([2**31 - 1], pa.date32()), [2**31 - 1]),
        (pa.array([1], pa.time64("ns")), ["00:00:00.000000001"]),
        (pa.array([1700000000123], pa.timestamp("ms")), ["2023-11-14T22:13:20.123"]),
        (
            pa.array([1700000000123456789, None], pa.timestamp("ns", "UTC")),
            ["2023-11-14T22:13:20.123456789Z", None],
        ),
        (pa.array([2**63 - 1], pa.timestamp("ms", "UTC")), [2**63 - 1]),
        (pa.nulls(2), [None, None]),
        (pa.array([[1], None, []], pa.list_(pa.int64())), [[1], None, []]),
        (pa.array([[[1, 2]], [[3]]], pa.list_(pa.list_(pa.int8()))), [[[1, 2]], [[3]]]),
        (pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())), [{"a": 1}, None]),
        (pa.array([[(7, b"x")]], pa.map_(pa.int32(), pa.binary())), [[{"key": 7, "value": "78"}]]),
        (pa.array([{"a": b"\x01"}, None], pa.struct([("a", pa.binary())])), [{"a": "01"}, None]),
        (pa.array([{}, None], pa.struct([])), [{}, None]),
        (pa.array(["RED", None, "RED"]).dictionary_encode(), ["RED", None, "RED"]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_a_value_as_json(array: pa.Array, wanted: list[object]) -> None:
    assert values(array) == wanted
    assert values(pa.concat_arrays([array, array]).slice(len(array))) == wanted
