"""``statelift demo``: Dagster repairs a savepoint of real Flink on S3, takes it to RocksDB and verifies it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import yaml
from rich.console import Console

from ..io.stores import Stores
from ..state_ops.plan import Plan
from .build import build_definitions
from .demo_plan import DEMO_NAME, demo_plan, demo_savepoint
from .demo_report import print_demo
from .embedded_s3 import embedded_s3
from .migration import Migration
from .webserver import until_interrupted, webserver

_BUCKET = "state"
_SOURCE, _TARGET = f"s3://{_BUCKET}/savepoints/savepoint-fraud", f"s3://{_BUCKET}/savepoints/fraud-on-rocksdb"
#: Runs that a visitor starts in the UI begin at once; nobody is asked or told anything.
_INSTANCE = """\
telemetry: {enabled: false}
nux: {enabled: false}
run_coordinator: {module: dagster._core.run_coordinator, class: DefaultRunCoordinator}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRun:
    """A run that is over, while its S3 and the folders of its instance and its plan are still there."""

    result: dg.ExecuteInProcessResult
    endpoint: str
    home: Path
    plans: Path


def run_demo(*, ui: bool = False, console: Console | None = None) -> int:
    """Run the demo and print what it did; 0 if all went well. With ``ui`` Dagster's UI stays up until Ctrl-C."""
    console = console or Console()
    with console.status("running the demo") as status, demo_run(lasting=ui) as run:
        status.stop()
        print_demo(console, run.result, run.endpoint)
        if ui:
            with webserver(run.home, run.plans) as url:
                console.print(f"Dagster's UI is at {url} (Ctrl-C ends it and the S3)", soft_wrap=True)
                until_interrupted()
    return 0 if run.result.success else 1


@contextmanager
def demo_run(*, lasting: bool) -> Iterator[DemoRun]:
    """The demo's job, run in this process on an embedded S3. ``lasting``: so that the UI finds it."""
    with embedded_s3(_BUCKET) as endpoint, tempfile.TemporaryDirectory(prefix="statelift-") as folder:
        home, plans = Path(folder), Path(folder) / "plans"
        (home / "dagster.yaml").write_text(_INSTANCE)
        plan = demo_plan(_SOURCE, _TARGET)
        plans.mkdir()
        (plans / f"{DEMO_NAME}.yaml").write_text(yaml.safe_dump(plan.model_dump(exclude_defaults=True)))
        _upload(demo_savepoint(), _SOURCE)
        with _instance(folder, lasting=lasting) as instance:
            result = _run(plan, instance, home / "storage")
        yield DemoRun(result=result, endpoint=endpoint, home=home, plans=plans)


def _run(plan: Plan, instance: dg.DagsterInstance, storage: Path) -> dg.ExecuteInProcessResult:
    job_name = Migration(name=DEMO_NAME, plan=plan).job_name
    return (
        build_definitions({DEMO_NAME: plan})
        .resolve_job_def(job_name)
        .execute_in_process(
            instance=instance,
            raise_on_error=False,
            resources={"io_manager": dg.FilesystemIOManager(base_dir=str(storage))},
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
    )


def _instance(folder: str, *, lasting: bool) -> dg.DagsterInstance:
    """What keeps the run: ``folder``, where the UI finds it, or memory, which is set up much faster."""
    if lasting:
        return dg.DagsterInstance.from_config(folder)
    return dg.DagsterInstance.ephemeral(tempdir=folder, settings=yaml.safe_load(_INSTANCE))


def _upload(folder: Path, url: str) -> None:
    stores = Stores()
    for file in sorted(folder.iterdir()):
        stores.put(f"{url}/{file.name}", file.read_bytes())
