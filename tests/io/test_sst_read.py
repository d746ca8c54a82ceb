"""What is read from SST files is what RocksDB reads from the same database, entry by entry.

The judge is RocksDB itself (through rocksdict), which also wrote the files.
"""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rocksdict import IngestExternalFileOptions, Options, PlainTableFactoryOptions, Rdict, SstFileWriter
from statelift.io.sst.format import IndexType
from statelift.io.sst.scan import get, scan
from statelift.io.sst.table import approximate_offsets
from statelift.schemas.errors import UnsupportedVersionError

from .sst_databases import Database, Reads, Write, open_table, scanned, table_at

QUICK = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)


def some_writes(count: int, seed: int, keys: int = 400) -> list[Write]:
    """Writes of all kinds over ``keys`` keys; single deletes are of keys put once, as RocksDB asks for."""
    random = Random(seed)

    def key() -> bytes:
        number = random.randrange(keys)
        return b"\x05user-%04d" % number + b"x" * (number % 40)

    writes: list[Write] = []
    for i in range(count):
        kind = random.choices(["put", "merge", "delete", "range", "single"], [8, 8, 3, 0.05, 1])[0]
        value = random.randbytes(random.choice([0, 1, 3, 20, 130]))
        if kind == "range":
            writes.append((kind, *sorted([key(), key()])))
        elif kind == "single":
            once = b"\xf0once-%d-%d" % (seed, i)
            writes += [("put", once, value), ("put", once + b"!", value), (kind, once, b"")]
        else:
            writes.append((kind, key(), b"" if kind == "delete" else value))
    return writes


def levelled(database: Database) -> Database:
    """Data at the bottom, in between and in three overlapping tables of level 0."""
    database.flush(some_writes(2500, 1))
    database.flush(some_writes(1500, 2))
    database.compact()
    for seed in (3, 4, 5):
        database.flush(some_writes(900, seed))
    return database


def assert_reads_alike(database: Database) -> None:
    expected = database.entries()
    assert expected
    assert scanned(database.tables()) == expected
    assert scanned(database.tables(), batch_bytes=700) == expected


CHECKSUMS = ["kNoChecksum", "kCRC32c", "kxxHash", "kxxHash64", "kXXH3"]
COMPRESSIONS = [
    "kNoCompression",
    "kSnappyCompression",
    "kZlibCompression",
    "kBZip2Compression",
    "kLZ4Compression",
    "kLZ4HCCompression",
    "kZSTD",
]


@pytest.mark.parametrize("checksum", CHECKSUMS)
def test_every_checksum(tmp_path: Path, checksum: str) -> None:
    database = levelled(Database(tmp_path, table={"checksum": checksum, "block_size": 700}))
    assert {f"k{table.footer.checksum.name}".lower() for table in database.tables()} == {
        checksum.lower().replace("knochecksum", "knone")
    }
    assert_reads_alike(database)


@pytest.mark.parametrize("checksum", CHECKSUMS)
def test_format_version_6_has_checksums_that_depend_on_the_place(tmp_path: Path, checksum: str) -> None:
    table = {
        "checksum": checksum,
        "block_size": 700,
        "format_version": 6,
        "index_type": "kTwoLevelIndexSearch",
    }
    database = levelled(Database(tmp_path, table=table))
    assert {table.format_version for table in database.tables()} == {6}
    assert 0 not in {table.footer.base_context_checksum for table in database.tables()}
    assert_reads_alike(database)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_every_compression(tmp_path: Path, compression: str) -> None:
    database = levelled(Database(tmp_path, family={"compression": compression}))
    names = {table.properties.compression for table in database.tables()}
    assert {f"k{name}".lower() for name in names} <= {compression.lower(), compression.lower()[:-11]}
    assert_reads_alike(database)


@pytest.mark.parametrize("version", [2, 3, 4, 5])
@pytest.mark.parametrize("index_type", ["kBinarySearch", "kTwoLevelIndexSearch", "kBinarySearchWithFirstKey"])
@pytest.mark.parametrize("restart", [1, 5])
def test_every_index(tmp_path: Path, version: int, index_type: str, restart: int) -> None:
    """Format version 3 brought index keys without sequence number, 4 index values as differences."""
    table = {
        "format_version": version,
        "index_type": index_type,
        "index_block_restart_interval": restart,
        "block_size": 200,
        "metadata_block_size": 300,
    }
    database = levelled(Database(tmp_path, table=table))
    for opened in database.tables():
        assert opened.format_version == version
        assert version >= 3 or not opened.properties.index_key_is_user_key
        assert opened.properties.index_value_is_delta_encoded == (version >= 4)
        assert (opened.properties.index_type is IndexType.TWO_LEVEL) == (index_type == "kTwoLevelIndexSearch")
    assert_reads_alike(database)


