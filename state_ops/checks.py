"""Checks of a new snapshot against the report of the run that wrote it and the assertions of its plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..io.keyed.entries import EntryBatch
from ..io.stores import Stores
from ..schemas.errors import StateliftError
from ..schemas.hashing import may_have_names, stability
from .carry import sha256_of
from .digest import Digest
from .elements import digest_of_elements
from .job import opened_for
from .one_pass import read_states
from .plan import Plan
from .report import Report
from .snapshot import Operator, Snapshot
from .states import BroadcastState, KeyedState, OperatorListState
from .tables import KeyedTable
from .values import json_rows, values

SAMPLES = 10
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: ``what`` says in a line what was seen; ``rows`` are the first things that break it."""

    name: str
    passed: bool
    what: str
    rows: list[dict[str, Any]] = field(default_factory=list)


def run_checks(plan: Plan, report: Report, stores: Stores | None = None) -> list[CheckResult]:
    """All checks of a finished run, in order; a check that cannot be run has failed and says why."""
    stores = stores or Stores()
    return [run_check(name, plan, report, stores) for name in [*BUILT_IN, *plan.checks]]


def run_check(name: str, plan: Plan, report: Report, stores: Stores) -> CheckResult:
    """One of ``BUILT_IN`` or of the plan's checks; if it cannot be run it has failed and says why."""
    try:
        if name in plan.checks:
            return check_sql(name, plan.checks[name], open_target(plan, stores))
        return BUILT_IN[name](plan, report, stores)
    except StateliftError as error:
        return CheckResult(name, False, str(error))


def open_target(plan: Plan, stores: Stores) -> Snapshot:
    """The new snapshot, with the plan's names for its operators."""
    return opened_for(plan, plan.target, stores)


@dataclass(slots=True)
class _Rows:
    """How many rows of a state decode."""

    table: KeyedTable
    count: int = 0

    def add(self, batch: EntryBatch) -> None:
        self.count += len(self.table.decode(batch))


@dataclass(slots=True)
class _Digest:
    """The digest of a state's entries."""

    total: Digest = field(default_factory=Digest)

    def add(self, batch: EntryBatch) -> None:
        self.total += Digest.of(batch)


@dataclass(slots=True)
class _Places:
    """How many keys of a state were looked at, and the first of them that stand in another's key group. Of rows, which
    may hash by the names of their fields and not by the places, there are ``by_name`` such."""

    state: KeyedState
    count: int = 0
    by_name: int = 0
    wrong: list[dict[str, Any]] = field(default_factory=list)

    def add(self, batch: EntryBatch) -> None:
        keys, found = self.state.table.keys(batch), batch.key_groups
        groups = np.where(keys.is_valid(), self.state.table.stored_key_groups(batch, keys), found)
        self.count += len(keys) - keys.null_count
        elsewhere = np.flatnonzero(groups != found)
        if may_have_names(self.state.type.key):
            self.by_name += len(elsewhere)
            return
        for row in elsewhere[: SAMPLES - len(self.wrong)].tolist():
            key = values(keys.slice(row, 1))[0]
            place = {"operator": self.state.operator.label, "state": self.state.name, "key": key}
            self.wrong.append({**place, "key group": int(found[row]), "expected": int(groups[row])})


def check_reads_back(snapshot: Snapshot, source: Callable[[], Snapshot] | None = None) -> CheckResult:
    """Every state of the snapshot opens and every entry decodes, or does not in the source for the same reason."""
    rows = states = 0
    faults: list[dict[str, Any]] = []
    opaque: list[str] = []
    for operator in snapshot.operators:
        for name, found in _rows_of(operator).items():
            states += 1
            if isinstance(found, int):
                rows += found
            elif source is not None and _fails_so(source(), operator, name, found):
                opaque.append(f"{operator.label}.{name} ({found.what})")
            else:
                faults.append({"operator": operator.label, "state": name, "fault": str(found)})
    faults += [
        {"operator": operator.label, "state": None, "fault": str(problem)}
        for operator in snapshot.operators
        for problem in operator.problems
    ]
    what = f"{rows} rows of {states} states decode" + (
        f"; here as in the source these do not: {', '.join(opaque)}" if opaque else ""
    )
    return CheckResult(
        "reads-back", not faults, what if not faults else f"{len(faults)} faults", faults[:SAMPLES]
    )


def _rows_of(operator: Operator) -> dict[str, int | StateliftError]:
    """By the state's name: how many rows it has, or why they cannot be read."""
    found: dict[str, int | StateliftError] = {}
    for name, read in read_states(operator.keyed_states, lambda state: _Rows(state.table)).items():
        found[name] = read if isinstance(read, StateliftError) else read.count
    for state in operator.states:
        if state.name not in found:
            try:
                found[state.name] = sum(len(batch) for batch in state.batches())
            except StateliftError as error:
                found[state.name] = error
    return found


