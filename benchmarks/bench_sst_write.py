"""How fast SST files are written, beside the put loop of RocksDB on the same entries.

    python benchmarks/bench_sst_write.py [ENTRIES]

Entries are those of a small ValueState: 20-byte keys that share prefixes, 16-byte values.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from rocksdict import Options, Rdict
from statelift.io.sst.sst_file import ColumnFamily
from statelift.io.sst.writer import CompressionName, SstWriter

KEY_SIZE, VALUE_SIZE = 20, 16
BATCH_ROWS = 64 * 1024


class Discard:
    """Takes the file's bytes and drops them, so that no disk is measured."""

    def write(self, data: bytes | memoryview, /) -> None:
        pass


def fixed_width(rows: np.ndarray) -> pa.LargeBinaryArray:
    """An Arrow column of the rows of a uint8 matrix."""
    count, width = rows.shape
    offsets = np.arange(count + 1, dtype=np.int64) * width
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(rows))]
    )


def make_batches(entries: int) -> list[tuple[pa.LargeBinaryArray, pa.LargeBinaryArray]]:
    random = np.random.default_rng(7)
    numbers = np.sort(random.choice(entries * 8, entries, replace=False)).astype(">u8")
    keys = np.zeros((entries, KEY_SIZE), dtype=np.uint8)
    keys[:, : KEY_SIZE - 8] = np.frombuffer(b"user-session-"[: KEY_SIZE - 8], dtype=np.uint8)
    keys[:, KEY_SIZE - 8 :] = numbers.view(np.uint8).reshape(entries, 8)
    values = np.zeros((entries, VALUE_SIZE), dtype=np.uint8)
    values[:, 6:8] = random.integers(0, 256, (entries, 2))
    values[:, 12:] = random.integers(0, 256, (entries, 4))
    rows = range(0, entries, BATCH_ROWS)
    return [(fixed_width(keys[r : r + BATCH_ROWS]), fixed_width(values[r : r + BATCH_ROWS])) for r in rows]


def write_ours(batches: list[tuple[pa.LargeBinaryArray, pa.LargeBinaryArray]], how: CompressionName) -> float:
    family = ColumnFamily(id=1, name="state")
    begin = time.perf_counter()
    writer = SstWriter(Discard(), file_number=1, column_family=family, compression=how)
    for keys, values in batches:
        writer.add(keys, values)
    info = writer.finish()
    seconds = time.perf_counter() - begin
    report(f"statelift, {how}", info.num_entries, seconds)
    return info.num_entries / seconds


def write_rocksdb(batches: list[tuple[pa.LargeBinaryArray, pa.LargeBinaryArray]], entries: int) -> float:
    pairs = [(k.as_py(), v.as_py()) for keys, values in batches for k, v in zip(keys, values, strict=True)]
    folder = Path(tempfile.mkdtemp())
    begin = time.perf_counter()
    database = Rdict(str(folder / "db"), Options(raw_mode=True))
    for key, value in pairs[:entries]:
        database[key] = value
    database.flush()
    seconds = time.perf_counter() - begin
    database.close()
    shutil.rmtree(folder)
    report("rocksdict puts, flushed", entries, seconds)
    return entries / seconds


def report(what: str, entries: int, seconds: float) -> None:
    size = entries * (KEY_SIZE + VALUE_SIZE) / 1e6
    print(f"{what:24} {entries / seconds / 1e6:7.2f} M entries/s {size / seconds:8.1f} MB/s {seconds:6.2f} s")


def main() -> None:
    entries = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    batches = make_batches(entries)
    write_ours(batches[:1], "snappy")
    write_ours(batches, "none")
    ours = write_ours(batches, "snappy")
    rocksdb = write_rocksdb(batches, min(entries, 500_000))
    print(f"ratio (snappy over puts): {ours / rocksdb:.1f}")


if __name__ == "__main__":
    main()
