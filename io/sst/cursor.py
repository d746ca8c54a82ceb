"""One table's entries in a scan: decoded stretches by stretches, the next one read ahead."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import dataclass

import numpy as np

from ...schemas.errors import FormatError, Where
from .blocks import Columns
from .merge_kernels import lower_bound
from .table import SstTable

_FIRST_RUN_BYTES = 64 << 10
_FIRST_WANTED_RUN_BYTES = 512 << 10
_LAST_RUN_BYTES = 8 << 20
_GROWTH = 4
_ENTRY_BYTES = 40
"""What the columns take for an entry besides its bytes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slice:
    """Entries ``start..end`` of decoded columns; sorted."""

    columns: Columns
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def bounds(self) -> tuple[bytes, bytes]:
        """The first and the last user key."""
        return self.columns.key(self.start), self.columns.key(self.end - 1)

    def split(self, bound: bytes | None) -> tuple[Slice, Slice]:
        """The entries below the user key ``bound`` (all, where it is None), and the rest."""
        at = self.end
        if bound is not None:
            wanted = np.frombuffer(bound, dtype=np.uint8)
            at = lower_bound(self.columns.keys, self.columns.key_offsets, self.start, self.end, wanted)
        return (
            Slice(columns=self.columns, start=self.start, end=at),
            Slice(columns=self.columns, start=at, end=self.end),
        )


class Cursor:
    """The entries of ``table`` in [lower, upper), in order.

    ``frontier``: entries of user keys below it are all in memory; None once all there are have been read.
    A table whose first key is known is not read before the scan comes to it. One where it is not known gives a
    small first run, and reads ahead from the second on, so that it holds little if its keys come much later.
    """

    def __init__(self, table: SstTable, lower: bytes | None, upper: bytes | None, executor: Executor) -> None:
        self.table = table
        self.lower, self.upper = lower, upper
        self.executor = executor
        self.index = table.index(lower, upper)
        self.next_block = 0
        self.run_bytes = 0
        self.slices: list[Slice] = []
        self.pending: Future[list[Columns]] | None = None
        self.pending_bytes = 0
        self.last: tuple[bytes, int] | None = None
        self.frontier: bytes | None = max(lower or b"", table.smallest)
        if not len(self.index) or (upper is not None and table.smallest >= upper):
            self.frontier = None
        properties = table.properties
        decoded = properties.raw_key_size + properties.raw_value_size + _ENTRY_BYTES * properties.num_entries
        self.expansion = max(1.0, decoded / max(1, properties.data_size))

    @property
    def held(self) -> int:
        """Bytes of memory, about: what is decoded and what is on its way."""
        return sum(piece.columns.nbytes for piece in self.slices) + self.pending_bytes

    def request(self, budget: int) -> None:
        """Starts to read the next run, of no more decoded bytes than ``budget``, unless that is under way."""
        blocks = len(self.index)
        if self.pending is not None or self.next_block == blocks:
            return
        first = _FIRST_WANTED_RUN_BYTES if self.table.smallest else _FIRST_RUN_BYTES
        self.run_bytes = min(max(first, self.run_bytes * _GROWTH), _LAST_RUN_BYTES)
        ends = np.cumsum(self.index.sizes[self.next_block : self.next_block + self.run_bytes // 16])
        wanted = int(min(self.run_bytes, budget / self.expansion))
        count = max(1, int(np.searchsorted(ends, wanted, side="right")))
        run = range(self.next_block, min(self.next_block + count, blocks))
        self.pending_bytes = int(ends[len(run) - 1] * self.expansion)
        self.next_block = run.stop
        self.pending = self.executor.submit(self.table.load, self.index, run)

    def extend(self, budget: int) -> None:
        """Waits for the next run, makes it part of ``slices`` and asks for the one after it."""
        ahead = bool(self.slices)
        self.request(budget)
        assert self.pending is not None, "a cursor with a frontier has blocks left"
        loaded = self.pending.result()
        self.pending, self.pending_bytes = None, 0
        for columns in loaded:
            if len(columns):
                self._append(columns)
        if self.next_block == len(self.index):
            self.frontier = None
        if self.frontier is not None and ahead:
            self.request(budget)

    def _append(self, columns: Columns) -> None:
        first = (columns.key(0), -int(columns.tags[0]))
        if self.last is not None and first <= self.last:
            raise FormatError("blocks are not in ascending order of keys", where=Where(file=self.table.file))
        self.last = (columns.key(len(columns) - 1), -int(columns.tags[-1]))
        whole = Slice(columns=columns, start=0, end=len(columns))
        if self.lower is not None and first[0] < self.lower:
            whole = whole.split(self.lower)[1]
        self.frontier = max(self.last[0], self.lower or b"")
        if self.upper is not None and self.last[0] >= self.upper:
            whole = whole.split(self.upper)[0]
            self.next_block = len(self.index)
        if len(whole):
            self.slices.append(whole)

    def take(self, bound: bytes | None) -> list[Slice]:
        """Removes and returns the entries of user keys below ``bound`` (all, where it is None)."""
        parts = [piece.split(bound) for piece in self.slices]
        self.slices = [rest for _, rest in parts if len(rest)]
        return [below for below, _ in parts if len(below)]
