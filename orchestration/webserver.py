"""Dagster's UI in a process of its own, for as long as it is looked at."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .plans import VARIABLE


@contextmanager
def webserver(home: Path, plans: Path) -> Iterator[str]:
    """Dagster's UI on ``plans`` and on the instance in ``home``; gives its URL."""
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "dagster_webserver", "-h", "127.0.0.1", "-p", str(port)]
    command += ["-m", "statelift.orchestration.definitions", "--log-level", "critical"]
    environment = {**os.environ, "DAGSTER_HOME": str(home), VARIABLE: str(plans)}
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


def until_interrupted() -> None:
    """Wait for Ctrl-C, or to be asked to end."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
