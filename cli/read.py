"""``statelift read``: one state, row by row."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pyarrow as pa

from ..state_ops.not_decoded import NotDecoded
from ..state_ops.values import VALUES_HELP
from .options import Source, memory_option, snapshot_options, wide_times_option
from .output import check_output, output_option, write
from .problems import finish
from .progress import row_progress

_HELP = f"""Write one state of a snapshot, a row for each entry.

    JSON lines on stdout, or a file that appears when it is whole. {VALUES_HELP}

    \b
    statelift read ./savepoint --uid session-tracker --state user-state --limit 5
    statelift read s3://state/sp-1 --uid fraud-detector --state fraud-scores -o scores.parquet
    statelift read ./savepoint --uid rules --state rules | jq .value.threshold

    statelift inspect SAVEPOINT shows which operators and states there are.
    """


@click.command("read", help=_HELP, short_help="Write one state as JSON lines, CSV or Parquet.")
@snapshot_options
@wide_times_option
@memory_option
@click.option("--uid", required=True, metavar="UID", help="The operator: its uid or its 32-digit id.")
@click.option("--state", required=True, metavar="NAME", help="The state's name.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="Stop after N rows.")
@output_option
def command(
    source: Source,
    uid: str,
    state: str,
    limit: int | None,
    output: str | None,
) -> int:
    target = check_output(output)
    snapshot = source.open([uid])
    operator = snapshot.operator(uid)
    found = operator.state(state)
    with row_progress(f"{operator.label} / {found.name}", quiet=target is None) as advance:
        not_decoded = NotDecoded()
        batches = _limited(found.batches(not_decoded=not_decoded), limit, advance)
        write(pa.RecordBatchReader.from_batches(found.schema, batches), target, snapshot.opener.stores)
    for line in not_decoded.lines():
        click.echo(f"statelift: note: of what was read, {line}", err=True)
    return finish([operator])


def _limited(
    batches: Iterator[pa.RecordBatch], limit: int | None, advance: object
) -> Iterator[pa.RecordBatch]:
    left = limit
    for batch in batches:
        part = batch if left is None else batch.slice(0, left)
        advance(len(part))  # type: ignore[operator]
        yield part
        if left is not None:
            left -= len(part)
            if left <= 0:
                return
