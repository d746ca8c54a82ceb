"""Writes the OPTIONS file: how to open the database. Flink brings its own options; other tools read these."""

from __future__ import annotations

from collections.abc import Sequence

from .meta_blocks import FORMAT_VERSION
from .sst_file import DEFAULT_COLUMN_FAMILY, ColumnFamily

_HEAD = """\
# This is a RocksDB option file.

[Version]
  rocksdb_version=6.20.3
  options_file_version=1.1

[DBOptions]
  max_open_files=-1

"""

_FAMILY = """\
[CFOptions "{name}"]
  comparator=leveldb.BytewiseComparator
  merge_operator=StringAppendTESTOperator
  compression=kSnappyCompression
  num_levels=7

[TableOptions/BlockBasedTable "{name}"]
  format_version={format_version}
  checksum=kCRC32c

"""

_ESCAPES = str.maketrans({"\\": "\\\\", "#": "\\#", ":": "\\:", "\n": "\\n", "\r": "\\r"})


def options_file(column_families: Sequence[ColumnFamily]) -> bytes:
    """The text of an OPTIONS file of RocksDB 6.20.3, read by that and all later releases.

    ``default`` comes first, whether it is among ``column_families`` or not. Each column family has the merge
    operator that Flink sets (``stringappendtest``); all else is RocksDB's default.
    """
    others = [family for family in column_families if family.id != DEFAULT_COLUMN_FAMILY.id]
    sections = [
        _FAMILY.format(name=family.name.translate(_ESCAPES), format_version=FORMAT_VERSION)
        for family in (DEFAULT_COLUMN_FAMILY, *others)
    ]
    return (_HEAD + "".join(sections)).encode()
