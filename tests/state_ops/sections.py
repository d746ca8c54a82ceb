"""States of an opened snapshot as the entries of ``expected.json``, in no order, and compared with those."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from statelift.io.keyed.entries import EntryBatch
from statelift.schemas import types as t
from statelift.schemas.errors import FormatError, StateliftError
from statelift.state_ops.one_pass import read_states
from statelift.state_ops.snapshot import Operator
from statelift.state_ops.states import BroadcastState, KeyedState, OperatorListState, State

from . import sources
from .expected import Json, column, text

NO_SUBCLASS = "a subclass whose serializer is not in the snapshot"

#: States that Flink itself keeps, which are not in ``expected.json``: the watermark of a SQL window.
FLINKS_OWN = {"watermark"}


def opaque_parts(node: t.DataType) -> Iterator[str]:
    """What of a type is bytes only, each part by its class and the reason; not those whose end is known."""
    if isinstance(node, t.SpanType):
        return
    if isinstance(node, t.OpaqueType):
        yield f"{node.class_name}: {node.reason}"
    elif isinstance(node, t.KryoType) and node.shape is None:
        yield f"{node.class_name}: Kryo's bytes"
    else:
        for child in node.children():
            yield from opaque_parts(child)


def values_of(table: pa.Table, name: str, node: t.DataType) -> list[Json]:
    if any(opaque_parts(node)):
        return [None] * len(table)
    chunks = table.column(name).combine_chunks()
    return column(node, chunks)


def keyed_entries(state: KeyedState, table: pa.Table) -> list[Json]:
    types = state.types
    keys = values_of(table, "key", types["key"])
    groups = table.column("key_group").to_pylist()
    spaces: list[Json] = [None] * len(table)
    if "namespace" in types:
        spaces = values_of(table, "namespace", types["namespace"])
    elif str(state.type.namespace) == "global_window":
        spaces = [{"$window": "global"}] * len(table)
    places = [{"key": k, "ns": n, "kg": g} for k, n, g in zip(keys, spaces, groups, strict=True)]
    if state.kind == "timer":
        return [{**p, "ts": ts} for p, ts in zip(places, table.column("timestamp").to_pylist(), strict=True)]
    if state.kind == "map":
        return _map_entries(state, table, places)
    node = types["value"]
    node = node.inner if isinstance(node, t.TtlType) else node
    if state.kind == "list":
        node = t.ListType(element=node)
    values = values_of(table, "value", node)
    if str(node).startswith("list<raw<list[framing=rest]"):
        # PyFlink's process mode: each byte array holds the elements of one flush.
        values = [[one for flushed in value for one in flushed] for value in values]
    return [{**place, "value": value} for place, value in zip(places, values, strict=True)]


def _map_entries(state: KeyedState, table: pa.Table, places: list[dict[str, Json]]) -> list[Json]:
    """A row is an entry of a map: those of one key and namespace are the map."""
    map_keys = values_of(table, "map_key", state.types["map_key"])
    values = values_of(table, "value", state.types["value"])
    maps: dict[str, tuple[dict[str, Json], list[Json]]] = {}
    for place, map_key, value in zip(places, map_keys, values, strict=True):
        maps.setdefault(text(place), (place, []))[1].append([map_key, value])
    return [{**place, "value": {"$map": sorted(pairs, key=text)}} for place, pairs in maps.values()]


def list_entries(state: OperatorListState, table: pa.Table) -> list[Json]:
    rows = zip(
        table.column("subtask").to_pylist(),
        table.column("index").to_pylist(),
        values_of(table, "value", state.types["value"]),
        strict=True,
    )
    return [{"subtask": subtask, "pos": index, "value": value} for subtask, index, value in rows]


def broadcast_entries(state: BroadcastState, table: pa.Table) -> list[Json]:
    keys = values_of(table, "map_key", state.types["map_key"])
    values = values_of(table, "value", state.types["value"])
    return [
        {"subtask": subtask, "key": key, "value": value}
        for subtask, _ in state.parts
        for key, value in zip(keys, values, strict=True)
    ]


@dataclass
class Collected:
    """A keyed state's table, put together of what it is given."""

    state: KeyedState
    batches: list[pa.RecordBatch] = field(default_factory=list)

    def add(self, batch: EntryBatch) -> None:
        self.batches.append(self.state.table.decode(batch))

    def table(self) -> pa.Table:
        return pa.Table.from_batches(self.batches, self.state.schema)


Tables = dict[str, Collected | StateliftError]


def keyed_tables(operator: Operator) -> Tables:
    """The keyed states' tables by name, all read in one pass."""
    return read_states(operator.keyed_states, Collected)


def entries_of(state: State, tables: Tables) -> list[Json]:
    match state:
        case KeyedState():
            found = tables[state.name]
            if isinstance(found, StateliftError):
                raise found
            return keyed_entries(state, found.table())
        case OperatorListState():
            return list_entries(state, counted(state))
        case BroadcastState():
            return broadcast_entries(state, counted(state))
    raise NotImplementedError(type(state).__name__)


