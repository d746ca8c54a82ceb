"""Kernels over framed entries: scan and write canonical key groups, gather spans, read key-group prefixes."""

from __future__ import annotations

import numpy as np

from ...schemas.codec.memory import get_8, load_i4, put_8, store_i4
from ...schemas.kernels import kernel

_BYTES = "Array(uint8, 1, 'C', readonly=True)"
_POSITIONS = "Array(int64, 1, 'C', readonly=True)"

#: What ``scan`` stopped for.
DONE, FULL, MORE, BAD_LENGTH, BAD_KEY_GROUP, BAD_STATE = range(6)
END_OF_KEY_GROUP = 0xFFFF
#: In place of a key group: the keys there may name any.
ANY_KEY_GROUP = -1


@kernel()
def _copy(source, start, n, out, at):  # type: ignore[no-untyped-def]
    """Copy exactly ``n`` bytes; eight at a time, the last ones together with some that were copied before."""
    if n < 8:
        for k in range(n):
            out[at + k] = source[start + k]
        return
    for k in range(0, n - 7, 8):
        put_8(out, at + k, get_8(source, start + k))
    put_8(out, at + n - 8, get_8(source, start + n - 8))


@kernel(f"({_BYTES}, {_POSITIONS}, {_POSITIONS}, uint8[::1], {_POSITIONS}, boolean)")
def gather(data, starts, ends, out, offsets, clear_flag):  # type: ignore[no-untyped-def]
    """Copy the rows [starts[i], ends[i]) of ``data`` to ``out`` at offsets[i]."""
    for i in range(starts.size):
        start = starts[i]
        at = offsets[i]
        _copy(data, start, ends[i] - start, out, at)
        if clear_flag and ends[i] > start:
            out[at] &= 0x7F


@kernel(f"({_BYTES}, {_POSITIONS}, {_POSITIONS}, int64, int32[::1])")
def key_groups_of(data, starts, ends, prefix, out):  # type: ignore[no-untyped-def]
    """The key group in the ``prefix`` (1 or 2) first bytes of each row, flag bit cleared; -1 where it is short."""
    for i in range(starts.size):
        if ends[i] - starts[i] < prefix:
            out[i] = -1
        elif prefix == 1:
            out[i] = data[starts[i]] & 0x7F
        else:
            out[i] = np.int32(data[starts[i]] & 0x7F) << 8 | np.int32(data[starts[i] + 1])


@kernel(
    f"({_BYTES}, {_POSITIONS}, int64[:,::1], int64, int64, int32[::1], int32[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1])",
)
def scan(
    buf, groups, bounds, states, prefix, row_groups, ids, key_starts, key_ends, value_starts, value_ends, at
):  # type: ignore[no-untyped-def]
    """Scan the entries of canonical key groups (spec 5.4), group i lying in bounds[i] of ``buf``.

    Fills the row arrays from row 0. at = (group index, position, state, rows, reason) says where to begin and
    becomes where it stopped: state is the id of the run the position is in, or -1 where an id comes next.
    """
    index = at[0]
    pos = at[1]
    state = at[2]
    rows = np.int64(0)
    reason = FULL
    while rows < ids.size:
        if index >= groups.size:
            reason = DONE
            break
        end = bounds[index, 1]
        if state < 0:
            if pos + 2 > end:
                reason = MORE
                break
            state = np.int64(buf[pos]) << 8 | np.int64(buf[pos + 1])
            pos += 2
            if state == END_OF_KEY_GROUP:
                state = np.int64(-1)
                index += 1
                if index < groups.size:
                    pos = bounds[index, 0]
                continue
            if state >= states:
                pos -= 2
                reason = BAD_STATE
                break
        if pos + 4 > end:
            reason = MORE
            break
        length = load_i4(buf, pos)
        if length < prefix:
            reason = BAD_LENGTH
            break
        key = pos + 4
        if key + length + 4 > end:
            reason = MORE
            break
        size = load_i4(buf, key + length)
        if size < 0:
            reason = BAD_LENGTH
            break
        value = key + length + 4
        if value + size > end:
            reason = MORE
            break
        first = np.int64(buf[key])
        group = first & 0x7F
        if prefix == 2:
            group = group << 8 | np.int64(buf[key + 1])
        if groups[index] != ANY_KEY_GROUP and group != groups[index]:
            reason = BAD_KEY_GROUP
            break
        row_groups[rows] = group
        ids[rows] = state
        key_starts[rows] = key
        key_ends[rows] = key + length
        value_starts[rows] = value
        value_ends[rows] = value + size
        rows += 1
        pos = value + size
        if first & 0x80:
            state = np.int64(-1)
    at[0] = index
    at[1] = pos
    at[2] = state
    at[3] = rows
    at[4] = reason


