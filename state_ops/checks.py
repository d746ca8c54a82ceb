"""Checks of a new snapshot against the report of the run that wrote it and the assertions of its plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
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
from .plan import Plan
from .report import Report
from .snapshot import Operator, Snapshot
from .states import BroadcastState, KeyedState, OperatorListState, State
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


def _keyed_states(snapshot: Snapshot) -> Iterator[tuple[Operator, State]]:
    for operator in snapshot.operators:
        for state in operator.states:
            yield operator, state


def check_reads_back(snapshot: Snapshot, source: Callable[[], Snapshot] | None = None) -> CheckResult:
    """Every state of the snapshot opens and every entry decodes, or does not in the source for the same reason."""
    rows = states = 0
    faults: list[dict[str, Any]] = []
    opaque: list[str] = []
    for operator, state in _keyed_states(snapshot):
        states += 1
        try:
            rows += sum(len(batch) for batch in state.batches())
        except StateliftError as error:
            if source is not None and _fails_so(source(), operator, state, error):
                opaque.append(f"{operator.label}.{state.name} ({error.what})")
            else:
                faults.append({"operator": operator.label, "state": state.name, "fault": str(error)})
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


def _fails_so(source: Snapshot, operator: Operator, state: State, error: StateliftError) -> bool:
    """Whether the source's state cannot be read for the same reason, wherever in it that shows first."""
    try:
        for _ in source.state(operator.id, state.name).batches():
            pass
    except StateliftError as other:
        return _NUMBERS.sub("", other.what) == _NUMBERS.sub("", error.what)
    return False


def check_content(report: Report, snapshot: Snapshot) -> CheckResult:
    """Entries and digest of every rewritten state are those of the run; of states it only kept, the source's."""
    wrong = []
    for state in report.states:
        seen = digest_of(snapshot, state.operator, state.name)
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


def digest_of(snapshot: Snapshot, operator: str, name: str) -> Digest:
    """The digest of a state's entries, read from the snapshot; that of none, where it does not have it."""
    total = Digest()
    states = {state.name: state for state in snapshot.operator(operator).states}
    state = states.get(name)
    if isinstance(state, KeyedState):
        for batch in _entries(state):
            total += Digest.of(batch)
    elif isinstance(state, (OperatorListState, BroadcastState)):
        for subtask, backend in state.parts:
            if name in backend.offsets:
                total += digest_of_elements(backend, subtask, state.type)
    return total


def _entries(state: KeyedState) -> Iterator[EntryBatch]:
    for backend, number in state.parts:
        for window in backend.windows(None, frozenset((number,))):
            yield window[number]


def check_key_groups(snapshot: Snapshot) -> CheckResult:
    """Every key lies in the key group that Flink computes for it, as far as the key's hash can be computed."""
    checked = 0
    wrong: list[dict[str, Any]] = []
    unknown: list[str] = []
    for operator, state in _keyed_states(snapshot):
        if not isinstance(state, KeyedState):
            continue
        reason = stability(state.type.key)
        if reason is None and may_have_names(state.type.key):
            reason = "rows may have named fields, by which they hash"
        if reason is not None:
            unknown.append(f"{operator.label}.{state.name} ({reason})")
            continue
        for batch in _entries(state):
            keys, found = state.table.keys(batch), batch.key_groups
            groups = np.where(keys.is_valid(), state.table.key_groups(keys), found)
            checked += len(keys) - keys.null_count
            for row in np.flatnonzero(groups != found)[: SAMPLES - len(wrong)].tolist():
                key = values(keys.slice(row, 1))[0]
                place = {"operator": operator.label, "state": state.name, "key": key}
                wrong.append({**place, "key group": int(found[row]), "expected": int(groups[row])})
    what = f"{checked} keys are in their key groups" + (
        f"; not checked: {', '.join(unknown)}" if unknown else ""
    )
    return CheckResult("key-groups", not wrong, what if not wrong else "keys lie in wrong key groups", wrong)


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
