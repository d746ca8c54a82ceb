"""State of real SQL jobs: read, encoded anew and repaired by us; restored by Flink, the job goes on as from its own.

The job (sql_jobs.py) runs over the first half of its input and leaves savepoints of two formats. What judges is what
comes to its sinks over the second half, restored from what we wrote. With HYPOTHESIS_PROFILE=long the jobs of all
queries, and in mini-batches, run too.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import statelift
from statelift.state_ops.apply import apply
from statelift.state_ops.plan import Plan
from statelift.state_ops.report import Report
from statelift.state_ops.sql_columns import has_unnamed
from statelift.state_ops.states import KeyedState, State
from statelift.state_ops.values import json_rows
from statelift.state_ops.verify import verify

from .flink import FlinkHarness
from .sql_jobs import JOBS

pytestmark = pytest.mark.flink

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
HALF, WHOLE = 4, 6
BACKENDS = {"canonical": "hashmap", "rocksdb": "rocksdb"}
#: They have said all after the first half: what comes first stays.
SAID_ALL = {"first_proc", "first_row"}

Received = dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class Halved:
    """A job after half of its input, and what comes to its sinks over the rest as Flink goes on itself."""

    flink: FlinkHarness
    name: str
    plan: Path
    canonical: Path
    native: Path
    received: Received

    def opened(self, path: Path) -> statelift.Snapshot:
        return statelift.open(str(path), sql_plan=str(self.plan))

    def apply(self, target: Path, format: str, operators: dict[str, Any]) -> Report:
        places = {"source": str(self.canonical), "target": str(target), "format": format}
        return apply(Plan.of({**places, "sql_plan": str(self.plan), "operators": operators}), workers=1)

    def resumed(self, snapshot: Path, backend: str) -> Received:
        run = self.flink.sql(
            JOBS[self.name], self.plan, backend=backend, after=HALF, until=WHOLE, snapshot=snapshot
        )
        return dict(run.received)


@pytest.fixture(scope="module", params=JOBS if LONG else ["few"])
def halved(
    request: pytest.FixtureRequest, flink: FlinkHarness, tmp_path_factory: pytest.TempPathFactory
) -> Halved:
    job, folder = JOBS[request.param], tmp_path_factory.mktemp("sql")
    plan = folder / "plan.json"
    targets = {"canonical": folder / "canonical", "native": folder / "native"}
    first = flink.sql(job, plan, backend="rocksdb", until=HALF, savepoints=targets)
    rest = flink.sql(
        job, plan, backend="rocksdb", after=HALF, until=WHOLE, snapshot=first.savepoints["native"]
    )
    assert {*first.received, *rest.received} == set(job.queries_of(flink.version))
    assert set(first.received) - set(rest.received) <= SAID_ALL
    return Halved(
        flink=flink, name=request.param, plan=plan, received=dict(rest.received), **first.savepoints
    )


def states(snapshot: statelift.Snapshot) -> Iterator[tuple[str, State]]:
    """All states with the uid of their operator, the sources' own apart."""
    for operator in snapshot.operators:
        for state in operator.states:
            if state.name != "SourceReaderState":
                yield operator.uid or operator.id, state


def rows(state: State) -> Counter[str]:
    return Counter(repr(row) for batch in state.to_arrow().to_batches() for row in json_rows(batch))


# -- read ----------------------------------------------------------------------------------------------------------


#: The parts of values that are bytes: what is in them only the serializers of RAW columns know.
OPAQUE: set[str] = set()


def test_all_is_read(halved: Halved) -> None:
    for path in (halved.canonical, halved.native):
        snapshot = halved.opened(path)
        assert [str(one) for one in verify(snapshot)] == []
        opaque = {f"{state.name} {part}" for _, state in states(snapshot) for part in state.opaque_parts}
        assert opaque == OPAQUE
        unnamed = {
            f"{uid} {state.name}"
            for uid, state in states(snapshot)
            if any(map(has_unnamed, state.types.values()))
        }
        assert unnamed == set()


def test_both_formats_hold_the_same(halved: Halved) -> None:
    canonical, native = (
        {(uid, state.name): rows(state) for uid, state in states(found)}
        for found in map(halved.opened, (halved.canonical, halved.native))
    )
    assert canonical == native
    assert sum(map(Counter.total, canonical.values())) > 3_000


# -- written -------------------------------------------------------------------------------------------------------


