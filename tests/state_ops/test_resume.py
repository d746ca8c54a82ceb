"""Runs that fail, runs that are killed, and targets where something stands already."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from statelift.io.stores import Stores, StoreWriter
from statelift.schemas.errors import FormatError, StateliftError, StoreError, TargetExistsError
from statelift.state_ops import apply as apply_module
from statelift.state_ops.apply import apply_job
from statelift.state_ops.commit import commit
from statelift.state_ops.job import Job, cut, prepare
from statelift.state_ops.run_shard import run_shard

from .lifting import REPAIR, TARGETS, entries, files_below, golden, lift, one_line, opened, plan_of, prepared

WORKERS = 5


class FailingStores(Stores):
    """The ``fail_at``-th thing that is written fails; with 0 all are counted. Deletes fail where it is asked for."""

    def __init__(self, fail_at: int = 0, *, deletes_fail: bool = False) -> None:
        super().__init__()
        self.fail_at, self.deletes_fail, self.count = fail_at, deletes_fail, 0

    def _step(self, url: str) -> None:
        self.count += 1
        if self.count == self.fail_at:
            raise StoreError(f"no space left on the disk: {url}")

    def put(self, url: str, data: Any) -> None:
        self._step(url)
        super().put(url, data)

    def open_write(self, url: str, held_bytes: int | None = None) -> StoreWriter:
        self._step(url)
        return super().open_write(url, held_bytes)

    def copy(self, src: str, dst: str) -> None:
        self._step(dst)
        super().copy(src, dst)

    def compose(self, target: str, parts: Any) -> None:
        self._step(target)
        super().compose(target, parts)

    def delete(self, urls: Iterable[str]) -> None:
        if self.deletes_fail:
            raise StoreError("access denied")
        super().delete(urls)


def kill_after(job: Job, shards: int, workers: int = WORKERS) -> None:
    """What a run leaves that was killed when so many of its shards were done."""
    for shard in cut(job, workers)[:shards]:
        run_shard(job, shard)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """For each shard of every run: whether it was taken over from an earlier one."""
    seen: list[bool] = []

    def counted(job: Job, shard: Any, **options: Any) -> Any:
        result = run_shard(job, shard, **options)
        seen.append(result.resumed)
        return result

    monkeypatch.setattr(apply_module, "run_shard", counted)
    return seen


# -- failures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", TARGETS)
def test_whichever_write_fails_nothing_is_left(tmp_path: Path, format: str) -> None:
    def job(stores: Stores, target: Path) -> Job:
        return prepare(plan_of(golden("hashmap-canonical"), target, REPAIR, format=format), stores)

    counting = FailingStores()
    apply_job(job(counting, tmp_path / "whole"), workers=2)
    writes = counting.count
    assert writes >= 10
    for fail_at in sorted({1, 2, 3, writes // 2, *range(writes - 4, writes + 1)}):
        with pytest.raises(StoreError, match="no space left"):
            apply_job(job(FailingStores(fail_at), tmp_path / "out"), workers=2)
        assert files_below(tmp_path / "out") == set()
    apply_job(job(Stores(), tmp_path / "out"), workers=2)
    assert entries(opened(tmp_path / "out")) == entries(opened(tmp_path / "whole"))


def test_once_the_metadata_stands_a_failure_does_not_take_its_files_away(tmp_path: Path) -> None:
    plan = plan_of(golden("hashmap-canonical"), tmp_path / "out", REPAIR)
    with pytest.raises(StoreError, match="access denied"):
        apply_job(prepare(plan, FailingStores(deletes_fail=True)), workers=3)
    lift(golden("hashmap-canonical"), tmp_path / "good", REPAIR)
    assert entries(opened(tmp_path / "out")) == entries(opened(tmp_path / "good"))


def test_a_failure_also_removes_what_it_took_over_from_a_killed_run(tmp_path: Path) -> None:
    kill_after(prepared(golden("hashmap-canonical"), tmp_path / "out", REPAIR), 3)
    assert files_below(tmp_path / "out")
    plan = plan_of(golden("hashmap-canonical"), tmp_path / "out", REPAIR)
    with pytest.raises(StoreError, match="no space left"):
        apply_job(prepare(plan, FailingStores(fail_at=4)), workers=WORKERS)
    assert files_below(tmp_path / "out") == set()


def test_a_damaged_entry_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    shutil.copytree(golden("hashmap-canonical"), tmp_path / "damaged")
    damaged = opened(tmp_path / "damaged")
    operator = damaged.operator("session-tracker")
    backend = operator.keyed_backends[1]
    assert backend.stream is not None
    file = tmp_path / "damaged" / backend.stream.name.rpartition("/")[2]
    data = bytearray(file.read_bytes())
    at = data.index(b"user-1", min(offset for offset in backend.offsets if offset))
    data[at - 1] = 0x7F  # the key's length
    file.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        lift(tmp_path / "damaged", tmp_path / "out", REPAIR)
    text = one_line(caught.value)
    for part in ("operator session-tracker", "subtask 1", "key group "):
        assert part in text
    assert files_below(tmp_path / "out") == set()


def test_a_value_that_does_not_decode_is_named_with_its_state(tmp_path: Path) -> None:
    shutil.copytree(golden("hashmap-canonical"), tmp_path / "damaged")
    backend = opened(tmp_path / "damaged").operator("session-tracker").keyed_backends[0]
    assert backend.stream is not None
    file = tmp_path / "damaged" / backend.stream.name.rpartition("/")[2]
    data = bytearray(file.read_bytes())
    start = min(offset for offset in backend.offsets if offset)
    at = data.index(b"\x07ACTIVE", start)  # a StringValue of six characters, in a POJO's field
    data[at] = 0x70
    file.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        lift(tmp_path / "damaged", tmp_path / "out", REPAIR)
    text = one_line(caught.value)
    for part in ("operator session-tracker", "subtask 0", "state user-state", "key group "):
        assert part in text
    assert files_below(tmp_path / "out") == set()


def test_a_stream_cut_short_is_named(tmp_path: Path) -> None:
    shutil.copytree(golden("hashmap-canonical"), tmp_path / "short")
    backend = opened(tmp_path / "short").operator("session-tracker").keyed_backends[1]
    assert backend.stream is not None
    file = tmp_path / "short" / backend.stream.name.rpartition("/")[2]
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(StateliftError, match="operator session-tracker, subtask 1"):
        lift(tmp_path / "short", tmp_path / "out", REPAIR)
    assert files_below(tmp_path / "out") == set()


# -- resuming ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", TARGETS)
def test_a_killed_run_is_gone_on_with(tmp_path: Path, format: str, ran: list[bool]) -> None:
    whole = lift(golden("hashmap-canonical"), tmp_path / "whole", REPAIR, format=format, workers=WORKERS)
    kill_after(prepared(golden("hashmap-canonical"), tmp_path / "out", REPAIR, format=format), 3)
    assert "_metadata" not in files_below(tmp_path / "out")
    ran.clear()
    report = lift(golden("hashmap-canonical"), tmp_path / "out", REPAIR, format=format, workers=WORKERS)
    assert (sorted(ran), report.resumed_shards) == ([False, False, True, True, True], 3)
    assert report.states == whole.states
    assert entries(opened(tmp_path / "out")) == entries(opened(tmp_path / "whole"))
    assert len(files_below(tmp_path / "out")) == len(files_below(tmp_path / "whole"))


def test_a_file_that_is_gone_or_short_is_written_again(tmp_path: Path, ran: list[bool]) -> None:
    job = prepared(golden("hashmap-canonical"), tmp_path / "out", REPAIR)
    kill_after(job, WORKERS)
    parts = sorted(path for path in (tmp_path / "out").iterdir() if "statelift" not in path.name)
    parts[0].unlink()
    parts[-1].write_bytes(parts[-1].read_bytes()[:-1])
    report = lift(golden("hashmap-canonical"), tmp_path / "out", REPAIR, workers=WORKERS)
    assert (ran.count(False), report.resumed_shards) == (2, 3)
    lift(golden("hashmap-canonical"), tmp_path / "whole", REPAIR)
    assert entries(opened(tmp_path / "out")) == entries(opened(tmp_path / "whole"))


def other_value(value: str) -> dict[str, Any]:
    states = {"user-state": {"set": {"value.lastSeenTimestamp": value}}}
    return {"session-tracker": {"states": states}}


def test_what_is_left_of_other_plans_is_never_taken_and_is_cleared_away(
    tmp_path: Path, ran: list[bool]
) -> None:
    """Plan A is killed, then plan B over it, whose values are as long; then A is run to its end."""
    source, target = golden("hashmap-canonical"), tmp_path / "out"
    kill_after(prepared(source, target, other_value("1")), 3)
    kill_after(prepared(source, target, other_value("2")), 4)
    report = lift(source, target, other_value("1"), workers=WORKERS)
    assert report.resumed_shards == 3
    lift(source, tmp_path / "whole", other_value("1"), workers=WORKERS)
    assert entries(opened(target)) == entries(opened(tmp_path / "whole"))
    assert len(files_below(target)) == len(files_below(tmp_path / "whole"))


def test_another_number_of_workers_begins_anew(tmp_path: Path, ran: list[bool]) -> None:
    source, target = golden("hashmap-canonical"), tmp_path / "out"
    for format in TARGETS:
        kill_after(prepared(source, target, REPAIR, format=format), 4)
        kill_after(prepared(source, target, REPAIR, format=format), 2, workers=3)
        lift(source, target, REPAIR, format=format, workers=2)
        lift(source, tmp_path / f"whole-{format}", REPAIR, format=format, workers=2)
        assert entries(opened(target)) == entries(opened(tmp_path / f"whole-{format}"))
        assert len(files_below(target)) == len(files_below(tmp_path / f"whole-{format}"))
        shutil.rmtree(target)


def test_what_is_left_of_another_source_is_never_taken(tmp_path: Path, ran: list[bool]) -> None:
    """The source's folder is the same, the snapshot in it is another one."""
    shutil.copytree(golden("hashmap-canonical", "1.20.5"), tmp_path / "source")
    kill_after(prepared(tmp_path / "source", tmp_path / "out", REPAIR), 3)
    shutil.rmtree(tmp_path / "source")
    shutil.copytree(golden("hashmap-canonical", "2.3.0"), tmp_path / "source")
    report = lift(tmp_path / "source", tmp_path / "out", REPAIR, workers=WORKERS)
    assert report.resumed_shards == 0


