"""What a snapshot does not say of classes: undecoded rows, declared classes, and both written back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import statelift
from statelift.schemas import types as t
from statelift.schemas.errors import PlanError, StoreError
from statelift.state_ops.states import KeyedState

from .test_known import TYPES, opened

KNOWN = "known"
PLAN = """
source: {source}
target: {target}
types: {types}
operators:
  types:
    states:
      {state}: {change}
"""


def folder_of(entry: Path) -> str:
    (metadata,) = entry.rglob("_metadata")
    return str(metadata.parent)


def rows(snapshot: statelift.Snapshot, state: str) -> dict[str, dict[str, Any]]:
    return {row["key"]: row for row in snapshot.state("types", state).to_arrow().to_pylist()}


def stored(snapshot: statelift.Snapshot, name: str) -> dict[bytes, bytes]:
    """The bytes of a state's values by those of their keys."""
    state = snapshot.state("types", name)
    assert isinstance(state, KeyedState)
    found = {}
    for backend, number in state.parts:
        for window in backend.windows(None, frozenset((number,))):
            batch = window[number]
            keys, values = batch.keys.to_arrow(clear_flag=True), batch.values.to_arrow()
            found |= dict(zip(keys.to_pylist(), values.to_pylist(), strict=True))
    return found


def applied(tmp_path: Path, source: str, state: str, change: str, types: Any) -> statelift.Snapshot:
    target = tmp_path / "target"
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        PLAN.format(source=source, target=target, state=state, change=change, types=json.dumps(types))
    )
    statelift.apply(statelift.Plan.load(str(plan)))
    return statelift.open(str(target), uids=["types"], types=types)


@pytest.mark.corpus
def test_a_subclass_that_nothing_names_leaves_its_own_rows_undecoded(corpus: Path, tmp_path: Path) -> None:
    entry = corpus / KNOWN / "2.0.2" / "types-hashmap-canonical"
    source = folder_of(entry)
    whole, _ = opened(entry)
    snapshot = statelift.open(source, uids=["types"])
    ours, theirs = rows(snapshot, "v-pojo-sub"), rows(whole, "v-pojo-sub")
    assert ours.keys() == theirs.keys()
    unknown = {
        key for key, row in theirs.items() if row["value"]["__class"] == "org.example.lab.M$SubUnregistered"
    }
    assert unknown
    for key, row in ours.items():
        assert (row["value"] is None) == (key in unknown) == (row["undecoded"] is not None)
        assert key in unknown or row["value"]["b"] == theirs[key]["value"]["b"]

    changed = applied(tmp_path, source, "v-pojo-sub", '{set: {value.b: "value.b + 1"}}', {})
    before, after = stored(snapshot, "v-pojo-sub"), stored(changed, "v-pojo-sub")
    assert before.keys() == after.keys()
    assert sum(before[key] == after[key] for key in before) == len(unknown)
    assert all(
        row["value"] is None or row["value"]["b"] == ours[key]["value"]["b"] + 1
        for key, row in rows(changed, "v-pojo-sub").items()
    )


@pytest.mark.corpus
@pytest.mark.parametrize("version", ["1.16.3", "2.0.2"])
def test_a_class_of_kryos_is_changed_and_the_rest_keeps_its_bytes(
    corpus: Path, tmp_path: Path, version: str
) -> None:
    entry = corpus / KNOWN / version / "types-rocksdb-canonical"
    before, _ = opened(entry)
    change = """{set: {value.left: "upper(value.left)"}, where: "key = 'key-1'"}"""
    after = applied(tmp_path, folder_of(entry), "v-kryo-opaque", change, TYPES)
    old, new = stored(before, "v-kryo-opaque"), stored(after, "v-kryo-opaque")
    differing = [key for key in old if old[key] != new[key]]
    assert [old[key].replace(b"op1"[:-1], b"OP") for key in differing] == [new[key] for key in differing]
    assert len(differing) == 1
    assert rows(after, "v-kryo-opaque")["key-1"]["value"]["left"] == "OP1"


@pytest.mark.corpus
@pytest.mark.parametrize("version", ["1.16.3", "2.0.2"])
def test_every_kryo_value_is_written_as_it_was(corpus: Path, version: str) -> None:
    snapshot, _ = opened(corpus / KNOWN / version / "types-rocksdb-canonical")
    seen = 0
    for state in snapshot.operator("types").states:
        if not isinstance(state, KeyedState) or not state.table.has_many_forms:
            continue
        for backend, number in state.parts:
            for window in backend.windows(None, frozenset((number,))):
                written = state.table.encode_values(state.table.decode(window[number]))
                assert written.equals(window[number].values.to_arrow()), state.name
                seen += 1
    assert seen


@pytest.mark.corpus
def test_what_kryo_registers_is_in_the_type(corpus: Path) -> None:
    snapshot, _ = opened(corpus / KNOWN / "1.16.3" / "types-rocksdb-canonical")
    node = snapshot.state("types", "v-kryo-treemap").types["value"]
    assert isinstance(node, t.KryoType)
    assert str(node).startswith('kryo[kryo=2, registered=(java.util.TreeMap, "")]<java.util.TreeMap, map[')


@pytest.mark.corpus
def test_declarations_from_a_file_and_what_is_wrong_with_it(corpus: Path, tmp_path: Path) -> None:
    source = folder_of(corpus / KNOWN / "1.16.3" / "types-rocksdb-canonical")
    file = tmp_path / "classes.yaml"
    file.write_text(json.dumps(TYPES))
    column = statelift.open(source, uids=["types"], types=str(file)).state("types", "v-kryo-opaque").schema
    assert pa.types.is_struct(column.field("value").type)
    file.write_text("com.acme.A: {field: {a: int}}")
    with pytest.raises(PlanError, match=r"types: com.acme.A field: .*classes.yaml"):
        statelift.open(source, types=str(file))
    file.write_text("com.acme.A: {fields: {a: strin}}")
    with pytest.raises(PlanError, match=r"field a: .* nearest: string.*classes.yaml"):
        statelift.open(source, types=str(file))
    with pytest.raises(StoreError):
        statelift.open(source, types=str(tmp_path / "none.yaml"))
