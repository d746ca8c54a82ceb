"""Every stream a snapshot refers to, with its place; and the same snapshot with other streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar, cast

from .handles import (
    ByteStreamStateHandle,
    ChangelogStateBackendHandle,
    ChangelogStateHandleStreamImpl,
    FlatStreamStateHandle,
    IncrementalRemoteKeyedStateHandle,
    InMemoryChangelogStateHandle,
    InnerKeyedStateHandle,
    KeyedStateHandle,
    KeyGroupsSavepointStateHandle,
    KeyGroupsStateHandle,
    StreamStateHandle,
)
from .model import Metadata, OperatorState, SubtaskState


class StreamKind(StrEnum):
    """What of an operator or subtask a stream holds."""

    COORDINATOR = "coordinator"
    MANAGED_OPERATOR = "managed operator"
    RAW_OPERATOR = "raw operator"
    MANAGED_KEYED = "managed keyed"
    RAW_KEYED = "raw keyed"
    INPUT_CHANNEL = "input channel"
    RESULT_SUBPARTITION = "result subpartition"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamUse:
    """One stream at one place.

    ``name`` is the file's name in a RocksDB directory, ``meta`` for its header, ``changes N`` for the Nth
    change set of a changelog, else ``None``.
    """

    operator: OperatorState
    subtask_index: int | None
    kind: StreamKind
    name: str | None = None
    handle: FlatStreamStateHandle

    def __str__(self) -> str:
        operator = self.operator.operator_uid or self.operator.uid_hash
        subtask = None if self.subtask_index is None else f"subtask {self.subtask_index}"
        return " / ".join(part for part in (operator, subtask, self.kind, self.name) if part)


Replace = Callable[[StreamUse], StreamStateHandle]
H = TypeVar("H")


def streams(metadata: Metadata) -> Iterator[StreamUse]:
    """Every stream in the order of the file; one that stands at several places comes several times."""
    for operator in metadata.operator_states:
        yield from streams_of(operator)


def streams_of(operator: OperatorState) -> list[StreamUse]:
    """The streams of one operator."""
    found: list[StreamUse] = []

    def note(use: StreamUse) -> StreamStateHandle:
        found.append(use)
        return use.handle

    _map_operator(operator, note)
    return found


def map_streams(metadata: Metadata, f: Replace) -> Metadata:
    """The same metadata with ``f(use)`` in the place of every stream handle."""
    operators = tuple(_map_operator(operator, f) for operator in metadata.operator_states)
    return replace(metadata, operator_states=operators)


@dataclass(frozen=True, slots=True)
class _Place:
    """Replaces the streams found at one place of an operator."""

    operator: OperatorState
    subtask_index: int | None
    kind: StreamKind
    f: Replace

    def stream(self, handle: StreamStateHandle, name: str | None = None) -> StreamStateHandle:
        if isinstance(handle, KeyGroupsStateHandle):
            return replace(handle, stream=self.stream(handle.stream, name))
        return self.f(
            StreamUse(
                operator=self.operator,
                subtask_index=self.subtask_index,
                kind=self.kind,
                name=name,
                handle=handle,
            )
        )

    def held(self, handle: H) -> H:
        """A handle whose one stream is its field ``stream``."""
        holder = cast(KeyGroupsStateHandle, handle)
        return cast(H, replace(holder, stream=self.stream(holder.stream)))

    def keyed(self, handle: KeyedStateHandle) -> KeyedStateHandle:
        if not isinstance(handle, ChangelogStateBackendHandle):
            return self.inner(handle)
        return replace(
            handle,
            materialized=tuple(self.inner(one) for one in handle.materialized),
            non_materialized=tuple(self.inner(one) for one in handle.non_materialized),
        )

    def inner(self, handle: InnerKeyedStateHandle) -> InnerKeyedStateHandle:
        match handle:
            case KeyGroupsStateHandle() | KeyGroupsSavepointStateHandle():
                return self.held(handle)
            case IncrementalRemoteKeyedStateHandle():
                return self.incremental(handle)
            case ChangelogStateHandleStreamImpl(handles_and_offsets=sets):
                changes = (
                    replace(one, stream=self.stream(one.stream, f"changes {i}")) for i, one in enumerate(sets)
                )
                return replace(handle, handles_and_offsets=tuple(changes))
            case InMemoryChangelogStateHandle():
                return handle

    def incremental(self, handle: IncrementalRemoteKeyedStateHandle) -> IncrementalRemoteKeyedStateHandle:
        shared, private = (
            tuple(replace(file, handle=self.stream(file.handle, file.local_path)) for file in files)
            for files in (handle.shared_state, handle.private_state)
        )
        meta = self.stream(handle.meta_state_handle, "meta")
        return replace(handle, meta_state_handle=meta, shared_state=shared, private_state=private)


def _map_operator(operator: OperatorState, f: Replace) -> OperatorState:
    coordinator = operator.coordinator_state
    if coordinator is not None:
        place = _Place(operator, None, StreamKind.COORDINATOR, f)
        coordinator = cast(ByteStreamStateHandle, place.stream(coordinator))
    subtasks = tuple(_map_subtask(operator, subtask, f) for subtask in operator.subtask_states)
    return replace(operator, coordinator_state=coordinator, subtask_states=subtasks)


def _map_subtask(operator: OperatorState, subtask: SubtaskState, f: Replace) -> SubtaskState:
    def place(kind: StreamKind) -> _Place:
        return _Place(operator, subtask.subtask_index, kind, f)

    def keyed(handle: KeyedStateHandle | None, kind: StreamKind) -> KeyedStateHandle | None:
        return handle and place(kind).keyed(handle)

    def held(handle: H, kind: StreamKind) -> H:
        return handle and place(kind).held(handle)

    return replace(
        subtask,
        managed_operator_state=held(subtask.managed_operator_state, StreamKind.MANAGED_OPERATOR),
        raw_operator_state=held(subtask.raw_operator_state, StreamKind.RAW_OPERATOR),
        managed_keyed_state=keyed(subtask.managed_keyed_state, StreamKind.MANAGED_KEYED),
        raw_keyed_state=keyed(subtask.raw_keyed_state, StreamKind.RAW_KEYED),
        input_channel_state=tuple(held(h, StreamKind.INPUT_CHANNEL) for h in subtask.input_channel_state),
        result_subpartition_state=tuple(
            held(h, StreamKind.RESULT_SUBPARTITION) for h in subtask.result_subpartition_state
        ),
    )
