"""A run's report as the metadata of the new snapshot's materialization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg

from ..state_ops.report import OperatorReport, Report, StateReport
from .constants import PREFIX
from .tables import Rows, markdown, table, type_columns


def report_metadata(report: Report) -> dict[str, Any]:
    """Figures and tables, keys with the prefix; ``report`` is all of it as one page."""
    operators, states = [_operator(o) for o in report.operators], [_state(s) for s in report.states]
    changes, samples, digests = _changes(report), _samples(report), [_digests(s) for s in report.states]
    sections = {"Operators": operators, "States": states, "Changes": changes, "Before and after": samples}
    page = "\n\n".join(f"### {title}\n\n{markdown(rows)}" for title, rows in sections.items() if rows)
    return {
        f"{PREFIX}/report": dg.MetadataValue.md(page),
        f"{PREFIX}/target": dg.MetadataValue.path(report.target),
        f"{PREFIX}/source": dg.MetadataValue.path(report.source),
        f"{PREFIX}/checkpoint_id": report.checkpoint_id,
        f"{PREFIX}/metadata_version": report.metadata_version,
        f"{PREFIX}/shards": report.shards,
        f"{PREFIX}/resumed_shards": report.resumed_shards,
        f"{PREFIX}/bytes": report.nbytes,
        f"{PREFIX}/rows_changed": report.changed,
        f"{PREFIX}/carried_files": len(report.carried),
        f"{PREFIX}/operators": table(operators),
        f"{PREFIX}/states": table(states),
        f"{PREFIX}/changes": table(changes),
        f"{PREFIX}/samples": table(samples),
        f"{PREFIX}/digests": table(digests),
    }


def _operator(operator: OperatorReport) -> Mapping[str, Any]:
    return {
        "operator": operator.operator, "parallelism": operator.parallelism,
        "max parallelism": operator.max_parallelism, "done": operator.action,
        "from": operator.source_format, "to": operator.target_format,
    }  # fmt: skip


def _state(state: StateReport) -> Mapping[str, Any]:
    return {
        "operator": state.operator, "state": state.name, "kind": state.kind, "entries": state.written[0],
        "bytes": state.nbytes, **type_columns(state.types),
    }  # fmt: skip


def _changes(report: Report) -> Rows:
    return [
        {
            "operator": state.operator, "state": state.name, "operation": state.operation,
            "changed": state.changed, "deleted": state.deleted, "added": state.added,
        }
        for state in report.states
        if state.operation != "kept"
    ]  # fmt: skip


def _samples(report: Report) -> Rows:
    return [
        {"operator": state.operator, "state": state.name, "before": before, "after": after}
        for state in report.states
        for before, after in state.samples
    ]


def _digests(state: StateReport) -> Mapping[str, Any]:
    return {
        "operator": state.operator, "state": state.name,
        "entries read": state.read[0], "digest read": str(state.read_digest),
        "entries written": state.written[0], "digest written": str(state.written_digest),
    }  # fmt: skip
