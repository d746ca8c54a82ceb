"""What a plan does to operator state: list states element by element, broadcast states entry by entry.

A subtask's operator state is small enough for Flink to hold in memory, and is done whole, at the commit. Elements
that the plan does not change keep their very bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..io.keyed.entries import EntryBatch, Spans
from ..io.operator_state import OperatorBackend, OperatorStateType, OperatorStateWriter
from ..schemas.errors import EncodeError, PlanError, Where
from ..schemas.subclasses import has_many_forms
from .digest import Digest
from .expressions import RowQuery, row_local_select, update_query, with_row_numbers
from .not_decoded import UNDECODED
from .plan import StatePlan
from .results import StateResult
from .states import BroadcastState, OperatorListState
from .transform import (
    Changes,
    as_schema,
    check_apart,
    check_path,
    kept_where_equal,
    no_rows,
    replaced_path,
    whole,
)

#: Columns that say which element it is.
_PLACES = ("subtask", "index", "map_key")


@dataclass(slots=True)
class ElementTransform:
    """Changes the rows of one operator state. ``paths`` are set by the query's columns; none: it deletes or selects."""

    state: OperatorListState | BroadcastState
    query: RowQuery
    paths: Sequence[tuple[str, ...]] = ()
    deletes: bool = False
    changes: Changes = field(default_factory=Changes)

    def apply(self, rows: pa.RecordBatch) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], pa.Array]:
        """(rows that stay, which of them are changed, the values of the changed ones)."""
        result = self.query.run(with_row_numbers(rows))
        picked = whole(result.column(result.num_columns - 1 if not self.paths else 0)).to_numpy()
        self.changes.read += len(rows)
        everything = np.arange(len(rows))
        if self.deletes:
            self.changes.deleted += len(picked)
            if len(picked):
                self.changes.note(rows.take(pa.array(picked)), None)
            return (
                np.setdiff1d(everything, picked),
                np.zeros(len(rows) - len(picked), np.bool_),
                rows["value"].slice(0, 0),
            )
        before = rows.take(pa.array(picked))
        after = before
        for i, path in enumerate(self.paths):
            after = replaced_path(after, path, whole(result.column(f"s{i}")))
        values = after["value"] if self.paths else whole(result.column("value"))
        if self.paths:
            changed = np.zeros(len(rows), np.bool_)
            changed[picked] = True
            order = np.argsort(picked, kind="stable")
            self._note(before, after)
            return everything, changed, values.take(pa.array(order))
        order = np.argsort(picked, kind="stable")
        if len(np.unique(picked)) < len(picked):
            raise EncodeError("the select gives two rows for one element", where=self.query.where)
        self.changes.deleted += len(rows) - len(picked)
        self._note(before, before.set_column(before.schema.get_field_index("value"), "value", values))
        return picked[order], np.ones(len(picked), np.bool_), values.take(pa.array(order))

    def _note(self, before: pa.RecordBatch, after: pa.RecordBatch) -> None:
        self.changes.changed += len(before)
        self.changes.note(before, as_schema(after, before.schema))


def element_transform(
    plan: StatePlan, state: OperatorListState | BroadcastState, operator: str
) -> ElementTransform:
    """The transform of a state's plan, checked against its columns. Raises PlanError, NameNotFoundError, SqlError."""
    where = Where(operator=operator, state=state.name)
    if state.opaque is not None:
        raise PlanError(
            f"values of {state.opaque.class_name} are not decoded: {state.opaque.reason}", where=where
        )
    made: ElementTransform | None
    if plan.set:
        paths = [tuple(path.split(".")) for path in plan.set]
        for path in paths:
            check_path(path, state.schema, _PLACES, where)
        check_apart(paths, where)
        made = ElementTransform(
            state, update_query(plan.set, plan.where, where, columns=state.schema.names), paths
        )
    elif plan.delete:
        made = ElementTransform(
            state, update_query({}, plan.delete.where, where, columns=state.schema.names), deletes=True
        )
    else:
        local = row_local_select(plan.select or "", operator, state.name, where)
        if local is None:
            raise PlanError(
                "a select of operator state filters and projects its own rows, no more", where=where,
                todo="select value (and nothing beyond the row) from this state alone",
            )  # fmt: skip
        made = ElementTransform(state, local)
    result = made.query.run(with_row_numbers(no_rows(state.schema)))
    if not made.paths and not made.deletes and "value" not in result.column_names:
        raise PlanError("the select gives no column 'value'", where=where)
    return made


