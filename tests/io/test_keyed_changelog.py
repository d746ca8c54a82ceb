"""Changelog checkpoints (spec 12): change records made by hand, against a twin that applies them to Python objects.

Those that Flink wrote are read in test_keyed_corpus.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statelift.io.keyed.backend import KeyedBackend, open_keyed
from statelift.io.keyed.canonical import CanonicalWriter
from statelift.io.keyed.changelog_read import OPERATIONS
from statelift.io.keyed.header import BackendStateType, KeyedBackendHeader, StateMetaInfo, write_keyed_header
from statelift.io.keyed.meta_info import write_state_meta_info
from statelift.io.metadata import (
    ByteStreamStateHandle,
    ChangelogStateBackendHandle,
    ChangelogStateHandleStreamImpl,
    FileStateHandle,
    HandleAndOffset,
    InMemoryChangelogStateHandle,
    KeyGroupRange,
    KeyGroupsSavepointStateHandle,
    StateChange,
)
from statelift.io.streams import StreamOpener
from statelift.schemas.errors import FormatError, UnsupportedVersionError
from statelift.schemas.snapshots import SerializerSnapshot, build
from statelift.schemas.wire import Writer

from .keyed_snapshots import STORES, Memory, by_name
from .keyed_strategies import batch

LONG, STRING, VOID = build.scalar("Long"), build.scalar("String"), build.VOID_NAMESPACE
GROUPS = KeyGroupRange(0, 4)
OP = {name: code for code, name in enumerate(OPERATIONS)}


def string(value: str) -> bytes:
    writer = Writer()
    writer.str_(value)
    return writer.getvalue()


def long(value: int) -> bytes:
    return value.to_bytes(8, "big", signed=True)


def i4(value: int) -> bytes:
    return value.to_bytes(4, "big", signed=True)


def state(
    name: str, kind: str, value: SerializerSnapshot, namespace: SerializerSnapshot = STRING
) -> StateMetaInfo:
    return StateMetaInfo(
        name=name,
        backend_state_type=BackendStateType.KEY_VALUE,
        options=(("KEYED_STATE_TYPE", kind),),
        serializers=(("VALUE_SERIALIZER", value), ("NAMESPACE_SERIALIZER", namespace)),
    )


STATES = (
    state("value", "VALUE", LONG, VOID),
    state("list", "LIST", build.list_of(STRING)),
    state("map", "MAP", build.map_of(STRING, LONG), VOID),
    StateMetaInfo(
        name="_timer_state/event_t",
        backend_state_type=BackendStateType.PRIORITY_QUEUE,
        serializers=(("VALUE_SERIALIZER", build.timer(LONG, VOID)),),
    ),
    state("sum", "REDUCING", LONG),
)


def announce(number: int, meta: StateMetaInfo, between: bytes = b"\0\0") -> StateChange:
    """METADATA; ``between`` are TTL settings and a default value, which are there for key-value states only."""
    writer = Writer()
    writer.u1(OP["METADATA"])
    writer.i4(7)
    write_state_meta_info(writer, meta)
    queue = meta.backend_state_type is BackendStateType.PRIORITY_QUEUE
    writer.bytes(b"" if queue else between)
    writer.i2(number)
    writer.u1(meta.backend_state_type)
    return StateChange(key_group=-1, change=writer.getvalue())


def change(group: int, operation: str, number: int, data: bytes) -> StateChange:
    return StateChange(key_group=group, change=bytes([OP[operation]]) + number.to_bytes(2, "big") + data)


def in_memory(changes: list[StateChange]) -> InMemoryChangelogStateHandle:
    return InMemoryChangelogStateHandle(
        key_group_range=GROUPS, from_=0, to=len(changes), changes=tuple(changes), state_handle_id="id"
    )


def change_set(changes: list[StateChange]) -> bytes:
    """i4 groups, then for each: i4 count, i4 key group, the changes. Groups of changes as they come."""
    runs: list[list[StateChange]] = []
    for one in changes:
        if runs and runs[-1][0].key_group == one.key_group:
            runs[-1].append(one)
        else:
            runs.append([one])
    out = [i4(len(runs))]
    for run in runs:
        out += [i4(len(run)), i4(run[0].key_group), *(i4(len(c.change)) + c.change for c in run)]
    return b"".join(out)


def opened(
    non_materialized: list[Any],
    materialized: list[Any] | None = None,
    key_groups: KeyGroupRange = GROUPS,
    key: SerializerSnapshot | None = None,
    max_parallelism: int = 4,
) -> KeyedBackend:
    handle = ChangelogStateBackendHandle(
        tag=14,
        key_group_range=key_groups,
        persisted_size_of_this_checkpoint=0,
        materialized=tuple(materialized or ()),
        non_materialized=tuple(non_materialized),
        materialization_id=0,
        checkpoint_id=1,
        state_handle_id="id",
    )
    return open_keyed(handle, StreamOpener(stores=STORES, base_url="/nowhere"), max_parallelism, key)


def materialized(held: list[tuple[int, int, bytes, bytes]]) -> KeyGroupsSavepointStateHandle:
    """Rows of (state, key group, key behind the prefix, value) as a handle of the same states."""
    header = Writer()
    write_keyed_header(header, KeyedBackendHeader(key_serializer=LONG, states=STATES))
    out = Memory()
    writer = CanonicalWriter(out=out, base=len(header.getvalue()))
    for group in GROUPS:
        window = {}
        for number in range(len(STATES)):
            rows = sorted(row[2:] for row in held if row[:2] == (number, group))
            if rows:
                window[number] = batch(
                    [group] * len(rows),
                    [bytes([group]) + key for key, _ in rows],
                    [value for _, value in rows],
                )
        writer.write(window)
    writer.finish()
    return KeyGroupsSavepointStateHandle(
        key_group_range=GROUPS,
        offsets=tuple(writer.offsets.get(kg, 0) for kg in GROUPS),
        stream=ByteStreamStateHandle(handle_name="base", data=header.getvalue() + bytes(out.data)),
    )


class Twin:
    """The states as Python objects, changed as Flink's state objects are."""

    def __init__(self) -> None:
        self.value: dict[tuple[int, int], int] = {}
        self.list: dict[tuple[int, int, str], list[str]] = {}
        self.map: dict[tuple[int, int], dict[str, int | None]] = {}
        self.timers: set[tuple[int, int, int]] = set()
        self.sum: dict[tuple[int, int, str], int] = {}
        self.changes: list[StateChange] = []
        self.pauses = [0]

    def log(self, group: int, operation: str, number: int, data: bytes) -> None:
        self.changes.append(change(group, operation, number, data))

    def rows(self) -> list[tuple[int, int, bytes, bytes]]:
        """The canonical entries: (state, key group, key behind the prefix, value)."""
        rows = [(0, group, long(key) + b"\0", long(value)) for (group, key), value in self.value.items()]
        rows += [
            (1, group, long(key) + string(space), b",".join(map(string, elements)))
            for (group, key, space), elements in self.list.items()
            if elements
        ]
        rows += [
            (2, group, long(key) + b"\0" + string(user), flagged(value))
            for (group, key), entries in self.map.items()
            for user, value in entries.items()
        ]
        rows += [(3, group, timer(stamp, key), b"") for group, key, stamp in self.timers]
        rows += [
            (4, group, long(key) + string(space), long(n)) for (group, key, space), n in self.sum.items()
        ]
        return rows


