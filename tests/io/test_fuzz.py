"""Damaged files: whatever their bytes, reading them gives entries or one of our errors, soon and in little memory.

20,000 damaged inputs by default; STATELIFT_FUZZ=N takes N times as many.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from statelift.schemas.errors import StateliftError

from ..changelog_snapshot import changelog_snapshot
from .fuzz_targets import Sample, samples

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
TIMES = int(os.environ.get("STATELIFT_FUZZ", "1"))
INPUTS = {
    "metadata": 4000,
    "canonical": 5000,
    "hashmap": 1500,
    "operator": 800,
    "sst": 3000,
    "sst unverified": 2900,
    "manifest": 2000,
    "changelog": 200,
    "changes": 300,
    "timers": 300,
}
MOST_SECONDS = 10
MOST_MEMORY = 400 << 20


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Sample]]:
    """The files to damage: those of the golden savepoints, and where it is, such of the corpus as those lack."""
    corpus = GOLDEN.parents[2] / "shared" / "corpus"
    folders = [
        *GOLDEN.glob("*/*/savepoint"),
        changelog_snapshot(tmp_path_factory.mktemp("fuzz") / "changes"),
        *corpus.glob("known/1.20.5/*changelog*chk*/checkpoints/*/chk-*"),
        *corpus.glob("known/1.20.5/collections-hashmap-*-snappy/savepoint-*"),
        *corpus.glob("savepoints/new-stateful-udf-migration-itcase-flink1.8-rocksdb-savepoint"),
    ]
    found: defaultdict[str, list[Sample]] = defaultdict(list)
    for folder in sorted(folders):
        for sample in samples(folder):
            if len(sample.data) < 100_000:
                found[sample.kind].append(sample)
    return found


def peak() -> int:
    """The most memory of this process, in bytes, since ``reset_peak``; Linux alone says it, elsewhere 0."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def reset_peak() -> int:
    """Forget the peak of what came before, which may hide this one; what there is now."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak()


def damaged(data: bytes, random: Random) -> bytes:
    """``data`` with one to three things done to it."""
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        at = random.randrange(len(out) + 1)
        match random.randrange(8):
            case 0 | 1 if at < len(out):
                out[at] ^= 1 << random.randrange(8)
            case 2 if at < len(out):
                out[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 3:
                size = random.choice((2, 4, 8))
                edge = random.choice(
                    (0, 1, -1, 2 ** (8 * size - 1) - 1, -(2 ** (8 * size - 1)), random.randrange(1 << 15))
                )
                out[at : at + size] = edge.to_bytes(size, "big", signed=True)
            case 4:
                del out[at : at + random.choice((1, 2, 4, 100))]
            case 5:
                out[at:at] = random.randbytes(random.choice((1, 4, 50)))
            case 6:
                source = random.randrange(len(out) + 1)
                out[at : at + 40] = out[source : source + 40]
            case _:
                del out[at:]
    return bytes(out)


@pytest.mark.parametrize("kind", INPUTS)
def test_damaged_input_gives_entries_or_an_error(kind: str, pool: dict[str, list[Sample]]) -> None:
    chosen = pool.get(kind)
    if not chosen:
        pytest.skip(f"no samples of {kind}: they are in the corpus of Flink-written snapshots")
    for sample in chosen[:3]:
        sample.read(sample.data)
    before = reset_peak()
    outcomes: Counter[str] = Counter()
    for number in range(INPUTS[kind] * TIMES):
        random = Random(f"{kind} {number}")
        sample = random.choice(chosen)
        data = damaged(sample.data, random)
        begun = time.perf_counter()
        try:
            sample.read(data)
            outcomes["read"] += 1
        except StateliftError as error:
            outcomes["refused" if "\n" not in str(error) else "more than a line"] += 1
        except Exception as error:
            error.add_note(f"input {number} of {kind}, {len(data)} bytes")
            raise
        took = time.perf_counter() - begun
        assert took < MOST_SECONDS, f"input {number} of {kind} took {took:.1f} s"
    grown = peak() - before
    assert grown < MOST_MEMORY, f"{grown >> 20} MiB of memory for inputs of less than 100 kB"
    assert outcomes["refused"] > INPUTS[kind] // 10
    assert not outcomes["more than a line"]
