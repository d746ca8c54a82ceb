"""Snapshots of other jobs and releases, rewritten in both formats: the same entries, everything else carried over."""

from __future__ import annotations

from pathlib import Path

import pytest
from statelift.io.keyed.backend import KeyedBackend
from statelift.schemas.errors import StateliftError
from statelift.state_ops.checks import run_checks
from statelift.state_ops.digest import Digest
from statelift.state_ops.job import prepare
from statelift.state_ops.plan import Plan
from statelift.state_ops.snapshot import Snapshot, open_snapshot
from statelift.state_ops.states import KeyedState

from .lifting import TARGETS, entries, lift, one_line, one_state, plan_of
from .test_apply import assert_carried, assert_frame

pytestmark = pytest.mark.corpus

KNOWN = (
    "1.16.3/scenario-hashmap-canonical-jm",
    "1.16.3/scenario-rocksdb-native-files",
    "1.16.3/scenario-hashmap-canonical-maxp4",
    "1.16.3/scenario-rocksdb-chk-incr",
    "1.16.3/timers-rocksdb-canonical-heaptimers",
    "1.16.3/collections-hashmap-native",
    "1.16.3/windows-rocksdb-canonical",
    "1.20.5/collections-changelog-hashmap-chk",
    "1.20.5/collections-changelog-hashmap-chk-dstl",
    "1.20.5/collections-changelog-rocksdb-chk-mat",
    "1.20.5/timers-changelog-rocksdb-chk",
    "1.20.5/collections-hashmap-canonical-snappy",
    "1.20.5/collections-hashmap-native-snappy",
    "1.20.5/types-hashmap-canonical-snappy",
    "1.20.5/finished-hashmap-canonical",
    "1.20.5/finished-hashmap-chk",
    "1.20.5/scenario-hashmap-chk-merged",
    "1.20.5/scenario-rocksdb-chk-incr-merged",
    "1.20.5/sql-join-rocksdb-native",
    "1.20.5/sql-window-hashmap-canonical",
    "2.0.2/broadcast-hashmap-canonical",
    "2.0.2/opstate-hashmap-canonical",
    "2.0.2/source-hashmap-canonical",
    "2.0.2/keys-rocksdb-canonical",
    "2.0.2/scenario-forst-native",
    "2.0.2/scenario-rocksdb-native-incr",
    "2.0.2/timers-hashmap-native",
    "2.0.2/types-rocksdb-canonical",
)


def metadata_of(entry: Path) -> Path:
    [found] = [*entry.glob("savepoint-*/_metadata"), *entry.glob("checkpoints/*/chk-*/_metadata")]
    return found.parent


def digests(snapshot: Snapshot) -> dict[tuple[str, str], Digest]:
    """The digest of every state in managed keyed backends."""
    found: dict[tuple[str, str], Digest] = {}
    for operator in snapshot.operators:
        for state in operator.states:
            if isinstance(state, KeyedState):
                for backend, number in state.parts:
                    if backend.format == "timers":
                        continue
                    place = operator.id, state.name
                    found[place] = found.get(place, Digest()) + _digest(backend, number)
    return found


def _digest(backend: KeyedBackend, number: int) -> Digest:
    windows = backend.windows(None, frozenset((number,)))
    return sum((Digest.of(window[number]) for window in windows), Digest())


@pytest.mark.parametrize("format", TARGETS)
@pytest.mark.parametrize("name", KNOWN)
def test_a_known_snapshot_keeps_its_entries_in_another_format(
    corpus: Path, tmp_path: Path, name: str, format: str
) -> None:
    from statelift.state_ops.apply import apply_job

    plan = plan_of(metadata_of(corpus / "known" / name), tmp_path / "out", format=format)
    job = prepare(plan)
    report = apply_job(job, workers=2)
    after = open_snapshot(str(tmp_path / "out"))
    assert digests(after) == digests(job.snapshot)
    backends = [b for operator in after.operators for b in operator.keyed_backends.values()]
    assert {backend.format for backend in backends} <= {format}
    assert not any(operator.problems for operator in after.operators)
    rewritten = {operator.id for operator in report.operators if operator.action != "carried over"}
    assert bool(rewritten) == bool(job.work)
    assert_carried(job.snapshot, after, rewritten)
    assert_frame(job.snapshot, after)
    assert [check.what for check in run_checks(plan, report) if not check.passed] == []


# -- the case of one job run twice ---------------------------------------------------------------------------------

PAIR = "new-stateful-udf-migration-itcase-flink{}-{}-savepoint"


@pytest.mark.parametrize("version", ["1.16", "1.20", "2.0"])
def test_the_same_job_on_heap_and_on_rocksdb_gives_the_same_tables(
    corpus: Path, tmp_path: Path, version: str
) -> None:
    heap, rocksdb = (corpus / "savepoints" / PAIR.format(version, kind) for kind in ("hashmap", "rocksdb"))
    if not (heap.is_dir() and rocksdb.is_dir()):
        pytest.skip(f"the corpus has no pair of {version}")
    one, other = open_snapshot(str(heap)), open_snapshot(str(rocksdb))
    lift(heap, tmp_path / "rocksdb", format="rocksdb")
    lift(tmp_path / "rocksdb", tmp_path / "back", format="canonical")
    back, over = open_snapshot(str(tmp_path / "back")), open_snapshot(str(tmp_path / "rocksdb"))
    compared = 0
    for operator in one.operators:
        for state in operator.states:
            if not isinstance(state, KeyedState):
                continue
            here = _rows(one, operator.id, state.name)
            assert here == _rows(over, operator.id, state.name) == _rows(back, operator.id, state.name)
            there = _rows(other, operator.id, state.name)
            if "processing" in state.name:
                assert len(here) == len(there)
            else:
                assert here == there
            compared += len(here)
    assert compared
    assert entries(one) == entries(over) == entries(back)


def _rows(snapshot: Snapshot, operator: str, state: str) -> list[str]:
    return sorted(map(str, snapshot.state(operator, state).to_arrow().to_pylist()))


# -- values that only a job of its own would hold --------------------------------------------------------------------


def test_a_constant_that_the_enum_does_not_have_is_refused(corpus: Path, tmp_path: Path) -> None:
    source = metadata_of(corpus / "known/2.0.2/types-hashmap-canonical")
    name, operator = _state_of_type(source, "enum")
    for value, fails in (("'NO_SUCH'", True), ("value", False)):
        plan = plan_of(source, tmp_path / value, one_state(operator, name, set={"value": value}))
        assert _fails(plan) == fails


def test_two_to_the_forty_is_refused_for_an_int(corpus: Path, tmp_path: Path) -> None:
    source = metadata_of(corpus / "known/2.0.2/types-hashmap-canonical")
    name, operator = _state_of_type(source, "int")
    for value, fails in (("1::BIGINT << 40", True), ("2147483647::BIGINT", False), ("-2147483649", True)):
        plan = plan_of(source, tmp_path / value, one_state(operator, name, set={"value": value}))
        assert _fails(plan) == fails


def _state_of_type(source: Path, kind: str) -> tuple[str, str]:
    for operator in open_snapshot(str(source)).operators:
        for state in operator.states:
            if (
                isinstance(state, KeyedState)
                and state.kind == "value"
                and str(state.types["value"]).startswith(kind)
            ):
                return state.name, operator.label
    raise AssertionError(f"no state of {kind}")


def _fails(plan: Plan) -> bool:
    from statelift.state_ops.apply import apply

    try:
        apply(plan, workers=1)
    except StateliftError as error:
        return bool(one_line(error))
    return False
