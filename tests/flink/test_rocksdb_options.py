"""Jobs may set RocksDB's options themselves: every way to write tables reads equal, or is refused by its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import statelift
from statelift.io.sst.format import Checksum, IndexType
from statelift.io.sst.table import SstTable
from statelift.schemas.errors import UnsupportedVersionError

from .flink import FlinkHarness
from .test_reads import Kind, differences, tables

pytestmark = pytest.mark.flink

EXTRA = Path(__file__).parent / "extra"
#: Flink's own cache goes with tables of blocks only, and has options of its own.
OWN_TABLES = {"state.backend.rocksdb.memory.managed": "false"}


@pytest.fixture(scope="module")
def flink() -> Iterator[FlinkHarness]:
    """Of the version with the newer RocksDB, which has the more options."""
    with FlinkHarness("2.3.0", [EXTRA / "EveryOption.java", EXTRA / "UnreadOption.java"]) as harness:
        yield harness


@pytest.mark.parametrize("format", ["checkpoint", "native"])
def test_every_way_to_write_tables_reads_equal(flink: FlinkHarness, tmp_path: Path, format: str) -> None:
    """Each column family of the job has other options than the last: some eighty of them, in fifteen ways."""
    kind = Kind(
        backend="rocksdb",
        format=format,
        parallelism=6,
        config={"state.backend.rocksdb.options-factory": "EveryOption", **OWN_TABLES},
    )
    written = kind.write(flink, tmp_path)
    assert differences(written.path, written.expected) == []
    found: list[SstTable] = [
        table for family in tables(statelift.open(str(written.path))) for table in family
    ]
    assert {table.format_version for table in found} == {2, 3, 4, 5, 6}
    assert {table.footer.checksum for table in found} == {*Checksum}
    assert {table.properties.index_type for table in found} >= {
        IndexType.BINARY_SEARCH, IndexType.HASH_SEARCH, IndexType.TWO_LEVEL,
    }  # fmt: skip
    assert {table.properties.compression for table in found} >= {
        "NoCompression", "Snappy", "LZ4HC", "Zlib", "BZip2",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("dictionary", "SST file is compressed with a dictionary"),
        ("plain", "SST file is a legacy plain table, which is not read"),
        ("blobs", "the database keeps values in blob files, which are not read"),
    ],
)
def test_what_is_not_read_is_refused_by_its_name(
    flink: FlinkHarness, tmp_path: Path, way: str, says: str
) -> None:
    kind = Kind(
        backend="rocksdb",
        format="native",
        config={
            "state.backend.rocksdb.options-factory": "UnreadOption",
            "state.backend.rocksdb.unread": way,
            **OWN_TABLES,
        },
    )
    written = kind.write(flink, tmp_path)
    snapshot = statelift.open(str(written.path), uids=["churn"])
    with pytest.raises(UnsupportedVersionError, match=says) as caught:
        snapshot.state("churn", "text").to_arrow()
    assert caught.value.where.file is not None
