"""Several states of an operator read in one pass: to read one of a stream is to step over all others there.

RocksDB's states lie in files of their own, and are read one after the other: together they would share the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from ..io.keyed.backend import KeyedBackend
from ..io.keyed.entries import EntryBatch
from ..io.metadata import KeyGroupRange
from ..schemas.errors import StateliftError, Where
from .findings import is_format_gap
from .states import KeyedState


class Reading(Protocol):
    """What is made of the entries of a state."""

    def add(self, batch: EntryBatch) -> None:
        """Take the next ones."""


R = TypeVar("R", bound=Reading)


def read_states(
    states: Sequence[KeyedState], begin: Callable[[KeyedState], R], batch_bytes: int | None = None
) -> dict[str, R | StateliftError]:
    """By the state's name: what ``begin`` gave for it, with all its entries added, or why they cannot be read.

    ``states`` are of one operator. What one of them raises does not keep the others from being read.
    """
    found: dict[str, R | StateliftError] = {state.name: begin(state) for state in states}
    again: list[KeyedState] = []
    for backend, own in _passes(states):
        try:
            for state, batch in _entries(backend, own, None, batch_bytes):
                _give(found, state, batch)
        except StateliftError as error:
            # Of a changelog, or a heap's value that hides what stands behind it: only some of them are broken.
            if (backend.stream is None or is_format_gap(error)) and len(own) > 1:
                again += own.values()
            else:
                # Not said of one of many states: what is behind the error is hidden from all of them.
                alone = next(iter(own.values())).name if len(own) == 1 else None
                error.at(Where(operator=states[0].operator.label, state=alone))
                found.update((state.name, error) for state in own.values())
    for state in dict.fromkeys(again):
        found.update(read_states([state], begin, batch_bytes))
    return found


def _give(found: dict[str, R | StateliftError], state: KeyedState, batch: EntryBatch) -> None:
    reading = found[state.name]
    if not isinstance(reading, StateliftError):
        try:
            reading.add(batch)
        except StateliftError as error:
            found[state.name] = error.at(Where(operator=state.operator.label, state=state.name))


def entries_of(
    states: Sequence[KeyedState], key_groups: KeyGroupRange | None = None, batch_bytes: int | None = None
) -> Iterator[tuple[KeyedState, EntryBatch]]:
    """The entries of ``states``, which are of one operator; of each in the order of its own ``batches``."""
    for backend, own in _passes(states):
        try:
            yield from _entries(backend, own, key_groups, batch_bytes)
        except StateliftError as error:
            raise error.at(Where(operator=states[0].operator.label)) from None


def _entries(
    backend: KeyedBackend,
    own: dict[int, KeyedState],
    key_groups: KeyGroupRange | None,
    batch_bytes: int | None,
) -> Iterator[tuple[KeyedState, EntryBatch]]:
    for window in backend.windows(key_groups, frozenset(own), batch_bytes):
        for number, batch in window.items():
            yield own[number], batch


def _passes(states: Sequence[KeyedState]) -> Iterator[tuple[KeyedBackend, dict[int, KeyedState]]]:
    """What to read at once: the backends in the order of their key groups, each with the states that it has, by their
    id there."""
    backends: dict[int, tuple[KeyedBackend, dict[int, KeyedState]]] = {}
    for state in states:
        for backend, number in state.parts:
            backends.setdefault(id(backend), (backend, {}))[1][number] = state
    for backend, own in sorted(backends.values(), key=lambda one: one[0].key_groups.start):
        if backend.format == "rocksdb":
            yield from ((backend, {number: state}) for number, state in own.items())
        else:
            yield backend, own
