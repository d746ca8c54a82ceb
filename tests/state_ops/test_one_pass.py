"""Many states of an operator read in one pass, whatever one of them holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from statelift.io.keyed.backend import KeyedBackend
from statelift.io.keyed.entries import EntryBatch, Window
from statelift.schemas.errors import FormatError, StateliftError
from statelift.state_ops.checks import run_checks
from statelift.state_ops.inventory import inventory
from statelift.state_ops.one_pass import entries_of, read_states
from statelift.state_ops.states import KeyedState

from .lifting import SOURCES, golden, lift, opened, plan_of

TRACKER = "session-tracker"


class Count:
    """How many entries; those of ``refused`` states are not taken."""

    def __init__(self, state: KeyedState, refused: str = "") -> None:
        self.state, self.refused, self.entries = state, refused, 0

    def add(self, batch: EntryBatch) -> None:
        if self.state.name == self.refused:
            raise FormatError("not this one")
        self.entries += len(batch)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often the entries of each backend are read."""
    seen: Counter[int] = Counter()
    alive: list[KeyedBackend] = []
    windows = KeyedBackend.windows

    def counted(self: KeyedBackend, *arguments: Any) -> Iterator[Window]:
        alive.append(self)
        seen[id(self)] += 1
        return windows(self, *arguments)

    monkeypatch.setattr(KeyedBackend, "windows", counted)
    return seen


@pytest.mark.parametrize("source", SOURCES)
def test_every_state_is_given_what_it_has_by_itself(source: str, passes: Counter[int]) -> None:
    operator = opened(golden(source)).operator(TRACKER)
    states = operator.keyed_states
    found = read_states(states, Count)
    assert set(passes.values()) == {len(states) if source == "rocksdb-native" else 1}
    for state in states:
        count = found[state.name]
        assert isinstance(count, Count)
        assert count.entries == state.count()
        one = [batch.to_arrow() for own, batch in entries_of(states) if own is state]
        alone = [batch.to_arrow() for _, batch in entries_of([state])]
        assert [row for b in one for row in b.to_pylist()] == [row for b in alone for row in b.to_pylist()]


@pytest.mark.parametrize("source", SOURCES)
def test_a_state_that_is_refused_keeps_no_other_from_being_read(source: str) -> None:
    states = opened(golden(source)).operator(TRACKER).keyed_states
    found = read_states(states, lambda state: Count(state, "user-state"))
    refused = [name for name, one in found.items() if isinstance(one, StateliftError)]
    assert refused == ["user-state"]
    assert f"operator {TRACKER}, state user-state" in str(found["user-state"])
    assert len(found) > 1


def test_a_damaged_file_of_one_state_keeps_no_other_from_being_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """RocksDB's states lie in files of their own."""
    states = opened(golden("rocksdb-native")).operator(TRACKER).keyed_states
    windows = KeyedBackend.windows

    def damaged(
        self: KeyedBackend, key_groups: Any, wanted: frozenset[int], batch_bytes: int | None
    ) -> Iterator[Window]:
        yield from windows(self, key_groups, wanted, batch_bytes)
        if "recent" in {self.states[number].name for number in wanted}:
            raise FormatError("damaged")

    monkeypatch.setattr(KeyedBackend, "windows", damaged)
    found = read_states(states, Count)
    assert [name for name, one in found.items() if isinstance(one, StateliftError)] == ["recent"]
    counts = {name: one.entries for name, one in found.items() if isinstance(one, Count)}
    monkeypatch.undo()
    assert counts == {state.name: state.count() for state in states if state.name != "recent"}


@pytest.mark.parametrize("source", ["hashmap-native", "hashmap-canonical"])
def test_inventory_checks_and_queries_over_many_states_read_each_backend_once(
    source: str, tmp_path: Path, passes: Counter[int]
) -> None:
    inventory(opened(golden(source)))
    assert set(passes.values()) == {1}
    passes.clear()
    states = opened(golden(source)).operator(TRACKER).keyed_states
    tables = {state.name: f'"{TRACKER}"."{state.name}"' for state in states}
    anew = {
        name: {"select": f"SELECT * FROM {table} UNION ALL (SELECT * FROM {table} LIMIT 0)"}
        for name, table in tables.items()
    }
    plan = plan_of(golden(source), tmp_path / "out", {TRACKER: {"states": anew}}, format="canonical")
    report = lift(golden(source), tmp_path / "out", {TRACKER: {"states": anew}}, format="canonical")
    assert all(state.read == state.written for state in report.states)
    assert set(passes.values()) == {1}
    passes.clear()
    assert all(check.passed for check in run_checks(plan, report))
    assert set(passes.values()) == {1}
