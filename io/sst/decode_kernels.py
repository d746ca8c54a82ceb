"""Kernels that turn decompressed blocks into columns.

A block is ``entry*, u4 restart*, u4 word``; the word is the number of restarts, its top bit set where a hash index
(``u1 bucket*, u2 buckets``) stands before it. An entry is ``varint32 shared, varint32 nonShared, varint32 valueLength,
nonShared key bytes, value`` (``table/block_based/block_builder.cc``). Every read is checked against the end of the
block; a kernel returns ``(code, block, position)`` with one of the codes below.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...schemas.kernels import kernel
from .format import Compression

KEEP_SEQUENCE = np.uint64(0xFFFFFFFFFFFFFFFF)

SNAPPY = int(Compression.SNAPPY)
OK = 0
BAD_RESTARTS = 1
BAD_VARINT = 2
BAD_SHARED = 3
PAST_END = 4
BAD_KEY = 5
NOT_SORTED = 6
BAD_HANDLE = 7
UNREAD_TYPE = 256
"""Plus the value type that is not among those asked for."""

MESSAGES = {
    BAD_RESTARTS: "restart array does not fit in the block",
    BAD_VARINT: "length is cut off or longer than allowed",
    BAD_SHARED: "entry shares more bytes with the key before it than that key has",
    PAST_END: "entry reaches past the end of the block",
    BAD_KEY: "internal key is shorter than its 8 bytes of sequence number and type",
    NOT_SORTED: "keys are not in ascending order",
    BAD_HANDLE: "block handle lies outside the file or out of order",
}

_HASH_INDEX_BIT = 1 << 31
_HASH_INDEX_MAX_BLOCK = 1 << 16

READ_ONLY = "Array(uint8, 1, 'C', readonly=True)"


@njit(inline="never")
def varint(buf, pos, end, bits):  # type: ignore[no-untyped-def]
    """``(value, next position)`` of the varint at ``pos``; the position is -1 where it is cut off or too long."""
    value = np.uint64(0)
    shift = 0
    while pos < end:
        byte = buf[pos]
        pos += 1
        if shift + 7 > bits and (byte >> (bits - shift)) != 0:
            return np.int64(0), np.int64(-1)
        value |= np.uint64(byte & 0x7F) << np.uint64(shift)
        if byte < 0x80:
            return np.int64(value), np.int64(pos)
        shift += 7
        if shift >= bits:
            break
    return np.int64(0), np.int64(-1)


@kernel(
    f"int64({READ_ONLY}, int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])",
)
def packed_sizes(data, begins, sizes, max_ratio, skips, lengths):  # type: ignore[no-untyped-def]
    """What compressed blocks decompress to, and how many bytes before the compressed data say so.

    Block ``i`` is ``data[begins[i]:][:sizes[i]]`` and the number of its compression the byte behind it, all of them
    within ``data``. Returns the first block that says nothing, or more than ``max_ratio`` times its own size, or -1.
    """
    for i in range(len(begins)):
        kind = data[begins[i] + sizes[i]]
        lengths[i] = sizes[i]
        skips[i] = 0
        if kind != 0:
            length, pos = varint(data, begins[i], begins[i] + sizes[i], 32)
            if pos < 0 or length > sizes[i] * max_ratio[kind]:
                return i
            lengths[i] = length
            if kind != SNAPPY:
                skips[i] = pos - begins[i]
    return -1


@njit
def entries_end(buf, start, end):  # type: ignore[no-untyped-def]
    """Where the restart array of the block ``buf[start:end]`` begins, or -1."""
    size = end - start
    if size < 4:
        return np.int64(-1)
    word = np.int64(buf[end - 4]) | np.int64(buf[end - 3]) << 8 | np.int64(buf[end - 2]) << 16
    word |= np.int64(buf[end - 1]) << 24
    limit = end - 4
    if size <= _HASH_INDEX_MAX_BLOCK and word & _HASH_INDEX_BIT:
        word ^= _HASH_INDEX_BIT
        if limit - start < 2:
            return np.int64(-1)
        buckets = np.int64(buf[limit - 2]) | np.int64(buf[limit - 1]) << 8
        limit -= 2 + buckets
    limit -= 4 * word
    if limit < start:
        return np.int64(-1)
    return np.int64(limit)


@kernel(
    f"Tuple((int64, int64, int64, int64, int64))({READ_ONLY}, int64[::1], int64[::1], int64, int64[::1])",
)
def measure_blocks(buf, starts, ends, suffix, limits):  # type: ignore[no-untyped-def]
    """Walks the entries without copying: ``(code, block, position, entries, bytes of keys without suffix)``.

    ``limits[i]`` receives the end of the entries of block ``i``. After ``OK`` every length in the blocks has been
    checked and :func:`decode_blocks` may trust them.
    """
    entries = 0
    key_bytes = 0
    for block in range(len(starts)):
        limit = entries_end(buf, starts[block], ends[block])
        if limit < 0:
            return BAD_RESTARTS, block, ends[block], 0, 0
        limits[block] = limit
        pos = starts[block]
        length = np.int64(0)
        while pos < limit:
            at = pos
            if pos + 3 <= limit and (buf[pos] | buf[pos + 1] | buf[pos + 2]) < 0x80:
                shared = np.int64(buf[pos])
                fresh = np.int64(buf[pos + 1])
                value = np.int64(buf[pos + 2])
                pos += 3
            else:
                shared, pos = varint(buf, pos, limit, 32)
                if pos < 0:
                    return BAD_VARINT, block, at, 0, 0
                fresh, pos = varint(buf, pos, limit, 32)
                if pos < 0:
                    return BAD_VARINT, block, at, 0, 0
                value, pos = varint(buf, pos, limit, 32)
                if pos < 0:
                    return BAD_VARINT, block, at, 0, 0
            if shared > length:
                return BAD_SHARED, block, at, 0, 0
            if fresh + value > limit - pos:
                return PAST_END, block, at, 0, 0
            length = shared + fresh
            if length < suffix:
                return BAD_KEY, block, at, 0, 0
            entries += 1
            key_bytes += length - suffix
            pos += fresh + value
    return OK, 0, 0, entries, key_bytes


@njit(inline="always")
def copy(source, start, length, target, at):  # type: ignore[no-untyped-def]
    """Copies bytes, none where ``length`` is negative; unsigned indices spare numba's test for negative ones."""
    for i in range(length):
        target[np.uint64(at + i)] = source[np.uint64(start + i)]


