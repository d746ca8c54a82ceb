"""What counts as the same content, and what a repair of the golden savepoints should give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .compare import Contents, assert_same_content, edited, users_repaired, without

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def contents(section: str, entries: list[dict[str, Any]], kind: str | None = None) -> Contents:
    table = {"entries": entries} if kind is None else {"kind": kind, "entries": entries}
    return {"parallelism": 2, "operators": {"op": {section: {"state": table}}}}


def elements(*values: tuple[int, int, str]) -> list[dict[str, Any]]:
    return [{"subtask": subtask, "pos": pos, "value": value} for subtask, pos, value in values]


def same(expected: Contents, restored: Contents, *, same_parallelism: bool = False) -> bool:
    try:
        assert_same_content(expected, restored, same_parallelism=same_parallelism)
    except AssertionError:
        return False
    return True


def test_the_order_of_keyed_entries_does_not_matter_but_their_number_does() -> None:
    a, b = {"key": "a", "value": 1}, {"key": "b", "value": 2}
    wanted = contents("keyed", [a, b], "value")
    assert same(wanted, contents("keyed", [b, a], "value"))
    assert not same(wanted, contents("keyed", [a, b, b], "value"))
    assert not same(wanted, contents("keyed", [a], "value"))
    assert not same(wanted, contents("keyed", [a, b], "list"))


def test_split_elements_may_move_only_when_the_parallelism_changes() -> None:
    wanted = contents("operator", elements((0, 0, "x"), (1, 0, "y")), "split")
    moved = contents("operator", elements((0, 0, "y"), (0, 1, "x")), "split")
    assert same(wanted, moved)
    assert not same(wanted, moved, same_parallelism=True)
    assert not same(wanted, contents("operator", elements((0, 0, "x")), "split"))


def test_each_subtask_finds_the_whole_of_a_union_list() -> None:
    wanted = contents("operator", elements((0, 0, "x"), (1, 0, "y")), "union")
    whole = elements((0, 0, "x"), (0, 1, "y"), (1, 0, "y"), (1, 1, "x"))
    assert same(wanted, contents("operator", whole, "union"))
    assert not same(wanted, contents("operator", whole[:3], "union"))


def test_each_subtask_finds_the_whole_broadcast_state() -> None:
    def copy(subtask: int, value: int = 1) -> dict[str, Any]:
        return {"subtask": subtask, "key": "k", "value": value}

    wanted = contents("broadcast", [copy(0)])
    assert same(wanted, contents("broadcast", [copy(0), copy(1)]))
    assert not same(wanted, contents("broadcast", [copy(0)]))
    assert not same(wanted, contents("broadcast", [copy(0), copy(1, value=2)]))


def test_an_event_time_timer_must_be_there_and_fire() -> None:
    timer = {"key": "a", "ns": None, "kg": 1, "ts": 5}
    timers = {"user-timers/event": {"entries": [timer]}}
    silent = {"parallelism": 2, "operators": {"op": {"timers": timers}}}
    fired = {"parallelism": 2, "operators": {"op": {"timers": timers, "fired": timers}}}
    assert same(silent, fired)
    assert not same(silent, silent)


def test_a_difference_names_operator_section_and_state() -> None:
    with pytest.raises(AssertionError, match=r"^op / keyed / state: 1 expected, 0 found; 1 missing: .*\"a\""):
        assert_same_content(
            contents("keyed", [{"key": "a", "value": 1}], "value"),
            {"parallelism": 2, "operators": {}},
            same_parallelism=True,
        )


def test_edits_leave_the_original_as_it_was() -> None:
    original = contents("keyed", [{"key": "a", "value": 1}], "value")
    removed = edited(original, ("op", "keyed", "state"), lambda entry: None)
    assert removed["operators"]["op"]["keyed"]["state"]["entries"] == []
    assert without(original, "op")["operators"] == {}
    assert len(original["operators"]["op"]["keyed"]["state"]["entries"]) == 1


@pytest.mark.parametrize("folder", sorted(GOLDEN.glob("*/*-*")), ids=lambda f: f"{f.parent.name}-{f.name}")
def test_every_tenth_user_of_the_golden_savepoints_is_corrupt_until_repaired(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text())
    assert corrupt_users(expected) == [f"user-{i}" for i in range(0, 60, 10)]
    assert corrupt_users(users_repaired(expected)) == []


def corrupt_users(contents: Contents) -> list[str]:
    users = contents["operators"]["session-tracker"]["keyed"]["user-state"]["entries"]
    return [e["key"] for e in users if e["value"]["fields"]["lastSeenTimestamp"] < 0]