def flagged(value: int | None) -> bytes:
    return b"\1" if value is None else b"\0" + long(value)


def timer(stamp: int, key: int) -> bytes:
    return (stamp + (1 << 63)).to_bytes(8, "big") + long(key) + b"\0"


small = st.integers(0, 2)
words = st.lists(st.sampled_from(["", "a", ",", "é"]), max_size=3)
numbers = st.dictionaries(st.sampled_from("xy"), st.none() | small, max_size=2)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Twin, int]:
    """Changes, and how many of them were made before the materialization, which is never amid those of one step."""
    twin = Twin()
    steps = draw(st.lists(st.tuples(st.integers(0, 21), st.integers(0, 3), small), max_size=25))
    for step, group, key in steps:
        apply(twin, draw, step, group, key)
        twin.pauses.append(len(twin.changes))
    return twin, draw(st.sampled_from(twin.pauses))


def apply(twin: Twin, draw: st.DrawFn, step: int, group: int, key: int) -> None:
    scope = long(key) + b"\0"
    space = draw(st.sampled_from(["", "n"]))
    in_space = long(key) + string(space)
    held = twin.list.setdefault((group, key, space), [])
    entries = twin.map.setdefault((group, key), {})
    match step:
        case 0 | 1:
            twin.value[group, key] = draw(small)
            twin.log(group, ("SET", "SET_INTERNAL")[step], 0, scope + long(twin.value[group, key]))
        case 2:
            twin.value.pop((group, key), None)
            twin.log(group, "CLEAR", 0, scope)
        case 3 | 4:
            held[:] = draw(words)
            data = i4(len(held)) + b"".join(map(string, held))
            twin.log(group, ("SET", "SET_INTERNAL")[step - 3], 1, in_space + data)
        case 5:
            added = draw(words)
            held += added
            twin.log(group, "ADD", 1, in_space + i4(len(added)) + b"".join(map(string, added)))
        case 6 | 7:
            held.append("e")
            twin.log(group, "ADD_ELEMENT", 1, in_space + string("e"))
        case 8:
            held.clear()
            twin.log(group, "CLEAR", 1, in_space)
        case 9:
            sources = [s for s in ("", "n") if s != space]
            for source in sources:
                other = twin.list.get((group, key, source), [])
                held += other
                other.clear()
            data = string(space) + i4(len(sources)) + b"".join(map(string, sources))
            twin.log(group, "MERGE_NS", 1, in_space + data)
        case 10 | 11:
            entries["x"] = key
            twin.log(
                group, ("ADD_ELEMENT", "ADD_OR_UPDATE_ELEMENT")[step - 10], 2, scope + string("x") + long(key)
            )
        case 12:
            added_entries = draw(numbers)
            entries.update(added_entries)
            data = b"".join(string(user) + flagged(value) for user, value in added_entries.items())
            twin.log(group, "ADD", 2, scope + i4(len(added_entries)) + data)
        case 13:
            entries.pop("x", None)
            twin.log(group, "REMOVE_ELEMENT", 2, scope + string("x"))
        case 14:
            entries.clear()
            twin.log(group, "CLEAR", 2, scope)
        case 15:
            stamps = draw(st.lists(small, max_size=3))
            twin.timers |= {(group, key, stamp) for stamp in stamps}
            data = i4(len(stamps)) + b"".join(timer(stamp, key) for stamp in stamps)
            twin.log(group, "ADD_ELEMENT", 3, data)
        case 16:
            twin.timers.discard((group, key, 0))
            twin.log(group, "REMOVE_ELEMENT", 3, timer(0, key))
        case 17 | 18:
            add(twin, group, key, space, draw(small))
        case 19:
            twin.sum.pop((group, key, space), None)
            twin.log(group, "CLEAR", 4, in_space)
        case 20:  # a session that grows: it is merged with no other and added to
            twin.log(group, "MERGE_NS", 4, in_space + string(space) + i4(0))
        case 21:  # two sessions become one, to which is added
            sources = draw(st.lists(st.sampled_from(["", "n", "o"]), unique=True))
            data = string(space) + i4(len(sources)) + b"".join(map(string, sources))
            twin.log(group, "MERGE_NS", 4, in_space + data)
            gone = sum(twin.sum.pop((group, key, s), 0) for s in sources if s != space)
            add(twin, group, key, space, gone + draw(small))


