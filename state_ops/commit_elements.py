"""Operator state that a plan changes, written at the commit: a stream for each subtask that has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..io.metadata import (
    ByteStreamStateHandle,
    Metadata,
    OperatorState,
    OperatorStateHandle,
    OperatorStreamStateHandle,
    RelativeFileStateHandle,
    SubtaskState,
)
from ..schemas.errors import StateliftError, Where
from .elements import ElementTransform, rewrite
from .job import Job, element_transforms
from .results import StateResult
from .run_shard import base_name
from .snapshot import Operator

#: Flink keeps streams up to this many bytes inside ``_metadata``.
INLINE_BYTES = 20 << 10


def with_new_elements(job: Job, metadata: Metadata) -> tuple[Metadata, dict[tuple[str, str], StateResult]]:
    """The metadata with new handles for what the plan does to operator states, and what was done to each.

    Raises SqlError, EncodeError, FormatError with operator, subtask and state.
    """
    results: dict[tuple[str, str], StateResult] = {}
    by_id = {operator.id: operator for operator in job.snapshot.operators}
    operators = []
    for state in metadata.operator_states:
        plans = job.elements.get(state.uid_hash)
        if plans:
            operator = by_id[state.uid_hash]
            transforms = element_transforms(operator, plans)
            done: dict[str, StateResult] = {}
            state = _operator(job, state, operator, transforms, done)
            for name, transform in transforms.items():
                done.setdefault(name, StateResult()).count(transform.changes)
            results |= {(operator.id, name): result for name, result in done.items()}
        operators.append(state)
    return replace(metadata, operator_states=tuple(operators)), results


def _operator(
    job: Job,
    state: OperatorState,
    operator: Operator,
    transforms: Mapping[str, ElementTransform],
    results: dict[str, StateResult],
) -> OperatorState:
    def subtask(old: SubtaskState) -> SubtaskState:
        backend = operator.operator_backends.get(old.subtask_index)
        if backend is None or old.managed_operator_state is None:
            return old
        try:
            new = rewrite(backend, old.subtask_index, transforms, results)
        except StateliftError as error:
            raise error.at(Where(operator=operator.label, subtask=old.subtask_index)) from None
        name = f"{base_name(job, operator.id, old.subtask_index)}-operator"
        handle: ByteStreamStateHandle | RelativeFileStateHandle
        if len(new.data) <= INLINE_BYTES:
            handle = ByteStreamStateHandle(handle_name=name, data=new.data)
        else:
            job.written.add(job.file(name))
            job.stores.put(job.file(name), new.data)
            handle = RelativeFileStateHandle(relative_path=name, state_size=len(new.data))
        return replace(old, managed_operator_state=_handle(old.managed_operator_state, new.offsets, handle))

    return replace(state, subtask_states=tuple(map(subtask, state.subtask_states)))


def _handle(
    old: OperatorStateHandle,
    offsets: Mapping[str, tuple[int, ...]],
    stream: ByteStreamStateHandle | RelativeFileStateHandle,
) -> OperatorStreamStateHandle:
    parts = tuple(
        replace(part, offsets=offsets.get(part.state_name, ()))
        for part in old.state_name_to_partition_offsets
    )
    return OperatorStreamStateHandle(state_name_to_partition_offsets=parts, stream=stream)
