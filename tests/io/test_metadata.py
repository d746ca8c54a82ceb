"""``_metadata``: what was read is written back, the spec's example, versions, and damage."""

from __future__ import annotations

import hashlib
import struct
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from statelift.io.metadata import (
    NULL_PROPERTIES,
    ByteStreamStateHandle,
    FileStateHandle,
    InputChannelStateHandle,
    KeyGroupRange,
    KeyGroupsSavepointStateHandle,
    KeyGroupsStateHandle,
    MasterState,
    MergedInputChannelStateHandle,
    Metadata,
    OperatorState,
    SnapshotType,
    SubtaskState,
    at_version,
    map_streams,
    read_metadata,
    snapshot_type,
    streams,
    write_metadata,
)
from statelift.schemas.errors import FormatError, StateliftError, UnsupportedVersionError
from statelift.schemas.operator_id import operator_id_of_uid

from .metadata_strategies import metadata

QUICK = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def utf(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def minimal_stream() -> bytes:
    """Spec section 13: ValueState<Long> ``v`` of key "a" is 7."""
    base = "org.apache.flink.api.common.typeutils.base."
    string = base + "StringSerializer$StringSerializerSnapshot"
    long = base + "LongSerializer$LongSerializerSnapshot"
    void = "org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot"

    def proxy(name: str) -> bytes:
        return struct.pack(">i", 2) + utf(name) + struct.pack(">i", 3)

    header = struct.pack(">ib", 6, 0) + proxy(string) + struct.pack(">h", 1) + utf("v")
    header += struct.pack(">ii", 0, 1) + utf("KEYED_STATE_TYPE") + utf("VALUE") + struct.pack(">i", 2)
    header += utf("VALUE_SERIALIZER") + proxy(long) + utf("NAMESPACE_SERIALIZER") + proxy(void)
    assert len(header) == 367
    return header + bytes.fromhex("0000 00000004 d1026100 00000008 0000000000000007 ffff")


def minimal() -> Metadata:
    offsets = tuple(367 if key_group == 81 else 0 for key_group in range(128))
    handle = KeyGroupsSavepointStateHandle(
        key_group_range=KeyGroupRange(0, 128),
        offsets=offsets,
        stream=ByteStreamStateHandle(handle_name="s0", data=minimal_stream()),
    )
    operator = OperatorState(
        operator_id=operator_id_of_uid("u"),
        parallelism=1,
        max_parallelism=128,
        subtask_states=(SubtaskState(subtask_index=0, managed_keyed_state=handle),),
    )
    return Metadata(version=3, checkpoint_id=1, operator_states=(operator,))


def metadata_files(corpus: Path) -> list[Path]:
    return [
        path
        for folder in ("known", "savepoints", "sql-restore")
        for path in (corpus / folder).rglob("_metadata")
    ]


@pytest.mark.corpus
def test_what_flink_wrote_is_written_back_byte_for_byte(corpus: Path) -> None:
    versions: Counter[int] = Counter()
    for path in metadata_files(corpus):
        data = path.read_bytes()
        found = read_metadata(data, str(path))
        assert write_metadata(found) == data, path
        versions[found.version] += 1
    assert set(versions) == {2, 3, 4, 5, 6}
    assert versions.total() >= 358


def test_the_smallest_savepoint_of_the_spec() -> None:
    data = write_metadata(minimal())
    assert len(data) == 1507
    assert (
        hashlib.sha256(data).hexdigest() == "6443039b12f790e1a091e5100b22ad1375f7688e0c6e3bb5ffa95771cdb1d856"
    )
    assert read_metadata(data) == minimal()


@QUICK
@given(metadata())
def test_everything_that_can_be_said_survives(value: Metadata) -> None:
    assert read_metadata(write_metadata(value)) == value


# Layouts without a sample: the bytes are put together from the tables of spec sections 2.2 to 2.8

OPERATOR_HEAD = bytes(range(16)) + struct.pack(">ii", 1, 128)
ONE_FILE = b"\x02" + struct.pack(">q", 9) + utf("file:/a")
A_FILE = FileStateHandle(state_size=9, file_path="file:/a")


def envelope(version: int, operators: bytes, properties: bytes = b"", masters: bytes = bytes(4)) -> bytes:
    return struct.pack(">Iiq", 0x4960672D, version, 5) + masters + operators + properties


def only_subtask(version: int, subtask: bytes) -> SubtaskState:
    """The subtask of a file of ``version`` with one operator that has one subtask of index 0."""
    relic = struct.pack(">i", 1) if version == 2 else b"\0"
    names = bytes(4) if version >= 5 else b""
    body = struct.pack(">i", 1) + names + OPERATOR_HEAD + relic + struct.pack(">ii", 1, 0) + subtask
    data = envelope(version, body, NULL_PROPERTIES if version >= 4 else b"")
    found = read_metadata(data)
    assert write_metadata(found) == data
    return found.operator_states[0].subtask_states[0]


def test_version_2_has_a_duration_and_no_channel_state() -> None:
    subtask = only_subtask(2, struct.pack(">qi", -1, 0) + bytes(8) + b"\0\0")
    assert subtask == SubtaskState(subtask_index=0)


def test_version_2_with_state_of_flink_1_1_is_refused() -> None:
    with pytest.raises(FormatError, match="legacy states"):
        only_subtask(2, struct.pack(">qi", -1, 1) + bytes(10))


@pytest.mark.parametrize("version", [3, 4, 5])
def test_channel_state_up_to_version_5_has_no_type(version: int) -> None:
    channel = struct.pack(">iiiiqq", 0, 1, 2, 1, 77, 8) + ONE_FILE
    subtask = only_subtask(version, bytes(10) + struct.pack(">i", 1) + channel + bytes(4))
    assert subtask.input_channel_state == (
        InputChannelStateHandle(
            subtask_index=0, gate_idx=1, input_channel_idx=2, offsets=(77,), size=8, stream=A_FILE
        ),
    )


def test_channel_state_of_version_6_has_a_type_and_may_be_merged() -> None:
    merged = b"\x03" + struct.pack(">iq", 4, 8) + ONE_FILE + struct.pack(">i", 2) + b"ab"
    subtask = only_subtask(6, bytes(10) + struct.pack(">i", 1) + merged + bytes(4))
    assert subtask.input_channel_state == (
        MergedInputChannelStateHandle(
            subtask_index=4, size=8, stream=A_FILE, serialized_channel_offsets=b"ab"
        ),
    )


@pytest.mark.parametrize(("bytes_", "expected"), [(b"\0", None), (b"\1" + struct.pack(">q", 3), 3)])
def test_version_7_refers_to_another_checkpoint(bytes_: bytes, expected: int | None) -> None:
    assert only_subtask(7, bytes(18) + bytes_).ref_checkpoint_id == expected


def test_a_negative_index_is_a_finished_subtask() -> None:
    body = struct.pack(">i", 1) + OPERATOR_HEAD + b"\0" + struct.pack(">ii", 1, -3)
    found = read_metadata(envelope(3, body))
    assert found.operator_states[0].subtask_states == (SubtaskState(subtask_index=2, finished=True),)


def test_a_subtask_count_of_minus_one_is_a_finished_operator() -> None:
    body = struct.pack(">i", 1) + OPERATOR_HEAD + b"\0" + struct.pack(">i", -1)
    found = read_metadata(envelope(3, body))
    assert found.operator_states[0].fully_finished


def test_a_finished_operator_has_no_coordinator() -> None:
    coordinator = b"\1" + utf("c") + bytes(4)
    body = struct.pack(">i", 1) + OPERATOR_HEAD + coordinator + struct.pack(">i", -1)
    with pytest.raises(FormatError, match="fully finished operator with coordinator"):
        read_metadata(envelope(3, body))


def test_a_coordinator_lies_in_the_file_itself() -> None:
    body = struct.pack(">i", 1) + OPERATOR_HEAD + ONE_FILE + bytes(4)
    with pytest.raises(FormatError, match="coordinator state of unknown type 2"):
        read_metadata(envelope(3, body))


def test_a_master_state_is_a_block_of_known_length() -> None:
    block = struct.pack(">i", 1) + utf("hook") + struct.pack(">i", 2) + b"xy"
    masters = struct.pack(">iIi", 1, 0xC96B1696, len(block)) + block
    found = read_metadata(envelope(3, bytes(4), masters=masters))
    assert found.master_states == (MasterState(version=1, name="hook", payload=b"xy"),)
    with pytest.raises(FormatError, match="master state of 13 bytes holds 16"):
        read_metadata(envelope(3, bytes(4), masters=struct.pack(">iIi", 1, 0xC96B1696, 13) + block))


def test_version_5_names_operators_and_an_empty_text_is_no_name() -> None:
    body = struct.pack(">i", 1) + utf("KeyedProcess") + utf("") + OPERATOR_HEAD + b"\0" + bytes(4)
    operator = read_metadata(envelope(5, body, NULL_PROPERTIES)).operator_states[0]
    assert (operator.operator_name, operator.operator_uid) == ("KeyedProcess", None)
    assert operator.uid_hash == "000102030405060708090a0b0c0d0e0f"


# Refused


def test_version_1_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"version 1, of Flink 1\.1 and 1\.2"):
        read_metadata(struct.pack(">Ii", 0x4960672D, 1))


