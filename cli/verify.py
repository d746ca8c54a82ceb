"""``statelift verify``: is a snapshot whole and sound."""

from __future__ import annotations

import sys

import click

from .options import Source, json_option, memory_option, snapshot_options
from .progress import byte_progress


@click.command("verify", short_help="Check that a snapshot is whole and sound.")
@snapshot_options
@memory_option
@json_option
def command(
    source: Source,
    as_json: bool,
) -> int:
    """Read all of a snapshot once and say what is wrong with it, a line for each fault.

    Files are there and whole, headers parse, subtasks hold the key groups that Flink gives them, every entry decodes
    and stands once, in the key group of its key, broadcast copies agree, RocksDB's checksums fit. One broken
    thing hides nothing else. What cannot be checked is said as a note.

    \b
    statelift verify ./savepoint && echo sound
    statelift verify s3://state/savepoints/savepoint-5c1a2b-0f3e9d --json | jq '.faults[].what'

    Exit code 1 where there is a fault.
    """
    from ..state_ops.findings import Finding, Tally
    from ..state_ops.values import to_json
    from ..state_ops.verify import verify

    snapshot = source.open()
    tally = Tally()
    found: dict[str, list[Finding]] = {"fault": [], "unchecked": []}
    with byte_progress("verify", None) as advance:
        for finding in verify(snapshot, tally=tally, progress=advance):
            found[finding.severity].append(finding)
            if not as_json:
                note = "" if finding.severity == "fault" else "note: "
                click.echo(f"{note}{finding}")
                sys.stdout.flush()
    faults = len(found["fault"])
    if as_json:
        listed = {kind: [finding.as_dict() for finding in found[kind]] for kind in found}
        counts = {"entries": tally.entries, "states": tally.states, "bytes": tally.nbytes}
        report = {
            "snapshot": snapshot.url,
            **counts,
            "faults": listed["fault"],
            "unchecked": listed["unchecked"],
        }
        click.echo(to_json(report))
    else:
        said = "no faults" if not faults else f"{faults} fault{'s' if faults != 1 else ''}"
        click.echo(f"{tally.entries:,} entries in {tally.states} states, {said}")
    return 1 if faults else 0
