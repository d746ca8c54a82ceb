"""RocksDB's native format (spec 7): what our writer writes, RocksDB and our reader find in it."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rocksdict import AccessType, Options, Rdict
from statelift.io.keyed.canonical import prefix_bytes
from statelift.io.keyed.entries import Window
from statelift.io.keyed.rocksdb import RocksDbWriter, open_database, read_rocksdb
from statelift.io.metadata import KeyGroupRange
from statelift.io.sst.directory_writer import write_database_files
from statelift.io.sst.sst_file import ColumnFamily
from statelift.schemas.errors import EncodeError

from .keyed_snapshots import STORES, Entries, Memory, entries, inline
from .keyed_strategies import Row, batch, row_lists, windows_of

FAMILIES = {i: ColumnFamily(id=i + 1, name=f"state-{i}") for i in range(3)}
NAMES = {i: family.name for i, family in FAMILIES.items()}


def write(windows: list[Window], file_bytes: int = 64 << 20, sort_bytes: int = 64 << 20) -> dict[str, bytes]:
    """The files of a whole database of these windows."""
    files: dict[str, Memory] = {}

    def open_file(name: str) -> Memory:
        return files.setdefault(name, Memory())

    writer = RocksDbWriter(
        open_file=open_file, families=FAMILIES, numbers=count(1), file_bytes=file_bytes, sort_bytes=sort_bytes
    )
    for window in windows:
        writer.write(window)
    infos = writer.finish()
    write_database_files(open_file, list(FAMILIES.values()), infos)
    assert all(file.closed for file in files.values())
    return {name: bytes(file.data) for name, file in files.items()}


def read(
    files: dict[str, bytes],
    max_parallelism: int,
    key_groups: KeyGroupRange | None = None,
    batch_bytes: int = 16 << 20,
) -> dict[int, Entries]:
    families = open_database({name: inline(data) for name, data in files.items()})
    asked = KeyGroupRange(0, max_parallelism) if key_groups is None else key_groups
    return entries(
        read_rocksdb(families, NAMES, asked, max_parallelism=max_parallelism, batch_bytes=batch_bytes)
    )


def expected(rows: list[Row], prefix: int) -> dict[int, Entries]:
    found: dict[int, Entries] = {}
    for state, group, key, value in rows:
        found.setdefault(state, {})[group, group.to_bytes(prefix, "big") + key] = value
    return found


def judged(files: dict[str, bytes], folder: Path) -> dict[int, dict[bytes, bytes]]:
    """What RocksDB itself finds in the database."""
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    options = {name: Options(raw_mode=True) for name in NAMES.values()}
    database = Rdict(
        str(folder), Options(raw_mode=True), column_families=options, access_type=AccessType.read_only()
    )
    try:
        return {i: dict(database.get_column_family(name).items()) for i, name in NAMES.items()}
    finally:
        database.close()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    row_lists(3, 4),
    st.lists(st.integers(0, 40), max_size=4),
    st.sampled_from([4, 128, 129]),
    st.tuples(st.integers(0, 3), st.integers(0, 4)),
)
def test_what_is_written_reads_back(
    rows: list[Row], cuts: list[int], max_parallelism: int, asked: tuple[int, int]
) -> None:
    prefix = prefix_bytes(max_parallelism)
    files = write(windows_of(rows, prefix, cuts))
    assert read(files, max_parallelism) == expected(rows, prefix)
    some = KeyGroupRange(*asked)
    kept = [row for row in rows if row[1] in some]
    assert read(files, max_parallelism, some, batch_bytes=50) == expected(kept, prefix)


@pytest.fixture
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs be sorted and cut by the kilobyte, where they otherwise are by the megabyte."""
    monkeypatch.setattr("statelift.io.keyed.rocksdb._LEAST_RUN", 1 << 10)


@pytest.mark.usefixtures("small_runs")
@pytest.mark.parametrize("file_bytes", [1, 3000, 1 << 20])
def test_a_key_group_too_large_to_sort_is_cut_in_runs_that_rocksdb_reads(
    tmp_path: Path, file_bytes: int
) -> None:
    """Runs of one key group overlap, so their files stand in level 0, where RocksDB merges them."""
    rows: list[Row] = [(0, 1, (i * 7919 % 2000).to_bytes(4, "big"), b"value %d" % i) for i in range(2000)]
    rows += [(1, group, b"key %d" % i, b"") for group in range(4) for i in range(50)]
    files = write(windows_of(rows, 1, list(range(0, 2200, 100))), file_bytes=file_bytes, sort_bytes=8000)
    assert sum(name.endswith(".sst") for name in files) > 5
    assert read(files, 128) == expected(rows, 1)
    assert read(files, 128, batch_bytes=1000) == expected(rows, 1)
    found = judged(files, tmp_path / "db")
    assert found == {
        state: {key: value for (_, key), value in expected(rows, 1).get(state, {}).items()} for state in NAMES
    }


def test_a_key_that_stands_twice_is_refused() -> None:
    with pytest.raises(EncodeError, match="a key stands twice"):
        write([{0: batch([1, 1], [b"\x01a", b"\x01a"], [b"x", b"y"])}])


def test_a_state_without_files_has_no_entries() -> None:
    files = write([{1: batch([0], [b"\0a"], [b"x"])}])
    assert read(files, 128) == {1: {(0, b"\0a"): b"x"}}


def test_what_was_begun_is_thrown_away() -> None:
    opened: list[Memory] = []

    class Thrown(Memory):
        aborted = False

        def abort(self) -> None:
            self.aborted = True

    def open_file(name: str) -> Memory:
        opened.append(Thrown())
        return opened[-1]

    writer = RocksDbWriter(open_file=open_file, families=FAMILIES, numbers=count(1))
    rows = [(0, group, bytes([i]) + bytes(60_000), b"") for group in range(4) for i in range(40)]
    writer.write(windows_of(rows, 1, [])[0])
    writer.abort()
    assert opened
    assert all(isinstance(file, Thrown) and file.aborted and not file.closed for file in opened)


def test_stores_hold_what_is_written(tmp_path: Path) -> None:
    rows: list[Row] = [(0, group, b"k", b"v") for group in range(4)]
    writer = RocksDbWriter(
        open_file=lambda name: STORES.open_write(str(tmp_path / name)), families=FAMILIES, numbers=count(1)
    )
    for window in windows_of(rows, 1, [2]):
        writer.write(window)
    infos = writer.finish()
    assert [(tmp_path / info.name).stat().st_size for info in infos] == [info.size for info in infos]
