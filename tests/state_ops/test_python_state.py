"""State of PyFlink jobs: bytes unless their type is said, never unpickled.

The bytes are those of PyFlink 2.1.0's own coders: of ``Types.INT()`` and 258 for example
``from_type_info(Types.INT()).get_impl()._field_coder.encode_to_stream(258, out)`` (``pyflink.fn_execution.coders``).
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import statelift
from statelift.schemas import types as t
from statelift.schemas.codec.codec import Codec, DecodeError
from statelift.schemas.codec.shapes import compile_type
from statelift.schemas.errors import FormatError, PlanError, StateliftError
from statelift.schemas.python_types import PythonState, python_state
from statelift.schemas.snapshots import build
from statelift.schemas.snapshots.names import FLINK

from ..schemas.codec_strategies import plain
from .lifting import entries, lift, one_state
from .making import UID, Made, savepoint

#: What PyFlink's coder of a type writes for some values one behind the other, and the values as Arrow has them.
CODED: list[tuple[str, str, list[Any]]] = [
    ("Types.BOOLEAN()", "0100", [True, False]),
    ("Types.BYTE()", "fe", [-2]),
    ("Types.SHORT()", "fffe", [-2]),
    ("Types.INT()", "00000102", [258]),
    ("Types.LONG()", "0000000000000102ffffffffffffffff", [258, -1]),
    ("Types.FLOAT()", "3fc00000", [1.5]),
    ("Types.DOUBLE()", "3ff8000000000000", [1.5]),
    ("Types.STRING()", "00000002616200000006c3a9f09f9880", ["ab", "é😀"]),
    ("Types.BIG_DEC()", "000000062d31322e3334", ["-12.34"]),
    ("Types.SQL_DATE()", "00004d46", [19782]),
    ("Types.SQL_TIME()", "0038cefc", [3_723_004]),
    ("Types.SQL_TIMESTAMP()", "0000018df261f6fc", [1_709_168_523_004]),
    ("Types.INSTANT()", "000000000000000100000002", [1_000_000_002]),
    ("Types.PICKLED_BYTE_ARRAY()", "0000000580044b012e", [bytes.fromhex("80044b012e")]),
    ("Types.PRIMITIVE_ARRAY(Types.BYTE())", "000000020102", [b"\1\2"]),
    ("Types.PRIMITIVE_ARRAY(Types.INT())", "000000020000000100000002", [[1, 2]]),
    ("Types.OBJECT_ARRAY(Types.STRING())", "0000000201000000016100", [["a", None]]),
    ("Types.BASIC_ARRAY(Types.LONG())", "0000000201000000000000000100", [[1, None]]),
    ("Types.LIST(Types.INT())", "00000002010000000100", [[1, None]]),
    (
        "Types.MAP(Types.STRING(), Types.LONG())", "000000020000000161000000000000000001000000016201",
        [[("a", 1), ("b", None)]],
    ),
    (
        "Types.TUPLE([Types.STRING(), Types.INT()])", "00000002616200000007000000016300000008",
        [{"f0": "ab", "f1": 7}, {"f0": "c", "f1": 8}],
    ),
    ("Types.ROW([Types.STRING(), Types.INT()])", "10000000026162", [{"__kind": 0, "f0": "ab", "f1": None}]),
    (
        "Types.ROW_NAMED(['name', 'n'], [Types.STRING(), Types.INT()])", "0000000002616200000007",
        [{"__kind": 0, "name": "ab", "n": 7}],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "raw", "expected"), CODED, ids=[one[0] for one in CODED])
def test_what_the_coders_of_pyflink_write(text: str, raw: str, expected: list[Any]) -> None:
    codec = Codec(compile_type(t.ListType(element=python_state(text).type, framing="rest")))
    column = pa.array([bytes.fromhex(raw), b""], pa.large_binary())
    values = codec.decode_column(column)
    assert plain(values) == [expected, []]
    assert codec.encode(values).equals(column)
    if len(raw) > 2 * len(expected):
        with pytest.raises(DecodeError):
            codec.decode_column(pa.array([bytes.fromhex(raw)[:-1]], pa.large_binary()))


def test_elements_without_bytes_have_no_end() -> None:
    codec = Codec(compile_type(t.ListType(element=t.scalar("null"), framing="rest")))
    with pytest.raises(DecodeError, match="a length cannot be held"):
        codec.decode_column(pa.array([b"x"], pa.large_binary()))


BYTES = build.primitive_array("Byte")
WRAPPED = build.simple(
    f"{FLINK}streaming.api.utils.ByteArrayWrapperSerializer$ByteArrayWrapperSerializerSnapshot"
)
#: ``key_by`` without a key type: a row of one pickle.
KEY = build.row_of(BYTES)


def framed(raw: bytes) -> bytes:
    return len(raw).to_bytes(4, "big") + raw


def pickled(value: object) -> bytes:
    return b"\0" + framed(pickle.dumps(value, 5))


LONGS = [i.to_bytes(8, "big") for i in range(6)]
TYPES = {
    UID: {
        "count": "Types.LONG()",
        "seen": "Types.LONG()",
        "python-state-of": "Types.MAP(Types.STRING(), Types.LONG())",
    }
}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Process mode: a value state, a list state flushed twice, a map state, and one of pickles."""
    return savepoint(
        tmp_path / "job",
        KEY,
        Made(
            name="python-state-count", value=build.list_of(BYTES), kind="LIST",
            entries={pickled(1): framed(LONGS[5]), pickled(2): framed(LONGS[4])},
        ),
        Made(
            name="python-state-seen", value=build.list_of(BYTES), kind="LIST",
            entries={pickled(1): framed(LONGS[0] + LONGS[1]) + b"," + framed(LONGS[2])},
        ),
        Made(
            name="python-state-of", value=build.map_of(WRAPPED, BYTES), kind="MAP",
            entries={pickled(1) + framed(framed(b"a")): b"\0" + framed(LONGS[3])},
        ),
        Made(
            name="python-state-pickled", value=build.list_of(BYTES), kind="LIST",
            entries={pickled(1): framed(framed(pickle.dumps({"a": 1})))},
        ),
    )  # fmt: skip


