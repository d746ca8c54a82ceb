"""The canonical format (spec 5.4): what our writer writes is what the specification says, and reads back the same."""

from __future__ import annotations

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statelift.io.keyed.canonical import CanonicalWriter, prefix_bytes, read_canonical
from statelift.io.keyed.regions import Region, regions_of
from statelift.io.metadata import KeyGroupRange
from statelift.schemas.errors import FormatError, UnexpectedEndError

from .keyed_snapshots import Memory, entries, inline
from .keyed_strategies import Row, batch, row_lists, windows_of

HEADER = b"the header"


def written(rows: list[Row], max_parallelism: int, cuts: list[int]) -> tuple[bytes, list[int]]:
    out = Memory()
    writer = CanonicalWriter(out=out, base=len(HEADER))
    for window in windows_of(rows, prefix_bytes(max_parallelism), cuts):
        writer.write(window)
    writer.finish()
    assert writer.position == len(out.data)
    return HEADER + bytes(out.data), [writer.offsets.get(kg, 0) for kg in range(max_parallelism)]


def slow_read(data: bytes, start: int) -> list[tuple[int, bytes, bytes]]:
    """The twin of the reader: (state id, key, value) of the key group at ``start``, straight from the specification."""
    found = []
    pos = start
    while (state := int.from_bytes(data[pos : pos + 2], "big")) != 0xFFFF:
        pos += 2
        last = False
        while not last:
            parts = []
            for _ in range(2):
                length = int.from_bytes(data[pos : pos + 4], "big")
                parts.append(data[pos + 4 : pos + 4 + length])
                pos += 4 + length
            last = parts[0][0] >= 0x80
            found.append((state, bytes([parts[0][0] & 0x7F]) + parts[0][1:], parts[1]))
    return found


def expected(rows: list[Row], prefix: int) -> dict[int, dict[tuple[int, bytes], bytes]]:
    found: dict[int, dict[tuple[int, bytes], bytes]] = {}
    for state, group, key, value in rows:
        found.setdefault(state, {})[group, group.to_bytes(prefix, "big") + key] = value
    return found


@given(row_lists(3, 5), st.lists(st.integers(0, 40), max_size=4), st.sampled_from([5, 128, 129, 32768]))
def test_the_twin_reads_what_is_written(rows: list[Row], cuts: list[int], max_parallelism: int) -> None:
    data, offsets = written(rows, max_parallelism, cuts)
    prefix = prefix_bytes(max_parallelism)
    found: dict[int, dict[tuple[int, bytes], bytes]] = {}
    for group, offset in enumerate(offsets):
        for state, key, value in slow_read(data, offset) if offset else ():
            found.setdefault(state, {})[group, key] = value
    assert found == expected(rows, prefix)


@given(
    row_lists(3, 5),
    st.lists(st.integers(0, 40), max_size=4),
    st.sampled_from([5, 129]),
    st.sampled_from([10, 64, 1 << 20]),
)
def test_what_is_written_reads_back(
    rows: list[Row], cuts: list[int], max_parallelism: int, batch_bytes: int
) -> None:
    data, offsets = written(rows, max_parallelism, cuts)
    stream = inline(data)
    regions = regions_of(offsets, KeyGroupRange(0, max_parallelism), stream)
    found = entries(
        read_canonical(
            stream,
            regions,
            states=3,
            max_parallelism=max_parallelism,
            compressed=False,
            batch_bytes=batch_bytes,
        )
    )
    assert found == expected(rows, prefix_bytes(max_parallelism))


@given(row_lists(3, 5), st.sampled_from([10, 1 << 20]))
def test_compressed_key_groups_read_the_same(rows: list[Row], batch_bytes: int) -> None:
    plain, offsets = written(rows, 5, [])
    data, moved = bytearray(HEADER), [0] * 5
    stream = inline(plain)
    for region in regions_of(offsets, KeyGroupRange(0, 5), stream):
        moved[region.key_group] = len(data)
        data += bytes(cramjam.snappy.compress(plain[region.start : region.stop]))
    packed = inline(bytes(data))
    found = entries(
        read_canonical(
            packed, regions_of(moved, KeyGroupRange(0, 5), packed), states=3, max_parallelism=5, compressed=True,
            batch_bytes=batch_bytes,
        )
    )  # fmt: skip
    assert found == expected(rows, 1)


