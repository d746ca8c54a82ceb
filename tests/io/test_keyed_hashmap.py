"""The heap's native format (spec 6), against a twin that writes it and its canonical form element by element."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import cramjam
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statelift.io.keyed.composite import CompositeKeyCodec
from statelift.io.keyed.hashmap import HeapState, read_hashmap
from statelift.io.keyed.regions import Region, regions_of
from statelift.io.metadata import KeyGroupRange
from statelift.io.streams import StateStream
from statelift.schemas import types as t
from statelift.schemas.codec.program import Program
from statelift.schemas.codec.run import Decoded, run_decode
from statelift.schemas.errors import FormatError, UnsupportedVersionError
from statelift.schemas.type_syntax import parse_type
from statelift.schemas.wire import Writer

from .keyed_snapshots import Entries, entries, inline

STRING, LONG, VOID = (t.scalar(name) for name in ("string", "long", "void"))
GROUPS = 3

#: Java's strings, halves of surrogate pairs and all: a Python text for each sequence of UTF-16 units.
text = st.text(st.characters() | st.sampled_from("\ud83d\udc00"), max_size=4).map(
    lambda one: one.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
)
i8 = st.integers(-(2**63), 2**63 - 1)


def string(value: str) -> bytes:
    writer = Writer()
    writer.str_(value)
    return writer.getvalue()


def i4(value: int) -> bytes:
    return value.to_bytes(4, "big", signed=True)


def long(value: int) -> bytes:
    return value.to_bytes(8, "big", signed=True)


def var_length(n: int) -> bytes:
    out = bytes([n & 0xFF])
    while n := n >> 8:
        out += bytes([n & 0xFF])
    return out


@dataclass
class Twin:
    """A stream in the making, and what has to be read from it. State 0 is a value (Long), 1 a list of String in
    String namespaces, 2 a map of String to Long, 3 a queue of timers in String namespaces, as those of an interval
    join; keys are String."""

    data: bytearray = field(default_factory=lambda: bytearray(b"the header"))
    offsets: list[int] = field(default_factory=list)
    expected: dict[int, Entries] = field(default_factory=dict)

    states = tuple(
        HeapState(
            name=name,
            kind=kind,
            value=value,
            keys=CompositeKeyCodec(prefix=1, key=STRING, namespace=space, map_key=user),
        )
        for name, kind, value, space, user in (
            ("v", "value", LONG, VOID, None),
            ("l", "list", STRING, STRING, None),
            ("m", "map", LONG, VOID, STRING),
            ("t", "timer", None, STRING, None),
        )
    )

    def put(self, state: int, group: int, key: bytes, value: bytes) -> None:
        self.expected.setdefault(state, {})[group, bytes([group]) + key] = value

    def key_group(self, group: int, held: dict[int, Any], compressed: bool) -> None:
        self.offsets.append(len(self.data))
        self.data += i4(group)
        blocks = [self.values, self.lists, self.maps, self.timers]
        for state, block in enumerate(blocks):
            raw = state.to_bytes(2, "big") + i4(len(held[state])) + block(group, held[state])
            self.data += bytes(cramjam.snappy.compress(raw)) if compressed else raw

    def values(self, group: int, held: dict[str, int]) -> bytes:
        out = b""
        for key, value in held.items():
            out += b"\0" + string(key) + long(value)
            self.put(0, group, string(key) + b"\0", long(value))
        return out

    def lists(self, group: int, held: dict[tuple[str, str], list[str]]) -> bytes:
        out = b""
        for (key, space), value in held.items():
            out += string(space) + string(key) + i4(len(value)) + b"".join(map(string, value))
            composite = (
                string(key) + var_length(len(string(key))) + string(space) + var_length(len(string(space)))
            )
            if value:
                self.put(1, group, composite, b",".join(map(string, value)))
        return out

    def maps(self, group: int, held: dict[str, dict[str, int | None]]) -> bytes:
        out = b""
        for key, value in held.items():
            out += b"\0" + string(key) + i4(len(value))
            for user, number in value.items():
                flagged = b"\1" if number is None else b"\0" + long(number)
                out += string(user) + flagged
                self.put(2, group, string(key) + b"\0" + string(user), flagged)
        return out

    def timers(self, group: int, held: set[tuple[int, str]]) -> bytes:
        out = b""
        for stamp, key in held:
            raw = (
                ((stamp + (1 << 63)).to_bytes(8, "big"))
                + string(key)
                + string("" if stamp < 0 else "CLEANUP")
            )
            out += raw
            self.put(3, group, raw, b"")
        return out


held = st.fixed_dictionaries(
    {
        0: st.dictionaries(text, i8, max_size=6),
        1: st.dictionaries(
            st.tuples(text | st.just("k" * 300), text), st.lists(text, max_size=4), max_size=5
        ),
        2: st.dictionaries(text, st.dictionaries(text, st.none() | i8, max_size=4), max_size=4),
        3: st.sets(st.tuples(i8, text), max_size=5),
    }
)


@given(
    st.lists(held, min_size=GROUPS, max_size=GROUPS),
    st.booleans(),
    st.sampled_from([20, 300, 1 << 20]),
    st.sets(st.integers(0, 3)),
)
def test_what_the_heap_wrote_is_read_as_canonical_entries(
    groups: list[dict[int, Any]], compressed: bool, batch_bytes: int, wanted: set[int]
) -> None:
    twin = Twin()
    for group, one in enumerate(groups):
        twin.key_group(group, one, compressed)
    stream = inline(bytes(twin.data))
    found = entries(
        read_hashmap(
            stream, regions_of(twin.offsets, KeyGroupRange(0, GROUPS), stream), states=twin.states,
            compressed=compressed, wanted=frozenset(wanted), batch_bytes=batch_bytes,
        )
    )  # fmt: skip
    assert found == {state: kept for state, kept in twin.expected.items() if state in wanted}


def read(data: bytes, value: t.DataType = LONG) -> dict[int, Entries]:
    stream = inline(b"h" + data)
    keys = CompositeKeyCodec(prefix=1, key=STRING, namespace=VOID)
    states = [HeapState(name="v", kind="value", keys=keys, value=value)]
    regions = regions_of([1], KeyGroupRange(0, 1), stream)
    return entries(read_hashmap(stream, regions, states=states, compressed=False))


def test_an_example_byte_for_byte() -> None:
    """Key group 0, state 0, one entry: void namespace, key "a", Long 7."""
    found = read(bytes.fromhex("00000000 0000 00000001 00 0261 0000000000000007"))
    assert found == {0: {(0, bytes.fromhex("00 0261 00")): bytes(7) + b"\7"}}


@pytest.mark.parametrize(
    ("damaged", "error"),
    [
        ("00000001 0000 00000000", "another key group's id"),
        ("00000000 0001 00000000", "unknown state id 1"),
        ("00000000 0000 ffffffff", "-1 entries"),
        ("00000000 0000 00000001 00 0261 00000000000000", "ends inside the value"),
        ("00000000 0000 7fffffff 00 0261 0000000000000007", "ends inside the value"),
        ("00000000 0000 00000001 00 ffffffff0f", "does not decode"),
        ("00000000 0000", "ends inside a key group"),
        ("0000", "ends inside a key group"),
        ("", "ends inside a key group"),
    ],
)
def test_damage_is_named_with_its_place(damaged: str, error: str) -> None:
    with pytest.raises(FormatError, match=error) as caught:
        read(bytes.fromhex(damaged))
    assert caught.value.where.key_group == 0
    assert caught.value.where.offset is not None


def test_a_value_that_cannot_be_stepped_over_is_named() -> None:
    with pytest.raises(FormatError, match=r"com\.acme\.Thing") as caught:
        read(
            bytes.fromhex("00000000 0000 00000001 00 0261 00"),
            t.OpaqueType(class_name="com.acme.Thing", reason="Kryo"),
        )
    assert caught.value.where.state == "v"


def test_an_opaque_state_without_entries_is_in_nobodys_way() -> None:
    assert (
        read(bytes.fromhex("00000000 0000 00000000"), t.OpaqueType(class_name="Thing", reason="Kryo")) == {}
    )


def test_many_key_groups_of_many_states_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of 32768 key groups hold an entry or two of each state: a run of a program for each would take minutes."""
    runs = Counter[str]()

    def counted(program: Program, *rest: Any) -> Decoded:
        runs["run"] += 1
        return run_decode(program, *rest)

    monkeypatch.setattr("statelift.io.keyed.hashmap.run_decode", counted)
    monkeypatch.setattr("statelift.io.keyed.heap_groups.run_decode", counted)
    groups, states, data, offsets = 32768, 5, bytearray(b"h"), []
    for group in range(groups):
        offsets.append(len(data))
        data += i4(group)
        for state in reversed(range(states)):  # their order is Flink's, any but the same everywhere
            held = [b"\0" + string(f"{state}") + long(group)] * (group % 3)
            data += state.to_bytes(2, "big") + i4(len(held)) + b"".join(held)
    keys = CompositeKeyCodec(prefix=2, key=STRING, namespace=VOID)
    kinds = [HeapState(name=f"s{i}", kind="value", keys=keys, value=LONG) for i in range(states)]
    stream = inline(bytes(data))
    regions = regions_of(offsets, KeyGroupRange(0, groups), stream)
    found = Counter[int]()
    for window in read_hashmap(stream, regions, states=kinds, compressed=False):
        for state, batch in window.items():
            found[state] += len(batch)
            values = np.concatenate(
                [[0], np.frombuffer(b"".join(batch.values.to_arrow().to_pylist()), ">i8")]
            )
            assert values[1:].tolist() == batch.key_groups.tolist()
    assert found == dict.fromkeys(range(states), sum(group % 3 for group in range(groups)))
    assert runs["run"] < 100


