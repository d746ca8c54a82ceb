"""SQL over a snapshot, by DuckDB: an operator is a schema, a state is a table, and only what is named is read."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import duckdb
import pyarrow as pa

from ..io.keyed.entries import EntryBatch
from ..io.memory import Memory
from ..schemas.errors import NameNotFoundError, SqlError, StateliftError, Where
from .duckdb_types import to_duckdb, to_duckdb_schema
from .snapshot import Operator, Snapshot
from .sql_names import TableName, one_line, quoted, tables_named
from .states import KeyedState, State

_DUCKDB_SCHEMAS = frozenset(("information_schema", "pg_catalog", "main", "temp"))
_SHOW_TABLES = re.compile(r"\s*show\s+(all\s+)?tables\s*;?\s*", re.IGNORECASE)
_VECTOR = 2048
_THREAD_BYTES = 128 << 20
"""Memory for each thread of DuckDB's."""

#: Entries of states that are held elsewhere: each call reads them from the first on.
Held = Mapping[State, Callable[[], Iterator[EntryBatch]]]


def run_sql(
    snapshot: Snapshot,
    query: str,
    *,
    batch_bytes: int | None = None,
    partial: bool = False,
    memory: Memory | None = None,
    held: Held = MappingProxyType({}),
) -> pa.RecordBatchReader:
    """The result of one query, as a stream of batches of about ``batch_bytes``.

    ``SELECT * FROM "session-tracker"."user-state"``: the schema is an operator's uid, name or id, the table a
    state; a state's name alone will do where one operator has it. ``SHOW TABLES`` lists them. A state that the
    query names once is streamed; one it names several times is first copied to a table of DuckDB's, which
    spills to the disk above three quarters of ``memory``, the snapshot's if not given (without a limit, above DuckDB's
    own of 80 % of the machine's). What is ``held`` of the snapshot's states is taken from there.

    Moments beyond the range of DuckDB's TIMESTAMPTZ come as infinity.
    Raises SqlError with DuckDB's words and the columns there are, NameNotFoundError for an unknown operator or
    state; reading the stream may raise FormatError. An operator of which a subtask cannot be opened raises that
    error, unless ``partial`` asks for what there is.
    """
    if _SHOW_TABLES.fullmatch(query):
        return describe(snapshot).to_reader()
    memory = memory or snapshot.memory
    batch_bytes = batch_bytes or memory.share(4).batch_bytes
    connection = duckdb.connect()
    scratch = tempfile.TemporaryDirectory(prefix="statelift-sql-")
    run = _Run(connection, scratch)
    try:
        _configure(connection, scratch.name)
        limit(connection, memory)
        for name, count in tables_named(connection, query).items():
            state = _find(snapshot, name)
            if state is not None:
                if state.operator.problems and not partial:
                    raise state.operator.problems[0].error
                run.add(name, _Source(state, batch_bytes, held.get(state)), copied=count > 1)
        relation = connection.sql(query)
    except (duckdb.Error, StateliftError) as error:
        run.close()
        raise run.explained(error) from None
    if relation is None:
        run.close()
        raise SqlError("the query has no result", todo="write one SELECT")
    return run.reader(relation, batch_bytes)


def states_named(snapshot: Snapshot, query: str) -> list[KeyedState]:
    """The keyed states that a query reads; none for one that cannot be run."""
    connection = duckdb.connect()
    try:
        found = [_find(snapshot, name) for name in tables_named(connection, query)]
    except (duckdb.Error, StateliftError):
        return []
    finally:
        connection.close()
    return [state for state in found if isinstance(state, KeyedState)]


def describe(snapshot: Snapshot) -> pa.Table:
    """The states of a snapshot, one row each: ``operator``, ``operator_id``, ``state``, ``kind``, and the
    columns of its table as ``name TYPE, …``."""
    rows = [
        {
            "operator": operator.label, "operator_id": operator.id, "state": state.name, "kind": state.kind,
            "columns": ", ".join(f"{quoted(c.name)} {c.type}" for c in state.schema),
        }
        for operator in snapshot.operators
        for state in operator.states
    ]  # fmt: skip
    names = ("operator", "operator_id", "state", "kind", "columns")
    return pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in names]))


def _configure(connection: duckdb.DuckDBPyConnection, scratch: str) -> None:
    # A name that is not found must not become a variable of the program that calls.
    connection.execute("SET python_enable_replacements = false").fetchall()
    connection.execute("SET TimeZone = 'UTC'").fetchall()
    connection.execute("SET enable_progress_bar = false").fetchall()
    connection.execute(f"SET temp_directory = '{_text(scratch)}'").fetchall()


