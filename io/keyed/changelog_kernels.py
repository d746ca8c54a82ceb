"""Kernels over changelogs: cut change sets into changes, and find the rows that changes touch."""

from __future__ import annotations

import numpy as np

from ...schemas.codec.memory import load_i4
from ...schemas.kernels import kernel
from .sort_kernels import compare_across

_BYTES = "Array(uint8, 1, 'C', readonly=True)"
_POSITIONS = "Array(int64, 1, 'C', readonly=True)"

#: What ``scan_changes`` stopped for.
DONE, FULL, MORE, BAD_COUNT, BAD_LENGTH = range(5)


@kernel(f"({_BYTES}, int32[::1], int64[::1], int64[::1], int64[::1])")
def scan_changes(buf, row_groups, starts, ends, at):  # type: ignore[no-untyped-def]
    """Cut one change set (spec 12) into changes, from row 0 of the row arrays on.

    at = (position, groups left or -1 at the beginning, changes left in the group, key group, rows, reason) says
    where to begin and becomes where it stopped.
    """
    pos = at[0]
    groups = at[1]
    changes = at[2]
    group = at[3]
    rows = np.int64(0)
    reason = FULL
    while rows < starts.size:
        if groups < 0:
            if pos + 4 > buf.size:
                reason = MORE
                break
            groups = load_i4(buf, pos)
            if groups < 0:
                reason = BAD_COUNT
                break
            pos += 4
        if changes == 0:
            if groups == 0:
                reason = DONE
                break
            if pos + 8 > buf.size:
                reason = MORE
                break
            changes = load_i4(buf, pos)
            group = load_i4(buf, pos + 4)
            if changes < 0 or group < -1 or group >= 1 << 15:
                reason = BAD_COUNT
                break
            groups -= 1
            pos += 8
            continue
        if pos + 4 > buf.size:
            reason = MORE
            break
        length = load_i4(buf, pos)
        if length < 1:
            reason = BAD_LENGTH
            break
        if pos + 4 + length > buf.size:
            reason = MORE
            break
        row_groups[rows] = group
        starts[rows] = pos + 4
        ends[rows] = pos + 4 + length
        rows += 1
        changes -= 1
        pos += 4 + length
    at[0] = pos
    at[1] = groups
    at[2] = changes
    at[3] = group
    at[4] = rows
    at[5] = reason


@kernel(
    f"({_BYTES}, {_POSITIONS}, {_POSITIONS}, {_BYTES}, {_POSITIONS}, {_POSITIONS}, boolean, int64[::1])",
)
def find(data, starts, ends, sought, sought_starts, sought_ends, as_head, found):  # type: ignore[no-untyped-def]
    """For each row of ``data`` the row of ``sought`` (ascending) that it is, or with ``as_head`` begins with; or -1.

    The highest bit of a row's first byte is not looked at. No row of ``sought`` may begin with another one,
    where they are sought as heads.
    """
    for i in range(starts.size):
        low = np.int64(0)
        high = np.int64(sought_starts.size)
        while low < high:  # the first one above the row
            middle = (low + high) // 2
            above = compare_across(
                sought, sought_starts[middle], sought_ends[middle], data, starts[i], ends[i]
            )
            if above > 0:
                high = middle
            else:
                low = middle + 1
        found[i] = -1
        if low == 0:
            continue
        candidate = low - 1
        length = sought_ends[candidate] - sought_starts[candidate]
        end = min(ends[i], starts[i] + length) if as_head else ends[i]
        same = compare_across(sought, sought_starts[candidate], sought_ends[candidate], data, starts[i], end)
        if same == 0:
            found[i] = candidate