def test_a_shard_whose_result_is_missing_is_not_passed_over(tmp_path: Path) -> None:
    job = prepared(golden("hashmap-canonical"), tmp_path / "out", REPAIR)
    shards = cut(job, 3)
    results = [run_shard(job, shard) for shard in shards]
    with pytest.raises(ValueError, match="2 results of 3 shards"):
        commit(job, shards, results[1:])
    assert "_metadata" not in files_below(tmp_path / "out")


def test_shards_may_be_run_and_committed_by_different_processes(tmp_path: Path) -> None:
    """Each prepares the job for itself; what they leave for each other is cleared away."""
    for format in TARGETS:

        def job(format: str = format) -> Job:
            return prepared(golden("rocksdb-native"), tmp_path / format, REPAIR, format=format)

        results = [run_shard(job(), shard) for shard in reversed(cut(job(), WORKERS))]
        commit(job(), cut(job(), WORKERS), results)
        assert not [name for name in files_below(tmp_path / format) if "statelift" in name]
        lift(golden("rocksdb-native"), tmp_path / "whole" / format, REPAIR, format=format, workers=WORKERS)
        assert len(files_below(tmp_path / format)) == len(files_below(tmp_path / "whole" / format))
        assert entries(opened(tmp_path / format)) == entries(opened(tmp_path / "whole" / format))


