"""The command itself: its subcommands, loaded when they are run, and how errors leave it.

Exit codes: 0 well, 1 something is wrong with what was read, 2 bad input, 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

COMMANDS = {
    "inspect": "Show what is in a snapshot: operators, states, types, sizes.",
    "read": "Write one state as JSON lines, CSV or Parquet.",
    "sql": "Query the states with SQL.",
    "get": "Show every state of one key.",
    "verify": "Check that a snapshot is whole and sound.",
    "apply": "Change a snapshot as a plan says, and write a new one.",
    "demo": "Run the demo pipeline on a savepoint that real Flink wrote.",
}


class StateliftGroup(click.Group):
    """Loads a subcommand when it is asked for, and turns every error into one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"..{cmd_name}", __name__)
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read has enough. Python would complain once more when it flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return code

    def main(self, args: Sequence[str] | None = None, *others: Any, **options: Any) -> Any:
        options["standalone_mode"] = False
        try:
            code = super().main(args, *others, **options)
        except BaseException as error:
            code = _exit_code(error)
        sys.exit(code if isinstance(code, int) else 0)


def _exit_code(error: BaseException) -> int:
    """Say on stderr what went wrong, in one line, and give the exit code."""
    from ..schemas.errors import StateliftError

    if isinstance(error, KeyboardInterrupt | click.exceptions.Abort):
        _say("interrupted")
        return 130
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 2
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return 2
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "statelift"
        _say(f"{error.format_message().rstrip('.')}; see {path} --help")
        return 2
    if isinstance(error, StateliftError):
        _say(str(error))
        return error.exit_code
    if os.environ.get("STATELIFT_TRACEBACK"):
        raise error
    text = " ".join(str(error).split())
    _say(f"unexpected {type(error).__name__}: {text}; STATELIFT_TRACEBACK=1 shows where")
    return 2


def _say(text: str) -> None:
    click.echo(f"statelift: {' '.join(text.split())}", err=True)


@click.group("statelift", cls=StateliftGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="statelift")
def main() -> None:
    """Apache Flink state as data, without a JVM.

    Open a savepoint or checkpoint that Flink wrote, on the local disk or in S3, look at it as tables, check it,
    change it, and write one that Flink restores.

    \b
    statelift inspect s3://state/savepoints/savepoint-5c1a2b-0f3e9d
    statelift sql ./savepoint 'SELECT * FROM "session-tracker"."user-state" LIMIT 10'
    statelift apply plan.yaml --dry-run

    Credentials and region come from the usual AWS environment. Exit codes: 0 well, 1 something is wrong with
    the snapshot, 2 the command cannot be carried out.
    """
