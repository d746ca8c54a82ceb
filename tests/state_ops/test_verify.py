"""Verification: whole snapshots have no faults, and each damage is named with its place."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import statelift
from hypothesis import given
from hypothesis import strategies as st
from statelift.io.keyed.backend import KeyedBackend
from statelift.io.keyed.entries import EntryBatch
from statelift.io.keyed.meta_info import BackendStateType, StateMetaInfo
from statelift.io.keyed.state_types import keyed_state_type
from statelift.io.metadata import (
    ByteStreamStateHandle,
    DistributionMode,
    IncrementalRemoteKeyedStateHandle,
    InputChannelStateHandle,
    KeyGroupRange,
    Metadata,
    OperatorState,
    OperatorStreamStateHandle,
    PartitionOffsets,
    SubtaskState,
    read_metadata,
    write_metadata,
)
from statelift.schemas.from_snapshot import type_of
from statelift.schemas.snapshots import build
from statelift.state_ops.findings import Finding, Tally, ranges
from statelift.state_ops.snapshot import Snapshot
from statelift.state_ops.tables import KeyedTable
from statelift.state_ops.verify import verify
from statelift.state_ops.verify_files import key_group_range
from statelift.state_ops.verify_kernels import fingerprints

from ..golden_savepoints import ALL, UIDS, copied, expected, opened
from .generated import canonical

CANONICAL = "1.20.5/hashmap-canonical"
HASHMAP = "1.20.5/hashmap-native"
ROCKSDB = "2.3.0/rocksdb-native"
COUNT = StateMetaInfo(
    name="count",
    backend_state_type=BackendStateType.KEY_VALUE,
    options=(("KEYED_STATE_TYPE", "VALUE"),),
    serializers=(
        ("NAMESPACE_SERIALIZER", build.VOID_NAMESPACE),
        ("VALUE_SERIALIZER", build.scalar("Long")),
    ),
)


def faults(snapshot: Snapshot) -> list[Finding]:
    return [finding for finding in verify(snapshot) if finding.severity == "fault"]


def reopened(folder: Path) -> Snapshot:
    return statelift.open(str(folder), uids=UIDS)


def file_of(backend: KeyedBackend) -> Path:
    assert backend.stream is not None
    return Path(backend.stream.name.removeprefix("file://"))


# -- sound snapshots -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_a_savepoint_that_flink_wrote_is_without_findings(name: str) -> None:
    tally, read = Tally(), []
    assert list(verify(opened(name), tally=tally, progress=read.append)) == []
    entries = {
        ("fraud-detector", "keyed", "last-tx-timestamp"): 60,
        ("session-tracker", "keyed", "user-state"): 60,
        ("session-tracker", "keyed", "recent"): 60,
        ("buffering-sink", "operator", "buffered-elements"): 60,
        ("rules", "operator", "rule-log"): 8,
        ("rules", "broadcast", "rules"): 10,
    }
    for (uid, section, state), count in entries.items():
        copies = 2 if section == "broadcast" else 1
        assert len(expected(name, uid, section, state)) == count * copies
    scores = sum(len(e["value"]["$map"]) for e in expected(name, "fraud-detector", "keyed", "fraud-scores"))
    timers, splits = 60, 1
    assert tally.entries == sum(entries.values()) + scores + timers + splits
    assert sum(read) > 0


@pytest.mark.corpus
def test_no_snapshot_of_the_corpus_has_a_fault(corpus: Path) -> None:
    """But for those that hold entries no reader of Flink's own would accept, of which there are none."""
    said = {}
    for meta in sorted(corpus.glob("savepoints/**/_metadata")) + sorted(corpus.glob("known/**/_metadata")):
        found = [str(finding) for finding in faults(statelift.open(str(meta)))]
        if found:
            said[str(meta.relative_to(corpus))] = found[:2]
    assert said == {}


