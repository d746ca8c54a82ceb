"""Kernels that compare rows of bytes."""

from __future__ import annotations

import numpy as np

from ...schemas.kernels import kernel

_BYTES = "Array(uint8, 1, 'C', readonly=True)"
_POSITIONS = "Array(int64, 1, 'C', readonly=True)"
_ROWS = f"({_BYTES}, {_POSITIONS}, {_POSITIONS})"


@kernel()
def _compare(data, a, a_end, b, b_end):  # type: ignore[no-untyped-def]
    """Below, at or above 0 as row a is below, equal to or above row b."""
    n = min(a_end - a, b_end - b)
    for k in range(n):
        if data[a + k] != data[b + k]:
            return np.int64(data[a + k]) - np.int64(data[b + k])
    return (a_end - a) - (b_end - b)


@kernel()
def compare_across(own, a, a_end, data, b, b_end):  # type: ignore[no-untyped-def]
    """As ``_compare`` for rows of two buffers; the highest bit of the second one's first byte is not looked at."""
    n = min(a_end - a, b_end - b)
    for k in range(n):
        other = data[b + k] & 0x7F if k == 0 else data[b + k]
        if own[a + k] != other:
            return np.int64(own[a + k]) - np.int64(other)
    return (a_end - a) - (b_end - b)


@kernel(f"int64{_ROWS}")
def first_descent(data, starts, ends):  # type: ignore[no-untyped-def]
    """The first row that is below the one before it, or -1."""
    for i in range(1, starts.size):
        if _compare(data, starts[i - 1], ends[i - 1], starts[i], ends[i]) > 0:
            return i
    return -1


@kernel(f"int64{_ROWS}")
def first_equal(data, starts, ends):  # type: ignore[no-untyped-def]
    """The first row that equals the one before it, or -1."""
    for i in range(1, starts.size):
        if _compare(data, starts[i - 1], ends[i - 1], starts[i], ends[i]) == 0:
            return i
    return -1


@kernel(f"int64{_ROWS}")
def common_prefix(data, starts, ends):  # type: ignore[no-untyped-def]
    """Bytes that all rows begin with. At least one row."""
    n = ends[0] - starts[0]
    for i in range(1, starts.size):
        n = min(n, ends[i] - starts[i])
        for k in range(n):
            if data[starts[i] + k] != data[starts[0] + k]:
                n = k
                break
    return n


@kernel(f"({_BYTES}, {_POSITIONS}, {_POSITIONS}, int64, uint64[::1], uint64[::1])")
def sixteen_bytes(data, starts, ends, skip, high, low):  # type: ignore[no-untyped-def]
    """The sixteen bytes behind the first ``skip`` of each row as two numbers, zeros behind its end."""
    for i in range(starts.size):
        for half in range(2):
            value = np.uint64(0)
            start = starts[i] + skip + 8 * half
            for k in range(8):
                byte = data[start + k] if start + k < ends[i] else np.uint8(0)
                value = value << np.uint64(8) | np.uint64(byte)
            if half == 0:
                high[i] = value
            else:
                low[i] = value
