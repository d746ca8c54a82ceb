"""Rows of bytes in bytewise order, as RocksDB's default comparator has them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from . import sort_kernels as kernels
from .entries import Spans


def sorted_order(rows: Spans) -> npt.NDArray[np.int64] | None:
    """Indices that put ``rows`` in ascending order (equal rows keep theirs), or None where they are so already.

    Sixteen bytes behind the common prefix decide almost all; runs that they leave tied are sorted in full.
    """
    if kernels.first_descent(rows.data, rows.starts, rows.ends) < 0:
        return None
    skip = kernels.common_prefix(rows.data, rows.starts, rows.ends)
    high, low = np.empty(len(rows), np.uint64), np.empty(len(rows), np.uint64)
    kernels.sixteen_bytes(rows.data, rows.starts, rows.ends, skip, high, low)
    order = np.lexsort((low, high))
    tied = (high[order][1:] == high[order][:-1]) & (low[order][1:] == low[order][:-1])
    if tied.any():
        edges = np.flatnonzero(np.diff(np.concatenate([[0], tied.view(np.int8), [0]])))
        for start, stop in edges.reshape(-1, 2).tolist():
            run = order[start : stop + 1]
            order[start : stop + 1] = run[
                pc.sort_indices(rows.take(run).to_arrow(clear_flag=False)).to_numpy()
            ]
    return order


def first_duplicate(rows: Spans) -> int:
    """The first row of an ascending run that equals the one before it, or -1."""
    return int(kernels.first_equal(rows.data, rows.starts, rows.ends))