def add(twin: Twin, group: int, key: int, space: str, n: int) -> None:
    """As ``ReducingState.add``: the whole sum is logged."""
    twin.sum[group, key, space] = total = twin.sum.get((group, key, space), 0) + n
    twin.log(group, "SET_INTERNAL", 4, long(key) + string(space) + long(total))


def replayed(changes: list[StateChange]) -> list[tuple[int, int, bytes, bytes]]:
    """The entries that the changes alone come to, as our reader has them: what a materialization would hold."""
    backend = opened([in_memory([*map(announce, range(len(STATES)), STATES), *changes])], key=LONG)
    return [
        (number, group, key[1:], value)
        for number, held in enumerate(by_name(backend)[meta.name] for meta in STATES)
        for (group, key), value in held.items()
    ]


def found(backend: KeyedBackend, batch_bytes: int = 1 << 20) -> set[tuple[int, int, bytes, bytes]]:
    numbers = {meta.name: number for number, meta in enumerate(STATES)}
    return {
        (numbers[name], group, key[1:], value)
        for name, held in by_name(backend, batch_bytes).items()
        for (group, key), value in held.items()
    }


@settings(deadline=None)
@given(histories(), st.sampled_from([60, 1 << 20]))
def test_changes_come_to_what_the_state_objects_hold(history: tuple[Twin, int], batch_bytes: int) -> None:
    twin, cut = history
    announced = [announce(number, meta) for number, meta in enumerate(STATES)]
    alone = opened([in_memory([*announced, *twin.changes])], key=LONG)
    assert found(alone, batch_bytes) == set(twin.rows())
    base = materialized(replayed(twin.changes[:cut]))
    # The log may number the states anew.
    renumbered = [StateChange(key_group=c.key_group, change=moved(c.change)) for c in twin.changes[cut:]]
    announced = [announce(number + 7, meta) for number, meta in enumerate(STATES)]
    over = opened([in_memory([*announced, *renumbered])], [base])
    assert found(over, batch_bytes) == set(twin.rows())