def limit(connection: duckdb.DuckDBPyConnection, memory: Memory) -> None:
    """Give DuckDB three quarters of ``memory``, and no more threads than that is enough for."""
    if memory.data_bytes is not None:
        own = memory.data_bytes * 3 // 4
        threads = max(1, min(os.cpu_count() or 1, own // _THREAD_BYTES))
        connection.execute(f"SET memory_limit = '{own}B'").fetchall()
        connection.execute(f"SET threads = {threads}").fetchall()


def duckdb_error(error: BaseException, todo: str = "") -> SqlError:
    """DuckDB's words on one line; where it is short of memory, what helps here."""
    if isinstance(error, duckdb.OutOfMemoryException):
        what = one_line(error).split(" Possible solutions")[0].removeprefix("Out of Memory Error: ")
        return SqlError(
            f"the query needs more memory than there is: {what}", todo="give a larger memory limit"
        )
    return SqlError(f"DuckDB: {one_line(error)}", todo=todo or None)


def _text(value: str) -> str:
    return value.replace("'", "''")


# -- names -------------------------------------------------------------------------------------------------


def _find(snapshot: Snapshot, name: TableName) -> State | None:
    """The state that a table's name means; None where it is DuckDB's to find: a file, a catalog of its own."""
    if name.catalog:
        return None
    if not name.schema:
        return _find_alone(snapshot, name.table)
    try:
        operator = snapshot.operator(name.schema)
    except NameNotFoundError:
        operators = [o for o in snapshot.operators if _same(name.schema, o.uid)]
        if len(operators) != 1:
            if name.schema.casefold() in _DUCKDB_SCHEMAS:
                return None
            raise
        operator = operators[0]
    return _state_of(operator, name.table)


def _state_of(operator: Operator, name: str) -> State:
    named = [s for s in operator.states if s.name == name] or [
        s for s in operator.states if _same(name, s.name)
    ]
    return named[0] if len(named) == 1 else operator.state(name)


def _find_alone(snapshot: Snapshot, name: str) -> State | None:
    states = [state for operator in snapshot.operators for state in operator.states]
    found = [s for s in states if s.name == name] or [s for s in states if _same(name, s.name)]
    if len(found) == 1:
        return found[0]
    if found:
        places = " or ".join(f"{quoted(s.operator.label)}.{quoted(s.name)}" for s in found)
        raise SqlError(f"several operators have a state {name!r}", todo=f"write {places}")
    if "." in name or "/" in name or name.casefold().startswith(("duckdb_", "pragma_")):
        return None
    raise NameNotFoundError("state", name, {s.name for s in states}, where=Where(file=snapshot.url))


def _same(one: str, other: str | None) -> bool:
    """SQL names are the same in upper and lower case."""
    return other is not None and one.casefold() == other.casefold()


# -- running -----------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Source:
    """A state as DuckDB scans it: each scan begins a stream of its own, so that none finds it used up."""

    state: State
    batch_bytes: int
    held: Callable[[], Iterator[EntryBatch]] | None = None
    error: BaseException | None = None

    def __post_init__(self) -> None:
        self.schema = to_duckdb_schema(self.state.schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        try:
            for batch in self._rows():
                yield to_duckdb(batch, self.schema)
        except BaseException as error:
            self.error = error
            raise

    def _rows(self) -> Iterator[pa.RecordBatch]:
        if self.held is None or not isinstance(self.state, KeyedState):
            return self.state.batches(self.batch_bytes)
        return map(self.state.decode, self.held())


@dataclass(eq=False)
class _Run:
    """One query's connection, the states it reads, and the folder it spills to."""

    connection: duckdb.DuckDBPyConnection
    scratch: tempfile.TemporaryDirectory[str]
    sources: list[_Source] = field(default_factory=list)
    bound: dict[tuple[str, str], State] = field(default_factory=dict)

    def add(self, name: TableName, table: _Source, *, copied: bool) -> None:
        """Make a state readable under the name that the query has for it."""
        at = (name.schema.casefold(), name.table.casefold())
        if at in self.bound:
            if self.bound[at] is table.state:
                return
            raise SqlError(f"names that differ in case only: {name}", todo="name one of the two in a query")
        self.bound[at] = table.state
        self.sources.append(table)
        source = f"statelift_source_{len(self.sources)}"
        self.connection.register(source, table)
        if name.schema:
            self.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(name.schema)}").fetchall()
        kind = "TABLE" if copied else "VIEW"
        place = f"{quoted(name.schema or 'main')}.{quoted(name.table)}"
        self.connection.execute(f"CREATE {kind} {place} AS SELECT * FROM {source}").fetchall()

    def reader(self, relation: duckdb.DuckDBPyRelation, batch_bytes: int) -> pa.RecordBatchReader:
        try:
            reader = relation.to_arrow_reader(_VECTOR)
        except duckdb.Error as error:
            self.close()
            raise self.explained(error) from None
        return pa.RecordBatchReader.from_batches(reader.schema, self._results(reader, batch_bytes))

    def _results(self, reader: pa.RecordBatchReader, batch_bytes: int) -> Iterator[pa.RecordBatch]:
        try:
            yield from _joined(reader, batch_bytes)
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            raise self.explained(error) from None
        finally:
            reader.close()
            self.close()

    def explained(self, error: BaseException) -> BaseException:
        """What went wrong in truth: the state that could not be read, else DuckDB's message and the columns."""
        for source in self.sources:
            if source.error is not None and not isinstance(source.error, GeneratorExit):
                return source.error
        if isinstance(error, StateliftError):
            return error
        columns = "; ".join(
            f"columns of {quoted(s.state.operator.label)}.{quoted(s.state.name)}: "
            + ", ".join(f"{c.name} {c.type}" for c in s.schema)
            for s in self.sources
        )
        return duckdb_error(error, columns)

    def close(self) -> None:
        self.connection.close()
        self.scratch.cleanup()


def _joined(reader: pa.RecordBatchReader, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """Batches of about ``batch_bytes``: DuckDB's own are a vector each, whatever that holds."""
    parts: list[pa.RecordBatch] = []
    held = 0
    for batch in reader:
        parts.append(batch)
        held += batch.nbytes
        if held >= batch_bytes:
            yield _one(parts)
            parts, held = [], 0
    if parts:
        yield _one(parts)


def _one(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return parts[0] if len(parts) == 1 else pa.Table.from_batches(parts).combine_chunks().to_batches()[0]
