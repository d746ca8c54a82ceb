"""Binary columns as their buffers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]
#: Of each row a reason of ``ops``; 0 where there is none.
Reasons = npt.NDArray[np.uint8]


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
