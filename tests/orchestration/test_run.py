"""A plan run in this process: the source is observed and audited, the new savepoint made in shards and checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from statelift.io.metadata import RelativeFileStateHandle, streams
from statelift.orchestration import StateliftResource
from statelift.state_ops.snapshot import open_snapshot

from .runs import checks_of, metadata_of, plain, repair_plan, run, shard_steps


class Recorder(dg.IOManager):
    """Keeps what steps hand each other as the text it would be in a file."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def _name(self, context: dg.OutputContext) -> str:
        return f"{context.step_key}.{context.name}.{context.mapping_key}"

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        self.values[self._name(context)] = json.dumps(obj)

    def load_input(self, context: dg.InputContext) -> Any:
        assert context.upstream_output is not None
        return json.loads(self.values[self._name(context.upstream_output)])


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run") / "new"


@pytest.fixture(scope="module")
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture(scope="module")
def result(golden: Path, target: Path, recorder: Recorder) -> dg.ExecuteInProcessResult:
    """The repair, to RocksDB, with three workers."""
    return run(repair_plan(golden, target), StateliftResource(workers=3), io_manager=recorder)


def test_it_succeeds_with_all_checks_passed(result: dg.ExecuteInProcessResult) -> None:
    assert result.success
    assert checks_of(result) == {
        "reads_back": True, "content": True, "key_groups": True, "carried_over": True, "no_negative": True,
    }  # fmt: skip


def test_the_source_is_observed_with_the_digest_of_its_metadata_as_version(
    result: dg.ExecuteInProcessResult, golden: Path
) -> None:
    (event,) = result.get_asset_observation_events()
    observation = event.asset_observation_data.asset_observation
    assert observation.asset_key == dg.AssetKey(["fraud_repair", "source_savepoint"])
    digest = hashlib.sha256((golden / "_metadata").read_bytes()).hexdigest()
    assert observation.data_version == digest
    seen = plain(observation.metadata)
    assert (seen["formats"], seen["operators"], seen["metadata_version"]) == ("hashmap", 9, 6)
    assert seen["bytes"] > sum(f.stat().st_size for f in golden.iterdir() if f.name != "_metadata")


def test_the_audit_counts_what_flink_wrote(
    result: dg.ExecuteInProcessResult, expected: Mapping[str, Any]
) -> None:
    audit = metadata_of(result, "audit")
    counted = {(row["operator"], row["state"]): row["entries"] for row in audit["states"]}
    for uid in ("session-tracker", "fraud-detector"):
        for name, state in expected[uid]["keyed"].items():
            entries = state["entries"]
            rows = sum(len(e["value"]["$map"]) for e in entries) if state["kind"] == "map" else len(entries)
            assert counted[uid, name] == rows, name
    assert counted["buffering-sink", "buffered-elements"] == 60
    assert {row["operator"]: row["format"] for row in audit["operators"]}["session-tracker"] == "hashmap"
    assert "| session-tracker | user-state | value | 60 |" in audit["audit"]


def test_the_new_savepoint_tells_what_was_changed(result: dg.ExecuteInProcessResult, target: Path) -> None:
    made = metadata_of(result, "new_savepoint")
    assert made["target"] == f"file://{target}"
    assert (made["shards"], made["resumed_shards"], made["rows_changed"]) == (3, 0, 6)
    assert made["changes"] == [
        {
            "operator": "session-tracker", "state": "user-state", "operation": "set",
            "changed": 6, "deleted": 0, "added": 0,
        }
    ]  # fmt: skip
    before, after = (json.loads(made["samples"][0][column]) for column in ("before", "after"))
    assert before["value"]["lastSeenTimestamp"] < 0
    assert after == {**before, "value": {**before["value"], "lastSeenTimestamp": 0}}
    digests = {row["state"]: row for row in made["digests"]}
    assert digests["recent"]["digest read"] == digests["recent"]["digest written"]
    assert digests["user-state"]["digest read"] != digests["user-state"]["digest written"]
    assert {row["operator"]: (row["from"], row["to"]) for row in made["operators"] if "from" in row}[
        "fraud-detector"
    ] == ("hashmap", "rocksdb")
    assert "### Before and after" in made["report"]


