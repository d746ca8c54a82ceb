"""The hash of entries: eight bytes at a time, multiplied and folded, in two lanes."""

from __future__ import annotations

import numpy as np

from ..schemas.codec.memory import load_i8
from ..schemas.kernels import kernel

_BYTES = "Array(uint8, 1, 'C', readonly=True)"
_POSITIONS = "Array(int64, 1, 'C', readonly=True)"
_PRIME_1 = np.uint64(0x9E3779B185EBCA87)
_PRIME_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_PRIME_3 = np.uint64(0x165667B19E3779F9)


@kernel()
def _mix(h, word):  # type: ignore[no-untyped-def]
    h ^= word * _PRIME_2
    h = (h << np.uint64(31)) | (h >> np.uint64(33))
    return h * _PRIME_1


@kernel()
def _final(h):  # type: ignore[no-untyped-def]
    h ^= h >> np.uint64(33)
    h *= _PRIME_2
    h ^= h >> np.uint64(29)
    h *= _PRIME_3
    return h ^ (h >> np.uint64(32))


@kernel()
def _hash(data, start, end, h, clear_flag):  # type: ignore[no-untyped-def]
    """``h`` after the bytes and their number; ``clear_flag`` clears the highest bit of the first one."""
    at = start
    keep = np.uint64(0x7FFFFFFFFFFFFFFF) if clear_flag else np.uint64(0xFFFFFFFFFFFFFFFF)
    while at + 8 <= end:
        h = _mix(h, np.uint64(load_i8(data, at)) & keep)
        keep = np.uint64(0xFFFFFFFFFFFFFFFF)
        at += 8
    if at < end:
        word = np.uint64(0)
        shift = np.uint64(56)
        while at < end:
            word |= np.uint64(data[at]) << shift
            shift -= np.uint64(8)
            at += 1
        h = _mix(h, word & keep)
    return _mix(h, np.uint64(end - start))


@kernel(
    f"({_BYTES}, {_POSITIONS}, {_POSITIONS}, {_BYTES}, {_POSITIONS}, {_POSITIONS}, uint64[::1])",
)
def add_entries(keys, key_starts, key_ends, values, value_starts, value_ends, sums):  # type: ignore[no-untyped-def]
    """Add the hashes of all entries to the two ``sums``."""
    for i in range(key_starts.size):
        h = _hash(keys, key_starts[i], key_ends[i], _PRIME_3, True)
        h = _hash(values, value_starts[i], value_ends[i], h, False)
        sums[0] += _final(h)
        sums[1] += _final(h ^ _PRIME_1)
