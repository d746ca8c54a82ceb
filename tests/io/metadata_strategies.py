"""Hypothesis strategies for everything that a ``_metadata`` file can say."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from statelift.io.metadata import (
    NULL_PROPERTIES,
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
    KeyGroupRange,
    KeyGroupsSavepointStateHandle,
    KeyGroupsStateHandle,
    MasterState,
    MergedInputChannelStateHandle,
    MergedResultSubpartitionStateHandle,
    Metadata,
    OperatorState,
    OperatorStreamStateHandle,
    PartitionOffsets,
    RelativeFileStateHandle,
    ResultSubpartitionStateHandle,
    SegmentFileStateHandle,
    StateChange,
    SubtaskState,
)

i4 = st.integers(-(2**31), 2**31 - 1)
i8 = st.integers(-(2**63), 2**63 - 1)
text = st.text(st.characters(codec="utf-16-be"), max_size=8)
ranges = st.builds(KeyGroupRange, st.integers(0, 20), st.integers(0, 4))
offsets = st.lists(i8, max_size=3).map(tuple)


def up_to(strategy: st.SearchStrategy[Any], n: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=n).map(tuple)


byte_streams = st.builds(ByteStreamStateHandle, handle_name=text, data=st.binary(max_size=8))
segments = st.builds(
    SegmentFileStateHandle,
    start_pos=i8,
    state_size=i8,
    scope=st.sampled_from(CheckpointedStateScope),
    file_path=text,
    logical_file_id=text,
)
empty_segments = st.just(EmptySegmentFileStateHandle())
flat_streams = st.one_of(
    byte_streams,
    st.builds(FileStateHandle, state_size=i8, file_path=text),
    st.builds(RelativeFileStateHandle, relative_path=text, state_size=i8),
    segments,
    empty_segments,
)


@st.composite
def key_groups(draw: Any, cls: Any, stream: st.SearchStrategy[Any], **more: Any) -> Any:
    key_group_range = draw(ranges)
    n = key_group_range.number
    return cls(
        key_group_range=key_group_range,
        offsets=tuple(draw(st.lists(i8, min_size=n, max_size=n))),
        stream=draw(stream),
        **{name: draw(value) for name, value in more.items()},
    )


streams = flat_streams | key_groups(KeyGroupsStateHandle, flat_streams, tag=st.just(3))
files = up_to(st.builds(HandleAndLocalPath, local_path=text, handle=streams))
incremental = {
    "checkpoint_id": i8,
    "backend_identifier": text,
    "key_group_range": ranges,
    "meta_state_handle": streams,
    "shared_state": files,
    "private_state": files,
}
changelog_stream = {
    "key_group_range": ranges,
    "handles_and_offsets": up_to(st.builds(HandleAndOffset, offset=i8, stream=streams)),
    "size": i8,
    "incremental_size": i8,
    "state_handle_id": text,
}
inner_keyed = st.one_of(
    key_groups(KeyGroupsStateHandle, streams, tag=st.just(3)),
    key_groups(KeyGroupsStateHandle, streams, tag=st.just(12), state_handle_id=text),
    key_groups(KeyGroupsSavepointStateHandle, streams),
    st.builds(IncrementalRemoteKeyedStateHandle, tag=st.just(5), **incremental),
    st.builds(
        IncrementalRemoteKeyedStateHandle,
        tag=st.just(11),
        persisted_size_of_this_checkpoint=i8,
        state_handle_id=text,
        **incremental,
    ),
    st.builds(
        InMemoryChangelogStateHandle,
        key_group_range=ranges,
        from_=i8,
        to=i8,
        changes=up_to(st.builds(StateChange, key_group=i4, change=st.binary(max_size=4))),
        state_handle_id=text,
    ),
    st.builds(ChangelogStateHandleStreamImpl, tag=st.just(10), **changelog_stream),
    st.builds(ChangelogStateHandleStreamImpl, tag=st.just(13), storage_identifier=text, **changelog_stream),
)
changelog = {
    "key_group_range": ranges,
    "persisted_size_of_this_checkpoint": i8,
    "materialized": up_to(inner_keyed),
    "non_materialized": up_to(inner_keyed),
    "materialization_id": i8,
    "state_handle_id": text,
}
keyed = st.one_of(
    st.none(),
    inner_keyed,
    st.builds(ChangelogStateBackendHandle, tag=st.just(8), **changelog),
    st.builds(ChangelogStateBackendHandle, tag=st.just(14), checkpoint_id=i8, **changelog),
)
partitions = up_to(
    st.builds(
        PartitionOffsets,
        state_name=text,
        distribution_mode=st.sampled_from(DistributionMode),
        offsets=offsets,
    )
)
operator = st.one_of(
    st.none(),
    st.builds(OperatorStreamStateHandle, state_name_to_partition_offsets=partitions, stream=streams),
    st.builds(
        FileMergingOperatorStreamStateHandle,
        state_name_to_partition_offsets=partitions,
        task_owned_dir=text,
        shared_dir=text,
        is_empty=st.booleans(),
        stream=segments | empty_segments,
    ),
)
channel = {"subtask_index": i4, "size": i8, "stream": streams}
merged = {**channel, "serialized_channel_offsets": st.binary(max_size=4)}
inputs = st.builds(InputChannelStateHandle, gate_idx=i4, input_channel_idx=i4, offsets=offsets, **channel)
outputs = st.builds(
    ResultSubpartitionStateHandle, partition_idx=i4, sub_partition_idx=i4, offsets=offsets, **channel
)
typed_inputs = inputs | st.builds(MergedInputChannelStateHandle, **merged)
typed_outputs = outputs | st.builds(MergedResultSubpartitionStateHandle, **merged)


def subtasks(version: int) -> st.SearchStrategy[SubtaskState]:
    index = st.integers(0, 100)
    more: dict[str, Any] = {"duration": i8} if version == 2 else {}
    if version >= 3:
        more["input_channel_state"] = up_to(inputs if version < 6 else typed_inputs)
        more["result_subpartition_state"] = up_to(outputs if version < 6 else typed_outputs)
    if version >= 7:
        more["ref_checkpoint_id"] = st.none() | i8
    running = st.builds(
        SubtaskState,
        subtask_index=index,
        managed_operator_state=operator,
        raw_operator_state=operator,
        managed_keyed_state=keyed,
        raw_keyed_state=keyed,
        **more,
    )
    finished = st.builds(SubtaskState, subtask_index=index, finished=st.just(True))
    return running if version == 2 else running | finished


def operators(version: int) -> st.SearchStrategy[OperatorState]:
    head: dict[str, Any] = {
        "operator_id": st.binary(min_size=16, max_size=16),
        "parallelism": i4,
        "max_parallelism": i4,
    }
    if version == 2:
        return st.builds(OperatorState, chain_length=i4, subtask_states=up_to(subtasks(2)), **head)
    if version >= 5:
        name = st.none() | text.filter(bool)
        head |= {"operator_name": name, "operator_uid": name}
    running = st.builds(
        OperatorState,
        coordinator_state=st.none() | byte_streams,
        subtask_states=up_to(subtasks(version)),
        **head,
    )
    return running | st.builds(OperatorState, fully_finished=st.just(True), **head)


@st.composite
def metadata(draw: Any, versions: st.SearchStrategy[int] = st.integers(2, 7)) -> Metadata:  # noqa: B008
    version = draw(versions)
    return Metadata(
        version=version,
        checkpoint_id=draw(st.integers(0, 2**63 - 1)),
        master_states=draw(
            up_to(st.builds(MasterState, version=i4, name=text, payload=st.binary(max_size=4)))
        ),
        operator_states=draw(up_to(operators(version))),
        properties=NULL_PROPERTIES if version >= 4 else b"",
    )
