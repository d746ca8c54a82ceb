"""A select that looks beyond the row: run once over the snapshot, its rows are the state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from statelift.schemas.errors import EncodeError, PlanError, SqlError, StateliftError
from statelift.state_ops.checks import run_checks

from .lifting import (
    TARGETS,
    entries,
    files_below,
    golden,
    lift,
    one_line,
    one_state,
    opened,
    plan_of,
    state_report,
)

RECENT = ("session-tracker", "recent")
TIMES = ("fraud-detector", "last-tx-timestamp")


def recent(query: str) -> dict[str, Any]:
    return one_state(*RECENT, select=query)


@pytest.mark.parametrize("format", TARGETS)
@pytest.mark.parametrize("source", ["hashmap-native", "rocksdb-native"])
def test_a_query_over_two_operators_makes_a_state(tmp_path: Path, source: str, format: str) -> None:
    query = """SELECT u.key, list(s.value.timestamp ORDER BY s.map_key) AS value
        FROM "session-tracker"."user-state" u JOIN "fraud-detector"."fraud-scores" s
        ON replace(u.key, 'user', 'account') = s.key GROUP BY u.key"""
    report = lift(golden(source), tmp_path / "out", recent(query), format=format, workers=4)
    before, after = opened(golden(source)), opened(tmp_path / "out")
    expected: dict[str, list[int]] = {}
    scores = before.state("fraud-detector", "fraud-scores").to_arrow().to_pylist()
    for score in sorted(scores, key=lambda row: row["map_key"]):
        user = score["key"].replace("account", "user")
        expected.setdefault(user, []).append(score["value"]["timestamp"])
    made = {row["key"]: row["value"] for row in after.state(*RECENT).to_arrow().to_pylist()}
    assert made == expected
    old, new = entries(before), entries(after)
    assert all(old[place] == new[place] for place in old if place != RECENT)
    told = state_report(report, "recent")
    assert told.read[0] == len(old[RECENT])
    assert told.written[0] == len(new[RECENT]) == len(expected)
    assert told.added - told.deleted == len(new[RECENT]) - len(old[RECENT])
    assert 0 < len(told.samples) <= 5
    plan = plan_of(golden(source), tmp_path / "out", recent(query), format=format)
    assert all(check.passed for check in run_checks(plan, report))


@pytest.mark.parametrize("format", TARGETS)
def test_new_keys_come_into_their_key_groups(tmp_path: Path, format: str) -> None:
    """user-1, user-2 and user-3 are in the groups 121, 22 and 40 of 128; "hot" in 104, "" in 94."""
    query = "SELECT unnest(['user-1', 'user-2', 'user-3', 'hot', '']) AS key, 5::BIGINT AS value"
    report = lift(
        golden("hashmap-canonical"), tmp_path / "out", one_state(*TIMES, select=query), format=format
    )
    rows = opened(tmp_path / "out").state(*TIMES).to_arrow().to_pylist()
    groups = {row["key"]: row["key_group"] for row in rows}
    assert groups == {"user-1": 121, "user-2": 22, "user-3": 40, "hot": 104, "": 94}
    told = state_report(report, TIMES[1])
    assert (told.added, told.deleted, told.changed) == (5, 60, 0)


def test_a_query_without_rows_leaves_an_empty_state(tmp_path: Path) -> None:
    lift(golden("hashmap-canonical"), tmp_path / "out", recent("SELECT key, value FROM recent LIMIT 0"))
    assert opened(tmp_path / "out").state(*RECENT).count() == 0


def test_the_same_rows_are_no_change(tmp_path: Path) -> None:
    report = lift(
        golden("rocksdb-native"), tmp_path / "out", recent("SELECT * FROM recent ORDER BY key DESC")
    )
    assert report.changed == 0
    assert entries(opened(tmp_path / "out")) == entries(opened(golden("rocksdb-native")))


def test_every_query_sees_the_source_not_what_the_plan_makes_of_it(tmp_path: Path) -> None:
    plan = one_state("session-tracker", "user-state", delete={"where": "true"})
    plan["session-tracker"]["states"]["recent"] = {
        "select": 'SELECT key, [count(*)] AS value FROM "session-tracker"."user-state" GROUP BY key'
    }
    lift(golden("hashmap-canonical"), tmp_path / "out", plan)
    snapshot = opened(tmp_path / "out")
    assert snapshot.state("session-tracker", "user-state").count() == 0
    assert snapshot.state(*RECENT).count() == 60


def test_timers_can_be_made_from_state(tmp_path: Path) -> None:
    query = 'SELECT key, 1000 + max(value) AS timestamp FROM "last-tx-timestamp" GROUP BY key'
    place = ("session-tracker", "_timer_state/event_user-timers")
    report = lift(golden("hashmap-canonical"), tmp_path / "out", one_state(*place, select=query), workers=3)
    times = opened(golden("hashmap-canonical")).state(*TIMES).to_arrow().to_pylist()
    timers = opened(tmp_path / "out").state(*place).to_arrow().to_pylist()
    assert {(t["key"], t["timestamp"]) for t in timers} == {(t["key"], t["value"] + 1000) for t in times}
    assert (state_report(report, place[1]).added, state_report(report, place[1]).deleted) == (60, 60)


REFUSED: list[tuple[dict[str, Any], type[StateliftError], str]] = [
    (recent("SELECT 'a' AS key, [1] AS value FROM recent"), EncodeError, "several rows for one key"),
    (recent("SELECT key FROM recent ORDER BY key"), PlanError, "the select gives no column 'value'"),
    (recent("SELECT value FROM recent ORDER BY 1"), PlanError, "the select gives no column 'key'"),
    (recent("SELECT NULL AS key, max(value) AS value FROM recent"), EncodeError, "null"),
    (recent("SELECT key, any_value('x') AS value FROM recent GROUP BY key"), EncodeError, "value"),
    (recent("SELECT key, max(nothing) AS value FROM recent GROUP BY key"), SqlError, "nothing"),
    (recent("SELECT key, value FROM no_such_state ORDER BY key"), StateliftError, "no_such_state"),
    (one_state(*TIMES, select="SELECT key, max(NULL::BIGINT) AS value FROM recent GROUP BY key"), EncodeError, "null"),
]  # fmt: skip


@pytest.mark.parametrize(("operators", "kind", "message"), REFUSED)
def test_a_query_whose_rows_cannot_be_the_state_is_refused_and_nothing_is_left(
    tmp_path: Path, operators: dict[str, Any], kind: type[StateliftError], message: str
) -> None:
    with pytest.raises(kind) as caught:
        lift(golden("hashmap-canonical"), tmp_path / "out", operators)
    text = one_line(caught.value)
    assert message in text
    [(operator, states)] = operators.items()
    assert f"operator {operator}" in text
    assert f"state {next(iter(states['states']))}" in text
    assert files_below(tmp_path) == set()
