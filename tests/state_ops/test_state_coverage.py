"""Each state says how much of it is decoded, what is opaque and where, and which entries are damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import statelift
from statelift.schemas.errors import PlanError
from statelift.schemas.hashing import key_groups
from statelift.schemas.snapshots import OpaqueSnapshot, build
from statelift.state_ops.apply import apply
from statelift.state_ops.inventory import StateInventory, inventory
from statelift.state_ops.lookup import key_array_type, key_type, look_up
from statelift.state_ops.plan import Plan
from statelift.state_ops.states import KeyedState
from statelift.state_ops.verify import verify

from .making import UID, Made, savepoint

STRING, LONG = build.scalar("String"), build.scalar("Long")
KEYS = [bytes([2, letter]) for letter in b"abc"]
TEXT = dict(zip(KEYS, [b"\2x", b"\2y", b"\2z"], strict=True))
TAGS = build.kryo("com.acme.Tags")
REASON = "Kryo without a declared shape"


def states(folder: Path) -> dict[str, StateInventory]:
    (operator,) = inventory(statelift.open(str(folder), uids=[UID]))
    return {state.name: state for state in operator.states}


def test_opaque_parts_are_told_by_their_place_class_and_reason(tmp_path: Path) -> None:
    pojo = build.pojo("com.acme.P", {"name": STRING, "tags": TAGS})
    first = build.pojo("com.acme.Q", {"blob": build.list_of(TAGS), "name": STRING})
    null = dict.fromkeys(KEYS, b"\1")
    savepoint(
        tmp_path,
        STRING,
        Made(name="text", value=STRING, entries=TEXT),
        Made(name="at-its-end", value=pojo, entries=null),
        Made(name="before-the-rest", value=first, entries=null),
        Made(name="whole", value=TAGS, entries=null),
    )
    found = states(tmp_path)
    assert {name: state.decoded for name, state in found.items()} == {
        "text": "all", "at-its-end": "part", "before-the-rest": "none", "whole": "none",
    }  # fmt: skip
    assert {name: [str(part) for part in state.opaque] for name, state in found.items()} == {
        "text": [],
        "at-its-end": [f"value.tags: com.acme.Tags, {REASON}"],
        "before-the-rest": [f"value.blob[]: com.acme.Tags, {REASON}"],
        "whole": [f"value: com.acme.Tags, {REASON}"],
    }
    table = statelift.open(str(tmp_path), uids=[UID]).state(UID, "at-its-end").to_arrow()
    assert str(table.schema.field("value").type) == "struct<name: string, tags: binary>"


def test_damaged_entries_are_counted_and_their_places_told(tmp_path: Path) -> None:
    cut = {**TEXT, KEYS[1]: b"\x09y"}
    savepoint(
        tmp_path,
        STRING,
        Made(name="whole", value=STRING, entries=TEXT),
        Made(name="cut", value=STRING, entries=cut),
    )
    found = states(tmp_path)
    assert (found["whole"].entries, found["whole"].damaged, found["whole"].damage) == (3, 0, ())
    assert (found["cut"].entries, found["cut"].damaged) == (3, 1)
    (why,) = found["cut"].damage
    group = statelift.open(str(tmp_path), uids=[UID]).state(UID, "whole").to_arrow()
    groups = dict(zip(group["key"].to_pylist(), group["key_group"].to_pylist(), strict=True))
    assert f"operator {UID}, state cut, key group {groups['b']}" in why
    (operator,) = inventory(statelift.open(str(tmp_path), uids=[UID]))
    assert [problem.split(":")[0] for problem in operator.problems] == [
        "1 of 3 entries do not decode, the first"
    ]


def test_an_unknown_serializer_hides_no_other_state(tmp_path: Path) -> None:
    """Its snapshot has no length (spec 15.23): what stands behind it is found all the same."""
    unknown = OpaqueSnapshot(
        class_name="com.acme.Custom$Snapshot",
        version=3,
        raw=bytes(range(40)),
        unknown_class="com.acme.Custom$Snapshot",
    )
    savepoint(
        tmp_path,
        STRING,
        Made(name="before", value=STRING, entries=TEXT),
        Made(name="custom", value=unknown, entries=dict.fromkeys(KEYS, b"\xca\xfe")),
        Made(name="in-a-list", value=build.list_of(unknown), kind="LIST", entries=dict.fromkeys(KEYS, b"?")),
        Made(name="behind", value=LONG, entries=dict.fromkeys(KEYS, bytes(8))),
    )
    found = states(tmp_path)
    assert {name: (state.decoded, state.entries) for name, state in found.items()} == {
        "before": ("all", 3), "custom": ("none", 3), "in-a-list": ("none", 3), "behind": ("all", 3),
    }  # fmt: skip
    assert {part.class_name for part in found["custom"].opaque} == {"com.acme.Custom$Snapshot"}
    snapshot = statelift.open(str(tmp_path), uids=[UID])
    assert snapshot.state(UID, "custom").to_arrow()["value"].to_pylist() == [b"\xca\xfe"] * 3
    assert sorted(snapshot.state(UID, "before").to_arrow()["value"].to_pylist()) == ["x", "y", "z"]


def test_flinks_own_custom_serializer(corpus: Path) -> None:
    """``TypeSerializerSnapshotMigrationITCase``: ``testState`` is of a serializer that only its test has."""
    folders = sorted((corpus / "savepoints").glob("type-serializer-snapshot-migration-itcase-*rocksdb*"))
    assert folders
    for folder in folders:
        found = {s.name: s for one in inventory(statelift.open(str(folder))) for s in one.states}
        custom = found["testState"]
        assert custom.decoded == "none"
        assert "TestSerializer" in custom.opaque[0].class_name
        assert custom.entries
        assert not custom.damaged


@pytest.fixture
def named_rows(tmp_path: Path) -> statelift.Snapshot:
    """A ``Row`` with named fields hashes by the names (spec 4.2): {f0: "a", f1: 1} to 6324, by position to 4961."""
    key = bytes.fromhex("00 0261 00000001".replace(" ", ""))
    source = savepoint(
        tmp_path,
        build.row_of(STRING, build.scalar("Int")),
        Made(name="v", value=STRING, entries={key: b"\2x"}),
        key_group=int(key_groups(np.array([6324], np.int32), 128)[0]),
    )
    return statelift.open(str(source), uids=[UID])


def test_rows_in_other_key_groups_than_by_position_are_no_fault(named_rows: statelift.Snapshot) -> None:
    (finding,) = verify(named_rows)
    assert finding.severity == "unchecked"
    assert "rows with named fields hash by the names" in finding.what


def test_rows_with_names_are_found_in_their_key_group(named_rows: statelift.Snapshot) -> None:
    operator = named_rows.operator(UID)
    states = [state for state in operator.states if isinstance(state, KeyedState)]
    key = pa.array([{"__kind": 0, "f0": "a", "f1": 1}], key_array_type(key_type(operator)))
    assert look_up(operator, states, key).rows["v"]["value"].to_pylist() == ["x"]


def test_new_rows_with_names_are_not_placed_by_position(
    named_rows: statelift.Snapshot, tmp_path: Path
) -> None:
    select = f'SELECT * FROM "{UID}"."v" UNION ALL (SELECT * FROM "{UID}"."v" LIMIT 0)'
    plan = {
        "source": named_rows.url, "target": str(tmp_path / "out"),
        "operators": {UID: {"states": {"v": {"select": select}}}},
    }  # fmt: skip
    with pytest.raises(PlanError, match="hash by the names that no snapshot has"):
        apply(Plan.of(plan), workers=1)
    assert not (tmp_path / "out" / "_metadata").exists()
