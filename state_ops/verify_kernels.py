"""Kernels of the verification: a number for each row of bytes, to find equal ones by."""

from __future__ import annotations

import numpy as np

from ..schemas.kernels import kernel

_OFFSET = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)


@kernel(
    "(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True),"
    " Array(int64, 1, 'C', readonly=True), uint64[::1])",
)
def fingerprints(data, starts, ends, out):  # type: ignore[no-untyped-def]
    """FNV-1a, 64 bits, of the rows [starts[i], ends[i]) of ``data``; the highest bit of a row's first byte, the
    canonical format's flag, counts as clear. A row that is not inside ``data`` gets 0."""
    for i in range(starts.size):
        value = _OFFSET
        if starts[i] < 0 or ends[i] > data.size:
            out[i] = 0
            continue
        for k in range(starts[i], ends[i]):
            byte = np.uint64(data[k])
            if k == starts[i]:
                byte &= np.uint64(0x7F)
            value = (value ^ byte) * _PRIME
        out[i] = value
