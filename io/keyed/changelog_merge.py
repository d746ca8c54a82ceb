"""Entries of a materialized part with the changes since laid over them, forward through the key groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from . import changelog_kernels as kernels
from .changelog_replay import Base, Overlay
from .entries import EntryBatch, Spans, Window, concat

_LAST = 1 << 15


def merge(base: Iterator[Window], overlays: Mapping[int, Overlay], prefix: int) -> Iterator[Window]:
    """The windows of ``base`` without what the overlays (by state) take away, and with what they put there.

    ``prefix`` is the bytes of the key-group prefix. What is put to a key group comes when ``base`` has passed it.
    """
    states = {number: _Merger.of(overlay, prefix) for number, overlay in overlays.items()}
    for window in base:
        last = max((int(batch.key_groups[-1]) for batch in window.values() if len(batch)), default=0)
        kept = {number: states[number].keep(batch) for number, batch in window.items()}
        yield from _with_added(kept, states, last)
    yield from _with_added({}, states, _LAST)


def _with_added(kept: Window, states: Mapping[int, _Merger], below: int) -> Iterator[Window]:
    window: Window = {}
    for number, state in states.items():
        batches = [
            batch for batch in (kept.get(number), state.added(below)) if batch is not None and len(batch)
        ]
        if len(batches) == 2:
            both = concat(batches)
            window[number] = both.take(np.argsort(both.key_groups, kind="stable"))
        elif batches:
            window[number] = batches[0]
    if window:
        yield window


@dataclass(slots=True)
class _Merger:
    """One state: ``keys`` (ascending) are those that the overlay knows, in Python and as rows of bytes."""

    overlay: Overlay
    keys: Sequence[bytes]
    key_groups: npt.NDArray[np.int32]
    touched: Spans
    cleared: Spans
    done: int = 0
    found: dict[bytes, bytes] = field(default_factory=dict)

    @staticmethod
    def of(overlay: Overlay, prefix: int) -> _Merger:
        keys = sorted(overlay.lists or overlay.entries)
        groups = np.array([int.from_bytes(key[:prefix], "big") for key in keys], np.int32)
        return _Merger(overlay, keys, groups, _spans(keys), _spans(sorted(overlay.cleared)))

    def keep(self, batch: EntryBatch) -> EntryBatch:
        """The entries of ``batch`` that stay; the values of list states that have been added to are noted."""
        found = _find(batch.keys, self.touched, as_head=False)
        if self.overlay.lists:
            rows = np.flatnonzero(found >= 0)
            values = batch.values.take(rows).to_arrow().to_pylist()
            self.found.update((self.keys[i], value) for i, value in zip(found[rows], values, strict=True))
        gone = found >= 0
        if len(self.cleared):
            gone |= _find(batch.keys, self.cleared, as_head=True) >= 0
        return batch.take(np.flatnonzero(~gone)) if gone.any() else batch

    def added(self, below: int) -> EntryBatch | None:
        """The entries put to key groups under ``below`` that were not given yet."""
        stop = int(np.searchsorted(self.key_groups, below, side="left"))
        start, self.done = self.done, stop
        if start == stop:
            return None
        values = [self._value(key) for key in self.keys[start:stop]]
        there = np.array([value is not None for value in values], np.bool_)
        keys = pa.array(self.keys[start:stop], pa.large_binary()).filter(pa.array(there))
        return EntryBatch.of(
            self.key_groups[start:stop][there],
            keys,
            pa.array([value for value in values if value is not None], pa.large_binary()),
        )

    def _value(self, key: bytes) -> bytes | None:
        if not self.overlay.lists:
            return self.overlay.entries[key]
        parts = (self.found.get(p.key) if isinstance(p, Base) else p for p in self.overlay.lists[key])
        elements = [part for part in parts if part is not None]
        return b",".join(elements) if elements else None


def _spans(keys: Sequence[bytes]) -> Spans:
    return Spans.of(pa.array(keys, pa.large_binary()))


def _find(rows: Spans, sought: Spans, *, as_head: bool) -> npt.NDArray[np.int64]:
    found = np.full(len(rows), -1, np.int64)
    if len(sought):
        kernels.find(
            rows.data, rows.starts, rows.ends, sought.data, sought.starts, sought.ends, as_head, found
        )
    return found
