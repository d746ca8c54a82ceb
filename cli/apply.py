"""``statelift apply``: a plan carried out."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import click

from .options import endpoint_option, json_option, memory_option, path_map_option

if TYPE_CHECKING:
    from ..state_ops.checks import CheckResult
    from ..state_ops.job import Job
    from ..state_ops.report import Report


@click.command("apply", short_help="Change a snapshot as a plan says, and write a new one.")
@click.argument("plan_file", metavar="PLAN.yaml")
@click.option(
    "--set", "settings", metavar="NAME=VALUE", multiple=True,
    help="Replace source, target, format or overwrite of the plan. May be given several times.",
)  # fmt: skip
@memory_option
@click.option("--dry-run", is_flag=True, help="Check the plan against its source and say what it would do.")
@endpoint_option
@path_map_option
@json_option
def command(
    plan_file: str,
    settings: tuple[str, ...],
    memory_limit: str | None,
    dry_run: bool,
    endpoint_url: str | None,
    path_map: tuple[str, ...],
    as_json: bool,
) -> int:
    """Read the snapshot that a plan names as source, change it, write the target, and check that.

    What the plan does not name is carried over byte for byte. Nothing stands at the target until all is written;
    a run that was killed goes on where it was when it is started again.

    \b
    source: s3://state/savepoints/savepoint-5c1a2b-0f3e9d
    target: s3://state/savepoints/repaired
    operators:
      session-tracker:
        states:
          user-state:
            set: {value.lastSeenTimestamp: "0"}
            where: value.lastSeenTimestamp < 0

    \b
    statelift apply plan.yaml --dry-run
    statelift apply plan.yaml --set source=s3://state/savepoints/savepoint-77 --set target=s3://state/fixed

    Exit code 1 where the new snapshot does not pass its checks.
    """
    from .progress import byte_progress, tell_of_compiling

    tell_of_compiling()
    from ..io.metadata import parse_path_map
    from ..io.stores import Stores
    from ..state_ops.apply import apply_job
    from ..state_ops.checks import run_checks
    from ..state_ops.job import cut, prepare
    from ..state_ops.plan import Plan
    from ..state_ops.values import to_json

    stores = Stores(endpoint_url)
    given = {"memory_limit": memory_limit} if memory_limit is not None else {}
    plan = Plan.load(plan_file, {**dict(_setting(text) for text in settings), **given}, stores)
    job = prepare(plan, stores, path_map=[parse_path_map(text) for text in path_map])
    if not as_json:
        _preview(job)
    if dry_run:
        if as_json:
            click.echo(to_json(_planned(job)))
        return 0
    total = sum(shard.nbytes for shard in cut(job, 1))
    with byte_progress("apply", total) as advance:
        lock = threading.Lock()

        def progress(done: int, _: int) -> None:
            with lock:
                advance(done)

        report = apply_job(job, progress=progress)
    results = run_checks(plan, report, stores)
    if as_json:
        checks = [{"name": c.name, "passed": c.passed, "what": c.what, "rows": c.rows} for c in results]
        click.echo(to_json({**report.model_dump(mode="json"), "checks": checks}))
    else:
        _summary(report, results)
    return 0 if all(result.passed for result in results) else 1


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise click.UsageError(f"--set {text!r} is not NAME=VALUE")
    return name, value


def _planned(job: Job) -> dict[str, Any]:
    from ..state_ops.report import operator_reports

    return {
        "source": job.snapshot.url,
        "target": job.target,
        "operators": [operator.model_dump(mode="json") for operator in operator_reports(job)],
        "states": [
            {"operator": work.operator.label, "state": name, "operation": _operation(plan)}
            for work in job.work.values()
            for name, plan in work.plans.items()
        ],
    }


def _operation(plan: Any) -> str:
    """What a plan does to a state, in the words of SQL."""
    if plan.delete is not None:
        return f"delete where {plan.delete.where}"
    if plan.select is not None:
        return f"replace by {plan.select}"
    changes = ", ".join(f"{column} = {value}" for column, value in plan.set.items())
    return f"set {changes}" + (f" where {plan.where}" if plan.where else "")


def _preview(job: Job) -> None:
    planned = _planned(job)
    click.echo(f"{planned['source']} → {planned['target']}")
    carried = 0
    for operator in planned["operators"]:
        if operator["action"] == "carried over":
            carried += 1
            continue
        forms = operator["source_format"], operator["target_format"]
        form = f"{forms[0]} → {forms[1]}" if forms[0] != forms[1] else forms[0]
        click.echo(f"  {operator['operator']}: {operator['action']} ({form})")
        for state in planned["states"]:
            if state["operator"] == operator["operator"]:
                click.echo(f"    {state['state']}: {' '.join(state['operation'].split())}")
    click.echo(f"  {carried} operator{'s' if carried != 1 else ''} carried over byte for byte")


def _summary(report: Report, results: list[CheckResult]) -> None:
    changed = [s for s in report.states if s.changed or s.deleted or s.added]
    for state in changed:
        counts = {"changed": state.changed, "deleted": state.deleted, "added": state.added}
        said = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
        click.echo(f"  {state.operator} / {state.name}: {said}; {state.written_digest.entries:,} entries now")
    if not changed:
        click.echo("  no entry was changed")
    for result in results:
        click.echo(f"  {'passed' if result.passed else 'FAILED'} {result.name}: {result.what}")
    click.echo(f"written: {report.target}")
