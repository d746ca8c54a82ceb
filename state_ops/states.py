"""The states of an operator, each as a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from ..io.keyed.backend import KeyedBackend, KeyedStateType
from ..io.keyed.entries import EntryBatch
from ..io.metadata import KeyGroupRange
from ..io.operator_state import OperatorBackend, OperatorRows, OperatorStateType
from ..schemas import types as t
from ..schemas.errors import FormatError, StateliftError, UnsupportedVersionError, Where
from .not_decoded import NotDecoded
from .sql_columns import has_unnamed
from .tables import KeyedTable
from .values import values as json_values

if TYPE_CHECKING:
    from .snapshot import Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaquePart:
    """A part of a state's values that is not decoded: ``path`` as in SQL, the class that wrote it, and why."""

    path: str
    class_name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.class_name}, {self.reason}"


class State(ABC):
    """One state of one operator. ``kind`` is value, list, map, reducing, aggregating, timer, split, union or
    broadcast; ``schema`` the columns of its table."""

    operator: Operator
    name: str
    kind: str

    @property
    @abstractmethod
    def schema(self) -> pa.Schema: ...

    @property
    @abstractmethod
    def types(self) -> dict[str, t.DataType]:
        """The types of key, namespace, user key and value, as far as the state has them."""

    @abstractmethod
    def batches(
        self, batch_bytes: int | None = None, *, not_decoded: NotDecoded | None = None
    ) -> Iterator[pa.RecordBatch]:
        """The table, in batches of about ``batch_bytes`` of stored bytes, as many as the snapshot's memory limit
        allows if not given. ``not_decoded`` gets what of them is not decoded. Raises FormatError for damaged entries.
        """

    @abstractmethod
    def count(self) -> int:
        """The rows of the table (of a map: its entries); reads the state."""

    @property
    def opaque_parts(self) -> tuple[OpaquePart, ...]:
        """What of the state no codec reads, by its place; it is carried as bytes."""
        return tuple(
            OpaquePart(path=path, class_name=node.class_name, reason=node.reason)
            for name, part in self.types.items()
            for path, node in t.opaque_parts(part, name)
        )

    @property
    def has_unnamed_columns(self) -> bool:
        """Whether there are SQL rows in the state whose columns have no names."""
        return any(map(has_unnamed, self.types.values()))

    @property
    def decoded(self) -> Literal["all", "part", "none"]:
        """How much of the values is decoded; of those of which nothing is, the column is their bytes."""
        value = self.types.get("value")
        if value is None or not self.opaque_parts:
            return "all"
        within = value.inner if isinstance(value, t.TtlType) else value
        whole = t.opaque_in(value) is not None and not self._reads_to_opaque(value)
        return "none" if whole or isinstance(within, t.OpaqueType) else "part"

    def _reads_to_opaque(self, value: t.DataType) -> bool:
        """Whether what stands before an opaque part is decoded: in values whose end is known."""
        return False

    @property
    def opaque(self) -> t.OpaqueType | None:
        """What of the value is carried as bytes, or None where all is decoded."""
        value = self.types.get("value")
        return t.opaque_in(value) if value is not None else None

    def reader(self, batch_bytes: int | None = None) -> pa.RecordBatchReader:
        """The table as a stream of batches."""
        return pa.RecordBatchReader.from_batches(self.schema, self.batches(batch_bytes))

    def to_arrow(self) -> pa.Table:
        """The whole table, in memory."""
        return pa.Table.from_batches(self.batches(), self.schema)


