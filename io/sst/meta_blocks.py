"""The blocks of a table that are not data: index, properties, metaindex; and the footer.

All are small, uncompressed and written with each key in full (``table/block_based/index_builder.cc``,
``table/meta_blocks.cc``, ``table/format.cc``).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ...schemas.wire import Writer
from .format import (
    BLOCK_BASED_MAGIC,
    BYTEWISE_COMPARATOR,
    FOOTER_SIZE,
    META_PROPERTIES,
    BlockHandle,
    Checksum,
    Compression,
    IndexType,
)
from .sst_file import ColumnFamily

FORMAT_VERSION = 5
"""Read by RocksDB 6.6 and all later ones."""

_COMPRESSION_NAMES = {Compression.NONE: "NoCompression", Compression.SNAPPY: "Snappy"}
_U4 = struct.Struct("<I")
_FOOTER_END = struct.Struct("<IQ")


class _Block:
    """Entries of a block whose restart interval is one, so that no key shares a prefix."""

    def __init__(self) -> None:
        self.body = Writer()
        self.restarts: list[int] = []

    def start_entry(self, key: bytes) -> None:
        self.restarts.append(len(self.body.out))
        self.body.varint(0)
        self.body.varint(len(key))

    def finish(self) -> bytes:
        restarts = self.restarts or [0]
        return self.body.getvalue() + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


class IndexBuilder:
    """The binary-search index: per data block its last user key and its handle.

    With delta-encoded values an entry has no value length; at a restart the handle is in full.
    """

    def __init__(self) -> None:
        self._block = _Block()

    @property
    def entries(self) -> int:
        return len(self._block.restarts)

    def add(self, last_key: bytes, handle: BlockHandle) -> None:
        self._block.start_entry(last_key)
        self._block.body.bytes(last_key)
        _put_handle(self._block.body, handle)

    def finish(self) -> bytes:
        return self._block.finish()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTableProperties:
    """RocksDB's ``TableProperties``, as far as a bottommost file of PUTs has any; sizes in bytes.

    Left out are the identity of the database and session: RocksDB makes block-cache keys of them and the file
    number, and Flink's databases share a cache, so equal ones on different files would mix up their blocks.
    Without them it uses its own. Creation times are left out too (unknown), so that the same entries make the
    same file; RocksDB takes the file's time where it needs one.
    """

    column_family: ColumnFamily
    file_number: int
    compression: Compression
    data_size: int
    index_size: int
    num_data_blocks: int
    num_entries: int
    raw_key_size: int
    raw_value_size: int


def properties_block(properties: NewTableProperties) -> bytes:
    """The block behind ``rocksdb.properties``: numbers as varints, all sorted by name."""
    numbers = {
        "rocksdb.column.family.id": properties.column_family.id,
        "rocksdb.data.size": properties.data_size,
        "rocksdb.deleted.keys": 0,
        "rocksdb.filter.size": 0,
        "rocksdb.fixed.key.length": 0,
        "rocksdb.format.version": FORMAT_VERSION,
        "rocksdb.index.key.is.user.key": 1,
        "rocksdb.index.size": properties.index_size,
        "rocksdb.index.value.is.delta.encoded": 1,
        "rocksdb.merge.operands": 0,
        "rocksdb.num.data.blocks": properties.num_data_blocks,
        "rocksdb.num.entries": properties.num_entries,
        "rocksdb.num.range-deletions": 0,
        "rocksdb.original.file.number": properties.file_number,
        "rocksdb.raw.key.size": properties.raw_key_size,
        "rocksdb.raw.value.size": properties.raw_value_size,
    }
    texts = {
        "rocksdb.block.based.table.prefix.filtering": "0",
        "rocksdb.block.based.table.whole.key.filtering": "1",
        "rocksdb.column.family.name": properties.column_family.name,
        "rocksdb.comparator": BYTEWISE_COMPARATOR,
        "rocksdb.compression": _COMPRESSION_NAMES[properties.compression],
        "rocksdb.merge.operator": "StringAppendTESTOperator",
        "rocksdb.prefix.extractor.name": "nullptr",
        "rocksdb.property.collectors": "[]",
    }
    values = {name: varint(number) for name, number in numbers.items()}
    values.update({name: text.encode() for name, text in texts.items()})
    values["rocksdb.block.based.table.index.type"] = _U4.pack(IndexType.BINARY_SEARCH)
    return _plain_block(values)


def metaindex_block(properties: BlockHandle) -> bytes:
    """Where the properties block is."""
    handle = Writer()
    _put_handle(handle, properties)
    return _plain_block({META_PROPERTIES: handle.getvalue()})


def footer(metaindex: BlockHandle, index: BlockHandle) -> bytes:
    """The last 53 bytes of a file."""
    out = Writer()
    out.u1(Checksum.CRC32C)
    _put_handle(out, metaindex)
    _put_handle(out, index)
    return out.getvalue().ljust(FOOTER_SIZE - _FOOTER_END.size, b"\0") + _FOOTER_END.pack(
        FORMAT_VERSION, BLOCK_BASED_MAGIC
    )


def varint(value: int) -> bytes:
    out = Writer()
    out.varint(value)
    return out.getvalue()


def _plain_block(values: dict[str, bytes]) -> bytes:
    block = _Block()
    for name, value in sorted((name.encode(), value) for name, value in values.items()):
        block.start_entry(name)
        block.body.varint(len(value))
        block.body.bytes(name + value)
    return block.finish()


def _put_handle(out: Writer, handle: BlockHandle) -> None:
    out.varint(handle.offset)
    out.varint(handle.size)
