"""Every RocksDB database in the corpus of Flink-written snapshots, read as RocksDB reads it, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rocksdict import AccessType, Options, Rdict
from statelift.io.metadata import (
    ChangelogStateBackendHandle,
    FileRange,
    IncrementalRemoteKeyedStateHandle,
    Inline,
    Metadata,
    StreamStateHandle,
    read_metadata,
    resolve,
)
from statelift.io.sst.scan import get, scan

from .sst_databases import manifest_of, options_text, scanned, table_at

pytestmark = pytest.mark.corpus


def databases(metadata: Metadata) -> Iterator[IncrementalRemoteKeyedStateHandle]:
    for operator in metadata.operator_states:
        for subtask in operator.subtask_states:
            keyed = subtask.managed_keyed_state
            handles = keyed.materialized if isinstance(keyed, ChangelogStateBackendHandle) else (keyed,)
            yield from (h for h in handles if isinstance(h, IncrementalRemoteKeyedStateHandle))


def stream(handle: StreamStateHandle, folder: Path) -> bytes:
    place = resolve(handle, str(folder), exists=lambda url: Path(url).exists())
    if isinstance(place, Inline):
        return place.data
    assert isinstance(place, FileRange)
    with open(place.url, "rb") as file:
        file.seek(place.start)
        return file.read(-1 if place.length is None else place.length)


def rebuild(handle: IncrementalRemoteKeyedStateHandle, snapshot: Path, folder: Path) -> None:
    """The RocksDB directory that the handle's file map describes."""
    folder.mkdir()
    for part in (*handle.shared_state, *handle.private_state):
        (folder / part.local_path).write_bytes(stream(part.handle, snapshot))


def judged(folder: Path, families: list[str]) -> dict[str, list[tuple[bytes, bytes]]]:
    """What RocksDB reads, with options of our own: Flink's name paths of the machine they were written on."""
    (folder / "OPTIONS-999999").write_text(options_text(families, {"merge_operator": "stringappendtest"}, {}))
    options, of_families = Options.load_latest(str(folder))
    (folder / "OPTIONS-999999").unlink()
    db = Rdict(str(folder), options, column_families=of_families, access_type=AccessType.read_only())
    read = {
        name: [(bytes(key), bytes(value)) for key, value in db.get_column_family(name).items()]
        for name in families
    }
    db.close()
    return read


def snapshots_with_rocksdb(corpus: Path) -> list[Path]:
    """``_metadata`` files that name a MANIFEST: only RocksDB's handles do."""
    return sorted(path for path in corpus.rglob("_metadata") if b"MANIFEST-" in path.read_bytes())


def test_every_database_reads_as_rocksdb_reads_it(corpus: Path, tmp_path: Path) -> None:
    count = tables = entries = merged = 0
    for path in snapshots_with_rocksdb(corpus):
        for handle in databases(read_metadata(path.read_bytes(), str(path))):
            folder = tmp_path / str(count)
            rebuild(handle, path.parent, folder)
            families = manifest_of(folder).column_families
            expected = judged(folder, [family.name for family in families])
            for family in families:
                opened = [table_at(folder / live.name, live=live) for live in family.files]
                assert {table.column_family_name for table in opened} <= {family.name}
                assert scanned(opened) == expected[family.name], (path, family.name)
                for key, value in expected[family.name][:2]:
                    assert get(opened, key) == value
                tables += len(opened)
                entries += len(expected[family.name])
                merged += sum(table.properties.num_merge_operands for table in opened)
            count += 1
    assert (count >= 300, tables >= 500, entries >= 5000, merged >= 400) == (True, True, True, True)


def test_tables_with_key_groups_are_found_by_bounds(corpus: Path) -> None:
    """The first byte of a key is its key group: each one's entries come by bounds."""
    seen = 0
    for path in sorted(corpus.rglob("*")):
        if not path.is_file() or path.stat().st_size > 1 << 22:
            continue
        data = path.read_bytes()
        if data[-8:] != bytes.fromhex("f7cff485b741e288"):
            continue
        table = table_at(path)
        whole = scanned([table])
        groups = sorted({key[:1] for key, _ in whole})
        by_group = [row for group in groups for row in scanned([table], group, bytes([group[0] + 1]))]
        assert by_group == whole
        assert sum(batch.num_rows for batch in scan([table])) == len(whole) <= table.num_entries
        seen += 1
        if seen == 60:
            break
    assert seen
