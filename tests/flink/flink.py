"""Real Flink for tests: build the harness for a version, write snapshots with it and restore them.

A harness is one JVM that takes tasks over its standard input, so that a test session pays for the start of the JVM
and of its MiniCluster once. The Maven project is built at first use, into `harness/target/<version>`, and again when
its sources change.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Never
from urllib.parse import unquote, urlparse

import pytest

from .sql_jobs import SqlJob

PROJECT = Path(__file__).resolve().parent / "harness"
VERSIONS = ("1.20.5", "2.3.0")

Contents = dict[str, Any]
"""What `expected.json` holds: {"operators": {uid: {section: {state: {"kind", "entries"}}}}}."""

_OPENED_PACKAGES = [
    *("java.lang", "java.lang.reflect", "java.util", "java.net", "java.io", "java.nio", "sun.nio.ch"),
    *("java.text", "java.time", "java.math"),
    *("java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks"),
]

_SHORT_LIVED = ["-Xmx1g", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]


class FlinkFailure(Exception):
    """Flink, or the build of the harness, failed; the message is the Java stack trace or Maven's output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A snapshot that Flink wrote, and the file with what is in it by the job's own model."""

    path: Path
    expected_file: Path

    @property
    def expected(self) -> Contents:
        contents: Contents = json.loads(self.expected_file.read_text())
        return contents


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """One restore; `sink_parallelism` is that of `buffering-sink` where it differs, `config` are Flink options.

    `compatibility` asks for Flink's verdict on each serializer too, of a savepoint.
    """

    snapshot: Path | str
    backend: str
    parallelism: int
    sink_parallelism: int | None = None
    max_parallelism: int = 128
    family: str = "scenario"
    config: Mapping[str, str] = field(default_factory=dict)
    compatibility: bool = False

    def task(self, output: Path) -> dict[str, Any]:
        return {
            "task": "restore",
            "snapshot": str(self.snapshot),
            "backend": self.backend,
            "parallelism": self.parallelism,
            "sink_parallelism": self.sink_parallelism or self.parallelism,
            "max_parallelism": self.max_parallelism,
            "family": self.family,
            "config": dict(self.config),
            "compatibility": self.compatibility,
            "output": str(output),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlRun:
    """What came to the sinks of a SQL job, as text, and the savepoints it left by their format."""

    received: Mapping[str, list[str]]
    savepoints: Mapping[str, Path]


class FlinkHarness:
    """A JVM with Flink of one version; a context manager, or `close()` it.

    `extra` are sources, and `artifacts` (group:name:version) jars, that only this one has. Sources of Scala are
    compiled by the compiler among the jars.
    """

    def __init__(self, version: str, extra: Sequence[Path] = (), artifacts: Sequence[str] = ()) -> None:
        self.version = version
        self._extra, self._artifacts = extra, artifacts
        self._work = Path(tempfile.mkdtemp(prefix=f"flink-{version}-"))
        self._jvm: subprocess.Popen[str] | None = None

    def __enter__(self) -> FlinkHarness:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def write(
        self,
        target: Path,
        *,
        backend: str,
        format: str,
        keys: int = 60,
        rounds: int = 3,
        parallelism: int = 2,
        sink_parallelism: int = 3,
        max_parallelism: int = 128,
        stop: bool = True,
        family: str = "scenario",
        config: Mapping[str, str] | None = None,
        until: int | None = None,
        resume: Path | None = None,
        after: int = 0,
    ) -> Written:
        """Runs a job over its input and snapshots it under `target`.

        `format` is canonical or native (a savepoint, by stop-with-savepoint or else by cancel-with-savepoint) or
        checkpoint (retained). After each of the `rounds` but the last a checkpoint is taken, so that RocksDB flushes.
        `config` are Flink options; they win over those that the harness sets. The job stops `until` so many of its
        rounds; one that came `after` some goes on from the snapshot `resume`.
        """
        target.mkdir(parents=True, exist_ok=True)
        expected = target / f"expected-{uuid.uuid4()}.json"
        answer = self._ask(
            {
                "task": "write",
                "target": str(target),
                "expected": str(expected),
                "family": family,
                "backend": backend,
                "format": format,
                "keys": keys,
                "rounds": rounds,
                "parallelism": parallelism,
                "sink_parallelism": sink_parallelism,
                "max_parallelism": max_parallelism,
                "stop": stop,
                "until": rounds if until is None else until,
                "snapshot": None if resume is None else str(resume),
                "after": after,
                "config": dict(config or {}),
            }
        )
        path = Path(unquote(urlparse(answer["path"]).path))
        return Written(path=path, expected_file=expected)

    def restore(self, restores: Sequence[Restore]) -> list[Contents]:
        """Restores each snapshot in a job of its own; what each found, in order, with the timers that fired.

        The first that Flink refuses raises FlinkFailure.
        """
        output = self._work / "restored.json"
        found = []
        for restore in restores:
            self._ask(restore.task(output))
            found.append(json.loads(output.read_text()))
        return found

    def sql(
        self,
        job: SqlJob,
        plan: Path,
        *,
        backend: str,
        until: int,
        after: int = 0,
        snapshot: Path | None = None,
        savepoints: Mapping[str, Path] | None = None,
    ) -> SqlRun:
        """Runs a job of SQL from round `after` of its tables, restored from `snapshot`, `until` a later one.

        Its compiled plan is `plan`, which is written where there is none. At the end the `savepoints` (by format, the
        folders they go under) are written, the last of them by stopping the job; without any the input ends.
        """
        output = self._work / "received.json"
        answer = self._ask(
            {
                "task": "sql",
                "plan": str(plan),
                "statements": job.statements,
                "queries": job.queries_of(self.version),
                "tables": list(job.tables),
                "backend": backend,
                "parallelism": 1,
                "after": after,
                "until": until,
                "snapshot": None if snapshot is None else str(snapshot),
                "savepoints": {format: str(folder) for format, folder in (savepoints or {}).items()},
                "config": dict(job.config),
                "output": str(output),
            }
        )
        return SqlRun(
            received=json.loads(output.read_text()),
            savepoints={format: Path(answer[format]) for format in savepoints or {}},
        )

    def close(self) -> None:
        if self._jvm is not None:
            assert self._jvm.stdin is not None
            self._jvm.stdin.close()
            self._jvm.wait(timeout=60)
            self._jvm = None
        shutil.rmtree(self._work, ignore_errors=True)

    def _ask(self, task: dict[str, Any]) -> dict[str, Any]:
        jvm = self._started()
        assert jvm.stdin is not None
        assert jvm.stdout is not None
        jvm.stdin.write(json.dumps(task) + "\n")
        jvm.stdin.flush()
        line = jvm.stdout.readline()
        if not line:
            self._jvm = None
            raise FlinkFailure(f"the JVM ended with {jvm.wait()}: {self._log.read_text()[-4000:]}")
        answer: dict[str, Any] = json.loads(line)
        if not answer["ok"]:
            raise FlinkFailure(f"{task}\n{answer['error']}")
        return answer

    def _class_path(self) -> str:
        path = build(self.version)
        for artifact in self._artifacts:
            path += f":{fetched(artifact)}"
        if self._extra:
            classes = self._work / "extra"
            classes.mkdir()
            compiler = [_tool("javac")]
            if any(source.suffix == ".scala" for source in self._extra):
                compiler = [_tool("java"), *_SHORT_LIVED, "-cp", path, "scala.tools.nsc.Main"]
            command = [*compiler, "-nowarn", "-cp", path, "-d", str(classes), *map(str, self._extra)]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                raise FlinkFailure(done.stdout)
            path += f":{classes}"
        return path

    @property
    def _log(self) -> Path:
        return self._work / "jvm.log"

    def _started(self) -> subprocess.Popen[str]:
        if self._jvm is None:
            command = [
                _tool("java"),
                *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED_PACKAGES),
                f"-Djava.io.tmpdir={self._work}",
                *_SHORT_LIVED,
                "-cp",
                self._class_path(),
                "org.statelift.harness.Main",
            ]
            with self._log.open("w") as log:
                self._jvm = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
                )
        return self._jvm


def missing_tools() -> str | None:
    """What to install before real Flink can run, or None."""
    try:
        version = subprocess.run(
            [_tool("java"), "-version"], capture_output=True, text=True, check=True
        ).stderr
    except (OSError, subprocess.CalledProcessError):
        version = ""
    found = re.search(r'version "(\d+)', version)
    if found is None or int(found[1]) < 17 or not shutil.which(_tool("javac")) or not shutil.which("mvn"):
        return "real Flink needs a JDK of Java 17 and Maven: apt-get install openjdk-17-jdk-headless maven"
    return None


def unavailable(message: str) -> Never:
    """Skips the test, which needs real Flink; where STATELIFT_REQUIRE_FLINK=1 it fails."""
    if os.environ.get("STATELIFT_REQUIRE_FLINK") == "1":
        pytest.fail(message)
    pytest.skip(message)


def fetched(artifact: str) -> Path:
    """The jar of ``group:name:version``, from the local Maven repository or fetched into it; else unavailable()."""
    group, name, version = artifact.split(":")
    folder = Path.home() / ".m2/repository" / group.replace(".", "/") / name / version
    jar = folder / f"{name}-{version}.jar"
    if not jar.is_file():
        get = ["mvn", "-q", "-B", "dependency:get", f"-Dartifact={artifact}", "-Dtransitive=false"]
        got = subprocess.run(get, capture_output=True, text=True)
        if got.returncode:
            unavailable(f"Maven cannot fetch {artifact}: {got.stdout.strip()[:300]}")
    return jar


def build(version: str) -> str:
    """Compiles the harness for a Flink version unless that was done for these sources; returns the class path."""
    target = PROJECT / "target" / version
    classpath = target / "classpath"
    digest = _digest_of_sources()
    with _locked(PROJECT / "target" / "lock"):
        if not classpath.is_file() or (target / "sources").read_text() != digest:
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir()
            maven = [
                "mvn", "-q", "-B", f"-Dflink.version={version}", f"-Dmdep.outputFile={classpath}.new",
                "compile", "dependency:build-classpath",
            ]  # fmt: skip
            done = subprocess.run(
                maven, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            if done.returncode != 0:
                raise FlinkFailure(f"Maven could not build the harness for Flink {version}:\n{done.stdout}")
            (target / "sources").write_text(digest)
            Path(f"{classpath}.new").rename(classpath)
    return f"{target / 'classes'}:{classpath.read_text().strip()}"


def _tool(name: str) -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", name)) if home else name


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for path in [PROJECT / "pom.xml", *sorted((PROJECT / "src").rglob("*"))]:
        if path.is_file():
            digest.update(str(path.relative_to(PROJECT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
