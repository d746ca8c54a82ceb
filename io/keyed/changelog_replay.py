"""What the changes of one state come to: which entries of the materialized part go, and which come instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

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
    """

    entries: dict[bytes, bytes | None] = field(default_factory=dict)
    lists: dict[bytes, list[bytes | Base]] = field(default_factory=dict)
    cleared: set[bytes] = field(default_factory=set)


def replay(state: KeyedStateType, changes: Iterable[StateRows]) -> Overlay:
    """Apply the ``changes`` to ``state``, in their order.

    Raises FormatError for a change that does not decode, and UnsupportedVersionError for one that needs the
    user's code: merged namespaces of reducing and aggregating states.
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
    return overlay


def _values(overlay: Overlay, rows: StateRows) -> None:
    """VALUE, REDUCING and AGGREGATING states: the last value counts."""
    merged = np.flatnonzero(rows.operations == log.MERGE_NS)
    if len(merged):
        raise rows.unsupported(
            f"namespaces of this {rows.state.kind} state were merged, which only its function can do",
            int(merged[0]),
        )
    rows.allow(log.CLEAR, log.SET, log.SET_INTERNAL)
    scope = rows.scope()
    overlay.entries.update(zip(scope.heads, rows.rest(scope.starts), strict=True))


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
    elements = rows.texts(scope.starts, rows.ends)
    lists = overlay.lists
    for row, (operation, head) in enumerate(zip(operations.tolist(), scope.heads, strict=True)):
        if operation == log.MERGE_NS:
            # As InternalMergingState.mergeNamespaces: the sources are appended to the target and go.
            target, sources = rows.merged(row, int(scope.starts[row]))
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