def test_a_damaged_key_group_among_many_is_named() -> None:
    """Those before it are read."""
    data, offsets = bytearray(b"h"), []
    for group in range(100):
        offsets.append(len(data))
        data += i4(group) + (0).to_bytes(2, "big") + i4(1) + b"\0" + string("k") + long(group)
    keys = CompositeKeyCodec(prefix=1, key=STRING, namespace=VOID)
    states = [HeapState(name="s", kind="value", keys=keys, value=LONG)]
    data[offsets[70] + 5] = 7
    stream = inline(bytes(data))
    regions = regions_of(offsets, KeyGroupRange(0, 100), stream)
    seen: list[int] = []
    windows = read_hashmap(stream, regions, states=states, compressed=False)
    groups = (window[0].key_groups.tolist() for window in windows)
    with pytest.raises(FormatError, match="unknown state id 7") as caught:
        seen.extend(group for own in groups for group in own)
    assert caught.value.where.key_group == 70
    assert seen == list(range(70))


BASE = parse_type("pojo Base {b: int} registered {Sub: pojo Sub {b: int, c: int}}")


def pojos(unknown_in: int) -> tuple[StateStream, list[HeapState], list[Region]]:
    """Ten key groups of three states, two entries in each: the one in the middle, of POJOs, has in its second entry
    of key group ``unknown_in`` an object of a class that its type does not know."""
    data, offsets = bytearray(b"h"), []
    for group in range(10):
        offsets.append(len(data))
        data += i4(group)
        for state in range(3):
            data += state.to_bytes(2, "big") + i4(2)
            for key in ("k", "l"):
                value = long(group)
                if state == 1:
                    value = bytes.fromhex("02 00") + i4(group)
                    if group == unknown_in and key == "l":
                        value = bytes.fromhex("04 0003") + b"a.X" + bytes.fromhex("02 00 00000001 00 05")
                data += b"\0" + string(key) + value
    keys = CompositeKeyCodec(prefix=1, key=STRING, namespace=VOID)
    kinds = [
        HeapState(name=name, kind="value", keys=keys, value=BASE if name == "pojo" else LONG)
        for name in ("before", "pojo", "behind")
    ]
    stream = inline(bytes(data))
    return stream, kinds, regions_of(offsets, KeyGroupRange(0, 10), stream)