@pytest.mark.parametrize(
    "table",
    [
        {"data_block_index_type": "kDataBlockBinaryAndHash"},
        {"block_restart_interval": 1},
        {"block_restart_interval": 1000, "block_size": 20000},
        {"filter_policy": "bloomfilter:10:false", "whole_key_filtering": "true"},
        {"filter_policy": "ribbonfilter:10", "whole_key_filtering": "false"},
        {
            "index_type": "kTwoLevelIndexSearch",
            "partition_filters": "true",
            "filter_policy": "bloomfilter:10:false",
            "metadata_block_size": 128,
        },
        {"block_align": "true"},
        {"enable_index_compression": "false"},
    ],
    ids=str,
)
def test_other_table_options(tmp_path: Path, table: dict[str, object]) -> None:
    family = {"compression": "kNoCompression"} if "block_align" in table else {}
    assert_reads_alike(levelled(Database(tmp_path, table={"block_size": 512, **table}, family=family)))


def test_range_deletions_of_split_files_hold_only_within_their_bounds(tmp_path: Path) -> None:
    """Small target files make compaction cut deletions at file bounds and zero sequence numbers below them."""
    family = {"target_file_size_base": 4000, "num_levels": 4, "max_bytes_for_level_base": 8000}
    database = Database(tmp_path, table={"block_size": 300}, family=family)
    for seed in range(4):
        writes = some_writes(700, seed)
        writes.insert(300, ("range", b"\x05user-0050", b"\x05user-0300"))
        database.flush(writes)
        if seed in (1, 2):
            database.compact(b"\x05user-01", b"\x05user-02")
    assert sum(table.properties.num_range_deletions for table in database.tables()) > 0
    assert len(database.tables()) > 5
    assert_reads_alike(database)


def test_merge_operands_are_joined_from_old_to_new(tmp_path: Path) -> None:
    database = Database(tmp_path)
    database.flush(
        [("merge", b"a", b"1"), ("put", b"b", b"base"), ("put", b"c", b"gone"), ("merge", b"d", b"")]
    )
    database.flush(
        [("merge", b"a", b"2"), ("merge", b"b", b"x,y"), ("delete", b"c", b""), ("merge", b"d", b"")]
    )
    database.flush([("merge", b"c", b"new"), ("merge", b"a", b"3"), ("put", b"e", b"")])
    expected = [(b"a", b"1,2,3"), (b"b", b"base,x,y"), (b"c", b"new"), (b"d", b","), (b"e", b"")]
    assert database.entries() == expected
    assert scanned(database.tables()) == expected


kinds = st.sampled_from(["put", "put", "merge", "merge", "delete", "range"])
small_keys = st.binary(max_size=3).map(lambda raw: bytes(b % 4 for b in raw)) | st.binary(max_size=12)
writes = st.lists(st.tuples(kinds, small_keys, st.binary(max_size=12) | st.just(b"v" * 3000)), max_size=60)


@QUICK
@given(
    flushes=st.lists(st.tuples(writes, st.booleans()), min_size=1, max_size=4),
    checksum=st.sampled_from(CHECKSUMS),
    compression=st.sampled_from(COMPRESSIONS),
    index_type=st.sampled_from(["kBinarySearch", "kTwoLevelIndexSearch", "kBinarySearchWithFirstKey"]),
    version=st.integers(2, 5),
    block_size=st.sampled_from([1, 60, 4096]),
    restart=st.sampled_from([1, 2, 16]),
    bounds=st.tuples(small_keys, small_keys),
    batch_bytes=st.sampled_from([1, 100, 1 << 20]),
)
def test_any_database(
    tmp_path_factory: pytest.TempPathFactory,
    flushes: list[tuple[list[Write], bool]],
    checksum: str,
    compression: str,
    index_type: str,
    version: int,
    block_size: int,
    restart: int,
    bounds: tuple[bytes, bytes],
    batch_bytes: int,
) -> None:
    table = {
        "checksum": checksum,
        "format_version": version,
        "index_type": index_type,
        "block_size": block_size,
        "metadata_block_size": 64,
        "block_restart_interval": restart,
        "index_block_restart_interval": restart,
    }
    database = Database(tmp_path_factory.mktemp("db"), table=table, family={"compression": compression})
    for flush, compacted in flushes:
        database.flush(
            [
                (kind, *sorted([key, value[:3]])) if kind == "range" else (kind, key, value)
                for kind, key, value in flush
            ]
        )
        if compacted:
            database.compact()
    expected = database.entries()
    tables = database.tables()
    assert scanned(tables, batch_bytes=batch_bytes) == expected
    lower, upper = sorted(bounds)
    assert scanned(tables, lower, upper) == [row for row in expected if lower <= row[0] < upper]
    assert scanned(tables, None, upper) == [row for row in expected if row[0] < upper]
    assert scanned(tables, lower, None) == [row for row in expected if row[0] >= lower]
    assert [get(tables, key) for key in bounds] == [dict(expected).get(key) for key in bounds]


