"""State handles: where the bytes of a state lie (spec sections 2.5 to 2.8).

Class and field names are Flink's. ``tag`` is the byte in front of a handle; where Flink has an old and a new
layout of one class, both share the dataclass, ``tag`` is a field, and what the old one lacks is ``None``.
Sizes, offsets and positions are in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, TypeAlias

MAX_KEY_GROUPS = 1 << 15
"""KeyGroupRangeAssignment.UPPER_BOUND_MAX_PARALLELISM."""


class DistributionMode(IntEnum):
    """OperatorStateHandle.Mode, by ordinal."""

    SPLIT_DISTRIBUTE = 0
    UNION = 1
    BROADCAST = 2


class CheckpointedStateScope(IntEnum):
    """Whether a file belongs to one checkpoint or to several."""

    EXCLUSIVE = 0
    SHARED = 1


@dataclass(frozen=True, slots=True)
class KeyGroupRange:
    """``number`` key groups from ``start``; iterates over them, and ``kg in range`` asks for one."""

    start: int
    number: int

    @property
    def end(self) -> int:
        """The last key group, inclusive; ``start - 1`` of an empty range."""
        return self.start + self.number - 1

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.start, self.start + self.number))

    def __len__(self) -> int:
        return self.number

    def __contains__(self, key_group: object) -> bool:
        return isinstance(key_group, int) and self.start <= key_group <= self.end

    def __str__(self) -> str:
        return f"[{self.start}, {self.end}]"


# Streams


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteStreamStateHandle:
    """State held in ``_metadata`` itself; to Flink two handles of one name are the same handle."""

    tag: ClassVar[int] = 1
    handle_name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStateHandle:
    """A whole file by its absolute path, a URI; ``state_size`` -1 is unknown."""

    tag: ClassVar[int] = 2
    state_size: int
    file_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeFileStateHandle:
    """A whole file by its path from the directory of ``_metadata``."""

    tag: ClassVar[int] = 6
    relative_path: str
    state_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentFileStateHandle:
    """``state_size`` bytes from ``start_pos`` of a merged file; the state's offsets count from there."""

    tag: ClassVar[int] = 15
    start_pos: int
    state_size: int
    scope: CheckpointedStateScope
    file_path: str
    logical_file_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptySegmentFileStateHandle:
    """File merging's handle of no bytes."""

    tag: ClassVar[int] = 16


# Keyed state


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyGroupsStateHandle:
    """A stream with an offset for each key group: hashmap native, raw keyed, or canonical up to Flink 1.15.

    Tag 3 is the layout up to 1.14 and has no id, tag 12 the later one. A tag 3 may also stand as a stream.
    """

    tag: int
    key_group_range: KeyGroupRange
    offsets: tuple[int, ...]
    stream: StreamStateHandle
    state_handle_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyGroupsSavepointStateHandle:
    """A canonical stream; offset 0 is a key group without entries."""

    tag: ClassVar[int] = 7
    key_group_range: KeyGroupRange
    offsets: tuple[int, ...]
    stream: StreamStateHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class HandleAndLocalPath:
    """A file of a RocksDB or ForSt checkpoint under the name it has in the database's directory."""

    local_path: str
    handle: StreamStateHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class IncrementalRemoteKeyedStateHandle:
    """A RocksDB or ForSt checkpoint: ``meta_state_handle`` holds the header, the lists the database.

    Tag 5 is the layout up to 1.14, without size and id; tag 11 the later one.
    """

    tag: int
    checkpoint_id: int
    backend_identifier: str
    key_group_range: KeyGroupRange
    persisted_size_of_this_checkpoint: int | None = None
    meta_state_handle: StreamStateHandle
    shared_state: tuple[HandleAndLocalPath, ...]
    private_state: tuple[HandleAndLocalPath, ...]
    state_handle_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangelogStateBackendHandle:
    """Handles of the backend under the changelog, and the changes since, to be applied in order.

    Tag 8 is the layout of 1.14 and 1.15, without checkpoint id; tag 14 the later one.
    """

    tag: int
    key_group_range: KeyGroupRange
    persisted_size_of_this_checkpoint: int
    materialized: tuple[InnerKeyedStateHandle, ...]
    non_materialized: tuple[InnerKeyedStateHandle, ...]
    materialization_id: int
    checkpoint_id: int | None = None
    state_handle_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    """One change of a key group; -1 is a change of meta information."""

    key_group: int
    change: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class InMemoryChangelogStateHandle:
    """Changes held in ``_metadata`` itself, of the sequence numbers ``from_`` to ``to``."""

    tag: ClassVar[int] = 9
    key_group_range: KeyGroupRange
    from_: int
    to: int
    changes: tuple[StateChange, ...]
    state_handle_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandleAndOffset:
    """One change set: ``offset`` counts decompressed bytes behind the file's first one (section 12)."""

    offset: int
    stream: StreamStateHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangelogStateHandleStreamImpl:
    """Changes in files. Tag 10 is the layout of 1.14 and 1.15; tag 13 the later one, naming the storage."""

    tag: int
    key_group_range: KeyGroupRange
    handles_and_offsets: tuple[HandleAndOffset, ...]
    size: int
    incremental_size: int
    state_handle_id: str
    storage_identifier: str | None = None


