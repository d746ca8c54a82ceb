"""The SST reader's kernels against twins that do the same the obvious way, one entry at a time."""

from __future__ import annotations

import struct
from itertools import pairwise

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from statelift.io.sst.blocks import Columns, decode
from statelift.io.sst.checksums import block_checksum, crc32c, first_bad_crc32c, mask_crc32c, unmask_crc32c
from statelift.io.sst.decode_kernels import KEEP_SEQUENCE, OK
from statelift.io.sst.format import BlockHandle, Checksum, ValueType
from statelift.io.sst.index_kernels import decode_index
from statelift.io.sst.merge_kernels import lower_bound, merge_runs, resolve
from statelift.io.sst.range_deletes import RangeDeletion, cover_of
from statelift.io.sst.runs import BlockFormat, RawRun, UnpackedRun, unpack

from .sst_databases import varint

QUICK = settings(max_examples=60, deadline=None)
FORM = BlockFormat(file="f.sst", checksum=Checksum.CRC32C, format_version=5, verify=True, file_size=1 << 40)
ALL_TYPES = frozenset(ValueType)

Entry = tuple[bytes, int, bytes]
"""User key, tag, value."""


def internal(key: bytes, tag: int) -> bytes:
    return key + tag.to_bytes(8, "little")


def block_of(entries: list[tuple[bytes, bytes]], restart: int, hashed: bool = False) -> bytes:
    """``BlockBuilder``: keys share their prefix with the key before, all of it afresh at each restart."""
    out, restarts, before = bytearray(), [], b""
    for i, (key, value) in enumerate(entries):
        shared = 0
        if i % restart == 0:
            restarts.append(len(out))
        else:
            while shared < min(len(key), len(before)) and key[shared] == before[shared]:
                shared += 1
        out += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    restarts = restarts or [0]
    out += b"".join(struct.pack("<I", at) for at in restarts)
    if hashed:
        out += bytes(range(5)) + struct.pack("<H", 5)
    return bytes(out + struct.pack("<I", len(restarts) | hashed << 31))


def run_of(blocks: list[bytes]) -> UnpackedRun:
    ends = np.cumsum([len(block) for block in blocks], dtype=np.int64)
    return UnpackedRun(
        data=np.frombuffer(b"".join(blocks), dtype=np.uint8),
        starts=ends - np.array([len(block) for block in blocks], dtype=np.int64),
        ends=ends,
        offsets=ends,
    )


def entries_of(columns: Columns) -> list[Entry]:
    return [(columns.key(i), int(columns.tags[i]), columns.value(i)) for i in range(len(columns))]


keys = st.binary(max_size=4).map(lambda raw: bytes(b % 3 for b in raw)) | st.binary(max_size=200)
tags = st.builds(
    lambda sequence, kind: sequence << 8 | kind, st.integers(0, (1 << 56) - 1), st.sampled_from([0, 1, 2, 7])
)
values = st.binary(max_size=20) | st.just(bytes(300))
entry_lists = st.lists(st.tuples(keys, tags, values), max_size=40, unique_by=lambda e: e[:2]).map(
    lambda entries: sorted(entries, key=lambda e: (e[0], -e[1]))
)


@QUICK
@given(
    entries=entry_lists,
    restart=st.integers(1, 20),
    cuts=st.lists(st.integers(0, 40), max_size=3),
    hashed=st.booleans(),
)
def test_blocks_decode_to_the_entries_they_were_built_of(
    entries: list[Entry], restart: int, cuts: list[int], hashed: bool
) -> None:
    places = [0, *sorted(min(cut, len(entries)) for cut in cuts), len(entries)]
    blocks = [
        block_of([(internal(key, tag), value) for key, tag, value in entries[a:b]], restart, hashed)
        for a, b in pairwise(places)
    ]
    assert entries_of(decode(FORM, run_of(blocks), types=ALL_TYPES)) == entries


@QUICK
@given(entries=entry_lists, sequence=st.integers(0, (1 << 56) - 1))
def test_a_global_sequence_number_stands_in_for_each_own(entries: list[Entry], sequence: int) -> None:
    block = block_of([(internal(key, tag), value) for key, tag, value in entries], 16)
    decoded = entries_of(decode(FORM, run_of([block]), sequence=sequence, ordered=False, types=ALL_TYPES))
    assert decoded == [(key, sequence << 8 | tag & 0xFF, value) for key, tag, value in entries]


