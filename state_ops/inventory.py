"""What a snapshot holds, counted: its operators and states with their types, entries and bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..io.metadata import streams
from .snapshot import BroadcastState, KeyedState, Operator, OperatorListState, Snapshot, State


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSize:
    """One state. ``nbytes`` are those of its keys and values, not of the files; ``opaque`` says what is undecoded."""

    operator: str
    name: str
    kind: str
    types: Mapping[str, str]
    opaque: str | None
    entries: int
    nbytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSize:
    """One operator. ``formats`` are those of its keyed state; ``nbytes`` of all its files and inline state."""

    operator: str
    id: str
    name: str | None
    parallelism: int
    max_parallelism: int
    formats: tuple[str, ...]
    nbytes: int
    states: tuple[StateSize, ...]
    problems: tuple[str, ...]


def inventory(snapshot: Snapshot) -> list[OperatorSize]:
    """Count every state: reads the whole snapshot, in bounded batches. Raises FormatError for damaged entries."""
    stored: dict[str, int] = {}
    for use in streams(snapshot.metadata):
        size = snapshot.opener.open(use.handle, str(use)).size
        stored[use.operator.uid_hash] = stored.get(use.operator.uid_hash, 0) + size
    return [_operator(operator, stored.get(operator.id, 0)) for operator in snapshot.operators]


def _operator(operator: Operator, nbytes: int) -> OperatorSize:
    keyed = _keyed(operator)
    return OperatorSize(
        operator=operator.label,
        id=operator.id,
        name=operator.name,
        parallelism=operator.parallelism,
        max_parallelism=operator.max_parallelism,
        formats=tuple(sorted({backend.format for backend in operator.keyed_backends.values()})),
        nbytes=nbytes,
        states=tuple(_state(operator, state, keyed) for state in operator.states),
        problems=tuple(map(str, operator.problems)),
    )


def _keyed(operator: Operator) -> dict[str, tuple[int, int]]:
    """Entries and bytes of the keyed states by name; each backend is read once for all of them."""
    totals: dict[str, tuple[int, int]] = {}
    for backend in operator.keyed_backends.values():
        for window in backend.windows(None, frozenset(range(len(backend.states)))):
            for number, batch in window.items():
                name = backend.states[number].name
                entries, nbytes = totals.get(name, (0, 0))
                totals[name] = entries + len(batch), nbytes + batch.nbytes
    return totals


def _state(operator: Operator, state: State, keyed: Mapping[str, tuple[int, int]]) -> StateSize:
    entries = nbytes = 0
    if isinstance(state, KeyedState):
        entries, nbytes = keyed.get(state.name, (0, 0))
    elif isinstance(state, (OperatorListState, BroadcastState)):
        copies = [backend for _, backend in state.parts]
        counted = copies[:1] if isinstance(state, BroadcastState) else copies
        entries, nbytes = (
            state.count(),
            sum(int(backend.raw_elements(state.name).lengths.sum()) for backend in counted),
        )
    opaque = state.opaque
    return StateSize(
        operator=operator.label,
        name=state.name,
        kind=state.kind,
        types={part: str(kind) for part, kind in state.types.items()},
        opaque=f"{opaque.class_name}: {opaque.reason}" if opaque else None,
        entries=entries,
        nbytes=nbytes,
    )