@kernel(
    f"({_BYTES}, {_POSITIONS}, {_POSITIONS}, {_BYTES}, {_POSITIONS}, {_POSITIONS}, int64, boolean[::1],"
    f" boolean[::1], {_POSITIONS}, uint8[::1])",
)
def frame(keys, key_starts, key_ends, values, value_starts, value_ends, state, first, last, positions, out):  # type: ignore[no-untyped-def]
    """Write entries of one state to ``out``, each at its position: the state's id before the ``first`` of a run,
    the flag bit on the ``last`` one."""
    for i in range(key_starts.size):
        at = positions[i]
        if first[i]:
            out[at] = state >> 8
            out[at + 1] = state & 0xFF
            at += 2
        length = key_ends[i] - key_starts[i]
        store_i4(out, at, length)
        at += 4
        start = key_starts[i]
        _copy(keys, start, length, out, at)
        out[at] = (out[at] & 0x7F) | (0x80 if last[i] else 0)
        at += length
        start = value_starts[i]
        length = value_ends[i] - start
        store_i4(out, at, length)
        at += 4
        _copy(values, start, length, out, at)


@kernel()
def _put_var_length(out, at, n):  # type: ignore[no-untyped-def]
    """``varLen`` of spec 5.3: base 256, little-endian, at least one byte."""
    out[at] = n & 0xFF
    at += 1
    n >>= 8
    while n:
        out[at] = n & 0xFF
        at += 1
        n >>= 8
    return at


@kernel(
    f"({_BYTES}, Array(int32, 1, 'C', readonly=True), int64, boolean, {_POSITIONS}, {_POSITIONS}, {_BYTES},"
    f" {_POSITIONS}, {_POSITIONS}, {_BYTES}, {_POSITIONS}, {_POSITIONS}, {_POSITIONS}, uint8[::1])",
)
def compose(
    keys,
    groups,
    prefix,
    ambiguous,
    key_starts,
    key_ends,
    spaces,
    space_starts,
    space_ends,
    user_keys,
    user_starts,
    user_ends,
    offsets,
    out,
):  # type: ignore[no-untyped-def]
    """Write composite keys (spec 5.3), row i at offsets[i]."""
    for i in range(groups.size):
        at = offsets[i]
        if prefix == 2:
            out[at] = groups[i] >> 8
            at += 1
        out[at] = groups[i] & 0xFF
        at += 1
        n = key_ends[i] - key_starts[i]
        _copy(keys, key_starts[i], n, out, at)
        at += n
        if ambiguous:
            at = _put_var_length(out, at, n)
        n = space_ends[i] - space_starts[i]
        _copy(spaces, space_starts[i], n, out, at)
        at += n
        if ambiguous:
            at = _put_var_length(out, at, n)
        _copy(user_keys, user_starts[i], user_ends[i] - user_starts[i], out, at)


@kernel(f"({_BYTES}, int64[::1], {_POSITIONS}, {_POSITIONS})")
def step_over_lengths(data, stops, starts, ends):  # type: ignore[no-untyped-def]
    """Move stops[i], the end of what began at starts[i], behind the varLen that follows it; the first row where
    that is not its length, or -1."""
    for i in range(stops.size):
        n = stops[i] - starts[i]
        at = stops[i]
        while True:
            if at >= ends[i] or data[at] != n & 0xFF:
                return i
            at += 1
            n >>= 8
            if n == 0:
                break
        stops[i] = at
    return -1
