"""Queries that make whole states: run once over the snapshot, their rows kept as entries sorted by key group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..io.keyed.backend import KeyedBackend
from ..io.keyed.entries import EntryBatch, Spans, Window
from ..io.memory import Memory
from ..io.metadata import KeyGroupRange
from ..schemas.codec.undecoded import TODO, text
from ..schemas.errors import EncodeError, PlanError, StateliftError, Where
from ..schemas.hashing import may_have_names, stability
from ..schemas.key_forms import may_have_two_forms
from .digest import Digest
from .entry_database import EntryDatabase, entry_batch
from .job import OperatorWork
from .not_decoded import UNDECODED
from .one_pass import entries_of
from .results import StateResult
from .snapshot import Snapshot
from .sql import Held, run_sql, states_named
from .states import KeyedState
from .values import json_rows

_SAMPLES = 5
_TWO_FORMS = (
    "Flink writes in two forms (a null DECIMAL of over 18 digits or TIMESTAMP of over 3; BigInteger 0, 1, 10)"
)


@dataclass(slots=True)
class _Select:
    """One state that is selected anew: the tables of its entries before and after; ``read`` is the digest of those
    before."""

    state: KeyedState
    query: str
    before: str
    after: str
    read: Digest = field(default_factory=Digest)

    @property
    def left_out(self) -> str:
        """The table of entries before whose values are not decoded."""
        return f"{self.before}_left_out"

    @property
    def forms(self) -> str:
        """The table of entries before as they would be written, where that is not as they are."""
        return f"{self.before}_forms"

    @property
    def doubtful(self) -> str:
        """The table of entries after whose keys have a part that has two forms in bytes."""
        return f"{self.after}_doubtful"

    @property
    def extra(self) -> tuple[str, ...]:
        """All tables beside those of the entries."""
        return self.left_out, self.forms, self.nulls, self.kept, self.doubtful

    @property
    def nulls(self) -> str:
        """The table of entries after whose values the query gave as nulls."""
        return f"{self.after}_nulls"

    @property
    def kept(self) -> str:
        """The table of entries after whose values the query gave in the column ``undecoded``."""
        return f"{self.after}_kept"


@dataclass(frozen=True, slots=True)
class WholeSelects:
    """The replaced states of one operator, in a database: what they held before, and what they hold now.

    The snapshot is read once for all that is replaced, and for what the queries read besides, if that is several
    states of one stream.
    """

    database: EntryDatabase
    selects: dict[str, _Select]

    @staticmethod
    def run(snapshot: Snapshot, work: OperatorWork, memory: Memory) -> WholeSelects:
        """Run the queries, and hold their rows in ``memory`` and on disk.

        Raises SqlError, EncodeError; PlanError for two rows with one key.
        """
        part = memory.share(2)
        whole = WholeSelects(EntryDatabase.open(part), {})
        try:
            for number, name in enumerate(sorted(work.whole)):
                state = work.operator.state(name)
                if not isinstance(state, KeyedState):
                    raise PlanError("only keyed state can be selected anew", where=Where(state=name))
                query = work.plans[name].select or ""
                whole.selects[name] = _Select(state, query, f"before_{number}", f"after_{number}")
            held = whole._hold(snapshot, part)
            for name, select in whole.selects.items():
                try:
                    whole._select(snapshot, select, held, part)
                except StateliftError as error:
                    raise error.at(Where(operator=work.operator.label, state=name)) from None
        except BaseException:
            whole.close()
            raise
        return whole

    # -- what there is ---------------------------------------------------------------------------------------

    def _hold(self, snapshot: Snapshot, memory: Memory) -> Held:
        """Copy the replaced states, and others that would be read one by one from the same stream."""
        tables = {select.state: select.before for select in self.selects.values()}
        read = {state for select in self.selects.values() for state in states_named(snapshot, select.query)}
        streamed = {state for state in read if any(backend.stream is not None for backend, _ in state.parts)}
        for state in streamed - tables.keys():
            if any(
                other.operator is state.operator for other in streamed | tables.keys() if other is not state
            ):
                tables[state] = f"read_{len(tables)}"
        selects = {select.state: select for select in self.selects.values()}
        operators = {id(state.operator): state.operator for state in tables}
        extra = [name for one in self.selects.values() for name in one.extra]
        for table in (*tables.values(), *extra):
            self.database.create(table)
        for operator in operators.values():
            own = [state for state in tables if state.operator is operator]
            for state, batch in entries_of(own, None, memory.batch_bytes):
                if state in selects:
                    _check_hashes(state, batch)
                    selects[state].read += Digest.of(batch)
                    self._look_at(selects[state], batch)
                self.database.insert(tables[state], batch)
        return {state: partial(self.database.entries, table) for state, table in tables.items()}

    # -- what is made of it ----------------------------------------------------------------------------------

    def _select(self, snapshot: Snapshot, select: _Select, held: Held, memory: Memory) -> None:
        self.database.create(select.after)
        for batch in run_sql(snapshot, select.query, memory=memory, held=held):
            if len(batch):
                rows, made = select.state.table.encode_sorted(_checked(select.state, batch))
                self.database.insert(select.after, made)
                self._note_nulls(select, rows, made)
                doubtful = select.state.table.has_two_forms(rows)
                if doubtful.any():
                    self.database.insert(select.doubtful, made.take(doubtful))
        twice = self.database.rows(
            f"SELECT key_group, composite_key FROM {select.after} GROUP BY ALL HAVING count(*) > 1 LIMIT 1"
        )
        if twice:
            raise EncodeError(
                f"the select gives several rows for one key (composite key {bytes(twice[0][1]).hex()})",
                where=Where(key_group=twice[0][0]), todo="group or filter so that each key comes once",
            )  # fmt: skip
        self._check_covered(select)
        self._check_undecoded(select)
        self._check_key_forms(select)
        # Equal values may have several forms in bytes: what is not changed keeps its own.
        self.database.rows(
            f"UPDATE {select.after} a SET value = b.value FROM {select.before} b JOIN {select.forms} f"
            " USING (key_group, composite_key) WHERE (a.key_group, a.composite_key, a.value)"
            " = (f.key_group, f.composite_key, f.value)"
        )

    def _look_at(self, select: _Select, before: EntryBatch) -> None:
        """Keep the entries whose values are not decoded, or would be written otherwise. Raises PlanError for a key
        that is not decoded: it cannot be written."""
        found = select.state.table.read(before)
        if len(found.keys):
            row, why = found.keys.first()
            raise PlanError(
                f"a key of the state is not decoded: {text(why)}",
                where=Where(
                    operator=select.state.operator.label,
                    state=select.state.name,
                    key_group=int(before.key_groups[row]),
                ),
                todo=TODO.get(why[0], "use set, where and delete, which leave keys as they are"),
            )
        _check_written_so(select.state, before, found.rows)
        if len(found.values):
            self.database.insert(select.left_out, before.take(found.values.mask))
        if select.state.table.has_many_forms:
            again = Spans.of(select.state.table.encode_values(found.rows))
            written = EntryBatch(key_groups=before.key_groups, keys=before.keys, values=again)
            same = np.asarray(pc.equal(again.to_arrow(), before.values.to_arrow()))
            if not same.all():
                self.database.insert(select.forms, written.take(~same))

    def _note_nulls(self, select: _Select, rows: pa.RecordBatch, made: EntryBatch) -> None:
        if not select.state.table.may_be_undecoded:
            return
        null = ~np.asarray(rows["value"].is_valid())
        has_bytes = np.zeros(len(rows), np.bool_)
        if UNDECODED in rows.schema.names:
            has_bytes = np.asarray(rows[UNDECODED].is_valid())
        for table, mask in ((select.nulls, null & ~has_bytes), (select.kept, null & has_bytes)):
            if mask.any():
                self.database.insert(table, made.take(mask))

    def _check_undecoded(self, select: _Select) -> None:
        """Raise PlanError where the query would lose what is not decoded, or take other bytes for it."""
        [(lost,)] = self.database.rows(
            f"SELECT count(*) FROM {select.nulls} JOIN {select.left_out} USING (key_group, composite_key)"
        )
        if lost:
            raise PlanError(
                f"the select writes nulls over {lost} values that are not decoded",
                todo=f"let it give the column {UNDECODED} too, or leave them out by WHERE {UNDECODED} IS NULL",
            )
        [(foreign,)] = self.database.rows(
            f"SELECT count(*) FROM {select.kept} WHERE value NOT IN (SELECT value FROM {select.left_out})"
        )
        if foreign:
            raise PlanError(
                f"the select gives {foreign} values in the column {UNDECODED} that are none of the state's own"
            )

    def _check_key_forms(self, select: _Select) -> None:
        """Raise PlanError for a new key of which nothing tells the form that the job looks up."""
        for (key_group,) in self.database.rows(
            f"SELECT key_group FROM {select.doubtful} ANTI JOIN {select.before} USING (key_group, composite_key)"
            " LIMIT 1"
        ):
            raise PlanError(
                f"the select gives a new key with a part that {_TWO_FORMS}",
                where=Where(key_group=key_group), todo="leave it out",
            )  # fmt: skip

    def _check_covered(self, select: _Select) -> None:
        """Raise PlanError for an entry that no subtask's state would take up."""
        ranges = [backend.key_groups for backend, _ in select.state.parts]
        covered = " OR ".join(f"key_group BETWEEN {span.start} AND {span.end}" for span in ranges)
        for (key_group,) in self.database.rows(
            f"SELECT key_group FROM {select.after} WHERE NOT ({covered}) LIMIT 1"
        ):
            raise PlanError(
                "the select gives a key of a subtask that does not have the state",
                where=Where(key_group=key_group), todo="leave it out",
            )  # fmt: skip

    def windows(self, backend: KeyedBackend, key_groups: KeyGroupRange) -> Iterator[Window]:
        """The new entries in ``key_groups`` of the states that ``backend`` has, by their ids there."""
        tables = {
            number: self.selects[state.name].after
            for number, state in enumerate(backend.states)
            if state.name in self.selects
        }
        return self.database.in_order(tables, key_groups) if tables else iter(())

    # -- what is said of it ----------------------------------------------------------------------------------

    def report(self, name: str, result: StateResult) -> None:
        """Add what the whole query did to the result of a state."""
        select = self.selects[name]
        result.read = (select.read.entries, select.read.low, select.read.high)
        both = f"{select.before} b FULL JOIN {select.after} a USING (key_group, composite_key)"
        [(result.changed, result.deleted, result.added)] = self.database.rows(
            "SELECT count(*) FILTER (b.value <> a.value), count(*) FILTER (a.value IS NULL),"
            f" count(*) FILTER (b.value IS NULL) FROM {both}"
        )
        rows = self.database.table(
            f"SELECT key_group, composite_key, b.value AS before, a.value AS after FROM {both}"
            f" WHERE b.value IS DISTINCT FROM a.value ORDER BY composite_key LIMIT {_SAMPLES}"
        )
        result.samples = [
            (_shown(select.state, row, "before"), _shown(select.state, row, "after"))
            for batch in rows.to_batches()
            for row in (batch.slice(i, 1) for i in range(len(batch)))
        ]

    def close(self) -> None:
        self.database.close()


