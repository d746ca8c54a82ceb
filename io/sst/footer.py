"""The last bytes of a table: where its metaindex and index are (``Footer`` of ``table/format.cc``)."""

from __future__ import annotations

from dataclasses import dataclass

from ...schemas.errors import FormatError, UnsupportedVersionError, Where
from .checksums import block_checksum, context_modifier
from .format import (
    BLOCK_BASED_MAGIC,
    BLOCK_TRAILER_SIZE,
    EXTENDED_MAGIC,
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
    """``checksum`` guards every block of the file; format version 0 is the legacy footer, always CRC32c.

    From version 6 on ``index`` is None, as its handle is in the metaindex, and a block's checksum depends on where
    the block is, by ``base_context_checksum``.
    """

    checksum: Checksum
    metaindex: BlockHandle
    index: BlockHandle | None
    format_version: int
    base_context_checksum: int = 0


def read_footer(tail: bytes | memoryview, size: int, file: str) -> Footer:
    """The footer of a file of ``size`` bytes that ends in ``tail`` (at least 53 bytes, or the whole file).

    Raises UnsupportedVersionError for other table formats and for format versions above 6.
    """
    if len(tail) < LEGACY_FOOTER_SIZE:
        raise FormatError(f"{size} bytes are too few for an SST file", where=Where(file=file))
    reader = LittleReader(tail, len(tail) - 8, file)
    magic = reader.fixed64("magic number")
    where = Where(file=file, offset=size - 8)
    if magic in OTHER_TABLE_MAGICS:
        raise UnsupportedVersionError(
            f"SST file is a {OTHER_TABLE_MAGICS[magic]}, which is not read", where=where
        )
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
        if version >= 6:
            return _extended_footer(reader, checksum, version, size)
    else:
        raise FormatError(f"not an SST file: magic number {magic:016x}", where=where)
    metaindex = read_handle(reader, size)
    index = read_handle(reader, size)
    return Footer(checksum=checksum, metaindex=metaindex, index=index, format_version=version)


def _extended_footer(reader: LittleReader, checksum: Checksum, version: int, size: int) -> Footer:
    """The footer from version 6 on: it has a checksum itself, and the metaindex stands right before it."""
    at = size - FOOTER_SIZE
    where = Where(file=reader.file, offset=at)
    whole = bytes(reader.data[-FOOTER_SIZE:])
    if reader.bytes(4) != EXTENDED_MAGIC:
        raise FormatError("footer does not have its extended magic number", where=where)
    stored, base, length = reader.fixed32(), reader.fixed32(), reader.fixed32()
    computed = block_checksum(checksum, whole[:5] + bytes(4) + whole[9:])
    if checksum is not Checksum.NONE and (computed + context_modifier(base, at)) & 0xFFFFFFFF != stored:
        raise FormatError(f"{checksum.name} of the footer does not match: the file is damaged", where=where)
    reader.take(16)
    if reader.fixed64():
        raise UnsupportedVersionError(
            f"SST format version {version} with a feature of the future", where=where
        )
    start = at - BLOCK_TRAILER_SIZE - length
    if start < 0:
        raise FormatError(f"metaindex of {length} bytes does not fit in the file", where=where)
    metaindex = BlockHandle(offset=start, size=length)
    return Footer(
        checksum=checksum, metaindex=metaindex, index=None, format_version=version, base_context_checksum=base
    )


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
