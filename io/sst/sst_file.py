"""What is known of a written SST file: all that the MANIFEST needs to list it."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_COLUMN_FAMILY_ID = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFamily:
    """A column family; Flink keeps each state in one of its own, named as the state (spec section 7.2)."""

    id: int
    name: str


DEFAULT_COLUMN_FAMILY = ColumnFamily(id=DEFAULT_COLUMN_FAMILY_ID, name="default")
"""Every database has it; Flink keeps nothing in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SstFileInfo:
    """One written file: sizes in bytes, keys as user keys. Plain values, so that a worker can hand it on."""

    file_number: int
    column_family_id: int
    size: int
    num_entries: int
    num_data_blocks: int
    raw_key_size: int
    raw_value_size: int
    smallest_key: bytes
    largest_key: bytes

    @property
    def name(self) -> str:
        return sst_name(self.file_number)


def sst_name(file_number: int) -> str:
    """The local file name (``MakeTableFileName``)."""
    return f"{file_number:06d}.sst"
