"""Lists and maps as their serializers write them: where each element or entry lies, and their canonical form.

ListSerializer and MapSerializer write a count and then the parts, which say nowhere how long they are. So a
program is run over them that marks where each one begins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...schemas import types as t
from ...schemas.codec import ops
from ...schemas.codec.arena import Arena
from ...schemas.codec.codec import DecodeError
from ...schemas.codec.columns import binary_column
from ...schemas.codec.run import run_decode
from ...schemas.codec.shapes import Builder, NullShape
from .entries import Bytes, Positions
from .entry_kernels import gather


@dataclass(frozen=True, slots=True)
class PartMarks:
    """The slots of a program that marks parts: the offsets of each row's parts, where each part begins, and where
    the value's flag of a map entry stands (-1 for lists)."""

    offsets: int
    starts: int
    flags: int

    @staticmethod
    def emit(builder: Builder, value: t.DataType, map_key: t.DataType | None) -> PartMarks:
        """Add a list of ``value``, or with ``map_key`` a map, to the program."""
        offsets = builder.slot(4, offsets=True)
        at = builder.emit(ops.LIST, offsets, 0, 0)
        builder.least = 1
        starts, flags = builder.slot(8), -1
        builder.emit(ops.MARK, starts)
        if map_key is None:
            builder.node(value)
        else:
            builder.node(map_key)
            flags = builder.slot(8)
            builder.emit(ops.MARK, flags)
            builder.flagged(lambda: builder.node(value), 1)
        builder.least = 0
        builder.emit(ops.NEXT)
        builder.patch(at, 2, len(builder.code))
        return PartMarks(offsets, starts, flags)


@dataclass(frozen=True, slots=True)
class Parts:
    """Part i is [starts[i], ends[i]), its value's flag (of map entries) at flags[i]; row j has the parts from
    offsets[j] to offsets[j + 1]. All int64."""

    offsets: Positions
    starts: Positions
    ends: Positions
    flags: Positions | None

    @staticmethod
    def of(arena: Arena, marks: PartMarks, stops: Positions) -> Parts:
        """The parts of the rows that end at ``stops``, after a program ran over them."""
        offsets = arena.array(marks.offsets, len(stops) + 1).astype(np.int64)
        total = int(offsets[-1])
        starts = arena.array(marks.starts, total).view(np.int64)
        ends = np.empty_like(starts)
        ends[:-1] = starts[1:]
        filled = offsets[1:] > offsets[:-1]
        ends[offsets[1:][filled] - 1] = stops[filled]
        flags = arena.array(marks.flags, total).view(np.int64) if marks.flags >= 0 else None
        return Parts(offsets, starts, ends, flags)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Parts of each row."""
        return np.diff(self.offsets)

    def joined(self, data: Bytes) -> pa.Array:
        """The elements of each row that has any, joined by one comma (spec 5.4, LIST), as large_binary."""
        counts = self.counts
        counts = counts[counts > 0]
        bounds = np.zeros(len(self.starts) + 1, np.int64)
        np.cumsum(self.ends - self.starts + 1, out=bounds[1:])
        lists = np.concatenate([[0], np.cumsum(counts)])
        # Each element is followed by a comma but the last of its list: a list loses one byte.
        positions = bounds[:-1] - np.repeat(np.arange(len(counts)), counts)
        out = np.full(int(bounds[-1]) - len(counts), 0x2C, np.uint8)
        gather(data, self.starts, self.ends, out, positions, False)
        return binary_column(out, bounds[lists] - np.arange(len(lists)))


def mark_parts(
    data: Bytes, starts: Positions, ends: Positions, value: t.DataType, map_key: t.DataType | None
) -> Parts:
    """The parts of the lists of ``value`` (with ``map_key``: of the maps) that take up [starts[i], ends[i]).

    Raises DecodeError naming the row and the byte.
    """
    builder = Builder(wide_times=True)
    marks = PartMarks.emit(builder, value, map_key)
    program = builder.finish(NullShape(arrow_type=pa.null()))
    total = int((ends - starts).sum())
    run = run_decode(program, data, starts, ends, ops.EXACT | ops.STEP, len(starts), total)
    if run.reason != ops.OK:
        raise DecodeError(run.reason, run.row, run.position - int(starts[run.row]))
    return Parts.of(run.arena, marks, run.stops)