@given(row_lists(3, 5), st.sets(st.integers(0, 2)), st.integers(0, 4), st.integers(0, 5))
def test_only_what_is_asked_for(rows: list[Row], wanted: set[int], start: int, number: int) -> None:
    data, offsets = written(rows, 5, [])
    stream = inline(data)
    asked = KeyGroupRange(start, number)
    regions = regions_of(offsets, KeyGroupRange(0, 5), stream, asked)
    found = entries(
        read_canonical(
            stream,
            regions,
            states=3,
            max_parallelism=5,
            compressed=False,
            wanted=frozenset(wanted),
            batch_bytes=50,
        )
    )
    assert found == expected([row for row in rows if row[0] in wanted and row[1] in asked], 1)


def test_an_example_byte_for_byte() -> None:
    """The example of spec section 13: key group 81, String key "a" in the void namespace, Long 7."""
    out = Memory()
    writer = CanonicalWriter(out=out, base=367)
    writer.write({0: batch([81], [bytes.fromhex("51 0261 00")], [bytes(7) + b"\x07"])})
    writer.finish()
    assert bytes(out.data) == bytes.fromhex("0000 00000004 d1026100 00000008 0000000000000007 ffff")
    assert writer.offsets == {81: 367}


def test_a_state_goes_on_where_a_window_ends() -> None:
    """A state's entries stay one run, whatever the windows: its id and the flag bit stand once."""
    whole, parts = Memory(), Memory()
    one = CanonicalWriter(out=whole, base=0)
    one.write({4: batch([1, 1], [b"\x01a", b"\x01b"], [b"x", b"y"])})
    one.finish()
    two = CanonicalWriter(out=parts, base=0)
    two.write({4: batch([1], [b"\x01a"], [b"x"])})
    two.write({})
    two.write({4: batch([1], [b"\x01b"], [b"y"])})
    two.finish()
    assert parts.data == whole.data
    assert two.position == one.position


def test_key_groups_cannot_go_back() -> None:
    writer = CanonicalWriter(out=Memory(), base=0)
    writer.write({0: batch([3], [b"\x03"], [b""])})
    with pytest.raises(ValueError, match="key group 2 after 3"):
        writer.write({0: batch([2], [b"\x02"], [b""])})


@pytest.mark.parametrize(
    ("damaged", "error"),
    [
        ("0003 00000001 81 00000000 ffff", "unknown state id"),
        ("0000 00000001 82 00000000 ffff", "another key group"),
        ("0000 00000000 00000000 ffff", "impossible length"),
        ("0000 00000001 81 ffffffff ffff", "impossible length"),
        ("0000 7fffffff 81 00000000 ffff", "ends inside"),
        ("0000 00000001 81 7fffffff ffff", "ends inside"),
        ("0000 00000001 81 00000000", "ends inside"),
        ("0000 00000001 01 00000000 ffff", "ends inside|impossible"),
        ("00", "ends inside"),
        ("", "ends inside"),
    ],
)
@pytest.mark.parametrize("batch_bytes", [3, 1 << 20])
def test_damage_is_named_with_its_place(damaged: str, error: str, batch_bytes: int) -> None:
    stream = inline(HEADER + bytes.fromhex(damaged))
    region = Region(key_group=1, start=len(HEADER), stop=len(HEADER) + len(bytes.fromhex(damaged)))
    with pytest.raises(FormatError, match=error) as caught:
        list(
            read_canonical(
                stream, [region], states=3, max_parallelism=5, compressed=False, batch_bytes=batch_bytes
            )
        )
    assert caught.value.where.key_group == 1
    assert caught.value.where.offset is not None
    assert caught.value.where.offset >= len(HEADER)


def test_damaged_snappy_is_named() -> None:
    frame = bytes(cramjam.snappy.compress(bytes.fromhex("0000 00000001 81 00000000 ffff")))
    for data, error in (
        (frame[:10] + frame[10:14] + bytes([frame[14] ^ 1]) + frame[15:], "checksum"),
        (frame[:-1], "ends inside a Snappy chunk"),
        (frame[:10] + b"\x02" + frame[11:], "type 0x02"),
        (frame[:10] + b"\x00\xff\xff\xff" + frame[14:], "Snappy chunk of 16777215 bytes"),
    ):
        with pytest.raises(FormatError, match=error):
            list(
                read_canonical(
                    inline(data), [Region(key_group=1, start=0, stop=len(data))], states=1, max_parallelism=5,
                    compressed=True,
                )
            )  # fmt: skip


def test_a_key_group_behind_the_end_is_named() -> None:
    with pytest.raises(FormatError, match="behind the end"):
        regions_of([5], KeyGroupRange(0, 1), inline(b"1234"))
    with pytest.raises(UnexpectedEndError):
        inline(b"1234").read(2, 3)
