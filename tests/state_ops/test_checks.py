"""The checks of a new snapshot: they pass on what a run wrote, and say what is wrong with anything else."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from statelift.io.stores import Stores
from statelift.state_ops.checks import BUILT_IN, CheckResult, check_key_groups, run_check, run_checks
from statelift.state_ops.plan import Plan
from statelift.state_ops.report import Report

from .lifting import REPAIR, TARGETS, golden, lift, opened, plan_of

NEGATIVE = {
    "no-negative-times": 'SELECT key FROM "session-tracker"."user-state" WHERE value.lastSeenTimestamp < 0',
    "no-users": 'SELECT key FROM "session-tracker"."user-state"',
    "no-sense": 'SELECT nothing FROM "session-tracker"."user-state"',
}


def named(results: Sequence[CheckResult]) -> dict[str, CheckResult]:
    return {result.name: result for result in results}


@pytest.fixture(params=TARGETS)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Plan, Report, Path]:
    target = tmp_path / "out"
    report = lift(golden("hashmap-canonical"), target, REPAIR, format=request.param)
    return plan_of(golden("hashmap-canonical"), target, REPAIR, checks=NEGATIVE), report, target


def test_a_good_run_passes_what_is_built_in(run: tuple[Plan, Report, Path]) -> None:
    plan, report, _ = run
    checks = named(run_checks(plan, report))
    assert list(checks) == [*BUILT_IN, *NEGATIVE]
    assert all(checks[name].passed for name in BUILT_IN), checks
    assert "keys are in their key groups" in checks["key-groups"].what
    assert f"{len(report.carried)} files" in checks["carried-over"].what


def test_each_row_of_a_plans_own_query_breaks_it(run: tuple[Plan, Report, Path]) -> None:
    plan, report, _ = run
    checks = named(run_checks(plan, report))
    assert checks["no-negative-times"] == CheckResult("no-negative-times", True, "no row breaks it", [])
    assert (checks["no-users"].passed, checks["no-users"].what) == (False, "60 rows break it")
    assert len(checks["no-users"].rows) == 10
    assert not checks["no-sense"].passed
    assert "columns of" in checks["no-sense"].what


def test_a_snapshot_with_other_content_does_not_pass(run: tuple[Plan, Report, Path], tmp_path: Path) -> None:
    """The target of another plan stands where this run's is said to be."""
    plan, report, target = run
    other = {"session-tracker": {"states": {"user-state": {"delete": {"where": "key = 'user-7'"}}}}}
    lift(golden("hashmap-canonical"), target, other, format=plan.format or "canonical", overwrite=True)
    content = run_check("content", plan, report, Stores())
    assert (content.passed, content.what) == (False, "1 states differ")
    [row] = content.rows
    assert (row["state"], row["entries"], row["expected entries"]) == ("user-state", 59, 60)


def test_a_carried_file_that_differs_does_not_pass(tmp_path: Path) -> None:
    report = lift(golden("hashmap-canonical"), tmp_path / "out", REPAIR)
    plan = plan_of(golden("hashmap-canonical"), tmp_path / "out", REPAIR)
    assert report.carried
    file = tmp_path / "out" / report.carried[0].name
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    check = run_check("carried-over", plan, report, Stores())
    assert (check.passed, check.what) == (False, "1 files differ")
    file.write_bytes(data[:-1])
    assert not run_check("carried-over", plan, report, Stores()).passed


def test_a_file_that_is_gone_is_named_by_every_check_that_needs_it(tmp_path: Path) -> None:
    report = lift(golden("hashmap-canonical"), tmp_path / "out", REPAIR)
    plan = plan_of(golden("hashmap-canonical"), tmp_path / "out", REPAIR)
    for path in (tmp_path / "out").iterdir():
        if path.name != "_metadata":
            path.unlink()
    for name in ("reads-back", "content", "carried-over"):
        check = run_check(name, plan, report, Stores())
        assert not check.passed, name


def test_a_key_in_a_wrong_group_is_shown_with_both_groups(tmp_path: Path) -> None:
    """The entries of two key groups change their places in the index, so that each is read as the other's; the
    prefixes of the keys are changed with them."""
    shutil.copytree(golden("hashmap-canonical"), tmp_path / "moved")
    snapshot = opened(tmp_path / "moved")
    backend = snapshot.operator("session-tracker").keyed_backends[0]
    assert backend.stream is not None
    key, group = _a_user(tmp_path / "moved")
    other = (group + 1) % 64
    file = tmp_path / "moved" / backend.stream.name.rpartition("/")[2]
    data = file.read_bytes()
    # The prefix of the key, or of its timer; the last key of a state has the highest bit set.
    encoded = re.escape(bytes([len(key) + 1]) + key.encode())
    prefix = re.compile(
        b"[%b%b](?=(?:.{8})?%b)" % (bytes([group]), bytes([group | 0x80]), encoded), re.DOTALL
    )
    changed, count = prefix.subn(lambda found: bytes([found[0][0] - group + other]), data)
    assert count == 3
    file.write_bytes(changed)
    backend.offsets = list(backend.offsets)
    backend.offsets[other], backend.offsets[group] = backend.offsets[group], 0
    lonely = [g for g, offset in enumerate(backend.offsets) if g not in (group, other)]
    for g in lonely:
        backend.offsets[g] = 0
    check = check_key_groups(snapshot)
    assert not check.passed
    assert {"key": key, "key group": other, "expected": group}.items() <= check.rows[0].items()


def _a_user(folder: Path) -> tuple[str, int]:
    """A user whose key group holds no other key."""
    rows = opened(folder).state("session-tracker", "user-state").to_arrow().to_pylist()
    groups = [row["key_group"] for row in rows]
    for row in rows:
        if (
            row["key_group"] < 63
            and groups.count(row["key_group"]) == 1
            and row["key_group"] + 1 not in groups
        ):
            return row["key"], row["key_group"]
    raise AssertionError("every user has company")
