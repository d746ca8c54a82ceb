"""What a plan does to batches of one state: only the rows it is for get new bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from statelift.io.keyed.entries import EntryBatch
from statelift.schemas.errors import EncodeError, StateliftError
from statelift.state_ops.plan import StatePlan
from statelift.state_ops.snapshot import Snapshot, open_snapshot
from statelift.state_ops.states import KeyedState
from statelift.state_ops.transform import Transform, transform_of

from .lifting import golden, opened
from .test_apply_corpus import metadata_of

USERS = ("session-tracker", "user-state")
SCORES = ("fraud-detector", "fraud-scores")
TIMERS = ("session-tracker", "_timer_state/event_user-timers")


def batches(state: KeyedState, batch_bytes: int = 16 << 20) -> list[EntryBatch]:
    return [
        window[number]
        for backend, number in state.parts
        for window in backend.windows(None, frozenset((number,)), batch_bytes)
    ]


def keyed(snapshot: Snapshot, place: tuple[str, str]) -> KeyedState:
    state = snapshot.state(*place)
    assert isinstance(state, KeyedState)
    return state


def run(state: KeyedState, **plan: Any) -> tuple[list[dict[str, Any]], Transform]:
    """The rows afterwards, and the transform with what it counted."""
    transform = transform_of(StatePlan.model_validate(plan), state.table, state.operator.label)
    assert transform is not None
    rows = [row for batch in batches(state) for row in state.table.decode(transform.apply(batch)).to_pylist()]
    return rows, transform


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return opened(golden("rocksdb-native"))


# -- set ---------------------------------------------------------------------------------------------------------


def test_a_field_is_set_where_the_condition_holds(snapshot: Snapshot) -> None:
    before = keyed(snapshot, USERS).to_arrow().to_pylist()
    rows, transform = run(keyed(snapshot, USERS), set={"value.status": "key"}, where="value.status IS NULL")
    for was, now in zip(before, rows, strict=True):
        if was["value"]["status"] is None:
            was["value"]["status"] = was["key"]
        assert was == now
    assert (transform.changes.read, transform.changes.changed) == (60, 20)
    assert len(transform.changes.samples) == 5


def test_expressions_see_the_row_as_it_was(snapshot: Snapshot) -> None:
    """As in an UPDATE: the second does not see what the first has set."""
    sets = {"value.lastSeenTimestamp": "0", "value.status": "value.lastSeenTimestamp::VARCHAR"}
    rows, _ = run(keyed(snapshot, USERS), set=sets)
    before = keyed(snapshot, USERS).to_arrow().to_pylist()
    assert [row["value"]["status"] for row in rows] == [
        str(row["value"]["lastSeenTimestamp"]) for row in before
    ]
    assert {row["value"]["lastSeenTimestamp"] for row in rows} == {0}


def test_a_whole_value_is_set(snapshot: Snapshot) -> None:
    rows, _ = run(keyed(snapshot, ("fraud-detector", "last-tx-timestamp")), set={"value": "key_group"})
    assert all(row["value"] == row["key_group"] for row in rows)


def test_a_value_set_to_what_it_was_is_no_change(snapshot: Snapshot) -> None:
    sets = {"value.fixed": "value.fixed", "value.status": "value.status"}
    rows, transform = run(keyed(snapshot, USERS), set=sets)
    assert (transform.changes.changed, transform.changes.samples) == (0, [])
    assert rows == keyed(snapshot, USERS).to_arrow().to_pylist()


def test_entries_that_are_not_for_it_keep_their_bytes_where_they_lie(snapshot: Snapshot) -> None:
    state = keyed(snapshot, USERS)
    transform = transform_of(StatePlan(set={"value.status": "'x'"}, where="key = 'user-7'"), state.table, "o")
    assert transform is not None
    for batch in batches(state):
        after = transform.apply(batch)
        assert after.keys.data is batch.keys.data
        assert len(after) == len(batch)
        same = [(a == b) for a, b in zip(batch.values.to_arrow(), after.values.to_arrow(), strict=True)]
        assert same.count(False) <= 1


# -- delete ------------------------------------------------------------------------------------------------------


def test_map_entries_are_deleted_one_by_one(snapshot: Snapshot) -> None:
    before = keyed(snapshot, SCORES).to_arrow().to_pylist()
    rows, transform = run(
        keyed(snapshot, SCORES), delete={"where": "map_key LIKE '%-0' OR value.score < 0.2"}
    )
    kept = [r for r in before if not (r["map_key"].endswith("-0") or r["value"]["score"] < 0.2)]
    assert rows == kept
    assert transform.changes.deleted == len(before) - len(kept) > 0


def test_timers_are_deleted_by_their_time(snapshot: Snapshot) -> None:
    rows, transform = run(
        keyed(snapshot, TIMERS), delete={"where": "timestamp < 4000000030000 AND domain = 'event'"}
    )
    assert (len(rows), transform.changes.deleted) == (30, 30)


# -- select ------------------------------------------------------------------------------------------------------


def test_a_select_filters_and_projects(snapshot: Snapshot) -> None:
    fields = keyed(snapshot, USERS).schema.field("value").type
    names = [fields.field(i).name for i in range(fields.num_fields)]
    value = ", ".join(f"{n}: 1" if n == "lastSeenTimestamp" else f"{n}: u.value.{n}" for n in names)
    query = f"SELECT u.key, {{{value}}} AS value FROM \"user-state\" u WHERE u.value.status = 'ACTIVE'"
    rows, transform = run(keyed(snapshot, USERS), select=query)
    assert (transform.changes.deleted, transform.changes.changed) == (40, 20)
    assert {row["value"]["lastSeenTimestamp"] for row in rows} == {1}


def test_timers_are_moved_by_a_select(snapshot: Snapshot) -> None:
    query = f'SELECT key, timestamp + 1000 AS timestamp FROM "{TIMERS[1]}"'
    before = keyed(snapshot, TIMERS).to_arrow().to_pylist()
    rows, transform = run(keyed(snapshot, TIMERS), select=query)
    moved = {(r["key"], r["timestamp"] + 1000, r["key_group"]) for r in before}
    assert {(r["key"], r["timestamp"], r["key_group"]) for r in rows} == moved
    assert transform.changes.changed == 60


@pytest.mark.parametrize("parts", [[(0, 2)], [(0, 1), (1, 2)]], ids=["in a batch", "in two"])
def test_two_timers_of_a_key_are_not_moved_to_one_time(
    snapshot: Snapshot, parts: list[tuple[int, int]]
) -> None:
    table = keyed(snapshot, TIMERS).table
    rows = pa.RecordBatch.from_pydict(
        {"key": ["user-1"] * 2, "timestamp": [1000, 2000], "domain": ["event"] * 2}
    )
    two = [table.encode(rows).slice(*part) for part in parts]

    def moved(to: str) -> list[int]:
        plan = StatePlan(select=f'SELECT key, {to} AS timestamp FROM "{TIMERS[1]}"')
        transform = transform_of(plan, table, TIMERS[0])
        assert transform is not None
        return [row["timestamp"] for one in two for row in table.decode(transform.apply(one)).to_pylist()]

    assert moved("timestamp + 1000") == [2000, 3000]
    with pytest.raises(
        EncodeError, match=r"several timers of a key to one time \(.*key group \d+\); leave out"
    ):
        moved("5000")


def test_two_rows_for_one_entry_are_refused(snapshot: Snapshot) -> None:
    state = keyed(snapshot, ("session-tracker", "recent"))
    query = "SELECT key, [unnest(value)] AS value FROM recent"
    transform = transform_of(StatePlan(select=query), state.table, "session-tracker")
    if transform is None:
        return  # then it is run over the whole state, which refuses keys that come twice
    [batch, *_] = batches(state)
    with pytest.raises(EncodeError, match="two rows for one entry"):
        transform.apply(batch)


# -- every type there is -----------------------------------------------------------------------------------------


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name",
    [
        "2.0.2/types-rocksdb-canonical",
        "2.0.2/keys-hashmap-canonical",
        "2.0.2/collections-rocksdb-canonical",
        "1.16.3/windows-rocksdb-canonical",
        "2.0.2/timers-rocksdb-canonical",
        "1.20.5/sql-agg-rocksdb-canonical",
        "1.20.5/sql-join-hashmap-canonical",
    ],
)
def test_a_row_selected_as_it_is_stays_what_it_was(corpus: Path, name: str) -> None:
    """Values pass through SQL and back to the very bytes; a state that cannot is refused, never changed."""
    seen: dict[str, str] = {}
    for operator in open_snapshot(str(metadata_of(corpus / "known" / name))).operators:
        for state in operator.states:
            if isinstance(state, KeyedState):
                seen[f"{operator.label}.{state.name}"] = _identity(state)
    changed = {place: outcome for place, outcome in seen.items() if outcome.startswith("changed")}
    assert not changed
    same = [place for place, outcome in seen.items() if outcome == "same"]
    assert len(same) >= 0.8 * len(seen), seen


def _identity(state: KeyedState) -> str:
    query = f'SELECT * FROM "{state.name}"'
    try:
        transform = transform_of(StatePlan(select=query), state.table, state.operator.label)
        assert transform is not None
        for batch in batches(state):
            after = transform.apply(batch)
            if pa.Table.from_batches([after.to_arrow()]) != pa.Table.from_batches([batch.to_arrow()]):
                was, now = (state.table.decode(b).to_pylist() for b in (batch, after))
                return f"changed: {[pair for pair in zip(was, now, strict=True) if pair[0] != pair[1]][:3]}"
    except StateliftError as error:
        return f"refused: {error}"
    return "same"