def test_without_types_state_is_bytes_and_is_never_unpickled(job: Path) -> None:
    snapshot = statelift.open(str(job), uids=[UID])
    [row] = snapshot.state(UID, "python-state-pickled").to_arrow().to_pylist()
    assert row["value"] == [framed(pickle.dumps({"a": 1}))]
    assert row["key"] == {"__kind": 0, "f0": pickle.dumps(1, 5)}
    counts = snapshot.state(UID, "python-state-count").to_arrow()["value"].to_pylist()
    assert sorted(counts) == [[LONGS[4]], [LONGS[5]]]


def test_declared_types_are_decoded(job: Path) -> None:
    snapshot = statelift.open(str(job), python_types=TYPES)
    counts = snapshot.state(UID, "python-state-count").to_arrow()["value"].to_pylist()
    assert sorted(counts) == [[[4]], [[5]]]
    # Each byte array is a list by itself: one for each time that the worker flushed.
    assert snapshot.state(UID, "python-state-seen").to_arrow()["value"].to_pylist() == [[[0, 1], [2]]]
    [row] = snapshot.state(UID, "python-state-of").to_arrow().to_pylist()
    assert (row["map_key"], row["value"]) == ("a", 3)


LONG = t.scalar("long")


@pytest.mark.parametrize(
    ("text", "kind", "node"),
    [
        ("Types.LONG()", None, LONG),
        ("ValueStateDescriptor('count', Types.LONG())", "value", LONG),
        ("state.ValueStateDescriptor(self.name, Types.LONG())", "value", LONG),
        ("ReducingStateDescriptor('sum', lambda a, b: a + b, Types.LONG())", "value", LONG),
        ("AggregatingStateDescriptor('mean', Mean(), Types.LONG())", "value", LONG),
        ("ListStateDescriptor('seen', Types.LONG())", "list", LONG),
        ("MapStateDescriptor('of', Types.LONG(), Types.LONG())", "map", t.MapType(key=LONG, value=LONG)),
    ],
)
def test_a_descriptor_is_written_as_in_the_job(text: str, kind: str | None, node: t.DataType) -> None:
    assert python_state(text) == PythonState(type=node, kind=kind)  # type: ignore[arg-type]


