"""The layout of every handle, by tag (spec sections 2.5 to 2.8; Flink's MetadataV2V3SerializerBase)."""

from __future__ import annotations

from typing import Any

from .handles import (
    ByteStreamStateHandle,
    ChangelogStateBackendHandle,
    ChangelogStateHandleStreamImpl,
    CheckpointedStateScope,
    DistributionMode,
    EmptySegmentFileStateHandle,
    FileMergingOperatorStreamStateHandle,
    FileStateHandle,
    HandleAndLocalPath,
    HandleAndOffset,
    IncrementalRemoteKeyedStateHandle,
    InMemoryChangelogStateHandle,
    InputChannelStateHandle,
    KeyGroupsSavepointStateHandle,
    KeyGroupsStateHandle,
    MergedInputChannelStateHandle,
    MergedResultSubpartitionStateHandle,
    OperatorStreamStateHandle,
    PartitionOffsets,
    RelativeFileStateHandle,
    ResultSubpartitionStateHandle,
    SegmentFileStateHandle,
    StateChange,
)
from .layout import (
    BA,
    BOOL,
    I4,
    I8,
    I8_ARRAY,
    KEY_GROUP_RANGE,
    RANGE_OFFSETS,
    U1,
    UTF,
    Codec,
    array,
    const,
    enum_,
    or_none,
    record,
    tagged,
)

_BYTE_STREAM = {ByteStreamStateHandle.tag: record(ByteStreamStateHandle, {"handle_name": UTF, "data": BA})}
_SEGMENTS: dict[int, Codec[Any]] = {
    SegmentFileStateHandle.tag: record(
        SegmentFileStateHandle,
        {
            "start_pos": I8,
            "state_size": I8,
            "scope": enum_(CheckpointedStateScope, I4),
            "file_path": UTF,
            "logical_file_id": UTF,
        },
    ),
    EmptySegmentFileStateHandle.tag: record(EmptySegmentFileStateHandle, {}),
}
_FLAT_STREAMS: dict[int, Codec[Any]] = {
    **_BYTE_STREAM,
    FileStateHandle.tag: record(FileStateHandle, {"state_size": I8, "file_path": UTF}),
    RelativeFileStateHandle.tag: record(RelativeFileStateHandle, {"relative_path": UTF, "state_size": I8}),
    **_SEGMENTS,
}


def _key_groups(tag: int, stream: Codec[Any], **more: Codec[Any]) -> Codec[KeyGroupsStateHandle]:
    fields: dict[str, Codec[Any]] = {
        "tag": const(tag),
        "key_group_range offsets": RANGE_OFFSETS,
        "stream": stream,
        **more,
    }
    return record(KeyGroupsStateHandle, fields)


COORDINATOR_STREAM = or_none(tagged("coordinator state", _BYTE_STREAM))
STREAM = tagged("stream handle", {**_FLAT_STREAMS, 3: _key_groups(3, tagged("stream handle", _FLAT_STREAMS))})


# Keyed state

_FILES = array(record(HandleAndLocalPath, {"local_path": UTF, "handle": STREAM}))


def _incremental(tag: int, size: dict[str, Codec[Any]], **more: Codec[Any]) -> Codec[Any]:
    return record(
        IncrementalRemoteKeyedStateHandle,
        {
            "tag": const(tag),
            "checkpoint_id": I8,
            "backend_identifier": UTF,
            "key_group_range": KEY_GROUP_RANGE,
            **size,
            "meta_state_handle": STREAM,
            "shared_state": _FILES,
            "private_state": _FILES,
            **more,
        },
    )


def _changelog_stream(tag: int, **more: Codec[Any]) -> Codec[Any]:
    return record(
        ChangelogStateHandleStreamImpl,
        {
            "tag": const(tag),
            "key_group_range": KEY_GROUP_RANGE,
            "handles_and_offsets": array(record(HandleAndOffset, {"offset": I8, "stream": STREAM})),
            "size": I8,
            "incremental_size": I8,
            "state_handle_id": UTF,
            **more,
        },
    )


