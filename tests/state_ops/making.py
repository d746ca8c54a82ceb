"""Canonical savepoints of one operator, ``made``, from serializer snapshots and the very bytes of keys and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from statelift.io.keyed.canonical import CanonicalWriter, prefix_bytes
from statelift.io.keyed.entries import EntryBatch, Spans
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
from statelift.schemas.codec.codec import Codec
from statelift.schemas.codec.shapes import compile_type
from statelift.schemas.from_snapshot import type_of
from statelift.schemas.hashing import stability
from statelift.schemas.operator_id import operator_id_of_uid
from statelift.schemas.snapshots import SerializerSnapshot, build
from statelift.schemas.wire import Writer
from statelift.state_ops.tables import KeyedTable

UID = "made"
_MAX_PARALLELISM = 128


@dataclass(frozen=True, kw_only=True)
class Made:
    """A state without namespace. ``entries`` are values by key, and of a MAP by key and user key in one."""

    name: str
    value: SerializerSnapshot
    entries: Mapping[bytes, bytes]
    kind: str = "VALUE"

    @property
    def meta(self) -> StateMetaInfo:
        return StateMetaInfo(
            name=self.name,
            backend_state_type=BackendStateType.KEY_VALUE,
            options=(("KEYED_STATE_TYPE", self.kind),),
            serializers=(("NAMESPACE_SERIALIZER", build.VOID_NAMESPACE), ("VALUE_SERIALIZER", self.value)),
        )


def savepoint(folder: Path, key: SerializerSnapshot, *states: Made, key_group: int | None = None) -> Path:
    """Write a savepoint whose operator has these states, keyed by ``key``; entries stand in the key group of their
    key, or all in ``key_group``."""
    header = KeyedBackendHeader(key_serializer=key, states=tuple(state.meta for state in states))
    writer = Writer()
    write_keyed_header(writer, header)
    batches = [_batch(state, key, key_group) for state in states]
    with Stores().open_write(str(folder / "state")) as out:
        out.write(writer.getvalue())
        stream = CanonicalWriter(out=out, base=len(writer.out))
        for group in range(_MAX_PARALLELISM):
            window = {i: batch.take(batch.key_groups == group) for i, batch in enumerate(batches)}
            stream.write({i: batch for i, batch in window.items() if len(batch)})
        stream.finish()
    handle = KeyGroupsSavepointStateHandle(
        key_group_range=KeyGroupRange(0, _MAX_PARALLELISM),
        offsets=tuple(stream.offsets.get(group, 0) for group in range(_MAX_PARALLELISM)),
        stream=RelativeFileStateHandle(relative_path="state", state_size=len(writer.out) + stream.position),
    )
    operator = OperatorState(
        operator_id=operator_id_of_uid(UID),
        parallelism=1,
        max_parallelism=_MAX_PARALLELISM,
        subtask_states=(SubtaskState(subtask_index=0, managed_keyed_state=handle),),
    )
    metadata = Metadata(version=3, checkpoint_id=1, operator_states=(operator,))
    Stores().put(str(folder / "_metadata"), write_metadata(metadata))
    return folder


def _batch(state: Made, key: SerializerSnapshot, key_group: int | None) -> EntryBatch:
    node = type_of(key)
    table = KeyedTable(keyed_state_type(state.meta, node), _MAX_PARALLELISM, wide_times=True)
    raw = pa.array(list(state.entries), pa.large_binary())
    spans = Spans.of(raw)
    keys, ends, _ = Codec(compile_type(node, wide_times=True)).decode_most(
        spans.data, spans.starts, spans.ends, exact=False
    )
    groups = np.zeros(len(raw), np.int32) if stability(node) else table.key_groups(keys)
    if key_group is not None:
        groups = np.full(len(raw), key_group, np.int32)
    bounds = (ends - spans.starts).tolist()
    prefix = prefix_bytes(_MAX_PARALLELISM)
    composite = [
        int(group).to_bytes(prefix, "big") + one[:end] + b"\0" + one[end:]
        for group, one, end in zip(groups, state.entries, bounds, strict=True)
    ]
    order = np.argsort(groups, kind="stable")
    return EntryBatch.of(
        groups[order],
        pa.array(composite, pa.large_binary()).take(pa.array(order)),
        pa.array(list(state.entries.values()), pa.large_binary()).take(pa.array(order)),
    )
