"""What a snapshot holds: its operators and states with their types, entries and bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..io.keyed.entries import EntryBatch
from ..io.metadata import streams_of
from ..schemas.errors import StateliftError, Where
from .damage import Damage
from .findings import ranges
from .in_flight import InFlight
from .not_decoded import NotDecoded
from .one_pass import read_states
from .snapshot import Operator, Snapshot
from .states import BroadcastState, KeyedState, OpaquePart, OperatorListState, State
from .tables import KeyedTable

COUNTED_BYTES = 64 << 20
"""Up to so many bytes of state the entries are counted when nothing else is asked."""

Counting = Literal["all", "small", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateInventory:
    """One state.

    ``columns`` are names and Arrow types of its table. ``entries`` is None where they were not counted; ``estimated``
    where RocksDB's own figures are added up. ``nbytes`` are those of its keys and values, not of the files, and None
    where not counted. ``opaque`` are the parts of its values that are carried as bytes, ``decoded`` whether there is
    anything beside them; ``undecoded`` how many values are only their bytes though their type is known, ``null_keys``
    how many keys are null for the same reasons, and ``not_decoded`` what these are and what to do; ``damaged`` how
    many entries do not decode, and ``damage`` why the first of them do not.
    """

    operator: str
    name: str
    kind: str
    types: Mapping[str, str]
    columns: Mapping[str, str]
    decoded: Literal["all", "part", "none"]
    opaque: tuple[OpaquePart, ...]
    undecoded: int | None = None
    null_keys: int | None = None
    not_decoded: tuple[str, ...] = ()
    damaged: int | None = None
    damage: tuple[str, ...] = ()
    entries: int | None = None
    estimated: bool = False
    nbytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorInventory:
    """One operator. ``formats`` are those of its keyed state; ``nbytes`` of all its files and inline state;
    ``other`` what it has besides states; ``remarks`` what is to be known of how it was read; ``problems`` what of it
    cannot be read."""

    operator: str
    id: str
    uid: str | None
    name: str | None
    parallelism: int
    max_parallelism: int
    formats: tuple[str, ...]
    nbytes: int
    in_flight: InFlight | None
    other: tuple[str, ...]
    states: tuple[StateInventory, ...]
    remarks: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(slots=True)
class _Total:
    """What was counted of a keyed state."""

    table: KeyedTable
    entries: int = 0
    nbytes: int = 0
    damage: Damage = field(default_factory=Damage)

    @staticmethod
    def of(state: KeyedState) -> _Total:
        return _Total(state.table)

    def add(self, batch: EntryBatch) -> None:
        self.entries += len(batch)
        self.nbytes += batch.nbytes
        for _ in self.damage.sound(self.table, batch):
            pass


def inventory(
    snapshot: Snapshot, *, count: Counting = "all", advance: Callable[[int], object] = lambda _: None
) -> list[OperatorInventory]:
    """Every operator of the snapshot; ``advance`` is told the bytes of each one that is done.

    Reads ``_metadata`` and headers, and to count (``all``, or ``small`` snapshots only) the whole state, in bounded
    batches. What cannot be read is among the problems of its operator.
    """
    sizes = {operator.id: _stored(operator) for operator in snapshot.operators}
    total = sum(nbytes for nbytes, _ in sizes.values())
    counted = count == "all" or (count == "small" and total <= COUNTED_BYTES)
    found = []
    for operator in snapshot.operators:
        found.append(_operator(operator, *sizes[operator.id], counted))
        advance(sizes[operator.id][0])
    return found


def _stored(operator: Operator) -> tuple[int, list[str]]:
    """Bytes of all streams of an operator, each once, and what is wrong with those that are not there."""
    nbytes, problems = 0, []
    for use in {use.handle: use for use in streams_of(operator.meta)}.values():
        try:
            nbytes += operator.opener.open(use.handle, str(use)).size
        except StateliftError as error:
            problems.append(str(error.at(Where(operator=operator.label))))
    return nbytes, problems


def _operator(operator: Operator, nbytes: int, missing: list[str], counted: bool) -> OperatorInventory:
    opened = operator.states  # finds the problems
    problems = [str(problem) for problem in operator.problems] + missing
    backends = operator.keyed_backends.values()
    problems += [f"{backend.hidden} (operator {operator.label})" for backend in backends if backend.hidden]
    keyed = _keyed(operator, problems) if counted else None
    states = [_state(state, problems, keyed) for state in opened]
    return OperatorInventory(
        operator=operator.label,
        id=operator.id,
        uid=operator.uid,
        name=operator.name,
        parallelism=operator.parallelism,
        max_parallelism=operator.max_parallelism,
        formats=tuple(sorted({backend.format for backend in operator.keyed_backends.values()})),
        nbytes=nbytes,
        in_flight=operator.in_flight or None,
        other=_other(operator),
        states=tuple(states),
        remarks=_remarks(operator),
        problems=tuple(dict.fromkeys(problems)),
    )


def _keyed(operator: Operator, problems: list[str]) -> dict[str, _Total]:
    """Totals of the keyed states by name, all read in one pass. A state that cannot be read to its end is not
    there."""
    totals: dict[str, _Total] = {}
    for name, found in read_states(operator.keyed_states, _Total.of).items():
        if isinstance(found, StateliftError):
            problems.append(str(found))
        else:
            totals[name] = found
    return totals


def _state(state: State, problems: list[str], keyed: Mapping[str, _Total] | None) -> StateInventory:
    """``keyed`` are the totals of the keyed states, None where nothing is counted."""
    where = Where(operator=state.operator.label, state=state.name)
    entries: int | None = None
    nbytes: int | None = None
    damage = Damage()
    columns: dict[str, str] = {}
    estimated = False
    try:
        columns = {column.name: str(column.type) for column in state.schema}
        if keyed is None:
            entries = _estimate(state) if isinstance(state, KeyedState) else None
            estimated = entries is not None
        elif isinstance(state, KeyedState):
            if state.name in keyed:
                total = keyed[state.name]
                entries, nbytes, damage = total.entries, total.nbytes, total.damage
        elif isinstance(state, (OperatorListState, BroadcastState)):
            entries, nbytes = state.count(), _element_bytes(state)
            damage.not_decoded = _decode_elements(state)
    except StateliftError as error:
        problems.append(str(error.at(where)))
    if damage.count:
        said = f"{damage.count:,} of {entries:,} entries do not decode, the first: "
        problems.append(said + str(damage.errors[0].at(where)))
    return StateInventory(
        operator=state.operator.label,
        name=state.name,
        kind=state.kind,
        types={part: str(kind) for part, kind in state.types.items()},
        columns=columns,
        decoded=state.decoded,
        opaque=state.opaque_parts,
        undecoded=damage.not_decoded.values.total() if keyed is not None else None,
        null_keys=damage.not_decoded.keys.total() if keyed is not None else None,
        not_decoded=tuple(damage.not_decoded.lines()),
        damaged=damage.count if keyed is not None else None,
        damage=tuple(str(error.at(where)) for error in damage.errors),
        entries=entries,
        estimated=estimated,
        nbytes=nbytes,
    )


def _decode_elements(state: OperatorListState | BroadcastState) -> NotDecoded:
    """What of the elements is only bytes. Raises FormatError for the first one that does not decode."""
    found = NotDecoded()
    for _, backend in state.parts:
        found.note(*backend.read(state.type).undecoded)
    return found


def _element_bytes(state: OperatorListState | BroadcastState) -> int:
    """Of a broadcast state those of one copy."""
    backends = [backend for _, backend in state.parts]
    counted = backends[:1] if isinstance(state, BroadcastState) else backends
    return sum(int(backend.raw_elements(state.name).lengths.sum()) for backend in counted)


def _estimate(state: KeyedState) -> int | None:
    """As RocksDB's ``estimate-num-keys``: what was put less twice what was deleted; None for other formats."""
    if any(backend.format != "rocksdb" for backend, _ in state.parts):
        return None
    tables = (table for backend, _ in state.parts for table in backend.families().get(state.name, ()))
    return sum(max(0, table.num_entries - 2 * table.properties.num_deletions) for table in tables)