_INNER_KEYED: dict[int, Codec[Any]] = {
    3: _key_groups(3, STREAM),
    5: _incremental(5, {}),
    7: record(KeyGroupsSavepointStateHandle, {"key_group_range offsets": RANGE_OFFSETS, "stream": STREAM}),
    9: record(
        InMemoryChangelogStateHandle,
        {
            "key_group_range": KEY_GROUP_RANGE,
            "from_": I8,
            "to": I8,
            "changes": array(record(StateChange, {"key_group": I4, "change": BA})),
            "state_handle_id": UTF,
        },
    ),
    10: _changelog_stream(10),
    11: _incremental(11, {"persisted_size_of_this_checkpoint": I8}, state_handle_id=UTF),
    12: _key_groups(12, STREAM, state_handle_id=UTF),
    13: _changelog_stream(13, storage_identifier=UTF),
}
_INNER_KEYED_HANDLES = array(tagged("keyed state handle of a changelog", _INNER_KEYED))


def _changelog_backend(tag: int, checkpoint: dict[str, Codec[Any]]) -> Codec[Any]:
    return record(
        ChangelogStateBackendHandle,
        {
            "tag": const(tag),
            "key_group_range": KEY_GROUP_RANGE,
            "persisted_size_of_this_checkpoint": I8,
            "materialized": _INNER_KEYED_HANDLES,
            "non_materialized": _INNER_KEYED_HANDLES,
            "materialization_id": I8,
            **checkpoint,
            "state_handle_id": UTF,
        },
    )


KEYED = or_none(
    tagged(
        "keyed state handle",
        {**_INNER_KEYED, 8: _changelog_backend(8, {}), 14: _changelog_backend(14, {"checkpoint_id": I8})},
    )
)


# Operator state

_PARTITIONS = array(
    record(
        PartitionOffsets,
        {"state_name": UTF, "distribution_mode": enum_(DistributionMode, U1), "offsets": I8_ARRAY},
    )
)
OPERATOR = tagged(
    "operator state handle",
    {
        4: record(
            OperatorStreamStateHandle, {"state_name_to_partition_offsets": _PARTITIONS, "stream": STREAM}
        ),
        17: record(
            FileMergingOperatorStreamStateHandle,
            {
                "state_name_to_partition_offsets": _PARTITIONS,
                "task_owned_dir": UTF,
                "shared_dir": UTF,
                "is_empty": BOOL,
                "stream": tagged("stream handle of merged operator state", _SEGMENTS),
            },
        ),
    },
)


# Channel state: ChannelStateHandleSerializerV1 without, V2 with a type byte

_PLACE: dict[str, Codec[Any]] = {"offsets": I8_ARRAY, "size": I8, "stream": STREAM}
_MERGED: dict[str, Codec[Any]] = {
    "subtask_index": I4,
    "size": I8,
    "stream": STREAM,
    "serialized_channel_offsets": BA,
}
INPUT_CHANNEL: Codec[Any] = record(
    InputChannelStateHandle, {"subtask_index": I4, "gate_idx": I4, "input_channel_idx": I4, **_PLACE}
)
RESULT_SUBPARTITION: Codec[Any] = record(
    ResultSubpartitionStateHandle,
    {"subtask_index": I4, "partition_idx": I4, "sub_partition_idx": I4, **_PLACE},
)
TYPED_INPUT = tagged(
    "input channel handle",
    {1: INPUT_CHANNEL, 3: record(MergedInputChannelStateHandle, _MERGED)},
    attribute="type",
)
TYPED_OUTPUT = tagged(
    "result subpartition handle",
    {2: RESULT_SUBPARTITION, 4: record(MergedResultSubpartitionStateHandle, _MERGED)},
    attribute="type",
)