def test_ingested_files_take_their_sequence_number_from_the_manifest(tmp_path: Path) -> None:
    """Of two ingested files and the database's own, the later hides the earlier."""
    database = Database(tmp_path / "db")
    database.flush([("put", b"k%03d" % i, b"own") for i in range(100)])
    for name, keys in (("one", range(20, 60)), ("two", range(40, 80))):
        db = database.open()
        external = SstFileWriter(database.options()[1]["default"])
        external.open(str(tmp_path / f"{name}.sst"))
        for i in keys:
            external[b"k%03d" % i] = name.encode()
        external.finish()
        db.ingest_external_file([str(tmp_path / f"{name}.sst")], IngestExternalFileOptions())
        db.close()
    database.flush([("merge", b"k050", b"after"), ("delete", b"k051", b"")])
    tables = database.tables()
    assert sorted(table.global_seqno or 0 for table in tables)[-1] > 0
    expected = database.entries()
    assert (b"k030", b"one") in expected
    assert (b"k050", b"two,after") in expected
    assert scanned(tables) == expected


def test_global_sequence_number_written_into_the_file(tmp_path: Path) -> None:
    """Older RocksDB wrote it over the zero in the properties after the block's checksum was made."""
    external = SstFileWriter(Database(tmp_path / "db").options()[1]["default"])
    external.open(str(tmp_path / "external.sst"))
    external[b"key"] = b"value"
    external.finish()
    data = bytearray((tmp_path / "external.sst").read_bytes())
    name = b"external_sst_file.global_seqno"
    at = data.index(name) + len(name)
    assert data[at : at + 8] == bytes(8)
    data[at] = 77
    reads = Reads(bytes(data))
    assert open_table(reads, len(data), "external.sst").global_seqno == 77


def test_bounds_and_get_read_only_the_blocks_that_can_hold_them(tmp_path: Path) -> None:
    database = Database(tmp_path, table={"block_size": 1000}, family={"compression": "kNoCompression"})
    rows = [(b"key-%06d" % i, Random(i).randbytes(40)) for i in range(20000)]
    database.flush([("put", *row) for row in rows])
    [live] = database.manifest().column_families[0].files
    reads = Reads((tmp_path / live.name).read_bytes())
    table = open_table(reads, len(reads.data), live.name, live=live)
    assert len(reads.requests) <= 3
    assert sum(length for _, length in reads.requests[0]) <= 65536
    reads.requests.clear()
    assert scanned([table], b"key-010000", b"key-010050") == rows[10000:10050]
    assert sum(length for ranges in reads.requests for _, length in ranges) < 6000
    reads.requests.clear()
    assert get([table], b"key-012345") == rows[12345][1]
    assert get([table], b"key-012345!") is None
    assert get([table], b"zzz") is None
    assert sum(length for ranges in reads.requests for _, length in ranges) < 4000


def test_approximate_offsets_follow_the_keys(tmp_path: Path) -> None:
    database = Database(tmp_path, table={"block_size": 500}, family={"compression": "kNoCompression"})
    database.flush([("put", b"%04d" % i, b"v" * 50) for i in range(4000)])
    [table] = database.tables()
    offsets = approximate_offsets(table, [b"", b"1000", b"2000", b"3000", b"9"])
    assert offsets[0] == 0
    assert offsets[-1] == table.data_end
    quarters = offsets / table.data_end
    assert quarters[1:4] == pytest.approx([0.25, 0.5, 0.75], abs=0.01)


