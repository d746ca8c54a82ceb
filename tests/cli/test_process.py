"""The command as a process: its console script, pipes, a terminal, and what is loaded for help."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

from ..golden_savepoints import savepoint

ROOT = Path(__file__).resolve().parents[2]
GOOD = str(savepoint("1.20.5/rocksdb-canonical"))
COMMAND = (sys.executable, "-c", "from statelift.cli import main; main(prog_name='statelift')")
READ = ("read", GOOD, "--uid", "session-tracker", "--state", "user-state")


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *args], capture_output=True, text=True, check=False, timeout=300)


def test_stdout_is_data_and_stderr_is_silent() -> None:
    done = run(*READ)
    assert (done.returncode, done.stderr) == (0, "")
    assert len([json.loads(line) for line in done.stdout.splitlines()]) == 60


def test_an_error_is_one_line_and_no_traceback() -> None:
    done = run("read", GOOD, "--uid", "nobody", "--state", "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("statelift: no operator 'nobody'")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_enough_is_no_error() -> None:
    with subprocess.Popen([*COMMAND, *READ], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def on_a_terminal(*command: str) -> str:
    """What it shows, stdout and stderr."""
    master, terminal = pty.openpty()
    process = subprocess.Popen(command, stdout=terminal, stderr=terminal, env={**os.environ, "TERM": "xterm"})
    os.close(terminal)
    seen = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    assert process.wait() == 0
    return seen.decode()


def test_on_a_terminal_sql_is_a_table() -> None:
    query = 'SELECT key, value.status AS status FROM "session-tracker"."user-state" ORDER BY key LIMIT 2'
    text = on_a_terminal(*COMMAND, "sql", GOOD, query)
    for cell in ("key", "status", "user-0", "user-1", "2 rows"):
        assert cell in text
    assert "{" not in text


def test_on_a_terminal_the_first_compiling_is_told_once() -> None:
    code = (
        "from statelift.cli.progress import tell_of_compiling\n"
        "tell_of_compiling()\n"
        "from numba import njit\n"
        "for _ in range(2): njit('int64(int64)')(lambda x: x + 1)\n"
    )
    assert on_a_terminal(sys.executable, "-c", code).splitlines() == [
        "compiling for this machine, once: a minute or so…"
    ]


def test_help_does_not_wait_for_what_reads_state() -> None:
    code = (
        "import sys, contextlib\n"
        "from statelift.cli import main\n"
        "with contextlib.suppress(SystemExit): main(['--help'])\n"
        "print(sorted({'numba', 'pyarrow', 'duckdb', 'dagster', 'boto3'} & sys.modules.keys()))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
