"""``statelift sql``: a query over the states."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click
import pyarrow as pa
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..state_ops.values import VALUES_HELP, to_json, values
from .options import Source, json_option, memory_option, snapshot_options, wide_times_option
from .output import check_output, output_option, write
from .problems import finish
from .progress import row_progress

_SHOWN = 500

_HELP = f"""Query the states of a snapshot with SQL (DuckDB's).

    An operator is a schema, by its uid or 32-digit id, and a state a table; a state's name alone will do where one
    operator has it. Only the states that the query names are read, as a stream.

    \b
    statelift sql ./savepoint "SHOW TABLES"
    statelift sql ./savepoint 'SELECT count(*) FROM "session-tracker"."user-state"
                               WHERE value.lastSeenTimestamp < 0'
    statelift sql s3://state/sp-1 'SELECT key, unnest(value) AS at FROM recent' -o recent.parquet
    statelift sql ./savepoint "SELECT s.key FROM \\"user-state\\" s ANTI JOIN 'users/*.parquet' u
                               ON s.key = u.user_id"

    Columns: key, namespace, map_key, value, ttl_timestamp, key_group, as far as a state has them; of operator state
    subtask, index, value; of timers timestamp, domain. DESCRIBE and SUMMARIZE work. On a terminal the result is a
    table, else JSON lines. {VALUES_HELP}
    """


@click.command("sql", help=_HELP, short_help="Query the states with SQL.")
@snapshot_options
@wide_times_option
@click.argument("query")
@memory_option
@output_option
@json_option
def command(
    source: Source,
    query: str,
    output: str | None,
    as_json: bool,
) -> int:
    from ..state_ops.sql import run_sql

    target = check_output(output)
    snapshot = source.open()
    reader = run_sql(snapshot, query, partial=True)
    if output is None and not as_json and sys.stdout.isatty():
        _show(reader)
    else:
        with row_progress("query", quiet=target is None) as advance:
            counted = pa.RecordBatchReader.from_batches(reader.schema, _counted(reader, advance))
            write(counted, target, snapshot.opener.stores)
    return finish(operator for operator in snapshot.operators if "states" in operator.__dict__)


def _counted(reader: pa.RecordBatchReader, advance: object) -> Iterator[pa.RecordBatch]:
    for batch in reader:
        advance(len(batch))  # type: ignore[operator]
        yield batch


def _show(reader: pa.RecordBatchReader) -> None:
    """The result as a table: the first rows, and how many there are."""
    table = Table(show_header=True, header_style="bold", show_edge=False)
    for field in reader.schema:
        number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        table.add_column(Text(field.name), justify="right" if number else "left", overflow="fold")
    count = 0
    for batch in reader:
        part = batch.slice(0, max(0, _SHOWN - count))
        for row in zip(*(values(column) for column in part.columns), strict=True):
            table.add_row(*(_cell(value) for value in row))
        count += len(batch)
    console = Console(highlight=False)
    console.print(table)
    shown = f", the first {_SHOWN} shown; --output or --json gives all" if count > _SHOWN else ""
    console.print(f"[dim]{count:,} row{'s' if count != 1 else ''}{shown}[/dim]")


def _cell(value: object) -> Text:
    if value is None:
        return Text("null", style="dim")
    return Text(value if isinstance(value, str) else to_json(value))
