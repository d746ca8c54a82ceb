"""A snapshot opened: names, tables, and what cannot be opened."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from statelift.schemas.errors import FormatError, NameNotFoundError, StateliftError, StoreError
from statelift.state_ops.snapshot import open_snapshot
from statelift.state_ops.states import KeyedState

from .lifting import SOURCES, UIDS, golden, golden_contents, one_line, opened


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("version", ["1.20.5", "2.3.0"])
def test_states_hold_as_many_rows_as_the_job_put_there(version: str, source: str) -> None:
    snapshot = opened(golden(source, version))
    operators = golden_contents(source, version)["operators"]
    for uid, sections in operators.items():
        for name, state in sections.get("keyed", {}).items():
            entries = state["entries"]
            count = sum(len(e["value"]["$map"]) for e in entries) if state["kind"] == "map" else len(entries)
            assert snapshot.state(uid, name).count() == count == snapshot.state(uid, name).to_arrow().num_rows
        for name, state in sections.get("operator", {}).items():
            assert snapshot.state(uid, name).count() == len(state["entries"])
            assert snapshot.state(uid, name).kind == state["kind"]
    assert snapshot.state("rules", "rules").count() == 10


def test_small_batches_make_the_same_table() -> None:
    state = opened(golden("rocksdb-native")).state("session-tracker", "user-state")
    small = list(state.batches(batch_bytes=1000))
    assert len(small) > 2
    assert [row for batch in small for row in batch.to_pylist()] == state.to_arrow().to_pylist()
    assert state.reader(1000).read_all().num_rows == 60


def test_key_groups_can_be_asked_for_by_range() -> None:
    from statelift.io.metadata import KeyGroupRange

    state = opened(golden("hashmap-canonical")).state("session-tracker", "user-state")
    assert isinstance(state, KeyedState)
    everything = state.to_arrow().to_pylist()
    asked = [row for b in state.batches(key_groups=KeyGroupRange(50, 30)) for row in b.to_pylist()]
    assert asked == [row for row in everything if 50 <= row["key_group"] < 80]


def test_without_names_an_operator_of_flink_1_is_known_by_its_id_and_found_by_its_uid() -> None:
    snapshot = open_snapshot(str(golden("hashmap-canonical", "1.20.5")))
    operator = snapshot.operator("session-tracker")
    assert (operator.uid, operator.label) == (None, operator.id)
    assert snapshot.operator(operator.id.upper()) is operator
    named = open_snapshot(str(golden("hashmap-canonical", "1.20.5")), uids=UIDS)
    assert named.operator(operator.id).label == "session-tracker"


def test_names_that_are_not_there_are_told_with_the_nearest() -> None:
    snapshot = opened(golden("hashmap-canonical"))
    with pytest.raises(NameNotFoundError, match="nearest: session-tracker"):
        snapshot.operator("session-traker")
    with pytest.raises(NameNotFoundError, match="nearest: user-state") as caught:
        snapshot.state("session-tracker", "user_state")
    assert "operator session-tracker" in one_line(caught.value)


def test_a_folder_or_its_metadata_file_may_be_named() -> None:
    folder = golden("hashmap-canonical")
    assert open_snapshot(str(folder / "_metadata")).url == open_snapshot(str(folder)).url


def test_what_is_no_snapshot_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="it has no _metadata file; name the folder that holds _metadata"):
        open_snapshot(str(tmp_path))
    (tmp_path / "_metadata").write_bytes(b"something else")
    with pytest.raises(FormatError):
        open_snapshot(str(tmp_path))


def test_a_folder_of_checkpoints_tells_which_there_are(tmp_path: Path) -> None:
    job = tmp_path / "job"
    for name in ("chk-9", "chk-10", "chk-8", "chk-11"):
        shutil.copytree(golden("hashmap-canonical"), job / name)
    (job / "shared").mkdir()
    with pytest.raises(StoreError, match=r"name the folder that holds _metadata, as chk-11, chk-10, chk-9$"):
        open_snapshot(str(job))
    with pytest.raises(StoreError, match=r"holds _metadata, as job/chk-11, job/chk-10, job/chk-9$"):
        open_snapshot(str(tmp_path))


def test_a_missing_file_leaves_the_other_operators_to_be_read(tmp_path: Path) -> None:
    shutil.copytree(golden("hashmap-canonical"), tmp_path / "holed")
    whole = opened(tmp_path / "holed")
    stream = whole.operator("session-tracker").keyed_backends[0].stream
    assert stream is not None
    (tmp_path / "holed" / stream.name.rpartition("/")[2]).unlink()
    snapshot = opened(tmp_path / "holed")
    assert snapshot.state("fraud-detector", "last-tx-timestamp").count() == 60
    tracker = snapshot.operator("session-tracker")
    assert list(tracker.keyed_backends) == [1]
    [problem] = tracker.problems
    assert isinstance(problem.error, StateliftError)
    assert "operator session-tracker, subtask 0" in str(problem)
