"""A checkpoint of one operator whose keyed state is nothing but changes, as tests of several floors read it."""

from __future__ import annotations

from pathlib import Path

from statelift.io.metadata import (
    ChangelogStateBackendHandle,
    KeyGroupRange,
    Metadata,
    OperatorState,
    SubtaskState,
    write_metadata,
)
from statelift.schemas.operator_id import operator_id_of_uid

from .io.test_keyed_changelog import LONGS, STATES, announce, change, in_memory, long

UID = "changed"


def changelog_snapshot(folder: Path, *, logs: int = 1) -> Path:
    """ValueState<Long> ``value`` of three Long keys, in one log that stands in so many handles."""
    changes = [change(group, "SET", 0, long(key) + b"\0" + long(5)) for key, group in LONGS.items()]
    handle = ChangelogStateBackendHandle(
        tag=14,
        key_group_range=KeyGroupRange(0, 128),
        persisted_size_of_this_checkpoint=0,
        materialized=(),
        non_materialized=(in_memory([announce(0, STATES[0]), *changes]),) * logs,
        materialization_id=0,
        checkpoint_id=1,
        state_handle_id="id",
    )
    operator = OperatorState(
        operator_id=operator_id_of_uid(UID),
        parallelism=1,
        max_parallelism=128,
        subtask_states=(SubtaskState(subtask_index=0, managed_keyed_state=handle),),
    )
    folder.mkdir()
    metadata = Metadata(version=3, checkpoint_id=1, operator_states=(operator,))
    (folder / "_metadata").write_bytes(write_metadata(metadata))
    return folder
