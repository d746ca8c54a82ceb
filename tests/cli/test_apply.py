"""``statelift apply``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ..golden_savepoints import expected, plain, savepoint

SOURCE = "2.3.0/rocksdb-native"
PLAN = """
source: {source}
target: {target}
operators:
  session-tracker:
    states:
      user-state:
        set: {{value.lastSeenTimestamp: "0", value.fixed: "true"}}
        where: value.lastSeenTimestamp < 0
checks:
  none-negative: SELECT key FROM "session-tracker"."user-state" WHERE value.lastSeenTimestamp < 0
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN.format(source=savepoint(SOURCE), target=tmp_path / "target"))
    return file


def test_a_plan_is_shown_carried_out_and_checked(run: Any, plan: Path) -> None:
    done = run("apply", plan)
    assert done.exit_code == 0, done.stdout + done.stderr
    entries = expected(SOURCE, "session-tracker", "keyed", "user-state")
    corrupt = [e for e in entries if plain(e["value"])["lastSeenTimestamp"] < 0]
    assert f"session-tracker / user-state: {len(corrupt)} changed" in done.stdout
    assert "passed none-negative" in done.stdout
    query = 'SELECT count(*) AS n FROM "session-tracker"."user-state" WHERE value.fixed'
    target = plan.parent / "target"
    assert json.loads(run("sql", target, query).stdout) == {"n": len(corrupt)}
    assert run("verify", target).exit_code == 0


def test_a_dry_run_writes_nothing(run: Any, plan: Path) -> None:
    done = run("apply", plan, "--dry-run")
    assert done.exit_code == 0
    assert (
        "set value.lastSeenTimestamp = 0, value.fixed = true where value.lastSeenTimestamp < 0" in done.stdout
    )
    assert not (plan.parent / "target").exists()
    planned = json.loads(run("apply", plan, "--dry-run", "--json").stdout)
    assert [state["state"] for state in planned["states"]] == ["user-state"]


def test_places_are_set_from_outside(run: Any, plan: Path) -> None:
    other = plan.parent / "other"
    done = run("apply", plan, "--set", f"target={other}", "--set", "format=canonical", "--json")
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    assert all(check["passed"] for check in report["checks"])
    assert (other / "_metadata").exists()
    assert not (plan.parent / "target").exists()


def test_a_check_that_fails_is_a_finding(run: Any, plan: Path) -> None:
    plan.write_text(
        plan.read_text().replace("< 0\n", ">= 0\n").replace("where: value.lastSeenTimestamp >= 0", "")
    )
    done = run("apply", plan)
    assert done.exit_code == 1
    assert "FAILED none-negative" in done.stdout


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_snapshot_that_stands_at_the_target_is_left(run: Any, plan: Path) -> None:
    assert run("apply", plan).exit_code == 0
    before = contents(plan.parent / "target")
    done = run("apply", plan)
    assert done.exit_code == 2
    assert "a snapshot stands at" in done.stderr
    assert contents(plan.parent / "target") == before
