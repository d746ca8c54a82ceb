"""Savepoints of Flink's own migration tests, 1.8 to 2.2, hold what those tests put in (the corpus's README)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import statelift

SAVEPOINTS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "savepoints"
UIDS = (
    *("CheckpointingSource1", "CheckpointingSource2", "BrProcess1", "BrProcess2"),
    *("CheckpointingKeyedStateFlatMap1", "CheckpointingKeyedStateFlatMap2"),
    *("CheckpointingTimelyStatefulOperator1", "CheckpointingTimelyStatefulOperator2"),
    *("keyed-state-process-uid", "keyed-state-process-uid-null"),
    *("keyed-broadcast-process-uid", "broadcast-source-uid"),
)
KEYED = "keyed-state-process-uid"


def named(start: str) -> list[Any]:
    return [pytest.param(path, id=path.name) for path in sorted(SAVEPOINTS.glob(start + "*"))]


def opened(path: Path) -> statelift.Snapshot:
    return statelift.open(str(path), uids=UIDS)


def rows(snapshot: statelift.Snapshot, uid: str, state: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = snapshot.state(uid, state).to_arrow().to_pylist()
    return found


def by_key(snapshot: statelift.Snapshot, uid: str, state: str) -> dict[Any, Any]:
    """The values by key, each of which comes once."""
    found = rows(snapshot, uid, state)
    result = {row["key"]: row["value"] for row in found}
    assert len(result) == len(found)
    return result


# -- table-state -------------------------------------------------------------------------------------------


@pytest.fixture
def table_state(corpus: Path) -> statelift.Snapshot:
    return opened(corpus / "savepoints" / "table-state")


def test_table_state_has_seven_operators(table_state: statelift.Snapshot) -> None:
    assert table_state.checkpoint_id == 10
    assert len(table_state.operators) == 7
    assert table_state.operator(KEYED).id == "928f3b38bde6af749ed4cb45aa1237db"
    source = table_state.operator("broadcast-source-uid")
    assert source.id == "3a6f51704798c4f418be51bfb6813b77"
    assert (source.parallelism, source.max_parallelism) == (1, 128)
    keyed = table_state.operator("keyed-broadcast-process-uid")
    assert keyed.id == "413c1d6f88ee8627fe4b8bc533b4cf1b"
    assert (keyed.parallelism, keyed.max_parallelism) == (2, 128)
    assert len(keyed.meta.subtask_states) == 2


def test_table_state_of_primitives(table_state: statelift.Snapshot) -> None:
    assert by_key(table_state, KEYED, "KeyedPrimitiveValue") == dict.fromkeys(range(10), 1)
    lists = by_key(table_state, KEYED, "KeyedPrimitiveValueList")
    assert {key: values[0] for key, values in lists.items()} == {key: key for key in range(10)}
    maps = [(m["key"], m["map_key"], m["value"]) for m in rows(table_state, KEYED, "KeyedPrimitiveValueMap")]
    assert sorted(maps) == [(k, str(k), k) for k in range(10)]


def test_table_state_of_pojos(table_state: statelift.Snapshot) -> None:
    pojo = {"privateLong": 1, "publicLong": 1}
    assert by_key(table_state, KEYED, "KeyedPojoValue") == dict.fromkeys(range(10), pojo)


def test_table_state_in_flinks_key_groups(table_state: statelift.Snapshot) -> None:
    groups = {row["key"]: row["key_group"] for row in rows(table_state, KEYED, "KeyedPrimitiveValue")}
    assert groups[1] == 86


def test_table_state_nulls(corpus: Path) -> None:
    snapshot = opened(corpus / "savepoints" / "table-state-nulls")
    values = by_key(snapshot, "keyed-state-process-uid-null", "total")
    both = {1: 1, 2: None, 3: None, 4: 4, 5: 5}
    assert values == {key: {"privateLong": one, "publicLong": one} for key, one in both.items()}


# -- new-stateful-udf-migration-itcase -----------------------------------------------------------------------


@pytest.mark.parametrize("path", named("new-stateful-udf"))
def test_keyed_state_of_the_udf_job(path: Path) -> None:
    snapshot = opened(path)
    for number in "12":
        operator = snapshot.operator("CheckpointingKeyedStateFlatMap" + number)
        assert (operator.parallelism, operator.max_parallelism) == (4, 4)
        found = rows(snapshot, operator.label, "state-name")
        assert sorted((row["key"]["f0"], row["value"]) for row in found) == [(k, k) for k in range(4)]


@pytest.mark.parametrize("path", named("new-stateful-udf"))
def test_timers_of_the_udf_job(path: Path) -> None:
    """State and timers have the key as the namespace too."""
    snapshot = opened(path)
    for number in "12":
        uid = "CheckpointingTimelyStatefulOperator" + number
        found = rows(snapshot, uid, "state-name")
        assert sorted((row["key"]["f0"], row["namespace"], row["value"]) for row in found) == [
            (k, k, k) for k in range(4)
        ]
        for domain in ("event", "processing"):
            timers = rows(snapshot, uid, f"_timer_state/{domain}_timer")
            assert sorted((t["key"]["f0"], t["namespace"]) for t in timers) == [(k, k) for k in range(4)]
            assert {timer["domain"] for timer in timers} == {domain}


@pytest.mark.parametrize("path", named("new-stateful-"))
def test_sources_of_the_udf_jobs(path: Path) -> None:
    snapshot = opened(path)
    for uid, kind in (("CheckpointingSource1", "split"), ("CheckpointingSource2", "union")):
        assert snapshot.state(uid, "source-state").kind == kind
        values = [row["value"] for row in rows(snapshot, uid, "source-state")]
        assert values[0] == "Here be dragons!"
        assert all(value.startswith("Here be ") and value.endswith("dragons!") for value in values)


# -- new-stateful-broadcast-udf-migration-itcase ---------------------------------------------------------------


@pytest.mark.parametrize("path", named("new-stateful-broadcast-udf"))
def test_broadcast_states_of_the_udf_job(path: Path) -> None:
    snapshot = opened(path)
    expected = {
        ("BrProcess1", "broadcast-state-1"): [(k, k) for k in range(4)],
        ("BrProcess1", "broadcast-state-2"): [(str(k), k) for k in range(4)],
        ("BrProcess2", "broadcast-state-3"): [(k, str(k)) for k in range(4)],
    }
    for (uid, name), entries in expected.items():
        assert snapshot.operator(uid).max_parallelism == 4
        assert sorted((row["map_key"], row["value"]) for row in rows(snapshot, uid, name)) == entries
