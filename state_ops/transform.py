"""What a plan does to one state, batch by batch. Entries that it does not change keep their very bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute

from ..io.keyed.entries import EntryBatch, Spans, concat
from ..schemas.errors import EncodeError, NameNotFoundError, PlanError, StateliftError, Where
from .expressions import ROW, RowQuery, row_local_select, update_query, with_row_numbers
from .plan import StatePlan
from .tables import KeyedTable
from .values import json_rows

SAMPLES = 5


@dataclass(slots=True)
class Changes:
    """What was done to a state so far: entries read, changed, deleted, added, and the first few of them.

    A sample is (row before or None, row after or None), rows as plain values.
    """

    read: int = 0
    changed: int = 0
    deleted: int = 0
    added: int = 0
    samples: list[tuple[dict[str, Any] | None, dict[str, Any] | None]] = field(default_factory=list)

    def note(self, before: pa.RecordBatch | None, after: pa.RecordBatch | None) -> None:
        """Keep the first rows of a change as samples."""
        room = SAMPLES - len(self.samples)
        if room <= 0:
            return
        old = json_rows(before.slice(0, room)) if before is not None else []
        new = json_rows(after.slice(0, room)) if after is not None else []
        self.samples += list(zip_longest(old, new))

    def add(self, other: Changes) -> None:
        self.read += other.read
        self.changed += other.changed
        self.deleted += other.deleted
        self.added += other.added
        self.samples += other.samples[: SAMPLES - len(self.samples)]


class Transform(Protocol):
    """Changes batches of one state and counts what it did."""

    changes: Changes

    def apply(self, batch: EntryBatch) -> EntryBatch:
        """The batch as it is to be written. Raises SqlError, EncodeError, FormatError with the place."""


@dataclass(slots=True)
class SetTransform:
    """UPDATE: new values for fields of the rows that a condition holds for."""

    table: KeyedTable
    paths: Sequence[tuple[str, ...]]
    query: RowQuery
    changes: Changes = field(default_factory=Changes)

    def apply(self, batch: EntryBatch) -> EntryBatch:
        rows = self.table.decode(batch)
        result = self.query.run(with_row_numbers(rows))
        self.changes.read += len(batch)
        if not len(result):
            return batch
        picked = result.column(ROW).to_numpy()
        before = rows.take(pa.array(picked))
        after = before
        for i, path in enumerate(self.paths):
            after = replaced_path(after, path, whole(result.column(f"s{i}")))
        stored = batch.values.take(picked)
        values = _written(self.table, before, after, stored)
        changed = ~_equal_rows(stored, values)
        self.changes.changed += int(changed.sum())
        mask = pa.array(changed)
        self.changes.note(before.filter(mask), as_schema(after.filter(mask), before.schema))
        return _with_values(batch, picked, values)


@dataclass(slots=True)
class DeleteTransform:
    """DELETE: the rows that a condition holds for are left out."""

    table: KeyedTable
    query: RowQuery
    changes: Changes = field(default_factory=Changes)

    def apply(self, batch: EntryBatch) -> EntryBatch:
        rows = self.table.decode(batch)
        picked = self.query.run(with_row_numbers(rows)).column(ROW).to_numpy()
        self.changes.read += len(batch)
        if not len(picked):
            return batch
        self.changes.deleted += len(picked)
        self.changes.note(rows.take(pa.array(picked)), None)
        keep = np.ones(len(batch), np.bool_)
        keep[picked] = False
        return batch.take(keep)


@dataclass(slots=True)
class SelectTransform:
    """A query that filters and projects each row by itself: its rows are the state's, keys as they are."""

    table: KeyedTable
    query: RowQuery
    changes: Changes = field(default_factory=Changes)
    _timers: EntryBatch | None = None
    """Those written to the last key group so far."""

    def apply(self, batch: EntryBatch) -> EntryBatch:
        rows = self.table.decode(batch)
        result = self.query.run(with_row_numbers(rows))
        self.changes.read += len(batch)
        picked = whole(result.column(result.num_columns - 1)).to_numpy()
        order = np.argsort(picked, kind="stable")
        picked = picked[order]
        if len(np.unique(picked)) < len(picked):
            raise EncodeError("the select gives two rows for one entry", where=self.query.where)
        kept = batch.take(picked)
        after = self._columns(result.take(pa.array(order)), rows.take(pa.array(picked)))
        if self.table.type.kind == "timer":
            written = self.table.at_times(kept, after)
            self._check_once(written)
            changed = ~_equal_rows(kept.keys, written.keys, clear_flag=True)
        else:
            values = _written(self.table, rows.take(pa.array(picked)), after, kept.values)
            changed = ~_equal_rows(kept.values, values)
            written = EntryBatch(key_groups=kept.key_groups, keys=kept.keys, values=values)
        self._count(rows, picked, after, changed)
        return written

    def _check_once(self, timers: EntryBatch) -> None:
        """Raise EncodeError where several timers of a key were moved to one time."""
        if not len(timers):
            return
        if self._timers is not None:
            timers = concat([self._timers, timers])
        keys = timers.keys.to_arrow(clear_flag=True)
        times = pa.compute.value_counts(keys)
        twice = times.filter(pa.compute.greater(times.field("counts"), 1))
        if len(twice):
            row = pa.compute.index(keys, twice.field("values")[0]).as_py()
            raise EncodeError(
                "the select moves several timers of a key to one time",
                where=self.query.where.within(Where(key_group=int(timers.key_groups[row]))),
                todo="leave out all but one",
            )
        self._timers = timers.take(timers.key_groups == timers.key_groups[-1])

    def _columns(self, result: pa.Table, before: pa.RecordBatch) -> pa.RecordBatch:
        """The select's columns; keys and, if it does not give one, the TTL time as they were."""
        given = dict(zip(result.column_names[:-1], result.columns[:-1], strict=True))
        columns = {}
        for name in before.schema.names:
            if name not in given and name not in ("ttl_timestamp", "undecoded", "domain", "key_group"):
                raise PlanError(f"the select gives no column {name!r}", where=self.query.where)
            if name in ("value", "timestamp") or (name == "ttl_timestamp" and name in given):
                columns[name] = whole(given[name])
            else:
                columns[name] = before.column(before.schema.get_field_index(name))
        return pa.RecordBatch.from_pydict(columns)

    def _count(self, rows: pa.RecordBatch, picked: Any, after: pa.RecordBatch, changed: Any) -> None:
        self.changes.changed += int(changed.sum())
        mask = pa.array(changed)
        before = rows.take(pa.array(picked))
        self.changes.note(before.filter(mask), as_schema(after.filter(mask), before.schema))
        gone = np.ones(len(rows), np.bool_)
        gone[picked] = False
        self.changes.deleted += int(gone.sum())
        if gone.any():
            self.changes.note(rows.filter(pa.array(gone)), None)


