"""A plan run from snapshot to snapshot: what it names is changed, and nothing else is, to the byte."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest
from statelift.io.metadata import StreamUse, read_metadata, streams
from statelift.io.streams import StateStream
from statelift.state_ops.checks import run_checks
from statelift.state_ops.report import Report
from statelift.state_ops.snapshot import Operator, Snapshot
from statelift.state_ops.states import KeyedState

from .lifting import (
    GOLDEN,
    REPAIR,
    SOURCES,
    TARGETS,
    entries,
    files_below,
    golden,
    lift,
    one_state,
    opened,
    plan_of,
    state_report,
)

STATES = {
    ("fraud-detector", "last-tx-timestamp"),
    ("fraud-detector", "fraud-scores"),
    ("session-tracker", "user-state"),
    ("session-tracker", "recent"),
    ("session-tracker", "_timer_state/event_user-timers"),
}


def rows(snapshot: Snapshot, operator: str, state: str) -> list[dict[str, Any]]:
    table = snapshot.state(operator, state).to_arrow()
    return sorted(table.to_pylist(), key=lambda row: str(row["key"]) + str(row.get("map_key")))


@pytest.mark.parametrize("format", TARGETS)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("version", ["1.20.5", "2.3.0"])
def test_the_rows_that_the_condition_holds_for_are_changed_and_no_others(
    tmp_path: Path, version: str, source: str, format: str
) -> None:
    report = lift(golden(source, version), tmp_path / "out", REPAIR, format=format)
    before, after = opened(golden(source, version)), opened(tmp_path / "out")
    old, new = entries(before), entries(after)
    assert set(old) == set(new)
    assert {state for state, held in old.items() if held} == STATES
    users = ("session-tracker", "user-state")
    assert all(old[state] == new[state] for state in old if state != users)
    assert old[users].keys() == new[users].keys()
    assert sum(old[users][key] != new[users][key] for key in old[users]) == 6
    for was, now in zip(rows(before, *users), rows(after, *users), strict=True):
        if was["value"]["lastSeenTimestamp"] < 0:
            was["value"] |= {"lastSeenTimestamp": 0, "fixed": True}
        assert was == now

    changed = state_report(report, "user-state")
    assert (changed.changed, changed.deleted, changed.added, changed.read[0]) == (6, 0, 0, 60)
    assert [(a["value"]["fixed"], b["value"]["fixed"]) for a, b in changed.samples if a and b] == [
        (False, True)
    ] * 5
    for state in report.states:
        assert (state.read == state.written) == (state.name != "user-state")
    assert all(check.passed for check in run_checks(plan_of(golden(source), tmp_path / "out"), report))


@pytest.mark.parametrize("source", SOURCES)
def test_what_the_plan_does_not_name_is_carried_over_to_the_byte(tmp_path: Path, source: str) -> None:
    kinds = {"format": "canonical"} if source == "hashmap-native" else {}
    report = lift(golden(source), tmp_path / "out", REPAIR, **kinds)
    before, after = opened(golden(source)), opened(tmp_path / "out")
    rewritten = {o.id for o in report.operators if o.action != "carried over"}
    assert before.operator("session-tracker").id in rewritten
    assert len(rewritten) < len(before.operators)
    assert_carried(before, after, rewritten)
    assert_frame(before, after)


def assert_carried(before: Snapshot, after: Snapshot, rewritten: set[str]) -> None:
    """Every stream but the managed keyed ones of ``rewritten`` operators: same use, same bytes, same place kind."""

    def kept(use: StreamUse) -> bool:
        return not (use.kind == "managed keyed" and use.operator.uid_hash in rewritten)

    old, new = [
        [_content(s, use) for use in streams(s.metadata) if kept(use) and _opened(s, use).size]
        for s in (before, after)
    ]
    assert old == new
    for a, b in zip(before.metadata.operator_states, after.metadata.operator_states, strict=True):
        for one, other in zip(a.subtask_states, b.subtask_states, strict=True):
            for name in ("managed_operator_state", "raw_operator_state"):
                assert _offsets(getattr(one, name)) == _offsets(getattr(other, name))


def _content(snapshot: Snapshot, use: StreamUse) -> tuple[object, ...]:
    stream = _opened(snapshot, use)
    digest = hashlib.sha256(stream.read(0, stream.size)).hexdigest()
    return use.kind, use.operator.uid_hash, use.subtask_index, digest


def _opened(snapshot: Snapshot, use: StreamUse) -> StateStream:
    return snapshot.opener.open(use.handle, "a stream")


def _offsets(handle: Any) -> object:
    return (handle and handle.state_name_to_partition_offsets) or None


def assert_frame(before: Snapshot, after: Snapshot) -> None:
    """What is of the job as a whole: ids, parallelism, names, coordinators, finished flags."""
    assert after.metadata.version == before.metadata.version
    assert after.checkpoint_id == before.checkpoint_id
    assert after.metadata.master_states == before.metadata.master_states
    assert [_frame(o) for o in after.operators] == [_frame(o) for o in before.operators]


def _frame(operator: Operator) -> tuple[object, ...]:
    meta = operator.meta
    return (
        operator.id,
        operator.uid,
        operator.name,
        meta.parallelism,
        meta.max_parallelism,
        meta.coordinator_state,
        meta.fully_finished,
        [(s.subtask_index, s.finished) for s in meta.subtask_states],
    )


@pytest.mark.parametrize("source", SOURCES)
def test_a_plan_that_changes_nothing_copies_the_snapshot(tmp_path: Path, source: str) -> None:
    report = lift(golden(source), tmp_path / "out")
    assert (report.shards, report.changed, report.states) == (0, 0, [])
    assert {operator.action for operator in report.operators} == {"carried over"}
    before, after = opened(golden(source)), opened(tmp_path / "out")
    assert_carried(before, after, set())
    assert_frame(before, after)
    assert files_below(tmp_path / "out") == {"_metadata", *(file.name for file in report.carried)}


@pytest.mark.parametrize("source", SOURCES)
def test_from_format_to_format_and_back_the_entries_stay(tmp_path: Path, source: str) -> None:
    places = [golden(source), tmp_path / "1", tmp_path / "2", tmp_path / "3"]
    reports: list[Report] = []
    for here, there, format in zip(places, places[1:], ("canonical", "rocksdb", "canonical"), strict=False):
        reports.append(lift(here, there, format=format, workers=3))
    assert all(entries(opened(place)) == entries(opened(places[0])) for place in places[1:])
    converted = [
        {state.name: state.written for state in report.states} for report in reports if report.states
    ]
    assert all(digests == converted[-1] for digests in converted)
    assert {name for _, name in STATES} <= set(converted[-1])


def test_a_canonical_stream_is_what_flink_wrote(tmp_path: Path) -> None:
    """The entries of a key group in Flink's order; only what the header says of compression may differ."""
    report = lift(golden("rocksdb-native"), tmp_path / "native", format="canonical")
    flink = opened(golden("rocksdb-canonical"))
    for operator in opened(tmp_path / "native").operators:
        theirs = flink.operator(operator.label).keyed_backends
        for subtask, backend in operator.keyed_backends.items():
            ours, other = backend.stream, theirs[subtask].stream
            assert ours is not None
            assert other is not None
            assert ours.read(0, ours.size) == other.read(0, other.size)
            assert list(backend.offsets) == list(theirs[subtask].offsets)
    assert report.carried == []


