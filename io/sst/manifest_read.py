"""The MANIFEST: which files are live, of which column family, at which level (``db/version_edit.cc``).

A MANIFEST is a log of version edits in blocks of 32 KiB; an edit is a list of tagged fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...schemas.errors import FormatError, UnexpectedEndError, UnsupportedVersionError
from .checksums import crc32c, mask_crc32c
from .format import INTERNAL_KEY_SUFFIX
from .little import LittleReader

_BLOCK = 32768
_HEADER = 7
_RECYCLABLE_EXTRA = 4
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_RECYCLABLE = 4
_SAFE_TO_IGNORE = 1 << 13
_CUSTOM_NOT_SAFE_TO_IGNORE = 1 << 6
_CUSTOM_END, _CUSTOM_PATH_ID = 1, 65


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFile:
    """``FileMetaData``: one live table. ``smallest`` and ``largest`` are internal keys (user key and 8 bytes)."""

    level: int
    number: int
    file_size: int
    smallest: bytes
    largest: bytes
    smallest_seqno: int
    largest_seqno: int

    @property
    def name(self) -> str:
        return f"{self.number:06d}.sst"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFamilyFiles:
    """A column family and its live files: level 0 newest first, then level by level in key order."""

    id: int
    name: str
    comparator: str
    files: tuple[LiveFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The state of the database after the last edit."""

    column_families: tuple[ColumnFamilyFiles, ...]
    last_sequence: int
    next_file_number: int

    def column_family(self, name: str) -> ColumnFamilyFiles | None:
        return next((family for family in self.column_families if family.name == name), None)


@dataclass(slots=True)
class _Family:
    name: str
    comparator: str = ""
    files: dict[int, LiveFile] = field(default_factory=dict)


def read_manifest(data: bytes, file: str = "MANIFEST") -> Manifest:
    """The live files of each column family. Raises FormatError, also where a record's checksum does not hold."""
    families = {0: _Family("default")}
    numbers = {"last sequence": 0, "next file number": 0}
    for offset, record in read_log(data, file):
        reader = LittleReader(record, file=file)
        try:
            _apply(_Edit(reader), families, numbers)
        except FormatError as error:
            error.where = reader.where(offset)
            raise
    return Manifest(
        column_families=tuple(
            ColumnFamilyFiles(id=id_, name=f.name, comparator=f.comparator, files=_ordered(f.files))
            for id_, f in sorted(families.items())
        ),
        last_sequence=numbers["last sequence"],
        next_file_number=numbers["next file number"],
    )


def _ordered(files: dict[int, LiveFile]) -> tuple[LiveFile, ...]:
    def rank(f: LiveFile) -> tuple[int, int, bytes, int]:
        if f.level == 0:
            return 0, -f.largest_seqno, b"", -f.number
        return f.level, 0, f.smallest[:-INTERNAL_KEY_SUFFIX], f.number

    return tuple(sorted(files.values(), key=rank))


class _Edit:
    """One version edit, field by field."""

    def __init__(self, reader: LittleReader) -> None:
        self.numbers: dict[str, int] = {}
        self.added: list[LiveFile] = []
        self.deleted: list[tuple[int, int]] = []
        self.family = 0
        self.comparator: str | None = None
        self.add_family: str | None = None
        self.drop_family = False
        while reader.remaining:
            self._field(reader, reader.varint32("tag"))

    def _field(self, reader: LittleReader, tag: int) -> None:
        if tag == 1:
            self.comparator = reader.slice("comparator").decode("utf-8", "replace")
        elif tag in _NUMBERS:
            self.numbers[_NUMBERS[tag]] = reader.varint64(_NUMBERS[tag])
        elif tag == 5:
            reader.varint32("level")
            reader.slice("compaction cursor")
        elif tag == 6:
            self.deleted.append((reader.varint32("level"), reader.varint64("file number")))
        elif tag in (100, 102, 103):
            self.added.append(_new_file(reader, tag))
        elif tag == 200:
            self.family = reader.varint32("column family")
        elif tag == 201:
            self.add_family = reader.slice("column family name").decode("utf-8", "replace")
        elif tag == 202:
            self.drop_family = True
        elif tag in (203, 300):
            reader.varint32("count")
        elif tag in (400, 401):
            raise UnsupportedVersionError("the database keeps values in blob files, which are not read")
        elif tag & _SAFE_TO_IGNORE:
            reader.slice("ignored field")
        else:
            raise reader.error(f"version edit has a field of unknown tag {tag}")


