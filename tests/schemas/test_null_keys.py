"""Maps with a null key, which Java and SQL have and Arrow has not: their rows are left out, the others are read.

The bytes are Flink's, the same of 1.20.4 and 2.3.0 but for Kryo's.
"""

from __future__ import annotations

import numpy as np
import pytest
from statelift.schemas.codec import ops
from statelift.schemas.codec.codec import Codec, DecodeError
from statelift.schemas.codec.shapes import compile_type
from statelift.schemas.subclasses import may_be_undecoded
from statelift.schemas.type_syntax import parse_type

MAP = "map<string, int>"
NULLABLE = "map<nullable<int>, int>"
DATA = "map_data<int, int>"
KRYO = 'kryo[kryo={}, registered=("java.util.HashMap")]<"java.util.HashMap", map<object, object>>'
KRYO_2, KRYO_5 = KRYO.format(2), KRYO.format(5)

CASES = [
    (MAP, "00000002 00 00 00000001 0261 00 00000002", "00000001 0261 00 00000002"),
    (NULLABLE, "00000001 01 00 00000001", "00000001 00 00000007 00 00000002"),
    (
        DATA,
        "00000024 10000000 02000000 01000000 00000000 07000000 02000000 00000000 01000000 02000000",
        "00000024 10000000 01000000 00000000 07000000 00000000 01000000 00000000 02000000 00000000",
    ),
    (KRYO_2, "57 01 02 00 0202 03018261 00", "57 01 01 03018261 0206"),
    (KRYO_5, "57 01 03 00 0202 03018261 00", "57 01 02 03018261 0206"),
]


def rows(*raw: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    parts = [bytes.fromhex(one) for one in raw]
    ends = np.cumsum([len(part) for part in parts])
    return np.frombuffer(b"".join(parts), np.uint8), ends - [len(part) for part in parts], ends


@pytest.mark.parametrize(("kind", "null_key", "sound"), CASES)
def test_a_map_with_a_null_key_is_left_out(kind: str, null_key: str, sound: str) -> None:
    node = parse_type(kind)
    codec = Codec(compile_type(node))
    array, stops, undecoded = codec.decode_most(*rows(sound, null_key, sound))
    assert undecoded.mask.tolist() == [False, True, False]
    assert undecoded.why() == {(ops.KRYO_SHAPE if "kryo" in kind else ops.NULL_KEY, None): 1}
    assert stops.tolist() == rows(sound, null_key, sound)[2].tolist()
    assert array.is_valid().to_pylist() == [True, False, True]
    assert array[0] == array[2] == codec.decode(*rows(sound))[0][0]
    assert may_be_undecoded(node, wide_times=True)
    with pytest.raises(
        DecodeError, match=r"a map with a null key, and no column of maps holds it|Kryo value"
    ):
        codec.decode(*rows(sound, null_key))


@pytest.mark.parametrize("kind", [MAP, DATA])
def test_it_may_be_deep_inside(kind: str) -> None:
    null_key, sound = next(case[1:] for case in CASES if case[0] == kind)
    codec = Codec(compile_type(parse_type(f"list<tuple<string, list<{kind}>>>")))
    deep = "00000001 0261 00000002" + sound
    array, _, undecoded = codec.decode_most(*rows(deep + sound, deep + null_key, deep + sound))
    assert undecoded.mask.tolist() == [False, True, False]
    assert array[0] == array[2]


def test_keys_that_are_never_null_need_no_column_of_bytes() -> None:
    assert not may_be_undecoded(parse_type("map<long, int>"), wide_times=False)
