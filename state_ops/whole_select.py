"""A query that makes a whole state: run once over the snapshot, its rows kept as entries sorted by key group.

DuckDB holds the entries and spills them to disk, so the state may be larger than memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from ..io.keyed.entries import EntryBatch
from ..io.memory import Memory
from ..io.metadata import KeyGroupRange
from ..schemas.codec.undecoded import TODO, text
from ..schemas.errors import EncodeError, PlanError, StateliftError, Where
from ..schemas.hashing import may_have_names, stability
from .digest import Digest
from .job import OperatorWork
from .not_decoded import UNDECODED
from .results import StateResult
from .snapshot import Snapshot
from .sql import duckdb_error, limit, run_sql
from .states import KeyedState
from .tables import KeyedTable
from .values import json_rows

_ROWS = 1 << 16
_SAMPLES = 5


@dataclass(slots=True)
class WholeSelect:
    """The entries of one replaced state, in a database of their own: ``before`` and ``after``."""

    connection: duckdb.DuckDBPyConnection
    folder: tempfile.TemporaryDirectory[str]
    table: KeyedTable
    read: Digest

    @staticmethod
    def run(snapshot: Snapshot, work: OperatorWork, name: str, memory: Memory) -> WholeSelect:
        """Run the state's query, and hold its rows in a part of ``memory``.

        Raises SqlError, EncodeError; PlanError for two rows with one key.
        """
        state = work.operator.state(name)
        if not isinstance(state, KeyedState):
            raise PlanError("only keyed state can be selected anew", where=Where(state=name))
        folder = tempfile.TemporaryDirectory(prefix="statelift-")
        connection = duckdb.connect(str(Path(folder.name) / "entries.duckdb"))
        part = memory.share(2 * len(work.whole))
        limit(connection, part)
        select = WholeSelect(connection, folder, state.table, Digest())
        where = Where(operator=work.operator.label, state=name)
        try:
            with _explained():
                select._load(snapshot, state, work.plans[name].select or "", part)
        except StateliftError as error:
            select.close()
            raise error.at(where) from None
        except BaseException:
            select.close()
            raise
        return select

    def _load(self, snapshot: Snapshot, state: KeyedState, query: str, memory: Memory) -> None:
        for table in ("before", "after", "left_out", "nulls", "kept"):
            self.connection.execute(
                f"CREATE TABLE {table} (key_group INTEGER, composite_key BLOB, value BLOB)"
            )
        for backend, number in state.parts:
            for window in backend.windows(None, frozenset((number,)), memory.batch_bytes):
                self._check_hashes(window[number])
                self.read += Digest.of(window[number])
                self._insert("before", window[number])
                self._note_undecoded(window[number])
        for batch in run_sql(snapshot, query, memory=memory):
            if len(batch):
                rows, made = self.table.encode_sorted(self._checked(batch))
                self._insert("after", made)
                self._note_nulls(rows, made)
        twice = self.connection.execute(
            "SELECT key_group, composite_key FROM after GROUP BY ALL HAVING count(*) > 1 LIMIT 1"
        ).fetchall()
        if twice:
            raise EncodeError(
                f"the select gives several rows for one key (composite key {bytes(twice[0][1]).hex()})",
                where=Where(key_group=twice[0][0]), todo="group or filter so that each key comes once",
            )  # fmt: skip

        self._check_covered(state)
        self._check_undecoded()

    def _check_hashes(self, before: EntryBatch) -> None:
        """Raise PlanError where the job's Rows hash by the names of their fields: nobody else can place new ones."""
        key = self.table.type.key
        if stability(key) is not None or not may_have_names(key) or not len(before):
            return
        elsewhere = np.flatnonzero(self.table.key_groups(self.table.keys(before)) != before.key_groups)
        if len(elsewhere):
            raise PlanError(
                "keys of the state are rows with named fields, which hash by the names that no snapshot has",
                where=Where(key_group=int(before.key_groups[elsewhere[0]])),
                todo="use set, where and delete, which leave keys where they are",
            )

    def _note_undecoded(self, before: EntryBatch) -> None:
        """Keep the entries whose values are not decoded. Raises PlanError for such a key: it cannot be written."""
        found = self.table.read(before)
        if len(found.keys):
            row, why = found.keys.first()
            raise PlanError(
                f"a key of the state is not decoded: {text(why)}",
                where=Where(key_group=int(before.key_groups[row])),
                todo=TODO.get(why[0], "use set, where and delete, which leave keys as they are"),
            )
        if len(found.values):
            self._insert("left_out", before.take(found.values.mask))

    def _note_nulls(self, rows: pa.RecordBatch, made: EntryBatch) -> None:
        """Keep the entries whose value the query gives as null, and those that it gives as bytes."""
        if not self.table.may_be_undecoded:
            return
        null = ~np.asarray(rows["value"].is_valid())
        has_bytes = np.zeros(len(rows), np.bool_)
        if UNDECODED in rows.schema.names:
            has_bytes = np.asarray(rows[UNDECODED].is_valid())
        for name, mask in (("nulls", null & ~has_bytes), ("kept", null & has_bytes)):
            if mask.any():
                self._insert(name, made.take(mask))

    def _check_undecoded(self) -> None:
        """Raise PlanError where the query would lose what is not decoded, or take other bytes for it."""
        lost = self._number("SELECT count(*) FROM nulls JOIN left_out USING (key_group, composite_key)")
        if lost:
            raise PlanError(
                f"the select writes nulls over {lost} values that are not decoded",
                todo=f"let it give the column {UNDECODED} too, or leave them out by WHERE {UNDECODED} IS NULL",
            )
        foreign = self._number("SELECT count(*) FROM kept WHERE value NOT IN (SELECT value FROM left_out)")
        if foreign:
            raise PlanError(
                f"the select gives {foreign} values in the column {UNDECODED} that are none of the state's own"
            )

    def _check_covered(self, state: KeyedState) -> None:
        """Raise PlanError for an entry that no subtask's state would take up."""
        ranges = [backend.key_groups for backend, _ in state.parts]
        covered = " OR ".join(f"key_group BETWEEN {span.start} AND {span.end}" for span in ranges)
        for (key_group,) in self.connection.execute(
            f"SELECT key_group FROM after WHERE NOT ({covered}) LIMIT 1"
        ).fetchall():
            raise PlanError(
                "the select gives a key of a subtask that does not have the state",
                where=Where(key_group=key_group), todo="leave it out",
            )  # fmt: skip

    def _checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        known = [name for name in self.table.schema.names if name not in ("key_group", "domain", "undecoded")]
        missing = [name for name in known if name not in batch.schema.names]
        if missing:
            raise PlanError(f"the select gives no column {missing[0]!r}; it needs {', '.join(known)}")
        return batch

    def _insert(self, table: str, batch: EntryBatch) -> None:
        entries = pa.Table.from_batches([batch.to_arrow()])
        self.connection.register("entries", entries)
        self.connection.execute(f"INSERT INTO {table} SELECT * FROM entries")
        self.connection.unregister("entries")

    def entries(self, key_groups: KeyGroupRange) -> Iterator[EntryBatch]:
        """The new entries in ``key_groups``, in the order of their composite keys."""
        cursor = self.connection.cursor()
        reader = cursor.sql(
            "SELECT key_group, composite_key, value FROM after"
            f" WHERE key_group BETWEEN {key_groups.start} AND {key_groups.end} ORDER BY composite_key"
        ).to_arrow_reader(_ROWS)
        with _explained():
            for batch in reader:
                if len(batch):
                    yield _entries(batch)

    def report(self, result: StateResult, first: bool) -> None:
        """Add what the whole query did to the result of the operator's ``first`` unit."""
        if not first:
            return
        with _explained():
            self._compare(result)

    def _compare(self, result: StateResult) -> None:
        result.read = (self.read.entries, self.read.low, self.read.high)
        result.changed = self._number(
            "SELECT count(*) FROM before b JOIN after a USING (key_group, composite_key) WHERE a.value <> b.value"
        )
        result.deleted = self._number(
            "SELECT count(*) FROM before b ANTI JOIN after a USING (key_group, composite_key)"
        )
        result.added = self._number(
            "SELECT count(*) FROM after a ANTI JOIN before b USING (key_group, composite_key)"
        )
        result.samples = self._samples()

    def _number(self, query: str) -> int:
        return int(self.connection.execute(query).fetchall()[0][0])

    def _samples(self) -> list[tuple[dict[str, Any] | None, dict[str, Any] | None]]:
        rows = self.connection.sql(
            "SELECT key_group, composite_key, b.value AS before, a.value AS after"
            " FROM before b FULL JOIN after a USING (key_group, composite_key)"
            f" WHERE b.value IS DISTINCT FROM a.value ORDER BY composite_key LIMIT {_SAMPLES}"
        ).to_arrow_table()
        samples = []
        for row in rows.to_batches():
            for i in range(len(row)):
                samples.append((self._row(row.slice(i, 1), "before"), self._row(row.slice(i, 1), "after")))
        return samples

    def _row(self, row: pa.RecordBatch, side: str) -> dict[str, Any] | None:
        if not row.column(row.schema.get_field_index(side))[0].is_valid:
            return None
        names = ["key_group", "composite_key", side]
        columns = [row.column(row.schema.get_field_index(name)) for name in names]
        batch = pa.RecordBatch.from_arrays(columns, names=["key_group", "composite_key", "value"])
        return json_rows(self.table.decode(_entries(batch)))[0]

    def close(self) -> None:
        self.connection.close()
        self.folder.cleanup()


@contextmanager
def _explained() -> Iterator[None]:
    """What DuckDB could not do, as an error of ours."""
    try:
        yield
    except duckdb.Error as error:
        raise duckdb_error(error) from None


def _entries(batch: pa.RecordBatch) -> EntryBatch:
    groups = batch.column(0).to_numpy(zero_copy_only=False).astype(np.int32)
    keys, values = (batch.column(i).cast(pa.large_binary()) for i in (1, 2))
    return EntryBatch.of(groups, keys, values)