def _fails_so(source: Snapshot, operator: Operator, name: str, error: StateliftError) -> bool:
    """Whether the source's state cannot be read for the same reason, wherever in it that shows first."""
    try:
        for _ in source.state(operator.id, name).batches():
            pass
    except StateliftError as other:
        return _NUMBERS.sub("", other.what) == _NUMBERS.sub("", error.what)
    return False


def check_content(report: Report, snapshot: Snapshot) -> CheckResult:
    """Entries and digest of every rewritten state are those of the run; of states it only kept, the source's."""
    wrong = []
    digests: dict[str, dict[str, Digest]] = {}
    for state in report.states:
        if state.operator not in digests:
            names = [one.name for one in report.states if one.operator == state.operator]
            digests[state.operator] = digests_of(snapshot.operator(state.operator), names)
        seen = digests[state.operator][state.name]
        expected = state.read_digest if state.operation == "kept" else state.written_digest
        if seen != expected:
            wrong.append(
                {
                    "operator": state.operator, "state": state.name, "entries": seen.entries,
                    "expected entries": expected.entries, "digest": str(seen), "expected digest": str(expected),
                }
            )  # fmt: skip
    what = f"entries and digests of {len(report.states)} states are as expected"
    return CheckResult(
        "content", not wrong, what if not wrong else f"{len(wrong)} states differ", wrong[:SAMPLES]
    )


def digests_of(operator: Operator, names: Sequence[str]) -> dict[str, Digest]:
    """The digest of each state's entries, read from the snapshot; that of none, where it does not have it.

    Raises what keeps one of them from being read.
    """
    digests = {name: Digest() for name in names}
    keyed = [state for state in operator.keyed_states if state.name in digests]
    for name, read in read_states(keyed, lambda _: _Digest()).items():
        if isinstance(read, StateliftError):
            raise read
        digests[name] = read.total
    for state in operator.states:
        if state.name in digests and isinstance(state, (OperatorListState, BroadcastState)):
            for subtask, backend in state.parts:
                if state.name in backend.offsets:
                    digests[state.name] += digest_of_elements(backend, subtask, state.type)
    return digests


def check_key_groups(snapshot: Snapshot) -> CheckResult:
    """Every key lies in the key group that Flink computes for it, as far as the key's hash can be computed."""
    checked = 0
    wrong: list[dict[str, Any]] = []
    unknown: list[str] = []
    for operator in snapshot.operators:
        known = []
        for state in operator.keyed_states:
            reason = stability(state.type.key)
            if reason is None:
                known.append(state)
            else:
                unknown.append(f"{operator.label}.{state.name} ({reason})")
        for name, read in read_states(known, _Places).items():
            if isinstance(read, StateliftError):
                raise read
            checked += read.count - read.by_name
            wrong += read.wrong
            if read.by_name:
                reason = f"{read.by_name} rows may have named fields, by which they hash"
                unknown.append(f"{operator.label}.{name} ({reason})")
    what = f"{checked} keys are in their key groups" + (
        f"; not checked: {', '.join(unknown)}" if unknown else ""
    )
    return CheckResult(
        "key-groups", not wrong, what if not wrong else "keys lie in wrong key groups", wrong[:SAMPLES]
    )


def check_carried(report: Report, stores: Stores) -> CheckResult:
    """Every file that was carried over is the same bytes as its source."""
    wrong = []
    for file in report.carried:
        copy = f"{report.target}/{file.name}"
        if stores.size(copy) != file.length or (
            sha256_of(stores, copy, 0, file.length) != sha256_of(stores, file.source, file.start, file.length)
        ):
            wrong.append({"file": copy, "source": file.source})
    total = sum(file.length for file in report.carried)
    what = f"{len(report.carried)} files, {total} bytes, are the same as in the source"
    return CheckResult(
        "carried-over", not wrong, what if not wrong else f"{len(wrong)} files differ", wrong[:SAMPLES]
    )


def check_sql(name: str, query: str, snapshot: Snapshot) -> CheckResult:
    """A plan's own assertion: each row that its query returns breaks it."""
    rows: list[dict[str, Any]] = []
    count = 0
    for batch in snapshot.sql(query):
        count += len(batch)
        rows += json_rows(batch.slice(0, SAMPLES - len(rows)))
    what = "no row breaks it" if not count else f"{count} rows break it"
    return CheckResult(name, not count, what, rows)


#: The checks that every run gets, by name.
BUILT_IN: Mapping[str, Callable[[Plan, Report, Stores], CheckResult]] = {
    "reads-back": lambda plan, report, stores: check_reads_back(
        open_target(plan, stores).with_wide_times(),
        lambda: opened_for(plan, report.source, stores).with_wide_times(),
    ),
    "content": lambda plan, report, stores: check_content(report, open_target(plan, stores)),
    "key-groups": lambda plan, report, stores: check_key_groups(open_target(plan, stores).with_wide_times()),
    "carried-over": lambda plan, report, stores: check_carried(report, stores),
}
