"""What could not be read of the operators that a command used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..state_ops.snapshot import Operator


def finish(operators: Iterable[Operator]) -> int:
    """Say on stderr what is missing from the output, a line each; the exit code: 1 where something is."""
    problems = [problem for operator in operators for problem in operator.problems]
    for problem in problems:
        click.echo(f"statelift: incomplete, not read: {problem}", err=True)
    return 1 if problems else 0
