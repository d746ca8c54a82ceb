"""The last bytes of a table: where its metaindex and index are (``Footer`` of ``table/format.cc``)."""

from __future__ import annotations

from dataclasses import dataclass

from ...schemas.errors import FormatError, UnsupportedVersionError, Where
from .format import (
    BLOCK_BASED_MAGIC,
    FOOTER_SIZE,
    LEGACY_BLOCK_BASED_MAGIC,
    LEGACY_FOOTER_SIZE,
    MAX_READ_FORMAT_VERSION,
    OTHER_TABLE_MAGICS,
    BlockHandle,
    Checksum,
)
from .little import LittleReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """``checksum`` guards every block of the file; format version 0 is the legacy footer, always CRC32c."""

    checksum: Checksum
    metaindex: BlockHandle
    index: BlockHandle
    format_version: int


def read_footer(tail: bytes | memoryview, size: int, file: str) -> Footer:
    """The footer of a file of ``size`` bytes that ends in ``tail`` (at least 53 bytes, or the whole file).

    Raises UnsupportedVersionError for other table formats and for format versions above 5.
    """
    if len(tail) < LEGACY_FOOTER_SIZE:
        raise FormatError(f"{size} bytes are too few for an SST file", where=Where(file=file))
    reader = LittleReader(tail, len(tail) - 8, file)
    magic = reader.fixed64("magic number")
    where = Where(file=file, offset=size - 8)
    if magic in OTHER_TABLE_MAGICS:
        raise UnsupportedVersionError(f"SST file is a {OTHER_TABLE_MAGICS[magic]}", where=where)
    if magic == LEGACY_BLOCK_BASED_MAGIC:
        reader.pos = len(tail) - LEGACY_FOOTER_SIZE
        version, checksum = 0, Checksum.CRC32C
    elif magic == BLOCK_BASED_MAGIC and len(tail) >= FOOTER_SIZE:
        reader.pos = len(tail) - 12
        version = reader.fixed32("format version")
        if version > MAX_READ_FORMAT_VERSION:
            raise UnsupportedVersionError(
                f"SST format version {version} is newer than {MAX_READ_FORMAT_VERSION}",
                where=Where(file=file, offset=size - 12),
            )
        reader.pos = len(tail) - FOOTER_SIZE
        checksum = _checksum(reader.u1("checksum type"), Where(file=file, offset=size - FOOTER_SIZE))
    else:
        raise FormatError(f"not an SST file: magic number {magic:016x}", where=where)
    metaindex = read_handle(reader, size)
    index = read_handle(reader, size)
    return Footer(checksum=checksum, metaindex=metaindex, index=index, format_version=version)


def read_handle(reader: LittleReader, file_size: int) -> BlockHandle:
    """A block handle, refused where the block and its trailer do not lie in the file."""
    handle = BlockHandle(offset=reader.varint64("block offset"), size=reader.varint64("block size"))
    if handle.end > file_size:
        raise FormatError(
            f"block of {handle.size} bytes at {handle.offset} lies outside the file of {file_size} bytes",
            where=Where(file=reader.file),
        )
    return handle


def _checksum(number: int, where: Where) -> Checksum:
    try:
        return Checksum(number)
    except ValueError:
        raise UnsupportedVersionError(f"block checksum type {number} is not known", where=where) from None
