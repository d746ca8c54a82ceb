"""New snapshots of a migration that is for many: each becomes a partition and is run."""

import re
from collections.abc import Iterator

import dagster as dg

from ..io.stores import Stores, normalize
from .failures import failing
from .migration import PLACEHOLDER, Migration
from .resource import StateliftResource


def snapshot_sensor(migration: Migration, partitions: dg.DynamicPartitionsDefinition) -> dg.SensorDefinition:
    """A sensor that asks for a run of every snapshot that has a ``_metadata``: one that is complete."""

    @dg.sensor(
        name=f"{migration.name}_new_snapshots",
        job_name=migration.job_name,
        minimum_interval_seconds=60,
        description=f"New snapshots at {migration.plan.source}.",
    )
    def new_snapshots(context: dg.SensorEvaluationContext, statelift: StateliftResource) -> dg.SensorResult:
        known = set(context.instance.get_dynamic_partitions(partitions.name or ""))
        with failing():
            new = [name for name in snapshots(migration, statelift.stores()) if name not in known]
        return dg.SensorResult(
            run_requests=[dg.RunRequest(run_key=name, partition_key=name) for name in new],
            dynamic_partitions_requests=[partitions.build_add_request(new)] if new else [],
        )

    return new_snapshots


def snapshots(migration: Migration, stores: Stores) -> Iterator[str]:
    """What stands for the placeholder in the sources that are there. Lists all files under the common prefix."""
    source = normalize(migration.plan.source).rstrip("/")
    before, _, after = source.partition(PLACEHOLDER)
    pattern = re.compile(f"{re.escape(before)}([^/]+){re.escape(after)}/_metadata")
    for file in stores.list(before):
        match = pattern.fullmatch(file.url)
        if match:
            yield match[1]
