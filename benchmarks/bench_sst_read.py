"""Reading SST files against RocksDB's own iterator (rocksdict), in one process and on the same files.

    python benchmarks/bench_sst_read.py [entries] [--verify-off]

For each database: entries/s and MB/s (keys and values) of ``scan`` on one core's worth of Python and of iterating
with rocksdict, their ratio, and the peak of memory that ``scan`` adds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from peak import peak_bytes, reset_peak
from rocksdict import BlockBasedOptions, ChecksumType, DBCompressionType, Options, Rdict
from statelift.io.sst.manifest_read import read_manifest
from statelift.io.sst.scan import scan
from statelift.io.sst.table import SstTable, open_table


def flink_like(checksum: ChecksumType) -> Options:
    """Snappy, blocks of 4 KiB, format version 5, no compaction that was not asked for."""
    options = Options(raw_mode=True)
    table = BlockBasedOptions()
    table.set_format_version(5)
    table.set_block_size(4096)
    table.set_checksum_type(checksum)
    options.set_block_based_table_factory(table)
    options.set_compression_type(DBCompressionType.snappy())
    options.set_disable_auto_compactions(True)
    options.set_write_buffer_size(1 << 30)
    return options


def build(folder: Path, options: Options, entries: int, files: int, value_bytes: int) -> None:
    """``entries`` puts, spread over ``files`` tables that overlap wholly."""
    random = Random(1)
    db = Rdict(str(folder), options)
    for file in range(files):
        for i in range(file, entries, files):
            key = (i % 128).to_bytes(1, "big") + b"\x0cuser-%06d" % i + b"\x00\x00"
            db[key] = random.randbytes(value_bytes // 2) + bytes(value_bytes - value_bytes // 2)
        db.flush(True)
    db.close()


def tables(folder: Path, verify: bool) -> list[SstTable]:
    manifest = read_manifest((folder / (folder / "CURRENT").read_text().strip()).read_bytes())

    def reads(path: Path) -> Callable[[list[tuple[int, int]]], list[bytes]]:
        file = open(path, "rb")  # noqa: SIM115 - it lives as long as the table

        def read(ranges: list[tuple[int, int]]) -> list[bytes]:
            return [(file.seek(start) and b"") or file.read(length) for start, length in ranges]

        return read

    return [
        open_table(reads(folder / live.name), live.file_size, live.name, verify=verify, live=live)
        for live in manifest.column_families[0].files
    ]


def measure(folder: Path, options: Options, verify: bool, label: str) -> None:
    opened = tables(folder, verify)
    list(scan(opened, b"", b"\0"))
    reset_peak()
    before = peak_bytes()
    start, cpu = time.perf_counter(), time.process_time()
    rows = size = 0
    for batch in scan(opened):
        rows += batch.num_rows
        size += batch.nbytes - 16 * batch.num_rows
    ours, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = peak_bytes() - before
    db = Rdict(str(folder), options)
    start = time.perf_counter()
    count = sum(1 for _ in db.items())
    theirs = time.perf_counter() - start
    db.close()
    assert count == rows, (count, rows)
    print(
        f"{label:44} {rows:9} entries  {rows / ours / 1e6:6.2f} M/s ({rows / cpu / 1e6:5.2f} per core-second)"
        f" {size / ours / 1e6:7.1f} MB/s  rocksdict {rows / theirs / 1e6:5.2f} M/s"
        f"  ratio {theirs / ours:5.1f}  peak +{peak / 2**20:.0f} MiB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entries", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--verify-off", action="store_true")
    arguments = parser.parse_args()
    for label, checksum, files, value_bytes in [
        ("1 file, values of 8 bytes, CRC32c", ChecksumType.crc32c(), 1, 8),
        ("1 file, values of 8 bytes, XXH3", ChecksumType.xxh3(), 1, 8),
        ("1 file, values of 200 bytes, CRC32c", ChecksumType.crc32c(), 1, 200),
        ("4 overlapping files, values of 8 bytes", ChecksumType.crc32c(), 4, 8),
        ("30 overlapping files, values of 8 bytes", ChecksumType.crc32c(), 30, 8),
    ]:
        with tempfile.TemporaryDirectory() as folder:
            options = flink_like(checksum)
            build(Path(folder), options, arguments.entries, files, value_bytes)
            measure(Path(folder), options, not arguments.verify_off, label)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
