"""Compiled plans (``COMPILE PLAN``, ``EXPLAIN PLAN_JSON``'s kin): the rows that the states of their operators hold.

A node of the plan is one operator, rarely two, whose uid is its id and a word: ``49_group-aggregate``. What a state
holds is told by the node's kind and the state's name, mostly the row that comes into the node; its key by how the
input is distributed (Flink's ``StreamExec…`` nodes).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..schemas import types as t
from ..schemas.errors import PlanError, Where
from ..schemas.operator_id import operator_id_of_uid
from ..schemas.sql_types import columns_of
from .sql_columns import Row, StateRows, chosen, known

#: Operators of a node beside the one that is called as the node.
_OTHERS = {
    "sink": ("upsert-materialize",),
    "sort-limit": ("rank",),
    "lookup-join": ("lookup-join-materialize",),
    "window-table-function": ("window",),
}
_VERSIONED = re.compile(r"(?:stream|batch)-exec-(.+)_(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of the plan: ``kind`` is its type without ``stream-exec-`` and version, ``body`` all that is said."""

    id: int
    kind: str
    version: int
    body: Mapping[str, Any]
    output: Row | None
    inputs: tuple[Node, ...]

    def uids(self) -> Iterator[str]:
        """The uids of its operators, in both forms that ``table.exec.uid.format`` has had as its default."""
        if self.body.get("uid"):
            yield str(self.body["uid"])
        for word in (self.kind, *_OTHERS.get(self.kind, ())):
            yield f"{self.id}_{word}"
            yield f"{self.id}_stream-exec-{self.kind}_{self.version}_{word}"

    def row(self, number: int = 0) -> Row | None:
        """What comes in at an input."""
        return self.inputs[number].output if number < len(self.inputs) else None

    def key(self, number: int = 0) -> Row | None:
        """The columns that an input is distributed by."""
        if number >= len(self.inputs):
            return None
        source = self.inputs[number]
        for part in source.body.get("inputProperties") or ():
            distribution = part.get("requiredDistribution") or {}
            if distribution.get("type") == "HASH":
                return chosen(source.output, distribution.get("keys") or ())
        return None


@dataclass(frozen=True)
class CompiledPlan:
    """A compiled plan: ``nodes`` by id."""

    nodes: Mapping[int, Node]

    @staticmethod
    def parse(text: str, file: str | None = None) -> CompiledPlan:
        """Raises PlanError for what is no compiled plan."""
        try:
            plan = json.loads(text)
            bodies = {int(body["id"]): body for body in plan["nodes"]}
            sources: dict[int, list[int]] = {}
            for edge in plan["edges"]:
                sources.setdefault(int(edge["target"]), []).append(int(edge["source"]))
            return CompiledPlan(_nodes(bodies, sources))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise PlanError(
                f"not a compiled plan of Flink SQL: {type(error).__name__} {error}",
                where=Where(file=file),
                todo="write one with COMPILE PLAN",
            ) from None

    def uids(self) -> Iterator[str]:
        for node in self.nodes.values():
            yield from node.uids()

    @cached_property
    def _by_operator(self) -> dict[bytes, Node]:
        return {operator_id_of_uid(uid): node for node in self.nodes.values() for uid in node.uids()}

    def rows(self, operator_id: bytes, state: str, value: t.DataType | None) -> StateRows:
        """The rows of a state; none where the plan does not have the operator or nothing is known of the state."""
        node = self._by_operator.get(operator_id)
        if node is None:
            return StateRows()
        rule = _RULES.get(node.kind, _default)
        found = rule(node, state, value)
        upsert = (
            chosen(node.row(), node.body.get("inputUpsertKey") or ()) if node.kind == "lookup-join" else None
        )
        keys = known(node.key(), chosen(node.row(), node.body.get("grouping") or ()), _sink_key(node), upsert)
        return StateRows(key=keys, map_key=found.map_key, value=found.value)


def _nodes(bodies: Mapping[int, Any], sources: Mapping[int, Sequence[int]]) -> dict[int, Node]:
    made: dict[int, Node] = {}

    def node(number: int, below: tuple[int, ...]) -> Node:
        if number in below:
            raise ValueError("a plan goes in a circle")
        if number not in made:
            body = bodies[number]
            match = _VERSIONED.fullmatch(body["type"])
            made[number] = Node(
                id=number,
                kind=match.group(1) if match else body["type"],
                version=int(match.group(2)) if match else 1,
                body=body,
                output=columns_of(body.get("outputType")),
                inputs=tuple(node(one, (*below, number)) for one in sources.get(number, ())),
            )
        return made[number]

    for number in bodies:
        node(number, ())
    return made


