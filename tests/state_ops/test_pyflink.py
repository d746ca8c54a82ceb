"""State that PyFlink jobs wrote, of both execution modes, reads as the job's own model says it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import statelift
from statelift.schemas.operator_id import operator_id_of_uid
from statelift.state_ops.checks import check_key_groups
from statelift.state_ops.states import State
from statelift.state_ops.values import values

from .sections import compare_operator

ROOT = Path(__file__).resolve().parents[1] / "golden" / "pyflink"
TYPES = str(ROOT / "types.yaml")
EVERY = ("types", "kinds", "by-tuple", "by-row", "by-pickle", "ruled", "windowed", "sessions")

#: The savepoints by their folder, and the operators of each that have state.
SAVEPOINTS: dict[str, tuple[str, ...]] = {
    "1.20.5/process-rocksdb-canonical": ("types", "kinds", "ruled", "by-pickle"),
    "1.20.5/thread-hashmap-native": ("kinds",),
    "1.20.5/thread-rocksdb-canonical": ("types", "kinds", "by-pickle"),
    "2.3.0/process-hashmap-native": ("kinds", "ruled"),
    "2.3.0/process-rocksdb-canonical": EVERY,
    "2.3.0/process-rocksdb-native": ("windowed",),
    "2.3.0/thread-rocksdb-canonical": tuple(uid for uid in EVERY if uid != "sessions"),
}
PROCESS_MODE = [name for name in SAVEPOINTS if "/process-" in name]


def expected(name: str) -> dict[str, Any]:
    """What the states hold, by operator and section."""
    mode = "process" if name in PROCESS_MODE else "thread"
    operators = json.loads((ROOT / f"{mode}.json").read_text())["operators"]
    return {uid: operators[uid] for uid in SAVEPOINTS[name]}


def opened(name: str, *, types: bool = True) -> statelift.Snapshot:
    """Of process mode with the types that the job has; a snapshot of thread mode says them itself."""
    told = TYPES if types and name in PROCESS_MODE else None
    return statelift.open(str(ROOT / name), python_types=told, uids=EVERY)


def test_all_savepoints_are_read() -> None:
    assert {"/".join(path.parent.parts[-2:]) for path in ROOT.glob("*/*/_metadata")} == set(SAVEPOINTS)


@pytest.mark.parametrize("name", SAVEPOINTS)
def test_reads_as_the_job_has_it(name: str) -> None:
    """Values, keys, key groups, windows and timers; nothing more is there, and nothing is opaque."""
    snapshot, opaque = opened(name), set[str]()
    assert {one.id for one in snapshot.operators if one.keyed_backends} == {
        operator_id_of_uid(uid).hex() for uid in SAVEPOINTS[name]
    }
    wrong = [
        one
        for uid, sections in expected(name).items()
        for one in compare_operator(snapshot.operator(uid), uid, sections, opaque)
    ]
    assert wrong == []
    assert opaque == set()


@pytest.mark.parametrize("name", SAVEPOINTS)
def test_each_key_is_in_the_key_group_of_its_hash(name: str) -> None:
    """In Java a key is a row of one field, and the row hashes by the place of that."""
    found = check_key_groups(opened(name))
    assert found.passed
    assert "not checked" not in found.what


@pytest.mark.parametrize("name", PROCESS_MODE)
def test_without_types_there_are_bytes(name: str) -> None:
    """The same keys; no value is guessed, and none is unpickled."""
    snapshot = opened(name, types=False)
    for uid, sections in expected(name).items():
        for state, wanted in sections["keyed"].items():
            table = snapshot.state(uid, state).to_arrow()
            column = table["value"].combine_chunks()
            held = column if wanted["kind"] == "map" else column.flatten()
            assert held.type == pa.binary()
            assert {*table["key_group"].to_pylist()} == {entry["kg"] for entry in wanted["entries"]}


#: What `repair.yaml` makes of the rows that it changes: by operator and state, by the key and that of the map.
REPAIRED: dict[tuple[str, str], dict[str, Any]] = {
    ("types", "long"): {'["key-1"]': 7},
    ("types", "string"): {'["key-2"]': "repaired é😀2"},
    ("types", "big_dec"): {'["key-0"]': "99.50"},
    ("types", "timestamp"): {'["key-0"]': "2030-01-02T03:04:05.678"},
    ("types", "named"): {'["key-1"]': {"__kind": 0, "name": "new", "n": None}},
    ("types", "boolean"): {'["key-0"]': None},
    ("kinds", "seen"): {"[-2]": [[1, 2], [3]]},
    ("kinds", "by"): {'[0, "k1"]': 1000, '[-1, "k1"]': 1001, '[-2, "k1"]': 1002},
    ("kinds", "sum"): {"[0]": 6, "[-1]": 12, "[-2]": 18},
    ("kinds", "mean"): {"[-1]": {"f0": 3, "f1": 0}},
    ("kinds", "ttl"): {"[0]": 55},
    # The key is what process mode makes of ("key-1", 1): cloudpickle.dumps.
    ("by-pickle", "count"): {'["8005950d000000000000008c056b65792d31944b0186942e"]': 2000},
    ("windowed", "window-contents"): {'["key-1"]': [[{"f0": 9, "f1": 9}]]},
    ("ruled", "rules"): {'["rule 1"]': {"__kind": 0, "name": "rule", "n": 77}},
}


def test_only_what_a_plan_names_changes(tmp_path: Path) -> None:
    """PyFlink restored what this plan makes, and found these values, and all others as they were."""
    source = opened("2.3.0/process-rocksdb-canonical")
    plan = statelift.Plan.load(str(ROOT / "repair.yaml"))
    plan = plan.model_copy(update={"source": source.url, "target": str(tmp_path / "target")})
    statelift.apply(plan)
    target = statelift.open(str(tmp_path / "target"), python_types=TYPES, uids=EVERY)
    changed = {}
    for operator in source.operators:
        for state in operator.states:
            before, after = (values_of(one.state(operator.id, state.name)) for one in (source, target))
            place = (operator.label, state.name.removeprefix("python-state-"))
            different = {key: after.get(key) for key in before if before[key] != after.get(key)}
            changed |= {place: different} if different else {}
    assert changed == REPAIRED


def values_of(state: State) -> dict[str, Any]:
    """Values by the JSON of what tells rows apart: the key, of maps that of the entry, of timers the time."""
    rows = values(state.to_arrow().to_struct_array().combine_chunks())
    for row in rows:
        row["key"] = row["key"]["f0"] if "key" in row else None
    parts = ("key", "map_key", "timestamp", "index")
    return {
        json.dumps([row[part] for part in parts if row.get(part) is not None]): row.get("value")
        for row in rows
    }