_NUMBERS = {
    2: "log number",
    3: "next file number",
    4: "last sequence",
    9: "previous log number",
    10: "log to keep",
}


def _new_file(reader: LittleReader, tag: int) -> LiveFile:
    level = reader.varint32("level")
    number = reader.varint64("file number")
    if tag == 102:
        reader.varint32("path id")
    new = LiveFile(
        level=level,
        number=number,
        file_size=reader.varint64("file size"),
        smallest=_internal_key(reader, "smallest key"),
        largest=_internal_key(reader, "largest key"),
        smallest_seqno=reader.varint64("smallest sequence number"),
        largest_seqno=reader.varint64("largest sequence number"),
    )
    while tag == 103:
        custom = reader.varint32("custom tag")
        if custom == _CUSTOM_END:
            break
        reader.slice("custom field")
        if custom & _CUSTOM_NOT_SAFE_TO_IGNORE and custom != _CUSTOM_PATH_ID:
            raise UnsupportedVersionError(f"file {new.name} has a field of unknown tag {custom}")
    return new


def _internal_key(reader: LittleReader, what: str) -> bytes:
    key = reader.slice(what)
    if len(key) < INTERNAL_KEY_SUFFIX:
        raise reader.error(
            f"{what} is shorter than its {INTERNAL_KEY_SUFFIX} bytes of sequence number and type"
        )
    return key


def _apply(edit: _Edit, families: dict[int, _Family], numbers: dict[str, int]) -> None:
    numbers.update({name: value for name, value in edit.numbers.items() if name in numbers})
    if edit.add_family is not None:
        families[edit.family] = _Family(edit.add_family)
    if edit.drop_family:
        families.pop(edit.family, None)
        return
    family = families.get(edit.family)
    if family is None:
        raise FormatError(f"version edit of column family {edit.family}, which was not added")
    if edit.comparator is not None:
        family.comparator = edit.comparator
    for _, number in edit.deleted:
        family.files.pop(number, None)
    for new in edit.added:
        family.files[new.number] = new


def read_log(data: bytes, file: str) -> Iterator[tuple[int, bytes]]:
    """The records of a RocksDB log, each with the offset of its first fragment."""
    reader = LittleReader(data, file=file)
    whole: bytearray | None = None
    begin = 0
    while reader.remaining >= _HEADER:
        left = _BLOCK - reader.pos % _BLOCK
        if left < _HEADER:
            reader.take(min(left, reader.remaining))
            continue
        start = reader.pos
        stored, length, kind = reader.fixed32(), int.from_bytes(reader.take(2), "little"), reader.u1()
        if kind == 0 and length == 0:
            reader.take(min(left - _HEADER, reader.remaining))
            continue
        extra = _RECYCLABLE_EXTRA if kind > _RECYCLABLE else 0
        if kind > 2 * _RECYCLABLE:
            raise UnsupportedVersionError(f"log record of type {kind} is not read", where=reader.where(start))
        if _HEADER + extra + length > left:
            raise reader.error(f"log record of {length} bytes crosses its block", start)
        if extra + length > reader.remaining:
            raise UnexpectedEndError(f"log record of {length} bytes is cut off", where=reader.where(start))
        reader.take(extra)
        payload = reader.bytes(length)
        if mask_crc32c(crc32c(data[start + 6 : reader.pos])) != stored:
            raise reader.error("CRC32c of the log record does not match: the file is damaged", start)
        kind -= _RECYCLABLE if extra else 0
        if (kind in (_FULL, _FIRST)) != (whole is None):
            raise reader.error("log record is out of order", start)
        if whole is None:
            whole, begin = bytearray(), start
        whole += payload
        if kind in (_FULL, _LAST):
            yield begin, bytes(whole)
            whole = None
    if whole is not None:
        raise UnexpectedEndError("last log record is cut off", where=reader.where())
