"""What the demo prints: what was done, a look at it, the checks, and where the new savepoint is."""

from __future__ import annotations

from typing import Any

import dagster as dg
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..state_ops.report import Report
from .demo_plan import DEMO_NAME
from .tables import as_text

_SAMPLES = 3


def print_demo(console: Console, result: dg.ExecuteInProcessResult, endpoint: str) -> None:
    """Print a run of the demo, whether it went well or not."""
    for failure in result.filter_events(lambda event: event.is_step_failure):
        console.print(f"[red]{failure.step_key}[/] {failure.step_failure_data.error_display_string}")
    for event in result.get_asset_materialization_events():
        if event.asset_key == dg.AssetKey([DEMO_NAME, "new_savepoint"]):
            _print_report(console, Report.model_validate(result.asset_value(event.asset_key)), endpoint)
    _print_checks(console, result)


def _print_report(console: Console, report: Report, endpoint: str) -> None:
    states = [
        {
            "operator": state.operator, "state": state.name, "kind": state.kind, "operation": state.operation,
            "entries": state.written[0], "changed": state.changed + state.deleted + state.added,
        }
        for state in report.states
        if state.written[0]
    ]  # fmt: skip
    _print(console, "States", states)
    samples = [
        {"key": (before or after or {}).get("key"), "before": _value(before), "after": _value(after)}
        for state in report.states
        for before, after in state.samples[:_SAMPLES]
    ]
    _print(console, "Before and after", samples)
    converted = [o for o in report.operators if o.action == "converted"]
    formats = {(o.source_format, o.target_format) for o in converted}
    for source, target in sorted(formats, key=str):
        console.print(
            f"{len(converted)} operators went from {source} to {target}, in {report.shards} shards."
        )
    console.print(f"{report.source}\n→ {report.target}  (S3 at {endpoint})", soft_wrap=True)


def _value(row: dict[str, Any] | None) -> Any:
    return None if row is None else row.get("value")


def _print_checks(console: Console, result: dg.ExecuteInProcessResult) -> None:
    rows = [
        {
            "check": check.check_name,
            "": Text("passed", "green") if check.passed else Text("FAILED", "red"),
            "seen": check.description,
        }
        for check in result.get_asset_check_evaluations()
    ]
    _print(console, "Checks", rows)


def _print(console: Console, title: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    table = Table(title=title, title_justify="left")
    for name, value in rows[0].items():
        table.add_column(name, justify="right" if isinstance(value, int) else "left")
    for row in rows:
        table.add_row(*(v if isinstance(v, Text) else Text(as_text(v)) for v in row.values()))
    console.print(table)
