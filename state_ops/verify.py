"""Verification: everything a snapshot holds is read once, and whatever is wrong with it is said.

One broken thing hides nothing else: the search goes on with the next key group, state, subtask and operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..io.metadata import StreamKind, StreamUse
from ..schemas import types as t
from ..schemas.errors import StateliftError, StoreError, Where
from ..schemas.hashing import stability
from .findings import Finding, Progress, Tally, fault, of_error, unchecked
from .not_decoded import NotDecoded
from .snapshot import Operator, Snapshot
from .states import BroadcastState
from .verify_files import check_files, check_key_group_ranges
from .verify_keyed import KeyedCheck
from .verify_structure import check_channels, check_database, check_raw

__all__ = ["Finding", "Tally", "verify"]

_Lost = set[tuple[bytes, int | None, StreamKind]]


def verify(
    snapshot: Snapshot,
    *,
    tally: Tally | None = None,
    progress: Progress | None = None,
    batch_bytes: int | None = None,
) -> Iterator[Finding]:
    """What is wrong with a snapshot, as it is found; what could not be looked at is said too (``unchecked``).

    Every file that is referred to is there with its recorded size; headers parse; the subtasks' key-group ranges
    are Flink's; every entry, timer and list element decodes; keys stand in the key group of their hash, once;
    broadcast copies agree; RocksDB's checksums fit, and its files each other; records in flight and raw
    operator state lie where they should. Of coordinator state only its length is checked: it is the source's own.
    ``tally`` is counted up, ``progress`` told of bytes read. Memory: a few batches, and 12 bytes for each
    entry of one key group.
    """
    snapshot = snapshot.with_wide_times()
    batch_bytes = batch_bytes or snapshot.memory.batch_bytes
    tally = tally if tally is not None else Tally()
    progress = progress or (lambda _: None)
    lost: _Lost = set()
    for use, finding in check_files(snapshot):
        lost.add(_place(use))
        yield finding
    for operator in snapshot.operators:
        yield from check_key_group_ranges(operator)
        yield from _check_keyed(operator, tally, progress, batch_bytes)
        yield from _check_operator_state(operator, tally, progress)
        yield from check_channels(operator)
        yield from check_raw(operator)
        yield from _problems(operator, lost)


def _place(use: StreamUse) -> tuple[bytes, int | None, StreamKind]:
    return use.operator.operator_id, use.subtask_index, use.kind


def _problems(operator: Operator, lost: _Lost) -> Iterator[Finding]:
    """What could not be opened, but for the files whose loss was said."""
    for problem in operator.problems:
        error = problem.error
        places = {(operator.meta.operator_id, error.where.subtask, kind) for kind in StreamKind}
        if isinstance(error, StoreError) and places & lost:
            continue
        yield of_error(error, Where(operator=operator.label))


# -- keyed -------------------------------------------------------------------------------------------------


def _check_keyed(operator: Operator, tally: Tally, progress: Progress, batch_bytes: int) -> Iterator[Finding]:
    yield from _not_checkable(operator)
    names: set[str] = set()
    backends = (*operator.keyed_backends.items(), *operator.raw_timers.items())
    for subtask, backend in backends:
        where = Where(operator=operator.label, subtask=subtask)
        for one in (backend, *backend.bases):
            if one.format == "rocksdb":
                yield from check_database(one, where)
        check = KeyedCheck(backend, where, progress, batch_bytes)
        yield from check.findings()
        tally.entries += sum(check.entries.values())
        tally.nbytes += _size(backend)
        names.update(state.name for state in backend.states)
        names.update(check.entries)
    tally.states += len(names)


def _size(backend: object) -> int:
    try:
        return int(backend.nbytes)  # type: ignore[attr-defined]
    except StateliftError:
        return 0


def _not_checkable(operator: Operator) -> Iterator[Finding]:
    """Said once for an operator: keys whose group nobody can compute, values that are not decoded."""
    kinds = {kind.name: kind for backend in operator.keyed_backends.values() for kind in backend.states}
    where = Where(operator=operator.label)
    reasons = {stability(kind.key) for kind in kinds.values()} - {None}
    for reason in sorted(map(str, reasons)):
        yield unchecked(f"the key groups of its keys are not checked: {reason}", where)
    for name, kind in kinds.items():
        opaque = t.opaque_in(kind.value) if kind.value is not None else None
        if opaque is not None:
            what = f"values of {opaque.class_name} are not decoded: {opaque.reason}"
            yield unchecked(what, Where(state=name).within(where))


# -- operator state ----------------------------------------------------------------------------------------


def _check_operator_state(operator: Operator, tally: Tally, progress: Progress) -> Iterator[Finding]:
    whole: dict[str, bool] = {}
    names: set[str] = set()
    for subtask, backend in operator.operator_backends.items():
        where = Where(operator=operator.label, subtask=subtask)
        known = {state.name for state in backend.states}
        for name in backend.offsets.keys() - known:
            yield fault("the header does not define this state", Where(state=name).within(where))
        for state in backend.states:
            first = state.name not in names
            names.add(state.name)
            try:
                rows = backend.read(state)
                tally.entries += len(rows) if first or state.kind != "broadcast" else 0
                not_decoded = NotDecoded()
                not_decoded.note(*rows.undecoded)
                for line in not_decoded.lines():
                    yield unchecked(line, Where(state=state.name).within(where))
                whole.setdefault(state.name, True)
            except StateliftError as error:
                whole[state.name] = False
                yield of_error(error, Where(state=state.name).within(where))
        progress(backend.nbytes)
        tally.nbytes += backend.nbytes
    tally.states += len(names)
    for held in operator.states:
        if isinstance(held, BroadcastState) and whole.get(held.name):
            try:
                for _ in held.batches():
                    pass
            except StateliftError as error:
                yield of_error(error, Where(operator=operator.label))
