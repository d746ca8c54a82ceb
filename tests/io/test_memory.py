"""The memory limit: what it is, and how it is shared out."""

from __future__ import annotations

import pytest
import statelift
from statelift.io.memory import LEAST_DATA_BYTES, PROGRAM_BYTES, Held, Memory, parse_size
from statelift.schemas.errors import InputError

from ..golden_savepoints import savepoint

LEAST = PROGRAM_BYTES + LEAST_DATA_BYTES


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512MB", 512_000_000),
        ("2GiB", 2 << 30),
        ("1.5 gb", 1_500_000_000),
        ("600000000", 600_000_000),
        ("1K", 1000),
    ],
)
def test_sizes_are_written_as_decimal_or_binary_multiples(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1GB", "1XB", "1iB", "GB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"is no size.*write it as 512MB"):
        parse_size(text)


def test_too_little_is_refused_with_what_is_enough() -> None:
    with pytest.raises(InputError, match=r"limit of 200MB is too small.*give 380MB or more"):
        Memory.of("200MB")
    assert Memory.of(LEAST).data_bytes == LEAST_DATA_BYTES


def test_without_a_limit_batches_have_their_usual_size_however_many_share() -> None:
    assert Memory.of(None).share(64).batch_bytes == Memory.of("100GB").batch_bytes == 16 << 20


def test_a_limit_is_shared_out() -> None:
    one = Memory.of("540MB")
    two = one.share(2)
    assert two.data_bytes == 100_000_000
    assert two.batch_bytes * 2 == pytest.approx(one.batch_bytes, abs=2)


def test_what_takes_more_than_there_is_is_refused_with_what_is_enough() -> None:
    Memory.of(None).require(10**12, "all")
    Memory.of("440MB").require(100_000_000, "they")
    with pytest.raises(InputError, match=r"too small: they take 100,000,001 beside.*give 441MB or more"):
        Memory.of("440MB").require(100_000_001, "they")


def test_writers_share_a_quarter() -> None:
    assert Memory.of("540MB").writer_bytes(5) == 10_000_000
    assert Memory.of(None).writer_bytes(1) == 256 << 20


def test_there_are_no_more_workers_than_there_is_memory_for() -> None:
    assert Memory.of(None).workers(64) == 64
    assert Memory.of("1GB").workers(64) == 16
    assert Memory.of("1GB").workers(64, 100_000_000) == 6
    assert Memory.of(LEAST).workers(64) == 1


def test_what_is_held_whole_is_refused_above_the_limit() -> None:
    held = Held(Memory.of("440MB"), "a list")
    held.add(60_000_000)
    with pytest.raises(InputError, match=r"a list is held in memory whole.*100,000,000 bytes"):
        held.add(60_000_000)


def test_a_snapshot_reads_the_same_with_the_least_memory() -> None:
    place = str(savepoint("2.3.0/rocksdb-native"))
    free, tight = (statelift.open(place, memory_limit=limit) for limit in (None, LEAST))
    for ours, theirs in zip(free.operators, tight.operators, strict=True):
        for one, other in zip(ours.states, theirs.states, strict=True):
            assert one.to_arrow() == other.to_arrow()
