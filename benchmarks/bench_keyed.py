"""How fast keyed state is read and written at the level of bytes, in each format.

    python benchmarks/bench_keyed.py [ENTRIES] [--batch-mib N]

The entries are those of one ValueState of Long: String keys of 13 characters in the void namespace, 128 key groups.
Files lie on the local disk, in the page cache.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from peak import peak_bytes, reset_peak
from statelift.io.keyed.canonical import CanonicalWriter, read_canonical
from statelift.io.keyed.composite import CompositeKeyCodec
from statelift.io.keyed.entries import EntryBatch, Window
from statelift.io.keyed.hashmap import HeapState, read_hashmap
from statelift.io.keyed.regions import regions_of
from statelift.io.keyed.rocksdb import RocksDbWriter, open_database, read_rocksdb
from statelift.io.metadata import FileRange, KeyGroupRange
from statelift.io.sst.directory_writer import write_database_files
from statelift.io.sst.sst_file import ColumnFamily
from statelift.io.stores import Stores
from statelift.io.streams import StateStream
from statelift.schemas import types as t

GROUPS = 128
KEY_BYTES, VALUE_BYTES = 14, 8
Rows = npt.NDArray[np.uint8]


def keys_and_values(group: int, entries: int) -> tuple[Rows, Rows]:
    """Strings ``user-NNNNNNNN`` with their length before them, ascending, and Longs."""
    random = np.random.default_rng(group)
    numbers = np.arange(entries) * GROUPS + group
    keys = np.empty((entries, KEY_BYTES), np.uint8)
    keys[:, 0] = KEY_BYTES
    keys[:, 1:6] = np.frombuffer(b"user-", np.uint8)
    for place in range(8):
        keys[:, 13 - place] = 48 + numbers // 10**place % 10
    values = np.zeros((entries, VALUE_BYTES), np.uint8)
    values[:, 4:] = random.integers(0, 256, (entries, 4))
    return keys, values


def window(group: int, entries: int) -> Window:
    """The key group's entries in canonical form."""
    keys, values = keys_and_values(group, entries)
    composite = np.zeros((entries, KEY_BYTES + 2), np.uint8)
    composite[:, 0] = group
    composite[:, 1:-1] = keys
    return {0: EntryBatch.of(np.full(entries, group, np.int32), column(composite), column(values))}


def column(rows: Rows) -> pa.Array:
    offsets = np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
    return pa.Array.from_buffers(
        pa.large_binary(), len(rows), [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(rows))]
    )


def heap_group(group: int, entries: int) -> bytes:
    """The key group as HashMapStateBackend writes it: namespace, key, value."""
    keys, values = keys_and_values(group, entries)
    rows = np.zeros((entries, 1 + KEY_BYTES + VALUE_BYTES), np.uint8)
    rows[:, 1 : 1 + KEY_BYTES] = keys
    rows[:, 1 + KEY_BYTES :] = values
    head = group.to_bytes(4, "big") + bytes(2) + entries.to_bytes(4, "big")
    return head + rows.tobytes()


# -- measuring ---------------------------------------------------------------------------------------------


def measure(label: str, entries: int, nbytes: int, run: Callable[[], None]) -> None:
    reset_peak()
    before = peak_bytes()
    begin, cpu = time.perf_counter(), time.process_time()
    run()
    took, cpu = time.perf_counter() - begin, time.process_time() - cpu
    print(
        f"{label:26} {entries / took / 1e6:7.2f} M entries/s  {entries / cpu / 1e6:7.2f} M per core-second"
        f"  {nbytes / took / 1e6:8.1f} MB/s  peak +{max(0, peak_bytes() - before) >> 20} MiB",
        flush=True,
    )


def drain(windows: Iterable[Window], expected: int) -> None:
    found = sum(len(batch) for one in windows for batch in one.values())
    assert found == expected, (found, expected)


# -- formats -----------------------------------------------------------------------------------------------


def canonical(folder: Path, per_group: int, batch_bytes: int) -> None:
    entries, path = per_group * GROUPS, folder / "canonical"
    stores = Stores()
    windows = [window(group, per_group) for group in range(GROUPS)]
    with stores.open_write(str(path)) as out:
        writer = CanonicalWriter(out=out, base=1)
        out.write(b"h")

        def write() -> None:
            for one in windows:
                writer.write(one)
            writer.finish()

        measure("canonical write", entries, entries * 32, write)
    stream = stream_of(path)
    regions = regions_of([writer.offsets[kg] for kg in range(GROUPS)], KeyGroupRange(0, GROUPS), stream)

    def read() -> Iterator[Window]:
        return read_canonical(
            stream, regions, states=1, max_parallelism=GROUPS, compressed=False, batch_bytes=batch_bytes
        )

    measure("canonical read", entries, stream.size, lambda: drain(read(), entries))


def hashmap(folder: Path, per_group: int, batch_bytes: int) -> None:
    entries, path, offsets = per_group * GROUPS, folder / "hashmap", []
    with open(path, "wb") as out:
        out.write(b"h")
        for group in range(GROUPS):
            offsets.append(out.tell())
            out.write(heap_group(group, per_group))
    stream = stream_of(path)
    regions = regions_of(offsets, KeyGroupRange(0, GROUPS), stream)
    keys = CompositeKeyCodec(prefix=1, key=t.scalar("string"), namespace=t.scalar("void"))
    states = [HeapState(name="v", kind="value", keys=keys, value=t.scalar("long"))]

    def read() -> Iterator[Window]:
        return read_hashmap(stream, regions, states=states, compressed=False, batch_bytes=batch_bytes)

    measure("hashmap read", entries, stream.size, lambda: drain(read(), entries))


def rocksdb(folder: Path, per_group: int, batch_bytes: int) -> None:
    entries, database = per_group * GROUPS, folder / "rocksdb"
    database.mkdir()
    stores = Stores()
    family = ColumnFamily(id=1, name="v")
    windows = [window(group, per_group) for group in range(GROUPS)]

    def write() -> None:
        writer = RocksDbWriter(
            open_file=lambda name: stores.open_write(str(database / name)),
            families={0: family},
            numbers=count(1),
        )
        for one in windows:
            writer.write(one)
        write_database_files(lambda name: stores.open_write(str(database / name)), [family], writer.finish())

    measure("rocksdb write", entries, entries * 24, write)
    files = {path.name: stream_of(path) for path in database.iterdir()}
    families = open_database(files)

    def read() -> Iterator[Window]:
        return read_rocksdb(
            families, {0: "v"}, KeyGroupRange(0, GROUPS), max_parallelism=GROUPS, batch_bytes=batch_bytes
        )

    measure("rocksdb read", entries, sum(f.size for f in files.values()), lambda: drain(read(), entries))


def stream_of(path: Path) -> StateStream:
    return StateStream(stores=Stores(), location=FileRange(url=str(path)), name=path.name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entries", type=int, nargs="?", default=2_000_000)
    parser.add_argument("--batch-mib", type=int, default=16)
    arguments = parser.parse_args()
    batch_bytes = arguments.batch_mib << 20
    with open("/dev/null", "w") as nothing, redirect_stdout(nothing):
        for run in (canonical, hashmap, rocksdb):
            with tempfile.TemporaryDirectory() as folder:
                run(Path(folder), GROUPS, batch_bytes)  # kernels are compiled or loaded here
    print(f"{arguments.entries} entries")
    for run in (canonical, hashmap, rocksdb):
        with tempfile.TemporaryDirectory() as folder:
            run(Path(folder), arguments.entries // GROUPS, batch_bytes)


if __name__ == "__main__":
    main()
