"""State larger than a batch: what is deleted, how far the key-group prefix goes, and the memory it takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from statelift.schemas.operator_id import operator_id_of_uid
from statelift.state_ops.snapshot import open_snapshot
from statelift.state_ops.states import KeyedState

from .generated import HOUR, T0, seen
from .lifting import TARGETS, entries, lift, one_state, opened, state_report

OLD = one_state("ages", "seen", delete={"where": f"map_key = 'ts' AND value <= {T0} - 6 * {HOUR}"})

BYTES_IN_MEMORY = 4 + 2 + 1 + 8 + 8 + 8 * 4
"""Of an entry: its key, map key, value, their lengths, where they lie."""

CHILD = """
import sys
import statelift
from statelift.state_ops.apply import apply
from statelift.state_ops.plan import Plan
def peak():  # not ru_maxrss, which a process has from the one that started it
    [line] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
    return int(line.split()[1]) << 10
source, target, limit, oldest = sys.argv[1:]
snapshot = statelift.open(source, uids=["ages"], memory_limit=limit)
rows = sum(len(batch) for batch in snapshot.state("ages", "seen").batches())
[ends] = snapshot.sql('SELECT min(value), max(value) FROM "ages"."seen"').read_all().to_pylist()
for format, done in {
    "canonical": {"set": {"value": "value"}},
    "rocksdb": {"delete": {"where": "map_key = 'ts' AND value <= " + oldest}},
}.items():
    states = {"ages": {"states": {"seen": done}}}
    plan = dict(source=source, target=target + format, format=format, operators=states, memory_limit=limit)
    [state] = apply(Plan.of(plan), workers=2).states
    assert state.read[0] == rows
    source = target + format
print(peak(), rows, state.deleted, state.written[0])
"""

LIMIT = 480_000_000


def measured(source: Path, target: Path) -> tuple[int, int, int, int]:
    """(peak of the resident memory in bytes, entries read, deleted at last, left) of a process of its own.

    It reads, queries, writes canonical, and from that RocksDB.
    """
    arguments = [str(source), str(target), str(LIMIT), str(T0 - 6 * HOUR)]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    peak, rows, deleted, left = map(int, done.stdout.split())
    return peak, rows, deleted, left


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from Linux's /proc")
def test_memory_stays_under_the_limit_and_does_not_grow_with_the_state(tmp_path: Path) -> None:
    """Entries older than six hours go: 94 of each 100 keys, whose maps leave no trace."""
    peaks = {}
    for keys in (1_000_000, 4_000_000):
        source = seen(tmp_path / f"source-{keys}", keys)
        peaks[keys], rows, deleted, left = measured(source, tmp_path / f"target-{keys}")
        assert (rows, deleted, left) == (keys, keys * 94 // 100, keys * 6 // 100)
    small, large = peaks.values()
    assert large < LIMIT
    assert large - small < 3_000_000 * BYTES_IN_MEMORY // 3, peaks


@pytest.mark.parametrize("format", TARGETS)
def test_what_is_deleted_leaves_no_trace(tmp_path: Path, format: str) -> None:
    source = seen(tmp_path / "source", 30_000, parallelism=3)
    report = lift(source, tmp_path / "out", OLD, format=format, workers=4)
    assert state_report(report, "seen").deleted == 28_200
    rows = open_snapshot(str(tmp_path / "out"), uids=["ages"]).state("ages", "seen").to_arrow().to_pylist()
    assert sorted(row["key"] for row in rows) == [i for i in range(30_000) if i % 100 < 6]
    assert all(row["value"] == T0 - row["key"] % 100 * HOUR for row in rows)


@pytest.mark.parametrize("max_parallelism", [128, 129, 256, 4096, 32768])
@pytest.mark.parametrize("format", TARGETS)
def test_key_groups_of_one_byte_and_of_two(tmp_path: Path, max_parallelism: int, format: str) -> None:
    """Integer 0, 1 and -1 are in the groups 94, 86 and 80 of 128; 222, 214 of 256; 2526, 4054 of 4096."""
    source = seen(tmp_path / "source", 3000, max_parallelism=max_parallelism, parallelism=2)
    lift(source, tmp_path / "out", OLD, format=format, workers=5)
    state = open_snapshot(str(tmp_path / "out"), uids=["ages"]).state("ages", "seen")
    assert isinstance(state, KeyedState)
    rows = {row["key"]: row["key_group"] for row in state.to_arrow().to_pylist()}
    assert sorted(rows) == [i for i in range(3000) if i % 100 < 6]
    known = {128: (94, 86), 256: (222, 214), 4096: (2526, 4054)}
    if max_parallelism in known:
        assert (rows[0], rows[1]) == known[max_parallelism]
    assert {backend.key_groups.start for backend, _ in state.parts} == {0, -(-max_parallelism // 2)}
    lift(tmp_path / "out", tmp_path / "back", format="canonical")
    place = (operator_id_of_uid("ages").hex(), "seen")
    assert entries(opened(tmp_path / "out"))[place] == entries(opened(tmp_path / "back"))[place]
