"""Checks of the new savepoint fail, and say what they saw, when it is not what the run wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest
from statelift.orchestration import build_definitions
from statelift.state_ops.plan import Plan

from .runs import GOLDEN, USERS, checks_of, plain, repair_plan, run

#: Runs the checks alone, on what an earlier run left.
Check = Callable[[Plan], dg.ExecuteInProcessResult]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def stored(tmp_path: Path) -> dg.IOManager:
    return dg.FilesystemIOManager(base_dir=str(tmp_path / "storage"))


@pytest.fixture
def check(instance: dg.DagsterInstance, stored: dg.IOManager) -> Check:
    def check(plan: Plan) -> dg.ExecuteInProcessResult:
        made = build_definitions({"fraud-repair": plan})
        selection = dg.AssetSelection.all_asset_checks()
        checks = dg.define_asset_job("checks", selection=selection)
        defs = dg.Definitions.merge(made, dg.Definitions(jobs=[checks]))
        return defs.resolve_job_def("checks").execute_in_process(
            instance=instance, resources={"io_manager": stored}, raise_on_error=False
        )

    return check


def test_checks_run_alone_on_what_is_there(
    golden: Path, tmp_path: Path, instance: dg.DagsterInstance, stored: dg.IOManager, check: Check
) -> None:
    plan = repair_plan(golden, tmp_path / "new")
    assert run(plan, instance=instance, io_manager=stored).success
    result = check(plan)
    assert result.success
    assert all(checks_of(result).values())
    assert len(checks_of(result)) == 5


def test_a_damaged_block_does_not_read_back(
    golden: Path, tmp_path: Path, instance: dg.DagsterInstance, stored: dg.IOManager, check: Check
) -> None:
    plan = repair_plan(golden, tmp_path / "new")
    assert run(plan, instance=instance, io_manager=stored).success
    victim = max((tmp_path / "new").glob("*.sst"), key=lambda file: file.stat().st_size)
    data = bytearray(victim.read_bytes())
    data[20] ^= 0xFF
    victim.write_bytes(data)
    result = check(plan)
    assert not result.success
    passed = checks_of(result)
    assert not passed["reads_back"]
    assert not passed["content"]


def test_a_carried_file_that_differs_is_found(
    tmp_path: Path, instance: dg.DagsterInstance, stored: dg.IOManager, check: Check
) -> None:
    source = GOLDEN / "rocksdb-native" / "savepoint"
    plan = repair_plan(source, tmp_path / "new", format=None)
    assert run(plan, instance=instance, io_manager=stored).success
    contents = {file.read_bytes() for file in source.iterdir()}
    made = (file for file in (tmp_path / "new").iterdir() if file.is_file() and file.name != "_metadata")
    copies = [file for file in made if file.read_bytes() in contents]
    victim = max(copies, key=lambda file: file.stat().st_size)
    data = bytearray(victim.read_bytes())
    data[-1] ^= 1
    victim.write_bytes(data)
    result = check(plan)
    (evaluation,) = [c for c in result.get_asset_check_evaluations() if c.check_name == "carried_over"]
    assert not evaluation.passed
    assert [row["file"] for row in plain(evaluation.metadata)["rows"]] == [f"file://{victim}"]


def test_rows_that_break_an_assertion_are_shown_and_the_run_fails(golden: Path, tmp_path: Path) -> None:
    query = f"SELECT key, value.userId AS user FROM {USERS} WHERE key IN ('user-1', 'user-2') ORDER BY key"
    result = run(repair_plan(golden, tmp_path / "new", checks={"not-those": query}))
    assert not result.success
    assert (tmp_path / "new" / "_metadata").exists()
    (evaluation,) = [c for c in result.get_asset_check_evaluations() if not c.passed]
    assert evaluation.check_name == "not_those"
    assert evaluation.severity == dg.AssetCheckSeverity.ERROR
    seen = plain(evaluation.metadata)
    assert seen["seen"] == "2 rows break it"
    assert seen["rows"] == [{"key": "user-1", "user": "user-1"}, {"key": "user-2", "user": "user-2"}]


def test_an_assertion_that_is_no_query_fails_and_says_why(golden: Path, tmp_path: Path) -> None:
    result = run(repair_plan(golden, tmp_path / "new", checks={"odd": "SELECT nothing FROM nowhere"}))
    (evaluation,) = [c for c in result.get_asset_check_evaluations() if not c.passed]
    assert evaluation.check_name == "odd"
    assert "nowhere" in plain(evaluation.metadata)["seen"]
