"""Given records, the log file of a MANIFEST is cut and checked as RocksDB's; given files, RocksDB finds them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rocksdict import AccessType, Options, Rdict
from statelift.io.sst.checksums import block_checksum
from statelift.io.sst.directory_writer import write_directory
from statelift.io.sst.format import Checksum
from statelift.io.sst.manifest import current_file, log_file, write_manifest
from statelift.io.sst.manifest_read import read_manifest
from statelift.io.sst.sst_file import ColumnFamily, SstFileInfo
from statelift.schemas.errors import EncodeError

from .test_sst_write import STATE, batches, open_in

BLOCK = 32 * 1024
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def records_of(log: bytes) -> list[bytes]:
    """The twin: log blocks of 32 KiB, records of ``u4 masked CRC32c of type and part, u2 size, u1 type, part``."""
    records, open_record = [], None
    for start in range(0, len(log), BLOCK):
        block = log[start : start + BLOCK]
        while len(block) >= 7:
            size, kind = int.from_bytes(block[4:6], "little"), block[6]
            part, block = block[7 : 7 + size], block[7 + size :]
            if kind in (FULL, FIRST):
                assert open_record is None
                open_record = b""
            open_record += part
            if kind in (FULL, LAST):
                records.append(open_record)
                open_record = None
        assert not any(block)
    assert open_record is None
    return records


def checksums_are_right(log: bytes) -> bool:
    for start in range(0, len(log), BLOCK):
        block = log[start : start + BLOCK]
        while len(block) >= 7:
            end = 7 + int.from_bytes(block[4:6], "little")
            if block_checksum(Checksum.CRC32C, block[6:end]) != int.from_bytes(block[:4], "little"):
                return False
            block = block[end:]
    return True


# Sizes around the end of a log block: with 7 bytes left an empty first part fits, with fewer there are zeros.
near_the_end = st.integers(BLOCK - 30, BLOCK + 10) | st.integers(2 * BLOCK - 40, 2 * BLOCK)


@given(st.lists(st.builds(lambda n: b"r" * n, st.integers(0, 60) | near_the_end), max_size=8))
@settings(max_examples=150, deadline=None)
def test_records_are_cut_at_log_blocks(records: list[bytes]) -> None:
    log = log_file(records)
    assert records_of(log) == records
    assert checksums_are_right(log)


@pytest.mark.parametrize("left", range(12))
def test_a_record_that_leaves_few_bytes_of_a_block(left: int) -> None:
    log = log_file([b"a" * (BLOCK - 7 - left), b"behind"])
    if left < 7:
        assert log[BLOCK - left : BLOCK] == bytes(left)
        assert log[BLOCK + 6] == FULL
    else:
        assert log[BLOCK - left + 6] == FIRST
    assert records_of(log)[1] == b"behind"


@pytest.mark.corpus
def test_the_manifests_that_flink_wrote_are_made_again_from_their_records(corpus: Path) -> None:
    manifests = [
        data
        for file in corpus.glob("known/*/*rocksdb*/**/*")
        if file.is_file()
        and b"leveldb.BytewiseComparator" in (data := file.read_bytes())[:80]
        and not data.startswith(b"MANIFEST")  # a merged file, which begins with a CURRENT
    ]
    if not manifests:
        pytest.skip("the corpus has no MANIFEST in a file of its own")
    for data in manifests:
        assert log_file(records_of(data)) == data


def test_a_manifest_of_many_log_blocks(tmp_path: Path) -> None:
    entries = [(b"%04d" % i + b"k" * 3000, b"v") for i in range(60)]
    files = write_directory(open_in(tmp_path), [(STATE, batches(entries, rows=1))], file_size=1)
    sizes = dict(files)
    assert len(files) == 60 + 3
    assert sizes["MANIFEST-000061"] > 5 * BLOCK
    own = {STATE.name: Options(raw_mode=True)}
    database = Rdict(str(tmp_path), Options(raw_mode=True), own, access_type=AccessType.read_only())
    assert list(database.get_column_family(STATE.name).items()) == entries


def test_current_names_the_manifest() -> None:
    assert current_file(5) == b"MANIFEST-000005\n"


FILE = SstFileInfo(
    file_number=4,
    column_family_id=1,
    size=100,
    num_entries=1,
    num_data_blocks=1,
    raw_key_size=1,
    raw_value_size=0,
    smallest_key=b"a",
    largest_key=b"a",
)


def test_the_reader_finds_the_files_and_the_numbers() -> None:
    other = replace(FILE, file_number=9, smallest_key=b"b", largest_key=b"c")
    data = write_manifest([STATE], [other, FILE], next_file_number=12, last_sequence=77)
    manifest = read_manifest(data)
    assert (manifest.next_file_number, manifest.last_sequence) == (12, 77)
    assert [(family.id, family.name) for family in manifest.column_families] == [
        (0, "default"),
        (1, STATE.name),
    ]
    files = [(f.name, f.level, f.file_size, f.smallest, f.largest) for f in manifest.column_families[1].files]
    put = b"\x01" + bytes(7)
    assert files == [
        ("000004.sst", 6, 100, b"a" + put, b"a" + put),
        ("000009.sst", 6, 100, b"b" + put, b"c" + put),
    ]


@pytest.mark.parametrize(
    ("families", "files", "next_file_number", "what"),
    [
        ([], [FILE], 5, r"column family 1 is not among .*000004\.sst"),
        ([STATE], [FILE], 4, "file number 4 is not below the next file number 4"),
        (
            [STATE],
            [FILE, replace(FILE, smallest_key=b"b", largest_key=b"b")],
            5,
            "SST file number is used twice",
        ),
        ([STATE, ColumnFamily(id=1, name="other")], [], 5, "column family id is used twice"),
        ([STATE, ColumnFamily(id=2, name=STATE.name)], [], 5, "column family is used twice"),
        ([ColumnFamily(id=2, name="default")], [], 5, "column family is used twice"),
    ],
)
def test_what_is_no_database_is_refused(
    families: list[ColumnFamily], files: list[SstFileInfo], next_file_number: int, what: str
) -> None:
    with pytest.raises(EncodeError, match=what):
        write_manifest(families, files, next_file_number=next_file_number)
