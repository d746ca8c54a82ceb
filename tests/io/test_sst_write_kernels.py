"""The block kernel and its plain twin make the same blocks of the same entries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from statelift.io.sst import write_kernels as kernels

PUT_OF_SEQUENCE_0 = b"\x01" + bytes(7)


class Block(NamedTuple):
    body: bytes
    last_key: bytes


def varint(value: int) -> bytes:
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + varint(value >> 7)


def blocks_of(entries: list[tuple[bytes, bytes]], block_size: int) -> list[Block]:
    """The twin: one entry after the other, as RocksDB's BlockBuilder puts them."""
    blocks: list[Block] = []
    body, restarts, previous = b"", [], b""
    for number, (key, value) in enumerate(entries):
        shared = common_prefix(previous, key) if number else 0
        needed = 15 + len(key) - shared + 8 + len(value)
        if restarts and len(body) + 4 * (len(restarts) + 1) + needed > block_size:
            blocks.append(Block(body + u4s(*restarts, len(restarts)), previous))
            body, restarts, since = b"", [], 0
        if not restarts or since == 16:
            restarts.append(len(body))
            shared = since = 0
        body += varint(shared) + varint(len(key) - shared + 8) + varint(len(value))
        body += key[shared:] + PUT_OF_SEQUENCE_0 + value
        since += 1
        previous = key
    if restarts:
        blocks.append(Block(body + u4s(*restarts, len(restarts)), previous))
    return blocks


def common_prefix(one: bytes, other: bytes) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def u4s(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(4, "little") for number in numbers)


def arrow(parts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return np.frombuffer(b"".join(parts), dtype=np.uint8), offsets


def kernel_blocks(
    entries: list[tuple[bytes, bytes]], block_size: int, rows: int, room: int, block_rows: int
) -> list[Block]:
    """The kernel over batches of ``rows``, the buffer drained each time it is full at ``room`` bytes."""
    state = np.zeros(kernels.STATE_SIZE, dtype=np.int64)
    out = np.zeros(room, dtype=np.uint8)
    restarts = np.zeros(block_size // 128 + 2, dtype=np.int64)
    noted = np.zeros((block_rows, 3), dtype=np.int64)
    found: list[Block] = []
    carried = b""

    def drain(keys: list[bytes]) -> None:
        for start, end, row in noted[: state[kernels.BLOCKS]].tolist():
            found.append(Block(out[start:end].tobytes(), carried if row < 0 else keys[row]))
        open_block = out[state[kernels.BLOCK_START] : state[kernels.POSITION]].copy()
        out[: len(open_block)] = open_block
        state[kernels.BLOCK_START], state[kernels.POSITION] = 0, len(open_block)
        state[kernels.BLOCKS] = 0

    for start in range(0, len(entries), rows):
        keys = [key for key, _ in entries[start : start + rows]]
        key_data, key_offsets = arrow(keys)
        value_data, value_offsets = arrow([value for _, value in entries[start : start + rows]])
        state[kernels.NEXT_ROW] = 0
        previous = np.frombuffer(carried, dtype=np.uint8)
        while code := kernels.encode_entries(
            key_data,
            key_offsets,
            value_data,
            value_offsets,
            previous,
            block_size,
            state,
            out,
            restarts,
            noted,
        ):
            assert code == kernels.BUFFER_FULL
            drain(keys)
        drain(keys)
        carried = keys[-1]
        state[kernels.HAS_PREVIOUS] = 1
    if entries:
        kernels.close_block(state, out, restarts, noted, -1)
        drain([])
    return found


@given(
    st.dictionaries(
        st.binary(max_size=6) | st.builds(bytes.__add__, st.just(b"p" * 200), st.binary(max_size=3)),
        st.just(b"") | st.binary(max_size=300),
        max_size=120,
    ),
    st.sampled_from([1, 64, 400, 4096]),
    st.integers(1, 50),
    st.integers(0, 3000),
    st.integers(1, 4),
)
@settings(max_examples=300, deadline=None)
def test_kernel_and_twin_agree(
    values: dict[bytes, bytes], block_size: int, rows: int, more_room: int, block_rows: int
) -> None:
    entries = sorted(values.items())
    room = max(block_size, 600) + 300 + more_room
    assert kernel_blocks(entries, block_size, rows, room, block_rows) == blocks_of(entries, block_size)


def test_every_sixteenth_key_is_in_full() -> None:
    entries = [(b"common-%02d" % i, b"") for i in range(33)]
    (block,) = kernel_blocks(entries, 4096, 100, 10_000, 4)
    restarts = np.frombuffer(block.body[-16:], dtype="<u4").tolist()
    assert restarts[-1] == 3
    for entry, offset in zip((0, 16, 32), restarts[:-1], strict=True):
        assert block.body[offset : offset + 12] == bytes([0, 9 + 8, 0]) + entries[entry][0]
