"""One key: its key group, and what the states of an operator hold for it, read from nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
from ..schemas.hashing import stability
from .snapshot import KeyedState, Operator


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


def key_array_type(kind: t.DataType) -> pa.DataType:
    """The Arrow type of keys. Raises EncodeError for keys that are not decoded."""
    opaque = t.opaque_in(kind)
    if opaque is not None:
        raise EncodeError(f"keys of {opaque.class_name} cannot be looked up: {opaque.reason}")
    return Codec(compile_type(kind)).arrow_type


def look_up(operator: Operator, states: Sequence[KeyedState], key: pa.Array) -> KeyLookup:
    """What ``states`` hold for ``key``, an array of one key.

    Canonical and hashmap savepoints are read in the key's key group only, RocksDB's files in the blocks that can
    hold it (of timers, all of the key group). Where nobody but the job can compute a key's hash, every key group
    is searched.
    """
    kind = key_type(operator)
    wanted = Codec(compile_type(kind)).encode(key, "key")
    group = None
    if states and stability(kind) is None:
        group = int(states[0].table.key_groups(key)[0])
    rows = {}
    for state in states:
        try:
            found = list(_rows(state, wanted[0].as_py(), group))
        except StateliftError as error:
            raise error.at(Where(operator=operator.label, state=state.name)) from None
        rows[state.name] = pa.Table.from_batches(found, state.schema)
    if group is None:
        groups = [table["key_group"][0].as_py() for table in rows.values() if len(table)]
        group = groups[0] if groups else None
    subtask = next(
        (number for number, backend in operator.keyed_backends.items() if group in backend.key_groups), None
    )
    return KeyLookup(key_group=group, subtask=subtask, rows=rows)


def _rows(state: KeyedState, wanted: bytes, group: int | None) -> Iterator[pa.RecordBatch]:
    codec = Codec(compile_type(state.type.key))
    scalar = pa.scalar(wanted, pa.large_binary())
    for backend, number in state.parts:
        groups = backend.key_groups
        if group is not None:
            if group not in groups:
                continue
            groups = KeyGroupRange(group, 1)
        for batch in _batches(backend, number, state, groups, wanted):
            if state.kind == "timer":
                keys = state.table.decode(batch).column("key")
            else:
                keys = state.table.composite.decode(batch.keys).key
            mask = pc.equal(codec.encode(keys, "key"), scalar)
            found = batch.take(mask.to_numpy(zero_copy_only=False))
            if len(found):
                yield state.table.decode(found)


def _batches(
    backend: KeyedBackend, number: int, state: KeyedState, groups: KeyGroupRange, wanted: bytes
) -> Iterator[EntryBatch]:
    """The entries among which the key's are."""
    if backend.format == "rocksdb" and state.kind != "timer":
        width = prefix_bytes(backend.max_parallelism)
        for group in groups:
            begins = group.to_bytes(width, "big") + wanted
            yield from read_prefix(
                backend.families(), state.name, begins, max_parallelism=backend.max_parallelism
            )
        return
    for window in backend.windows(groups, frozenset((number,))):
        if number in window:
            yield window[number]
