"""A migration as YAML in a project's ``defs`` folder."""

from __future__ import annotations

from typing import Any

import dagster as dg
import pytest
import yaml
from dagster.components.testing import create_defs_folder_sandbox
from statelift.orchestration import MigrationComponent

from .runs import with_resource

PLAN = {"source": "s3://state/savepoint-1", "target": "s3://state/repaired", "format": "rocksdb"}


def load(plan: Any, plan_file: dict[str, Any] | None = None, **attributes: Any) -> dg.Definitions:
    with create_defs_folder_sandbox() as sandbox:
        path = sandbox.scaffold_component(
            component_cls=MigrationComponent,
            defs_yaml_contents={
                "type": "statelift.orchestration.MigrationComponent",
                "attributes": {"name": "repair", "plan": plan, **attributes},
            },
        )
        if plan_file is not None:
            (path / "plan.yaml").write_text(yaml.safe_dump(plan_file))
        with sandbox.load_component_and_build_defs(path) as (component, defs):
            assert isinstance(component, MigrationComponent)
            return with_resource(defs)


@pytest.mark.parametrize(("plan", "file"), [(PLAN, None), ("plan.yaml", PLAN)])
def test_the_plan_is_in_it_or_in_a_file_beside_it(plan: Any, file: dict[str, Any] | None) -> None:
    specs = {spec.key.to_user_string(): spec for spec in load(plan, file).resolve_all_asset_specs()}
    assert set(specs) == {"repair/source_savepoint", "repair/audit", "repair/new_savepoint"}
    assert specs["repair/new_savepoint"].metadata["statelift/target"] == PLAN["target"]


def test_a_translation_changes_the_assets() -> None:
    defs = load(PLAN, translation={"group_name": "state", "tags": {"role": "{{ role }}"}})
    specs = {spec.key.path[-1]: spec for spec in defs.resolve_all_asset_specs()}
    assert {spec.group_name for spec in specs.values()} == {"state"}
    assert {role: spec.tags["role"] for role, spec in specs.items()} == {role: role for role in specs}
