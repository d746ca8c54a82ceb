"""The records that an unaligned checkpoint caught between operators: how much of them a snapshot holds."""

from __future__ import annotations

from dataclasses import dataclass

from ..io.metadata import OperatorState


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """Channel state of one operator: handles at its inputs and at its outputs, and ``bytes`` of buffers in all.

    Up to metadata version 5 a handle is one channel or subpartition (InputChannelStateHandle,
    ResultSubpartitionStateHandle), from 6 on it may be all of a subtask's. The records in the buffers are not read:
    they are not in any state yet.
    """

    inputs: int
    outputs: int
    bytes: int

    def __bool__(self) -> bool:
        return bool(self.inputs or self.outputs)

    def __str__(self) -> str:
        return f"{self.inputs} input and {self.outputs} output channels, {self.bytes:,} bytes"


def in_flight(operator: OperatorState) -> InFlight:
    """What ``_metadata`` says of the records on their way to and from an operator."""
    inputs = [handle for subtask in operator.subtask_states for handle in subtask.input_channel_state]
    outputs = [handle for subtask in operator.subtask_states for handle in subtask.result_subpartition_state]
    size = sum(handle.size for handle in inputs) + sum(handle.size for handle in outputs)
    return InFlight(inputs=len(inputs), outputs=len(outputs), bytes=size)
