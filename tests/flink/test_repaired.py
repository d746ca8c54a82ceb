"""What a plan writes, in real Flink: the repaired snapshot restores, at any parallelism, to the repaired contents."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from statelift.state_ops.apply import apply
from statelift.state_ops.plan import Plan
from statelift.state_ops.report import Report

from .compare import Contents, Entry, assert_same_content, edited, users_repaired
from .flink import FlinkHarness, Restore

pytestmark = pytest.mark.flink

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SOURCES = ("hashmap-native", "rocksdb-native", "hashmap-canonical", "rocksdb-canonical")
#: A RocksDB directory is for that backend; a canonical stream is for both.
BACKENDS = {"canonical": ("rocksdb", "hashmap"), "rocksdb": ("rocksdb",)}
#: The releases whose snapshots each release restores.
READS = {"1.20.5": ("1.20.5",), "2.3.0": ("1.20.5", "2.3.0")}

REPAIR = {
    "session-tracker": {
        "states": {
            "user-state": {
                "set": {"value.lastSeenTimestamp": "0", "value.fixed": "true"},
                "where": "value.lastSeenTimestamp < 0",
            }
        }
    }
}


def expected_of(version: str, variant: str = "hashmap-canonical") -> Contents:
    contents: Contents = json.loads((GOLDEN / version / variant / "expected.json").read_text())
    return contents


def lift(source: Path, target: Path, format: str, operators: dict[str, Any], workers: int = 1) -> Report:
    plan = Plan.of({"source": str(source), "target": str(target), "format": format, "operators": operators})
    return apply(plan, workers=workers)


def restores(snapshot: Path, format: str, *parallelisms: int) -> list[Restore]:
    return [
        Restore(snapshot=snapshot, backend=backend, parallelism=parallelism)
        for backend in BACKENDS[format]
        for parallelism in parallelisms
    ]


def assert_restores_to(
    flink: FlinkHarness, expected: Contents, snapshot: Path, format: str, *parallelisms: int
) -> None:
    for found in flink.restore(restores(snapshot, format, *parallelisms)):
        assert_same_content(expected, found, same_parallelism=False)


@pytest.mark.parametrize("format", BACKENDS)
@pytest.mark.parametrize("source", SOURCES)
def test_repaired_users_are_what_flink_finds_at_any_parallelism(
    flink: FlinkHarness, tmp_path: Path, source: str, format: str
) -> None:
    for version in READS[flink.version]:
        target = tmp_path / version
        report = lift(GOLDEN / version / source / "savepoint", target, format, REPAIR)
        assert report.changed == 6
        expected = users_repaired(expected_of(version, source))
        assert_restores_to(flink, expected, target, format, 1, 2, 4)


@pytest.mark.parametrize("format", BACKENDS)
def test_at_its_own_parallelism_every_list_element_is_at_its_place(
    flink: FlinkHarness, tmp_path: Path, format: str
) -> None:
    lift(GOLDEN / flink.version / "rocksdb-native" / "savepoint", tmp_path / "out", format, REPAIR)
    as_written = [
        Restore(snapshot=tmp_path / "out", backend=backend, parallelism=2, sink_parallelism=3)
        for backend in BACKENDS[format]
    ]
    for found in flink.restore(as_written):
        assert_same_content(users_repaired(expected_of(flink.version)), found, same_parallelism=True)


@pytest.mark.parametrize("format", BACKENDS)
def test_many_shards_make_one_snapshot(flink: FlinkHarness, tmp_path: Path, format: str) -> None:
    """Streams are put together of pieces; a RocksDB directory holds the files of several pieces."""
    report = lift(
        GOLDEN / flink.version / "hashmap-canonical" / "savepoint",
        tmp_path / "out",
        format,
        REPAIR,
        workers=7,
    )
    assert report.shards == 7
    assert_restores_to(flink, users_repaired(expected_of(flink.version)), tmp_path / "out", format, 2, 3)


def test_the_newer_flink_takes_what_was_repaired_for_the_older_from_a_plan_without_a_format(
    flink: FlinkHarness, tmp_path: Path
) -> None:
    for source, format in (("rocksdb-native", "rocksdb"), ("hashmap-canonical", "canonical")):
        plan = {"source": str(GOLDEN / "1.20.5" / source / "savepoint"), "target": str(tmp_path / source)}
        apply(Plan.of({**plan, "operators": REPAIR}), workers=2)
        assert_restores_to(flink, users_repaired(expected_of("1.20.5")), tmp_path / source, format, 2)


# -- other things that a plan does to a state ------------------------------------------------------------------


@pytest.mark.parametrize("format", BACKENDS)
def test_rows_that_a_condition_deletes_are_gone(flink: FlinkHarness, tmp_path: Path, format: str) -> None:
    """Users of one status, the map entries of a low score, the timers of some keys."""
    operators = {
        "session-tracker": {
            "states": {
                "user-state": {"delete": {"where": "value.status = 'IDLE'"}},
                "_timer_state/event_user-timers": {"delete": {"where": "key LIKE 'user-1%'"}},
            }
        },
        "fraud-detector": {"states": {"fraud-scores": {"delete": {"where": "value.score < 0.5"}}}},
    }
    report = lift(
        GOLDEN / flink.version / "hashmap-native" / "savepoint", tmp_path / "out", format, operators, 3
    )

    def high_scores(entry: Entry) -> Entry | None:
        kept = [pair for pair in entry["value"]["$map"] if pair[1]["fields"]["score"] >= 0.5]
        return {**entry, "value": {"$map": kept}} if kept else None

    expected = expected_of(flink.version)
    before = expected
    expected = edited(
        expected,
        ("session-tracker", "keyed", "user-state"),
        lambda e: None if e["value"]["fields"]["status"] == "IDLE" else e,
    )
    expected = edited(
        expected,
        ("session-tracker", "timers", "user-timers/event"),
        lambda e: None if e["key"].startswith("user-1") else e,
    )
    expected = edited(expected, ("fraud-detector", "keyed", "fraud-scores"), high_scores)
    assert {state.name: state.deleted for state in report.states if state.deleted} == {
        "user-state": 20,
        "_timer_state/event_user-timers": 11,
        "fraud-scores": _scores(before) - _scores(expected),
    }
    assert_restores_to(flink, expected, tmp_path / "out", format, 1, 3)


def _scores(contents: Contents) -> int:
    entries = contents["operators"]["fraud-detector"]["keyed"]["fraud-scores"]["entries"]
    return sum(len(entry["value"]["$map"]) for entry in entries)


@pytest.mark.parametrize("format", BACKENDS)
def test_a_state_made_anew_by_queries_over_other_states(
    flink: FlinkHarness, tmp_path: Path, format: str
) -> None:
    """``recent`` becomes one element per user, how many it had; ``user-state`` loses the users whose account of
    the same number has no score of 0.9; ``last-tx-timestamp`` gets a key for each user."""
    operators = {
        "session-tracker": {
            "states": {
                "recent": {
                    "select": "SELECT key, [sum(len(value))::BIGINT] AS value FROM recent GROUP BY key"
                },
                "user-state": {
                    "select": """
                        SELECT u.key, u.value FROM "session-tracker"."user-state" u
                        WHERE replace(u.key, 'user', 'account') IN (
                            SELECT key FROM "fraud-detector"."fraud-scores" WHERE value.score >= 0.9)"""
                },
            }
        },
        "fraud-detector": {
            "states": {
                "last-tx-timestamp": {
                    "select": """
                        SELECT key, value FROM "fraud-detector"."last-tx-timestamp"
                        UNION ALL
                        SELECT key, value.lastSeenTimestamp FROM "session-tracker"."user-state" """
                }
            }
        },
    }
    source = GOLDEN / flink.version / "rocksdb-canonical" / "savepoint"
    report = lift(source, tmp_path / "out", format, operators, workers=3)

    expected = expected_of(flink.version)
    users = expected["operators"]["session-tracker"]["keyed"]["user-state"]["entries"]
    high = {
        entry["key"].replace("account", "user")
        for entry in expected["operators"]["fraud-detector"]["keyed"]["fraud-scores"]["entries"]
        if any(score["fields"]["score"] >= 0.9 for _, score in entry["value"]["$map"])
    }
    made = [{**user, "value": user["value"]["fields"]["lastSeenTimestamp"]} for user in users]
    expected = edited(
        expected, ("session-tracker", "keyed", "recent"), lambda e: {**e, "value": [len(e["value"])]}
    )
    expected = edited(
        expected, ("session-tracker", "keyed", "user-state"), lambda e: e if e["key"] in high else None
    )
    expected["operators"]["fraud-detector"]["keyed"]["last-tx-timestamp"]["entries"] += made
    assert 0 < len(high) < len(users)
    assert {state.name: (state.added, state.deleted) for state in report.states} == {
        "user-state": (0, len(users) - len(high)),
        "recent": (0, 0),
        "_timer_state/event_user-timers": (0, 0),
        "_timer_state/processing_user-timers": (0, 0),
        "last-tx-timestamp": (len(users), 0),
        "fraud-scores": (0, 0),
    }
    assert_restores_to(flink, expected, tmp_path / "out", format, 1, 3)


# -- other sources -----------------------------------------------------------------------------------------------

CHECKPOINTS = {
    "rocksdb-incremental": ("rocksdb", {}),
    "rocksdb-merged": ("rocksdb", {"execution.checkpointing.file-merging.enabled": "true"}),
    "hashmap-merged": ("hashmap", {"execution.checkpointing.file-merging.enabled": "true"}),
    "rocksdb-changelog": ("rocksdb", {"state.changelog.enabled": "true"}),
    "hashmap-changelog": ("hashmap", {"state.changelog.enabled": "true"}),
}


@pytest.mark.parametrize("kind", CHECKPOINTS)
def test_checkpoints_become_repaired_snapshots_of_either_format(
    flink: FlinkHarness, tmp_path: Path, kind: str
) -> None:
    backend, config = CHECKPOINTS[kind]
    if "state.changelog.enabled" in config:
        log = (tmp_path / "changelog").as_uri()
        config = {**config, "state.changelog.storage": "filesystem", "dstl.dfs.base-path": log}
    written = flink.write(tmp_path, backend=backend, format="checkpoint", keys=25, config=config)
    expected = users_repaired(written.expected)
    for format in BACKENDS:
        report = lift(written.path, tmp_path / format, format, REPAIR, workers=2)
        assert report.changed == math.ceil(25 / 10)
        assert_restores_to(flink, expected, tmp_path / format, format, 2)
