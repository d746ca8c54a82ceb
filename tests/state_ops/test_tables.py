"""State tables: entries as typed columns and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from statelift.io.keyed.entries import EntryBatch
from statelift.io.keyed.state_types import KeyedStateType
from statelift.schemas import types as t
from statelift.schemas.errors import EncodeError
from statelift.schemas.hashing import stability
from statelift.state_ops.digest import Digest
from statelift.state_ops.snapshot import Snapshot, open_snapshot
from statelift.state_ops.states import KeyedState
from statelift.state_ops.tables import KeyedTable

from .lifting import SOURCES, golden, opened
from .test_apply_corpus import metadata_of
from .test_transform import batches


def states(snapshot: Snapshot) -> list[KeyedState]:
    return [s for o in snapshot.operators for s in o.states if isinstance(s, KeyedState)]


def sorted_entries(batch: EntryBatch) -> list[tuple[object, ...]]:
    return sorted(zip(*(column.to_pylist() for column in batch.to_arrow().columns), strict=True))


@pytest.mark.parametrize("source", SOURCES)
def test_encoding_what_was_decoded_gives_the_entries_with_their_key_groups(source: str) -> None:
    for state in states(opened(golden(source))):
        for batch in batches(state):
            encoded = state.table.encode(state.table.decode(batch))
            assert sorted_entries(encoded) == sorted_entries(batch)
            assert Digest.of(encoded) == Digest.of(batch)


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name",
    ["2.0.2/types-rocksdb-canonical", "2.0.2/keys-hashmap-canonical", "1.16.3/windows-rocksdb-canonical",
     "2.0.2/collections-rocksdb-canonical", "1.20.5/sql-agg-rocksdb-canonical", "2.0.2/timers-rocksdb-canonical"],
)  # fmt: skip
def test_so_it_does_for_every_type_of_key_namespace_and_value(corpus: Path, name: str) -> None:
    checked = 0
    for state in states(open_snapshot(str(metadata_of(corpus / "known" / name)))):
        # v-pojo-sub holds a subclass whose serializer is in the job alone.
        if state.opaque is not None or stability(state.type.key) is not None or state.name == "v-pojo-sub":
            continue
        for batch in batches(state):
            rows = state.table.decode(batch)
            assert sorted_entries(state.table.encode(rows)) == sorted_entries(batch), state.name
            checked += len(batch)
    assert checked >= 30


def test_the_key_of_each_entry_is_found_without_its_value() -> None:
    for state in states(opened(golden("rocksdb-native"))):
        for batch in batches(state):
            rows = state.table.decode(batch)
            assert state.table.keys(batch).to_pylist() == rows["key"].to_pylist()
            assert state.table.key_groups(rows["key"]).tolist() == rows["key_group"].to_pylist()


def test_a_digest_does_not_depend_on_order_and_adds_up() -> None:
    [state] = [s for s in states(opened(golden("rocksdb-native"))) if s.name == "user-state"]
    [batch, *_] = batches(state)
    backwards = batch.take(pa.array(range(len(batch) - 1, -1, -1)).to_numpy())
    assert Digest.of(backwards) == Digest.of(batch)
    half = len(batch) // 2
    first, second = batch.take(slice(0, half)), batch.take(slice(half, None))
    assert Digest.of(first) + Digest.of(second) == Digest.of(batch)
    assert Digest.of(first) != Digest.of(second)


def test_a_null_key_and_a_missing_column_are_refused_by_name() -> None:
    [state] = [s for s in states(opened(golden("rocksdb-native"))) if s.name == "last-tx-timestamp"]
    rows = pa.RecordBatch.from_pydict({"key": ["a", None], "value": pa.array([1, 2], pa.int64())})
    with pytest.raises(EncodeError, match="the key of row 1 is null"):
        state.table.encode(rows)
    with pytest.raises(EncodeError, match=r"the column 'value' is missing \(state last-tx-timestamp\)"):
        state.table.encode(rows.select(["key"]).slice(0, 1))
    with pytest.raises(EncodeError, match="value is null and its serializer holds no null"):
        state.table.encode(pa.RecordBatch.from_pydict({"key": ["a"], "value": pa.array([None], pa.int64())}))


def test_keys_that_sql_gives_in_another_unit_have_the_key_groups_of_what_is_written() -> None:
    """A ``Date`` comes from SQL in microseconds."""
    users = opened(golden("hashmap-canonical")).state("session-tracker", "user-state")
    assert isinstance(users, KeyedState)
    table = KeyedTable(replace(users.type, key=t.scalar("date")), 128)
    millis = pa.array([-1, 1 << 40, 0], pa.timestamp("ms", "UTC"))
    groups = table.key_groups(millis).tolist()
    assert table.key_groups(millis.cast(pa.timestamp("us", "UTC"))).tolist() == groups
    # As those of the Long that Date.hashCode is made of.
    assert (
        groups
        == KeyedTable(replace(users.type, key=t.scalar("long")), 128)
        .key_groups(millis.cast(pa.int64()))
        .tolist()
    )


def test_no_length_stands_between_the_key_and_the_namespace_of_a_timer() -> None:
    """As it does in a state's keys where neither is of fixed length: a timer of an interval join, by Flink 2.2.1."""
    raw = bytes.fromhex("14 8000000000018704 037731 0d434c45414e55505f4c454654")
    kind = KeyedStateType(
        name="_timer_state/event_CLEANUP_TIMER", kind="timer", key=t.scalar("string"),
        namespace=t.scalar("string"), map_key=None, value=None,
    )  # fmt: skip
    rows = pa.RecordBatch.from_pydict(
        {"key": ["w1"], "namespace": ["CLEANUP_LEFT"], "timestamp": [100100], "domain": ["event"]}
    )
    encoded = KeyedTable(kind, 128).encode(rows)
    assert encoded.to_arrow()["composite_key"].to_pylist() == [raw]
    assert KeyedTable(kind, 128).decode(encoded).drop_columns(["key_group"]) == rows