# -- what stands at the target -------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", TARGETS)
@pytest.mark.parametrize("second", TARGETS)
def test_overwriting_leaves_the_new_snapshot_and_what_is_foreign(
    tmp_path: Path, first: str, second: str
) -> None:
    target = tmp_path / "out"
    lift(golden("hashmap-canonical", "1.20.5"), target, format=first, workers=3)
    (target / "notes").mkdir()
    (target / "notes" / "mine.txt").write_text("mine")
    (target / "other").write_text("foreign")
    with pytest.raises(TargetExistsError):
        lift(golden("rocksdb-native"), target, REPAIR, format=second)
    for workers in (1, 3):  # the second time over a snapshot of the very same plan
        lift(golden("rocksdb-native"), target, REPAIR, format=second, overwrite=True, workers=workers)
        lift(golden("rocksdb-native"), tmp_path / f"good-{workers}", REPAIR, format=second, workers=workers)
        assert entries(opened(target)) == entries(opened(tmp_path / f"good-{workers}"))
        kept = files_below(target) - {"other", "notes/mine.txt"}
        assert len(kept) == len(files_below(tmp_path / f"good-{workers}"))
    assert (target / "other").read_text() == "foreign"
    assert (target / "notes" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("format", TARGETS)
def test_an_overwriting_run_that_fails_leaves_the_old_snapshot_whole(tmp_path: Path, format: str) -> None:
    target = tmp_path / "out"
    lift(golden("hashmap-canonical"), target, REPAIR, format=format)
    before = {name: (target / name).read_bytes() for name in files_below(target)}
    plan = plan_of(golden("hashmap-canonical"), target, REPAIR, format=format, overwrite=True)
    counting = FailingStores()
    apply_job(prepare(plan_of(plan.source, tmp_path / "x", REPAIR, format=format), counting), workers=2)
    for fail_at in (1, counting.count // 2, counting.count - 1, counting.count):
        with pytest.raises(StoreError, match="no space left"):
            apply_job(prepare(plan, FailingStores(fail_at)), workers=2)
        assert {name: (target / name).read_bytes() for name in files_below(target)} == before


def test_a_killed_overwriting_run_leaves_the_old_snapshot_and_is_gone_on_with(
    tmp_path: Path, ran: list[bool]
) -> None:
    target = tmp_path / "out"
    lift(golden("hashmap-canonical"), target, REPAIR)
    expected = entries(opened(target))
    kill_after(prepared(golden("hashmap-canonical"), target, other_value("7"), overwrite=True), 3)
    assert entries(opened(target)) == expected
    report = lift(golden("hashmap-canonical"), target, other_value("7"), overwrite=True, workers=WORKERS)
    assert report.resumed_shards == 3
    assert entries(opened(target)) != expected


def test_a_damaged_snapshot_can_be_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "_metadata").write_bytes(b"nothing that can be read")
    lift(golden("hashmap-canonical"), target, REPAIR, overwrite=True)
    assert opened(target).state("session-tracker", "user-state").count() == 60
