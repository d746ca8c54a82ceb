"""Options that commands share, and the snapshot that they open."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..schemas.errors import StoreError, Where

if TYPE_CHECKING:
    from ..state_ops.snapshot import Snapshot

F = TypeVar("F", bound=Callable[..., Any])

endpoint_option = click.option(
    "--endpoint-url", metavar="URL", help="The S3 endpoint, where it is not that of AWS (MinIO, Ceph)."
)
path_map_option = click.option(
    "--path-map", "path_map", metavar="OLD=NEW", multiple=True,
    help="Files that the snapshot names under OLD lie under NEW now. May be given several times.",
)  # fmt: skip
uids_option = click.option(
    "--uids", "uids_file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Operator uids to try, one a line: snapshots of Flink 1.x hold only their hashes.",
)  # fmt: skip
wide_times_option = click.option(
    "--wide-times", is_flag=True,
    help="Give Instant, LocalDate and the like in their parts: those beyond 1677 to 2262 have no other form.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Output for machines.")


def snapshot_options(command: F) -> F:
    """The argument SAVEPOINT and how to find its files."""
    for option in (endpoint_option, path_map_option, uids_option, click.argument("savepoint")):
        command = option(command)
    return command


def read_uids(file: Path | None) -> list[str]:
    """The names in a file of uids: a line each, blank ones and ``#`` comments apart."""
    if file is None:
        return []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"the uids cannot be read: {error}", where=Where(file=str(file))) from None
    return [name for line in lines if (name := line.strip()) and not name.startswith("#")]


def open_for(
    savepoint: str,
    endpoint_url: str | None,
    path_map: Iterable[str],
    uids_file: Path | None,
    uids: Iterable[str] = (),
    *,
    wide_times: bool = False,
) -> Snapshot:
    """The snapshot that the shared options name."""
    from ..io.metadata import parse_path_map
    from ..state_ops.snapshot import open_snapshot

    pairs = [parse_path_map(text) for text in path_map]
    names = [*read_uids(uids_file), *uids]
    return open_snapshot(
        savepoint, endpoint_url=endpoint_url, uids=names, path_map=pairs, wide_times=wide_times
    )