@pytest.mark.parametrize("version", [0, 8, -1])
def test_unknown_versions_are_refused(version: int) -> None:
    with pytest.raises(UnsupportedVersionError, match=f"metadata version {version} "):
        read_metadata(struct.pack(">Ii", 0x4960672D, version))


@pytest.mark.parametrize("data", [b"", b"I`g", b"PAR1" + bytes(40)])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(FormatError, match="not a _metadata file") as caught:
        read_metadata(data, "x/_metadata")
    assert caught.value.where.file == "x/_metadata"


def test_an_error_says_operator_subtask_and_offset() -> None:
    data = write_metadata(minimal())
    with pytest.raises(FormatError) as caught:
        read_metadata(data[:200], "sp/_metadata")
    where = caught.value.where
    assert (where.file, where.operator, where.subtask) == ("sp/_metadata", operator_id_of_uid("u").hex(), 0)
    assert where.offset == 74


def test_bytes_behind_the_end_are_refused() -> None:
    with pytest.raises(FormatError, match="1 bytes follow"):
        read_metadata(write_metadata(minimal()) + b"\0")


@QUICK
@given(metadata(), st.data())
def test_damage_gives_a_value_or_an_error_of_ours(value: Metadata, data: st.DataObject) -> None:
    raw = bytearray(write_metadata(value))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]))
    raw = raw[: data.draw(st.integers(0, len(raw)))]
    try:
        found = read_metadata(bytes(raw))
    except StateliftError:
        return
    assert write_metadata(found) == raw


