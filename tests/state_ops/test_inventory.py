"""What a snapshot holds, counted, is what Flink wrote: whatever the backend and the format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from statelift.state_ops.inventory import inventory
from statelift.state_ops.snapshot import open_snapshot

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SNAPSHOTS = sorted(path.parent for path in GOLDEN.glob("*/*/savepoint"))
UIDS = ("session-tracker", "fraud-detector", "buffering-sink", "rules", "gen-source")


@pytest.mark.parametrize("folder", SNAPSHOTS, ids=lambda path: "-".join(path.parts[-2:]))
def test_entries_of_every_state(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text())["operators"]
    operators = {o.operator: o for o in inventory(open_snapshot(str(folder / "savepoint"), uids=UIDS))}
    for uid, sections in expected.items():
        counted = {state.name: state.entries for state in operators[uid].states}
        for name, state in sections.get("keyed", {}).items():
            entries = state["entries"]
            rows = sum(len(e["value"]["$map"]) for e in entries) if state["kind"] == "map" else len(entries)
            assert counted[name] == rows, (uid, name)
        for name, state in sections.get("operator", {}).items():
            assert counted[name] == len(state["entries"]), (uid, name)
        for name, state in sections.get("broadcast", {}).items():
            copies = {entry["subtask"] for entry in state["entries"]}
            assert counted[name] == len(state["entries"]) // len(copies), (uid, name)


def test_bytes_are_those_of_the_operator_state_and_the_same_in_all_formats() -> None:
    sizes = {}
    for folder in (path for path in SNAPSHOTS if path.parts[-2] == "2.3.0"):
        operators = inventory(open_snapshot(str(folder / "savepoint")))
        sizes[folder.name] = {
            (o.operator, s.name): s.nbytes for o in operators for s in o.states if s.kind != "timer"
        }
        assert all(o.nbytes >= max((s.nbytes for s in o.states), default=0) for o in operators)
    first, *others = sizes.values()
    assert first["session-tracker", "user-state"] > 60 * len("user-0")
    # A list in several files of RocksDB is merged when it is read.
    assert all(other == first for other in others)
