"""What a ``_metadata`` file says: a checkpoint, its operators and their subtasks (spec sections 2.1 to 2.4).

Fields that only some versions of the format hold have a default, which is what the other versions mean.
"""

from __future__ import annotations

from dataclasses import dataclass

from .handles import (
    ByteStreamStateHandle,
    InputStateHandle,
    KeyedStateHandle,
    OperatorStateHandle,
    OutputStateHandle,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterState:
    """State of a MasterTriggerRestoreHook."""

    version: int
    name: str
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskState:
    """OperatorSubtaskState: at most one handle of each kind, or ``finished`` and none.

    ``duration`` is a relic of version 2; ``ref_checkpoint_id`` (version 7) the checkpoint a regional
    checkpoint took this subtask's state from.
    """

    subtask_index: int
    finished: bool = False
    duration: int = -1
    managed_operator_state: OperatorStateHandle | None = None
    raw_operator_state: OperatorStateHandle | None = None
    managed_keyed_state: KeyedStateHandle | None = None
    raw_keyed_state: KeyedStateHandle | None = None
    input_channel_state: tuple[InputStateHandle, ...] = ()
    result_subpartition_state: tuple[OutputStateHandle, ...] = ()
    ref_checkpoint_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorState:
    """One operator; subtasks stand in the file's order, and one that is missing has no state.

    ``operator_name`` and ``operator_uid`` are there from version 5 on, where the user set them;
    ``chain_length`` is a relic of version 2.
    """

    operator_name: str | None = None
    operator_uid: str | None = None
    operator_id: bytes
    parallelism: int
    max_parallelism: int
    chain_length: int = 1
    coordinator_state: ByteStreamStateHandle | None = None
    subtask_states: tuple[SubtaskState, ...] = ()
    fully_finished: bool = False

    @property
    def uid_hash(self) -> str:
        """The operator id as Flink's logs show it: 32 hex digits."""
        return self.operator_id.hex()


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """CheckpointMetadata with the version it is written in.

    ``properties`` is the rest of the file, a Java object stream, never deserialized; from version 4 on.
    """

    version: int
    checkpoint_id: int
    master_states: tuple[MasterState, ...] = ()
    operator_states: tuple[OperatorState, ...] = ()
    properties: bytes = b""
