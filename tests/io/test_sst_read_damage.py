"""A damaged SST file or MANIFEST gives an error that says file and offset, and never anything else."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statelift.io.sst.format import BlockHandle, Checksum
from statelift.io.sst.manifest_read import read_manifest
from statelift.io.sst.properties import read_properties
from statelift.schemas.errors import FormatError, StateliftError, UnexpectedEndError, UnsupportedVersionError

from .sst_databases import Database, Entries, log_of, prefixed, scanned, table_of, varint

QUICK = settings(max_examples=150, deadline=None)
SMALL_BLOCKS = {"block_size": 60, "metadata_block_size": 60}
TABLES = [
    {"checksum": "kCRC32c", "block_size": 150},
    {"checksum": "kXXH3", "index_type": "kTwoLevelIndexSearch", "block_size": 60, "metadata_block_size": 60},
    {"checksum": "kxxHash64", "format_version": 6, "block_size": 150},
    {"checksum": "kxxHash", "format_version": 2, "index_block_restart_interval": 4, "block_size": 60},
]


@pytest.fixture(scope="module", params=TABLES, ids=lambda table: str(table["checksum"]))
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Entries]:
    """A table of all kinds of entries, and what it holds."""
    database = Database(tmp_path_factory.mktemp("db"), table=request.param)
    writes = [("range", b"key-005", b"key-010")]
    for i in range(60):
        writes += [
            ("put", b"key-%03d" % i, b"some value %d " % (i % 7) * (i % 3)),
            ("merge", b"key-%03d" % i, b"m"),
        ]
    database.flush([*writes, *(("delete", b"key-%03d" % i, b"") for i in range(20, 25))])
    [live] = database.manifest().column_families[0].files
    data = (database.folder / live.name).read_bytes()
    assert scanned([table_of(data)]) == database.entries()
    return data, database.entries()


def read(data: bytes, verify: bool) -> Entries | StateliftError:
    try:
        return scanned([table_of(data, "damaged.sst", verify=verify)])
    except FormatError as raised:
        error = raised
    assert "damaged.sst" in str(error)
    assert "\n" not in str(error)
    return error


@QUICK
@given(data=st.data())
def test_a_changed_byte_is_found_or_changes_nothing(
    sample: tuple[bytes, Entries], data: st.DataObject
) -> None:
    raw, entries = sample
    at = data.draw(st.integers(0, len(raw) - 1))
    changed = raw[:at] + bytes([raw[at] ^ data.draw(st.integers(1, 255))]) + raw[at + 1 :]
    result = read(changed, verify=True)
    assert isinstance(result, FormatError) or result == entries


@QUICK
@given(data=st.data())
def test_damage_without_checksums_ends_in_rows_or_an_error(
    sample: tuple[bytes, Entries], data: st.DataObject
) -> None:
    """The checksums do not stand between the damage and the decoders here."""
    changed = bytearray(sample[0])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(changed) - 1))
        fresh = data.draw(
            st.binary(min_size=1, max_size=6) | st.sampled_from([b"\xff" * 5, b"\xff\xff\xff\xff\x0f"])
        )
        changed[at : at + len(fresh)] = fresh
    read(bytes(changed), verify=False)


@QUICK
@given(data=st.data())
def test_a_file_that_is_cut_off_is_an_error(sample: tuple[bytes, Entries], data: st.DataObject) -> None:
    raw, _ = sample
    assert isinstance(read(raw[: data.draw(st.integers(0, len(raw) - 1))], verify=True), FormatError)
    assert isinstance(read(raw[data.draw(st.integers(1, len(raw))) :], verify=True), FormatError)


@pytest.mark.parametrize("junk", [b"", b"x", bytes(53), bytes(1000), b"\xff" * 4096])
def test_what_is_no_table_is_an_error(junk: bytes) -> None:
    assert isinstance(read(junk, verify=True), FormatError)


def test_damage_in_a_data_block_says_file_and_offset(tmp_path: Path) -> None:
    database = Database(tmp_path, table={"block_size": 100}, family={"compression": "kNoCompression"})
    database.flush([("put", b"key-%03d" % i, b"value") for i in range(100)])
    [live] = database.manifest().column_families[0].files
    raw = bytearray((tmp_path / live.name).read_bytes())
    at = raw.index(b"key-050")
    raw[at] ^= 1
    table = table_of(bytes(raw), "damaged.sst")
    block = max(offset for offset in table.index().offsets.tolist() if offset <= at)
    with pytest.raises(FormatError, match=rf"XXH3 .* does not match.*damaged\.sst.*offset {block}\b"):
        scanned([table])


def crafted(block: bytes, kind: int = 0, entries: int = 1) -> bytes:
    """A table without checksums whose one data block is ``block``, of compression ``kind``."""
    out = bytearray(block + bytes([kind]) + bytes(4))

    def add(rows: list[tuple[bytes, bytes]]) -> BlockHandle:
        body = b"".join(varint(0) + varint(len(k)) + varint(len(v)) + k + v for k, v in rows)
        restarts, at = [], 0
        for k, v in rows:
            restarts.append(struct.pack("<I", at))
            at += len(varint(0) + varint(len(k)) + varint(len(v)) + k + v)
        handle = BlockHandle(offset=len(out), size=len(body) + 4 * len(rows) + 4)
        out.extend(body + b"".join(restarts) + struct.pack("<I", len(rows)) + bytes(5))
        return handle

    def packed(handle: BlockHandle) -> bytes:
        return varint(handle.offset) + varint(handle.size)

    index = add([(b"\xff" * 8 + bytes(8), packed(BlockHandle(offset=0, size=len(block))))])
    properties = add([(b"rocksdb.num.entries", varint(entries))])
    metaindex = add([(b"rocksdb.properties", packed(properties))])
    handles = packed(metaindex) + packed(index)
    out += bytes([Checksum.NONE]) + handles.ljust(40, b"\0") + struct.pack("<IQ", 5, 0x88E241B785F4CFF7)
    return bytes(out)


def entry(shared: int, key: bytes, value: bytes) -> bytes:
    return varint(shared) + varint(len(key)) + varint(len(value)) + key + value


def tag(kind: int, sequence: int = 1) -> bytes:
    return (sequence << 8 | kind).to_bytes(8, "little")


RESTARTS = struct.pack("<II", 0, 1)


def test_a_crafted_table_is_read() -> None:
    block = entry(0, b"a" + tag(1), b"1") + entry(1, b"b" + tag(1), b"2") + RESTARTS
    assert read(crafted(block), verify=True) == [(b"a", b"1"), (b"ab", b"2")]


def test_partitions_of_an_index_that_are_out_of_order_are_an_error(tmp_path: Path) -> None:
    database = Database(tmp_path, table={"index_type": "kTwoLevelIndexSearch", **SMALL_BLOCKS})
    database.flush([("put", b"key-%03d" % i, b"value") for i in range(100)])
    [table] = database.tables()
    assert len(table.index()) > 10
    table._partitions[0], table._partitions[1] = table._partitions[1], table._partitions[0]
    with pytest.raises(FormatError, match="partitions are out of order"):
        scanned([table])


def test_a_property_that_is_cut_off_says_which() -> None:
    with pytest.raises(FormatError, match=r"property rocksdb\.num\.entries.*cut\.sst"):
        read_properties({b"rocksdb.num.entries": b"\x80"}, "cut.sst")


def test_a_newer_format_version_is_refused_by_name() -> None:
    newer = crafted(RESTARTS)[:-12] + struct.pack("<IQ", 7, 0x88E241B785F4CFF7)
    error = read(newer, verify=True)
    assert isinstance(error, UnsupportedVersionError)
    assert "format version 7" in str(error)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (b"", "restart array"),
        (b"\x01\0\0", "restart array"),
        (struct.pack("<I", 1000), "restart array"),
        (struct.pack("<I", 0x7FFFFFFF), "restart array"),
        (struct.pack("<HI", 9, 1 << 31 | 1), "restart array"),
        (entry(1, b"a" + tag(1), b"") + RESTARTS, "shares more bytes"),
        (b"\x00\x09\x05" + b"a" + tag(1) + RESTARTS, "past the end"),
        (b"\x00\xff\xff\xff\xff\xff\x01" + RESTARTS, "length is cut off"),
        (b"\x00\x80" + RESTARTS, "length is cut off"),
        (entry(0, b"a", b"") + RESTARTS, "shorter than its 8 bytes"),
        (entry(0, b"b" + tag(1), b"") + entry(0, b"a" + tag(1), b"") + RESTARTS, "not in ascending order"),
        (entry(0, b"a" + tag(1), b"") + entry(0, b"a" + tag(1), b"") + RESTARTS, "not in ascending order"),
        (entry(0, b"a" + tag(17), b"") + RESTARTS, "BLOB_INDEX"),
        (entry(0, b"a" + tag(22), b"") + RESTARTS, "WIDE_COLUMN_ENTITY"),
        (entry(0, b"a" + tag(99), b"") + RESTARTS, "type 99"),
    ],
)
def test_a_block_that_rocksdb_would_not_write_is_named(block: bytes, message: str) -> None:
    assert message in str(read(crafted(block), verify=True))


@pytest.mark.parametrize(
    ("block", "kind", "message"),
    [
        (b"\xff\xff\xff\xff\x0f" + b"x" * 20, 1, "credibly"),
        (b"\xff\xff\xff\xff\x0f" + b"x" * 20, 7, "credibly"),
        (b"\xff\xff\xff\xff\xff", 4, "credibly"),
        (b"", 1, "credibly"),
        (b"\x05abcdefgh", 1, "SNAPPY"),
        (b"\x05abcdefgh", 2, "ZLIB"),
        (b"\x05abcdefgh", 3, "BZIP2"),
        (b"\x05abcdefgh", 4, "LZ4"),
        (b"\x05abcdefgh", 7, "ZSTD"),
        (b"abc", 6, "XPRESS"),
        (b"abc", 200, "unknown kind"),
    ],
)
def test_a_compressed_block_that_does_not_hold_is_named(block: bytes, kind: int, message: str) -> None:
    assert message in str(read(crafted(block, kind), verify=True))


def test_keys_that_multiply_by_sharing_are_refused_before_memory_is_taken() -> None:
    """Each three bytes repeat a long key: sixty thousand of them would be terabytes."""
    long = entry(0, bytes(1 << 20) + tag(1, 1 << 40), b"")
    body = long + b"".join(entry(1 << 20, tag(1, (1 << 40) - i), b"") for i in range(1, 60000))
    assert "add up to" in str(read(crafted(body + RESTARTS), verify=True))


def edit(*fields: bytes) -> bytes:
    return b"".join(fields)


def test_manifest_files_column_families_and_levels() -> None:
    def added(
        level: int, number: int, first: bytes, last: bytes, seqnos: tuple[int, int], *extra: bytes
    ) -> bytes:
        keys = prefixed(first + tag(1, seqnos[0])) + prefixed(last + tag(1, seqnos[1]))
        head = varint(103) + varint(level) + varint(number) + varint(1000 + number)
        return head + keys + varint(seqnos[0]) + varint(seqnos[1]) + b"".join(extra) + varint(1)

    checksum = varint(7) + prefixed(b"sum")
    records = [
        edit(
            varint(1) + prefixed(b"leveldb.BytewiseComparator"), varint(2) + varint(4), varint(3) + varint(9)
        ),
        edit(varint(200) + varint(1), varint(201) + prefixed("zustand-ä".encode()), varint(203) + varint(1)),
        edit(varint(200) + varint(2), varint(201) + prefixed(b"dropped")),
        edit(
            varint(200) + varint(1),
            added(0, 11, b"a", b"m", (5, 9)),
            added(0, 12, b"b", b"z", (10, 20), checksum),
        ),
        edit(varint(200) + varint(1), added(1, 13, b"n", b"z", (1, 2)), added(1, 14, b"a", b"m", (1, 2))),
        edit(varint(200) + varint(2), varint(202)),
        edit(varint(200) + varint(1), varint(6) + varint(0) + varint(11)),
        edit(varint(4) + varint(77), varint(1 << 13 | 1) + prefixed(b"db-id"), varint(300) + varint(0)),
    ]
    manifest = read_manifest(log_of(records))
    assert [family.name for family in manifest.column_families] == ["default", "zustand-ä"]
    assert (manifest.last_sequence, manifest.next_file_number) == (77, 9)
    family = manifest.column_family("zustand-ä")
    assert family is not None
    assert [(f.level, f.name) for f in family.files] == [
        (0, "000012.sst"),
        (1, "000014.sst"),
        (1, "000013.sst"),
    ]
    assert (family.files[0].smallest_seqno, family.files[0].largest_seqno) == (10, 20)
    assert (family.files[0].file_size, family.files[0].smallest) == (1012, b"b" + tag(1, 10))
    assert manifest.column_family("dropped") is None


def test_manifest_records_span_blocks_of_32_kib() -> None:
    names = [b"family-%d-" % i + b"x" * (9000 + i) for i in range(12)]
    records = [varint(200) + varint(i + 1) + varint(201) + prefixed(name) for i, name in enumerate(names)]
    manifest = read_manifest(log_of([b"".join(records[:1]), *records[1:], varint(4) + varint(5)]))
    assert [family.name.encode() for family in manifest.column_families[1:]] == names


def test_manifest_agrees_with_rocksdb(tmp_path: Path) -> None:
    database = Database(tmp_path)
    for start in (0, 50, 100):
        database.flush([("put", b"%04d" % i, b"v") for i in range(start, start + 80)])
        if start == 50:
            database.compact()
    db = database.open()
    expected = {
        (f["level"], f["name"].lstrip("/"), f["size"], bytes(f["start_key"])) for f in db.live_files()
    }
    db.close()
    files = database.manifest().column_families[0].files
    assert {(f.level, f.name, f.file_size, f.smallest[:-8]) for f in files} == expected
    assert len(files) == 2


@pytest.mark.parametrize(
    ("record", "error", "message"),
    [
        (varint(7000), FormatError, "unknown tag 7000"),
        (varint(400) + b"\0", UnsupportedVersionError, "blob files"),
        (varint(200) + varint(5) + varint(4), UnexpectedEndError, "last sequence"),
        (
            varint(103) + varint(0) + varint(1) + varint(1) + prefixed(b"short"),
            FormatError,
            "smallest key is shorter",
        ),
        (varint(200) + varint(5) + varint(6) + varint(0) + varint(1), FormatError, "column family 5"),
        (varint(4) + b"\xff" * 11, FormatError, "longer than 64 bits"),
    ],
)
def test_a_manifest_edit_that_cannot_be_is_named(record: bytes, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        read_manifest(log_of([varint(4) + varint(1), record]), "MANIFEST-000004")
    assert "MANIFEST-000004" in str(raised.value)
    assert "offset 9" in str(raised.value)


@QUICK
@given(data=st.data())
def test_a_damaged_manifest_is_an_error_or_shorter(data: st.DataObject) -> None:
    raw = log_of([varint(200) + varint(i) + varint(201) + prefixed(b"n%d" % i * 50) for i in range(1, 30)])
    at = data.draw(st.integers(0, len(raw) - 1))
    changed = raw[:at] + bytes([raw[at] ^ data.draw(st.integers(1, 255))]) + raw[at + 1 :]
    with pytest.raises(FormatError, match="MANIFEST"):
        read_manifest(changed)


def test_blocks_that_are_not_read_are_checked_by_their_checksums(tmp_path: Path) -> None:
    """A filter, which entries are read without, and data blocks that nobody asked for."""
    database = Database(tmp_path, table={"filter_policy": "bloomfilter:10:false", "block_size": 100})
    database.flush([("put", b"key-%03d" % i, b"value %d" % i) for i in range(100)])
    [live] = database.manifest().column_families[0].files
    data = (database.folder / live.name).read_bytes()
    sound = table_of(data)
    [filter_block] = sound.meta_blocks.values()
    index = sound.index()
    sound.check_meta_blocks()
    sound.check_blocks(index, range(len(index)))

    at = filter_block.offset + 3
    damaged = table_of(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :])
    assert scanned([damaged]) == database.entries()
    with pytest.raises(FormatError, match="does not match: the file is damaged") as caught:
        damaged.check_meta_blocks()
    assert caught.value.where.offset == filter_block.offset

    at = int(index.offsets[5]) + 3
    damaged = table_of(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :])
    damaged.check_blocks(index, range(5))
    with pytest.raises(FormatError, match="does not match: the file is damaged") as caught:
        damaged.check_blocks(index, range(4, 7))
    assert caught.value.where.offset == int(index.offsets[5])


def test_the_partitions_of_a_filter_are_checked_by_their_checksums(tmp_path: Path) -> None:
    table = {
        "index_type": "kTwoLevelIndexSearch",
        "partition_filters": "true",
        "filter_policy": "bloomfilter:10:false",
        "metadata_block_size": 64,
        "block_size": 100,
    }
    database = Database(tmp_path, table=table)
    database.flush([("put", b"key-%03d" % i, b"value %d" % i) for i in range(300)])
    [live] = database.manifest().column_families[0].files
    data = (database.folder / live.name).read_bytes()
    sound = table_of(data)
    sound.check_meta_blocks()
    [top] = sound.meta_blocks.values()
    last = sound.index().end
    assert top.offset - last > 300  # Filter bytes stand between the data and the filter's own index.
    for at in (last, last + 3, top.offset - 20, top.offset):
        damaged = table_of(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :])
        with pytest.raises(FormatError, match="does not match: the file is damaged"):
            damaged.check_meta_blocks()
