"""What a RocksDB block-based table is made of: numbers and names shared by the reader and the writer.

A file is ``block*, footer``; each block is followed by a trailer of one compression byte and a little-endian
u4 checksum over block and compression byte (``table/format.h``, ``include/rocksdb/table_properties.h``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

BLOCK_BASED_MAGIC = 0x88E241B785F4CFF7
LEGACY_BLOCK_BASED_MAGIC = 0xDB4775248B80FB57
"""Footer of format version 0: no checksum byte and no version; the checksum is CRC32c."""

EXTENDED_MAGIC = b"\x3e\x00\x7a\x00"
"""Stands in the footer from format version 6 on."""

OTHER_TABLE_MAGICS = {
    0x8242229663BF9564: "plain table",
    0x4F3418EB7A8F13B8: "legacy plain table",
    0x926789D0C5F17873: "cuckoo table",
}

FOOTER_SIZE = 53
LEGACY_FOOTER_SIZE = 48
BLOCK_TRAILER_SIZE = 5
MAX_READ_FORMAT_VERSION = 6
MAX_SEQUENCE_NUMBER = (1 << 56) - 1
INTERNAL_KEY_SUFFIX = 8
"""Bytes behind a user key: little-endian ``sequence << 8 | value type``."""

META_INDEX = "rocksdb.index"
META_PROPERTIES = "rocksdb.properties"
META_RANGE_DELETIONS = "rocksdb.range_del"
META_COMPRESSION_DICTIONARY = "rocksdb.compression_dict"
META_PARTITIONED_FILTER = "partitionedfilter."
"""Begins the name of a filter in partitions, the filter policy's behind it."""

BYTEWISE_COMPARATOR = "leveldb.BytewiseComparator"


class Checksum(IntEnum):
    """``ChecksumType``: what guards a block."""

    NONE = 0
    CRC32C = 1
    XXHASH = 2
    XXHASH64 = 3
    XXH3 = 4


class Compression(IntEnum):
    """``CompressionType``: the first byte of a block's trailer."""

    NONE = 0
    SNAPPY = 1
    ZLIB = 2
    BZIP2 = 3
    LZ4 = 4
    LZ4HC = 5
    XPRESS = 6
    ZSTD = 7
    ZSTD_NOT_FINAL = 0x40


class ValueType(IntEnum):
    """``ValueType`` of ``db/dbformat.h``: the first of the eight bytes behind a user key."""

    DELETION = 0
    VALUE = 1
    MERGE = 2
    SINGLE_DELETION = 7
    RANGE_DELETION = 15
    BLOB_INDEX = 17
    DELETION_WITH_TIMESTAMP = 20
    WIDE_COLUMN_ENTITY = 22
    VALUE_PREFERRED = 24


class IndexType(IntEnum):
    """``BlockBasedTableOptions::IndexType``, as in the property ``rocksdb.block.based.table.index.type``."""

    BINARY_SEARCH = 0
    HASH_SEARCH = 1
    TWO_LEVEL = 2
    BINARY_SEARCH_WITH_FIRST_KEY = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockHandle:
    """Where a block is: ``size`` bytes at ``offset``, its trailer behind it not counted."""

    offset: int
    size: int

    @property
    def end(self) -> int:
        """The first byte behind the trailer."""
        return self.offset + self.size + BLOCK_TRAILER_SIZE
