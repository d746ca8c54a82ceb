"""A plan for many snapshots: each that is complete becomes a partition once, and is run by itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from statelift.orchestration import StateliftResource, build_definitions

from .runs import checks_of, repair_plan


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def defs(tmp_path: Path) -> dg.Definitions:
    plan = repair_plan(tmp_path / "in" / "savepoint-{snapshot}", tmp_path / "out" / "{snapshot}")
    return build_definitions({"nightly": plan}, StateliftResource(workers=2))


def tick(defs: dg.Definitions, instance: dg.DagsterInstance) -> dg.SensorResult:
    repository = defs.get_repository_def()
    context = dg.build_sensor_context(
        instance, definitions=defs, resources={"statelift": StateliftResource()}
    )
    result = repository.get_sensor_def("nightly_new_snapshots")(context)
    assert isinstance(result, dg.SensorResult)
    for request in result.dynamic_partitions_requests or []:
        instance.add_dynamic_partitions(request.partitions_def_name, request.partition_keys)
    return result


def test_a_new_snapshot_is_run_once_as_its_own_partition(
    golden: Path, tmp_path: Path, defs: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    (tmp_path / "in" / "savepoint-half").mkdir(parents=True)
    (tmp_path / "in" / "savepoint-half" / "5fda").write_bytes(b"a savepoint in the making")
    assert tick(defs, instance).run_requests == []

    shutil.copytree(golden, tmp_path / "in" / "savepoint-a")
    (request,) = tick(defs, instance).run_requests or []
    assert (request.partition_key, request.run_key) == ("a", "a")
    assert tick(defs, instance).run_requests == []

    result = defs.resolve_job_def("nightly_migration").execute_in_process(
        partition_key="a", instance=instance, raise_on_error=False
    )
    assert result.success
    assert (tmp_path / "out" / "a" / "_metadata").is_file()
    assert len(checks_of(result)) == 5
    assert all(checks_of(result).values())