def index_of(entries: list[tuple[bytes, int, int]], restart: int, delta: bool, suffix: bytes) -> bytes:
    """An index block: a size as a zigzag difference where ``delta`` and the key shares bytes."""
    out, restarts, before, size_before = bytearray(), [], b"", 0
    for i, (user_key, offset, size) in enumerate(entries):
        key = user_key + suffix
        shared = 0
        if i % restart == 0:
            restarts.append(len(out))
        else:
            while shared < min(len(key), len(before)) and key[shared] == before[shared]:
                shared += 1
        change = size - size_before
        value = varint(offset) + varint(size)
        if delta and shared:
            value = varint(change << 1 if change >= 0 else (-change << 1) - 1)
        length = b"" if delta else varint(len(value))
        out += varint(shared) + varint(len(key) - shared) + length + key[shared:] + value
        before, size_before = key, size
    out += b"".join(struct.pack("<I", at) for at in restarts)
    return bytes(out + struct.pack("<I", len(restarts)))


@QUICK
@given(
    separators=st.lists(keys, min_size=1, max_size=30, unique=True).map(sorted),
    sizes=st.lists(st.integers(0, 1 << 20), min_size=30, max_size=30),
    restart=st.integers(1, 6),
    delta=st.booleans(),
    suffix=st.sampled_from([b"", bytes(8)]),
)
def test_index_blocks_decode_to_the_handles_they_were_built_of(
    separators: list[bytes], sizes: list[int], restart: int, delta: bool, suffix: bytes
) -> None:
    entries, at = [], 0
    for key, size in zip(separators, sizes, strict=False):
        entries.append((key, at, size))
        at += size + 5
    block = np.frombuffer(index_of(entries, restart, delta, suffix), dtype=np.uint8)
    n, size = len(entries), sum(map(len, separators))
    out = np.empty(size, np.uint8), np.zeros(n + 1, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for fill in (False, True):
        result = decode_index(block, len(suffix), 0, len(block), delta, False, 1 << 40, fill, *out)
        assert result == (OK, 0, n, size)
    data, offsets = out[0].tobytes(), out[1].tolist()
    names = [data[a:b] for a, b in pairwise(offsets)]
    assert list(zip(names, out[2].tolist(), out[3].tolist(), strict=True)) == entries


def packed(names: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.array([0, *map(len, names)], dtype=np.int64)
    return np.frombuffer(b"".join(names), dtype=np.uint8), np.cumsum(lengths)


@QUICK
@given(names=st.lists(keys, max_size=30).map(sorted), wanted=keys)
def test_lower_bound_is_the_first_at_or_above(names: list[bytes], wanted: bytes) -> None:
    data, offsets = packed(names)
    expected = sum(name < wanted for name in names)
    assert lower_bound(data, offsets, 0, len(names), np.frombuffer(wanted, dtype=np.uint8)) == expected


def resolved_obviously(entries: list[Entry], deletions: list[RangeDeletion]) -> list[tuple[bytes, bytes]]:
    """Key by key, newest entry first: collect operands until a value, a deletion or nothing ends the chain."""
    rows = []
    for key in sorted({entry[0] for entry in entries}):
        below = max((d.sequence for d in deletions if d.start <= key < d.end), default=0)
        operands: list[bytes] = []
        for _, tag, value in sorted((e for e in entries if e[0] == key), key=lambda e: -e[1]):
            if tag >> 8 < below or tag & 0xFF in (ValueType.DELETION, ValueType.SINGLE_DELETION):
                break
            operands.insert(0, value)
            if tag & 0xFF == ValueType.VALUE:
                break
        if operands:
            rows.append((key, b",".join(operands)))
    return rows


few_keys = st.sampled_from([b"", b"a", b"aa", b"ab", b"b", b"\x00", b"\xff\xff"])
few_tags = st.builds(
    lambda sequence, kind: sequence << 8 | kind, st.integers(0, 40), st.sampled_from([0, 1, 2, 2, 2, 7])
)
deletion = st.builds(
    lambda start, end, sequence: RangeDeletion(start=start, end=end, sequence=sequence),
    few_keys,
    few_keys,
    st.integers(1, 40),
)


@QUICK
@given(
    entries=st.lists(
        st.tuples(few_keys, few_tags, st.binary(max_size=3)),
        max_size=40,
        unique_by=lambda e: (e[0], e[1] >> 8),
    ),
    runs=st.integers(1, 6),
    deletions=st.lists(deletion, max_size=4),
    data=st.data(),
)
def test_merge_and_resolve_give_what_a_reader_sees(
    entries: list[Entry], runs: int, deletions: list[RangeDeletion], data: st.DataObject
) -> None:
    dealt: list[list[Entry]] = [[] for _ in range(runs)]
    for entry in entries:
        dealt[data.draw(st.integers(0, runs - 1))].append(entry)
    flat = [entry for run in dealt for entry in sorted(run, key=lambda e: (e[0], -e[1]))]
    names, offsets = packed([entry[0] for entry in flat])
    entry_tags = np.array([entry[1] for entry in flat], dtype=np.uint64)
    n = len(flat)
    order = np.empty(n, np.int64)
    merge_runs(names, offsets, entry_tags, np.cumsum([0, *map(len, dealt)]), order)
    assert [flat[i] for i in order] == sorted(entries, key=lambda e: (e[0], -e[1]))
    cover = cover_of(deletions)
    winners, pieces, piece_offsets = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n + 1, np.int64)
    count, _ = resolve(
        names,
        offsets,
        entry_tags,
        order,
        cover.keys,
        cover.key_offsets,
        cover.sequences,
        winners,
        pieces,
        piece_offsets,
    )
    rows = [
        (flat[winners[i]][0], b",".join(flat[j][2] for j in pieces[piece_offsets[i] : piece_offsets[i + 1]]))
        for i in range(count)
    ]
    assert rows == resolved_obviously(entries, deletions)


def crc32c_obviously(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@QUICK
@given(st.binary(max_size=100))
def test_crc32c_is_the_bitwise_one(data: bytes) -> None:
    assert crc32c(data) == crc32c_obviously(data)
    assert unmask_crc32c(mask_crc32c(crc32c(data))) == crc32c(data)


def test_checksums_of_published_vectors() -> None:
    """RFC 3720 B.4 for CRC32c; the masks of RocksDB's ``crc32c_test.cc`` differ from the sum."""
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E
    assert mask_crc32c(crc32c(b"foo")) != crc32c(b"foo")
    assert block_checksum(Checksum.XXHASH, b"abc") == 0x32D153FF
    assert block_checksum(Checksum.XXHASH64, b"abc") == xxhash.xxh64_intdigest(b"abc") & 0xFFFFFFFF
    assert block_checksum(Checksum.XXH3, b"") == 0


@QUICK
@given(blocks=st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=8), data=st.data())
def test_the_first_damaged_block_is_named(blocks: list[bytes], data: st.DataObject) -> None:
    joined = b"".join(b + struct.pack("<I", block_checksum(Checksum.CRC32C, b)) for b in blocks)
    sizes = np.array([len(b) for b in blocks])
    starts, none = np.cumsum(sizes + 4) - sizes - 4, np.zeros_like(sizes)
    assert first_bad_crc32c(np.frombuffer(joined, dtype=np.uint8), starts, sizes, none) == -1
    at = data.draw(st.integers(0, len(joined) - 1))
    damaged = bytearray(joined)
    damaged[at] ^= 1
    bad = first_bad_crc32c(np.frombuffer(bytes(damaged), dtype=np.uint8), starts, sizes, none)
    assert starts[bad] <= at < starts[bad] + sizes[bad] + 4


def test_sequence_numbers_are_kept_by_a_value_no_sequence_has() -> None:
    assert int(KEEP_SEQUENCE) >> 56


@pytest.mark.parametrize("checksum", list(Checksum))
def test_uncompressed_blocks_pass_through(checksum: Checksum) -> None:
    form = BlockFormat(file="f", checksum=checksum, format_version=5, verify=True, file_size=1000)
    body = b"some block"
    data = body + b"\0" + struct.pack("<I", block_checksum(checksum, body + b"\0"))
    assert unpack(form, RawRun.of(BlockHandle(offset=3, size=len(body)), data)).data.tobytes() == body
