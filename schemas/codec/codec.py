"""A codec: one type, decoded from and encoded to whole columns of bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..errors import EncodeError, FormatError
from . import ops
from .arena import Arena
from .assemble import assemble
from .decode_kernel import decode
from .disassemble import disassemble
from .encode_kernel import encode
from .program import Program

Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]

#: Arrow's 32-bit offsets bound the text and bytes of one batch.
_MOST_BYTES = 1 << 30


FAR_TIMES_TODO = "wide_times (--wide-times, in a plan wide_times: true) gives such times in their parts"


class DecodeError(FormatError):
    """A row that does not decode: ``row`` in the batch, ``position`` in the row's bytes, ``reason`` of ``ops``."""

    def __init__(self, reason: int, row: int, position: int) -> None:
        todo = FAR_TIMES_TODO if reason == ops.FAR_TIME else None
        super().__init__(f"{ops.REASONS[reason]}, at byte {position} of row {row}", todo=todo)
        self.reason, self.row, self.position = reason, row, position


@dataclass(frozen=True, slots=True)
class Codec:
    """Decodes and encodes columns of one program (from ``compile_type`` and its kin)."""

    program: Program

    @property
    def arrow_type(self) -> pa.DataType:
        return self.program.shape.arrow_type

    def decode(
        self, data: Bytes, starts: Positions, ends: Positions, *, exact: bool = True
    ) -> tuple[pa.Array, Positions]:
        """The values of the rows [starts[i], ends[i]) of ``data``, and the position behind each one.

        ``exact`` asks that a value takes up its row; without it what follows is left for the next codec.
        Raises DecodeError naming the row and the byte.
        """
        total = int((ends - starts).sum()) if len(starts) else 0
        if total > _MOST_BYTES and len(starts) > 1:
            return self._decode_halves(data, starts, ends, exact)
        lie = ops.EXACT if exact else ops.PART
        run = run_decode(self.program, data, starts, ends, lie, len(starts), total)
        if run.reason != ops.OK:
            raise DecodeError(run.reason, run.row, run.position - int(starts[run.row]))
        return assemble(run.arena, self.program.shape, len(starts)), run.stops

    def _decode_halves(
        self, data: Bytes, starts: Positions, ends: Positions, exact: bool
    ) -> tuple[pa.Array, Positions]:
        half = len(starts) // 2
        first, first_stops = self.decode(data, starts[:half], ends[:half], exact=exact)
        second, second_stops = self.decode(data, starts[half:], ends[half:], exact=exact)
        return pa.concat_arrays([first, second]), np.concatenate([first_stops, second_stops])

    def decode_column(self, column: pa.Array) -> pa.Array:
        """The values of a large_binary column without nulls."""
        data, offsets = binary_parts(column)
        return self.decode(data, offsets[:-1], offsets[1:])[0]

    def encode(self, array: pa.Array, path: str = "value") -> pa.Array:
        """The bytes of each element, as large_binary. Raises EncodeError naming ``path`` and the row."""
        arena = disassemble(self.program, array, path)
        rows = len(array)
        code, pool = self.program.code.reshape(-1), self.program.pool
        size = arena.block.size * 5 // 4 + 16 * rows + 256
        while True:
            out = np.empty(size, np.uint8)
            offsets = np.zeros(rows + 1, np.int64)
            failure = np.zeros(3, np.int64)
            encode(code, pool, rows, out, offsets, arena.block, arena.base.copy(), arena.base, failure)
            if failure[0] == ops.OK:
                return binary_column(out, offsets)
            if failure[0] != ops.OVERFLOW:
                raise EncodeError(f"{path}: {ops.REASONS[int(failure[0])]}, at row {int(failure[1])}")
            size = 2 * size + int(failure[2])


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a run of the decoder left: the filled arena, the position behind each value, and where it stopped.

    ``reason`` is ``ops.OK``, or why the value ``row`` does not decode at ``position`` of the data.
    """

    arena: Arena
    stops: Positions
    reason: int
    row: int
    position: int


def run_decode(
    program: Program, data: Bytes, starts: Positions, ends: Positions, lie: int, rows: int, total: int
) -> Decoded:
    """Run ``program`` over ``rows`` values of ``total`` bytes that lie as ``ops.PART`` and its kin say."""
    arena = Arena.of(program.slots, [slot.capacity(rows, total) for slot in program.slots])
    stops = np.empty(rows, np.int64)
    failure = np.zeros(3, np.int64)
    decode(
        program.code.reshape(-1), program.pool, data, starts, ends, lie,
        arena.block, arena.head, arena.limit, stops, failure,
    )  # fmt: skip
    return Decoded(arena, stops, int(failure[0]), int(failure[1]), int(failure[2]))


def binary_parts(column: pa.Array) -> tuple[Bytes, Positions]:
    """The data (uint8) and the offsets (int64, one more than rows) of a large_binary array without nulls."""
    if column.type != pa.large_binary():
        column = column.cast(pa.large_binary())
    _, offsets, data = column.buffers()
    if offsets is None or not len(column):
        return np.empty(0, np.uint8), np.zeros(len(column) + 1, np.int64)
    bounds = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8), bounds


def binary_column(data: Bytes, offsets: Positions) -> pa.Array:
    """A large_binary array over ``data`` with these offsets, without a copy."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