@QUICK
@given(metadata(), st.data())
def test_a_file_cut_before_its_properties_is_refused(value: Metadata, data: st.DataObject) -> None:
    raw = write_metadata(value)
    behind = len(value.properties) and len(NULL_PROPERTIES) - 4
    with pytest.raises(StateliftError):
        read_metadata(raw[: data.draw(st.integers(0, len(raw) - behind - 1))])


# Writing for another version


def test_a_savepoint_for_older_flinks_loses_names_and_properties_only() -> None:
    new = at_version(minimal(), 6)
    assert new.properties == NULL_PROPERTIES
    named = replace(new, operator_states=(replace(new.operator_states[0], operator_uid="u"),))
    assert read_metadata(write_metadata(named)).operator_states[0].operator_uid == "u"
    assert at_version(named, 3) == minimal()


def test_what_a_version_has_no_place_for_is_not_dropped_silently() -> None:
    named = replace(minimal(), operator_states=(replace(minimal().operator_states[0], operator_uid="u"),))
    with pytest.raises(FormatError, match=r"OperatorState\.operator_uid has no place"):
        write_metadata(named)


def test_a_handle_without_what_its_tag_wants_is_not_written() -> None:
    handle = KeyGroupsStateHandle(tag=12, key_group_range=KeyGroupRange(0, 1), offsets=(0,), stream=A_FILE)
    subtask = SubtaskState(subtask_index=0, raw_keyed_state=handle)
    operator = replace(minimal().operator_states[0], subtask_states=(subtask,))
    with pytest.raises(FormatError, match=r"KeyGroupsStateHandle\.state_handle_id is missing"):
        write_metadata(replace(minimal(), operator_states=(operator,)))


# Streams


@QUICK
@given(metadata())
def test_every_stream_is_listed_and_can_be_replaced(value: Metadata) -> None:
    assert map_streams(value, lambda use: use.handle) == value
    uses = list(streams(value))
    replaced = map_streams(value, lambda use: ByteStreamStateHandle(handle_name=str(use), data=b""))
    assert [use.handle.handle_name for use in streams(replaced)] == [str(use) for use in uses]  # type: ignore[union-attr]


def test_a_stream_says_where_it_belongs() -> None:
    (use,) = streams(minimal())
    assert str(use) == "18ee88c14cc4b81e796fad3220cd8db9 / subtask 0 / managed keyed"


# Properties


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("1.16.3/scenario-hashmap-canonical", ("savepoint", "CANONICAL")),
        ("2.0.2/scenario-rocksdb-native", ("savepoint", "NATIVE")),
        ("1.20.5/timers-changelog-rocksdb-chk", ("checkpoint", None)),
    ],
)
def test_the_kind_of_snapshot_is_told_from_its_properties(
    corpus: Path, entry: str, expected: tuple[str, str | None]
) -> None:
    (path,) = (corpus / "known" / entry).rglob("_metadata")
    found = snapshot_type(read_metadata(path.read_bytes()))
    assert (found.kind, found.format_type) == expected


def test_properties_of_null_tell_nothing() -> None:
    assert snapshot_type(at_version(minimal(), 4)) == SnapshotType()
