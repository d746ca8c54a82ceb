"""What a code location holds, made of plans alone: no snapshot is there to be read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from statelift.orchestration import StateliftTranslator, StateliftTranslatorData, build_definitions
from statelift.orchestration import migration_definitions as definitions_of
from statelift.orchestration.plans import VARIABLE, plans_of_environment
from statelift.schemas.errors import PlanError
from statelift.state_ops.checks import BUILT_IN
from syrupy.assertion import SnapshotAssertion

from .runs import repair_plan, with_resource

SOURCE, TARGET = "s3://state/savepoints/savepoint-1", "s3://state/savepoints/repaired"


def summary(defs: dg.Definitions) -> Mapping[str, Any]:
    """The assets, checks, jobs and sensors in plain words."""
    repository = defs.get_repository_def()
    return {
        "assets": [
            {
                "key": spec.key.to_user_string(),
                "group": spec.group_name,
                "kinds": sorted(spec.kinds),
                "deps": [dep.asset_key.to_user_string() for dep in spec.deps],
                "description": spec.description,
                "metadata": {k: v for k, v in spec.metadata.items() if k.startswith("statelift/")},
                "partitions": spec.partitions_def and spec.partitions_def.name,  # type: ignore[attr-defined]
            }
            for spec in sorted(defs.resolve_all_asset_specs(), key=lambda spec: spec.key)
        ],
        "checks": {
            key.name: repository.asset_graph.get_check_spec(key).description
            for key in sorted(repository.asset_graph.asset_check_keys)
        },
        "blocking": all(
            repository.asset_graph.get_check_spec(key).blocking
            for key in repository.asset_graph.asset_check_keys
        ),
        "jobs": sorted(job.name for job in repository.get_all_jobs() if not job.name.startswith("__")),
        "ops": sorted(
            node
            for job in repository.get_all_jobs()
            if not job.name.startswith("__")
            for node in job.graph.node_dict
        ),
        "sensors": sorted(sensor.name for sensor in repository.sensor_defs),
    }


def test_a_plan_is_three_assets_with_checks_and_a_job(snapshot: SnapshotAssertion) -> None:
    assert summary(build_definitions({"fraud-repair": repair_plan(SOURCE, TARGET)})) == snapshot


def test_a_plan_for_many_snapshots_has_partitions_and_a_sensor(snapshot: SnapshotAssertion) -> None:
    plan = repair_plan("s3://state/savepoints/{snapshot}", "s3://state/repaired/{snapshot}")
    assert summary(build_definitions({"nightly": plan})) == snapshot


def test_a_plan_is_for_many_snapshots_in_source_and_target_or_not_at_all() -> None:
    with pytest.raises(PlanError, match="both source and target"):
        build_definitions({"nightly": repair_plan("s3://state/{snapshot}", TARGET)})


def test_several_plans_stand_beside_each_other() -> None:
    plans = {"one": repair_plan(SOURCE, TARGET), "two": repair_plan(TARGET, f"{TARGET}-again")}
    keys = {spec.key.to_user_string() for spec in build_definitions(plans).resolve_all_asset_specs()}
    roles = ("source_savepoint", "audit", "new_savepoint")
    assert keys == {f"{name}/{role}" for name in plans for role in roles}


def test_another_plan_is_another_code_version() -> None:
    def version(**changes: Any) -> str | None:
        defs = with_resource(definitions_of(repair_plan(SOURCE, TARGET, **changes), "one"))
        return {s.key.path[-1]: s.code_version for s in defs.resolve_all_asset_specs()}["new_savepoint"]

    assert version() == version()
    assert version() != version(format="canonical")


def test_a_translator_names_assets_and_what_depends_on_them_follows() -> None:
    class Ours(StateliftTranslator):
        def get_asset_spec(self, data: StateliftTranslatorData) -> dg.AssetSpec:
            spec = super().get_asset_spec(data)
            return spec.replace_attributes(key=spec.key.with_prefix("flink"), owners=["team:state"])

    defs = with_resource(definitions_of(repair_plan(SOURCE, TARGET), "one", translator=Ours()))
    specs = {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}
    assert set(specs) == {f"flink/one/{role}" for role in ("source_savepoint", "audit", "new_savepoint")}
    for role in ("audit", "new_savepoint"):
        (dep,) = specs[f"flink/one/{role}"].deps
        assert dep.asset_key.to_user_string() == "flink/one/source_savepoint"
    assert all(list(spec.owners) == ["team:state"] for spec in specs.values())


def test_plans_are_the_files_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "repair.yaml").write_text(f"source: {SOURCE}\ntarget: {TARGET}\nformat: rocksdb\n")
    (tmp_path / "notes.txt").write_text("no plan")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert {name: plan.target for name, plan in plans_of_environment().items()} == {"repair": TARGET}
    monkeypatch.setenv(VARIABLE, str(tmp_path / "repair.yaml"))
    assert list(plans_of_environment()) == ["repair"]


def test_without_plans_it_is_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    (plan,) = plans_of_environment().values()
    assert (Path(plan.source) / "_metadata").is_file()


def test_a_folder_without_plans_or_with_a_wrong_one_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(PlanError, match=r"no \*\.yaml"):
        plans_of_environment()
    (tmp_path / "wrong.yaml").write_text(f"source: {SOURCE}\n")
    with pytest.raises(PlanError, match="target"):
        plans_of_environment()


def test_every_check_of_a_run_is_an_asset_check() -> None:
    defs = build_definitions({"one": repair_plan(SOURCE, TARGET, checks={"own": "SELECT 1"})})
    names = {key.name for key in defs.get_repository_def().asset_graph.asset_check_keys}
    assert names == {name.replace("-", "_") for name in BUILT_IN} | {"own"}