@njit(inline="always")
def little_u8(buf, pos):  # type: ignore[no-untyped-def]
    """The eight bytes at ``pos`` as a little-endian number."""
    at = np.uint64(pos)
    value = np.uint64(0)
    for i in range(np.uint64(8)):
        value |= np.uint64(buf[at + i]) << (np.uint64(8) * i)
    return value


@njit(inline="always")
def rebuild_key(buf, pos, shared, user, keys, before, last_user, raw, out, suffix):  # type: ignore[no-untyped-def]
    """Writes a user key of ``user`` bytes at ``keys[out:]`` and returns its suffix as a little-endian u8.

    The key before it is ``keys[before:before + last_user]`` and its suffix ``raw``: the shared bytes may reach into
    that suffix, which is not kept among the keys.
    """
    if shared <= last_user and shared <= user:
        copy(keys, before, shared, keys, out)
        copy(buf, pos, user - shared, keys, out + shared)
        return little_u8(buf, pos + user - shared) if suffix else np.uint64(0)
    whole = max(min(user, last_user), 0)
    copy(keys, before, whole, keys, out)
    for i in range(whole, min(shared, user)):
        keys[out + i] = (raw >> np.uint64(8 * (i - last_user))) & np.uint64(0xFF)
    for i in range(min(shared, user), user):
        keys[out + i] = buf[pos + i - shared]
    fresh_raw = np.uint64(0)
    for i in range(suffix):
        at = user + i
        if at >= shared:
            byte = np.uint64(buf[pos + at - shared])
        elif at < last_user:
            byte = np.uint64(keys[before + at])
        else:
            byte = (raw >> np.uint64(8 * (at - last_user))) & np.uint64(0xFF)
        fresh_raw |= byte << np.uint64(8 * i)
    return fresh_raw


@kernel(
    f"Tuple((int64, int64, int64))({READ_ONLY}, int64[::1], int64[::1], int64, uint64, uint64, boolean,"
    " uint8[::1], int64[::1], uint64[::1], int64[::1], int64[::1])",
)
def decode_blocks(  # type: ignore[no-untyped-def]
    buf,
    starts,
    limits,
    suffix,
    sequence,
    types,
    ordered,
    keys,
    key_offsets,
    tags,
    value_starts,
    value_lengths,
):
    """Fills the columns from blocks that :func:`measure_blocks` has passed.

    ``tags`` = sequence number << 8 | value type, the sequence number replaced by ``sequence`` unless that is
    ``KEEP_SEQUENCE``; 0 where ``suffix`` is 0. ``types`` has a bit for each value type that may occur.
    If ``ordered``, keys must ascend over all blocks: user key up, then tag down.
    """
    n = 0
    out = 0
    before = 0
    raw = np.uint64(0)
    key_offsets[0] = 0
    for block in range(len(starts)):
        pos = starts[block]
        limit = limits[block]
        last_user = np.int64(0)
        while pos < limit:
            at = pos
            if pos + 3 <= limit and (buf[pos] | buf[pos + 1] | buf[pos + 2]) < 0x80:
                shared = np.int64(buf[pos])
                fresh = np.int64(buf[pos + 1])
                value = np.int64(buf[pos + 2])
                pos += 3
            else:
                shared, pos = varint(buf, pos, limit, 32)
                fresh, pos = varint(buf, pos, limit, 32)
                value, pos = varint(buf, pos, limit, 32)
            user = shared + fresh - suffix
            raw = rebuild_key(buf, pos, shared, user, keys, before, last_user, raw, out, suffix)
            tag = raw
            if suffix != 0:
                kind = raw & np.uint64(0xFF)
                if kind > 63 or (types >> kind) & np.uint64(1) == 0:
                    return UNREAD_TYPE + np.int64(kind), np.int64(block), np.int64(at)
            if suffix != 0 and sequence != KEEP_SEQUENCE:
                tag = sequence << np.uint64(8) | (raw & np.uint64(0xFF))
            if ordered and n > 0:
                previous = out - before
                common = min(previous, user)
                i = min(shared, common)
                while i < common and keys[before + i] == keys[out + i]:
                    i += 1
                if i < common:
                    ascends = keys[before + i] < keys[out + i]
                elif previous == user and suffix != 0:
                    ascends = tags[n - 1] > tag
                else:
                    ascends = previous < user
                if not ascends:
                    return NOT_SORTED, block, at
            tags[n] = tag
            value_starts[n] = pos + fresh
            value_lengths[n] = value
            before = out
            last_user = user
            out += user
            n += 1
            key_offsets[n] = out
            pos += fresh + value
    return OK, 0, 0