# -- what a state holds ------------------------------------------------------------------------------------

_Rule = Callable[[Node, str, "t.DataType | None"], StateRows]


def _default(node: Node, state: str, value: t.DataType | None) -> StateRows:
    """The row that comes in, for nodes of one input."""
    if len(node.inputs) != 1:
        return StateRows()
    return StateRows(value=known(node.row()))


def _sides(left: Sequence[str], right: Sequence[str]) -> _Rule:
    """Nodes of two inputs, whose states are named by the side."""

    def rule(node: Node, state: str, value: t.DataType | None) -> StateRows:
        if state not in (*left, *right):
            return StateRows()
        row = known(node.row(0 if state in left else 1))
        return StateRows(map_key=row, value=row)

    return rule


def _join(node: Node, state: str, value: t.DataType | None) -> StateRows:
    """``JoinRecordStateViews``: a row by itself, by its unique key, or the row as a key and how often it is there."""
    side = {"left-records": 0, "right-records": 1}.get(state)
    if side is None:
        return StateRows()
    row = node.row(side)
    if value is not None and _has_row(value):
        keys = node.body.get("leftUpsertKeys" if side == 0 else "rightUpsertKeys") or ()
        return StateRows(map_key=known(*(chosen(row, key) for key in keys)), value=known(row))
    return StateRows(map_key=known(row))


def _multi_join(node: Node, state: str, value: t.DataType | None) -> StateRows:
    number = state.removeprefix("multi-join-input-")
    row = node.row(int(number)) if number.isdigit() else None
    if row is None:
        return StateRows()
    keys = (node.body.get("inputUniqueKeys") or [])[int(number) : int(number) + 1]
    return StateRows(
        map_key=known(*(chosen(row, key) for group in keys for key in group), row), value=known(row)
    )


def _rank(node: Node, state: str, value: t.DataType | None) -> StateRows:
    """Rows by their sort key, or (``data-state-with-update``) by their own."""
    row = node.row()
    order = chosen(row, (part["index"] for part in (node.body.get("orderBy") or {}).get("fields", ())))
    own = chosen(row, (node.body.get("rankStrategy") or {}).get("primaryKeys") or ())
    if state == "sorted-map":
        return StateRows(value=known(order))
    return StateRows(map_key=known(own if state == "data-state-with-update" else order), value=known(row))


def _window_rank(node: Node, state: str, value: t.DataType | None) -> StateRows:
    row = node.row()
    order = chosen(row, (part["index"] for part in (node.body.get("sortSpec") or {}).get("fields", ())))
    return StateRows(map_key=known(order), value=known(row))


def _over(node: Node, state: str, value: t.DataType | None) -> StateRows:
    """Rows that came in, of those that are not sorted by time the sort keys, and accumulators, which take rows back
    where the frame has a lower end."""
    row = node.row()
    group = ((node.body.get("overSpec") or {}).get("groups") or [{}])[0]
    order = chosen(row, (part["index"] for part in (group.get("orderBy") or {}).get("fields", ())))
    calls = group.get("aggCalls") or ()
    accumulator = known(*(_accumulator(calls, [back] * len(calls), value) for back in (False, True)))
    by_state = {
        "inputState": StateRows(value=known(row)),
        "valueMapState": StateRows(value=known(row)),
        "sortedListState": StateRows(value=known(order)),
        "accMapState": StateRows(map_key=known(order), value=accumulator),
        "accState": StateRows(value=accumulator),
    }
    return by_state.get(state, StateRows())


def _lookup(node: Node, state: str, value: t.DataType | None) -> StateRows:
    """The materializer of a lookup keeps rows of the dimension table, as they are projected."""
    return StateRows() if state == "unique-value" else StateRows(value=known(node.row()))


def _aggregates(node: Node, state: str, value: t.DataType | None) -> StateRows:
    if state not in ("accState", "window-aggs"):
        return StateRows()
    columns = [part.name for part in (node.output or ())[len(node.body.get("grouping") or ()) :]]
    calls = [
        {**call, "name": call.get("name") or (columns[i] if i < len(columns) else None)}
        for i, call in enumerate(node.body.get("aggCalls") or ())
    ]
    back = node.body.get("aggCallNeedRetractions") or [bool(node.body.get("needRetraction"))] * len(calls)
    return StateRows(value=known(_accumulator(calls, back, value)))


