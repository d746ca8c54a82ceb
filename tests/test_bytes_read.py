"""How much of a large snapshot is read: to look into it, its metadata and headers; for one key, less than 1 %.

The snapshot has 230 MB. STATELIFT_LARGE_KEYS=2200000 makes it 1 GB, whose figures are in benchmarks/README.md.
"""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from statelift.io.keyed.canonical import CanonicalWriter
from statelift.io.keyed.header import KeyedBackendHeader, write_keyed_header
from statelift.io.keyed.meta_info import BackendStateType, StateMetaInfo
from statelift.io.keyed.state_types import keyed_state_type
from statelift.io.metadata import (
    KeyGroupRange,
    KeyGroupsSavepointStateHandle,
    KeyGroupsStateHandle,
    Metadata,
    OperatorState,
    RelativeFileStateHandle,
    SubtaskState,
    write_metadata,
)
from statelift.io.stores import Stores
from statelift.schemas.from_snapshot import type_of
from statelift.schemas.operator_id import operator_id_of_uid
from statelift.schemas.snapshots import build
from statelift.schemas.wire import Writer
from statelift.state_ops.apply import apply
from statelift.state_ops.inventory import inventory
from statelift.state_ops.lookup import look_up
from statelift.state_ops.plan import Plan
from statelift.state_ops.snapshot import Snapshot, open_snapshot
from statelift.state_ops.states import KeyedState
from statelift.state_ops.tables import KeyedTable

KEYS, GROUPS = int(os.environ.get("STATELIFT_LARGE_KEYS", "500000")), 128
ENTRY = np.dtype([("ns", "u1"), ("key_size", "u1"), ("key", "S14"), ("size", "u1", 2), ("text", "S400")])
"""An entry of ``text`` as the heap writes it; a String's length is one more than its characters."""
COUNT = np.dtype([("ns", "u1"), ("key_size", "u1"), ("key", "S14"), ("number", ">i8")])
FORMATS = ("canonical", "rocksdb", "hashmap")


def header() -> KeyedBackendHeader:
    states = tuple(
        StateMetaInfo(
            name=name,
            backend_state_type=BackendStateType.KEY_VALUE,
            options=(("KEYED_STATE_TYPE", "VALUE"),),
            serializers=(
                ("NAMESPACE_SERIALIZER", build.VOID_NAMESPACE),
                ("VALUE_SERIALIZER", build.scalar(kind)),
            ),
        )
        for name, kind in (("text", "String"), ("number", "Long"))
    )
    return KeyedBackendHeader(key_serializer=build.scalar("String"), states=states)


def tables() -> list[KeyedTable]:
    head = header()
    key = type_of(head.key_serializer)
    return [KeyedTable(keyed_state_type(state, key), GROUPS) for state in head.states]


def strings(fixed: np.ndarray) -> pa.Array:
    """An array of dtype S<n>, whose strings are all of n characters."""
    n = fixed.dtype.itemsize
    offsets = pa.py_buffer(np.arange(len(fixed) + 1, dtype=np.int32) * n)
    return pa.StringArray.from_buffers(len(fixed), offsets, pa.py_buffer(fixed.tobytes()))


def groups_of_entries() -> Iterator[np.ndarray]:
    """The entries of each key group: keys are ``user-`` and nine digits, texts do not compress."""
    numbers = np.arange(KEYS)
    entries = np.zeros(KEYS, ENTRY)
    entries["key_size"], entries["size"] = 15, (0x91, 0x03)
    entries["key"] = np.char.add("user-", np.char.zfill(numbers.astype("U9"), 9)).astype("S14")
    random = np.random.default_rng(1).integers(64, 127, KEYS * 400, np.uint8)
    entries["text"] = random.view("S400")
    groups = tables()[0].key_groups(strings(entries["key"]))
    order = np.argsort(groups, kind="stable")
    for rows in np.split(order, np.searchsorted(groups[order], np.arange(1, GROUPS))):
        yield entries[rows]


def number_of(keys: np.ndarray) -> np.ndarray:
    return np.char.replace(keys.astype("U14"), "user-", "").astype(np.int64)


def write_canonical(folder: Path) -> None:
    folder.mkdir()
    text, number = tables()
    head = head_bytes()
    with Stores().open_write(str(folder / "state")) as out:
        out.write(head)
        stream = CanonicalWriter(out=out, base=len(head))
        for group, entries in enumerate(groups_of_entries()):
            keys = strings(entries["key"])
            same = np.full(len(keys), group, np.int32)
            texts = pa.RecordBatch.from_pydict({"key": keys, "value": strings(entries["text"])})
            numbers = pa.RecordBatch.from_pydict({"key": keys, "value": number_of(entries["key"])})
            stream.write({0: text.encode(texts, same), 1: number.encode(numbers, same)})
        stream.finish()
    write_metadata_of(
        folder,
        KeyGroupsSavepointStateHandle(
            key_group_range=KeyGroupRange(0, GROUPS),
            offsets=tuple(stream.offsets[group] for group in range(GROUPS)),
            stream=RelativeFileStateHandle(relative_path="state", state_size=len(head) + stream.position),
        ),
    )


