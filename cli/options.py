"""Options that commands share, and the snapshot that they open."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import wraps
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
memory_option = click.option(
    "--memory-limit",
    metavar="SIZE",
    help="The memory that the program may take, as 512MB; what is more is spilled.",
)
types_option = click.option(
    "--types", "types", metavar="FILE",
    help="A YAML file of the fields of classes that the snapshot does not say: subclasses of POJOs, Kryo's classes.",
)  # fmt: skip
sql_plan_option = click.option(
    "--sql-plan", metavar="FILE",
    help="The job's compiled plan (COMPILE PLAN): names the columns of SQL rows, else f0, f1, …, and the uids.",
)  # fmt: skip
ddl_option = click.option(
    "--ddl", metavar="FILE",
    help='CREATE TABLE "uid"."state" (column TYPE, …): names the columns of SQL rows where there is no plan.',
)  # fmt: skip
python_types_option = click.option(
    "--python-types", metavar="FILE",
    help="A YAML file of PyFlink's state descriptors by uid and state, as in the job: process mode stores bytes.",
)  # fmt: skip
wide_times_option = click.option(
    "--wide-times", is_flag=True,
    help="Give Instant, LocalDate and the like in their parts: those beyond 1677 to 2262 have no other form.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Output for machines.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The snapshot that a command is given, and how it is to be opened."""

    savepoint: str
    endpoint_url: str | None = None
    path_map: tuple[str, ...] = ()
    types: str | None = None
    uids_file: Path | None = None
    wide_times: bool = False
    sql_plan: str | None = None
    ddl: str | None = None
    python_types: str | None = None
    memory_limit: str | None = None

    def open(self, uids: Iterable[str] = ()) -> Snapshot:
        """Open it; ``uids`` are names to try beside those of the file."""
        from ..io.metadata import parse_path_map
        from ..state_ops.snapshot import open_snapshot

        return open_snapshot(
            self.savepoint,
            endpoint_url=self.endpoint_url,
            uids=[*read_uids(self.uids_file), *uids],
            path_map=[parse_path_map(text) for text in self.path_map],
            types=self.types,
            wide_times=self.wide_times,
            sql_plan=self.sql_plan,
            ddl=self.ddl,
            python_types=self.python_types,
            memory_limit=self.memory_limit,
        )


def snapshot_options(command: F) -> F:
    """The argument SAVEPOINT and how to find its files: the command gets them as its ``source``."""

    @wraps(command)
    def with_source(**given: Any) -> Any:
        from .progress import tell_of_compiling

        tell_of_compiling()
        named = {field.name for field in fields(Source)} & given.keys()
        source = Source(**{name: given.pop(name) for name in named})
        return command(source=source, **given)

    options = (
        endpoint_option, path_map_option, types_option, uids_option, sql_plan_option, ddl_option,
        python_types_option,
        click.argument("savepoint"),
    )  # fmt: skip
    for option in options:
        with_source = option(with_source)
    return with_source  # type: ignore[return-value]


def read_uids(file: Path | None) -> list[str]:
    """The names in a file of uids: a line each, blank ones and ``#`` comments apart."""
    if file is None:
        return []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"the uids cannot be read: {error}", where=Where(file=str(file))) from None
    return [name for line in lines if (name := line.strip()) and not name.startswith("#")]
