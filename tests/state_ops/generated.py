"""A canonical savepoint of any size: MapState<String, Long> ``seen`` by Integer key, one entry ``ts`` in each map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from statelift.io.keyed.canonical import CanonicalWriter
from statelift.io.keyed.entries import EntryBatch
from statelift.io.keyed.header import KeyedBackendHeader, write_keyed_header
from statelift.io.keyed.meta_info import BackendStateType, StateMetaInfo
from statelift.io.keyed.state_types import keyed_state_type
from statelift.io.metadata import (
    KeyGroupRange,
    KeyGroupsSavepointStateHandle,
    Metadata,
    OperatorState,
    RelativeFileStateHandle,
    SubtaskState,
    write_metadata,
)
from statelift.io.stores import Stores
from statelift.schemas.from_snapshot import type_of
from statelift.schemas.operator_id import operator_id_of_uid
from statelift.schemas.snapshots import SerializerSnapshot, build
from statelift.schemas.wire import Writer
from statelift.state_ops.tables import KeyedTable

T0 = 1_767_225_600_000
HOUR = 3_600_000
_ROWS = 100_000
_SEEN = StateMetaInfo(
    name="seen",
    backend_state_type=BackendStateType.KEY_VALUE,
    options=(("KEYED_STATE_TYPE", "MAP"),),
    serializers=(
        ("NAMESPACE_SERIALIZER", build.VOID_NAMESPACE),
        ("VALUE_SERIALIZER", build.map_of(build.scalar("String"), build.scalar("Long"))),
    ),
)


def seen(folder: Path, keys: int, *, max_parallelism: int = 128, parallelism: int = 1) -> Path:
    """Write the savepoint of operator ``ages``: key i was seen at t0 - (i mod 100) hours."""
    stores = Stores()
    header = KeyedBackendHeader(key_serializer=build.scalar("Int"), states=(_SEEN,))
    writer = Writer()
    write_keyed_header(writer, header)
    table = KeyedTable(keyed_state_type(_SEEN, type_of(header.key_serializer)), max_parallelism)
    groups = table.key_groups(pa.array(np.arange(keys, dtype=np.int32)))
    order = np.argsort(groups, kind="stable")
    subtasks = []
    for subtask in range(parallelism):
        start = -(-subtask * max_parallelism // parallelism)
        end = -(-(subtask + 1) * max_parallelism // parallelism)
        with stores.open_write(str(folder / f"state-{subtask}")) as out:
            out.write(writer.getvalue())
            stream = CanonicalWriter(out=out, base=len(writer.out))
            own = order[(groups[order] >= start) & (groups[order] < end)]
            for at in range(0, len(own), _ROWS):
                stream.write({0: table.encode(_rows(own[at : at + _ROWS]))})
            stream.finish()
        handle = KeyGroupsSavepointStateHandle(
            key_group_range=KeyGroupRange(start, end - start),
            offsets=tuple(stream.offsets.get(group, 0) for group in range(start, end)),
            stream=RelativeFileStateHandle(
                relative_path=f"state-{subtask}", state_size=len(writer.out) + stream.position
            ),
        )
        subtasks.append(SubtaskState(subtask_index=subtask, managed_keyed_state=handle))
    operator = OperatorState(
        operator_id=operator_id_of_uid("ages"),
        parallelism=parallelism,
        max_parallelism=max_parallelism,
        subtask_states=tuple(subtasks),
    )
    metadata = Metadata(version=3, checkpoint_id=1, operator_states=(operator,))
    stores.put(str(folder / "_metadata"), write_metadata(metadata))
    return folder


def canonical(
    folder: Path,
    uid: str,
    key: SerializerSnapshot,
    states: tuple[StateMetaInfo, ...],
    batches: Sequence[EntryBatch],
    *,
    unknown: Mapping[int, EntryBatch] = MappingProxyType({}),
) -> Path:
    """Write a savepoint of one subtask: ``batches`` of state 0, and entries of state ids that the header does not
    define. Each stands in its ``key_groups``, whatever its key says."""
    stores, writer = Stores(), Writer()
    write_keyed_header(writer, KeyedBackendHeader(key_serializer=key, states=states))
    with stores.open_write(str(folder / "state")) as out:
        out.write(writer.getvalue())
        stream = CanonicalWriter(out=out, base=len(writer.out))
        for group in range(128):
            for state, batch in [*((0, batch) for batch in batches), *unknown.items()]:
                own = batch.take(np.flatnonzero(batch.key_groups == group))
                if len(own):
                    stream.write({state: own})
        stream.finish()
    handle = KeyGroupsSavepointStateHandle(
        key_group_range=KeyGroupRange(0, 128),
        offsets=tuple(stream.offsets.get(group, 0) for group in range(128)),
        stream=RelativeFileStateHandle(relative_path="state", state_size=len(writer.out) + stream.position),
    )
    operator = OperatorState(
        operator_id=operator_id_of_uid(uid),
        parallelism=1,
        max_parallelism=128,
        subtask_states=(SubtaskState(subtask_index=0, managed_keyed_state=handle),),
    )
    metadata = Metadata(version=3, checkpoint_id=1, operator_states=(operator,))
    stores.put(str(folder / "_metadata"), write_metadata(metadata))
    return folder


def _rows(keys: np.ndarray) -> pa.RecordBatch:
    columns = {
        "key": pa.array(keys.astype(np.int32)),
        "map_key": pa.array(["ts"] * len(keys)),
        "value": pa.array(T0 - (keys % 100) * HOUR),
    }
    return pa.RecordBatch.from_pydict(columns)
