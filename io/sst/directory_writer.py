"""Writes a whole RocksDB directory, as a native snapshot of Flink holds it (spec section 7.1).

The SST files may be written by several workers, each with file numbers of its own and a key range of its own
(``write_sst_files``); one call at the end makes a database of them (``write_database_files``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import count
from typing import TypeAlias

import pyarrow as pa

from ...schemas.errors import EncodeError, Where
from .manifest import current_file, manifest_name, options_name, write_manifest
from .options_file import options_file
from .sst_file import ColumnFamily, SstFileInfo, sst_name
from .writer import ByteSink, CompressionName, SstWriter

OpenFile: TypeAlias = Callable[[str], AbstractContextManager[ByteSink]]
"""Opens a file of the database for writing by its local name; leaving it commits, an exception aborts."""

DEFAULT_FILE_SIZE = 64 << 20
FIRST_FILE_NUMBER = 1
_CHUNK_BYTES = 4 << 20


def write_sst_files(
    open_file: OpenFile,
    column_family: ColumnFamily,
    batches: Iterable[pa.RecordBatch],
    file_numbers: Iterator[int],
    *,
    compression: CompressionName = "snappy",
    file_size: int = DEFAULT_FILE_SIZE,
) -> list[SstFileInfo]:
    """Write the entries of one column family, ``composite_key`` and ``value`` (large_binary) of ``batches``.

    The keys ascend strictly over all batches, or EncodeError. A new file is begun when one has reached
    ``file_size`` bytes, each with the next of the endless ``file_numbers``; without entries there is no file.
    """
    infos: list[SstFileInfo] = []
    chunks = _chunks(batches)
    for chunk in chunks:
        number = next(file_numbers)
        with open_file(sst_name(number)) as out:
            writer = SstWriter(out, file_number=number, column_family=column_family, compression=compression)
            writer.add(chunk.column("composite_key"), chunk.column("value"))
            while writer.size < file_size and (following := next(chunks, None)) is not None:
                writer.add(following.column("composite_key"), following.column("value"))
            info = writer.finish()
            if infos and info.smallest_key <= infos[-1].largest_key:
                raise EncodeError(
                    f"the first key is not above the last key of {infos[-1].name}",
                    where=Where(file=info.name, state=column_family.name),
                    todo="sort the entries by key and keep one of each key",
                )
        infos.append(info)
    return infos


def write_database_files(
    open_file: OpenFile, column_families: Sequence[ColumnFamily], files: Sequence[SstFileInfo]
) -> list[tuple[str, int]]:
    """Write MANIFEST, CURRENT and OPTIONS over ``files``; returns (local name, bytes) of all of them.

    ``column_families`` are all of the database in order of their ids, those without entries too; ``default``
    may be left out.
    """
    manifest_number = max((file.file_number for file in files), default=FIRST_FILE_NUMBER - 1) + 1
    options_number = manifest_number + 1
    contents = {
        manifest_name(manifest_number): write_manifest(
            column_families, files, next_file_number=options_number + 1
        ),
        "CURRENT": current_file(manifest_number),
        options_name(options_number): options_file(column_families),
    }
    for name, data in contents.items():
        with open_file(name) as out:
            out.write(data)
    return [
        *((file.name, file.size) for file in files),
        *((name, len(data)) for name, data in contents.items()),
    ]


def write_directory(
    open_file: OpenFile,
    contents: Iterable[tuple[ColumnFamily, Iterable[pa.RecordBatch]]],
    *,
    compression: CompressionName = "snappy",
    file_size: int = DEFAULT_FILE_SIZE,
) -> list[tuple[str, int]]:
    """Write a database from sorted batches per column family; returns (local name, bytes) of its files."""
    numbers = count(FIRST_FILE_NUMBER)
    families: list[ColumnFamily] = []
    files: list[SstFileInfo] = []
    for family, batches in contents:
        families.append(family)
        files += write_sst_files(
            open_file, family, batches, numbers, compression=compression, file_size=file_size
        )
    return write_database_files(open_file, families, files)


def _chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """``batches`` in slices of about 4 MiB, so that a file can end inside of a batch."""
    for batch in batches:
        if batch.num_rows:
            rows = max(1, batch.num_rows * _CHUNK_BYTES // max(1, batch.nbytes))
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)
