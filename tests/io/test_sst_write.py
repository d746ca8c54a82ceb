"""Given sorted entries, the SST files and the MANIFEST written of them are a database that RocksDB reads.

The judge is RocksDB itself (through rocksdict): what it iterates and gets is what was given.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rocksdict import (
    AccessType,
    BlockBasedOptions,
    ChecksumType,
    DBCompressionType,
    Options,
    Rdict,
    SstFileWriter,
)
from statelift.io.sst.directory_writer import write_database_files, write_directory, write_sst_files
from statelift.io.sst.scan import scan
from statelift.io.sst.sst_file import ColumnFamily
from statelift.io.sst.table import open_table
from statelift.io.sst.writer import CompressionName, SstWriter
from statelift.schemas.errors import EncodeError

Entries = list[tuple[bytes, bytes]]

STATE = ColumnFamily(id=1, name="user-state")
TIMERS = ColumnFamily(id=2, name="_timer_state/event_user-timers")
EMPTY = ColumnFamily(id=3, name='a "state": #1 \\ with marks')


def columns(entries: Entries) -> tuple[pa.LargeBinaryArray, pa.LargeBinaryArray]:
    keys, values = zip(*entries, strict=True) if entries else ((), ())
    return pa.array(keys, pa.large_binary()), pa.array(values, pa.large_binary())


def batches(entries: Entries, rows: int = 1000) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(entries), rows):
        keys, values = columns(entries[start : start + rows])
        yield pa.record_batch({"composite_key": keys, "value": values})


def open_in(folder: Path):
    folder.mkdir(exist_ok=True)
    return lambda name: open(folder / name, "xb")


def rocksdb(folder: Path, access: AccessType, *families: ColumnFamily) -> Rdict:
    own = {family.name: Options(raw_mode=True) for family in families}
    return Rdict(str(folder), Options(raw_mode=True), column_families=own, access_type=access)


def many(count: int, seed: int = 1) -> Entries:
    random = Random(seed)
    keys = {b"group" + random.randrange(10**8).to_bytes(8, "big") for _ in range(count)}
    return [(key, random.randbytes(random.randrange(60))) for key in sorted(keys)]


@pytest.mark.parametrize("access", [AccessType.read_only(), AccessType.read_write()], ids=["ro", "rw"])
@pytest.mark.parametrize("compression", ["snappy", "none"])
def test_rocksdb_reads_all_column_families(
    tmp_path: Path, compression: CompressionName, access: AccessType
) -> None:
    state, timers = many(50_000), [(b"\x00" + i.to_bytes(8, "big"), b"") for i in range(3000)]
    contents = [(STATE, batches(state)), (TIMERS, batches(timers)), (EMPTY, batches([]))]
    files = write_directory(open_in(tmp_path), contents, compression=compression, file_size=300_000)

    assert dict(files) == {f.name: f.stat().st_size for f in tmp_path.iterdir()}
    database = rocksdb(tmp_path, access, STATE, TIMERS, EMPTY)
    family = database.get_column_family(STATE.name)
    assert list(family.items()) == state
    assert list(family.items(backwards=True)) == state[::-1]
    assert all(family[key] == value for key, value in state[::31])
    assert family.get(state[0][0] + b"\0") is None
    assert list(database.get_column_family(TIMERS.name).items()) == timers
    assert list(database.get_column_family(EMPTY.name).items()) == []
    assert list(database.items()) == []
    levels = [file["level"] for file in database.live_files()]
    assert len(levels) > 4
    assert set(levels) == {6}


def test_a_written_database_takes_writes_and_compacts(tmp_path: Path) -> None:
    entries = many(20_000)
    write_directory(open_in(tmp_path), [(STATE, batches(entries))], file_size=100_000)
    database = rocksdb(tmp_path, AccessType.read_write(), STATE)
    family = database.get_column_family(STATE.name)
    expected = dict(entries)
    for key, _ in entries[::100]:
        family[key] = expected[key] = b"new"
    for key, _ in entries[50::100]:
        del family[key], expected[key]
    family[b"zz"] = expected[b"zz"] = b"behind all"
    family.flush()
    family.compact_range(None, None)
    database.close()
    again = rocksdb(tmp_path, AccessType.read_only(), STATE)
    assert list(again.get_column_family(STATE.name).items()) == sorted(expected.items())


def test_one_block_is_byte_for_byte_what_rocksdb_writes(tmp_path: Path) -> None:
    entries = [(b"key-%03d" % i, b"v" * (i % 7)) for i in range(100)]
    options, table = Options(raw_mode=True), BlockBasedOptions()
    table.set_format_version(5)
    table.set_checksum_type(ChecksumType.crc32c())
    table.set_block_size(16 * 1024)
    options.set_block_based_table_factory(table)
    options.set_compression_type(DBCompressionType.none())
    theirs = SstFileWriter(options)
    theirs.open(str(tmp_path / "theirs"))
    for key, value in entries:
        theirs[key] = value
    theirs.finish()

    out = BytesIO()
    writer = SstWriter(out, file_number=1, column_family=STATE, compression="none", block_size=16 * 1024)
    writer.add(*columns(entries))
    data_size = writer.size + 4 * 7 + 4 + 5  # seven restarts and their number, then the trailer
    writer.finish()
    assert out.getvalue()[:data_size] == (tmp_path / "theirs").read_bytes()[:data_size]


def test_workers_write_apart_and_one_manifest_lists_all(tmp_path: Path) -> None:
    entries = many(3000)
    parts = [entries[2000:], entries[:1000], entries[1000:2000]]
    infos = [
        info
        for number, part in enumerate(parts)
        for info in write_sst_files(open_in(tmp_path), STATE, batches(part), iter([7 * number + 3]))
    ]
    files = write_database_files(open_in(tmp_path), [STATE], infos)
    assert [name for name, _ in files] == [
        "000003.sst", "000010.sst", "000017.sst", "MANIFEST-000018", "CURRENT", "OPTIONS-000019",
    ]  # fmt: skip
    database = rocksdb(tmp_path, AccessType.read_only(), STATE)
    assert list(database.get_column_family(STATE.name).items()) == entries
    assert {file["level"] for file in database.live_files()} == {6}


def test_files_with_overlapping_ranges_are_put_at_level_0(tmp_path: Path) -> None:
    entries = many(3000)
    infos = []
    for number in (1, 2, 3):
        infos += write_sst_files(open_in(tmp_path), STATE, batches(entries[number - 1 :: 3]), iter([number]))
    write_database_files(open_in(tmp_path), [STATE], infos)
    database = rocksdb(tmp_path, AccessType.read_write(), STATE)
    assert {file["level"] for file in database.live_files()} == {0}
    family = database.get_column_family(STATE.name)
    assert list(family.items()) == entries
    family.compact_range(None, None)
    assert list(family.items()) == entries


def test_a_database_without_entries_opens(tmp_path: Path) -> None:
    write_directory(open_in(tmp_path), [(STATE, []), (EMPTY, [])])
    database = rocksdb(tmp_path, AccessType.read_write(), STATE, EMPTY)
    database.get_column_family(STATE.name)[b"k"] = b"v"
    assert list(database.get_column_family(STATE.name).items()) == [(b"k", b"v")]


def test_the_options_file_names_every_column_family(tmp_path: Path) -> None:
    write_directory(open_in(tmp_path), [(STATE, batches(many(10))), (TIMERS, []), (EMPTY, [])])
    _, families = Options.load_latest(str(tmp_path))
    assert set(families) == {"default", STATE.name, TIMERS.name, EMPTY.name}
    assert set(Rdict.list_cf(str(tmp_path))) == set(families)


def test_rocksdb_counts_what_the_properties_say(tmp_path: Path) -> None:
    entries = many(5000)
    write_directory(open_in(tmp_path), [(STATE, batches(entries))])
    family = rocksdb(tmp_path, AccessType.read_only(), STATE).get_column_family(STATE.name)
    properties = dict(
        part.strip().split("=", 1)
        for part in family.property_value("rocksdb.aggregated-table-properties").split(";")
        if "=" in part
    )
    assert int(properties["# entries"]) == len(entries)
    assert int(properties["raw key size"]) == sum(len(key) + 8 for key, _ in entries)
    assert int(properties["raw value size"]) == sum(len(value) for _, value in entries)
    assert properties["# deletions"] == properties["# merge operands"] == "0"


def test_a_value_of_40_megabytes(tmp_path: Path) -> None:
    big = Random(5).randbytes(1 << 20) * 40
    entries = [(b"a", b"small"), (b"b", big), (b"b2", b""), (b"c" * 100_000, b"long key"), (b"d", b"")]
    write_directory(open_in(tmp_path), [(STATE, batches(entries, rows=2))])
    assert (
        list(rocksdb(tmp_path, AccessType.read_only(), STATE).get_column_family(STATE.name).items())
        == entries
    )


@st.composite
def sorted_entries(draw: st.DrawFn) -> Entries:
    """Keys of many sizes, some with a long prefix in common, the empty one and runs of zeros and 0xFF among them."""
    prefix = draw(st.sampled_from([b"", b"p", b"\x00" * 40, b"\xff" * 300]))
    tail = st.binary(max_size=12) | st.binary(min_size=100, max_size=400) | st.just(b"\xff" * 130)
    keys = draw(st.sets(st.builds(bytes.__add__, st.sampled_from([b"", prefix]), tail), max_size=60))
    value = st.just(b"") | st.binary(max_size=20) | st.builds(bytes, st.integers(0, 5000))
    return [(key, draw(value)) for key in sorted(keys)]


@given(
    sorted_entries(),
    st.integers(1, 40),
    st.sampled_from([64, 500, 16384]),
    st.sampled_from(["snappy", "none"]),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_rocksdb_reads_any_sorted_entries(
    tmp_path_factory: pytest.TempPathFactory,
    entries: Entries,
    rows: int,
    block_size: int,
    compression: CompressionName,
) -> None:
    folder = tmp_path_factory.mktemp("db")
    files = []
    if entries:
        with open_in(folder)("000001.sst") as out:
            writer = SstWriter(
                out, file_number=1, column_family=STATE, compression=compression, block_size=block_size
            )
            for start in range(0, len(entries), rows):
                keys, values = columns(entries)
                writer.add(keys.slice(start, rows), values.slice(start, rows))
            files.append(writer.finish())
        assert (files[0].smallest_key, files[0].largest_key) == (entries[0][0], entries[-1][0])
        assert files[0].size == (folder / "000001.sst").stat().st_size
    write_database_files(open_in(folder), [STATE], files)
    family = rocksdb(folder, AccessType.read_only(), STATE).get_column_family(STATE.name)
    assert list(family.items()) == entries
    assert all(family[key] == value for key, value in entries)


@given(sorted_entries().filter(bool), st.integers(1, 40), st.sampled_from([64, 500, 16384]))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_reader_reads_any_sorted_entries(entries: Entries, rows: int, block_size: int) -> None:
    out = BytesIO()
    writer = SstWriter(out, file_number=7, column_family=STATE, block_size=block_size)
    for batch in batches(entries, rows):
        writer.add(batch.column("composite_key"), batch.column("value"))
    info = writer.finish()
    data = out.getvalue()
    table = open_table(lambda ranges: [data[s : s + n] for s, n in ranges], len(data), info.name)
    assert (table.column_family_name, table.num_entries) == (STATE.name, info.num_entries)
    found = [(k.as_py(), v.as_py()) for b in scan([table]) for k, v in zip(*b.columns, strict=True)]
    assert found == entries


@pytest.mark.parametrize("keys", [(b"b", b"a"), (b"a", b"a"), (b"ab", b"a"), (b"a", b""), (b"", b"")])
@pytest.mark.parametrize("together", [True, False], ids=["in-one-batch", "over-two-batches"])
def test_keys_that_do_not_ascend_are_refused(keys: tuple[bytes, bytes], together: bool) -> None:
    writer = SstWriter(BytesIO(), file_number=12, column_family=STATE)
    entries = [(key, b"v") for key in keys]
    if not together:
        writer.add(*columns(entries[:1]))
        del entries[0]
    what = r"key of entry 1 is not above .*000012\.sst, state user-state.*sort"
    with pytest.raises(EncodeError, match=what):
        writer.add(*columns(entries))


def test_keys_that_do_not_ascend_over_files_are_refused(tmp_path: Path) -> None:
    twice = [*batches([(b"a", b"1" * 100)]), *batches([(b"a", b"2")])]
    with pytest.raises(EncodeError, match=r"not above the last key of 000001\.sst"):
        write_sst_files(open_in(tmp_path), STATE, twice, iter([1, 2]), file_size=1)


@pytest.mark.parametrize(
    ("keys", "values", "what"),
    [
        (pa.array([b"a"], pa.large_binary()), pa.array([None], pa.large_binary()), "1 nulls"),
        (pa.array([b"a"], pa.binary()), pa.array([b"v"], pa.large_binary()), "Arrow type binary"),
        (pa.array([b"a"], pa.large_binary()), pa.array([], pa.large_binary()), "1 keys come with 0 values"),
    ],
)
def test_arrays_that_hold_no_entries_are_refused(keys: pa.Array, values: pa.Array, what: str) -> None:
    with pytest.raises(EncodeError, match=what):
        SstWriter(BytesIO(), file_number=1, column_family=STATE).add(keys, values)


def test_offsets_that_point_outside_are_refused() -> None:
    # Arrow checks the first offset and the last one, not those between.
    offsets = pa.py_buffer(b"".join(end.to_bytes(8, "little") for end in (0, 99, 3)))
    broken = pa.LargeBinaryArray.from_buffers(pa.large_binary(), 2, [None, offsets, pa.py_buffer(b"abc")])
    good = pa.array([b"v", b"w"], pa.large_binary())
    for keys, values in ((broken, good), (good, broken)):
        with pytest.raises(EncodeError, match="outside of its data"):
            SstWriter(BytesIO(), file_number=1, column_family=STATE).add(keys, values)


def test_a_file_without_entries_is_refused() -> None:
    with pytest.raises(EncodeError, match="needs an entry"):
        SstWriter(BytesIO(), file_number=1, column_family=STATE).finish()
