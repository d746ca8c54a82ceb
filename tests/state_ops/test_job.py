"""How a job is cut into shards."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statelift.io.keyed.regions import Region
from statelift.io.metadata import KeyGroupRange
from statelift.state_ops.job import Job, Shard, cut

from .lifting import REPAIR, TARGETS, golden, one_state, prepared


class Backend:
    """A keyed backend of which only the sizes are known: of each key group of a stream, or of all its files."""

    def __init__(self, key_groups: KeyGroupRange, sizes: Sequence[int], format: str) -> None:
        self.key_groups, self.sizes, self.format = key_groups, sizes, format

    @property
    def nbytes(self) -> int:
        return sum(self.sizes)

    def regions(self) -> list[Region]:
        regions, at = [], 0
        for key_group, size in zip(self.key_groups, self.sizes, strict=True):
            if size:
                regions.append(Region(key_group=key_group, start=at, stop=at + size))
            at += size
        return regions


def job_of(operators: Sequence[tuple[Sequence[Backend], bool]], max_parallelism: int) -> Job:
    work = {
        f"{number:032x}": SimpleNamespace(
            operator=SimpleNamespace(
                id=f"{number:032x}", keyed_backends=dict(enumerate(backends)), max_parallelism=max_parallelism
            ),
            whole=frozenset(["state"] if whole else []),
        )
        for number, (backends, whole) in enumerate(operators)
    }
    return cast(Job, SimpleNamespace(work=work))


@st.composite
def jobs(draw: st.DrawFn) -> tuple[Job, int]:
    max_parallelism = draw(st.sampled_from([1, 4, 10, 128]))
    operators = []
    for _ in range(draw(st.integers(1, 3))):
        parallelism = draw(st.integers(1, min(4, max_parallelism)))
        bounds = [i * max_parallelism // parallelism for i in range(parallelism + 1)]
        size = draw(st.sampled_from([st.integers(0, 10), st.integers(0, 1 << 30), st.just(0), st.just(7)]))
        backends = [
            Backend(
                KeyGroupRange(start, end - start),
                draw(st.lists(size, min_size=end - start, max_size=end - start)),
                draw(st.sampled_from(["canonical", "hashmap", "rocksdb", "changelog"])),
            )
            for start, end in pairwise(bounds)
        ]
        operators.append((backends, draw(st.booleans())))
    return job_of(operators, max_parallelism), max_parallelism


def units_of(shards: Sequence[Shard]) -> dict[tuple[str, int], list[Any]]:
    units: dict[tuple[str, int], list[Any]] = {}
    for shard in shards:
        for unit in shard.units:
            units.setdefault((unit.operator, unit.subtask), []).append(unit)
    return units


@given(job=jobs(), workers=st.integers(1, 300), shard_bytes=st.sampled_from([1, 100, 1 << 28]))
def test_every_key_group_of_every_subtask_is_in_one_shard_in_order(
    job: tuple[Job, int], workers: int, shard_bytes: int
) -> None:
    shards = cut(job[0], workers, shard_bytes)
    assert 1 <= len(shards) <= job[1]
    assert [shard.number for shard in shards] == list(range(len(shards)))
    units = units_of(shards)
    wanted = {
        (operator, subtask): list(backend.key_groups)
        for operator, work in job[0].work.items()
        for subtask, backend in work.operator.keyed_backends.items()
    }
    assert {
        place: [group for u in parts for group in range(u.key_group_start, u.key_group_start + u.key_groups)]
        for place, parts in units.items()
    } == wanted
    for parts in units.values():
        assert [unit.piece for unit in parts] == list(range(len(parts)))
        assert {unit.pieces for unit in parts} == {len(parts)}
    assert all(shard.units for shard in shards)


@given(job=jobs(), workers=st.integers(1, 300))
def test_an_operator_with_a_query_that_looks_beyond_the_row_is_in_one_shard(
    job: tuple[Job, int], workers: int
) -> None:
    places: dict[str, set[int]] = {}
    for shard in cut(job[0], workers):
        for unit in shard.units:
            places.setdefault(unit.operator, set()).add(shard.number)
            assert unit.pieces == 1 or not job[0].work[unit.operator].whole
    assert all(len(places[id]) == 1 for id, work in job[0].work.items() if work.whole)


@given(job=jobs(), workers=st.integers(1, 300))
def test_a_shard_is_its_share_and_at_most_a_key_group_more(job: tuple[Job, int], workers: int) -> None:
    """Where nothing has to stay together; only the last shard takes what is left."""
    if any(work.whole for work in job[0].work.values()):
        return
    shards = cut(job[0], workers)
    total = sum(shard.nbytes for shard in shards)
    backends = [b for work in job[0].work.values() for b in work.operator.keyed_backends.values()]
    largest = max(max(cast(Backend, backend).sizes) for backend in backends)
    share = -(-total // min(job[1], workers))
    assert all(shard.nbytes <= max(share, largest) for shard in shards[:-1])


@pytest.mark.parametrize("workers", [2, 5, 16])
def test_even_key_groups_make_even_shards(workers: int) -> None:
    backends = [Backend(KeyGroupRange(64 * i, 64), [1000] * 64, "canonical") for i in range(2)]
    shards = cut(job_of([(backends, False)], 128), workers)
    assert len(shards) == workers
    assert max(s.nbytes for s in shards) - min(s.nbytes for s in shards) <= 8 * 1000


def test_large_state_is_cut_further_than_there_are_workers() -> None:
    backends = [Backend(KeyGroupRange(0, 128), [10] * 128, "rocksdb")]
    assert len(cut(job_of([(backends, False)], 128), 1, shard_bytes=100)) == 13


def test_a_plan_that_rewrites_nothing_has_no_shards(tmp_path: Path) -> None:
    assert cut(prepared(golden("rocksdb-native"), tmp_path / "out"), 4) == []


@pytest.mark.parametrize("format", TARGETS)
def test_a_real_job_is_cut_where_it_can_be(tmp_path: Path, format: str) -> None:
    job = prepared(golden("hashmap-canonical"), tmp_path / "out", REPAIR, format=format)
    shards = cut(job, 7)
    assert len(shards) == 7
    named = {job.snapshot.operator(name).id for name in ("session-tracker",)}
    rewritten = {operator for operator, _ in units_of(shards)}
    assert named <= rewritten
    assert (len(rewritten) == 1) == (format == "canonical")


def test_shards_and_their_results_are_plain_data(tmp_path: Path) -> None:
    """They cross processes."""
    from statelift.state_ops.results import ShardResult
    from statelift.state_ops.run_shard import run_shard

    whole = one_state("session-tracker", "recent", select="SELECT key, value FROM recent ORDER BY key")
    for operators in (REPAIR, whole):
        job = prepared(golden("rocksdb-native"), tmp_path / "out", operators)
        for shard in cut(job, 3):
            assert Shard.model_validate_json(shard.model_dump_json()) == shard
            result = run_shard(job, shard)
            again = ShardResult.model_validate_json(result.model_dump_json())
            assert again.model_dump_json() == result.model_dump_json()
            assert [unit.files() for unit in again.units] == [unit.files() for unit in result.units]
