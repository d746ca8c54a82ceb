"""Keys with a part that Flink writes in two forms, a null of SQL or a small BigInteger: their key groups are those of
their bytes, and no query that writes keys anew takes one form for the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import statelift
from statelift.io.keyed.entries import EntryBatch
from statelift.io.keyed.state_types import KeyedStateType
from statelift.schemas import types as t
from statelift.schemas.errors import PlanError
from statelift.schemas.key_forms import has_two_forms, may_have_two_forms
from statelift.schemas.snapshots import build
from statelift.schemas.to_snapshot import snapshot_of
from statelift.schemas.type_syntax import parse_type
from statelift.state_ops.checks import check_key_groups
from statelift.state_ops.lookup import look_up
from statelift.state_ops.plan import StatePlan
from statelift.state_ops.states import KeyedState
from statelift.state_ops.tables import KeyedTable
from statelift.state_ops.transform import transform_of
from statelift.state_ops.verify import verify

from .lifting import entries, lift, one_state
from .making import UID, Made, savepoint

KEY = parse_type("rowdata {f0: int, f1: timestamp(3), f2: decimal(20, 2), f3: double}")
#: Keys of a windowed aggregate in mini-batches, as the key selector of Flink 2.3.0 wrote them, all in key group 0 of
#: 128: of the second f2 is null, and 16 bytes are set aside for it at 0x28.
FULL = bytes.fromhex(
    "00000038000000000000000000000000000000006880c0f48d0100000200000028000000000000000000f83f"
    "016f0000000000000000000000000000"
)
NULL = bytes.fromhex(
    "00000038000400000000000004000000000000007049c2f48d0100000000000028000000000000000000f83f"
    "00000000000000000000000000000000"
)
#: A key of List<BigDecimal>, as Flink 1.20.5 wrote it, in key group 0x15 of 128: the last one's unscaled number is a
#: zero that is not the object BigInteger.ZERO.
LISTS = parse_type("list<big_decimal>")
BIG = bytes.fromhex("000000030000000c8000000000000000fffffff2000000030000001100000005000000000e")
#: The same with BigInteger.ZERO.
CODED = bytes.fromhex("000000030000000c8000000000000000fffffff20000000300000011000000010000000e")
LONG = build.scalar("Long")
ONE, TWO = (i.to_bytes(8, "big") for i in (1, 2))


def made(folder: Path, *keys: bytes) -> Path:
    values = dict(zip(keys, (ONE, TWO), strict=False))
    return savepoint(folder, snapshot_of(KEY), Made(name="sum", value=LONG, entries=values), key_group=0)


def opened(folder: Path) -> statelift.Snapshot:
    return statelift.open(str(folder), uids=[UID])


def select(columns: str) -> dict[str, Any]:
    """A whole query, for keys anew."""
    rows = f'SELECT {columns} FROM "{UID}"."sum"'
    return one_state(UID, "sum", select=f"{rows} UNION ALL ({rows} LIMIT 0)")


def test_such_keys_stand_where_their_bytes_belong(tmp_path: Path) -> None:
    snapshot = opened(made(tmp_path, FULL, NULL))
    assert [one for one in verify(snapshot) if one.severity == "fault"] == []
    assert check_key_groups(snapshot).passed


def test_bytes_of_another_key_group_are_found(tmp_path: Path) -> None:
    """The key with another number in it."""
    snapshot = opened(made(tmp_path, FULL, NULL[:12] + b"\5" + NULL[13:]))
    assert not check_key_groups(snapshot).passed
    assert any("stands in key group 0 and belongs to" in str(one) for one in verify(snapshot))


@pytest.mark.parametrize("format", ["canonical", "rocksdb"])
def test_such_a_key_is_found_by_its_value(tmp_path: Path, format: str) -> None:
    lift(made(tmp_path / "source", FULL, NULL), tmp_path / "out", {}, format=format)
    operator = opened(tmp_path / "out").operator(UID)
    state = operator.state("sum")
    assert isinstance(state, KeyedState)
    for row in state.to_arrow().to_batches()[0].to_pylist():
        key = pa.array([row["key"]], state.schema.field("key").type)
        found = look_up(operator, [state], key)
        assert (found.key_group, found.rows["sum"]["value"].to_pylist()) == (0, [row["value"]])


@pytest.mark.parametrize(
    "change", [{"set": {"value": "value + 5"}}, {"delete": {"where": "key.f2 IS NOT NULL"}}]
)
def test_a_change_of_rows_keeps_the_key_s_bytes(tmp_path: Path, change: dict[str, Any]) -> None:
    source = made(tmp_path / "source", FULL, NULL)
    lift(source, tmp_path / "out", one_state(UID, "sum", **change))
    [before], [after] = (
        [list(one[UID, "sum"]) for one in [entries(opened(folder))]] for folder in (source, tmp_path / "out")
    )
    assert after == (before if "set" in change else [key for key in before if NULL in key])


def test_a_whole_select_does_not_write_such_a_key_in_another_form(tmp_path: Path) -> None:
    source = made(tmp_path / "source", FULL, NULL)
    with pytest.raises(
        PlanError, match=r"a key of the state has a part that Flink writes in two forms.*set, where"
    ):
        lift(source, tmp_path / "out", select("*"))


def test_a_timer_of_such_a_key_is_moved_with_the_key_s_bytes() -> None:
    timer = KeyedStateType(
        name="_timer_state/event_window-timers", kind="timer", key=KEY, namespace=t.scalar("long")
    )
    table = KeyedTable(type=timer, max_parallelism=128)
    window = (15_000).to_bytes(8, "big")
    stored = [b"\0" + (1 << 63 | 14_999).to_bytes(8, "big") + key + window for key in (FULL, NULL)]
    none = pa.array([b"", b""], pa.large_binary())
    batch = EntryBatch.of(np.zeros(2, np.int32), pa.array(stored, pa.large_binary()), none)
    query = f'SELECT * REPLACE (timestamp + 2 AS timestamp) FROM "{timer.name}"'
    moved = transform_of(StatePlan(select=query), table, UID)
    assert moved is not None
    later = (1 << 63 | 15_001).to_bytes(8, "big")
    assert moved.apply(batch).keys.to_arrow().to_pylist() == [key[:1] + later + key[9:] for key in stored]


def test_a_whole_select_makes_no_such_key(tmp_path: Path) -> None:
    source = made(tmp_path / "source", FULL)
    lift(source, tmp_path / "same", select("*"))
    nulled = "struct_update(key, f2 := NULL::DECIMAL(20, 2)) AS key, value"
    with pytest.raises(PlanError, match="gives a new key with a part that Flink writes in two forms"):
        lift(source, tmp_path / "out", select(nulled))


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("rowdata {f0: decimal(20, 2)}", True),
        ("rowdata {f0: decimal(18, 2)}", False),
        ("rowdata {f0: timestamp(6)}", True),
        ("rowdata {f0: timestamp(3)}", False),
        ("rowdata {f0: rowdata {g: timestamp_ltz(9)}}", True),
        ("tuple<long, rowdata {f0: decimal(38, 0)}>", True),
        ("tuple<long, list<big_decimal>>", True),
        ("big_integer", True),
        ("long", False),
    ],
)
def test_which_types_may_have_such_nulls(text: str, may: bool) -> None:
    assert may_have_two_forms(parse_type(text)) == may


def test_which_rows_have_such_nulls() -> None:
    kind = pa.struct(
        {
            "__kind": pa.int8(),
            "a": pa.struct({"__kind": pa.int8(), "b": pa.decimal128(20, 2)}),
            "c": pa.int32(),
        }
    )
    rows = [
        {"__kind": 0, "a": {"__kind": 0, "b": None}, "c": 1},
        {"__kind": 0, "a": None, "c": 1},
        {"__kind": 0, "a": {"__kind": 0, "b": 1}, "c": None},
        None,
    ]
    node = parse_type("rowdata {a: rowdata {b: decimal(20, 2)}, c: int}")
    assert has_two_forms(pa.array(rows, kind), node).tolist() == [True, False, False, False]


def of_bigs(folder: Path, *keys: bytes) -> Path:
    values = dict(zip(keys, (ONE, TWO), strict=False))
    return savepoint(folder, snapshot_of(LISTS), Made(name="sum", value=LONG, entries=values), key_group=0x15)


@pytest.mark.parametrize("form", [BIG, CODED])
@pytest.mark.parametrize("format", ["canonical", "rocksdb"])
def test_a_zero_is_found_in_either_form(tmp_path: Path, form: bytes, format: str) -> None:
    lift(of_bigs(tmp_path / "source", form), tmp_path / "out", {}, format=format)
    snapshot = opened(tmp_path / "out")
    assert [one for one in verify(snapshot) if one.severity == "fault"] == []
    operator = snapshot.operator(UID)
    state = operator.state("sum")
    assert isinstance(state, KeyedState)
    key = state.to_arrow()["key"].combine_chunks()
    assert look_up(operator, [state], key).rows["sum"]["value"].to_pylist() == [1]


def test_a_change_of_rows_keeps_the_form_of_a_zero(tmp_path: Path) -> None:
    lift(
        of_bigs(tmp_path / "source", BIG), tmp_path / "out", one_state(UID, "sum", set={"value": "value + 5"})
    )
    assert [key[1:-1] for key in entries(opened(tmp_path / "out"))[UID, "sum"]] == [BIG]


def test_a_whole_select_does_not_write_a_zero_in_another_form(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"a key of the state has a part that Flink writes in two forms"):
        lift(of_bigs(tmp_path / "source", BIG), tmp_path / "out", select("*"))
    lift(of_bigs(tmp_path / "coded", CODED), tmp_path / "same", select("*"))
    other = "list_transform(key, lambda one: struct_update(one, scale := 0)) AS key, value"
    with pytest.raises(PlanError, match="gives a new key with a part that Flink writes in two forms"):
        lift(tmp_path / "coded", tmp_path / "new", select(other))


def test_which_rows_have_such_numbers() -> None:
    node = parse_type("tuple<long, list<big_integer>>")
    kind = pa.struct({"f0": pa.int64(), "f1": pa.list_(pa.binary())})
    rows = [
        {"f0": 0, "f1": [b"\2", b"\n"]},
        {"f0": 1, "f1": []},
        None,
        {"f0": 2, "f1": [b"\x0b", b"\1\0"]},
        {"f0": 3, "f1": [b"\0"]},
    ]
    array = pa.array([None, *rows], kind).slice(1)
    assert has_two_forms(array, node).tolist() == [True, False, False, False, True]


def test_a_value_keeps_the_form_of_a_zero_that_is_not_changed(tmp_path: Path) -> None:
    big = snapshot_of(LISTS)
    source = savepoint(
        tmp_path / "source", build.scalar("Long"), Made(name="sum", value=big, entries={ONE: BIG, TWO: CODED})
    )
    lift(
        source, tmp_path / "out", one_state(UID, "sum", set={"value": "list_filter(value, lambda one: true)"})
    )
    assert entries(opened(tmp_path / "out")) == entries(opened(source))
