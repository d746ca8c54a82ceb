"""Timers kept on the heap, in raw keyed state (spec 8.3): those of Flink 1.8 in the corpus, and made by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statelift.io.keyed.backend import KeyedBackend
from statelift.io.keyed.raw_timers import RawKeyedState, open_raw_keyed
from statelift.io.metadata import ByteStreamStateHandle, KeyGroupRange, KeyGroupsStateHandle
from statelift.io.streams import StreamOpener
from statelift.schemas.errors import FormatError, UnsupportedVersionError
from statelift.schemas.snapshots import build, write_snapshot
from statelift.schemas.wire import Writer

from .keyed_snapshots import STORES, Entries, by_name, keyed

Timers = dict[str, tuple[list[tuple[int, str]], list[tuple[int, str]]]]
"""By service: event and processing timers, each a timestamp and a key."""


def key_group(timers: Timers) -> bytes:
    """The raw state of one key group; keys are String, the namespace is void."""
    writer = Writer()
    writer.bytes(bytes.fromhex("f1cd859f"))
    writer.i4(2)
    writer.i4(len(timers))
    for service, both in timers.items():
        writer.utf(service)
        write_snapshot(writer, build.scalar("String"))
        write_snapshot(writer, build.VOID_NAMESPACE)
        for domain in both:
            writer.i4(len(domain))
            for stamp, key in domain:
                writer.str_(key)
                writer.u1(0)
                writer.bytes(stamp.to_bytes(8, "big", signed=True))
    return writer.getvalue()


def opened(groups: list[bytes | None]) -> KeyedBackend | RawKeyedState:
    """A handle of these key groups; None is one without data."""
    offsets, data = [], b""
    for raw in groups:
        offsets.append(-1 if raw is None else len(data))
        data += raw or b""
    handle = KeyGroupsStateHandle(
        tag=12,
        key_group_range=KeyGroupRange(0, len(groups)),
        offsets=tuple(offsets),
        stream=ByteStreamStateHandle(handle_name="raw", data=data),
        state_handle_id="id",
    )
    return open_raw_keyed(handle, StreamOpener(stores=STORES, base_url="/nowhere"), 128)


def found(groups: list[bytes | None], batch_bytes: int = 16 << 20) -> dict[str, Entries]:
    backend = opened(groups)
    assert isinstance(backend, KeyedBackend)
    assert backend.format == "timers"
    return by_name(backend, batch_bytes)


def test_the_timers_of_flink_1_8(corpus: Path) -> None:
    """The migration job registers an event and a processing timer for each of the keys 0 to 3 (README)."""
    snapshot = corpus / "savepoints" / "new-stateful-udf-migration-itcase-flink1.8-rocksdb-savepoint"
    keys: Counter[tuple[str, str, int]] = Counter()
    for one in keyed(snapshot):
        if one.raw:
            for name, held in by_name(one.open()).items():
                for group, key in held:
                    assert key[0] == group
                    # Prefix, timestamp, Tuple1 of Long, namespace Long: both are the element.
                    assert key[9:17] == key[17:25]
                    keys[one.operator.uid_hash, name, int.from_bytes(key[9:17], "big")] += 1
    expected = {f"_timer_state/{domain}_timer" for domain in ("event", "processing")}
    operators = {operator for operator, _, _ in keys}
    assert len(operators) == 2
    assert keys == Counter({(o, name, key): 1 for o in operators for name in expected for key in range(4)})


stamps = st.lists(
    st.tuples(st.integers(-(2**63), 2**63 - 1), st.sampled_from(["", "a", "é"])), max_size=4, unique=True
)


@given(
    st.lists(st.none() | st.tuples(stamps, stamps, stamps), min_size=1, max_size=3),
    st.sampled_from([1, 1 << 20]),
)
def test_timers_are_read_as_timer_states(
    groups: list[tuple[list[tuple[int, str]], ...] | None], batch_bytes: int
) -> None:
    expected: dict[str, Entries] = {}
    raw: list[bytes | None] = []
    for group, lists in enumerate(groups):
        if lists is None:
            raw.append(None)
            continue
        raw.append(key_group({"a": (lists[0], lists[1]), "b": (lists[2], [])}))
        for name, timers in zip(
            ("event_a", "processing_a", "event_b", "processing_b"), (*lists, []), strict=True
        ):
            held = expected.setdefault(f"_timer_state/{name}", {})
            for stamp, key in timers:
                text = Writer()
                text.str_(key)
                flipped = (stamp + (1 << 63)).to_bytes(8, "big")
                held[group, bytes([group]) + flipped + text.getvalue() + b"\0"] = b""
    assert found(raw, batch_bytes) == expected


def test_raw_state_of_another_form_stays_bytes() -> None:
    state = opened([b"the user's", None, b"own form"])
    assert isinstance(state, RawKeyedState)
    assert [(region.key_group, state.read(region)) for region in state.regions] == [
        (0, b"the user's"),
        (2, b"own form"),
    ]
    assert state.nbytes == 18


def test_a_handle_without_services_has_no_states() -> None:
    assert found([key_group({}), key_group({})]) == {}


GOOD = key_group({"a": ([(5, "k")], [])})


@pytest.mark.parametrize(
    ("groups", "error"),
    [
        ([GOOD[:-1]], "needs 4 bytes"),
        ([GOOD[:-5]], "does not decode"),
        ([GOOD + b"\0"], "1 bytes follow"),
        ([GOOD[:7] + b"\1" + GOOD[8:]], "timers of version 1"),
        ([GOOD[:8] + b"\x7f" + GOOD[9:]], "timer services of"),
        ([GOOD, key_group({"b": ([], [])})], "do not have the same timer services"),
        ([GOOD, b"something else"], "no timers"),
    ],
)
def test_damage_is_named_with_its_place(groups: list[bytes | None], error: str) -> None:
    with pytest.raises(FormatError, match=error) as caught:
        found(groups)
    assert caught.value.where.key_group == len(groups) - 1


def test_other_handles_are_refused() -> None:
    from statelift.io.metadata import KeyGroupsSavepointStateHandle

    handle = KeyGroupsSavepointStateHandle(
        key_group_range=KeyGroupRange(0, 1),
        offsets=(0,),
        stream=ByteStreamStateHandle(handle_name="x", data=b""),
    )
    with pytest.raises(UnsupportedVersionError):
        open_raw_keyed(handle, StreamOpener(stores=STORES, base_url="/nowhere"), 128)