def counted(state: State) -> pa.Table:
    table = state.to_arrow()
    assert state.count() == len(table)
    return table


# -- compared ----------------------------------------------------------------------------------------------


def state_name(section: str, name: str) -> str:
    match section, name:
        case "timers", _:
            service, domain = name.split("/")
            return f"_timer_state/{domain}_{service}"
        case "other", "splits":
            return "SourceReaderState"
    return name


def normal(section: str, kind: str | None, entry: dict[str, Json], opaque: bool) -> str:
    """The text of an entry. ``result``, what the user's function makes of an accumulator, is not in a snapshot."""
    known = {name: part for name, part in entry.items() if name != "result"}
    if section == "timers":
        known.setdefault("ns", None)
    if opaque:
        del known["value"]
    elif kind == "list-unordered":
        known["value"] = sorted(known["value"], key=text)
    return text(known)


def as_stored(value: Json) -> Json:
    """An expected value as it is in the bytes.

    ``LongValue`` and ``StringValue`` are what is in them. A data view in an accumulator is nothing in its
    ``NullSerializer``. A processing-time attribute has its null bit set, and is zero to a getter of NOT NULL columns.
    """
    match value:
        case list():
            return [as_stored(one) for one in value]
        case {"$longvalue": inner} | {"$stringvalue": inner}:
            return inner
        case {"$raw": None}:
            return None
        case {"$timestampdata": [0, 0]}:
            return None
        case {"$map": pairs}:
            return {"$map": sorted((as_stored(pair) for pair in pairs), key=text)}
        case {"$set": members}:
            return {"$set": sorted((as_stored(one) for one in members), key=text)}
        case dict():
            return {name: as_stored(part) for name, part in value.items()}
    return value


def differences(ours: Iterable[str], theirs: Iterable[str]) -> list[str]:
    more, less = Counter(ours), Counter(theirs)
    return [f"not expected: {one}" for one in more - less] + [f"missing: {one}" for one in less - more]


def compare(
    operator: Operator, tables: Tables, section: str, name: str, wanted: dict[str, Any], opaque: set[str]
) -> list[str]:
    """What differs in one state; what of it is opaque is added to ``opaque``."""
    found = {state.name: state for state in operator.states}.get(state_name(section, name))
    if found is None:
        return ["no such state"] if wanted["entries"] else []
    kind = wanted.get("kind")
    if kind is not None and found.kind != {"list-unordered": "list"}.get(kind, kind):
        return [f"a {kind} state, read as {found.kind}"]
    reasons = {f"{name} {part}" for node in found.types.values() for part in opaque_parts(node)}
    opaque |= reasons
    try:
        ours = entries_of(found, tables)
    except FormatError as error:
        if NO_SUBCLASS not in str(error):
            raise
        opaque.add(f"{name}: {NO_SUBCLASS}")
        return []
    theirs = [as_stored(entry) for entry in wanted["entries"]]
    sides = ([normal(section, kind, entry, bool(reasons)) for entry in side] for side in (ours, theirs))
    return differences(*sides)


def compare_source(operator: Operator, uid: str, wanted: dict[str, Any]) -> list[str]:
    """The splits that the readers have, and the coordinator's enumerator."""
    found = []
    if "splits" in wanted:
        elements = operator.state("SourceReaderState").to_arrow().column("value").to_pylist()
        ours = [text(sources.split(uid, element)) for element in elements]
        found += differences(ours, map(text, wanted["splits"]["entries"]))
    if "enumerator" in wanted:
        coordinator = operator.meta.coordinator_state
        assert coordinator is not None
        ours = [text(sources.enumerator(uid, coordinator.data))]
        theirs = [text(_in_order(entry)) for entry in wanted["enumerator"]["entries"]]
        found += differences(ours, theirs)
    return found


def _in_order(state: Json) -> Json:
    return {name: sorted(paths) for name, paths in state.items()} if isinstance(state, dict) else state


def compare_operator(operator: Operator, uid: str, sections: dict[str, Any], opaque: set[str]) -> list[str]:
    wrong = [f"{uid}: {problem}" for problem in operator.problems]
    tables = keyed_tables(operator)
    for section, states in sections.items():
        if section == "other":
            wrong += [f"{uid}: {one}" for one in compare_source(operator, uid, states)]
            continue
        for name, wanted in states.items():
            found = compare(operator, tables, section, name, wanted, opaque)
            wrong += [f"{uid} {section} {name}: {one}" for one in found]
    known = {state_name(section, name) for section, states in sections.items() for name in states}
    others = [state for state in operator.states if state.name not in known | FLINKS_OWN]
    return wrong + [f"{uid}: an unexpected state {one.name}" for one in others if entries_of(one, tables)]
