"""The keyed state of snapshots that Flink wrote, as the tests look at it: plain dicts of entries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from statelift.io.keyed.backend import KeyedBackend, open_keyed
from statelift.io.keyed.entries import EntryBatch, Window
from statelift.io.keyed.raw_timers import open_raw_keyed
from statelift.io.metadata import Inline, KeyedStateHandle, OperatorState, read_metadata
from statelift.io.stores import Stores, StoreWriter
from statelift.io.streams import StateStream, StreamOpener

STORES = Stores()

#: (key group, composite key) to value.
Entries = dict[tuple[int, bytes], bytes]


class Memory(StoreWriter):
    """A file being written, kept in memory."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.closed = False

    def write(self, data: bytes | memoryview) -> None:
        self.data += data

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True


def inline(data: bytes) -> StateStream:
    """A stream of these bytes."""
    return StateStream(stores=STORES, location=Inline(data=data), name="a stream")


@dataclass(frozen=True, slots=True)
class Keyed:
    """A keyed handle of a snapshot."""

    snapshot: Path
    version: int
    operator: OperatorState
    subtask: int
    handle: KeyedStateHandle
    raw: bool = False

    @property
    def opener(self) -> StreamOpener:
        return StreamOpener(stores=STORES, base_url=str(self.snapshot))

    def open(self) -> KeyedBackend:
        """The backend of a managed handle, or of raw timers."""
        if not self.raw:
            return open_keyed(self.handle, self.opener, self.operator.max_parallelism)
        backend = open_raw_keyed(self.handle, self.opener, self.operator.max_parallelism)
        assert isinstance(backend, KeyedBackend)
        return backend


def snapshots(corpus: Path) -> list[Path]:
    """The folders of all snapshots of the corpus."""
    found = [
        *corpus.glob("known/*/*/**/_metadata"),
        *corpus.glob("savepoints/*/_metadata"),
        *corpus.glob("sql-restore/*/*/savepoint/_metadata"),
    ]
    return sorted(path.parent for path in found)


def known(corpus: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The snapshots whose contents are known, with those."""
    return [
        (path, json.loads((entry / "expected.json").read_text()))
        for path in snapshots(corpus)
        for entry in path.parents
        if (entry / "expected.json").exists()
    ]


def keyed(snapshot: Path) -> Iterator[Keyed]:
    metadata = read_metadata((snapshot / "_metadata").read_bytes(), str(snapshot / "_metadata"))
    for operator in metadata.operator_states:
        for subtask in operator.subtask_states:
            for handle, raw in ((subtask.managed_keyed_state, False), (subtask.raw_keyed_state, True)):
                if handle is not None:
                    yield Keyed(snapshot, metadata.version, operator, subtask.subtask_index, handle, raw)


def rows(batch: EntryBatch) -> Iterator[tuple[tuple[int, bytes], bytes]]:
    arrow = batch.to_arrow()
    groups, keys, values = (column.to_pylist() for column in arrow.columns)
    yield from zip(zip(groups, keys, strict=True), values, strict=True)


def entries(windows: Iterator[Window]) -> dict[int, Entries]:
    """All entries by state id. Key groups never fall from one window to the next, nor does a key come twice."""
    found: dict[int, Entries] = {}
    passed = -1
    for window in windows:
        assert window
        last = passed
        for state, batch in window.items():
            held = found.setdefault(state, {})
            groups = batch.key_groups.tolist()
            assert groups == sorted(groups)
            assert not groups or groups[0] >= passed
            last = max([last, *groups[-1:]])
            for key, value in rows(batch):
                assert key not in held
                held[key] = value
        passed = last
    return found


def by_name(backend: KeyedBackend, batch_bytes: int = 16 << 20) -> dict[str, Entries]:
    """All entries by the state's name; a name for the states that have none too."""
    found = entries(backend.windows(batch_bytes=batch_bytes))
    return {state.name: found.get(number, {}) for number, state in enumerate(backend.states)}
