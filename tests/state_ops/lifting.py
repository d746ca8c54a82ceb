"""Plans run on the golden savepoints, and what a snapshot holds as plain dicts of bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from statelift.io.stores import Stores
from statelift.schemas.errors import StateliftError
from statelift.state_ops.apply import apply_job
from statelift.state_ops.job import Job, prepare
from statelift.state_ops.one_pass import entries_of
from statelift.state_ops.plan import Plan
from statelift.state_ops.report import Report, StateReport
from statelift.state_ops.snapshot import Snapshot, open_snapshot

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
UIDS = ("fraud-detector", "session-tracker", "buffering-sink", "rules", "gen-source")
SOURCES = ("hashmap-native", "rocksdb-native", "hashmap-canonical", "rocksdb-canonical")
TARGETS = ("canonical", "rocksdb")

#: The repair of the users last seen at a negative time: 6 of 60.
REPAIR = {
    "session-tracker": {
        "states": {
            "user-state": {
                "set": {"value.lastSeenTimestamp": "0", "value.fixed": "true"},
                "where": "value.lastSeenTimestamp < 0",
            }
        }
    }
}

#: (operator, state) to composite key to value, in canonical form.
Entries = dict[tuple[str, str], dict[bytes, bytes]]


def golden(source: str, version: str = "2.3.0") -> Path:
    return GOLDEN / version / source / "savepoint"


def golden_contents(source: str, version: str = "2.3.0") -> dict[str, Any]:
    contents: dict[str, Any] = json.loads((GOLDEN / version / source / "expected.json").read_text())
    return contents


def plan_of(source: object, target: object, operators: dict[str, Any] | None = None, **more: Any) -> Plan:
    return Plan.of({"source": str(source), "target": str(target), "operators": operators or {}, **more})


def one_state(operator: str, state: str, **plan: Any) -> dict[str, Any]:
    return {operator: {"states": {state: plan}}}


def prepared(source: object, target: object, operators: dict[str, Any] | None = None, **more: Any) -> Job:
    return prepare(plan_of(source, target, operators, **more))


def lift(
    source: object,
    target: object,
    operators: dict[str, Any] | None = None,
    *,
    workers: int = 1,
    stores: Stores | None = None,
    **more: Any,
) -> Report:
    return apply_job(prepare(plan_of(source, target, operators, **more), stores), workers=workers)


def opened(url: object, stores: Stores | None = None) -> Snapshot:
    return open_snapshot(str(url), uids=UIDS, stores=stores)


def entries(snapshot: Snapshot) -> Entries:
    """Every entry of every keyed state."""
    found: Entries = {}
    for operator in snapshot.operators:
        states = operator.keyed_states
        found |= {(operator.label, state.name): {} for state in states}
        for state, batch in entries_of(states):
            _, keys, values = (column.to_pylist() for column in batch.to_arrow().columns)
            found[operator.label, state.name] |= dict(zip(keys, values, strict=True))
    return found


def state_report(report: Report, name: str) -> StateReport:
    [found] = [state for state in report.states if state.name == name]
    return found


def one_line(error: StateliftError) -> str:
    """The message, which is a line."""
    text = str(error)
    assert "\n" not in text
    return text


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
