"""ForSt, the disaggregated backend of Flink 2: its files are read where they are RocksDB's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import statelift

from .flink import FlinkHarness
from .test_reads import Kind, backends, differences, is_of

pytestmark = pytest.mark.flink

ASYNC = Path(__file__).parent / "extra" / "AsyncChurn.java"
ARTIFACTS = ("org.apache.flink:flink-statebackend-forst:2.3.0", "com.ververica:forstjni:0.1.8")
SYNC, ASYNCHRONOUS = "churn", "AsyncChurn"
AT_ONCE = {"execution.async-state.active-buffer-timeout": "1"}
"""A key's requests come one after another and do not fill the buffer, that else waits a second for more (in ms)."""


@pytest.fixture(scope="module")
def flink() -> Iterator[FlinkHarness]:
    with FlinkHarness("2.3.0", [ASYNC], ARTIFACTS) as harness:
        yield harness


def kinds_of_state(path: Path) -> set[str]:
    """Of the operator whose state is asynchronous in that family."""
    churn = statelift.open(str(path), uids=["churn"]).operator("churn")
    return {
        meta.backend_state_type.name
        for backend in churn.keyed_backends.values()
        for meta in backend.header.states  # type: ignore[union-attr]
    }


@pytest.mark.parametrize(
    ("family", "format"), [(SYNC, "checkpoint"), (SYNC, "native"), (ASYNCHRONOUS, "checkpoint")]
)
def test_what_forst_writes_reads_equal(flink: FlinkHarness, tmp_path: Path, family: str, format: str) -> None:
    kind = Kind(backend="forst", format=format, config=AT_ONCE)
    written = kind.write(flink, tmp_path, family=family)
    assert differences(written.path, written.expected) == []
    assert is_of("rocksdb")(statelift.open(str(written.path)))
    assert ("KEY_VALUE_V2" in kinds_of_state(written.path)) == (family == ASYNCHRONOUS)


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_asynchronous_state_on_the_other_backends_reads_equal(
    flink: FlinkHarness, tmp_path: Path, backend: str
) -> None:
    written = Kind(backend=backend, format="native").write(flink, tmp_path, family=ASYNCHRONOUS)
    assert differences(written.path, written.expected) == []
    assert {one.format for one in backends(statelift.open(str(written.path)))} == {backend}
