"""What the changes of one state come to: which entries of the materialized part go, and which come instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ...schemas.errors import UnsupportedVersionError
from . import changelog_read as log
from .changelog_rows import StateRows
from .state_types import KeyedStateType


@dataclass(frozen=True, slots=True)
class Base:
    """Stands for the value that ``key`` has in the materialized part, if any."""

    key: bytes


@dataclass(slots=True)
class Overlay:
    """What the changes of a state come to, by composite key (spec 5.3).

    ``entries``: the canonical value that stands there now, None for none. ``lists``: the same of a list state, as
    what is to be joined by commas. ``cleared``: keys and namespaces of a map state that lost all they had before.
    ``unmerged``: entries of other states that were merged out of several and not set since.
    """

    entries: dict[bytes, bytes | None] = field(default_factory=dict)
    lists: dict[bytes, list[bytes | Base]] = field(default_factory=dict)
    cleared: set[bytes] = field(default_factory=set)
    unmerged: dict[bytes, UnsupportedVersionError] = field(default_factory=dict)


def replay(state: KeyedStateType, changes: Iterable[StateRows]) -> Overlay:
    """Apply the ``changes`` to ``state``, in their order.

    Raises FormatError for a change that does not decode, and UnsupportedVersionError for one that needs the
    user's code: namespaces of reducing and aggregating states that were merged and not added to since. (A session
    window merges its state and then adds to it, which logs the sum.)
    """
    overlay = Overlay()
    maps: dict[bytes, dict[bytes, bytes | None]] = {}
    for rows in changes:
        match state.kind:
            case "list":
                _lists(overlay, rows)
            case "map":
                _maps(overlay, maps, rows)
            case "timer":
                _timers(overlay, rows)
            case _:
                _values(overlay, rows)
    for entries in maps.values():
        overlay.entries.update(entries)
    for error in overlay.unmerged.values():
        raise error
    return overlay


def _values(overlay: Overlay, rows: StateRows) -> None:
    """VALUE, REDUCING and AGGREGATING states: the last value counts."""
    merging = (log.MERGE_NS,) if rows.state.kind in ("reducing", "aggregating") else ()
    rows.allow(log.CLEAR, log.SET, log.SET_INTERNAL, *merging)
    scope, merges = rows.scope(), rows.operations == log.MERGE_NS
    changes = zip(scope.heads, rows.rest(scope.starts), strict=True)
    if not merges.any():
        overlay.entries.update(changes)
        return
    merged = iter(rows.some(merges).merged(scope.starts[merges]))
    for row, (head, value) in enumerate(changes):
        if merges[row]:
            _merge(overlay, rows, row, *next(merged))
        else:
            overlay.entries[head] = value
            overlay.unmerged.pop(head, None)


def _merge(overlay: Overlay, rows: StateRows, row: int, target: bytes, sources: list[bytes]) -> None:
    """As InternalMergingState.mergeNamespaces: the sources go into the target, by the user's function."""
    for source in sources:
        if source == target or (overlay.entries.get(source, b"") is None and source not in overlay.unmerged):
            continue
        overlay.entries[source] = overlay.entries[target] = None
        overlay.unmerged.pop(source, None)
        what = f"namespaces of this {rows.state.kind} state were merged, which only its function can do"
        overlay.unmerged[target] = rows.unsupported(what, row)


def _maps(overlay: Overlay, maps: dict[bytes, dict[bytes, bytes | None]], rows: StateRows) -> None:
    rows.allow(log.CLEAR, log.ADD, log.ADD_ELEMENT, log.ADD_OR_UPDATE_ELEMENT, log.REMOVE_ELEMENT)
    scope, operations = rows.scope(), rows.operations
    puts = (operations == log.ADD_ELEMENT) | (operations == log.ADD_OR_UPDATE_ELEMENT)
    user_ends = rows.ends
    if rows.state.map_key is not None:
        user_ends[puts] = rows.some(puts).stops(rows.state.map_key, scope.starts[puts], "user key")
    keys, values = rows.texts(scope.starts, user_ends), rows.rest(user_ends, b"\x00")
    adds = operations == log.ADD
    added = iter(rows.some(adds).maps(scope.starts[adds]))
    for operation, head, key, value in zip(operations.tolist(), scope.heads, keys, values, strict=True):
        if operation == log.CLEAR:
            maps[head] = {}
            overlay.cleared.add(head)
            continue
        held = maps.setdefault(head, {})
        if operation == log.ADD:
            held.update((head + user_key, user_value) for user_key, user_value in next(added))
        else:
            held[head + key] = None if operation == log.REMOVE_ELEMENT else value


def _lists(overlay: Overlay, rows: StateRows) -> None:
    rows.allow(log.CLEAR, log.SET, log.SET_INTERNAL, log.ADD, log.MERGE_NS, log.ADD_ELEMENT)
    scope, operations = rows.scope(), rows.operations
    whole = np.isin(operations, (log.SET, log.SET_INTERNAL, log.ADD))
    joined = iter(rows.some(whole).lists(scope.starts[whole]))
    merges = operations == log.MERGE_NS
    merged = iter(rows.some(merges).merged(scope.starts[merges]))
    elements = rows.texts(scope.starts, rows.ends)
    lists = overlay.lists
    for row, (operation, head) in enumerate(zip(operations.tolist(), scope.heads, strict=True)):
        if operation == log.MERGE_NS:
            # As InternalMergingState.mergeNamespaces: the sources are appended to the target and go.
            target, sources = next(merged)
            held = lists.setdefault(target, [Base(target)])
            for source in sources:
                if source != target:
                    held += lists.get(source, [Base(source)])
                    lists[source] = []
            continue
        if operation in (log.CLEAR, log.SET, log.SET_INTERNAL):
            lists[head] = []
        if operation != log.CLEAR:
            value = elements[row] if operation == log.ADD_ELEMENT else next(joined)
            if value is not None:
                lists.setdefault(head, [Base(head)]).append(value)
            elif operation == log.ADD:
                lists.setdefault(head, [Base(head)])


def _timers(overlay: Overlay, rows: StateRows) -> None:
    rows.allow(log.ADD_ELEMENT, log.REMOVE_ELEMENT)
    for keys, added in rows.timers():
        overlay.entries.update((key, b"" if added else None) for key in keys)
