"""The kernels run over a batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..errors import EncodeError
from . import ops
from .arena import Arena
from .columns import Bytes, Positions, Reasons, binary_column
from .decode_kernel import decode
from .program import Program


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a run of the decoder left: the filled arena, the position behind each value, and where it stopped.

    ``reason`` is ``ops.OK``, or why the value ``row`` does not decode at ``position`` of the data. ``reasons`` are why
    values were left out, whose ``stops`` are as :func:`.decode_kernel.decode` says.
    """

    arena: Arena
    stops: Positions
    reasons: Reasons
    reason: int
    row: int
    position: int


def run_decode(
    program: Program, data: Bytes, starts: Positions, ends: Positions, lie: int, rows: int, total: int
) -> Decoded:
    """Run ``program`` over ``rows`` values of ``total`` bytes that lie as ``ops.PART`` and its kin say."""
    arena = Arena.of(program.slots, [slot.capacity(rows, total) for slot in program.slots])
    stops = np.empty(rows, np.int64)
    reasons = np.empty(rows, np.uint8)
    failure = np.zeros(3, np.int64)
    decode(
        program.code.reshape(-1), program.pool, data, starts, ends, lie,
        arena.block, arena.head, arena.limit, arena.head.copy(), np.empty(ops.STACK_WORDS, np.int64),
        stops, reasons, failure,
    )  # fmt: skip
    return Decoded(arena, stops, reasons, int(failure[0]), int(failure[1]), int(failure[2]))


def run_encode(program: Program, arena: Arena, rows: int, path: str) -> pa.Array:
    """The bytes (large_binary) of ``rows`` values in filled slots. Raises EncodeError naming ``path`` and the row."""
    from .encode_kernel import encode  # compiled when it is imported: only who writes waits for it

    code, pool = program.code.reshape(-1), program.pool
    stack = np.empty(ops.STACK_WORDS, np.int64)
    size = arena.block.size * 5 // 4 + 16 * rows + 256
    while True:
        out = np.empty(size, np.uint8)
        offsets = np.zeros(rows + 1, np.int64)
        failure = np.zeros(2, np.int64)
        encode(code, pool, rows, out, offsets, arena.block, arena.base.copy(), arena.base, stack, failure)
        if failure[0] == ops.OK:
            return binary_column(out, offsets)
        if failure[0] != ops.OVERFLOW:
            raise EncodeError(f"{path}: {ops.REASONS[int(failure[0])]}, at row {int(failure[1])}")
        size *= 2
