"""Texts and times as Flink writes them that no column holds: their rows are bytes, and all others are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import statelift
from statelift.schemas.errors import EncodeError, PlanError
from statelift.schemas.snapshots import build
from statelift.state_ops.checks import run_checks
from statelift.state_ops.inventory import inventory
from statelift.state_ops.verify import verify

from .lifting import entries, lift, one_state, plan_of
from .making import UID, Made, savepoint
from .test_wide_times import TIMES

LONG, STRING = build.scalar("Long"), build.scalar("String")
ONE, TWO, THREE = (i.to_bytes(8, "big") for i in (1, 2, 3))
#: ``StringValue``: the count and one, then a varint for each UTF-16 unit. The second is "a", U+D83D, "z".
AB, ODD, NULL = bytes.fromhex("036162"), bytes.fromhex("0461bdb0037a"), b"\0"
NEVER = bytes.fromhex(TIMES["LocalDate"][1].replace(" ", ""))
TODAY = bytes.fromhex(TIMES["LocalDate"][0].replace(" ", ""))
HALF = "a string has half of a surrogate pair or is no UTF-8, and no column of text holds it"
FAR = "a time is beyond what its Arrow column holds; wide_times (--wide-times, in a plan wide_times: true)"


def made(folder: Path) -> Path:
    return savepoint(
        folder,
        LONG,
        Made(name="text", value=STRING, entries={ONE: AB, TWO: ODD, THREE: NULL}),
        Made(name="list", value=STRING, kind="LIST", entries={ONE: AB + b"," + ODD, TWO: AB}),
        Made(
            name="map",
            value=build.map_of(STRING, build.scalar("LocalDate")),
            kind="MAP",
            entries={ONE + AB: b"\0" + TODAY, ONE + b"\x02\x63": b"\0" + NEVER, TWO + AB: b"\1"},
        ),
        Made(name="date", value=build.scalar("LocalDate"), entries={ONE: TODAY, TWO: NEVER}),
    )


def opened(folder: Path, **options: Any) -> statelift.Snapshot:
    return statelift.open(str(folder), uids=[UID], **options)


def table(snapshot: statelift.Snapshot, name: str) -> list[tuple[Any, ...]]:
    """Key, value and bytes of the rows, by key."""
    rows = snapshot.state(UID, name).to_arrow().to_pylist()
    return sorted((row["key"], str(row["value"]), row["undecoded"]) for row in rows)


def test_only_their_rows_are_bytes(tmp_path: Path) -> None:
    snapshot = opened(made(tmp_path))
    assert table(snapshot, "text") == [(1, "ab", None), (2, "None", ODD), (3, "None", None)]
    assert table(snapshot, "list") == [(1, "None", AB + b"," + ODD), (2, "['ab']", None)]
    assert table(snapshot, "map") == [
        (1, "2024-02-29", None),
        (1, "None", b"\0" + NEVER),
        (2, "None", None),
    ]
    assert table(snapshot, "date") == [(1, "2024-02-29", None), (2, "None", NEVER)]
    wide = opened(tmp_path, wide_times=True).state(UID, "date").to_arrow()
    assert "undecoded" not in wide.schema.names
    assert wide["value"].null_count == 0


def test_they_are_counted_with_what_to_do(tmp_path: Path) -> None:
    [operator] = inventory(opened(made(tmp_path)))
    assert operator.problems == ()
    found = {state.name: state for state in operator.states}
    assert {name: state.undecoded for name, state in found.items()} == dict.fromkeys(found, 1)
    assert all(state.damaged == state.null_keys == 0 for state in found.values())
    said = "1 value is only bytes, in the column undecoded: "
    assert [found[name].not_decoded for name in ("text", "list")] == 2 * [(said + HALF,)]
    assert all(found[name].not_decoded[0].startswith(said + FAR) for name in ("map", "date"))
    notes = list(verify(opened(tmp_path)))  # which reads times in their parts
    assert [(note.severity, note.where.state, note.what) for note in notes] == [
        ("unchecked", name, said + HALF) for name in ("text", "list")
    ]


CHANGES: dict[str, dict[str, Any]] = {
    "set": {"set": {"value": "upper(value)"}},
    "where": {"delete": {"where": "value = 'ab'"}},
    "select": {"select": f'SELECT key, upper(value) AS value FROM "{UID}"."text"'},
    "whole select": {
        "select": f'SELECT key, upper(value) AS value, undecoded FROM "{UID}"."text" WHERE (SELECT true)'
    },
}


@pytest.mark.parametrize("target", ["canonical", "rocksdb"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_plan_keeps_their_bytes(tmp_path: Path, change: str, target: str) -> None:
    source = made(tmp_path / "source")
    plan = plan_of(source, tmp_path / "out", one_state(UID, "text", **CHANGES[change]), format=target)
    report = lift(source, tmp_path / "out", one_state(UID, "text", **CHANGES[change]), format=target)
    assert [check for check in run_checks(plan, report) if not check.passed] == []
    before, after = (entries(opened(url)) for url in (source, tmp_path / "out"))
    held = sorted(after.pop((UID, "text")).values())
    assert held == sorted([ODD, NULL] if change == "where" else [b"\x03AB", ODD, NULL])
    assert before.pop((UID, "text"))
    assert before == after


def test_a_new_value_takes_their_place(tmp_path: Path) -> None:
    source = made(tmp_path / "source")
    change = one_state(UID, "text", set={"value": "'new'"}, where="undecoded IS NOT NULL")
    lift(source, tmp_path / "out", change)
    assert table(opened(tmp_path / "out"), "text") == [(1, "ab", None), (2, "new", None), (3, "None", None)]


@pytest.mark.parametrize(
    "change",
    [
        {"set": {"value": "'new'"}, "where": "value IS NULL"},
        {"set": {"value": "coalesce(value, 'new')"}},
        {"delete": {"where": "state.value IS NULL"}},
    ],
)
def test_what_looks_at_values_leaves_those_that_are_not_known(tmp_path: Path, change: dict[str, Any]) -> None:
    """To the query such a value is null, but it is none."""
    source = made(tmp_path / "source")
    lift(source, tmp_path / "out", one_state(UID, "text", **change))
    rows = table(opened(tmp_path / "out"), "text")
    assert rows[:2] == table(opened(source), "text")[:2]
    assert rows[2:] == ([] if "delete" in change else [(3, "new", None)])


def whole(columns: str, where: str = "true") -> dict[str, Any]:
    query = f'SELECT {columns} FROM "{UID}"."text" WHERE {where} AND (SELECT true)'
    return one_state(UID, "text", select=query)


def test_a_whole_select_does_not_write_nulls_over_them(tmp_path: Path) -> None:
    source = made(tmp_path / "source")
    with pytest.raises(PlanError, match=r"writes nulls over 1 values that are not decoded.*column undecoded"):
        lift(source, tmp_path / "out", whole("key, value"))
    lift(source, tmp_path / "left", whole("key, value", "undecoded IS NULL"))
    assert [row[0] for row in table(opened(tmp_path / "left"), "text")] == [1, 3]
    lift(source, tmp_path / "moved", whole("key + 10 AS key, value, undecoded"))
    assert table(opened(tmp_path / "moved"), "text")[1] == (12, "None", ODD)


def test_a_whole_select_does_not_take_other_bytes_for_them(tmp_path: Path) -> None:
    source = made(tmp_path / "source")
    foreign = whole("key, NULL AS value, '\\x00\\x01'::BLOB AS undecoded")
    with pytest.raises(PlanError, match="3 values in the column undecoded that are none of the state's own"):
        lift(source, tmp_path / "out", foreign)


def test_such_a_key_is_null_and_hides_no_other(tmp_path: Path) -> None:
    source = savepoint(
        tmp_path / "source",
        STRING,
        Made(name="v", value=LONG, entries={AB: ONE}),
        Made(name="odd", value=LONG, entries={ODD: TWO, AB: ONE}, kind="VALUE"),
        key_group=7,
    )
    snapshot = opened(source)
    rows = snapshot.state(UID, "odd").to_arrow().to_pylist()
    assert {row["value"]: row["key"] for row in rows} == {1: "ab", 2: None}
    [operator] = inventory(snapshot)
    found = {state.name: state for state in operator.states}
    assert (found["odd"].null_keys, found["v"].null_keys) == (1, 0)
    assert found["odd"].not_decoded == (f"1 key is null, its bytes stay as they are: {HALF}",)
    assert found["odd"].damaged == 0

    lift(source, tmp_path / "out", one_state(UID, "odd", set={"value": "value + 40"}))
    before, after = (entries(opened(url))[UID, "odd"] for url in (source, tmp_path / "out"))
    assert before.keys() == after.keys()
    assert sorted(after.values()) == [i.to_bytes(8, "big") for i in (41, 42)]
    with pytest.raises(
        (PlanError, EncodeError), match=r"a key of the state is not decoded: .*use set, where"
    ):
        lift(
            source,
            tmp_path / "no",
            one_state(UID, "odd", select=f'SELECT key, value FROM "{UID}"."odd" WHERE (SELECT true)'),
        )


def test_a_far_time_in_a_key_says_what_reads_it(tmp_path: Path) -> None:
    source = savepoint(
        tmp_path, build.scalar("LocalDate"), Made(name="v", value=LONG, entries={NEVER: ONE, TODAY: TWO})
    )
    assert opened(source).state(UID, "v").to_arrow()["key"].null_count == 1
    [operator] = inventory(opened(source))
    [line] = operator.states[0].not_decoded
    assert line.startswith(f"1 key is null, its bytes stay as they are: {FAR}")
    assert inventory(opened(source, wide_times=True))[0].states[0].not_decoded == ()


def test_a_whole_select_writes_map_values_without_content_as_flink_does(tmp_path: Path) -> None:
    """``NullValue`` behind the flag 0; one that is a null, behind the flag 1, is not decoded, and stays so."""
    value = build.map_of(STRING, build.scalar("NullValue"))
    held = {ONE + AB: b"\0", TWO + AB: b"\1"}
    source = savepoint(tmp_path / "source", LONG, Made(name="m", value=value, entries=held, kind="MAP"))
    query = f"""SELECT key, map_key, value, undecoded FROM "{UID}"."m"
        UNION ALL SELECT 9, 'new', NULL, NULL FROM "{UID}"."m" WHERE key = 1"""
    lift(source, tmp_path / "out", one_state(UID, "m", select=query))
    before, after = (entries(opened(url))[UID, "m"] for url in (source, tmp_path / "out"))
    [new] = after.keys() - before.keys()
    assert after == {**before, new: b"\0"}
