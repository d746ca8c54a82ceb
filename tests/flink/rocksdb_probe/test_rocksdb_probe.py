"""Given a written directory, the RocksDB releases inside Flink open it, read it, merge into it and compact it."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from statelift.io.sst.directory_writer import write_database_files, write_directory, write_sst_files
from statelift.io.sst.sst_file import ColumnFamily
from statelift.io.sst.writer import CompressionName

from ..flink import fetched

pytestmark = pytest.mark.flink

Entries = list[tuple[bytes, bytes]]

PROBE = Path(__file__).with_name("Probe.java")
STAGES = ["read-only", "opened", "compacted", "reopened"]

# The one of Flink 1.14 to 1.20 and the one of Flink 2.x.
RELEASES = ["6.20.3-ververica-2.0", "8.10.0-ververica-1.0"]


@pytest.fixture(scope="session", params=RELEASES)
def frocksdb(request: pytest.FixtureRequest) -> Path:
    """The jar of a release of Flink's RocksDB."""
    return fetched(f"com.ververica:frocksdbjni:{request.param}")


def probe(jar: Path, folder: Path) -> dict[str, dict[str, tuple[int, str]]]:
    """What the probe says: stage -> column family -> (entries, digest)."""
    command = ["java", "-Xmx1g", "-XX:TieredStopAtLevel=1", "-cp", str(jar), str(PROBE), str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, dict[str, tuple[int, str]]] = {}
    for line in ran.stdout.splitlines():
        stage, name, entries, digest = line.split("\t")
        found.setdefault(stage, {})[bytes.fromhex(name).decode()] = int(entries), digest
    return found


def said_of(entries: Entries) -> tuple[int, str]:
    digest = hashlib.sha256()
    for part in (part for entry in entries for part in entry):
        digest.update(len(part).to_bytes(4, "big") + part)
    return len(entries), digest.hexdigest()


def open_in(folder: Path):
    return lambda name: (folder / name).open("xb")


def batches(entries: Entries, rows: int = 10_000) -> list[pa.RecordBatch]:
    starts = range(0, len(entries), rows)
    return [
        pa.record_batch(
            {
                "composite_key": pa.array([key for key, _ in entries[s : s + rows]], pa.large_binary()),
                "value": pa.array([value for _, value in entries[s : s + rows]], pa.large_binary()),
            }
        )
        for s in starts
    ]


def many(count: int, max_value: int) -> Entries:
    random = Random(count)
    keys = {
        random.randrange(128).to_bytes(1, "big") + b"user-%07d\0" % random.randrange(10**7)
        for _ in range(count)
    }
    return [(key, random.randbytes(random.randrange(max_value))) for key in sorted(keys)]


@pytest.mark.parametrize("compression", ["snappy", "none"])
def test_flinks_rocksdb_reads_merges_and_compacts(
    tmp_path: Path, frocksdb: Path, compression: CompressionName
) -> None:
    contents = {
        ColumnFamily(id=1, name="user-state"): many(20_000, 40),
        ColumnFamily(id=2, name="_timer_state/event_user-timers"): [(k, b"") for k, _ in many(5000, 1)],
        ColumnFamily(id=3, name="no entries"): [],
        ColumnFamily(id=4, name="große Werte"): [
            (b"", b"empty key"),
            (b"\0", b""),
            (b"\0\0", bytes(1000)),
            (b"a", Random(4).randbytes(1 << 20) * 9),
            (b"b" * 5000, b"v"),
            (b"\xff" * 300, b"w" * 100_000),
        ],
    }
    write_directory(
        open_in(tmp_path),
        [(family, batches(entries)) for family, entries in contents.items()],
        compression=compression,
        file_size=100_000,
    )
    expected = {family.name: said_of(entries) for family, entries in contents.items()}
    expected["default"] = said_of([])
    found = probe(frocksdb, tmp_path)
    assert list(found) == STAGES
    for stage in STAGES:
        assert found[stage] == expected, stage


def test_flinks_rocksdb_reads_overlapping_files_and_a_long_manifest(tmp_path: Path, frocksdb: Path) -> None:
    open_file = open_in(tmp_path)
    apart, overlapping = ColumnFamily(id=1, name="apart"), ColumnFamily(id=2, name="overlapping")
    long_keys = [(b"%04d" % i + bytes(3000), b"v") for i in range(40)]
    entries = many(3000, 20)
    files = write_sst_files(open_file, apart, batches(long_keys, rows=1), iter(range(1, 41)), file_size=1)
    for number in (41, 42, 43):
        files += write_sst_files(open_file, overlapping, batches(entries[number - 41 :: 3]), iter([number]))
    sizes = dict(write_database_files(open_file, [apart, overlapping], files))
    assert sizes["MANIFEST-000044"] > 200_000
    found = probe(frocksdb, tmp_path)
    assert list(found) == STAGES
    for stage in STAGES:
        assert found[stage]["apart"] == said_of(long_keys)
        assert found[stage]["overlapping"] == said_of(entries)
