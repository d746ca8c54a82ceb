"""Kernels that write data blocks: prefix compression with restart points, and block trailers.

A data block is ``entry*, restart*, u4 number of restarts``; an entry is ``varint shared, varint unshared,
varint value length, key without its shared part, value`` where the key carries eight bytes of sequence and
type behind the user key (``table/block_based/block_builder.cc``). All entries here are PUTs of sequence 0.
"""

from __future__ import annotations

from ...schemas.kernels import kernel
from .checksums import crc32c_kernel, mask_crc32c
from .format import INTERNAL_KEY_SUFFIX, ValueType

RESTART_INTERVAL = 16
"""Entries between two keys that are written in full."""

BATCH_DONE, BUFFER_FULL, NOT_ASCENDING, BAD_OFFSETS = 0, 1, 2, 3

STATE_SIZE = 7
"""The state between two calls, as int64: the open block and how far the batch is written."""
NEXT_ROW, BLOCK_START, POSITION, SINCE_RESTART, RESTARTS, BLOCKS, HAS_PREVIOUS = range(STATE_SIZE)

ENTRY_OVERHEAD = 15 + INTERNAL_KEY_SUFFIX
"""What an entry takes beside key and value at most: three lengths, sequence and type."""
_PUT = int(ValueType.VALUE)

_masked = kernel("int64(int64)")(mask_crc32c)


@kernel("int64(uint8[::1], int64, int64)")
def _put_varint(out, pos, value):  # type: ignore[no-untyped-def]
    while value >= 0x80:
        out[pos] = value & 0x7F | 0x80
        value >>= 7
        pos += 1
    out[pos] = value
    return pos + 1


@kernel("int64(uint8[::1], int64, int64)")
def _put_u4(out, pos, value):  # type: ignore[no-untyped-def]
    for shift in range(0, 32, 8):
        out[pos] = value >> shift & 0xFF
        pos += 1
    return pos


@kernel("void(int64[::1], uint8[::1], int64[::1], int64[:, ::1], int64)")
def close_block(state, out, restarts, blocks, last_row):  # type: ignore[no-untyped-def]
    """End the open block with its restarts and note it as ``(start, end, last_row)`` in ``blocks``.

    :func:`encode_entries` leaves room for the restarts in ``out`` and the caller leaves a row in ``blocks``.
    """
    pos = state[POSITION]
    for i in range(state[RESTARTS]):
        pos = _put_u4(out, pos, restarts[i])
    pos = _put_u4(out, pos, state[RESTARTS])
    block = state[BLOCKS]
    blocks[block, 0] = state[BLOCK_START]
    blocks[block, 1] = pos
    blocks[block, 2] = last_row
    state[BLOCKS] = block + 1
    state[BLOCK_START] = pos
    state[POSITION] = pos
    state[RESTARTS] = 0
    state[SINCE_RESTART] = 0


_BYTES = "Array(uint8, 1, 'C', readonly=True)"
_OFFSETS = "Array(int64, 1, 'C', readonly=True)"


@kernel(
    f"int64({_BYTES}, {_OFFSETS}, {_BYTES}, {_OFFSETS}, {_BYTES}, int64, "
    "int64[::1], uint8[::1], int64[::1], int64[:, ::1])",
)
def encode_entries(  # type: ignore[no-untyped-def]
    key_data, key_offsets, value_data, value_offsets, carried_key, block_size, state, out, restarts, blocks
):
    """Append the rows from ``state[NEXT_ROW]`` on to blocks in ``out``; returns one of the four codes above.

    ``carried_key`` is the key before the batch (``state[HAS_PREVIOUS]`` says whether there is one); a block
    whose last key it is has row -1. A block is closed before an entry that would take it past ``block_size``.
    After BUFFER_FULL the caller drains the closed blocks, or grows ``out``, and calls again; after an error
    ``state[NEXT_ROW]`` is the row at fault.
    """
    rows = len(key_offsets) - 1
    row = state[NEXT_ROW]
    while row < rows:
        key_start, value_start = key_offsets[row], value_offsets[row]
        key_len = key_offsets[row + 1] - key_start
        value_len = value_offsets[row + 1] - value_start
        if key_start < 0 or key_len < 0 or key_offsets[row + 1] > len(key_data):
            return BAD_OFFSETS
        if value_start < 0 or value_len < 0 or value_offsets[row + 1] > len(value_data):
            return BAD_OFFSETS

        shared = 0
        if row > 0 or state[HAS_PREVIOUS]:
            if row > 0:
                previous, previous_start = key_data, key_offsets[row - 1]
                previous_len = key_start - previous_start
            else:
                previous, previous_start = carried_key, 0
                previous_len = len(carried_key)
            shortest = min(previous_len, key_len)
            while shared < shortest and previous[previous_start + shared] == key_data[key_start + shared]:
                shared += 1
            if shared == key_len:
                return NOT_ASCENDING
            if shared < previous_len and previous[previous_start + shared] > key_data[key_start + shared]:
                return NOT_ASCENDING

        unshared_size = ENTRY_OVERHEAD + key_len - shared + value_len
        used = state[POSITION] - state[BLOCK_START] + 4 * (state[RESTARTS] + 1)
        if state[RESTARTS] and (used + unshared_size > block_size or state[RESTARTS] == len(restarts)):
            if state[BLOCKS] == len(blocks):
                return BUFFER_FULL
            close_block(state, out, restarts, blocks, row - 1)
        pos = state[POSITION]
        if pos + unshared_size + shared + 4 * (state[RESTARTS] + 2) > len(out):
            return BUFFER_FULL

        if state[RESTARTS] == 0 or state[SINCE_RESTART] == RESTART_INTERVAL:
            shared = 0
            restarts[state[RESTARTS]] = pos - state[BLOCK_START]
            state[RESTARTS] += 1
            state[SINCE_RESTART] = 0
        pos = _put_varint(out, pos, shared)
        pos = _put_varint(out, pos, key_len - shared + INTERNAL_KEY_SUFFIX)
        pos = _put_varint(out, pos, value_len)
        for i in range(shared, key_len):
            out[pos + i - shared] = key_data[key_start + i]
        pos += key_len - shared
        out[pos] = _PUT
        for i in range(1, INTERNAL_KEY_SUFFIX):
            out[pos + i] = 0
        pos += INTERNAL_KEY_SUFFIX
        for i in range(value_len):
            out[pos + i] = value_data[value_start + i]
        state[POSITION] = pos + value_len
        state[SINCE_RESTART] += 1
        row += 1
        state[NEXT_ROW] = row
    return BATCH_DONE


@kernel("void(uint8[::1], int64[:, ::1], int64)")
def seal_blocks(data, blocks, count):  # type: ignore[no-untyped-def]
    """Write the trailers of ``count`` blocks ``(start, end, compression)``; behind each are five bytes free.

    The trailer is the compression byte and the masked CRC32c of block and compression byte.
    """
    for i in range(count):
        end = blocks[i, 1]
        data[end] = blocks[i, 2]
        crc = crc32c_kernel(data, blocks[i, 0], end + 1)
        _put_u4(data, end + 1, _masked(crc))