def test_the_new_savepoint_is_there(result: dg.ExecuteInProcessResult, target: Path) -> None:
    state = open_snapshot(str(target)).state("session-tracker", "user-state").to_arrow()
    stamps = [value["lastSeenTimestamp"] for value in state["value"].to_pylist()]
    assert len(stamps) == 60
    assert stamps.count(0) == 6
    assert min(stamps) == 0


def test_a_shard_is_a_mapped_step(result: dg.ExecuteInProcessResult) -> None:
    assert sorted(shard_steps(result)) == ["shard_0000", "shard_0001", "shard_0002"]


def test_steps_hand_each_other_only_plans_paths_and_figures(
    result: dg.ExecuteInProcessResult, recorder: Recorder
) -> None:
    assert result.success
    values = {name: json.loads(text) for name, text in recorder.values.items()}
    shards = [value for name, value in values.items() if "run_shard" in name]
    assert len(shards) == 3
    assert all(set(value) == {"plan", "shard", "result"} for value in shards)
    text = "".join(recorder.values.values())
    assert "element-3" not in text  # an element of operator state
    assert "account-3" not in text  # a key of state that is kept


@pytest.mark.parametrize(
    ("workers", "shard_bytes", "least", "most"),
    [(1, 1 << 30, 1, 1), (4, 1 << 30, 4, 4), (1, 6000, 4, 8), (1, 1, 100, 128), (1000, 1 << 30, 100, 128)],
)
def test_shards_follow_workers_and_bytes_up_to_max_parallelism(
    golden: Path, tmp_path: Path, workers: int, shard_bytes: int, least: int, most: int
) -> None:
    resource = StateliftResource(workers=workers, shard_bytes=shard_bytes)
    result = run(
        repair_plan(golden, tmp_path / "new"),
        resource,
        op_selection=["fraud_repair__new_savepoint.fraud_repair__shards"],
    )
    assert result.success
    made = [
        e for e in result.all_events if e.is_successful_output and e.step_output_data.output_name == "tasks"
    ]
    assert least <= len(made) <= most


def test_canonical_parts_of_other_processes_are_joined_and_removed(golden: Path, tmp_path: Path) -> None:
    result = run(repair_plan(golden, tmp_path / "new", format="canonical"), StateliftResource(workers=3))
    assert result.success
    assert all(checks_of(result).values())
    metadata = open_snapshot(str(tmp_path / "new")).metadata
    handles = [use.handle for use in streams(metadata)]
    referenced = {h.relative_path for h in handles if isinstance(h, RelativeFileStateHandle)}
    found = {file.name for file in (tmp_path / "new").rglob("*") if file.is_file()}
    assert found == referenced | {"_metadata"}


def test_a_plan_that_changes_nothing_copies_without_any_shard(golden: Path, tmp_path: Path) -> None:
    result = run(repair_plan(golden, tmp_path / "new", format=None, operators={}, checks={}))
    assert result.success
    assert all(checks_of(result).values())
    assert shard_steps(result) == []
    made = metadata_of(result, "new_savepoint")
    assert (made["shards"], made["rows_changed"], made["carried_files"]) == (0, 0, 4)


def test_a_plan_that_does_not_fit_fails_in_one_line_and_at_once(golden: Path, tmp_path: Path) -> None:
    states = {"user-stat": {"delete": {"where": "true"}}}
    plan = repair_plan(golden, tmp_path / "new", operators={"session-tracker": {"states": states}})
    result = run(plan)
    assert not result.success
    failures = [event for event in result.all_events if event.is_step_failure]
    assert [event.step_key for event in failures] == ["fraud_repair__new_savepoint.fraud_repair__shards"]
    text = failures[0].step_failure_data.user_failure_data.description
    assert "user-state" in text
    assert "\n" not in text
    assert not [event for event in result.all_events if event.is_step_up_for_retry]
