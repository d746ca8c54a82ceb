"""Snapshots of known contents read as they are known: every state of every operator, every entry, every value.

An entry is a snapshot that Flink wrote with ``expected.json`` beside it, which the job's own model computed. What is
carried as bytes is compared but for the value, and is listed here with the reason: the list is exact.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import statelift
from statelift.schemas.errors import FormatError
from statelift.state_ops.snapshot import Operator

from . import sources
from .expected import Json, text
from .sections import entries_of, opaque_parts

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ROOT.parent / "shared" / "corpus" / "known"
GOLDEN = ROOT / "tests" / "golden"

_KRYO = "written by Kryo, of an unknown version"
_NO_SUBCLASS = "a subclass whose serializer is not in the snapshot"

#: States whose values are not read, and why: those of all words that an entry's family, backend and major version have.
OPAQUE = {
    "types": {
        f"v-kryo-arraylist java.util.ArrayList: {_KRYO}",
        f"v-kryo-bitset java.util.BitSet: {_KRYO}",
        f"v-kryo-hashset java.util.HashSet: {_KRYO}",
        f"v-kryo-linkedhashmap java.util.LinkedHashMap: {_KRYO}",
        f"v-kryo-opaque org.example.lab.M$Opaque: {_KRYO}",
        f"v-kryo-optional java.util.Optional: {_KRYO}",
        f"v-kryo-treemap java.util.TreeMap: {_KRYO}",
        f"v-kryo-uuid java.util.UUID: {_KRYO}",
    },
    "types 1": {f"v-pojo-big java.util.List: {_KRYO}", f"v-pojo-big java.util.Map: {_KRYO}"},
    "types hashmap": {f"v-pojo-sub: {_NO_SUBCLASS}"},
    "types hashmap 2": {f"v-pojo-big: {_NO_SUBCLASS}"},
    "opstate": {f"ls-kryo java.util.BitSet: {_KRYO}"},
    "opstate 1": {f"ls-pojo java.util.List: {_KRYO}", f"ls-pojo java.util.Map: {_KRYO}"},
    "opstate 2": {f"ls-pojo: {_NO_SUBCLASS}"},
}

#: States that Flink itself keeps, which are not in ``expected.json``: the watermark of a SQL window.
FLINKS_OWN = {"watermark"}


def entries() -> list[Any]:
    paths = [path for base in (KNOWN, GOLDEN) for path in sorted(base.glob("*/*/expected.json"))]
    return [pytest.param(path.parent, id="/".join(path.parts[-3:-1])) for path in paths]


def opened(entry: Path) -> tuple[statelift.Snapshot, dict[str, Any]]:
    """The snapshot of an entry, and what is known of it."""
    (metadata,) = entry.rglob("_metadata")
    expected = json.loads((entry / "expected.json").read_text())
    return statelift.open(str(metadata.parent), uids=expected["operators"]), expected


def operator_of(snapshot: statelift.Snapshot, uid: str, wanted: dict[str, Any]) -> Operator:
    """The operator of this uid; in SQL, where ``sql`` stands for the one that matters, the one with its states."""
    if uid != "sql":
        return snapshot.operator(uid)
    names = {state_name(section, name) for section, states in wanted.items() for name in states}
    (found,) = [o for o in snapshot.operators if names <= {state.name for state in o.states}]
    return found


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

    ``LongValue`` and ``StringValue`` are what is in them. A data view in an accumulator is the one byte of its
    ``NullSerializer``. A processing-time attribute has its null bit set, and is zero to a getter of NOT NULL columns.
    """
    match value:
        case list():
            return [as_stored(one) for one in value]
        case {"$longvalue": inner} | {"$stringvalue": inner}:
            return inner
        case {"$raw": None}:
            return {"$raw": "00"}
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
    operator: Operator, section: str, name: str, wanted: dict[str, Any], opaque: set[str]
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
        ours = entries_of(found)
    except FormatError as error:
        if _NO_SUBCLASS not in str(error):
            raise
        opaque.add(f"{name}: {_NO_SUBCLASS}")
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
    for section, states in sections.items():
        if section == "other":
            wrong += [f"{uid}: {one}" for one in compare_source(operator, uid, states)]
            continue
        for name, wanted in states.items():
            found = compare(operator, section, name, wanted, opaque)
            wrong += [f"{uid} {section} {name}: {one}" for one in found]
    known = {state_name(section, name) for section, states in sections.items() for name in states}
    others = [state for state in operator.states if state.name not in known | FLINKS_OWN]
    return wrong + [f"{uid}: an unexpected state {state.name}" for state in others if state.count()]


@pytest.mark.parametrize("entry", entries())
def test_reads_as_it_is_known(entry: Path) -> None:
    snapshot, expected = opened(entry)
    opaque: set[str] = set()
    wrong: list[str] = []
    for uid, sections in expected["operators"].items():
        wrong += compare_operator(operator_of(snapshot, uid, sections), uid, sections, opaque)
    assert wrong == []
    about = {expected["family"], expected["backend"], expected["flink"][0]}
    listed = {
        reason for words, reasons in OPAQUE.items() if about.issuperset(words.split()) for reason in reasons
    }
    print(len(opaque), "opaque", *sorted(opaque), sep="\n")
    assert opaque == listed


def test_the_known_snapshots_are_here(corpus: Path) -> None:
    assert len(list((corpus / "known").glob("*/*/expected.json"))) == 101


def test_what_differs_is_told() -> None:
    snapshot, expected = opened(GOLDEN / "1.20.5" / "rocksdb-native")
    sections = expected["operators"]["fraud-detector"]
    entries = sections["keyed"]["fraud-scores"]["entries"]
    entries[0]["kg"] += 1
    entries[1]["value"]["$map"][0][1]["fields"]["timestamp"] += 0.0
    entries[2]["key"] = "account-x"
    del entries[3:5]
    wrong = compare_operator(snapshot.operator("fraud-detector"), "fraud-detector", sections, set())
    assert sum("missing" in one for one in wrong) == 3
    assert sum("not expected" in one for one in wrong) == 5
