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
    workers = job.memory.workers(workers or os.cpu_count() or 1)
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


def discard(job: Job) -> None:
    """Remove the files that this run wrote to the target."""
    job.stores.delete(sorted(job.written))
