"""``statelift demo``: the whole thing on one machine."""

from __future__ import annotations

import click


@click.command("demo", short_help="Run the demo pipeline on a savepoint that real Flink wrote.")
@click.option("--ui", is_flag=True, help="Keep Dagster's web UI up with what the demo did, until Ctrl-C.")
def command(ui: bool) -> int:
    """Run the demo: Dagster repairs and migrates a savepoint that real Flink wrote, in an S3 that is started for it
    and gone afterwards.

    \b
    statelift demo
    statelift demo --ui
    """
    from .progress import tell_of_compiling

    tell_of_compiling()
    from ..orchestration.demo import run_demo

    return run_demo(ui=ui)