@dataclass(frozen=True, slots=True)
class RewrittenOperator:
    """One subtask's operator state as it is to be written: the stream, and the offsets of each state's elements."""

    data: bytes
    offsets: dict[str, tuple[int, ...]]


def rewrite(
    backend: OperatorBackend,
    subtask: int,
    transforms: Mapping[str, ElementTransform],
    results: dict[str, StateResult],
) -> RewrittenOperator:
    """The stream of a subtask with the transformed states; adds what was read and written to ``results``."""
    writer = OperatorStateWriter(backend.header)
    for state in backend.states:
        if state.name not in backend.offsets:
            continue
        transform = transforms.get(state.name)
        if transform is None:
            writer.keep(state.name, backend.raw_elements(state.name))
            continue
        result = results.setdefault(state.name, StateResult())
        raw = backend.raw_rows(state)
        result.read = _sum(result.read, _digest(subtask, state, raw))
        rows = _rows(transform.state, state, backend, subtask)
        kept, changed, values = transform.apply(rows)
        new = Spans.of(_encode(backend, state, rows, kept[changed], values))
        if has_many_forms(state.value):
            picked = kept[changed]
            old = _encode(backend, state, rows, picked, rows["value"].take(pa.array(picked)))
            new = kept_where_equal(raw.take(picked), Spans.of(old), new)
        written = _spliced(raw.take(kept), changed, new)
        result.written = _sum(result.written, _digest(subtask, state, written))
        result.nbytes += int(written.lengths.sum())
        writer.add(state, written)
    return RewrittenOperator(writer.getvalue(), writer.offsets)


def digest_of_elements(backend: OperatorBackend, subtask: int, state: OperatorStateType) -> Digest:
    """The digest of one state's elements in one subtask."""
    return _digest(subtask, state, backend.raw_rows(state))


def _digest(subtask: int, state: OperatorStateType, rows: Spans) -> Digest:
    """Which subtask holds a list element counts; of a broadcast state every subtask has its copy."""
    place = np.frombuffer(subtask.to_bytes(4, "big"), np.uint8)
    starts = np.zeros(len(rows), np.int64)
    keys = Spans(data=place, starts=starts, ends=starts + 4)
    return Digest.of(EntryBatch(key_groups=np.zeros(len(rows), np.int32), keys=keys, values=rows))


def _rows(
    state: OperatorListState | BroadcastState, kind: OperatorStateType, backend: OperatorBackend, subtask: int
) -> pa.RecordBatch:
    found = backend.read(kind)
    if isinstance(state, BroadcastState):
        return pa.RecordBatch.from_pydict(found.columns)
    n = len(found)
    places = {"subtask": pa.array(np.full(n, subtask, np.int32)), "index": pa.array(np.arange(n))}
    return pa.RecordBatch.from_pydict({**places, **found.columns})


def _encode(
    backend: OperatorBackend,
    state: OperatorStateType,
    rows: pa.RecordBatch,
    changed: npt.NDArray[np.int64],
    values: pa.Array,
) -> pa.Array:
    kept = rows[UNDECODED].take(pa.array(changed)) if UNDECODED in rows.schema.names else None
    keys = backend.raw_keys(state)
    return backend.encode(state, keys.take(changed) if keys is not None else None, values, kept)


def _spliced(rows: Spans, changed: npt.NDArray[np.bool_], new: Spans) -> Spans:
    base = len(rows.data)
    starts, ends = rows.starts.copy(), rows.ends.copy()
    starts[changed] = new.starts + base
    ends[changed] = new.ends + base
    return Spans(data=np.concatenate([rows.data, new.data]), starts=starts, ends=ends)


def _sum(total: tuple[int, int, int], digest: Digest) -> tuple[int, int, int]:
    both = Digest(*total) + digest
    return both.entries, both.low, both.high