@dataclass(frozen=True, eq=False)
class KeyedState(State):
    """A state of keyed backends, one for each subtask that has it: (backend, state id there)."""

    operator: Operator
    name: str
    type: KeyedStateType
    parts: Sequence[tuple[KeyedBackend, int]]

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "value" if self.type.single else self.type.kind

    def _reads_to_opaque(self, value: t.DataType) -> bool:
        return self.kind != "list" and t.opaque_at_end(value)

    @cached_property
    def table(self) -> KeyedTable:
        return KeyedTable(self.type, self.operator.max_parallelism, self.operator.opener.wide_times)

    @property
    def schema(self) -> pa.Schema:
        return self.table.schema

    @property
    def types(self) -> dict[str, t.DataType]:
        parts = {
            "key": self.type.key, "namespace": self.type.namespace if self.table.has_namespace else None,
            "map_key": self.type.map_key, "value": self.type.value,
        }  # fmt: skip
        return {name: part for name, part in parts.items() if part is not None}

    def batches(
        self,
        batch_bytes: int | None = None,
        key_groups: KeyGroupRange | None = None,
        *,
        not_decoded: NotDecoded | None = None,
    ) -> Iterator[pa.RecordBatch]:
        lost: UnsupportedVersionError | None = None
        for backend, state in self.parts:
            where = Where(operator=self.operator.label, state=self.name)
            try:
                for window in backend.windows(key_groups, frozenset((state,)), batch_bytes):
                    found = self.table.read(window[state])
                    if not_decoded is not None:
                        not_decoded.note(found.values, found.keys)
                    yield found.rows
            except UnsupportedVersionError as error:
                error.at(where)
                lost = lost or error  # what the other subtasks hold is read all the same
            except StateliftError as error:
                raise error.at(where) from None
        if lost is not None:
            raise lost

    def decode(self, batch: EntryBatch) -> pa.RecordBatch:
        """The rows of some of the entries. Raises FormatError for damaged ones."""
        try:
            return self.table.decode(batch)
        except StateliftError as error:
            raise error.at(Where(operator=self.operator.label, state=self.name)) from None

    def count(self) -> int:
        return sum(
            len(window[state])
            for backend, state in self.parts
            for window in backend.windows(None, frozenset((state,)))
        )


@dataclass(frozen=True, eq=False)
class OperatorListState(State):
    """A list state of the operator's subtasks: columns ``subtask``, ``index``, ``value``, and ``undecoded`` as in
    keyed tables."""

    operator: Operator
    name: str
    type: OperatorStateType
    parts: Sequence[tuple[int, OperatorBackend]]

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.type.kind

    @cached_property
    def schema(self) -> pa.Schema:
        columns = self.parts[0][1].columns(self.type)
        return pa.schema([("subtask", pa.int32()), ("index", pa.int64()), *columns.items()])

    @property
    def types(self) -> dict[str, t.DataType]:
        return {"value": self.type.value}

    def batches(
        self, batch_bytes: int | None = None, *, not_decoded: NotDecoded | None = None
    ) -> Iterator[pa.RecordBatch]:
        for subtask, backend in self.parts:
            found = _read(self, backend, not_decoded)
            places = [pa.array(np.full(len(found), subtask, np.int32)), pa.array(np.arange(len(found)))]
            columns = [*places, *found.columns.values()]
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def count(self) -> int:
        return sum(len(backend.offsets.get(self.name, ())) for _, backend in self.parts)


@dataclass(frozen=True, eq=False)
class BroadcastState(State):
    """A broadcast state: columns ``map_key``, ``value``. Every subtask has a copy; they are checked to agree."""

    operator: Operator
    name: str
    type: OperatorStateType
    parts: Sequence[tuple[int, OperatorBackend]]
    kind: str = "broadcast"

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema(list(self.parts[0][1].columns(self.type).items()))

    @property
    def types(self) -> dict[str, t.DataType]:
        key = self.type.map_key
        return {**({"map_key": key} if key is not None else {}), "value": self.type.value}

    def batches(
        self, batch_bytes: int | None = None, *, not_decoded: NotDecoded | None = None
    ) -> Iterator[pa.RecordBatch]:
        copies = [
            _read(self, backend, None if i else not_decoded) for i, (_, backend) in enumerate(self.parts)
        ]
        first = _entry_set(copies[0])
        for (subtask, _), copy in zip(self.parts, copies, strict=True):
            if _entry_set(copy) != first:
                where = Where(operator=self.operator.label, subtask=subtask, state=self.name)
                raise FormatError(
                    f"the broadcast copy differs from that of subtask {self.parts[0][0]}", where=where
                )
        yield pa.RecordBatch.from_arrays(list(copies[0].columns.values()), schema=self.schema)

    def count(self) -> int:
        return len(_read(self, self.parts[0][1], None))


def _entry_set(rows: OperatorRows) -> Counter[str]:
    """The entries, in whatever order a copy has them."""
    columns = [json_values(column) for column in rows.columns.values()]
    return Counter(map(repr, zip(*columns, strict=True)))


def _read(
    state: OperatorListState | BroadcastState, backend: OperatorBackend, not_decoded: NotDecoded | None
) -> OperatorRows:
    try:
        found = backend.read(state.type)
    except StateliftError as error:
        raise error.at(Where(operator=state.operator.label, state=state.name)) from None
    if not_decoded is not None:
        not_decoded.note(*found.undecoded)
    return found
