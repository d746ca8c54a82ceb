"""What a table says of itself in its ``rocksdb.properties`` block (``TablePropertiesNames``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...schemas.errors import FormatError, UnsupportedVersionError, Where
from .format import BYTEWISE_COMPARATOR, IndexType
from .little import LittleReader

UNKNOWN_COLUMN_FAMILY_ID = 0x7FFFFFFF
GLOBAL_SEQNO = b"rocksdb.external_sst_file.global_seqno"

_APPEND_OPERATORS = ("StringAppendTESTOperator", "stringappendtest", "nullptr", "")
"""Names of Flink's merge operator; a file that was written without a database names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProperties:
    """Sizes are bytes, counts entries of all versions; what an old release did not write is 0 or empty."""

    column_family_id: int
    column_family_name: str
    num_entries: int
    num_deletions: int
    num_merge_operands: int
    num_range_deletions: int
    num_data_blocks: int
    raw_key_size: int
    raw_value_size: int
    data_size: int
    index_size: int
    index_type: IndexType
    index_key_is_user_key: bool
    index_value_is_delta_encoded: bool
    comparator: str
    merge_operator: str
    compression: str
    external_version: int
    """``rocksdb.external_sst_file.version``; 0 for a file that was not made to be ingested."""
    external_global_seqno: int


def read_properties(raw: Mapping[bytes, bytes], file: str) -> TableProperties:
    """The properties under their RocksDB names; a table that needs what is not read here is refused by name."""

    where = Where(file=file)

    def field(name: str, read: Callable[[LittleReader], int]) -> int:
        try:
            return read(LittleReader(raw.get(name.encode(), b"\0" * 8)))
        except FormatError as error:
            raise FormatError(f"property {name}: {error.what}", where=where) from None

    def number(name: str) -> int:
        return field(f"rocksdb.{name}", LittleReader.varint64)

    def text(name: str) -> str:
        return raw.get(f"rocksdb.{name}".encode(), b"").decode("utf-8", "replace")

    index_type = field("rocksdb.block.based.table.index.type", LittleReader.fixed32)
    if index_type not in IndexType.__members__.values():
        raise UnsupportedVersionError(f"SST index type {index_type} is not known", where=where)
    has_id = b"rocksdb.column.family.id" in raw
    properties = TableProperties(
        column_family_id=number("column.family.id") if has_id else UNKNOWN_COLUMN_FAMILY_ID,
        column_family_name=text("column.family.name"),
        num_entries=number("num.entries"),
        num_deletions=number("deleted.keys"),
        num_merge_operands=number("merge.operands"),
        num_range_deletions=number("num.range-deletions"),
        num_data_blocks=number("num.data.blocks"),
        raw_key_size=number("raw.key.size"),
        raw_value_size=number("raw.value.size"),
        data_size=number("data.size"),
        index_size=number("index.size"),
        index_type=IndexType(index_type),
        index_key_is_user_key=number("index.key.is.user.key") != 0,
        index_value_is_delta_encoded=number("index.value.is.delta.encoded") != 0,
        comparator=text("comparator"),
        merge_operator=text("merge.operator"),
        compression=text("compression"),
        external_version=field("rocksdb.external_sst_file.version", LittleReader.fixed32),
        external_global_seqno=field(GLOBAL_SEQNO.decode(), LittleReader.fixed64),
    )
    if properties.comparator not in (BYTEWISE_COMPARATOR, ""):
        raise UnsupportedVersionError(f"comparator {properties.comparator!r} is not read", where=where)
    if properties.num_merge_operands and properties.merge_operator not in _APPEND_OPERATORS:
        raise UnsupportedVersionError(
            f"values are merged by {properties.merge_operator!r} and not by Flink's stringappendtest",
            where=where,
        )
    return properties
