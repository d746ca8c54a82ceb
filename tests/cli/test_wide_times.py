"""``--wide-times``: times that 64 bits of nanoseconds do not hold, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from statelift.schemas.snapshots import build

from ..state_ops.making import UID, Made, savepoint
from ..state_ops.test_wide_times import FAR, LONG, TIMES, times


def test_one_such_key_is_looked_up(run: Any, tmp_path: Path) -> None:
    raw = bytes.fromhex(TIMES["Instant"][1].replace(" ", ""))
    source = savepoint(
        tmp_path, build.scalar("Instant"), Made(name="v", value=LONG, entries={raw: bytes(7) + b"\5"})
    )
    parts = json.dumps(FAR["Instant"])
    done = run("get", source, "--uid", UID, "--wide-times", parts)
    assert json.loads(done.stdout)["states"] == {"v": 5}
    done = run("get", source, "--uid", UID, "2024-02-29T00:00:00Z")
    assert done.exit_code == 1
    assert "no state of made has the key" in done.stderr


def test_the_command_reads_them_too(run: Any, tmp_path: Path) -> None:
    source = times(tmp_path)
    arguments = ["read", source, "--uid", UID, "--state", "LocalDate"]
    done = run(*arguments)
    assert done.exit_code == 0
    rows = {row["key"]: row for row in map(json.loads, done.stdout.splitlines())}
    far = TIMES["LocalDate"][1].replace(" ", "")
    assert {key: row.get("undecoded") for key, row in rows.items()} == {1: None, 2: far, 3: None}
    assert (
        "note: of what was read, 1 value is only bytes, in the column undecoded: a time is beyond"
        in done.stderr
    )
    assert "; wide_times (--wide-times" in done.stderr
    done = run(*arguments, "--wide-times")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["key"]: row["value"] for row in rows}[2] == FAR["LocalDate"]
