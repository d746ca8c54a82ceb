"""Databases that RocksDB itself makes, with writes that its Python binding does not offer.

The binding has no merge and no single delete, so writes are put into the database's write-ahead log, which RocksDB
replays and flushes to a table of level 0 when the database is opened. Its options come from an OPTIONS file, as the
merge operator can only be set there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rocksdict import Options, Rdict
from statelift.io.sst.checksums import crc32c, mask_crc32c
from statelift.io.sst.manifest_read import Manifest, read_manifest
from statelift.io.sst.scan import scan
from statelift.io.sst.table import SstTable, open_table

Entries = list[tuple[bytes, bytes]]
Write = tuple[str, bytes, bytes]
"""``put``/``merge`` key value, ``delete``/``single`` key b"", ``range`` start end."""

_TYPES = {"delete": 0, "put": 1, "merge": 2, "single": 7, "range": 15}
_WITH_VALUE = ("put", "merge", "range")
_LOG_BLOCK = 32768


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def prefixed(data: bytes) -> bytes:
    return varint(len(data)) + data


def write_batch(sequence: int, writes: Sequence[Write]) -> bytes:
    """``WriteBatch``: sequence number of the first write, count, then type, key and value of each."""
    out = bytearray(struct.pack("<QI", sequence, len(writes)))
    for kind, key, value in writes:
        out += bytes([_TYPES[kind]]) + prefixed(key)
        if kind in _WITH_VALUE:
            out += prefixed(value)
    return bytes(out)


def log_of(records: Iterable[bytes]) -> bytes:
    """A RocksDB log of ``records``, cut into fragments at blocks of 32 KiB."""
    out = bytearray()
    for record in records:
        at, first = 0, True
        while first or at < len(record):
            left = _LOG_BLOCK - len(out) % _LOG_BLOCK
            if left < 7:
                out += bytes(left)
                continue
            piece = record[at : at + left - 7]
            at += len(piece)
            last = at == len(record)
            kind = (1 if last else 2) if first else (4 if last else 3)
            checksum = mask_crc32c(crc32c(bytes([kind]) + piece))
            out += struct.pack("<IHB", checksum, len(piece), kind) + piece
            first = False
    return bytes(out)


def options_text(families: Iterable[str], family: dict[str, object], table: dict[str, object]) -> str:
    """An OPTIONS file with the same options for each column family."""
    sections: dict[str, dict[str, object]] = {
        "Version": {"rocksdb_version": "8.10.0", "options_file_version": "1.1"},
        "DBOptions": {"create_if_missing": "true"},
    }
    for name in families:
        sections[f'CFOptions "{name}"'] = {**family, "table_factory": "BlockBasedTable"}
        sections[f'TableOptions/BlockBasedTable "{name}"'] = table
    return "".join(
        f"[{name}]\n" + "".join(f"  {key}={value}\n" for key, value in section.items()) + "\n"
        for name, section in sections.items()
    )


@dataclass
class Database:
    """A RocksDB database in ``folder``; ``table`` and ``family`` are options as an OPTIONS file has them."""

    folder: Path
    table: dict[str, object] = field(default_factory=dict)
    family: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Rdict(str(self.folder), Options(raw_mode=True)).close()

    def options(self) -> tuple[Options, dict[str, Options]]:
        """Flink's options, as far as they matter, and those given."""
        family = {
            "merge_operator": "stringappendtest",
            "compression": "kSnappyCompression",
            "disable_auto_compactions": "true",
            **self.family,
        }
        table = {"format_version": 5, "checksum": "kXXH3", **self.table}
        (self.folder / "OPTIONS-999999").write_text(options_text(["default"], family, table))
        options = Options.load_latest(str(self.folder))
        (self.folder / "OPTIONS-999999").unlink()
        return options

    def open(self) -> Rdict:
        options, families = self.options()
        return Rdict(str(self.folder), options, column_families=families)

    def flush(self, writes: Sequence[Write], per_batch: int = 1000) -> None:
        """Makes the writes, in order, a table of level 0."""
        db = self.open()
        sequence = db.latest_sequence_number() + 1
        db.close()
        number = max(int(path.stem) for path in self.folder.iterdir() if path.suffix in (".log", ".sst"))
        for old in self.folder.glob("*.log"):
            old.unlink()
        batches = [
            write_batch(sequence + at, writes[at : at + per_batch]) for at in range(0, len(writes), per_batch)
        ]
        (self.folder / f"{number:06d}.log").write_bytes(log_of(batches))
        self.open().close()

    def compact(self, begin: bytes | None = None, end: bytes | None = None) -> None:
        db = self.open()
        db.compact_range(begin, end)
        db.close()

    def entries(self) -> Entries:
        """What RocksDB reads."""
        db = self.open()
        items = [(bytes(key), bytes(value)) for key, value in db.items()]
        db.close()
        return items

    def get(self, keys: Iterable[bytes]) -> list[bytes | None]:
        db = self.open()
        values = [db.get(key) for key in keys]
        db.close()
        return values

    def manifest(self) -> Manifest:
        return manifest_of(self.folder)

    def tables(self, verify: bool = True) -> list[SstTable]:
        files = self.manifest().column_families[0].files
        return [table_at(self.folder / live.name, live=live, verify=verify) for live in files]


def manifest_of(folder: Path) -> Manifest:
    name = (folder / "CURRENT").read_text().strip()
    return read_manifest((folder / name).read_bytes(), name)


class Reads:
    """Ranged reads of a file in memory, counted."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.requests: list[list[tuple[int, int]]] = []

    def __call__(self, ranges: list[tuple[int, int]]) -> list[bytes]:
        self.requests.append(list(ranges))
        return [self.data[start : start + length] for start, length in ranges]


def table_at(path: Path, **options: object) -> SstTable:
    return table_of(path.read_bytes(), path.name, **options)


def table_of(data: bytes, file: str = "000001.sst", **options: object) -> SstTable:
    return open_table(Reads(data), len(data), file, **options)  # type: ignore[arg-type]


def scanned(tables: Sequence[SstTable], *bounds: bytes | None, **options: int) -> Entries:
    return list(_rows(tables, *bounds, **options))


def _rows(tables: Sequence[SstTable], *bounds: bytes | None, **options: int) -> Iterator[tuple[bytes, bytes]]:
    for batch in scan(tables, *bounds, **options):
        yield from zip(batch.column("key").to_pylist(), batch.column("value").to_pylist(), strict=True)
