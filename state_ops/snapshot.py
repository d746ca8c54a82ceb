"""A snapshot opened: its operators, their states, and each state as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import pyarrow as pa

from ..io.keyed.backend import KeyedBackend, KeyedStateType, open_keyed
from ..io.keyed.raw_timers import open_raw_keyed
from ..io.memory import Memory
from ..io.metadata import Metadata, OperatorState, SubtaskState, read_metadata
from ..io.operator_state import OperatorBackend, OperatorStateType, open_operator
from ..io.stores import Stores, join, normalize, parent
from ..io.streams import StreamOpener
from ..schemas.errors import InputError, NameNotFoundError, StateliftError, StoreError, Where
from ..schemas.from_snapshot import TypeRules
from ..schemas.operator_id import operator_id_of_uid
from ..schemas.subclasses import subclasses_of, told
from .class_types import Types, declared
from .in_flight import InFlight, in_flight
from .nearby import snapshots_below
from .python_state import PythonStates, PythonTypes
from .python_state import python_types as declared_python
from .sql_columns import ColumnNames, named
from .sql_sources import column_names
from .states import BroadcastState, KeyedState, OperatorListState, State

#: The first version of ``_metadata`` that Flink 2 writes, whose Kryo is another one than that of Flink 1.
_FLINK_2 = 5
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Problem:
    """What of an operator could not be opened: its other states are there all the same."""

    error: StateliftError

    def __str__(self) -> str:
        return str(self.error)


@dataclass(frozen=True, eq=False)
class Operator:
    """One operator of a snapshot. ``uid`` is known from the snapshot (Flink 2.x) or from names that were given;
    ``columns`` know the names of its SQL rows' columns, ``python`` the types of PyFlink's states."""

    meta: OperatorState
    uid: str | None
    opener: StreamOpener
    columns: tuple[ColumnNames, ...] = ()
    python: PythonTypes = field(default_factory=PythonTypes)
    problems: list[Problem] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The operator id, 32 hex digits."""
        return self.meta.uid_hash

    @property
    def name(self) -> str | None:
        return self.meta.operator_name

    @property
    def label(self) -> str:
        """What the operator is called in SQL and in errors: its uid, else its id."""
        return self.uid or self.id

    @property
    def parallelism(self) -> int:
        return self.meta.parallelism

    @property
    def max_parallelism(self) -> int:
        return self.meta.max_parallelism

    @property
    def in_flight(self) -> InFlight:
        """The records on their way to and from the operator, of an unaligned checkpoint."""
        return in_flight(self.meta)

    @cached_property
    def keyed_backends(self) -> dict[int, KeyedBackend]:
        """The keyed backends by subtask, opened by reading their headers."""

        def keyed(subtask: SubtaskState) -> KeyedBackend | None:
            handle = subtask.managed_keyed_state
            return open_keyed(handle, self.opener, self.max_parallelism) if handle is not None else None

        opened = dict(self._open(keyed))
        known = subclasses_of(
            node for one in opened.values() for state in one.states for node in state.nodes()
        )
        for one in opened.values():
            one.states = [self._named(state.told(known)) for state in one.states]
        return opened

    @cached_property
    def raw_timers(self) -> dict[int, KeyedBackend]:
        """Timers that were kept on the heap, from raw keyed state, by subtask. Other raw state is not opened."""

        def timers(subtask: SubtaskState) -> KeyedBackend | None:
            handle = subtask.raw_keyed_state
            raw = open_raw_keyed(handle, self.opener, self.max_parallelism) if handle is not None else None
            return raw if isinstance(raw, KeyedBackend) else None

        opened = dict(self._open(timers))
        for one in opened.values():
            one.states = [self._named(state) for state in one.states]
        return opened

    @cached_property
    def operator_backends(self) -> dict[int, OperatorBackend]:
        """The operator state backends by subtask."""

        def managed(subtask: SubtaskState) -> OperatorBackend | None:
            handle = subtask.managed_operator_state
            return open_operator(handle, self.opener) if handle is not None else None

        opened = dict(self._open(managed))
        known = subclasses_of(state.value for one in opened.values() for state in one.states)
        return {
            subtask: replace(
                one, states=[self._named_elements(replace(s, value=told(s.value, known))) for s in one.states]
            )
            for subtask, one in opened.items()
        }

    def _named(self, state: KeyedStateType) -> KeyedStateType:
        """The state with what the snapshot does not say of it: PyFlink's types, names of SQL rows' columns."""
        state = self.python.told(self.meta.operator_id, state)
        for source in self.columns:
            rows = source.rows(self.meta.operator_id, state.name, state.value)
            state = replace(
                state,
                key=named(state.key, rows.key),
                map_key=named(state.map_key, rows.map_key) if state.map_key is not None else None,
                value=named(state.value, rows.value) if state.value is not None else None,
            )
        return state

    def _named_elements(self, state: OperatorStateType) -> OperatorStateType:
        state = self.python.told_broadcast(self.meta.operator_id, state)
        for source in self.columns:
            rows = source.rows(self.meta.operator_id, state.name, state.value)
            state = replace(state, value=named(state.value, rows.value))
        return state

    def _open(self, opened: Callable[[SubtaskState], B | None]) -> Iterator[tuple[int, B]]:
        for subtask in sorted(self.meta.subtask_states, key=lambda s: s.subtask_index):
            try:
                backend = opened(subtask)
            except StateliftError as error:
                where = Where(operator=self.label, subtask=subtask.subtask_index)
                self.problems.append(Problem(error.at(where)))
                continue
            if backend is not None:
                yield subtask.subtask_index, backend

    @cached_property
    def states(self) -> tuple[State, ...]:
        """The states of all subtasks: keyed ones, list states, broadcast states."""
        keyed: dict[str, list[tuple[KeyedBackend, int]]] = {}
        backends = [*self.keyed_backends.values(), *self.raw_timers.values()]
        for backend in sorted(backends, key=lambda b: b.key_groups.start):
            for number, state in enumerate(backend.states):
                keyed.setdefault(state.name, []).append((backend, number))
        states: list[State] = [
            KeyedState(self, name, parts[0][0].states[parts[0][1]], parts) for name, parts in keyed.items()
        ]
        lists: dict[str, list[tuple[int, OperatorBackend]]] = {}
        types: dict[str, OperatorStateType] = {}
        for subtask, operator_backend in self.operator_backends.items():
            for kind in operator_backend.states:
                lists.setdefault(kind.name, []).append((subtask, operator_backend))
                types.setdefault(kind.name, kind)
        for name, places in lists.items():
            make = BroadcastState if types[name].kind == "broadcast" else OperatorListState
            states.append(make(self, name, types[name], places))
        return tuple(states)

    @property
    def keyed_states(self) -> list[KeyedState]:
        """Those of ``states`` that are keyed."""
        return [state for state in self.states if isinstance(state, KeyedState)]

    def state(self, name: str) -> State:
        """The state called ``name``. Raises NameNotFoundError with the nearest names."""
        for state in self.states:
            if state.name == name:
                return state
        where = Where(operator=self.label)
        if self.problems:
            raise self.problems[0].error
        raise NameNotFoundError("state", name, (state.name for state in self.states), where=where)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A savepoint or checkpoint, opened by reading ``_metadata``. Nothing else is read until it is asked for."""

    url: str
    metadata: Metadata
    opener: StreamOpener
    operators: tuple[Operator, ...]

    def operator(self, name: str) -> Operator:
        """The operator with this uid, name or id (32 hex digits). NameNotFoundError gives the nearest."""
        wanted = name.lower()
        for operator in self.operators:
            if operator.uid == name or operator.id == wanted:
                return operator
        hashed = operator_id_of_uid(name).hex()
        for operator in self.operators:
            if operator.id == hashed:
                return operator
        named = [operator for operator in self.operators if operator.name == name]
        if len(named) > 1:
            labels = " or ".join(operator.label for operator in named)
            raise InputError(f"several operators are named {name!r}", todo=f"name one as {labels}")
        if named:
            return named[0]
        known = [known for o in self.operators for known in (o.uid, o.name, o.id) if known]
        raise NameNotFoundError("operator", name, known, where=Where(file=self.url))

    def with_wide_times(self) -> Snapshot:
        """The same snapshot, opened anew with ``wide_times``: every time that Java has is read."""
        if self.opener.wide_times:
            return self
        opener = replace(self.opener, wide_times=True)
        operators = tuple(
            Operator(one.meta, one.uid, opener, one.columns, one.python) for one in self.operators
        )
        return Snapshot(self.url, self.metadata, opener, operators)

    def state(self, operator: str, name: str) -> State:
        return self.operator(operator).state(name)

    @property
    def memory(self) -> Memory:
        return self.opener.memory

    @property
    def checkpoint_id(self) -> int:
        return self.metadata.checkpoint_id

    def sql(self, query: str, **options: object) -> pa.RecordBatchReader:
        """The result of a DuckDB query in which an operator is a schema and a state a table."""
        from .sql import run_sql

        return run_sql(self, query, **options)  # type: ignore[arg-type]


def metadata_url(url: str) -> str:
    """The URL of ``_metadata`` for a snapshot given as its folder or as the file itself."""
    url = normalize(url)
    return url if url.rpartition("/")[2] == "_metadata" else join(url.rstrip("/") + "/", "_metadata")


def open_snapshot(
    url: str,
    *,
    endpoint_url: str | None = None,
    stores: Stores | None = None,
    uids: Iterable[str] = (),
    path_map: Iterable[tuple[str, str]] = (),
    types: Types | str | None = None,
    wide_times: bool = False,
    sql_plan: str | None = None,
    ddl: str | None = None,
    python_types: PythonStates | str | None = None,
    memory_limit: str | int | None = None,
) -> Snapshot:
    """Open the snapshot at ``url``: a folder or its ``_metadata``, on the local disk or in any store.

    ``uids`` are names to try for operators whose uid the snapshot does not say (Flink 1.x). ``path_map`` are
    (old, new) prefixes for files that were moved. ``types`` are the fields of classes that the snapshot does not
    say: a YAML file, or what would stand in it. ``wide_times`` gives times of Java (Instant, LocalDate, …) as structs
    of their parts, which hold all of them; without it those beyond 64 bits of nanoseconds are undecoded.
    ``sql_plan`` is a compiled plan of Flink SQL (a path or URL), ``ddl`` a file of CREATE TABLE "operator"."state" (…):
    they name the columns of SQL rows, which are f0, f1, … where neither does. ``python_types`` are PyFlink's state
    descriptors by uid and state, for jobs in process mode: a YAML file, or what would stand in it.
    ``memory_limit``, as ``512MB``, is what the process may take while the snapshot is read (see :class:`Memory`).

    Raises StoreError where there is no ``_metadata``, FormatError where it is damaged, InputError for a limit that is
    too small.
    """
    stores = stores or Stores(endpoint_url)
    at = metadata_url(url)
    try:
        data = stores.read(at)
    except StoreError:
        folder = parent(at)
        if not stores.exists(at):
            below = snapshots_below(stores, folder)
            raise StoreError(
                f"no snapshot at {folder}: it has no _metadata file",
                todo="name the folder that holds _metadata" + (f", as {', '.join(below)}" if below else ""),
            ) from None
        raise
    metadata = read_metadata(data, at)
    rules = TypeRules(kryo=5 if metadata.version >= _FLINK_2 else 2, declared=declared(types, stores))
    opener = StreamOpener(
        stores=stores,
        base_url=parent(at),
        path_map=tuple(path_map),
        types=rules,
        wide_times=wide_times,
        memory=Memory.of(memory_limit),
    )
    columns = column_names(sql_plan, ddl, stores)
    python = declared_python(python_types, stores)
    told_uids = [*uids, *python.uids, *(uid for source in columns for uid in source.uids())]
    known = {operator_id_of_uid(uid): uid for uid in told_uids}
    operators = tuple(
        Operator(meta, meta.operator_uid or known.get(meta.operator_id), opener, columns, python)
        for meta in metadata.operator_states
    )
    return Snapshot(parent(at), metadata, opener, operators)