def transform_of(plan: StatePlan, table: KeyedTable, operator: str) -> Transform | None:
    """The transform of a state's plan, checked against its columns; None where only a whole query will do.

    Raises NameNotFoundError for a column or field that is not there, PlanError, SqlError.
    """
    where = Where(operator=operator, state=table.type.name)
    try:
        if plan.set:
            return _set_transform(plan, table, where)
        if plan.delete:
            query = update_query({}, plan.delete.where, where, columns=table.schema.names)
            query.run(with_row_numbers(no_rows(table.schema)))
            return DeleteTransform(table, query)
        local = row_local_select(plan.select or "", operator, table.type.name, where)
        if local is None:
            return None
        select = SelectTransform(table, local)
        select.apply(_no_entries())
        select.changes = Changes()
        return select
    except StateliftError as error:
        raise error.at(where) from None


def _set_transform(plan: StatePlan, table: KeyedTable, where: Where) -> SetTransform:
    paths = [tuple(path.split(".")) for path in plan.set]
    if table.type.kind == "timer":
        raise PlanError("a timer's columns are its key and cannot be set", where=where, todo="use select:")
    for path in paths:
        check_path(path, table.schema, ("key", "namespace", "map_key", "key_group"), where)
    check_apart(paths, where)
    query = update_query(plan.set, plan.where, where, columns=table.schema.names)
    query.run(with_row_numbers(no_rows(table.schema)))
    return SetTransform(table, paths, query)