def test_batches_are_sorted_bounded_and_grow_for_one_large_entry(tmp_path: Path) -> None:
    database = Database(tmp_path)
    sizes = dict.fromkeys(range(300), 10) | {77: 50000}
    database.flush([("put", b"%04d" % i, bytes(size)) for i, size in sizes.items()])
    batches = list(scan(database.tables(), batch_bytes=2000))
    assert [batch.schema.names for batch in batches] == [["key", "value"]] * len(batches)
    large = [batch for batch in batches if batch.nbytes > 2100]
    assert [batch.column("key").to_pylist() for batch in large] == [[b"0077"]]
    assert sum(batch.num_rows for batch in batches) == 300
    assert len(batches) < 12


def test_a_table_is_not_read_before_the_scan_comes_to_it(tmp_path: Path) -> None:
    database = Database(tmp_path)
    for prefix in (b"a", b"b", b"c"):
        database.flush([("put", prefix + b"%05d" % i, bytes(90)) for i in range(5000)])
    files = sorted(database.manifest().column_families[0].files, key=lambda live: live.smallest)
    reads = [Reads((tmp_path / live.name).read_bytes()) for live in files]
    tables = [
        open_table(read, len(read.data), live.name, live=live)
        for read, live in zip(reads, files, strict=True)
    ]
    opening = [len(read.requests) for read in reads]
    seen = []
    for batch in scan(tables, batch_bytes=100_000):
        prefix = batch.column("key")[0].as_py()[:1]
        if prefix not in seen:
            seen.append(prefix)
            touched = [len(read.requests) > before for read, before in zip(reads, opening, strict=True)]
            assert touched[len(seen) + 1 :] == [False] * (2 - len(seen))
    assert seen == [b"a", b"b", b"c"]


def test_memory_is_bounded_by_the_batches(tmp_path: Path) -> None:
    database = Database(tmp_path)
    for start in (0, 1):
        database.flush([("put", b"%08d" % i, bytes(70)) for i in range(start, 120_000, 2)])
    tables = database.tables()
    list(scan(tables, b"", b"\0"))
    tracemalloc.start()
    try:
        size = sum(batch.nbytes for batch in scan(tables, batch_bytes=1 << 18))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 10 << 20
    assert peak < 5 << 20


def test_no_tables_and_no_entries_give_no_batches(tmp_path: Path) -> None:
    assert list(scan([])) == []
    database = Database(tmp_path)
    database.flush([("put", b"a", b"1")])
    assert list(scan(database.tables(), b"b", b"c")) == []
    database.flush([("delete", b"a", b"")])
    assert list(scan(database.tables())) == []


def test_column_family_and_counts_come_from_the_properties(tmp_path: Path) -> None:
    database = Database(tmp_path)
    database.flush(
        [("put", b"a", b"12"), ("merge", b"b", b"3"), ("delete", b"c", b""), ("range", b"d", b"e")]
    )
    [table] = database.tables()
    assert table.column_family_name == "default"
    properties = table.properties
    assert (properties.num_entries, properties.num_merge_operands, properties.num_range_deletions) == (
        4,
        1,
        1,
    )
    assert properties.raw_key_size == 4 * 9
    assert (table.global_seqno, table.smallest) == (None, b"a")


@pytest.mark.parametrize(
    ("table", "family", "message"),
    [
        (
            {},
            {"comparator": "rocksdb.ReverseBytewiseComparator"},
            "comparator 'rocksdb.ReverseBytewiseComparator'",
        ),
        ({}, {"merge_operator": "max"}, "merged by 'MaxOperator'"),
        (
            {},
            {"compression": "kZSTD", "compression_opts": "{max_dict_bytes=4096;level=3;enabled=true;}"},
            "dictionary",
        ),
    ],
)
def test_refused_by_name(
    tmp_path: Path, table: dict[str, object], family: dict[str, object], message: str
) -> None:
    database = Database.__new__(Database)
    database.folder, database.table, database.family = tmp_path, table, family
    options, families = database.options()
    options.create_if_missing(True)
    Rdict(str(tmp_path), options, column_families=families).close()
    database.flush([("merge", b"%04d" % i, bytes(300)) for i in range(2000)])
    if "ZSTD" in str(family):
        database.compact()
    with pytest.raises(UnsupportedVersionError, match=message):
        database.tables()


def test_a_plain_table_is_refused_by_name(tmp_path: Path) -> None:
    options = Options(raw_mode=True)
    options.set_plain_table_factory(PlainTableFactoryOptions())
    writer = SstFileWriter(options)
    writer.open(str(tmp_path / "plain.sst"))
    writer[b"a"] = b"b"
    writer.finish()
    with pytest.raises(UnsupportedVersionError, match="plain table"):
        table_at(tmp_path / "plain.sst")
