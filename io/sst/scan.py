"""The entries of a column family: its tables merged and resolved to what a reader of the database sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..memory import BATCH_BYTES
from .arrays import Bytes, Ints
from .cursor import Cursor, Slice
from .merge_kernels import gather_keys, gather_values, measure_resolved, merge_runs, resolve
from .range_deletes import Cover, cover_of
from .table import SstTable

SCHEMA = pa.schema([("key", pa.large_binary()), ("value", pa.large_binary())])

_WINDOW_BATCHES = 4
"""Decoded blocks that are held for each byte of a batch: the more, the fewer requests for files that overlap."""
_ROW_BYTES = 16
_PORTION_ENTRIES = 1 << 15
_THREADS = 8


def scan(
    tables: Sequence[SstTable],
    lower: bytes | None = None,
    upper: bytes | None = None,
    *,
    batch_bytes: int = BATCH_BYTES,
) -> Iterator[pa.RecordBatch]:
    """The entries of user keys in [lower, upper), sorted by key: ``key`` and ``value``, both large_binary.

    The tables are those of one column family. Of each user key the newest entry counts (by sequence number; of equal
    ones that of the earlier table); deletions are applied and merge operands joined by commas, oldest first, as
    Flink's ``stringappendtest`` does. A batch holds at most ``batch_bytes`` of keys, values and offsets, or one
    entry. Memory does not grow with the tables: four batches of decoded blocks and as much for batches and merging,
    more only where one key has more.
    """
    cover = cover_of(deletion for table in tables for deletion in table.range_deletions)
    batches = _Batches(batch_bytes)
    with ThreadPoolExecutor(_THREADS) as executor:
        cursors = [Cursor(table, lower, upper, executor) for table in tables]
        try:
            while cursors:
                bound = _extend(cursors, _WINDOW_BATCHES * batch_bytes)
                pieces = [piece for cursor in cursors if cursor.slices for piece in cursor.take(bound)]
                for group in _overlapping(pieces):
                    for part in _portions(group):
                        yield from batches.add(_resolve(part, cover))
                cursors = [cursor for cursor in cursors if cursor.slices or cursor.frontier is not None]
            yield from batches.rest()
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


def get(tables: Sequence[SstTable], key: bytes) -> bytes | None:
    """The value of one user key, or None; of each table only the block is read that can hold it."""
    for batch in scan(tables, key, key + b"\0"):
        return bytes(batch.column(1)[0].as_py())
    return None


def _overlapping(pieces: list[Slice]) -> Iterator[list[Slice]]:
    """Sorted slices in groups that share no user key, in order: what stands alone needs no merge.

    Within a group the slices stay in the order given, which decides between equal entries.
    """
    group: list[int] = []
    end = b""
    for first, last, number in sorted((*piece.bounds(), i) for i, piece in enumerate(pieces)):
        if group and first > end:
            yield [pieces[i] for i in sorted(group)]
            group = []
        group.append(number)
        end = max(end, last)
    if group:
        yield [pieces[i] for i in sorted(group)]


def _portions(group: list[Slice]) -> Iterator[list[Slice]]:
    """A group cut at user keys into portions whose merge, which jumps from run to run, stays in the caches."""
    while len(group) > 1 and sum(len(piece) for piece in group) > 2 * _PORTION_ENTRIES:
        longest = max(group, key=len)
        step = max(1, _PORTION_ENTRIES // len(group))
        parts = [
            piece.split(longest.columns.key(longest.start + min(step, len(longest) - 1))) for piece in group
        ]
        portion = [below for below, _ in parts if len(below)]
        if not portion:
            break
        yield portion
        group = [rest for _, rest in parts if len(rest)]
    yield group


def _extend(cursors: list[Cursor], window_bytes: int) -> bytes | None:
    """Reads on where the merge is held up, and returns the user key below which all entries are in memory.

    All cursors hold about ``window_bytes``.
    """
    bound = min((c.frontier for c in cursors if c.frontier is not None), default=None)
    if bound is None:
        return None
    behind = [c for c in cursors if c.frontier == bound]
    free = window_bytes - sum(cursor.held for cursor in cursors)
    budget = max(0, free) // (2 * len(behind))
    for cursor in behind:
        cursor.request(budget)
    for cursor in behind:
        cursor.extend(budget)
    return min((c.frontier for c in cursors if c.frontier is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Resolved:
    """Resolved entries; ``key_ends``/``value_ends`` are Arrow offsets, the bytes are still where they were decoded."""

    data: Bytes
    keys: Bytes
    source_key_offsets: Ints
    value_starts: Ints
    value_lengths: Ints
    winners: Ints
    pieces: Ints
    piece_offsets: Ints
    key_offsets: Ints
    value_offsets: Ints

    def __len__(self) -> int:
        return len(self.winners)

    def batch(self, first: int, last: int) -> pa.RecordBatch:
        """Rows ``first..last`` as Arrow."""
        key_offsets = self.key_offsets[first : last + 1] - self.key_offsets[first]
        value_offsets = self.value_offsets[first : last + 1] - self.value_offsets[first]
        keys = np.empty(key_offsets[-1], dtype=np.uint8)
        values = np.empty(value_offsets[-1], dtype=np.uint8)
        gather_keys(self.keys, self.source_key_offsets, self.winners, first, last, keys)
        gather_values(
            self.data,
            self.value_starts,
            self.value_lengths,
            self.pieces,
            self.piece_offsets,
            first,
            last,
            values,
        )
        columns = [_large_binary(key_offsets, keys), _large_binary(value_offsets, values)]
        return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _large_binary(offsets: Ints, data: Bytes) -> pa.Array:
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )


def _resolve(pieces: list[Slice], cover: Cover) -> _Resolved:
    """Merges sorted slices, all entries of each of their user keys among them, and resolves the keys."""
    run_offsets = np.cumsum([0, *(len(piece) for piece in pieces)], dtype=np.int64)
    n = int(run_offsets[-1])
    if len(pieces) == 1:
        [piece] = pieces
        columns = piece.columns
        data, keys = columns.data, columns.keys
        key_offsets = columns.key_offsets[piece.start : piece.end + 1]
        tags = columns.tags[piece.start : piece.end]
        value_starts = columns.value_starts[piece.start : piece.end]
        value_lengths = columns.value_lengths[piece.start : piece.end]
        order = np.arange(n, dtype=np.int64)
    else:
        data, keys, key_offsets, value_starts = _concatenate(pieces)
        tags = np.concatenate([p.columns.tags[p.start : p.end] for p in pieces])
        value_lengths = np.concatenate([p.columns.value_lengths[p.start : p.end] for p in pieces])
        order = np.empty(n, dtype=np.int64)
        merge_runs(keys, key_offsets, tags, run_offsets, order)
    winners = np.empty(n, dtype=np.int64)
    sources = np.empty(n, dtype=np.int64)
    piece_offsets = np.empty(n + 1, dtype=np.int64)
    rows, used = resolve(
        keys,
        key_offsets,
        tags,
        order,
        cover.keys,
        cover.key_offsets,
        cover.sequences,
        winners,
        sources,
        piece_offsets,
    )
    resolved = _Resolved(
        data=data,
        keys=keys,
        source_key_offsets=key_offsets,
        value_starts=value_starts,
        value_lengths=value_lengths,
        winners=winners[:rows],
        pieces=sources[:used],
        piece_offsets=piece_offsets[: rows + 1],
        key_offsets=np.empty(rows + 1, dtype=np.int64),
        value_offsets=np.empty(rows + 1, dtype=np.int64),
    )
    measure_resolved(
        key_offsets,
        value_lengths,
        resolved.winners,
        resolved.pieces,
        resolved.piece_offsets,
        resolved.key_offsets,
        resolved.value_offsets,
    )
    return resolved


def _concatenate(pieces: list[Slice]) -> tuple[Bytes, Bytes, Ints, Ints]:
    """Data, keys, key offsets and value starts of several slices as if they were one."""
    data, keys, value_starts = [], [], []
    key_offsets = [np.zeros(1, dtype=np.int64)]
    data_at = key_at = 0
    for piece in pieces:
        columns = piece.columns
        first, last = int(columns.value_starts[piece.start]), piece.end - 1
        end = int(columns.value_starts[last] + columns.value_lengths[last])
        offsets = columns.key_offsets[piece.start : piece.end + 1]
        data.append(columns.data[first:end])
        keys.append(columns.keys[offsets[0] : offsets[-1]])
        value_starts.append(columns.value_starts[piece.start : piece.end] + (data_at - first))
        key_offsets.append(offsets[1:] + (key_at - offsets[0]))
        data_at += end - first
        key_at += int(offsets[-1] - offsets[0])
    return (
        np.concatenate(data),
        np.concatenate(keys),
        np.concatenate(key_offsets),
        np.concatenate(value_starts),
    )


class _Batches:
    """Cuts resolved entries into batches of bounded size, joining what is too little for one."""

    def __init__(self, batch_bytes: int) -> None:
        self.batch_bytes = batch_bytes
        self.parts: list[pa.RecordBatch] = []
        self.filled = 0

    def add(self, resolved: _Resolved) -> Iterator[pa.RecordBatch]:
        rows = len(resolved)
        sizes = resolved.key_offsets + resolved.value_offsets + _ROW_BYTES * np.arange(rows + 1)
        first = 0
        while first < rows:
            room = sizes[first] + self.batch_bytes - self.filled
            last = int(np.searchsorted(sizes, room, side="right")) - 1
            if last <= first and self.parts:
                yield from self.rest()
                continue
            last = max(last, first + 1)
            self.parts.append(resolved.batch(first, last))
            self.filled += int(sizes[last] - sizes[first])
            first = last
            if first < rows:
                yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """What is there, as one batch."""
        if self.parts:
            table = pa.Table.from_batches(self.parts).combine_chunks()
            yield table.to_batches()[0]
        self.parts, self.filled = [], 0
