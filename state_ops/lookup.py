"""One key: its key group, and what the states of an operator hold for it, read from nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..io.keyed.backend import KeyedBackend
from ..io.keyed.canonical import prefix_bytes
from ..io.keyed.entries import EntryBatch
from ..io.keyed.rocksdb import read_prefix
from ..io.metadata import KeyGroupRange
from ..schemas import types as t
from ..schemas.codec.codec import Codec
from ..schemas.codec.shapes import compile_type
from ..schemas.errors import EncodeError, NameNotFoundError, StateliftError, Where
from ..schemas.hashing import may_have_names, stability
from ..schemas.key_forms import has_two_forms
from .snapshot import Operator
from .states import KeyedState


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLookup:
    """What an operator holds of one key: a table for each state, in ``rows``.

    ``key_group`` and ``subtask`` are None where the key's hash is not computable and no state has the key.
    """

    key_group: int | None
    subtask: int | None
    rows: dict[str, pa.Table]


def key_type(operator: Operator) -> t.DataType:
    """The type of the operator's keys. Raises NameNotFoundError for one without keyed state."""
    for state in operator.states:
        if isinstance(state, KeyedState):
            return state.type.key
    if operator.problems:
        raise operator.problems[0].error
    raise NameNotFoundError("keyed state in", operator.label, ())


def key_array_type(kind: t.DataType, *, wide_times: bool = False) -> pa.DataType:
    """The Arrow type of keys, in a snapshot opened with ``wide_times`` or not.

    Raises EncodeError for keys that are not decoded.
    """
    opaque = t.opaque_in(kind)
    if opaque is not None:
        raise EncodeError(f"keys of {opaque.class_name} cannot be looked up: {opaque.reason}")
    return Codec(compile_type(kind, wide_times=wide_times)).arrow_type


def look_up(operator: Operator, states: Sequence[KeyedState], key: pa.Array) -> KeyLookup:
    """What ``states`` hold for ``key``, an array of one key.

    Canonical and hashmap savepoints are read in the key's key group only, RocksDB's files in the blocks that can
    hold it (of timers, all of the key group). Where nobody but the job can surely compute a key's hash, or the key has
    two forms in bytes, every key group is searched.
    """
    kind = key_type(operator)
    wanted = Codec(compile_type(kind, wide_times=operator.opener.wide_times)).encode(key, "key")
    group = None
    two_forms = bool(has_two_forms(key, kind)[0])
    if states and stability(kind) is None and not may_have_names(kind) and not two_forms:
        group = int(states[0].table.key_groups(key)[0])
    held: dict[str, list[pa.RecordBatch]] = {state.name: [] for state in states}
    for backend, numbered in _by_backend(states):
        for state, batch in _held(
            backend, numbered, wanted[0].as_py(), group, operator, by_bytes=not two_forms
        ):
            held[state.name].append(batch)
    rows = {state.name: pa.Table.from_batches(held[state.name], state.schema) for state in states}
    if group is None:
        groups = [table["key_group"][0].as_py() for table in rows.values() if len(table)]
        group = groups[0] if groups else None
    subtask = next(
        (number for number, backend in operator.keyed_backends.items() if group in backend.key_groups), None
    )
    return KeyLookup(key_group=group, subtask=subtask, rows=rows)


def _by_backend(states: Sequence[KeyedState]) -> Iterator[tuple[KeyedBackend, dict[int, KeyedState]]]:
    """Each backend with those of ``states`` that it has, by their ids there."""
    backends: dict[int, tuple[KeyedBackend, dict[int, KeyedState]]] = {}
    for state in states:
        for backend, number in state.parts:
            backends.setdefault(id(backend), (backend, {}))[1][number] = state
    yield from backends.values()


def _held(
    backend: KeyedBackend,
    states: dict[int, KeyedState],
    wanted: bytes,
    group: int | None,
    operator: Operator,
    *,
    by_bytes: bool,
) -> Iterator[tuple[KeyedState, pa.RecordBatch]]:
    """What one backend holds of the key, by its bytes where it is stored as these; one stream for all states is read
    once."""
    groups = backend.key_groups
    if group is not None:
        if group not in groups:
            return
        groups = KeyGroupRange(group, 1)
    in_order = backend.format == "rocksdb" and by_bytes
    by_prefix = [state for state in states.values() if in_order and state.kind != "timer"]
    by_group = {number: state for number, state in states.items() if state not in by_prefix}
    where = Where(operator=operator.label)
    try:
        for state in by_prefix:
            where = Where(operator=operator.label, state=state.name)
            for batch in _with_prefix(backend, state, groups, wanted):
                yield from _of_key(state, batch, wanted)
        if by_group:
            where = Where(operator=operator.label)
            for window in backend.windows(groups, frozenset(by_group)):
                for number, batch in window.items():
                    yield from _of_key(by_group[number], batch, wanted)
    except StateliftError as error:
        raise error.at(where) from None


def _of_key(
    state: KeyedState, batch: EntryBatch, wanted: bytes
) -> Iterator[tuple[KeyedState, pa.RecordBatch]]:
    table = replace(state.table, wide_times=True)
    keys, known = table.known_keys(batch)
    decoded = np.flatnonzero(known)  # no other is the one that is wanted
    codec = Codec(compile_type(state.type.key, wide_times=True))
    written = codec.encode(keys.take(pa.array(decoded)), "key")
    same = pc.equal(written, pa.scalar(wanted, pa.large_binary())).to_numpy(zero_copy_only=False)
    found = batch.take(decoded[same.astype(np.bool_)])
    if len(found):
        yield state, state.table.decode(found)


def _with_prefix(
    backend: KeyedBackend, state: KeyedState, groups: KeyGroupRange, wanted: bytes
) -> Iterator[EntryBatch]:
    """RocksDB's entries of one state among which the key's are."""
    width = prefix_bytes(backend.max_parallelism)
    for group in groups:
        begins = group.to_bytes(width, "big") + wanted
        yield from read_prefix(
            backend.families(), state.name, begins, max_parallelism=backend.max_parallelism
        )
