"""Compare what a snapshot should hold with what a restored job found, and derive what it should hold after edits."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

Contents = dict[str, Any]
Entry = dict[str, Any]
Table = tuple[str, str, str]
"""(uid, section, state)"""


def assert_same_content(expected: Contents, restored: Contents, *, same_parallelism: bool) -> None:
    """Fails, naming operator, section and state, unless a restored job found exactly the expected contents.

    Keyed states and timers: the same entries in any order (map entries are sorted already), and each event-time timer
    fired once. Split lists: the same elements at the same places where `same_parallelism`, else the same elements.
    Union lists: each subtask found all elements. Broadcast state: each subtask found the whole map.
    """
    wanted, found = _tables(expected), _tables(restored)
    for (uid, section, service), table in list(wanted.items()):
        if section == "timers" and service.endswith("/event"):
            wanted[uid, "fired", service] = table
    differences = []
    for name in sorted(wanted.keys() | found.keys()):
        difference = _difference(
            name, wanted.get(name, {}), found.get(name, {}), restored["parallelism"], same_parallelism
        )
        if difference:
            differences.append(f"{' / '.join(name)}: {difference}")
    assert not differences, "\n".join(differences)


def edited(expected: Contents, table: Table, edit: Callable[[Entry], Entry | None]) -> Contents:
    """A copy in which each entry of a state is replaced by what `edit` returns for it; None removes the entry."""
    result = copy.deepcopy(expected)
    uid, section, state = table
    rows = result["operators"][uid][section][state]
    rows["entries"] = [new for entry in rows["entries"] if (new := edit(entry)) is not None]
    return result


def users_repaired(expected: Contents) -> Contents:
    """The scenario after its repair: users last seen at a negative time have lastSeenTimestamp 0 and fixed true."""

    def repair(entry: Entry) -> Entry:
        fields = entry["value"]["fields"]
        if fields["lastSeenTimestamp"] < 0:
            fields.update(lastSeenTimestamp=0, fixed=True)
        return entry

    return edited(expected, ("session-tracker", "keyed", "user-state"), repair)


def without(expected: Contents, uid: str) -> Contents:
    """A copy without an operator."""
    return {**expected, "operators": {u: o for u, o in expected["operators"].items() if u != uid}}


def _tables(contents: Contents) -> dict[Table, dict[str, Any]]:
    return {
        (uid, section, state): table
        for uid, sections in contents["operators"].items()
        for section, states in sections.items()
        for state, table in states.items()
        if table["entries"]
    }


def _difference(
    name: Table, wanted: dict[str, Any], found: dict[str, Any], parallelism: int, same_parallelism: bool
) -> str | None:
    if wanted and found and wanted.get("kind") != found.get("kind"):
        return f"kind {found.get('kind')} instead of {wanted.get('kind')}"
    want, have = wanted.get("entries", []), found.get("entries", [])
    if name[1] == "broadcast" or wanted.get("kind") == "union":
        return _difference_of_copies(name[1], want, have, parallelism)
    if wanted.get("kind") == "split" and not same_parallelism:
        want, have = [e["value"] for e in want], [e["value"] for e in have]
    elif wanted.get("kind") == "list-unordered":
        want, have = _sorted_values(want), _sorted_values(have)
    return _difference_of_bags(want, have)


def _difference_of_copies(section: str, want: list[Entry], have: list[Entry], parallelism: int) -> str | None:
    """Each subtask of the restored job must have all of it, whichever subtasks wrote it."""
    if section == "broadcast":
        first = min((e["subtask"] for e in want), default=0)
        everything = [(e["key"], e["value"]) for e in want if e["subtask"] == first]
    else:
        everything = [e["value"] for e in want]
    for subtask in range(parallelism):
        mine = [
            (e["key"], e["value"]) if section == "broadcast" else e["value"]
            for e in have
            if e["subtask"] == subtask
        ]
        difference = _difference_of_bags(everything, mine)
        if difference:
            return f"subtask {subtask}: {difference}"
    return None


def _sorted_values(entries: list[Entry]) -> list[Entry]:
    return [{**e, "value": sorted(e["value"], key=_text)} for e in entries]


def _difference_of_bags(want: Iterable[Any], have: Iterable[Any]) -> str | None:
    wanted, found = Counter(map(_text, want)), Counter(map(_text, have))
    if wanted == found:
        return None
    missing, extra = list((wanted - found).elements()), list((found - wanted).elements())
    return (
        f"{wanted.total()} expected, {found.total()} found; "
        f"{len(missing)} missing: {_some(missing)}; {len(extra)} too many: {_some(extra)}"
    )


def _some(texts: list[str]) -> str:
    return ", ".join(sorted(texts)[:3]) + (", …" if len(texts) > 3 else "")


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
