"""Batches of keyed entries: composite keys and values as spans of buffers, in the order of their key groups.

This is what all keyed formats are read to and written from. Keys are composite keys as in canonical savepoints
and RocksDB (key-group prefix, key, namespace, user key; spec 5.3), values are those of the canonical format (5.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...schemas.codec.columns import binary_column, binary_parts
from .entry_kernels import gather

Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]

#: One keyed entry as Arrow: the columns of :meth:`EntryBatch.to_arrow`.
ENTRY_SCHEMA = pa.schema(
    [
        pa.field("key_group", pa.int32(), nullable=False),
        pa.field("composite_key", pa.large_binary(), nullable=False),
        pa.field("value", pa.large_binary(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """Rows of bytes: row i is ``data[starts[i]:ends[i]]``. uint8, int64, int64."""

    data: Bytes
    starts: Positions
    ends: Positions

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def lengths(self) -> Positions:
        return self.ends - self.starts

    @staticmethod
    def of(column: pa.Array) -> Spans:
        """The rows of a binary Arrow column without nulls."""
        data, offsets = binary_parts(column)
        return Spans(data=data, starts=offsets[:-1], ends=offsets[1:])

    def take(self, rows: npt.NDArray[np.generic]) -> Spans:
        """The rows at these indices, or where a mask is true; the data is shared."""
        return Spans(data=self.data, starts=self.starts[rows], ends=self.ends[rows])

    def where(self, mask: npt.NDArray[np.bool_]) -> pa.Array:
        """The rows where ``mask`` is true as binary, null for the others."""
        rows = np.flatnonzero(mask)
        if not len(rows):
            return pa.nulls(len(self), pa.binary())
        places = np.cumsum(mask) - 1
        return self.take(rows).to_arrow().cast(pa.binary()).take(pa.array(places, mask=~mask))

    def to_arrow(self, *, clear_flag: bool = False) -> pa.Array:
        """As large_binary, copied. ``clear_flag`` clears the highest bit of each row's first byte (spec 5.4)."""
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum(self.lengths, out=offsets[1:])
        out = np.empty(int(offsets[-1]), np.uint8)
        gather(self.data, self.starts, self.ends, out, offsets, clear_flag)
        return binary_column(out, offsets)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryBatch:
    """Entries of one state, key groups never falling from row to row. ``key_groups`` int32 of shape (n,).

    The first byte of a key may still carry the canonical format's flag bit; codecs step over the prefix, and
    what copies keys clears it.
    """

    key_groups: npt.NDArray[np.int32]
    keys: Spans
    values: Spans

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """Bytes of all keys and values."""
        return int(self.keys.lengths.sum() + self.values.lengths.sum())

    @staticmethod
    def of(key_groups: npt.NDArray[np.int32], keys: pa.Array, values: pa.Array) -> EntryBatch:
        return EntryBatch(key_groups=key_groups, keys=Spans.of(keys), values=Spans.of(values))

    def take(self, rows: npt.NDArray[np.generic]) -> EntryBatch:
        """The entries at these indices, or where a mask is true; the data is shared."""
        return EntryBatch(
            key_groups=self.key_groups[rows], keys=self.keys.take(rows), values=self.values.take(rows)
        )

    def slice(self, start: int, stop: int) -> EntryBatch:
        return EntryBatch(
            key_groups=self.key_groups[start:stop],
            keys=Spans(
                data=self.keys.data, starts=self.keys.starts[start:stop], ends=self.keys.ends[start:stop]
            ),
            values=Spans(
                data=self.values.data,
                starts=self.values.starts[start:stop],
                ends=self.values.ends[start:stop],
            ),
        )

    def to_arrow(self) -> pa.RecordBatch:
        """The entries as a RecordBatch of ENTRY_SCHEMA, flag bits cleared."""
        columns = [pa.array(self.key_groups), self.keys.to_arrow(clear_flag=True), self.values.to_arrow()]
        return pa.RecordBatch.from_arrays(columns, schema=ENTRY_SCHEMA)


#: A step of reading or writing: the next entries of each state (by state id), all of key groups not yet passed.
Window = dict[int, EntryBatch]


def concat(batches: Sequence[EntryBatch]) -> EntryBatch:
    """The entries of all batches, one after the other, flag bits cleared. At least one batch."""
    tables = pa.Table.from_batches([batch.to_arrow() for batch in batches]).combine_chunks()
    key_groups = tables["key_group"].to_numpy().astype(np.int32, copy=False)
    keys, values = (_one_chunk(tables[name]) for name in ("composite_key", "value"))
    return EntryBatch.of(key_groups, keys, values)


def merge_small(windows: Iterator[Window], least_bytes: int) -> Iterator[Window]:
    """The same entries in windows of ``least_bytes`` or more: what comes in crumbs is joined."""
    held: dict[int, list[EntryBatch]] = {}
    size = 0
    for window in windows:
        size += sum(batch.nbytes + 16 * len(batch) for batch in window.values())
        if not held and size >= least_bytes:
            yield window
            size = 0
            continue
        for state, batch in window.items():
            held.setdefault(state, []).append(batch)
        if size >= least_bytes:
            yield {state: concat(batches) for state, batches in held.items()}
            held, size = {}, 0
    if held:
        yield {state: concat(batches) for state, batches in held.items()}


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