def check_path(path: tuple[str, ...], schema: pa.Schema, fixed: Sequence[str], where: Where) -> None:
    """Raise PlanError or NameNotFoundError unless ``path`` is a column of ``schema``, none of ``fixed``, or a field."""
    if path[0] in fixed:
        raise PlanError(
            f"{path[0]} cannot be set: it places the entry",
            where=where,
            todo="use select: to write other keys",
        )
    if path[0] not in schema.names:
        raise NameNotFoundError("column", path[0], schema.names, where=where)
    kind = schema.field(path[0]).type
    for depth, name in enumerate(path[1:], 1):
        place = ".".join(path[:depth])
        if not pa.types.is_struct(kind):
            raise PlanError(f"{place} is {kind} and has no field {name!r}", where=where)
        fields = [kind.field(i).name for i in range(kind.num_fields)]
        if name not in fields:
            raise NameNotFoundError(f"field of {place}", name, fields, where=where)
        kind = kind.field(name).type


def check_apart(paths: Sequence[tuple[str, ...]], where: Where) -> None:
    """Raise PlanError where one of ``paths`` is inside another, so that it matters which is set first."""
    for path in paths:
        for other in paths:
            if path is not other and path[: len(other)] == other:
                raise PlanError(
                    f"{'.'.join(path)} is a part of {'.'.join(other)}: set one of them", where=where
                )


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def _no_entries() -> EntryBatch:
    none = np.zeros(0, np.int64)
    spans = Spans(data=np.empty(0, np.uint8), starts=none, ends=none)
    return EntryBatch(key_groups=np.zeros(0, np.int32), keys=spans, values=spans)


def whole(column: pa.ChunkedArray) -> pa.Array:
    return (
        column.chunk(0)
        if column.num_chunks == 1
        else pa.concat_arrays(column.chunks)
        if column.num_chunks
        else pa.nulls(0, column.type)
    )


def replaced_path(rows: pa.RecordBatch, path: tuple[str, ...], values: pa.Array) -> pa.RecordBatch:
    """``rows`` with new values for the column or field at ``path``; null structs stay null."""
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    columns[path[0]] = _replaced(columns[path[0]], path[1:], values)
    return pa.RecordBatch.from_pydict(columns)


def _replaced(array: pa.Array, path: tuple[str, ...], values: pa.Array) -> pa.Array:
    """``array`` with the field at ``path`` replaced; null structs stay null."""
    if not path:
        return values
    names = [array.type.field(i).name for i in range(array.type.num_fields)]
    children = [
        _replaced(array.field(i), path[1:], values) if name == path[0] else array.field(i)
        for i, name in enumerate(names)
    ]
    mask = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(children, names=names, mask=mask)


def as_schema(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """``rows`` in the types of ``schema`` where Arrow can, for samples to look alike."""
    try:
        return rows.cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, ValueError):
        return rows


def _written(table: KeyedTable, before: pa.RecordBatch, after: pa.RecordBatch, stored: Spans) -> Spans:
    """The bytes of the values of ``after``; a value that is what it was before keeps its very bytes."""
    written = Spans.of(table.encode_values(after))
    if not table.has_many_forms:
        return written
    return kept_where_equal(stored, Spans.of(table.encode_values(before)), written)


def kept_where_equal(stored: Spans, before: Spans, written: Spans) -> Spans:
    """``written``, but the ``stored`` bytes of rows that would be written so before too."""
    same = pa.compute.equal(before.to_arrow(), written.to_arrow())
    return Spans.of(pa.compute.if_else(same, stored.to_arrow(), written.to_arrow()))


def _equal_rows(a: Spans, b: Spans, *, clear_flag: bool = False) -> Any:
    """Whether the rows of two spans are the same bytes, row by row."""
    left, right = a.to_arrow(clear_flag=clear_flag), b.to_arrow(clear_flag=clear_flag)
    return pa.compute.equal(left, right).to_numpy(zero_copy_only=False)


def _with_values(batch: EntryBatch, rows: Any, values: Spans) -> EntryBatch:
    """``batch`` with new values at ``rows``; the other entries keep their bytes."""
    base = len(batch.values.data)
    data = np.concatenate([batch.values.data, values.data])
    starts, ends = batch.values.starts.copy(), batch.values.ends.copy()
    starts[rows] = values.starts + base
    ends[rows] = values.ends + base
    return EntryBatch(
        key_groups=batch.key_groups, keys=batch.keys, values=Spans(data=data, starts=starts, ends=ends)
    )
