"""Kryo values of a declared or known shape: columns of Kryo's bytes to Arrow, and back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..errors import EncodeError
from . import ops
from .columns import Bytes, Positions, Reasons, binary_column, binary_parts
from .kryo_take_kernel import take_rows
from .program import KryoRows

_MOST_OBJECTS = 1 << 16


def kryo_to_plain(
    rows: KryoRows, data: Bytes, starts: Positions, ends: Positions
) -> tuple[Bytes, Positions, Reasons]:
    """The plain bytes of Kryo values, where each ends in them, and the reason why a value has none: it ends where
    in ``data`` the class is named that does not fit (-1: nowhere)."""
    stops = np.empty(len(starts), np.int64)
    reasons = np.empty(len(starts), np.uint8)
    longest = int((ends - starts).max()) if len(starts) else 0
    objects = min(longest + 1, _MOST_OBJECTS)
    failure = np.zeros(1, np.int64)
    size = 4 * int((ends - starts).sum()) + 64
    while True:
        out = np.empty(size, np.uint8)
        failure[0] = 0
        take_rows(
            rows.code, rows.pool, rows.first, rows.five, data, starts, ends,
            out, stops, reasons, objects, failure,
        )  # fmt: skip
        if not failure[0]:
            return out, stops, reasons
        size *= 4


def plain_to_kryo(rows: KryoRows, plain: pa.Array, path: str) -> pa.Array:
    """Kryo's bytes (large_binary) of values in plain bytes. Raises EncodeError naming ``path`` and the row."""
    from .kryo_give_kernel import (
        give_rows,
    )  # compiled when it is imported: only who writes Kryo's waits for it

    data, offsets = binary_parts(plain)
    stops = np.zeros(len(plain) + 1, np.int64)
    failure = np.zeros(2, np.int64)
    size = 2 * int(offsets[-1] - offsets[0]) + 64 * len(plain) + 1024
    while True:
        out = np.empty(size, np.uint8)
        failure[:] = 0
        give_rows(
            rows.code, rows.pool, rows.first, rows.five, data, offsets, out, stops[1:], rows.classes, failure
        )
        if failure[0] == ops.OK:
            return binary_column(out, stops)
        if failure[0] != ops.OVERFLOW:
            raise EncodeError(f"{path}: {ops.REASONS[int(failure[0])]}, at row {int(failure[1])}")
        size *= 4
