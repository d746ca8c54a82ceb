"""Plans on the golden savepoint, and runs of them in this process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dagster as dg
from statelift.orchestration import StateliftResource, build_definitions
from statelift.state_ops.plan import Plan

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "2.3.0"
USERS = '"session-tracker"."user-state"'
REPAIR = {"set": {"value.lastSeenTimestamp": "0"}, "where": "value.lastSeenTimestamp < 0"}


def repair_plan(source: Path | str, target: Path | str, **changes: Any) -> Plan:
    """Repair the corrupt users and go to RocksDB."""
    return Plan.of(
        {
            "source": str(source),
            "target": str(target),
            "format": "rocksdb",
            "operators": {"session-tracker": {"states": {"user-state": REPAIR}}},
            "checks": {"no-negative": f"SELECT key FROM {USERS} WHERE value.lastSeenTimestamp < 0"},
            **changes,
        }
    )


def run(
    plan: Plan,
    resource: StateliftResource | None = None,
    instance: dg.DagsterInstance | None = None,
    io_manager: dg.IOManager | None = None,
    **options: Any,
) -> dg.ExecuteInProcessResult:
    """Run the job of a plan called ``fraud-repair``."""
    job = build_definitions({"fraud-repair": plan}, resource).resolve_job_def("fraud_repair_migration")
    resources = {"io_manager": io_manager} if io_manager else None
    return job.execute_in_process(instance=instance, resources=resources, raise_on_error=False, **options)


def with_resource(defs: dg.Definitions) -> dg.Definitions:
    """The definitions in a code location that has the resource."""
    return dg.Definitions.merge(defs, dg.Definitions(resources={"statelift": StateliftResource()}))


def metadata_of(result: dg.ExecuteInProcessResult, asset: str) -> dict[str, Any]:
    """The metadata of an asset's materialization, without the prefix; tables as lists of rows."""
    (event,) = [
        event
        for event in result.get_asset_materialization_events()
        if event.asset_key == dg.AssetKey(["fraud_repair", asset])
    ]
    return plain(event.materialization.metadata)


def plain(metadata: Any) -> dict[str, Any]:
    """Metadata without the prefix, as plain data."""
    values = {}
    for name, value in metadata.items():
        if isinstance(value, dg.TableMetadataValue):
            values[name.removeprefix("statelift/")] = [dict(record.data) for record in value.records]
        else:
            values[name.removeprefix("statelift/")] = value.value
    return values


def checks_of(result: dg.ExecuteInProcessResult) -> dict[str, bool]:
    return {check.check_name: check.passed for check in result.get_asset_check_evaluations()}


def shard_steps(result: dg.ExecuteInProcessResult) -> list[str]:
    """The mapped steps that were started, each as often as it was."""
    return shards_started(result.all_events)


def shards_started(events: Sequence[dg.DagsterEvent]) -> list[str]:
    keys = [event.step_key or "" for event in events if event.is_step_start]
    return [key.partition("[")[2].rstrip("]") for key in keys if "run_shard[" in key]
