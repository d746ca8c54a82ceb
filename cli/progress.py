"""Progress on stderr, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

Advance = Callable[[int], None]


@contextmanager
def row_progress(title: str, *, quiet: bool) -> Iterator[Advance]:
    """Counts rows, whose number is not known before; nothing is shown where stdout has them too."""
    text = TextColumn("{task.completed:,} rows")
    with _shown(SpinnerColumn(), TextColumn("{task.description}"), text, quiet=quiet) as progress:
        task = progress.add_task(title, total=None)
        yield lambda rows: progress.advance(task, rows)


@contextmanager
def byte_progress(title: str, total: int | None) -> Iterator[Advance]:
    """Counts bytes towards ``total``, as far as it is known."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(binary_units=True))
    with _shown(*columns, quiet=False) as progress:
        task = progress.add_task(title, total=total)
        yield lambda nbytes: progress.advance(task, nbytes)


def tell_of_compiling() -> None:
    """Have it said, on a terminal, when the first kernel is compiled: each is once for an installation, and that the
    first command takes a minute more is not to look as if it hung."""
    if not sys.stderr.isatty():
        return
    from numba.core import event

    class Told(event.Listener):
        told = False

        def on_start(self, event: object) -> None:
            if not self.told:
                self.told = True
                click.echo("compiling for this machine, once: a minute or so…", err=True)

        def on_end(self, event: object) -> None:
            pass

    event.register("numba:compile", Told())  # type: ignore[no-untyped-call]


@contextmanager
def _shown(*columns: object, quiet: bool) -> Iterator[Progress]:
    console = Console(stderr=True)
    progress = Progress(
        *columns,  # type: ignore[arg-type]
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )
    with progress:
        yield progress
