"""What ``inspect`` shows of a snapshot, gathered: from ``_metadata`` and headers, and counts where they are cheap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ..io.keyed.backend import KeyedBackend
from ..io.metadata import snapshot_type
from ..io.operator_state import OperatorBackend
from ..schemas.errors import StateliftError, Where
from ..schemas.operator_id import operator_id_of_uid
from ..state_ops.snapshot import KeyedState, Operator, Snapshot, State
from .progress import Advance

COUNTED_BYTES = 64 << 20
"""Entries are counted up to this many bytes of keyed state."""


@dataclass(kw_only=True)
class StateOverview:
    """``entries`` is None where they were not counted; ``estimated`` where RocksDB's own figures are added up."""

    name: str
    kind: str
    types: dict[str, str]
    columns: list[dict[str, str]]
    entries: int | None = None
    estimated: bool = False
    opaque: str | None = None


@dataclass(kw_only=True)
class OperatorOverview:
    id: str
    uid: str | None
    name: str | None
    parallelism: int
    max_parallelism: int
    formats: list[str] = field(default_factory=list)
    bytes: int = 0
    in_flight: dict[str, int] | None = None
    other: list[str] = field(default_factory=list)
    states: list[StateOverview] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Overview:
    """``unresolved`` are ids of operators whose uid is not known, ``not_in_snapshot`` names that none has."""

    url: str
    kind: str | None
    format_type: str | None
    type_name: str | None
    metadata_version: int
    checkpoint_id: int
    bytes: int
    operators: list[OperatorOverview]
    unresolved: list[str]
    not_in_snapshot: list[str]

    @property
    def problems(self) -> list[str]:
        return [problem for operator in self.operators for problem in operator.problems]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def overview(snapshot: Snapshot, uids: Iterable[str], advance: Advance, *, count: bool) -> Overview:
    """``count`` reads the states to count their entries, whatever their size."""
    ids = {operator.meta.operator_id for operator in snapshot.operators}
    kind = snapshot_type(snapshot.metadata)
    operators = [_operator(operator) for operator in snapshot.operators]
    total = sum(operator.bytes for operator in operators)
    counted = count or total <= COUNTED_BYTES
    for shown, operator in zip(operators, snapshot.operators, strict=True):
        for one, state in zip(shown.states, operator.states, strict=True):
            try:
                one.entries, one.estimated = _entries(state, counted)
            except StateliftError as error:
                shown.problems.append(str(error.at(Where(operator=operator.label, state=state.name))))
        advance(shown.bytes)
    return Overview(
        url=snapshot.url,
        kind=kind.kind,
        format_type=kind.format_type,
        type_name=kind.name,
        metadata_version=snapshot.metadata.version,
        checkpoint_id=snapshot.checkpoint_id,
        bytes=total,
        operators=operators,
        unresolved=[operator.id for operator in snapshot.operators if operator.uid is None],
        not_in_snapshot=[uid for uid in dict.fromkeys(uids) if operator_id_of_uid(uid) not in ids],
    )


def _operator(operator: Operator) -> OperatorOverview:
    backends: list[KeyedBackend | OperatorBackend] = [*operator.keyed_backends.values()]
    backends += operator.operator_backends.values()
    states = [_state(state) for state in operator.states]
    formats = sorted({backend.format for backend in operator.keyed_backends.values()})
    shown = OperatorOverview(
        id=operator.id,
        uid=operator.uid,
        name=operator.name,
        parallelism=operator.parallelism,
        max_parallelism=operator.max_parallelism,
        formats=list(formats),
        in_flight=asdict(operator.in_flight) if operator.in_flight else None,
        other=_other(operator),
        states=states,
        problems=[str(problem) for problem in operator.problems],
    )
    for backend in backends:
        try:
            shown.bytes += backend.nbytes
        except StateliftError as error:
            shown.problems.append(str(error.at(Where(operator=operator.label))))
    return shown


def _other(operator: Operator) -> list[str]:
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
    return parts


def _state(state: State) -> StateOverview:
    opaque = state.opaque
    try:
        columns = [{"name": column.name, "type": str(column.type)} for column in state.schema]
    except StateliftError:  # said where its entries are counted, or read
        columns = []
    return StateOverview(
        name=state.name,
        kind=state.kind,
        types={name: str(kind) for name, kind in state.types.items()},
        columns=columns,
        opaque=f"{opaque.class_name}: {opaque.reason}" if opaque is not None else None,
    )


def _entries(state: State, counted: bool) -> tuple[int | None, bool]:
    if counted:
        return state.count(), False
    if not isinstance(state, KeyedState) or any(backend.format != "rocksdb" for backend, _ in state.parts):
        return None, False
    return sum(_estimate(backend, state.name) for backend, _ in state.parts), True


def _estimate(backend: KeyedBackend, name: str) -> int:
    """As RocksDB's ``estimate-num-keys``: what was put less twice what was deleted."""
    tables = backend.families().get(name, ())
    return sum(max(0, table.num_entries - 2 * table.properties.num_deletions) for table in tables)
