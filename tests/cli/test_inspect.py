"""``statelift inspect``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from statelift.cli.inventory_table import size
from statelift.io.stores import Stores
from statelift.state_ops import inventory

from ..changelog_snapshot import UID, changelog_snapshot
from ..golden_savepoints import ALL, UIDS, copied, savepoint


def as_json(run: Any, *args: object) -> dict[str, Any]:
    done = run("inspect", *args, "--json")
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", ALL)
def test_operators_states_types_and_counts_are_told(run: Any, name: str) -> None:
    uids = [part for uid in UIDS for part in ("--uid", uid)]
    found = as_json(run, savepoint(name), *uids)
    form = name.partition("/")[2].rsplit("-", 1)
    version = {"1.20.5": 4, "2.3.0": 6}[name.partition("/")[0]]
    assert (found["format_type"], found["kind"]) == (form[1].upper(), "savepoint")
    assert found["metadata_version"] == version
    operators = {operator["uid"]: operator for operator in found["operators"] if operator["uid"]}
    assert set(operators) == set(UIDS)
    sink = operators["buffering-sink"]
    assert (sink["parallelism"], sink["max_parallelism"]) == (3, 128)
    tracker = {state["name"]: state for state in operators["session-tracker"]["states"]}
    assert tracker["user-state"]["kind"] == "value"
    assert tracker["user-state"]["types"]["key"] == "string"
    assert "lastSeenTimestamp: long" in tracker["user-state"]["types"]["value"]
    assert {n: state["entries"] for n, state in tracker.items()} == {
        "user-state": 60, "recent": 60, "_timer_state/event_user-timers": 60,
        "_timer_state/processing_user-timers": 0,
    }  # fmt: skip
    expected_format = "canonical" if form[1] == "canonical" else form[0]
    assert operators["session-tracker"]["formats"] == [expected_format]
    assert operators["session-tracker"]["bytes"] > 1000
    assert found["problems"] == []


def test_python_types_of_states_that_are_not_there_are_told(run: Any, tmp_path: Path) -> None:
    types = tmp_path / "types.yaml"
    types.write_text("types: {long: Types.LONG(), lnog: Types.LONG()}\nelsewhere: {count: Types.LONG()}\n")
    path = savepoint("pyflink").parent / "2.3.0" / "process-rocksdb-canonical"
    elsewhere, state = as_json(run, path, "--python-types", types)["not_in_snapshot"]
    assert elsewhere == "elsewhere"
    assert state.startswith("state lnog of types, which has ")
    assert "python-state-long" in state


def test_uids_are_resolved_by_their_hash_and_the_others_said_to_be_unknown(run: Any, tmp_path: Path) -> None:
    names = tmp_path / "uids.txt"
    names.write_text("# the job's\nsession-tracker\n\n  rules  \nz\n")
    done = run("inspect", savepoint("1.20.5/hashmap-canonical"), "--uids", names)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert any(line.startswith("session-tracker") for line in lines)
    assert "not in the snapshot: z" in lines
    unresolved = [line for line in lines if line.startswith("unresolved: ")]
    assert 'unresolved: 9f58a7772f5543d78061e8225175f39f, 1 operator state "buffered-elements"' in unresolved
    assert any('2 keyed states "fraud-scores", "last-tx-timestamp"' in line for line in unresolved)
    assert not any("session-tracker" in line for line in unresolved)


def test_uids_that_flink_2_stores_need_no_help(run: Any) -> None:
    done = run("inspect", savepoint("2.3.0/rocksdb-native"))
    assert "unresolved" not in done.stdout
    assert "session-tracker" in done.stdout


def test_of_a_large_snapshot_rocksdbs_estimate_is_given_and_else_nothing(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inventory, "COUNTED_BYTES", 0)
    states = {
        name: {
            state["name"]: (state["entries"], state["estimated"])
            for operator in as_json(run, savepoint(name))["operators"]
            for state in operator["states"]
        }
        for name in ("2.3.0/rocksdb-native", "2.3.0/hashmap-native")
    }
    assert states["2.3.0/rocksdb-native"]["last-tx-timestamp"][1]
    assert 60 <= states["2.3.0/rocksdb-native"]["last-tx-timestamp"][0] <= 180  # three rounds of puts
    assert states["2.3.0/hashmap-native"]["user-state"] == (None, False)
    text = run("inspect", savepoint("2.3.0/hashmap-native")).stdout
    assert "–" in text
    assert "--count" in text
    counted = as_json(run, savepoint("2.3.0/hashmap-native"), "--count")
    tracker = next(o for o in counted["operators"] if o["uid"] == "session-tracker")
    assert [s["entries"] for s in tracker["states"] if s["name"] == "user-state"] == [60]


def test_what_cannot_be_read_is_listed_and_the_rest_shown(run: Any, tmp_path: Path) -> None:
    folder = copied("2.3.0/hashmap-canonical", tmp_path)
    for file in folder.iterdir():
        if file.name != "_metadata":
            file.unlink()
    done = run("inspect", folder)
    assert done.exit_code == 1
    assert "buffered-elements" in done.stdout
    assert done.stdout.count("not readable: ") >= 4
    assert json.loads(run("inspect", folder, "--json").stdout)["problems"]


@pytest.mark.corpus
def test_moved_files_are_found_by_a_path_map(run: Any, corpus: Path, tmp_path: Path) -> None:
    """An incremental checkpoint names the files it shares with others by their absolute paths."""
    entry = next(corpus.glob("known/*/scenario-rocksdb-chk-incr"), None)
    if entry is None:
        pytest.skip("the corpus has no incremental checkpoint")
    meta = next(entry.glob("checkpoints/*/chk-*/_metadata"))
    (tmp_path / "here").mkdir()
    shutil.copy(meta, tmp_path / "here")
    shutil.copytree(entry, tmp_path / "moved")
    assert run("inspect", tmp_path / "here").exit_code == 1
    old = (entry / "where.txt").read_text().partition("/checkpoints/")[0]
    done = run("inspect", tmp_path / "here", "--path-map", f"{old}={tmp_path}/moved")
    assert done.exit_code == 0, done.stderr + done.stdout


@pytest.mark.usefixtures("aws_environment")
def test_a_savepoint_in_s3(run: Any, moto_endpoint: str) -> None:
    stores = Stores(moto_endpoint)
    for file in savepoint("2.3.0/rocksdb-native").iterdir():
        stores.put(f"s3://state/cli/sp/{file.name}", file.read_bytes())
    found = as_json(run, "s3://state/cli/sp", "--endpoint-url", moto_endpoint)
    assert found["url"].startswith("s3://state/cli/sp")
    assert len(found["operators"]) == 9


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 20, "5.0 MiB"), (3 << 40, "3.0 TiB")],
)
def test_sizes_for_people(nbytes: int, text: str) -> None:
    assert size(nbytes) == text


def test_how_a_changelog_was_read_is_told(run: Any, tmp_path: Path) -> None:
    """Its keys' type was inferred, and its changes come twice: for a person, for machines, and in the audit."""
    folder = changelog_snapshot(tmp_path / "twice", logs=2)
    [operator] = as_json(run, folder)["operators"]
    inferred, doubled = operator["remarks"]
    assert inferred.startswith("the changelog names no key type: by the key groups of its keys it is long")
    assert doubled.startswith("1 of 2 change sets come a second time")
    assert {remark.endswith("(subtask 0)") for remark in operator["remarks"]} == {True}
    shown = run("inspect", folder, "--uid", UID).stdout
    assert f"note: {UID}: {inferred}" in shown
    assert f"note: {UID}: {doubled}" in shown
    [once] = as_json(run, changelog_snapshot(tmp_path / "once"))["operators"]
    assert once["remarks"] == [inferred]
    assert [state["entries"] for state in once["states"]] == [3]