#: The fields of the built-in functions that have several in an accumulator; where rows are taken back, and not.
_SUM_COUNT = ("_sum", "_count")
_FIELDS = {("AVG", True): _SUM_COUNT, ("AVG", False): _SUM_COUNT, ("SUM", True): _SUM_COUNT,
           ("LISTAGG", False): ("", "_delimiter")}  # fmt: skip
#: Those that have one: a value, or a row of all that they keep.
_ONE_FIELD = {
    "ARRAY_AGG", "COLLECT", "COUNT", "FIRST_VALUE", "JSON_ARRAYAGG_ABSENT_ON_NULL", "JSON_ARRAYAGG_NULL_ON_NULL",
    "JSON_OBJECTAGG_ABSENT_ON_NULL", "JSON_OBJECTAGG_NULL_ON_NULL", "LAST_VALUE", "LISTAGG", "MAX", "MIN", "PERCENTILE",
    "SUM", "$SUM0",
}  # fmt: skip
_FUNCTION = re.compile(r"\$(.+)\$\d+")


def _accumulator(
    calls: Sequence[Mapping[str, Any]], back: Sequence[bool], value: t.DataType | None
) -> Row | None:
    """An accumulator: the fields of the functions one behind the other, named after the function's column. None unless
    each function's fields are known and nothing is over; ``back`` is which functions take rows back.

    A count of the rows may follow, and the data views of distinct arguments, which are nothing in the row.
    """
    row = value.inner if isinstance(value, t.TtlType) else value
    if not isinstance(row, t.RowDataType) or len(back) != len(calls):
        return None
    types = [part.type for part in row.fields]
    names: list[str] = []
    for call, takes_back in zip(calls, back, strict=True):
        fields = _fields_of(call, takes_back)
        if not fields or not call.get("name"):
            return None
        names += [f"{call['name']}{part}" for part in fields]
    plain = len(types)
    while plain > len(names) and isinstance(types[plain - 1], t.RawDataType):
        plain -= 1
    if plain == len(names) + 1 and types[plain - 1] == t.scalar("long"):
        names.append("count1")
    if plain != len(names):
        return None
    names += [f"distinct_{i}" for i in range(len(types) - plain)]
    return tuple(t.Field(name=name, type=one) for name, one in zip(names, types, strict=True))


def _fields_of(call: Mapping[str, Any], takes_back: bool) -> tuple[str, ...] | None:
    """What stands behind the column's name in the names of the fields; a user's function has one accumulator."""
    if not call.get("internalName"):
        return ("",) if call.get("systemName") or call.get("catalogName") else None
    match = _FUNCTION.fullmatch(str(call["internalName"]))
    function = match.group(1) if match else ""
    return _FIELDS.get((function, takes_back)) or (("",) if function in _ONE_FIELD else None)


def _has_row(node: t.DataType) -> bool:
    return isinstance(node, t.RowDataType) or any(map(_has_row, node.children()))


def _sink_key(node: Node) -> Row | None:
    """A sink's states are keyed by its primary key, which its table has."""
    table = (node.body.get("dynamicTableSink") or {}).get("table") or {}
    schema = (table.get("resolvedTable") or {}).get("schema") or {}
    columns = (schema.get("primaryKey") or {}).get("columns") or ()
    own = {str(part.get("name")): i for i, part in enumerate(schema.get("columns") or ())}
    indices = [own[name] for name in columns if name in own]
    return chosen(node.row(), indices) if indices else None


_AGGREGATES = ("group-aggregate", "global-group-aggregate", "group-window-aggregate", "window-aggregate")
_RULES: dict[str, _Rule] = {
    "join": _join,
    "multi-join": _multi_join,
    "interval-join": _sides(["IntervalJoinLeftCache"], ["IntervalJoinRightCache"]),
    "temporal-join": _sides(["left"], ["right"]),
    "window-join": _sides(["left-records"], ["right-records"]),
    "lateral-snapshot-join": _sides(["probe-buffer"], ["build-table", "build-change-buffer"]),
    "rank": _rank,
    "sort-limit": _rank,
    "window-rank": _window_rank,
    "over-aggregate": _over,
    "lookup-join": _lookup,
    **dict.fromkeys((*_AGGREGATES, "global-window-aggregate"), _aggregates),
    "process-table-function": lambda node, state, value: StateRows(),
    "delta-join": lambda node, state, value: StateRows(),
}