# -- files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [CANONICAL, HASHMAP])
def test_a_missing_file_is_named_with_all_that_is_lost(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    lost = file_of(reopened(folder).operator("session-tracker").keyed_backends[1])
    size = lost.stat().st_size
    lost.unlink()
    tally = Tally()
    [finding] = list(verify(reopened(folder), tally=tally))
    assert (finding.where.operator, finding.where.subtask) == ("session-tracker", 1)
    for text in (lost.name, "missing", f"{size:,} bytes", "managed keyed state", "key groups 64-127"):
        assert text in str(finding)
    assert tally.entries > 300  # the rest is read all the same


@pytest.mark.parametrize("name", [CANONICAL, HASHMAP])
def test_of_a_file_that_is_short_the_key_groups_that_decode_are_told(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    backend = reopened(folder).operator("session-tracker").keyed_backends[0]
    file, last = file_of(backend), backend.regions()[-1]
    file.write_bytes(file.read_bytes()[:-10])
    short, unread = faults(reopened(folder))
    assert "short by 10 bytes" in str(short)
    assert short.where.subtask == unread.where.subtask == 0
    assert str(unread).startswith(f"key group {last.key_group} cannot be read")
    assert f"key groups 0-{last.key_group - 1}" in str(unread).replace(f", {last.key_group + 1}-63", "")


def test_a_file_that_is_longer_than_recorded_is_told(tmp_path: Path) -> None:
    folder = copied(CANONICAL, tmp_path)
    file = file_of(reopened(folder).operator("session-tracker").keyed_backends[0])
    file.write_bytes(file.read_bytes() + b"x" * 7)
    assert any("7 bytes more than _metadata says" in str(finding) for finding in faults(reopened(folder)))


def test_a_broken_header_hides_no_other_subtask(tmp_path: Path) -> None:
    folder = copied(CANONICAL, tmp_path)
    file = file_of(reopened(folder).operator("fraud-detector").keyed_backends[0])
    file.write_bytes(b"\xff" * 40 + file.read_bytes()[40:])
    tally = Tally()
    [finding] = [f for f in verify(reopened(folder), tally=tally) if f.severity == "fault"] or [None]
    assert finding is not None
    assert (finding.where.operator, finding.where.subtask) == ("fraud-detector", 0)
    assert tally.entries > 250


# -- entries ---------------------------------------------------------------------------------------------------


def user_groups(name: str) -> dict[str, int]:
    return {e["key"]: e["kg"] for e in expected(name, "session-tracker", "keyed", "recent")}


def holding(folder: Path, key_group: int) -> Path:
    """The file of the session-tracker that has the key group."""
    backends = reopened(folder).operator("session-tracker").keyed_backends.values()
    return next(file_of(backend) for backend in backends if key_group in backend.key_groups)


@pytest.mark.parametrize("prefix", ["of the block", "of the key"])
def test_a_misplaced_key_is_shown_with_both_key_groups(tmp_path: Path, prefix: str) -> None:
    """user-1, of key group 121, in the block of user-3, key group 40: with its own prefix or that of the block."""
    folder = copied(CANONICAL, tmp_path)
    assert (user_groups(CANONICAL)["user-1"], user_groups(CANONICAL)["user-3"]) == (121, 40)
    file = holding(folder, 40)
    data = file.read_bytes()
    for flag in (0, 0x80):
        new = 40 if prefix == "of the block" else 121
        data = data.replace(bytes((40 | flag,)) + b"\x07user-3", bytes((new | flag,)) + b"\x07user-1")
    assert data != file.read_bytes()
    file.write_bytes(data)
    tally = Tally()
    found = [f for f in verify(reopened(folder), tally=tally) if f.severity == "fault"]
    assert {f.what for f in found} == {"the key 'user-1' stands in key group 40 and belongs to 121"}
    assert {f.where.state for f in found} == {"recent", "user-state"}
    assert {f.where.key_group for f in found} == {40}
    assert tally.entries == 409


@pytest.mark.parametrize("own_prefix", [True, False])
@pytest.mark.parametrize("twice", [True, False])
def test_a_key_planted_in_another_key_group_is_one_misplaced_key(
    tmp_path: Path, own_prefix: bool, twice: bool
) -> None:
    """user-1 (121) in the block of key group 0 beside a key of that; with ``twice`` in its own as well."""
    table = KeyedTable(keyed_state_type(COUNT, type_of(build.scalar("String"))), 128)
    keys = pa.array([f"at-home-{i}" for i in range(1000)])
    at_home = keys.filter(pa.array(table.key_groups(keys) == 0))
    rows = pa.RecordBatch.from_pydict({"key": at_home, "value": pa.array([1] * len(at_home))})
    planted = pa.RecordBatch.from_pydict({"key": pa.array(["user-1"]), "value": pa.array([7])})
    batches = [table.encode(rows), table.encode(planted, np.zeros(1, np.int32))]
    if own_prefix:
        own = table.encode(planted)
        batches[1] = EntryBatch(key_groups=np.zeros(1, np.int32), keys=own.keys, values=own.values)
    batches += [table.encode(planted)] if twice else []
    folder = canonical(tmp_path / "savepoint", "counter", build.scalar("String"), (COUNT,), batches)
    tally = Tally()
    [finding] = list(verify(statelift.open(str(folder), uids=["counter"]), tally=tally))
    assert finding.what == "the key 'user-1' stands in key group 0 and belongs to 121"
    assert (finding.where.operator, finding.where.state, finding.where.key_group) == ("counter", "count", 0)
    assert tally.entries == len(at_home) + 1 + twice > 2


def test_an_unknown_state_id_in_a_key_group_hides_none_of_its_entries(tmp_path: Path) -> None:
    table = KeyedTable(keyed_state_type(COUNT, type_of(build.scalar("String"))), 128)
    keys = pa.array([f"user-{i}" for i in range(1000)])
    entries = table.encode(pa.RecordBatch.from_pydict({"key": keys, "value": pa.array(range(1000))}))
    other = entries.take(np.flatnonzero(entries.key_groups == 40)[:3])
    folder = canonical(
        tmp_path / "savepoint", "counter", build.scalar("String"), (COUNT,), [entries], unknown={5: other}
    )
    tally = Tally()
    [finding] = list(verify(statelift.open(str(folder)), tally=tally))
    assert finding.what == "unknown state id 5: 3 entries, the header defines 1 states"
    assert finding.where.key_group == 40
    assert tally.entries == 1000


def test_an_unknown_state_id_is_told_and_the_rest_of_the_key_group_is_read(tmp_path: Path) -> None:
    folder = copied(CANONICAL, tmp_path)
    backend = reopened(folder).operator("session-tracker").keyed_backends[0]
    region, file = backend.regions()[0], file_of(backend)
    data = bytearray(file.read_bytes())
    count = Counter(user_groups(CANONICAL).values())[region.key_group]
    data[region.start : region.start + 2] = (9).to_bytes(2, "big")
    file.write_bytes(data)
    tally = Tally()
    [finding] = list(verify(reopened(folder), tally=tally))
    assert finding.what == f"unknown state id 9: {count} entries, the header defines 4 states"
    assert (finding.where.subtask, finding.where.key_group) == (0, region.key_group)
    assert tally.entries == 409 - count


def twins(name: str) -> tuple[str, str, int]:
    """Two keys of one length in one key group."""
    by_group: dict[tuple[int, int], str] = {}
    for key, group in user_groups(name).items():
        if (group, len(key)) in by_group:
            return by_group[group, len(key)], key, group
        by_group[group, len(key)] = key
    raise AssertionError("no two keys share a key group")


def test_a_key_that_stands_twice_is_found(tmp_path: Path) -> None:
    folder = copied(CANONICAL, tmp_path)
    one, other, group = twins(CANONICAL)
    file = holding(folder, group)
    data = file.read_bytes()
    for flag in (0, 0x80):
        prefix = bytes((group | flag, len(one) + 1))
        data = data.replace(prefix + other.encode(), prefix + one.encode())
    file.write_bytes(data)
    found = faults(reopened(folder))
    assert {f.what for f in found} == {f"the key {one!r} stands 2 times in its key group"}
    assert {f.where.state for f in found} == {"recent", "user-state"}
    assert {f.where.key_group for f in found} == {group}


def test_a_value_that_does_not_decode_is_told_and_no_other_is_lost(tmp_path: Path) -> None:
    folder = copied(CANONICAL, tmp_path)
    group = user_groups(CANONICAL)["user-3"]
    file = holding(folder, group)
    data = file.read_bytes()
    # The POJO's last field, ``userId``: a null flag and the text, whose length becomes more than there is.
    at = data.index(b"\x00\x07user-3") + 1
    file.write_bytes(data[:at] + b"\x7f" + data[at + 1 :])
    tally = Tally()
    [finding] = list(verify(reopened(folder), tally=tally))
    assert (finding.where.state, finding.where.key_group) == ("user-state", group)
    assert "does not decode" in finding.what
    assert tally.entries == 409


# -- RocksDB ---------------------------------------------------------------------------------------------------


def test_a_block_whose_checksum_is_wrong_breaks_one_state_only(tmp_path: Path) -> None:
    folder = copied(ROCKSDB, tmp_path)
    backend = reopened(folder).operator("session-tracker").keyed_backends[0]
    for table in backend.families()["user-state"]:  # small ones: they lie in _metadata
        [raw] = [
            stream.read(0, stream.size) for stream in backend.files.values() if stream.name == table.file
        ]
        meta = (folder / "_metadata").read_bytes()
        at = meta.index(raw) + int(table.index().offsets[0]) + 5
        (folder / "_metadata").write_bytes(meta[:at] + bytes((meta[at] ^ 0xFF,)) + meta[at + 1 :])
    tally = Tally()
    [finding] = list(verify(reopened(folder), tally=tally))
    place = finding.where
    assert (place.operator, place.subtask, place.state) == ("session-tracker", 0, "user-state")
    assert "does not match: the file is damaged" in finding.what
    groups = [e["kg"] for e in expected(ROCKSDB, "session-tracker", "keyed", "user-state")]
    assert tally.entries == 409 - sum(group < 64 for group in groups)


def test_of_a_missing_table_the_subtask_is_told(tmp_path: Path) -> None:
    folder = copied(ROCKSDB, tmp_path)
    files = reopened(folder).operator("fraud-detector").keyed_backends[1].files
    name, stream = next((n, s) for n, s in files.items() if s.name.startswith("file://"))
    Path(stream.name.removeprefix("file://")).unlink()
    [finding] = list(verify(reopened(folder)))
    assert (finding.where.operator, finding.where.subtask) == ("fraud-detector", 1)
    assert f"managed keyed state of key groups 64-127, {name} lost" in finding.what


def test_a_current_file_that_names_another_manifest_is_told(tmp_path: Path) -> None:
    folder = copied(ROCKSDB, tmp_path)
    backend = reopened(folder).operator("session-tracker").keyed_backends[0]
    [manifest] = [name for name in backend.files if name.startswith("MANIFEST-")]
    meta = (folder / "_metadata").read_bytes()
    other = manifest[:-1] + "9"
    (folder / "_metadata").write_bytes(meta.replace(manifest.encode() + b"\n", other.encode() + b"\n"))
    found = faults(reopened(folder))
    assert {f.what for f in found} == {f"CURRENT names {other!r}, which the snapshot does not have"}
    assert ("session-tracker", 0) in {(f.where.operator, f.where.subtask) for f in found}


def test_a_table_that_only_the_manifest_names_is_told(tmp_path: Path) -> None:
    """The snapshot would be read without its entries, and RocksDB does not open it."""
    folder = copied(ROCKSDB, tmp_path)
    path = folder / "_metadata"
    metadata = read_metadata(path.read_bytes(), str(path))
    operators = []
    for operator in metadata.operator_states:
        subtasks = list(operator.subtask_states)
        handle = subtasks[0].managed_keyed_state if subtasks else None
        if operator.operator_uid == "session-tracker":
            assert isinstance(handle, IncrementalRemoteKeyedStateHandle)
            files = (*handle.shared_state, *handle.private_state)
            lost = next(file for file in files if file.local_path.endswith(".sst"))
            fewer = replace(
                handle,
                shared_state=tuple(file for file in handle.shared_state if file is not lost),
                private_state=tuple(file for file in handle.private_state if file is not lost),
            )
            subtasks[0] = replace(subtasks[0], managed_keyed_state=fewer)
        operators.append(replace(operator, subtask_states=tuple(subtasks)))
    path.write_bytes(write_metadata(replace(metadata, operator_states=tuple(operators))))
    [finding] = faults(reopened(folder))
    assert finding.what == f"the MANIFEST names {lost.local_path}, which the snapshot does not have"
    assert (finding.where.operator, finding.where.subtask) == ("session-tracker", 0)


# -- records in flight -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offsets", "says"),
    [
        ((4, 11), None),
        ((4, 12), "of 1,395 bytes does not fit in its file"),
        ((4, 19), "begins outside of the 20 bytes of its file"),
        ((0,), "begins outside of the 20 bytes of its file"),
    ],
)
def test_buffers_of_records_in_flight_lie_in_their_file(
    tmp_path: Path, offsets: tuple[int, ...], says: str | None
) -> None:
    """Version, then for each buffer its length and that many bytes (ChannelStateSerializerImpl)."""
    buffers = bytes(4) + b"\0\0\0\3abc" + b"\0\0\0\5stuvw"
    handle = InputChannelStateHandle(
        subtask_index=0, gate_idx=0, input_channel_idx=0, offsets=offsets, size=16,
        stream=ByteStreamStateHandle(handle_name="channel", data=buffers),
    )  # fmt: skip
    found = faults(with_subtask(tmp_path, SubtaskState(subtask_index=0, input_channel_state=(handle,))))
    assert [finding.where.subtask for finding in found] == [0] * (says is not None)
    assert all(says is not None and says in finding.what for finding in found)


def with_subtask(folder: Path, subtask: SubtaskState) -> Snapshot:
    """A snapshot of one operator of one subtask."""
    operator = OperatorState(
        operator_id=bytes(16), parallelism=1, max_parallelism=128, subtask_states=(subtask,)
    )
    metadata = Metadata(version=3, checkpoint_id=1, operator_states=(operator,))
    (folder / "_metadata").write_bytes(write_metadata(metadata))
    return statelift.open(str(folder))


# -- operator state --------------------------------------------------------------------------------------------


def test_broadcast_copies_that_differ_are_told(tmp_path: Path) -> None:
    folder = copied(CANONICAL, tmp_path)
    meta = folder / "_metadata"
    action = expected(CANONICAL, "rules", "broadcast", "rules")[0]["value"]["fields"]["action"].encode()
    data = meta.read_bytes()
    at = data.index(bytes((len(action) + 1,)) + action) + 1
    meta.write_bytes(data[:at] + b"#" + data[at + 1 :])
    [finding] = faults(reopened(folder))
    assert "broadcast copy differs" in finding.what
    assert (finding.where.operator, finding.where.state) == ("rules", "rules")


# -- key groups ------------------------------------------------------------------------------------------------


@given(st.integers(1, 1 << 15), st.data())
def test_ranges_are_those_of_flinks_assignment(max_parallelism: int, data: st.DataObject) -> None:
    """A key group belongs to subtask ``kg * parallelism / max parallelism`` (KeyGroupRangeAssignment)."""
    parallelism = data.draw(st.integers(1, min(max_parallelism, 300)))
    owners = [kg * parallelism // max_parallelism for kg in range(max_parallelism)]
    subtask = data.draw(st.integers(0, parallelism - 1))
    own = [kg for kg, owner in enumerate(owners) if owner == subtask]
    assert list(key_group_range(subtask, parallelism, max_parallelism)) == own


def test_ranges_that_overlap_or_do_not_fit_the_parallelism_are_told(tmp_path: Path) -> None:
    import dataclasses

    folder = copied(CANONICAL, tmp_path)
    path = folder / "_metadata"
    metadata = read_metadata(path.read_bytes(), str(path))
    operators = []
    for operator in metadata.operator_states:
        keyed = [s for s in operator.subtask_states if s.managed_keyed_state is not None]
        if keyed and operator.operator_id.hex() == opened(CANONICAL).operator("session-tracker").id:
            second = next(s for s in keyed if s.subtask_index == 1)
            handle = second.managed_keyed_state
            assert handle is not None
            assert handle.key_group_range == KeyGroupRange(64, 64)
            wider = dataclasses.replace(
                handle,
                key_group_range=KeyGroupRange(63, 65),
                offsets=(-1, *handle.offsets),  # type: ignore[union-attr]
            )
            changed = dataclasses.replace(second, managed_keyed_state=wider)
            others = tuple(changed if s is second else s for s in operator.subtask_states)
            operator = dataclasses.replace(operator, subtask_states=others)
        operators.append(operator)
    path.write_bytes(write_metadata(dataclasses.replace(metadata, operator_states=tuple(operators))))
    texts = [str(finding) for finding in faults(reopened(folder))]
    assert any("holds key groups [63, 127], but Flink assigns [64, 127]" in text for text in texts)
    assert any("key group 63 also held by subtask 0" in text for text in texts)


# -- helpers ---------------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=20), max_size=20))
def test_fingerprints_are_fnv_1a_with_the_flag_bit_clear(values: list[bytes]) -> None:
    def twin(value: bytes) -> int:
        number = 0xCBF29CE484222325
        for i, byte in enumerate(value):
            number = (number ^ (byte & 0x7F if i == 0 else byte)) * 0x100000001B3 % (1 << 64)
        return number

    ends = np.cumsum([len(value) for value in values], dtype=np.int64)
    starts = ends - np.array([len(value) for value in values], np.int64)
    out = np.empty(len(values), np.uint64)
    fingerprints(np.frombuffer(b"".join(values), np.uint8), starts, ends, out)
    assert out.tolist() == [twin(value) for value in values]


@given(st.sets(st.integers(0, 200)))
def test_ranges_as_text_say_exactly_their_numbers(numbers: set[int]) -> None:
    said = set()
    for part in filter(None, ranges(sorted(numbers)).split(", ")):
        first, _, last = part.partition("-")
        said.update(range(int(first), int(last or first) + 1))
    assert said == numbers


@pytest.mark.parametrize(("offset", "beyond"), [(0, False), (5, False), (6, True), (-1, True)])
def test_raw_operator_state_lies_within_its_stream_and_is_not_looked_into(
    tmp_path: Path, offset: int, beyond: bool
) -> None:
    raw = OperatorStreamStateHandle(
        state_name_to_partition_offsets=(
            PartitionOffsets(
                state_name="_default_",
                distribution_mode=DistributionMode.SPLIT_DISTRIBUTE,
                offsets=(0, offset),
            ),
        ),
        stream=ByteStreamStateHandle(handle_name="raw", data=b"bytes"),
    )
    snapshot = with_subtask(tmp_path, SubtaskState(subtask_index=0, raw_operator_state=raw))
    found = [(finding.severity, finding.what) for finding in verify(snapshot)]
    note = ("unchecked", "raw operator state of 5 bytes is the job's own, and is not looked into")
    outside = ("fault", "raw operator state begins outside of the 5 bytes of its stream")
    assert found == [outside, note] if beyond else [note]