@pytest.mark.parametrize("format", TARGETS)
@pytest.mark.parametrize("workers", [2, 7, 30])
def test_the_number_of_shards_makes_no_difference_to_the_content(
    tmp_path: Path, workers: int, format: str
) -> None:
    one = lift(golden("rocksdb-native"), tmp_path / "one", REPAIR, format=format)
    many = lift(golden("rocksdb-native"), tmp_path / "many", REPAIR, format=format, workers=workers)
    assert (one.shards, many.shards) == (1, workers)
    assert [(s.name, s.read, s.written) for s in one.states] == [
        (s.name, s.read, s.written) for s in many.states
    ]
    assert entries(opened(tmp_path / "one")) == entries(opened(tmp_path / "many"))
    if format == "canonical":
        assert _streams(tmp_path / "one") == _streams(tmp_path / "many")
    assert not [name for name in files_below(tmp_path / "many") if "statelift" in name]


def _streams(folder: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in folder.iterdir() if path.name != "_metadata")


def test_nothing_but_the_snapshot_is_in_the_target(tmp_path: Path) -> None:
    for format in TARGETS:
        lift(golden("hashmap-native"), tmp_path / format, REPAIR, format=format, workers=7)
        metadata = read_metadata((tmp_path / format / "_metadata").read_bytes(), "_metadata")
        referenced = {getattr(use.handle, "relative_path", None) for use in streams(metadata)} - {None}
        assert {path.name for path in (tmp_path / format).iterdir()} == {"_metadata", *referenced}


def test_a_snapshot_can_be_moved_after_it_is_written(tmp_path: Path) -> None:
    for format in TARGETS:
        lift(golden("rocksdb-native"), tmp_path / "here" / format, format=format)
        expected = entries(opened(tmp_path / "here" / format))
        shutil.move(tmp_path / "here" / format, tmp_path / "there" / format)
        assert entries(opened(tmp_path / "there" / format)) == expected


@pytest.mark.parametrize("format", TARGETS)
def test_a_state_that_loses_every_row_is_there_and_empty(tmp_path: Path, format: str) -> None:
    plan = one_state("fraud-detector", "last-tx-timestamp", delete={"where": "true"})
    report = lift(golden("hashmap-canonical"), tmp_path / "out", plan, format=format, workers=2)
    assert state_report(report, "last-tx-timestamp").deleted == 60
    state = opened(tmp_path / "out").state("fraud-detector", "last-tx-timestamp")
    assert isinstance(state, KeyedState)
    assert (state.count(), len(state.parts)) == (0, 2)
    plan["fraud-detector"]["states"]["fraud-scores"] = {"delete": {"where": "true"}}
    lift(golden("hashmap-canonical"), tmp_path / "none", plan, format=format, workers=2)
    left = entries(opened(tmp_path / "none"))
    assert left["fraud-detector", "fraud-scores"] == left["fraud-detector", "last-tx-timestamp"] == {}
    assert len(left["session-tracker", "user-state"]) == 60


def test_progress_is_told_to_the_end(tmp_path: Path) -> None:
    from statelift.state_ops.apply import apply

    told: list[tuple[int, int]] = []
    plan = plan_of(golden("rocksdb-native"), tmp_path / "out", REPAIR, format="canonical")
    apply(plan, workers=3, progress=lambda done, total: told.append((done, total)))
    [total] = {total for _, total in told}
    assert sum(done for done, _ in told) == total > 0


def test_golden_data_is_all_there() -> None:
    assert {path.parent.name for path in GOLDEN.glob("2.3.0/*/savepoint")} == set(SOURCES)
