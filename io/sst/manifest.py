"""Writes MANIFEST, CURRENT and OPTIONS: what makes a folder of SST files a RocksDB database.

The MANIFEST is a log file of VersionEdits (``db/log_writer.cc``, ``db/version_edit.cc``). It names no
database identity, so RocksDB makes one when it opens the folder; without a WAL all log numbers are 0.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise

from ...schemas.errors import EncodeError, Where
from ...schemas.wire import Writer
from .checksums import block_checksum
from .format import BYTEWISE_COMPARATOR, INTERNAL_KEY_SUFFIX, Checksum, ValueType
from .sst_file import DEFAULT_COLUMN_FAMILY_ID, ColumnFamily, SstFileInfo

LOG_BLOCK_SIZE = 32 * 1024
LOG_HEADER_SIZE = 7
BOTTOMMOST_LEVEL = 6
"""The last of the seven levels that RocksDB and Flink have by default."""

_HEADER_END = struct.Struct("<HB")
_PUT_OF_SEQUENCE_0 = int(ValueType.VALUE).to_bytes(INTERNAL_KEY_SUFFIX, "little")


class RecordType(IntEnum):
    """``log::RecordType``: the part of a record that lies in one log block."""

    FULL = 1
    FIRST = 2
    MIDDLE = 3
    LAST = 4


class Tag(IntEnum):
    """Fields of a ``VersionEdit``."""

    COMPARATOR = 1
    LOG_NUMBER = 2
    NEXT_FILE_NUMBER = 3
    LAST_SEQUENCE = 4
    PREV_LOG_NUMBER = 9
    NEW_FILE_4 = 103
    COLUMN_FAMILY = 200
    COLUMN_FAMILY_ADD = 201


_END_OF_FILE_FIELDS = 1


def manifest_name(number: int) -> str:
    return f"MANIFEST-{number:06d}"


def options_name(number: int) -> str:
    return f"OPTIONS-{number:06d}"


def current_file(manifest_number: int) -> bytes:
    """The contents of CURRENT."""
    return f"{manifest_name(manifest_number)}\n".encode()


def write_manifest(
    column_families: Sequence[ColumnFamily],
    files: Sequence[SstFileInfo],
    *,
    next_file_number: int,
    last_sequence: int = 0,
) -> bytes:
    """The contents of a MANIFEST that lists ``files``, ``default`` being among ``column_families`` or not.

    Files of one column family whose key ranges are apart are put at the bottommost level, as those of a
    compacted database; otherwise all files of that column family at level 0, where ranges may overlap.
    ``next_file_number`` is above those of all files and of the MANIFEST itself.

    Raises EncodeError on a file of a column family that is not there, and on numbers or names used twice.
    """
    families = [family for family in column_families if family.id != DEFAULT_COLUMN_FAMILY_ID]
    _check(families, files, next_file_number)
    edits = [_edit_of_default(), *map(_edit_of_family, families)]
    for family_id in sorted({file.column_family_id for file in files}):
        own = sorted((f for f in files if f.column_family_id == family_id), key=lambda f: f.smallest_key)
        edits.append(_edit_of_files(family_id, own))
    last = Writer()
    _put_numbers(last, (Tag.LOG_NUMBER, 0), (Tag.PREV_LOG_NUMBER, 0))
    _put_numbers(last, (Tag.NEXT_FILE_NUMBER, next_file_number), (Tag.LAST_SEQUENCE, last_sequence))
    edits.append(last.getvalue())
    return log_file(edits)


def log_file(records: Sequence[bytes]) -> bytes:
    """``records`` as RocksDB's log file: cut where a block of 32 KiB ends, each part with a masked CRC32c."""
    out = bytearray()
    for record in records:
        rest, kind = memoryview(record), RecordType.FULL
        while True:
            room = LOG_BLOCK_SIZE - len(out) % LOG_BLOCK_SIZE
            if room < LOG_HEADER_SIZE:
                out += bytes(room)
                room = LOG_BLOCK_SIZE
            part, rest = rest[: room - LOG_HEADER_SIZE], rest[room - LOG_HEADER_SIZE :]
            first = kind is RecordType.FULL
            if rest:
                kind = RecordType.FIRST if first else RecordType.MIDDLE
            elif not first:
                kind = RecordType.LAST
            checksum = block_checksum(Checksum.CRC32C, bytes([kind]) + part)
            out += checksum.to_bytes(4, "little") + _HEADER_END.pack(len(part), kind) + part
            if not rest:
                break
    return bytes(out)


def _check(families: Sequence[ColumnFamily], files: Sequence[SstFileInfo], next_file_number: int) -> None:
    ids = [DEFAULT_COLUMN_FAMILY_ID, *(family.id for family in families)]
    names = ["default", *(family.name for family in families)]
    numbers = [file.file_number for file in files]
    for what, values in (("column family id", ids), ("column family", names), ("SST file number", numbers)):
        if len(set(values)) < len(values):
            raise EncodeError(f"a {what} is used twice", where=Where(file="MANIFEST"))
    for file in files:
        if file.column_family_id not in ids:
            what = f"column family {file.column_family_id} is not among those of the database"
            raise EncodeError(what, where=Where(file=file.name))
        if file.file_number >= next_file_number:
            what = f"file number {file.file_number} is not below the next file number {next_file_number}"
            raise EncodeError(what, where=Where(file=file.name))


def _edit_of_default() -> bytes:
    edit = Writer()
    _put_bytes(edit, Tag.COMPARATOR, BYTEWISE_COMPARATOR.encode())
    return edit.getvalue()


def _edit_of_family(family: ColumnFamily) -> bytes:
    edit = Writer()
    _put_bytes(edit, Tag.COMPARATOR, BYTEWISE_COMPARATOR.encode())
    _put_numbers(edit, (Tag.LOG_NUMBER, 0), (Tag.COLUMN_FAMILY, family.id))
    _put_bytes(edit, Tag.COLUMN_FAMILY_ADD, family.name.encode())
    return edit.getvalue()


def _edit_of_files(family_id: int, files: Sequence[SstFileInfo]) -> bytes:
    """``kNewFile4`` for each of the files of one column family, sorted by smallest key."""
    apart = all(before.largest_key < after.smallest_key for before, after in pairwise(files))
    level = BOTTOMMOST_LEVEL if apart else 0
    edit = Writer()
    for file in files:
        _put_numbers(edit, (Tag.NEW_FILE_4, level))
        edit.varint(file.file_number)
        edit.varint(file.size)
        for key in (file.smallest_key, file.largest_key):
            edit.varint(len(key) + INTERNAL_KEY_SUFFIX)
            edit.bytes(key + _PUT_OF_SEQUENCE_0)
        edit.varint(0)  # smallest sequence number
        edit.varint(0)  # largest sequence number
        edit.varint(_END_OF_FILE_FIELDS)
    _put_numbers(edit, (Tag.COLUMN_FAMILY, family_id))
    return edit.getvalue()


def _put_numbers(edit: Writer, *fields: tuple[Tag, int]) -> None:
    for tag, number in fields:
        edit.varint(tag)
        edit.varint(number)


def _put_bytes(edit: Writer, tag: Tag, value: bytes) -> None:
    edit.varint(tag)
    edit.varint(len(value))
    edit.bytes(value)
