"""The kernel that turns an index block into columns of keys and block handles."""

from __future__ import annotations

import numpy as np

from ...schemas.kernels import kernel
from .decode_kernels import (
    BAD_HANDLE,
    BAD_KEY,
    BAD_RESTARTS,
    BAD_SHARED,
    BAD_VARINT,
    OK,
    PAST_END,
    READ_ONLY,
    entries_end,
    rebuild_key,
    varint,
)
from .format import BLOCK_TRAILER_SIZE


@kernel(
    f"Tuple((int64, int64, int64, int64))({READ_ONLY}, int64, int64, int64, boolean, boolean, int64, boolean,"
    " uint8[::1], int64[::1], int64[::1], int64[::1])",
)
def decode_index(  # type: ignore[no-untyped-def]
    buf, suffix, block_start, block_end, delta, first_key, file_end, fill, keys, key_offsets, offsets, sizes
):
    """The entries of an index block: ``(code, position, entries, bytes of keys without suffix)``.

    The value of an entry is a block handle (``IndexValue``); with ``delta`` it has no length before it and, where the
    key shares bytes with the one before, is the zigzag difference of the sizes. ``first_key`` adds a
    length-prefixed key to the value, which is skipped. Columns are only written if ``fill``.
    """
    limit = entries_end(buf, block_start, block_end)
    if limit < 0:
        return BAD_RESTARTS, block_end, 0, 0
    pos = block_start
    n = 0
    out = 0
    before = 0
    last_user = np.int64(-suffix)
    raw = np.uint64(0)
    offset = np.int64(0)
    size = np.int64(0)
    end = np.int64(0)
    while pos < limit:
        at = pos
        shared, pos = varint(buf, pos, limit, 32)
        if pos < 0:
            return BAD_VARINT, at, 0, 0
        fresh, pos = varint(buf, pos, limit, 32)
        if pos < 0:
            return BAD_VARINT, at, 0, 0
        value_end = limit
        value = np.int64(0)
        if not delta:
            value, pos = varint(buf, pos, limit, 32)
            if pos < 0:
                return BAD_VARINT, at, 0, 0
        if shared > last_user + suffix:
            return BAD_SHARED, at, 0, 0
        if fresh + value > limit - pos:
            return PAST_END, at, 0, 0
        user = shared + fresh - suffix
        if user < 0:
            return BAD_KEY, at, 0, 0
        if fill:
            raw = rebuild_key(buf, pos, shared, user, keys, before, last_user, raw, out, suffix)
        pos += fresh
        if not delta:
            value_end = pos + value
        if delta and shared > 0:
            change, pos = varint(buf, pos, value_end, 64)
            if pos < 0:
                return BAD_VARINT, at, 0, 0
            offset = end
            size += np.int64(np.uint64(change) >> np.uint64(1)) ^ -(change & 1)
        else:
            offset, pos = varint(buf, pos, value_end, 64)
            if pos < 0:
                return BAD_VARINT, at, 0, 0
            size, pos = varint(buf, pos, value_end, 64)
            if pos < 0:
                return BAD_VARINT, at, 0, 0
        if offset < end or offset > file_end or size < 0 or size > file_end - offset - BLOCK_TRAILER_SIZE:
            return BAD_HANDLE, at, 0, 0
        end = offset + size + BLOCK_TRAILER_SIZE
        if first_key:
            skipped, pos = varint(buf, pos, value_end, 32)
            if pos < 0:
                return BAD_VARINT, at, 0, 0
            if skipped > value_end - pos:
                return PAST_END, at, 0, 0
            pos += skipped
        if not delta:
            pos = value_end
        if fill:
            offsets[n] = offset
            sizes[n] = size
            key_offsets[n + 1] = out + user
        before = out
        last_user = user
        out += user
        n += 1
    return OK, 0, n, out
