"""Snapshots of known contents read as they are known: every state of every operator, every entry, every value.

An entry is a snapshot that Flink wrote with ``expected.json`` beside it, which the job's own model computed. What is
carried as bytes (opaque) is compared but for the value, and is listed here by its reason: the list is exact.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import statelift

from statelift.schemas import types as t
from statelift.state_ops.snapshot import BroadcastState, KeyedState, Operator, OperatorListState, State

from .expected import Json, column, text

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ROOT.parent / "shared" / "corpus" / "known"
GOLDEN = ROOT / "tests" / "golden"

#: Sections whose entries one state of ours may hold.
Sections = dict[tuple[str, str], list[str]]


def entries() -> list[Any]:
    paths = [path for base in (KNOWN, GOLDEN) for path in sorted(base.glob("*/*/expected.json"))]
    return [pytest.param(path.parent, id="/".join(path.parts[-3:-1])) for path in paths]


def opened(entry: Path) -> tuple[statelift.Snapshot, dict[str, Any]]:
    (metadata,) = entry.rglob("_metadata")
    expected = json.loads((entry / "expected.json").read_text())
    return statelift.open(str(metadata.parent), uids=expected["operators"]), expected


# -- our states, as the sections of expected.json ------------------------------------------------------------


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
    match state:
        case KeyedState():
            return keyed_entries(state, table)
        case OperatorListState():
            return list_entries(state, table)
        case BroadcastState():
            return broadcast_entries(state, table)
    raise NotImplementedError(type(state).__name__)


# -- the comparison ------------------------------------------------------------------------------------------


def operator_of(snapshot: statelift.Snapshot, uid: str, wanted: dict[str, Any]) -> Operator:
    """The operator of this uid; in SQL, where ``sql`` stands for the one that matters, the one with its states."""
    if uid != "sql":
        return snapshot.operator(uid)
    names = {state_name(section, name) for section, states in wanted.items() for name in states}
    (found,) = [o for o in snapshot.operators if names <= {state.name for state in o.states}]
    return found


def state_name(section: str, name: str) -> str:
    if section != "timers":
        return name
    service, domain = name.split("/")
    return f"_timer_state/{domain}_{service}"


def normal(section: str, kind: str | None, entry: dict[str, Json], opaque: bool) -> str:
    """The text of an entry of either side. ``result`` is what the user's function makes of an accumulator."""
    known = {name: _plain(part) for name, part in entry.items() if name != "result"}
    if section == "timers":
        known.setdefault("ns", None)
    if opaque:
        del known["value"]
    elif kind == "list-unordered":
        known["value"] = sorted(known["value"], key=text)
    return text(known)


def _plain(value: Json) -> Json:
    """Maps and sets sorted by text, ``LongValue`` and ``StringValue`` as the values in them."""
    match value:
        case list():
            return [_plain(one) for one in value]
        case {"$longvalue": inner} | {"$stringvalue": inner}:
            return inner
        case {"$map": pairs}:
            return {"$map": sorted((_plain(pair) for pair in pairs), key=text)}
        case {"$set": members}:
            return {"$set": sorted((_plain(one) for one in members), key=text)}
        case dict():
            return {name: _plain(part) for name, part in value.items()}
    return value


def differences(ours: Iterable[str], theirs: Iterable[str]) -> list[str]:
    more, less = Counter(ours), Counter(theirs)
    return [f"not expected: {one}" for one in (more - less)] + [f"missing: {one}" for one in (less - more)]


def compare_state(
    operator: Operator, section: str, name: str, wanted: dict[str, Any], opaque: list[str]
) -> list[str]:
    found = {state.name: state for state in operator.states}.get(state_name(section, name))
    if found is None:
        return ["no such state"] if wanted["entries"] else []
    reasons = [f"{name} {part}" for node in found.types.values() for part in opaque_parts(node)]
    opaque += reasons
    kind = wanted.get("kind")
    if kind is not None and found.kind != {"list-unordered": "list"}.get(kind, kind):
        return [f"a {kind} state, read as {found.kind}"]
    ours, theirs = (
        [normal(section, kind, entry, bool(reasons)) for entry in side]
        for side in (entries_of(found), wanted["entries"])
    )
    return differences(ours, theirs)


@pytest.mark.parametrize("entry", entries())
def test_reads_as_it_is_known(entry: Path) -> None:
    snapshot, expected = opened(entry)
    opaque: list[str] = []
    wrong: list[str] = []
    for uid, sections in expected["operators"].items():
        operator = operator_of(snapshot, uid, sections)
        for section, states in sections.items():
            if section == "other":
                continue
            for name, wanted in states.items():
                found = compare_state(operator, section, name, wanted, opaque)
                wrong += [f"{uid} {section} {name}: {one}" for one in found]
        wrong += [f"{uid}: {problem}" for problem in operator.problems]
        known = {state_name(section, name) for section, states in sections.items() for name in states}
        wrong += [f"{uid}: unknown state {s.name}" for s in operator.states if s.name not in known and s.count()]
    print(len(wrong), *wrong[:50], sep="\n")
    print("OPAQUE", *opaque, sep="\n")
    assert not wrong
