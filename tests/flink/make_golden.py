"""Writes the golden savepoints of `tests/golden` anew: `python tests/flink/make_golden.py`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from flink import VERSIONS, FlinkHarness, Written

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
LIMIT = 1_000_000

# Below the size of the keyed states and above that of the operator states: one savepoint has both kinds of handle.
SOME_FILES = {"execution.checkpointing.data-inline-threshold": "2 kb"}
VARIANTS = [
    ("hashmap", "canonical", SOME_FILES),
    ("hashmap", "native", {}),
    ("rocksdb", "canonical", {}),
    ("rocksdb", "native", {}),
]


def main() -> None:
    for version in VERSIONS:
        with FlinkHarness(version) as flink, tempfile.TemporaryDirectory() as work:
            for backend, format, config in VARIANTS:
                written = flink.write(Path(work), backend=backend, format=format, config=config)
                keep(written, GOLDEN / version / f"{backend}-{format}")
    size = sum(path.stat().st_size for path in GOLDEN.glob("*/*-*/**/*") if path.is_file())
    print(f"{size:,} bytes of savepoints in {GOLDEN}")
    assert size <= LIMIT, f"golden data may have {LIMIT:,} bytes"


def keep(written: Written, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(written.path, target / "savepoint")
    shutil.copy(written.expected_file, target / "expected.json")


if __name__ == "__main__":
    main()
