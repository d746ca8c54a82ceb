"""From plans to Dagster's definitions."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from ..state_ops.plan import Plan
from .audit import audit_asset
from .checks import savepoint_checks
from .constants import RESOURCE
from .migration import Migration, Role, dagster_name
from .resource import StateliftResource
from .savepoint import savepoint_asset
from .sensor import snapshot_sensor
from .source import source_asset
from .translator import StateliftTranslator, StateliftTranslatorData


def migration_definitions(
    plan: Plan, name: str, *, translator: StateliftTranslator | None = None
) -> dg.Definitions:
    """The assets, checks and job of one plan, and a sensor where it is for many snapshots.

    ``name`` is the group; a resource ``statelift`` (StateliftResource) is to be added. Nothing is read of the
    snapshot.
    """
    migration = Migration(name=dagster_name(name), plan=plan)
    translator = translator or StateliftTranslator()

    def spec(role: Role) -> dg.AssetSpec:
        return translator.get_asset_spec(StateliftTranslatorData(migration=migration, role=role))

    savepoint = spec("new_savepoint")
    assets = [
        source_asset(migration, spec("source_savepoint")),
        audit_asset(migration, spec("audit")),
        savepoint_asset(migration, savepoint),
    ]
    job = dg.define_asset_job(
        name=migration.job_name,
        selection=dg.AssetSelection.assets(*assets),
        description=f"Look at {plan.source}, make {plan.target} of it, and check that.",
    )
    partitions = migration.partitions
    return dg.Definitions(
        assets=assets,
        asset_checks=savepoint_checks(migration, savepoint),
        jobs=[job],
        sensors=[snapshot_sensor(migration, partitions)] if partitions else [],
    )


def build_definitions(plans: Mapping[str, Plan], resource: StateliftResource | None = None) -> dg.Definitions:
    """A whole code location of plans by name."""
    parts = [migration_definitions(plan, name) for name, plan in plans.items()]
    shared = dg.Definitions(resources={RESOURCE: resource or StateliftResource()})
    return dg.Definitions.merge(shared, *parts)
