"""How a migration's snapshots are described as assets. Subclass to describe them otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import dagster as dg

from .constants import PREFIX
from .migration import Migration, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class StateliftTranslatorData:
    """What an asset is made of: its migration and its role there."""

    migration: Migration
    role: Role


class StateliftTranslator:
    """Makes the asset specs of a migration."""

    def get_asset_spec(self, data: StateliftTranslatorData) -> dg.AssetSpec:
        """The spec of one asset. The key decides what the asset is called everywhere."""
        migration, plan = data.migration, data.migration.plan
        deps: tuple[dg.AssetKey, ...] = ()
        metadata: dict[str, str] = {}
        if data.role != "source_savepoint":
            # By way of this method: a subclass may call it otherwise.
            of_source = StateliftTranslatorData(migration=migration, role="source_savepoint")
            deps = (self.get_asset_spec(of_source).key,)
        match data.role:
            case "source_savepoint":
                description, kinds = f"The snapshot that Flink wrote at {plan.source}.", {"flink"}
                metadata = {f"{PREFIX}/source": plan.source}
            case "audit":
                description = "What the snapshot holds: operators, states, types, entries, bytes."
                kinds = {"flink", "table"}
            case "new_savepoint":
                description, kinds = f"The snapshot that the plan makes of it at {plan.target}.", {"flink"}
                metadata = {f"{PREFIX}/target": plan.target}
        return dg.AssetSpec(
            key=migration.key(data.role), deps=deps, description=description, kinds=kinds, metadata=metadata,
            group_name=migration.name, partitions_def=migration.partitions,
            code_version=plan.digest if data.role == "new_savepoint" else None,
        )  # fmt: skip