def _check_hashes(state: KeyedState, before: EntryBatch) -> None:
    """Raise PlanError where the job's Rows hash by the names of their fields, or as those of Flink 1.11: nobody else
    can place new ones."""
    table = state.table
    key = table.type.key
    if stability(key) is not None or not may_have_names(key) or not len(before):
        return
    elsewhere = np.flatnonzero(table.key_groups(table.keys(before)) != before.key_groups)
    if len(elsewhere):
        raise PlanError(
            "keys of the state are rows with named fields, which hash by the names that no snapshot has (or of 1.11)",
            where=Where(
                operator=state.operator.label,
                state=state.name,
                key_group=int(before.key_groups[elsewhere[0]]),
            ),
            todo="use set, where and delete, which leave keys where they are",
        )


def _check_written_so(state: KeyedState, before: EntryBatch, rows: pa.RecordBatch) -> None:
    """Raise PlanError for a key that would be written as other bytes than it is."""
    table = state.table
    if not any(may_have_two_forms(node) for _, node in table.key_parts()):
        return
    again = table.encode_in(rows, before.key_groups).keys.to_arrow()
    others = np.flatnonzero(~np.asarray(pc.equal(again, before.keys.to_arrow(clear_flag=True))))
    if len(others):
        raise PlanError(
            f"a key of the state has a part that {_TWO_FORMS}",
            where=Where(
                operator=state.operator.label,
                state=state.name,
                key_group=int(before.key_groups[others[0]]),
            ),
            todo="use set, where and delete, which leave keys as they are",
        )


def _checked(state: KeyedState, batch: pa.RecordBatch) -> pa.RecordBatch:
    known = [name for name in state.table.schema.names if name not in ("key_group", "domain", "undecoded")]
    missing = [name for name in known if name not in batch.schema.names]
    if missing:
        raise PlanError(f"the select gives no column {missing[0]!r}; it needs {', '.join(known)}")
    return batch


def _shown(state: KeyedState, row: pa.RecordBatch, side: str) -> dict[str, Any] | None:
    value = row.column(row.schema.get_field_index(side))
    if not value[0].is_valid:
        return None
    entry = pa.RecordBatch.from_arrays([row.column(0), row.column(1), value], names=["g", "k", "v"])
    return json_rows(state.table.decode(entry_batch(entry)))[0]