def write_hashmap(folder: Path) -> None:
    folder.mkdir()
    offsets = []
    with (folder / "state").open("wb") as out:
        out.write(head_bytes())
        for group, entries in enumerate(groups_of_entries()):
            counts = np.zeros(len(entries), COUNT)
            counts["key_size"], counts["key"] = 15, entries["key"]
            counts["number"] = number_of(entries["key"])
            offsets.append(out.tell())
            out.write(struct.pack(">i", group))
            for state, block in enumerate((entries, counts)):
                out.write(struct.pack(">hi", state, len(block)))
                out.write(block.tobytes())
        size = out.tell()
    write_metadata_of(
        folder,
        KeyGroupsStateHandle(
            tag=12,
            key_group_range=KeyGroupRange(0, GROUPS),
            offsets=tuple(offsets),
            stream=RelativeFileStateHandle(relative_path="state", state_size=size),
            state_handle_id="hashmap",
        ),
    )


def head_bytes() -> bytes:
    writer = Writer()
    write_keyed_header(writer, header())
    return writer.getvalue()


def write_metadata_of(folder: Path, handle: KeyGroupsSavepointStateHandle | KeyGroupsStateHandle) -> None:
    operator = OperatorState(
        operator_id=operator_id_of_uid("large"),
        parallelism=1,
        max_parallelism=GROUPS,
        subtask_states=(SubtaskState(subtask_index=0, managed_keyed_state=handle),),
    )
    metadata = Metadata(version=3, checkpoint_id=1, operator_states=(operator,))
    (folder / "_metadata").write_bytes(write_metadata(metadata))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A snapshot in each format: one operator, two value states, of texts of 400 characters and of Longs."""
    folder = tmp_path_factory.mktemp("large")
    write_canonical(folder / "canonical")
    write_hashmap(folder / "hashmap")
    source, target = str(folder / "canonical"), str(folder / "rocksdb")
    apply(Plan.of({"source": source, "target": target, "format": "rocksdb"}), workers=1)
    yield folder
    shutil.rmtree(folder)


def opened(folder: Path) -> tuple[Snapshot, Stores, int]:
    """The snapshot, the stores it reads from, and the bytes of all its files."""
    stores = Stores()
    total = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return open_snapshot(str(folder), stores=stores, uids=["large"]), stores, total


def said(what: str, stores: Stores, total: int) -> str:
    read = stores.stats.bytes_read()
    return f"bytes read {what}: {read:,} of {total:,} ({read / total:.3%})"


@pytest.mark.parametrize("form", FORMATS)
def test_to_look_into_a_snapshot_its_metadata_and_headers_are_read(
    large: Path, form: str, summary: Callable[[str], None]
) -> None:
    """Of RocksDB's files the ends, for its own estimate of their entries: index and properties."""
    snapshot, stores, total = opened(large / form)
    [operator] = inventory(snapshot, count="none")
    assert not operator.problems
    assert [state.name for state in operator.states] == ["text", "number"]
    assert total > 200e6
    assert stores.stats.bytes_read() < (0.01 * total if form == "rocksdb" else 16384)
    summary(said(f"to look into {form}", stores, total))
    estimates = [state.entries for state in operator.states]
    assert estimates == ([KEYS, KEYS] if form == "rocksdb" else [None, None])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("number", [0, 123_456, KEYS - 1])
def test_for_one_key_less_than_a_hundredth_is_read(
    large: Path, form: str, number: int, summary: Callable[[str], None]
) -> None:
    """Of canonical and hashmap state the key's group, of RocksDB the indexes and a block of each state."""
    snapshot, stores, total = opened(large / form)
    operator = snapshot.operator("large")
    states = [state for state in operator.states if isinstance(state, KeyedState)]
    found = look_up(operator, states, pa.array([f"user-{number:09d}"]))
    assert found.rows["number"].column("value").to_pylist() == [number]
    assert [len(text) for text in found.rows["text"].column("value").to_pylist()] == [400]
    assert stores.stats.bytes_read() < 0.01 * total
    summary(said(f"for key {number} of {form}", stores, total))


@pytest.mark.parametrize("form", FORMATS)
def test_a_key_that_is_not_there_costs_no_more(large: Path, form: str) -> None:
    snapshot, stores, total = opened(large / form)
    operator = snapshot.operator("large")
    states = [state for state in operator.states if isinstance(state, KeyedState)]
    found = look_up(operator, states, pa.array(["nobody"]))
    assert not any(len(rows) for rows in found.rows.values())
    assert stores.stats.bytes_read() < 0.01 * total
