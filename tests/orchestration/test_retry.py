"""A shard that fails is tried again alone: by itself where the store failed, else when its run is run again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.reconstruct import ReconstructableJob

from . import faulty
from .faulty import FaultyResource
from .runs import checks_of, repair_plan, run, shard_steps, shards_started


@pytest.fixture
def faults(tmp_path: Path) -> Path:
    """How often the store is still to fail."""
    file = tmp_path / "faults"
    file.write_text("1")
    return file


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    (tmp_path / "home").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "home")) as instance:
        yield instance


def test_a_shard_whose_store_fails_is_tried_again_alone(golden: Path, tmp_path: Path, faults: Path) -> None:
    plan = repair_plan(golden, tmp_path / "new", format="canonical")
    result = run(plan, FaultyResource(workers=4, faults=str(faults)))
    assert result.success
    assert all(checks_of(result).values())
    retried = [event.step_key for event in result.all_events if event.is_step_up_for_retry]
    assert len(retried) == 1
    attempts = Counter(shard_steps(result))
    again = retried[0].partition("[")[2].rstrip("]")
    restarts = [event.step_key for event in result.all_events if event.is_step_restarted]
    assert restarts == retried
    assert attempts == dict.fromkeys(attempts, 1)
    assert len(attempts) == 4
    assert again in attempts


def test_running_again_from_the_failure_does_the_failed_shard_alone(
    golden: Path,
    tmp_path: Path,
    faults: Path,
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = repair_plan(golden, tmp_path / "new", format="canonical")
    (tmp_path / "plan.yaml").write_text(json.dumps(plan.model_dump(exclude_defaults=True)))
    monkeypatch.setenv(faulty.PLAN, str(tmp_path / "plan.yaml"))
    monkeypatch.setenv(faulty.FAULTS, str(faults))
    job = ReconstructableJob.for_file(str(faulty.__file__), "job")
    options = {"execution": {"config": {"in_process": {}}}}

    with dg.execute_job(job, instance, run_config=options) as first:
        assert not first.success
        failed = [event.step_key for event in first.all_events if event.is_step_failure]
        assert len(failed) == 1
        assert len(shards_started(first.all_events)) == 4
    assert not (tmp_path / "new" / "_metadata").exists()

    again = dg.ReexecutionOptions.from_failure(first.run_id, instance)
    with dg.execute_job(job, instance, run_config=options, reexecution_options=again) as second:
        assert second.success
        assert [
            f"fraud_repair__new_savepoint.run_shard[{shard}]" for shard in shards_started(second.all_events)
        ] == failed
    assert (tmp_path / "new" / "_metadata").exists()
