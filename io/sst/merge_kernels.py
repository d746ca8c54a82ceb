"""Kernels that merge sorted runs of entries and resolve each user key to one value.

Keys are compared as unsigned bytes; of equal keys the larger tag (sequence number << 8 | value type) comes first.
The callers build the columns from decoded blocks, so offsets here are trusted.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...schemas.kernels import kernel
from .decode_kernels import copy

_BYTES = "Array(uint8, 1, 'C', readonly=True)"
_DELETION, _VALUE, _MERGE = 0, 1, 2
_COMMA = 0x2C


@njit
def compare(left, a, a_end, right, b, b_end):  # type: ignore[no-untyped-def]
    """Negative, zero or positive as ``left[a:a_end]`` is below, equal to or above ``right[b:b_end]``."""
    length = a_end - a
    other = b_end - b
    for i in range(min(length, other)):
        x = np.int64(left[np.uint64(a + i)])
        y = np.int64(right[np.uint64(b + i)])
        if x != y:
            return x - y
    return length - other


@njit
def same(keys, a, a_end, b, b_end):  # type: ignore[no-untyped-def]
    """Whether two keys are equal: from the back, as neighbours differ there."""
    length = a_end - a
    if length != b_end - b:
        return False
    left = length
    while left > 0 and keys[np.uint64(a + left - 1)] == keys[np.uint64(b + left - 1)]:
        left -= 1
    return left == 0


@kernel(f"int64({_BYTES}, int64[::1], int64, int64, {_BYTES})")
def lower_bound(keys, key_offsets, start, end, wanted):  # type: ignore[no-untyped-def]
    """The first entry of ``start..end`` whose key is at or above ``wanted``; ``end`` where there is none."""
    while start < end:
        middle = (start + end) // 2
        if compare(keys, key_offsets[middle], key_offsets[middle + 1], wanted, 0, len(wanted)) < 0:
            start = middle + 1
        else:
            end = middle
    return start


@njit
def comes_first(keys, key_offsets, tags, a, b):  # type: ignore[no-untyped-def]
    """Whether entry ``a`` sorts before entry ``b``; of two that are equal in all, the one of the earlier run."""
    order = compare(keys, key_offsets[a], key_offsets[a + 1], keys, key_offsets[b], key_offsets[b + 1])
    if order != 0:
        return order < 0
    if tags[a] != tags[b]:
        return tags[a] > tags[b]
    return a < b


@kernel(f"void({_BYTES}, int64[::1], uint64[::1], int64[::1], int64[::1])")
def merge_runs(keys, key_offsets, tags, run_offsets, order):  # type: ignore[no-untyped-def]
    """Fills ``order`` with the entries in merged order; run ``r`` is ``run_offsets[r]..run_offsets[r + 1]``, sorted.

    A binary heap of the runs' heads. The run that gave an entry often gives the next, which costs two comparisons;
    else the hole it leaves sinks to the bottom, one comparison a level, and the run rises from there.
    """
    runs = len(run_offsets) - 1
    at = run_offsets[:-1].copy()
    heap = np.empty(runs, dtype=np.int64)
    size = 0
    for run in range(runs):
        if at[run] < run_offsets[run + 1]:
            child = size
            size += 1
            while child > 0:
                parent = (child - 1) // 2
                if comes_first(keys, key_offsets, tags, at[heap[parent]], at[run]):
                    break
                heap[child] = heap[parent]
                child = parent
            heap[child] = run
    n = 0
    while size > 0:
        run = heap[0]
        order[n] = at[run]
        n += 1
        at[run] += 1
        if at[run] == run_offsets[run + 1]:
            size -= 1
            run = heap[size]
        hole = 0
        while True:
            child = 2 * hole + 1
            if child >= size:
                break
            if child + 1 < size and comes_first(
                keys, key_offsets, tags, at[heap[child + 1]], at[heap[child]]
            ):
                child += 1
            if hole == 0 and comes_first(keys, key_offsets, tags, at[run], at[heap[child]]):
                break
            heap[hole] = heap[child]
            hole = child
        while hole > 0:
            parent = (hole - 1) // 2
            if comes_first(keys, key_offsets, tags, at[heap[parent]], at[run]):
                break
            heap[hole] = heap[parent]
            hole = parent
        if size > 0:
            heap[hole] = run


@kernel(
    f"Tuple((int64, int64))({_BYTES}, int64[::1], uint64[::1], int64[::1],"
    f" {_BYTES}, int64[::1], uint64[::1], int64[::1], int64[::1], int64[::1])",
)
def resolve(  # type: ignore[no-untyped-def]
    keys, key_offsets, tags, order, cover_keys, cover_offsets, cover_sequences, winners, pieces, piece_offsets
):
    """What a reader of the database sees: ``(user keys, pieces)``.

    User key ``i`` is that of entry ``winners[i]``, and its value the values of the entries
    ``pieces[piece_offsets[i]:piece_offsets[i + 1]]`` joined by commas (``StringAppendTESTOperator``: the value below
    the operands first, then the operands from old to new). Keys ``cover_keys`` .. (next) are deleted by ranges up to
    ``cover_sequences``.
    """
    n = len(order)
    out = 0
    used = 0
    cover = -1
    covers = len(cover_sequences)
    piece_offsets[0] = 0
    i = 0
    while i < n:
        first = order[i]
        start, end = key_offsets[first], key_offsets[first + 1]
        while cover + 1 < covers and (
            compare(cover_keys, cover_offsets[cover + 1], cover_offsets[cover + 2], keys, start, end) <= 0
        ):
            cover += 1
        deleted_below = cover_sequences[cover] if cover >= 0 else np.uint64(0)
        open_ = True
        begin = used
        while True:
            entry = order[i]
            if open_:
                tag = tags[entry]
                kind = tag & np.uint64(0xFF)
                if (tag >> np.uint64(8)) < deleted_below or (kind != _VALUE and kind != _MERGE):
                    open_ = False
                else:
                    pieces[used] = entry
                    used += 1
                    open_ = kind == _MERGE
            i += 1
            if i == n:
                break
            after = order[i]
            if not same(keys, start, end, key_offsets[after], key_offsets[after + 1]):
                break
        if used > begin:
            low, high = begin, used - 1
            while low < high:
                pieces[low], pieces[high] = pieces[high], pieces[low]
                low += 1
                high -= 1
            winners[out] = first
            out += 1
            piece_offsets[out] = used
    return out, used


@kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])",
)
def measure_resolved(  # type: ignore[no-untyped-def]
    key_offsets, value_lengths, winners, pieces, piece_offsets, out_key_offsets, out_value_offsets
):
    """The Arrow offsets of the resolved keys and values."""
    out_key_offsets[0] = 0
    out_value_offsets[0] = 0
    for i in range(len(winners)):
        entry = winners[i]
        out_key_offsets[i + 1] = out_key_offsets[i] + key_offsets[entry + 1] - key_offsets[entry]
        length = piece_offsets[i + 1] - piece_offsets[i] - 1
        for j in range(piece_offsets[i], piece_offsets[i + 1]):
            length += value_lengths[pieces[j]]
        out_value_offsets[i + 1] = out_value_offsets[i] + length


@kernel(
    f"void({_BYTES}, int64[::1], int64[::1], int64, int64, uint8[::1])",
)
def gather_keys(keys, key_offsets, winners, first, last, out):  # type: ignore[no-untyped-def]
    """Writes the keys of ``winners[first:last]`` one behind the other."""
    at = 0
    for i in range(first, last):
        start = key_offsets[winners[i]]
        length = key_offsets[winners[i] + 1] - start
        copy(keys, start, length, out, at)
        at += length


@kernel(
    f"void({_BYTES}, int64[::1], int64[::1], int64[::1], int64[::1], int64, int64, uint8[::1])",
)
def gather_values(  # type: ignore[no-untyped-def]
    data, value_starts, value_lengths, pieces, piece_offsets, first, last, out
):
    """Writes the values of the resolved keys ``first..last``, pieces joined by commas, one behind the other."""
    at = 0
    for i in range(first, last):
        for j in range(piece_offsets[i], piece_offsets[i + 1]):
            if j > piece_offsets[i]:
                out[at] = _COMMA
                at += 1
            start = value_starts[pieces[j]]
            length = value_lengths[pieces[j]]
            copy(data, start, length, out, at)
            at += length
