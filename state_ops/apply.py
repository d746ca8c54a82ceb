"""A plan run from start to end in this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ..schemas.errors import StateliftError
from .commit import commit
from .job import Job, Shard, cut, prepare
from .plan import Plan
from .report import Report
from .results import ShardResult
from .run_shard import run_shard

_STATE_BYTES = 1 << 20
"""What reading a state of RocksDB's takes at least, where several go side by side."""

#: Told the stored bytes done since the last call and the total.
Progress = Callable[[int, int], None]


def apply(plan: Plan, *, workers: int | None = None, progress: Progress | None = None) -> Report:
    """Do what a plan says and write the new snapshot. See :func:`apply_job`."""
    return apply_job(prepare(plan), workers=workers, progress=progress)


def apply_job(job: Job, *, workers: int | None = None, progress: Progress | None = None) -> Report:
    """Run a prepared job on ``workers`` threads (one for each processor if not given).

    With a memory limit there are no more threads than it has room for. Raises StateliftError; then what was written
    so far is removed and no snapshot stands at the target. A run that is killed leaves its finished shards, and the
    next run of the same plan goes on from them.
    """
    least = _least_bytes(job)
    job.memory.require(least, "states of RocksDB's, read side by side to be one stream,")
    workers = job.memory.workers(workers or os.cpu_count() or 1, least)
    memory = job.memory.share(workers)
    shards = cut(job, workers)
    total = sum(shard.nbytes for shard in shards)

    def run(shard: Shard) -> ShardResult:
        told = (lambda done: progress(done, total)) if progress else None
        return run_shard(job, shard, progress=told, memory=memory)

    try:
        with ThreadPoolExecutor(workers) as pool:
            results = list(pool.map(run, shards))
        return commit(job, shards, results)
    except StateliftError:
        discard(job)
        raise


def _least_bytes(job: Job) -> int:
    """What a shard takes however little it reads at once: RocksDB's states made one stream are read side by side."""
    side_by_side = (
        backend.state_count
        for work in job.work.values()
        for backend in work.operator.keyed_backends.values()
        if backend.format == "rocksdb" and (work.format != "rocksdb" or work.whole)
    )
    return _STATE_BYTES * max(side_by_side, default=0)


def discard(job: Job) -> None:
    """Remove the files that this run wrote to the target."""
    job.stores.delete(sorted(job.written))