def moved(raw: bytes) -> bytes:
    return raw[:1] + (int.from_bytes(raw[1:3], "big") + 7).to_bytes(2, "big") + raw[3:]


@pytest.mark.parametrize("compressed", [False, True])
def test_change_sets_are_found_in_files_that_others_share(tmp_path: Path, compressed: bool) -> None:
    """The offset counts plain bytes behind the first one; the size in the handle is of no use (Flink gives that of
    the plain bytes)."""
    first = change_set([announce(0, STATES[0]), change(2, "SET", 0, long(1) + b"\0" + long(10))])
    second = change_set(
        [change(2, "CLEAR", 0, long(1) + b"\0"), change(1, "SET", 0, long(2) + b"\0" + long(20))] * 40_000
    )
    foreign = b"something else"
    plain = foreign + first + second + foreign
    path = tmp_path / "changes"
    path.write_bytes(b"\1" + bytes(cramjam.snappy.compress(plain)) if compressed else b"\0" + plain)
    stream = FileStateHandle(state_size=len(plain), file_path=str(path))
    handles = [HandleAndOffset(offset=len(foreign) + at, stream=stream) for at in (0, len(first))]
    for tag in (10, 13):
        log = ChangelogStateHandleStreamImpl(
            tag=tag, key_group_range=GROUPS, handles_and_offsets=tuple(handles), size=1, incremental_size=1,
            state_handle_id="id", storage_identifier="filesystem" if tag == 13 else None,
        )  # fmt: skip
        assert found(opened([log], key=LONG)) == {(0, 1, long(2) + b"\0", long(20))}


def test_changes_of_other_key_groups_are_left_out() -> None:
    log = in_memory(
        [announce(0, STATES[0]), *(change(g, "SET", 0, long(g) + b"\0" + long(g)) for g in range(4))]
    )
    assert {row[1] for row in found(opened([log], key_groups=KeyGroupRange(1, 2), key=LONG))} == {1, 2}


LONGS = {1: 86, -1: 94, 1 << 40: 54}
"""Longs and their key groups of 128, by Flink (README of the corpus)."""
TEXTS = {"user-1": 121, "user-2": 22, "user-3": 40, "": 94}


def test_the_key_type_is_told_by_the_key_groups() -> None:
    whole = KeyGroupRange(0, 128)
    changes = [change(group, "SET", 0, long(key) + b"\0" + long(5)) for key, group in LONGS.items()]
    backend = opened([in_memory([announce(0, STATES[0]), *changes])], key_groups=whole, max_parallelism=128)
    assert backend.header.key_serializer == LONG
    [remark] = backend.remarks
    assert "it is long; so would date" in remark
    changes = [change(group, "SET", 0, string(key) + b"\0" + long(5)) for key, group in TEXTS.items()]
    backend = opened([in_memory([announce(0, STATES[0]), *changes])], key_groups=whole, max_parallelism=128)
    assert backend.header.key_serializer == STRING


@pytest.mark.parametrize(
    "changes",
    [
        [change(1, "SET", 0, b"whatever this is" + b"\0" + long(5))],
        [change(86, "SET", 0, long(1) + b"\0" + long(5))],  # one key of 128 groups is no evidence
        [change(group + 1, "SET", 0, long(key) + b"\0" + long(5)) for key, group in LONGS.items()],
    ],
)
def test_keys_are_not_guessed(changes: list[StateChange]) -> None:
    log = in_memory([announce(0, STATES[0]), *changes])
    with pytest.raises(UnsupportedVersionError, match="names no key serializer"):
        opened([log], key_groups=KeyGroupRange(0, 128), max_parallelism=128)