def by_set(uid: str, state: State) -> dict[str, Any]:
    """Values anew."""
    return {"set": {"value": "value"}} if state.kind != "timer" else {"select": _rows(uid, state)}


def by_select(uid: str, state: State) -> dict[str, Any]:
    """Keys too, and placed anew, where Flink has one form of them and there are any."""
    kinds = [str(state.types[part]) for part in ("key", "map_key") if part in state.types]
    if (
        not isinstance(state, KeyedState)
        or not state.count()
        or re.search(r"decimal\(30|timestamp\(9", " ".join(kinds))
    ):
        return by_set(uid, state)
    return {"select": f"{_rows(uid, state)} UNION ALL ({_rows(uid, state)} LIMIT 0)"}


def _rows(uid: str, state: State) -> str:
    return f'SELECT * FROM "{uid}"."{state.name}"'


ANEW = {"few": by_select, "each": by_set, "batched": by_select}


@pytest.mark.parametrize("format", BACKENDS if LONG else ["canonical"])
def test_the_job_goes_on_from_what_is_encoded_anew(halved: Halved, tmp_path: Path, format: str) -> None:
    operators: dict[str, Any] = {}
    for uid, state in states(halved.opened(halved.canonical)):
        operators.setdefault(uid, {"states": {}})["states"][state.name] = ANEW[halved.name](uid, state)
    report = halved.apply(tmp_path / "out", format, operators)
    assert [(one.operator, one.name) for one in report.states if one.read != one.written] == []
    assert_same(halved.resumed(tmp_path / "out", BACKENDS[format]), halved.received)


def assert_same(found: Received, expected: Received) -> None:
    """In whatever order: that of rows between keys is the backend's."""
    assert {sink: Counter(rows) for sink, rows in found.items()} == {
        sink: Counter(rows) for sink, rows in expected.items()
    }


# -- repaired ------------------------------------------------------------------------------------------------------


LOWERED, FORGOTTEN = "key 66 of Übergröße", "key 34 of Übergröße"


def lowered(rows: list[str]) -> list[str]:
    """What comes of `by_s` where 1000 less was summed up for a key."""
    of_key = re.compile(rf"(..\[{LOWERED}, \d+), (\d+), (\d+\])")
    return [of_key.sub(lambda row: f"{row[1]}, {int(row[2]) - 1000}, {row[3]}", row) for row in rows]


def forgotten(rows: list[str]) -> list[str]:
    """What comes of `last_proc` where no row of a key was seen: its first is new, and takes no other back."""
    first, second, *_ = (i for i, row in enumerate(rows) if row.endswith(f" {FORGOTTEN}]"))
    assert (rows[first][:2], rows[second][:2]) == ("-U", "+U")
    return [*rows[:first], *rows[first + 1 : second], "+I" + rows[second][2:], *rows[second + 1 :]]


def keyed_by_text(halved: Halved, name: str, value: str) -> tuple[str, str]:
    """The operator that has a state of that name and type, keyed by a text alone, and the text's column."""
    [found] = [
        (uid, state.types["key"].fields[0].name)
        for uid, state in states(halved.opened(halved.canonical))
        if state.name == name
        and re.fullmatch(value, str(state.types["value"]))
        and re.fullmatch(r"rowdata \{\S+: string_data\}", str(state.types["key"]))
    ]
    return found


@pytest.mark.parametrize("halved", ["few"], indirect=True)
def test_the_job_goes_on_from_what_was_repaired(halved: Halved, tmp_path: Path) -> None:
    sums, summed = keyed_by_text(halved, "accState", r"rowdata \{c: long, total: long, top: long\}")
    last, seen = keyed_by_text(halved, "deduplicate-state", ".*")
    lower = {"set": {"value.total": "value.total - 1000"}, "where": f"key.\"{summed}\" = '{LOWERED}'"}
    forget = {"delete": {"where": f"key.\"{seen}\" = '{FORGOTTEN}'"}}
    operators = {sums: {"states": {"accState": lower}}, last: {"states": {"deduplicate-state": forget}}}
    report = halved.apply(tmp_path / "out", "rocksdb", operators)
    assert report.changed == 2
    by_hand = {"by_s": lowered(halved.received["by_s"]), "last_proc": forgotten(halved.received["last_proc"])}
    assert all(by_hand[sink] != halved.received[sink] for sink in by_hand)
    assert_same(halved.resumed(tmp_path / "out", "rocksdb"), {**halved.received, **by_hand})
