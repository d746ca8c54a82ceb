"""Entries of states held in a database of DuckDB's, which spills them to disk: they may be larger than memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from ..io.keyed.entries import EntryBatch, Window
from ..io.memory import Memory
from ..io.metadata import KeyGroupRange
from .sql import duckdb_error, limit

_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class EntryDatabase:
    """Tables of ``key_group``, ``composite_key`` and ``value``. What DuckDB cannot do is a SqlError."""

    connection: duckdb.DuckDBPyConnection
    folder: tempfile.TemporaryDirectory[str]

    @staticmethod
    def open(memory: Memory) -> EntryDatabase:
        """An empty one in a temporary folder, which is gone after ``close``."""
        folder = tempfile.TemporaryDirectory(prefix="statelift-")
        connection = duckdb.connect(str(Path(folder.name) / "entries.duckdb"))
        limit(connection, memory)
        return EntryDatabase(connection, folder)

    def close(self) -> None:
        self.connection.close()
        self.folder.cleanup()

    def create(self, table: str) -> None:
        self.rows(f"CREATE TABLE {table} (key_group INTEGER, composite_key BLOB, value BLOB)")

    def insert(self, table: str, batch: EntryBatch) -> None:
        with _explained():
            self.connection.register("entries", pa.Table.from_batches([batch.to_arrow()]))
            self.connection.execute(f"INSERT INTO {table} SELECT * FROM entries")
            self.connection.unregister("entries")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What a query gives, if it is not much."""
        with _explained():
            return self.connection.execute(query).fetchall()

    def table(self, query: str) -> pa.Table:
        """What a query gives, if it is not much."""
        with _explained():
            return self.connection.sql(query).to_arrow_table()

    def entries(self, table: str) -> Iterator[EntryBatch]:
        """The entries of a table in the order in which they came."""
        with _explained():
            for batch in self._reader(f"SELECT key_group, composite_key, value FROM {table}"):
                if len(batch):
                    yield entry_batch(batch)

    def in_order(self, tables: Mapping[int, str], key_groups: KeyGroupRange) -> Iterator[Window]:
        """The entries in ``key_groups`` of several tables, each that of a state, by their composite keys."""
        parts = (
            f"SELECT {state} AS state, key_group, composite_key, value FROM {table}"
            f" WHERE key_group BETWEEN {key_groups.start} AND {key_groups.end}"
            for state, table in tables.items()
        )
        with _explained():
            for batch in self._reader(
                " UNION ALL ".join(parts) + " ORDER BY key_group, state, composite_key"
            ):
                states = batch.column(0).to_numpy()
                window: Window = {}
                for state in np.unique(states).tolist():
                    rows = pa.array(np.flatnonzero(states == state))
                    window[state] = entry_batch(batch.select(range(1, 4)).take(rows))
                if window:
                    yield window

    def _reader(self, query: str) -> pa.RecordBatchReader:
        return self.connection.cursor().sql(query).to_arrow_reader(_ROWS)


def entry_batch(batch: pa.RecordBatch) -> EntryBatch:
    """Columns ``key_group``, ``composite_key`` and ``value`` as entries."""
    groups = batch.column(0).to_numpy(zero_copy_only=False).astype(np.int32)
    keys, values = (batch.column(i).cast(pa.large_binary()) for i in (1, 2))
    return EntryBatch.of(groups, keys, values)


@contextmanager
def _explained() -> Iterator[None]:
    """What DuckDB could not do, as an error of ours."""
    try:
        yield
    except duckdb.Error as error:
        raise duckdb_error(error) from None