def test_a_changelog_without_changes_is_empty() -> None:
    for changes in ([], [announce(0, STATES[0])]):
        assert list(opened([in_memory(changes)]).windows()) == []
    assert list(opened([]).windows()) == []


def test_ttl_settings_are_stepped_over_unread() -> None:
    between = b"\1" + bytes.fromhex("aced0005") + b"a Java object" + b"\1" + long(0)
    log = in_memory([announce(0, STATES[0], between), change(2, "SET", 0, long(1) + b"\0" + long(10))])
    assert found(opened([log], key=LONG)) == {(0, 2, long(1) + b"\0", long(10))}


def test_merged_namespaces_of_reducing_state_need_the_function() -> None:
    meta = state("sum", "REDUCING", LONG)
    merge = long(1) + string("a") + string("a") + i4(1) + string("b")
    log = in_memory([announce(0, meta), announce(1, STATES[0]), change(2, "MERGE_NS", 0, merge)])
    backend = opened([log], key=LONG)
    with pytest.raises(UnsupportedVersionError, match="merged, which only its function can do") as caught:
        list(backend.windows())
    assert (caught.value.where.state, caught.value.where.key_group) == ("sum", 2)
    assert list(backend.windows(wanted=frozenset({1}))) == []
    for operation, data in (("CLEAR", b""), ("SET_INTERNAL", long(5))):
        after = change(2, operation, 0, long(1) + string("a") + data)
        log = in_memory([announce(0, meta), change(2, "MERGE_NS", 0, merge), after])
        assert len(by_name(opened([log], key=LONG))["sum"]) == (operation == "SET_INTERNAL")


def test_a_state_whose_type_changed_since_is_refused_alone() -> None:
    changed = state("value", "VALUE", STRING, VOID)
    base = materialized([(0, 1, long(1) + b"\0", long(10)), (3, 1, timer(1, 1), b"")])
    log = in_memory([announce(0, changed), change(1, "SET", 0, long(1) + b"\0" + string("x"))])
    backend = opened([log], [base])
    with pytest.raises(UnsupportedVersionError, match="serializers of state 'value' changed"):
        list(backend.windows())
    assert len(list(backend.windows(wanted=frozenset({3})))) == 1


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ([change(0, "SET", 5, b"")], "state 5, which was not announced"),
        ([StateChange(key_group=0, change=b"\1\0")], "too short"),
        ([change(0, "SET", 0, long(1)[:7])], "a key does not decode"),
        ([change(0, "SET", 0, long(1))], "a namespace does not decode"),
        ([change(0, "ADD", 0, long(1) + b"\0")], "operation ADD of a value state"),
        ([StateChange(key_group=0, change=b"\x63\0\0")], "operation 99 of a value state"),
        ([StateChange(key_group=-1, change=b"\x08\0\0\0\x05")], "meta information version 5"),
        ([StateChange(key_group=-1, change=b"\x08\0")], "needs 4 bytes"),
        ([StateChange(key_group=0, change=b"")], "a change of no bytes"),
    ],
)
def test_damaged_changes_are_named(changes: list[StateChange], error: str) -> None:
    with pytest.raises(FormatError, match=error) as caught:
        list(opened([in_memory([announce(0, STATES[0]), *changes])], key=LONG).windows())
    assert "in-memory changelog id" in str(caught.value)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"\2", "begins with 2"),
        (b"\0" + i4(1), "ends inside a change set"),
        (b"\0" + i4(-1), "impossible count"),
        (b"\0" + i4(1) + i4(1) + i4(1 << 15), "impossible count"),
        (b"\0" + i4(1) + i4(1) + i4(0) + i4(0), "impossible length"),
        (b"\0" + i4(1) + i4(1) + i4(0) + i4(2**31 - 1), "ends inside a change set"),
        (b"\1nothing of Snappy", "Snappy"),
    ],
)
def test_damaged_files_are_named(data: bytes, error: str) -> None:
    stream = ByteStreamStateHandle(handle_name="changes", data=data)
    log = ChangelogStateHandleStreamImpl(
        tag=13, key_group_range=GROUPS, handles_and_offsets=(HandleAndOffset(offset=0, stream=stream),), size=1,
        incremental_size=1, state_handle_id="id", storage_identifier="filesystem",
    )  # fmt: skip
    with pytest.raises(FormatError, match=error):
        opened([log], key=LONG)
