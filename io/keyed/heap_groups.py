"""Whole key groups of HashMapStateBackend read at once: one program over all blocks of a key group.

With many key groups and states the blocks are small, and to read each by itself would cost more than its entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ...schemas.codec import ops
from ...schemas.codec.arena import Arena
from ...schemas.codec.run import run_decode
from ...schemas.codec.shapes import Builder, NullShape, Program
from .entries import Bytes, Positions, Window
from .heap_entries import HeapState, Marks

_LEAST_ENTRY = 2
"""Bytes of an entry; one of less is left to the slower way."""


@dataclass(frozen=True, slots=True)
class _Block:
    """The slots of one state's block: its id, how many entries, where each begins and ends, its seams."""

    state: int
    id: int
    offsets: int
    starts: int
    stops: int
    marks: Marks


@dataclass(frozen=True, slots=True)
class GroupProgram:
    """A key group's number and the blocks of all states in ``order``, which is the same in all key groups."""

    program: Program
    group: int
    blocks: Sequence[_Block]

    @staticmethod
    def of(states: Sequence[HeapState], order: Sequence[int]) -> GroupProgram:
        builder = Builder(wide_times=True)
        group = builder.slot(4)
        builder.emit(ops.I4, group)
        blocks = [_block(builder, states[number], number) for number in order]
        return GroupProgram(builder.finish(NullShape(arrow_type=pa.null())), group, blocks)

    def read(
        self,
        states: Sequence[HeapState],
        wanted: frozenset[int] | None,
        data: Bytes,
        key_groups: Sequence[int],
        bounds: Positions,
    ) -> Window | None:
        """The entries of ``key_groups``, which lie in ``bounds`` (shape (n, 2)); None where they are not as expected
        or damaged, which reading block by block will tell."""
        starts, ends = np.ascontiguousarray(bounds[:, 0]), np.ascontiguousarray(bounds[:, 1])
        n = len(starts)
        lie = ops.EXACT | ops.STEP
        run = run_decode(self.program, data, starts, ends, lie, n, int((ends - starts).sum()))
        numbers = np.array(key_groups, np.int32)
        if run.reason != ops.OK or not np.array_equal(run.arena.array(self.group, n), numbers):
            return None
        if any((run.arena.array(block.id, n) != block.state).any() for block in self.blocks):
            return None
        window: Window = {}
        for block in self.blocks:
            if wanted is None or block.state in wanted:
                offsets = run.arena.array(block.offsets, n + 1).astype(np.int64)
                counts = offsets[1:] - offsets[:-1]
                total = int(counts.sum())
                batch = block.marks.compose(
                    states[block.state], run.arena, data, _positions(run.arena, block.starts, total),
                    _positions(run.arena, block.stops, total), np.repeat(numbers, counts),
                )  # fmt: skip
                if len(batch):
                    window[block.state] = batch
        return window


def _block(builder: Builder, state: HeapState, number: int) -> _Block:
    own = builder.slot(2)
    builder.emit(ops.I2, own)
    offsets = builder.slot(4, offsets=True)
    at = builder.emit(ops.LIST, offsets, 0, 0)
    builder.least = _LEAST_ENTRY
    starts, stops = builder.slot(8), builder.slot(8)
    builder.emit(ops.MARK, starts)
    marks = Marks.emit(builder, state)
    builder.emit(ops.MARK, stops)
    builder.least = 0
    builder.emit(ops.NEXT)
    builder.patch(at, 2, len(builder.code))
    return _Block(number, own, offsets, starts, stops, marks)


def _positions(arena: Arena, slot: int, length: int) -> Positions:
    return arena.array(slot, length).view(np.int64)