def test_what_holds_one_value_is_shown_as_that(job: Path, tmp_path: Path) -> None:
    types = {UID: {"count": "ValueStateDescriptor('count', Types.LONG())"}}
    state = statelift.open(str(job), python_types=types).state(UID, "python-state-count")
    assert state.kind == "value"
    assert sorted(state.to_arrow()["value"].to_pylist()) == [4, 5]
    change = one_state(UID, "python-state-count", set={"value": "value + 100"}, where="value = 5")
    lift(job, tmp_path / "target", change, python_types=types, format="rocksdb")
    target = statelift.open(str(tmp_path / "target"), python_types=types)
    assert sorted(target.state(UID, "python-state-count").to_arrow()["value"].to_pylist()) == [4, 105]
    assert changed(job, tmp_path / "target") == {framed((105).to_bytes(8, "big"))}


@pytest.mark.parametrize(
    ("state", "text", "what"),
    [
        ("seen", "ValueStateDescriptor('seen', Types.LONG())", "does not decode as raw<long>"),
        ("seen", "MapStateDescriptor('seen', Types.LONG(), Types.LONG())", "is no map state of PyFlink"),
        ("of", "ValueStateDescriptor('of', Types.LONG())", "is no value state of PyFlink"),
        ("of", "Types.LONG()", "a map state has a type of its keys and one of its values"),
    ],
)
def test_a_descriptor_of_another_kind_is_an_error(job: Path, state: str, text: str, what: str) -> None:
    with pytest.raises(StateliftError, match=what):
        statelift.open(str(job), python_types={UID: {state: text}}).state(
            UID, f"python-state-{state}"
        ).to_arrow()


def test_a_plan_changes_declared_state_and_nothing_else(job: Path, tmp_path: Path) -> None:
    change = one_state(
        UID, "python-state-count", set={"value": "[[value[1][1] + 100]]"}, where="value[1][1] = 5"
    )
    lift(job, tmp_path / "target", change, python_types=TYPES, format="rocksdb")
    assert changed(job, tmp_path / "target") == {framed((105).to_bytes(8, "big"))}


def changed(source: Path, target: Path) -> set[bytes]:
    """The bytes of the values that differ; the keys are the same."""
    before, after = (entries(statelift.open(str(url), uids=[UID])) for url in (source, target))
    return {
        after[place][key] for place, held in before.items() for key in held if held[key] != after[place][key]
    }


def test_a_wrong_type_is_an_error_and_not_a_guess(job: Path) -> None:
    snapshot = statelift.open(str(job), python_types={UID: {"count": "Types.STRING()"}})
    with pytest.raises(FormatError, match="python-state-count"):
        snapshot.state(UID, "python-state-count").to_arrow()


def test_thread_mode_keeps_types_that_the_snapshot_says(tmp_path: Path) -> None:
    """There ``Types.INT()`` is a Java Long, and a list or row is pickled."""
    source = savepoint(
        tmp_path,
        KEY,
        Made(name="count", value=build.scalar("Long"), entries={pickled(1): LONGS[3]}),
        Made(name="rows", value=BYTES, entries={pickled(1): framed(pickle.dumps([1]))}),
    )
    snapshot = statelift.open(str(source), uids=[UID])
    assert snapshot.state(UID, "count").to_arrow()["value"].to_pylist() == [3]
    assert snapshot.state(UID, "rows").to_arrow()["value"].to_pylist() == [pickle.dumps([1])]
    with pytest.raises(PlanError, match="its type is in the snapshot"):
        statelift.open(str(source), python_types={UID: {"count": "Types.INT()"}}).state(UID, "count")


@pytest.mark.parametrize(
    "text",
    ["Types", "Types.NOTHING()", "Types.LIST()", "Types.TUPLE([])", "__import__('os').system('x')", "1 +", "",
     "Types.ROW_NAMED(['a'], [])", "Types.MAP(Types.INT())", "ValueStateDescriptor('a')",
     "MapStateDescriptor('a', Types.INT())", "ListStateDescriptor('a', type_info=Types.INT())",
     "ValueStateDescriptor('a', ListStateDescriptor('b', Types.INT()))"],
)  # fmt: skip
def test_what_is_no_type_information_is_refused(text: str) -> None:
    with pytest.raises(PlanError):
        python_state(text)