@pytest.mark.parametrize("batch_bytes", [1, 1 << 20])
def test_a_class_that_is_not_known_ends_its_key_group_only(batch_bytes: int) -> None:
    stream, states, regions = pojos(unknown_in=4)
    windows = read_hashmap(stream, regions, states=states, compressed=False, batch_bytes=batch_bytes)
    entries = ((state, int(group)) for one in windows for state in one for group in one[state].key_groups)
    found = Counter[tuple[int, int]]()
    with pytest.raises(
        UnsupportedVersionError, match=r"not in the snapshot: a\.X.*declare which class"
    ) as caught:
        found.update(entries)
    assert found == {
        (state, group): 1 if (state, group) == (1, 4) else 2
        for state in range(3)
        for group in range(10)
        if (state, group) != (2, 4)
    }
    where = caught.value.where
    assert (where.state, where.key_group) == ("pojo", 4)
    assert where.offset is not None
    assert stream.read(where.offset, 5) == b"\0\3a.X"


def test_what_stands_before_such_a_class_is_read_without_an_error() -> None:
    stream, states, regions = pojos(unknown_in=4)
    windows = read_hashmap(stream, regions, states=states, compressed=False, wanted=frozenset((0,)))
    assert sum(len(window[0]) for window in windows) == 20
    with pytest.raises(UnsupportedVersionError):
        list(read_hashmap(stream, regions, states=states, compressed=False, wanted=frozenset((2,))))
