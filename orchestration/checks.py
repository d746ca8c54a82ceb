"""Checks of the new snapshot: those that every migration gets, and one for each assertion of its plan."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from ..state_ops.checks import run_check
from ..state_ops.report import Report
from .constants import PREFIX
from .migration import Migration, dagster_name
from .resource import StateliftResource
from .tables import table

_DESCRIPTIONS: Mapping[str, str] = {
    "reads-back": "Every state of the new snapshot opens, and every entry decodes.",
    "content": "Every state has the entries and the digest that the run wrote; a kept one has those of the source.",
    "key-groups": "Every key lies in the key group that Flink computes for it.",
    "carried-over": "Every file that was carried over is the same bytes as in the source.",
}


def savepoint_checks(migration: Migration, spec: dg.AssetSpec) -> list[dg.AssetChecksDefinition]:
    """The checks of the migration's new snapshot. They block what is downstream."""
    own = {
        name: f"No row is returned by\n\n```sql\n{sql}\n```" for name, sql in migration.plan.checks.items()
    }
    return [_check(migration, spec, name, text) for name, text in {**_DESCRIPTIONS, **own}.items()]


def _check(migration: Migration, spec: dg.AssetSpec, name: str, text: str) -> dg.AssetChecksDefinition:
    @dg.asset_check(asset=spec.key, name=dagster_name(name), description=text, blocking=True)
    def check(
        context: dg.AssetCheckExecutionContext, statelift: StateliftResource, report: dict[str, Any]
    ) -> dg.AssetCheckResult:
        seen = Report.model_validate(report)
        plan = migration.plan.model_copy(update={"source": seen.source, "target": seen.target})
        result = run_check(name, plan, seen, statelift.stores())
        metadata: dict[str, Any] = {f"{PREFIX}/seen": result.what}
        if result.rows:
            metadata[f"{PREFIX}/rows"] = table(result.rows)
        return dg.AssetCheckResult(passed=result.passed, description=result.what, metadata=metadata)

    return check
