"""The audit: what the source holds, as tables that a person can read."""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from ..state_ops.inventory import OperatorInventory, StateInventory, inventory
from ..state_ops.job import opened_for
from .constants import PREFIX
from .failures import failing
from .migration import Migration
from .resource import StateliftResource
from .tables import markdown, table, type_columns


def audit_asset(migration: Migration, spec: dg.AssetSpec) -> dg.AssetsDefinition:
    """An asset without a value: its materialization's metadata are the audit. Reads the whole snapshot."""

    @dg.multi_asset(name=f"{migration.name}__audit", specs=[spec])
    def audit(context: dg.AssetExecutionContext, statelift: StateliftResource) -> dg.MaterializeResult[None]:
        plan = migration.plan_for(context.partition_key if context.has_partition_key else None)
        with failing():
            snapshot = opened_for(plan, plan.source, statelift.stores())
            return dg.MaterializeResult(asset_key=spec.key, metadata=audit_metadata(inventory(snapshot)))

    return audit


def audit_metadata(operators: Sequence[OperatorInventory]) -> dict[str, Any]:
    """The audit's metadata, keys with the prefix."""
    states = [state for operator in operators for state in operator.states]
    operator_rows, state_rows = [_operator(o) for o in operators], [_state(state) for state in states]
    remarks = [{"operator": o.operator, "remark": text} for o in operators for text in o.remarks]
    problems = [{"operator": o.operator, "problem": text} for o in operators for text in o.problems]
    page = f"### Operators\n\n{markdown(operator_rows)}\n\n### States\n\n{markdown(state_rows)}"
    if remarks:
        page += f"\n\n### Remarks\n\n{markdown(remarks)}"
    if problems:
        page += f"\n\n### Problems\n\n{markdown(problems)}"
    return {
        f"{PREFIX}/audit": dg.MetadataValue.md(page),
        f"{PREFIX}/operators": table(operator_rows),
        f"{PREFIX}/states": table(state_rows),
        f"{PREFIX}/entries": sum(state.entries or 0 for state in states),
        f"{PREFIX}/bytes": sum(operator.nbytes for operator in operators),
        f"{PREFIX}/problems": len(problems),
    }


def _operator(operator: OperatorInventory) -> Mapping[str, Any]:
    return {
        "operator": operator.operator, "name": operator.name, "parallelism": operator.parallelism,
        "max parallelism": operator.max_parallelism, "format": ", ".join(operator.formats) or None,
        "states": len(operator.states), "bytes": operator.nbytes, "id": operator.id,
    }  # fmt: skip


def _state(state: StateInventory) -> Mapping[str, Any]:
    not_decoded = "; ".join((*map(str, state.opaque), *state.not_decoded)) or None
    return {
        "operator": state.operator, "state": state.name, "kind": state.kind, "entries": state.entries,
        "bytes": state.nbytes, **type_columns(state.types), "not decoded": not_decoded,
        "undecoded": state.undecoded, "damaged": state.damaged,
    }  # fmt: skip
