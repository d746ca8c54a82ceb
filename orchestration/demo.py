"""``statelift demo``: Dagster repairs a savepoint of real Flink on S3, takes it to RocksDB and verifies it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import yaml
from rich.console import Console

from ..io.stores import Stores
from .build import build_definitions
from .demo_plan import DEMO_NAME, demo_plan, demo_savepoint
from .demo_report import print_demo
from .embedded_s3 import embedded_s3
from .migration import Migration
from .plans import VARIABLE

_BUCKET = "state"
#: Runs that a visitor starts in the UI begin at once; nobody is asked or told anything.
_INSTANCE = """\
telemetry: {enabled: false}
nux: {enabled: false}
run_coordinator: {module: dagster._core.run_coordinator, class: DefaultRunCoordinator}
"""


def run_demo(*, ui: bool = False, port: int | None = None, console: Console | None = None) -> int:
    """Run the demo and print what it did; 0 if all went well. With ``ui`` Dagster's UI stays up until Ctrl-C."""
    console = console or Console()
    with embedded_s3(_BUCKET) as endpoint, tempfile.TemporaryDirectory(prefix="statelift-") as folder:
        home = Path(folder)
        (home / "dagster.yaml").write_text(_INSTANCE)
        source, target = (
            f"s3://{_BUCKET}/savepoints/savepoint-fraud",
            f"s3://{_BUCKET}/savepoints/fraud-on-rocksdb",
        )
        _upload(demo_savepoint(), source)
        plan = demo_plan(source, target)
        plans = home / "plans"
        plans.mkdir()
        (plans / f"{DEMO_NAME}.yaml").write_text(yaml.safe_dump(plan.model_dump(exclude_defaults=True)))
        with console.status("running the plan"), dg.DagsterInstance.from_config(folder) as instance:
            job = build_definitions({DEMO_NAME: plan}).resolve_job_def(
                Migration(name=DEMO_NAME, plan=plan).job_name
            )
            result = job.execute_in_process(
                instance=instance,
                raise_on_error=False,
                resources={"io_manager": dg.FilesystemIOManager(base_dir=str(home / "storage"))},
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            )
        print_demo(console, result, endpoint)
        if ui:
            with webserver(home, port) as url:
                console.print(f"Dagster's UI is at {url} (Ctrl-C ends it and the S3)", soft_wrap=True)
                _until_interrupted()
    return 0 if result.success else 1


def _upload(folder: Path, url: str) -> None:
    stores = Stores()
    for file in sorted(folder.iterdir()):
        stores.put(f"{url}/{file.name}", file.read_bytes())


@contextmanager
def webserver(home: Path, port: int | None = None) -> Iterator[str]:
    """Dagster's UI on the plans and the instance in ``home``; its URL."""
    port = port or _free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "dagster_webserver", "-h", "127.0.0.1", "-p", str(port)]
    command += ["-m", "statelift.orchestration.definitions", "--log-level", "critical"]
    environment = {**os.environ, "DAGSTER_HOME": str(home), VARIABLE: str(home / "plans")}
    with open(home / "webserver.log", "wb") as log:
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=log, stderr=log)
    try:
        _wait_for(url, process, home / "webserver.log")
        yield url
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/server_info", timeout=2).close()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"Dagster's UI does not start: {log.read_text(errors='replace')[-500:]}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _until_interrupted() -> None:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
