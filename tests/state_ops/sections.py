"""States of an opened snapshot as the entries of ``expected.json``, in no order."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from statelift.schemas import types as t
from statelift.state_ops.snapshot import BroadcastState, KeyedState, OperatorListState, State

from .expected import Json, column, text


def opaque_parts(node: t.DataType) -> Iterator[str]:
    """What of a type is bytes only, each part by its class and the reason."""
    if isinstance(node, t.OpaqueType):
        yield f"{node.class_name}: {node.reason}"
    elif isinstance(node, t.KryoType):
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


def entries_of(state: State) -> list[Json]:
    table = state.to_arrow()
    assert state.count() == len(table)
    match state:
        case KeyedState():
            return keyed_entries(state, table)
        case OperatorListState():
            return list_entries(state, table)
        case BroadcastState():
            return broadcast_entries(state, table)
    raise NotImplementedError(type(state).__name__)
