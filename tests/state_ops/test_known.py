"""Snapshots of known contents read as they are known: every state of every operator, every entry, every value.

An entry is a snapshot that Flink wrote with ``expected.json`` beside it, which the job's own model computed. What is
carried as bytes is compared but for the value, and is listed here with the reason: the list is exact.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import statelift
from statelift.state_ops.snapshot import Operator

from .sections import compare_operator, state_name

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ROOT.parent / "shared" / "corpus" / "known"
GOLDEN = ROOT / "tests" / "golden"

#: What the snapshots do not say: a subclass that the job met only while it wrote, the fields of a class of Kryo's.
TYPES = {
    "org.example.lab.M$SubUnregistered": {"extends": "org.example.lab.M$Base", "fields": {"more": "long"}},
    "org.example.lab.M$Opaque": {
        "fields": {"left": "string", "many": "list<nullable<int>>", "right": "int"},
    },
}


def entries() -> list[Any]:
    paths = [path for base in (KNOWN, GOLDEN) for path in sorted(base.glob("*/*/expected.json"))]
    return [pytest.param(path.parent, id="/".join(path.parts[-3:-1])) for path in paths]


def opened(entry: Path) -> tuple[statelift.Snapshot, dict[str, Any]]:
    """The snapshot of an entry, and what is known of it."""
    (metadata,) = entry.rglob("_metadata")
    expected = json.loads((entry / "expected.json").read_text())
    return statelift.open(str(metadata.parent), uids=expected["operators"], types=TYPES), expected


def operator_of(snapshot: statelift.Snapshot, uid: str, wanted: dict[str, Any]) -> Operator:
    """The operator of this uid; in SQL, where ``sql`` stands for the one that matters, the one with its states."""
    if uid != "sql":
        return snapshot.operator(uid)
    names = {state_name(section, name) for section, states in wanted.items() for name in states}
    (found,) = [o for o in snapshot.operators if names <= {state.name for state in o.states}]
    return found


@pytest.mark.parametrize("entry", entries())
def test_reads_as_it_is_known(entry: Path) -> None:
    snapshot, expected = opened(entry)
    opaque: set[str] = set()
    wrong: list[str] = []
    for uid, sections in expected["operators"].items():
        wrong += compare_operator(operator_of(snapshot, uid, sections), uid, sections, opaque)
    assert wrong == []
    assert opaque == set()


def test_the_known_snapshots_are_here(corpus: Path) -> None:
    assert len(list((corpus / "known").glob("*/*/expected.json"))) == 101


def test_what_differs_is_told() -> None:
    snapshot, expected = opened(GOLDEN / "1.20.5" / "rocksdb-native")
    sections = expected["operators"]["fraud-detector"]
    entries = sections["keyed"]["fraud-scores"]["entries"]
    entries[0]["kg"] += 1
    entries[1]["value"]["$map"][0][1]["fields"]["timestamp"] += 0.0
    entries[2]["key"] = "account-x"
    del entries[3:5]
    wrong = compare_operator(snapshot.operator("fraud-detector"), "fraud-detector", sections, set())
    assert sum("missing" in one for one in wrong) == 3
    assert sum("not expected" in one for one in wrong) == 5
