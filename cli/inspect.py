"""``statelift inspect``: what is in a snapshot."""

from __future__ import annotations

import click

from .options import Source, json_option, read_uids, snapshot_options, wide_times_option


@click.command("inspect", short_help="Show what is in a snapshot: operators, states, types, sizes.")
@snapshot_options
@wide_times_option
@click.option("--uid", "uids", metavar="UID", multiple=True, help="An operator uid to try, as in --uids.")
@click.option("--count", is_flag=True, help="Count the entries of a large snapshot too: reads all of it.")
@json_option
def command(
    source: Source,
    uids: tuple[str, ...],
    count: bool,
    as_json: bool,
) -> int:
    """Show the operators of a snapshot and their states: kind, types, entries, bytes.

    Reads _metadata and the headers of the state files. Entries are counted where there are at most 64 MiB of state,
    else RocksDB's estimate is given (~) or none (–); --count counts them all.

    \b
    statelift inspect ./savepoint
    statelift inspect s3://state/savepoints/savepoint-5c1a2b-0f3e9d --uids uids.txt
    statelift inspect /moved/chk-42 --path-map s3://old/checkpoints=/moved
    statelift inspect ./savepoint --json | jq '.operators[].states[].name'

    Snapshots of Flink 1.x hold hashes of the operators' uids: name the uids of the job to see them resolved.
    Exit code 1 where something of the snapshot cannot be read.
    """
    from ..state_ops.inventory import inventory
    from ..state_ops.values import to_json
    from .overview import overview
    from .progress import byte_progress

    names = [*read_uids(source.uids_file), *uids]
    snapshot = source.open(uids)
    with byte_progress("inspect", None) as advance:
        operators = inventory(snapshot, count="all" if count else "small", advance=advance)
    found = overview(snapshot, names, operators)
    if as_json:
        click.echo(to_json(found.as_dict()))
    else:
        from .inventory_table import show

        show(found)
    return 1 if found.problems else 0
