"""The new snapshot: the plan cut into shards, each a step of its own, and the commit.

Steps hand each other plans, paths and figures as plain data; each opens the source itself. No state passes
through an IO manager.
"""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from ..state_ops.commit import commit as commit_job
from ..state_ops.job import Shard, cut, prepare
from ..state_ops.plan import Plan
from ..state_ops.results import ShardResult
from ..state_ops.run_shard import run_shard as do_shard
from .constants import PREFIX
from .failures import failing
from .migration import Migration
from .report_metadata import report_metadata
from .resource import StateliftResource

#: Plain data, as JSON has it.
Json = dict[str, Any]


def savepoint_asset(migration: Migration, spec: dg.AssetSpec) -> dg.AssetsDefinition:
    """A graph-backed asset whose value is the run's report (see :class:`Report`), as plain data."""
    source = next(dep.asset_key for dep in spec.deps)
    shards = _shards_op(migration)

    @dg.graph_asset(
        key=spec.key,
        ins={"source": dg.AssetIn(key=source, dagster_type=dg.Nothing)},
        partitions_def=spec.partitions_def,
    )
    def new_savepoint(source: None) -> Json:
        plan, tasks = shards(source)
        done = tasks.map(run_shard).collect()
        report: Json = commit(plan, done)
        return report

    described = {name: getattr(spec, name) for name in _DESCRIBED}
    return new_savepoint.map_asset_specs(lambda made: made.replace_attributes(**described))


_DESCRIBED = (
    "description",
    "metadata",
    "group_name",
    "code_version",
    "tags",
    "kinds",
    "owners",
    "automation_condition",
)


def _shards_op(migration: Migration) -> dg.OpDefinition:
    @dg.op(
        name=f"{migration.name}__shards",
        description="Cut the plan into shards: as many as there are workers, or as the bytes ask for.",
        ins={"source": dg.In(dg.Nothing)},
        out={"plan": dg.Out(dict), "tasks": dg.DynamicOut(dict)},
    )
    def shards(context: dg.OpExecutionContext, statelift: StateliftResource) -> Iterator[Any]:
        plan = migration.plan_for(context.partition_key if context.has_partition_key else None)
        with failing():
            made = cut(prepare(plan, statelift.stores()), statelift.parallelism, statelift.shard_bytes)
        yield dg.Output(plan.model_dump(mode="json"), "plan")
        for shard in made:
            task = {"plan": plan.model_dump(mode="json"), "shard": shard.model_dump(mode="json")}
            metadata = {f"{PREFIX}/bytes": shard.nbytes, f"{PREFIX}/units": len(shard.units)}
            yield dg.DynamicOutput(task, f"shard_{shard.number:04d}", "tasks", metadata=metadata)

    return shards


@dg.op(
    description="Read one shard's key groups, change what the plan changes, write the files of the target.",
    retry_policy=dg.RetryPolicy(max_retries=3, delay=1, backoff=dg.Backoff.EXPONENTIAL),
)
def run_shard(context: dg.OpExecutionContext, statelift: StateliftResource, task: Json) -> Json:
    """Takes and gives back ``{"plan": Plan, "shard": Shard}``, with ``"result": ShardResult`` added."""
    plan, shard = Plan.of(task["plan"]), Shard.model_validate(task["shard"])
    with failing():
        job = prepare(plan, statelift.stores())
        result = do_shard(job, shard)
    states = [state for unit in result.units for state in unit.states.values()]
    context.add_output_metadata(
        {
            f"{PREFIX}/entries": sum(state.written[0] for state in states),
            f"{PREFIX}/bytes": sum(state.nbytes for state in states),
            f"{PREFIX}/changed": sum(state.changed + state.deleted + state.added for state in states),
            f"{PREFIX}/resumed": result.resumed,
        }
    )
    return {**task, "result": result.model_dump(mode="json")}


@dg.op(description="Join the shards' files, copy what is carried over, and write _metadata last.")
def commit(
    context: dg.OpExecutionContext, statelift: StateliftResource, plan: Json, done: list[Json]
) -> dg.Output[Json]:
    """Gives the report, with its metadata."""
    shards = sorted((Shard.model_validate(one["shard"]) for one in done), key=lambda shard: shard.number)
    with failing():
        job = prepare(Plan.of(plan), statelift.stores())
        report = commit_job(job, shards, [ShardResult.model_validate(one["result"]) for one in done])
    return dg.Output(report.model_dump(mode="json"), metadata=report_metadata(report))