def _remarks(operator: Operator) -> tuple[str, ...]:
    """Each remark once, with the subtasks that it is about."""
    subtasks: dict[str, list[int]] = {}
    for subtask, backend in operator.keyed_backends.items():
        for remark in backend.remarks:
            subtasks.setdefault(remark, []).append(subtask)
    remarks = [f"{remark} (subtask {ranges(own)})" for remark, own in subtasks.items()]
    unnamed = [state.name for state in operator.states if state.has_unnamed_columns]
    if operator.columns and unnamed:
        remarks.append(f"the names of all columns are not known of {', '.join(unnamed)}")
    return tuple(remarks)


def _other(operator: Operator) -> tuple[str, ...]:
    """What the operator has besides states."""
    subtasks = operator.meta.subtask_states
    parts = []
    if operator.meta.coordinator_state is not None:
        parts.append(f"coordinator state of {len(operator.meta.coordinator_state.data):,} bytes")
    if operator.meta.fully_finished:
        parts.append("finished")
    elif any(subtask.finished for subtask in subtasks):
        parts.append(f"{sum(subtask.finished for subtask in subtasks)} subtasks finished")
    if any(subtask.raw_keyed_state or subtask.raw_operator_state for subtask in subtasks):
        parts.append("raw state")
    if operator.in_flight:
        parts.append(f"in-flight records: {operator.in_flight}")
    return tuple(parts)
