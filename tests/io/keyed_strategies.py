"""Hypothesis strategies for windows of keyed entries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from statelift.io.keyed.entries import EntryBatch, Window

#: State id, key group, key behind the prefix, value.
Row = tuple[int, int, bytes, bytes]


def batch(groups: Sequence[int], keys: Sequence[bytes], values: Sequence[bytes]) -> EntryBatch:
    return EntryBatch.of(
        np.array(groups, np.int32), pa.array(keys, pa.large_binary()), pa.array(values, pa.large_binary())
    )


def windows_of(rows: Sequence[Row], prefix: int, cuts: Sequence[int]) -> list[Window]:
    """The rows, in the order of their key groups, as windows cut at ``cuts`` (positions)."""
    ordered = sorted(rows, key=lambda row: row[1])
    bounds = sorted({0, *(cut % (len(rows) + 1) for cut in cuts), len(rows)})
    windows = []
    for a, b in pairwise(bounds):
        window: Window = {}
        for state in {row[0] for row in ordered[a:b]}:
            _, groups, keys, values = zip(*(row for row in ordered[a:b] if row[0] == state), strict=True)
            composite = [group.to_bytes(prefix, "big") + key for group, key in zip(groups, keys, strict=True)]
            window[state] = batch(groups, composite, values)
        windows.append(window)
    return windows


def row_lists(states: int, key_groups: int, max_size: int = 40) -> st.SearchStrategy[list[Row]]:
    row = st.tuples(
        st.integers(0, states - 1),
        st.integers(0, key_groups - 1),
        st.binary(max_size=6) | st.integers(0, 3).map(lambda n: bytes(20) + bytes([n])),
        st.binary(max_size=12),
    )
    return st.lists(row, max_size=max_size, unique_by=lambda row: row[:3])