# Operator state


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionOffsets:
    """OperatorStateHandle.StateMetaInfo: where the elements of one state start in the stream."""

    state_name: str
    distribution_mode: DistributionMode
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorStreamStateHandle:
    """The operator state of one subtask."""

    tag: ClassVar[int] = 4
    state_name_to_partition_offsets: tuple[PartitionOffsets, ...]
    stream: StreamStateHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMergingOperatorStreamStateHandle:
    """The operator state of one subtask in a merged file, with the directories such files lie in."""

    tag: ClassVar[int] = 17
    state_name_to_partition_offsets: tuple[PartitionOffsets, ...]
    task_owned_dir: str
    shared_dir: str
    is_empty: bool
    stream: StreamStateHandle


# Channel state of unaligned checkpoints; the type byte is there from metadata version 6 on


@dataclass(frozen=True, slots=True, kw_only=True)
class InputChannelStateHandle:
    """Buffers of one input channel, each at an offset of the stream."""

    type: ClassVar[int] = 1
    subtask_index: int
    gate_idx: int
    input_channel_idx: int
    offsets: tuple[int, ...]
    size: int
    stream: StreamStateHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSubpartitionStateHandle:
    """Buffers of one result subpartition, each at an offset of the stream."""

    type: ClassVar[int] = 2
    subtask_index: int
    partition_idx: int
    sub_partition_idx: int
    offsets: tuple[int, ...]
    size: int
    stream: StreamStateHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedInputChannelStateHandle:
    """The buffers of all input channels of a subtask; the offsets are left as Flink serialized them."""

    type: ClassVar[int] = 3
    subtask_index: int
    size: int
    stream: StreamStateHandle
    serialized_channel_offsets: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedResultSubpartitionStateHandle:
    """The buffers of all result subpartitions of a subtask; the offsets are left as Flink serialized them."""

    type: ClassVar[int] = 4
    subtask_index: int
    size: int
    stream: StreamStateHandle
    serialized_channel_offsets: bytes


FlatStreamStateHandle: TypeAlias = (
    ByteStreamStateHandle
    | FileStateHandle
    | RelativeFileStateHandle
    | SegmentFileStateHandle
    | EmptySegmentFileStateHandle
)
StreamStateHandle: TypeAlias = FlatStreamStateHandle | KeyGroupsStateHandle
InnerKeyedStateHandle: TypeAlias = (
    KeyGroupsStateHandle
    | KeyGroupsSavepointStateHandle
    | IncrementalRemoteKeyedStateHandle
    | InMemoryChangelogStateHandle
    | ChangelogStateHandleStreamImpl
)
KeyedStateHandle: TypeAlias = InnerKeyedStateHandle | ChangelogStateBackendHandle
OperatorStateHandle: TypeAlias = OperatorStreamStateHandle | FileMergingOperatorStreamStateHandle
InputStateHandle: TypeAlias = InputChannelStateHandle | MergedInputChannelStateHandle
OutputStateHandle: TypeAlias = ResultSubpartitionStateHandle | MergedResultSubpartitionStateHandle
