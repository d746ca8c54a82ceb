"""Nulls of two kinds where a column has one: ``None`` and ``Some(null)``, ``None`` and null, ``Unit`` and null.

The bytes are those of Flink 1.20 (``OptionSerializer``, ``TraversableSerializer``, ``GenericArraySerializer``,
``MapSerializer``, ``PojoSerializer``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from statelift.schemas.codec import ops
from statelift.schemas.codec.codec import Codec, DecodeError
from statelift.schemas.codec.shapes import compile_delimited, compile_map_value, compile_type
from statelift.schemas.subclasses import may_be_undecoded
from statelift.schemas.type_syntax import parse_type

from .test_null_keys import rows

OPTION = "nullable[flag=is_present]<{}>"
OPTION_OF_INT, OPTION_OF_STRING = OPTION.format("int"), OPTION.format("string")
SEQ = "list[element_flag=is_present]<{}>"

#: A type, the bytes of values and what they are, the bytes of one with the null that no column holds.
CASES: list[tuple[str, dict[str, Any], str]] = [
    (OPTION_OF_STRING, {"01 0261": "a", "01 01": "", "00": None}, "01 00"),
    (OPTION.format("big_integer"), {"01 00000003": b"\n", "00": None}, "01 00000000"),
    (OPTION.format("pojo P {n: int}"), {"01 02 00 00000007": {"n": 7}, "00": None}, "01 01"),
    (OPTION.format(OPTION_OF_STRING), {"01 01 0261": {"value": "a"}, "01 00": {"value": None}, "00": None}, "01 01 00"),
    (OPTION.format("unit"), {"01 00": {"value": None}, "00": None}, ""),
    (SEQ.format(OPTION_OF_INT), {"00000002 01 01 00000005 01 00": [5, None]}, "00000002 01 00 00"),
    (SEQ.format("unit"), {"00000002 01 00 01 00": [None, None]}, "00000002 01 00 00"),
    (SEQ.format("string"), {"00000002 01 0261 00": ["a", None]}, ""),
    (f'array[class_name="scala.Option"]<{OPTION_OF_INT}>', {"00000001 01 00": [None]}, "00000001 00"),
    (f"map<int, {OPTION_OF_INT}>", {"00000001 00000005 00 00": [(5, None)]}, "00000001 00000005 01"),
    (f"pojo P {{o: {OPTION_OF_INT}}}", {"02 00 00": {"o": None}, "01": None}, "02 01"),
    (f"row {{o: {OPTION_OF_INT}}}", {"00 00": {"__kind": 0, "o": None}}, "20"),
    (f"tuple T {{o: {OPTION_OF_STRING}}}", {"01 0261": {"o": "a"}, "00": {"o": None}}, "01 00"),
    (f"either<{OPTION_OF_INT}, long>", {"01 00": {"left": None, "right": None}}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "sound", "other"), CASES, ids=[case[0] for case in CASES])
def test_each_is_written_as_it_was_and_the_other_null_is_left_out(
    kind: str, sound: dict[str, Any], other: str
) -> None:
    node = parse_type(kind)
    codec = Codec(compile_type(node))
    data, starts, ends = rows(*sound, *([other] if other else []), *sound)
    array, stops, undecoded = codec.decode_most(data, starts, ends)
    assert stops.tolist() == ends.tolist()
    assert undecoded.why() == ({(ops.OTHER_NULL, None): 1} if other else {})
    good = array.filter(pa.array(~undecoded.mask))
    assert good.to_pylist() == [*sound.values()] * 2
    assert codec.encode(good).to_pylist() == [bytes.fromhex(one) for one in sound] * 2
    if other:
        assert may_be_undecoded(node, wide_times=True)
        with pytest.raises(DecodeError, match=r"a null that its column does not tell from another \(Some"):
            codec.decode(*rows(other))


@pytest.mark.parametrize("kind", ["unit", OPTION_OF_INT])
def test_map_states_have_a_flag_too(kind: str) -> None:
    codec = Codec(compile_map_value(parse_type(kind)))
    assert codec.encode(pa.nulls(1, codec.arrow_type)).to_pylist() == [b"\0\0"]
    array, _, undecoded = codec.decode_most(*rows("00 00", "01"))
    assert array.null_count == 2
    assert undecoded.mask.tolist() == [False, True]


def test_what_is_below_a_null_is_not_looked_at() -> None:
    codec = Codec(compile_type(parse_type(f"nullable<row {{o: {OPTION_OF_INT}, s: {OPTION_OF_STRING}}}>")))
    array, _ = codec.decode(*rows("01", "00 00 00 00", "01"))
    assert array.to_pylist() == [None, {"__kind": 0, "o": None, "s": None}, None]
    assert codec.encode(array).to_pylist() == [b"\1", bytes(4), b"\1"]


def test_elements_of_a_list_state_are_as_others() -> None:
    """A list is left out as a whole, and nothing of the next one."""
    codec = Codec(compile_delimited(parse_type(OPTION_OF_STRING)))
    array, _, undecoded = codec.decode_most(*rows("01 0261 2c 00", "00 2c 01 00", "00"))
    assert array.to_pylist() == [["a", None], None, [None]]
    assert np.flatnonzero(undecoded.mask).tolist() == [1]


def test_types_with_one_null_need_no_column_of_bytes() -> None:
    for text in (OPTION_OF_INT, "nullable<int>", SEQ.format("int"), "map<int, long>"):
        assert not may_be_undecoded(parse_type(text), wide_times=True), text
