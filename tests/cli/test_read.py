"""``statelift read`` and ``statelift sql``: rows on stdout and in files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from statelift.io.stores import Stores

from ..golden_savepoints import ALL, copied, expected, opened, plain, savepoint

SOME = "1.20.5/rocksdb-native"
USERS = ("--uid", "session-tracker", "--state", "user-state")
QUERY = 'SELECT key, value FROM "session-tracker"."user-state" ORDER BY key'


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def users(name: str) -> dict[str, Any]:
    return {e["key"]: plain(e["value"]) for e in expected(name, "session-tracker", "keyed", "user-state")}


@pytest.mark.parametrize("name", ALL)
def test_a_state_as_json_lines(run: Any, name: str) -> None:
    done = run("read", savepoint(name), *USERS)
    assert done.exit_code == 0
    assert done.stderr == ""
    rows = lines(done.stdout)
    assert {row["key"]: row["value"] for row in rows} == users(name)
    groups = {e["key"]: e["kg"] for e in expected(name, "session-tracker", "keyed", "user-state")}
    assert {row["key"]: row["key_group"] for row in rows} == groups


def test_operator_and_broadcast_state_and_timers(run: Any) -> None:
    done = run("read", savepoint(SOME), "--uid", "rules", "--state", "rules")
    rules = {e["key"]: plain(e["value"]) for e in expected(SOME, "rules", "broadcast", "rules")}
    assert {row["map_key"]: row["value"] for row in lines(done.stdout)} == rules
    done = run("read", savepoint(SOME), "--uid", "rules", "--state", "rule-log")
    log = [(e["subtask"], e["value"]) for e in expected(SOME, "rules", "operator", "rule-log")]
    assert [(row["subtask"], row["value"]) for row in lines(done.stdout)] == log
    name = "_timer_state/event_user-timers"
    done = run("read", savepoint(SOME), "--uid", "session-tracker", "--state", name)
    [timers] = [
        section
        for key, section in json.loads((savepoint(SOME).parent / "expected.json").read_text())["operators"][
            "session-tracker"
        ]["timers"].items()
        if key.endswith("/event")
    ]
    assert {(r["key"], r["timestamp"]) for r in lines(done.stdout)} == {
        (e["key"], e["ts"]) for e in timers["entries"]
    }


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_a_limit(run: Any, n: int) -> None:
    assert len(lines(run("read", savepoint(SOME), *USERS, "--limit", n).stdout)) == min(n, 60)


@pytest.mark.parametrize("command", [("read", *USERS), ("sql", QUERY)], ids=["read", "sql"])
@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_a_file_of_each_kind(run: Any, tmp_path: Path, command: tuple[str, ...], suffix: str) -> None:
    target = tmp_path / f"out.{suffix}"
    done = run(command[0], savepoint(SOME), *command[1:], "-o", target)
    assert (done.exit_code, done.stdout) == (0, "")
    if suffix == "parquet":
        found = pq.read_table(target).to_pylist()
    elif suffix == "jsonl":
        found = lines(target.read_text())
    else:
        with target.open(newline="") as file:
            found = [{**row, "value": json.loads(row["value"])} for row in csv.DictReader(file)]
    assert {row["key"]: row["value"] for row in found} == users(SOME)
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.usefixtures("aws_environment")
def test_a_file_in_s3(run: Any, moto_endpoint: str, tmp_path: Path) -> None:
    url = f"s3://state/cli/{tmp_path.name}.parquet"
    done = run("read", savepoint(SOME), *USERS, "-o", url, "--endpoint-url", moto_endpoint)
    assert done.exit_code == 0, done.stderr
    (tmp_path / "back.parquet").write_bytes(Stores(moto_endpoint).read(url))
    assert pq.read_metadata(tmp_path / "back.parquet").num_rows == 60


def test_a_file_that_is_there_is_not_replaced(run: Any, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("mine")
    done = run("read", savepoint(SOME), *USERS, "-o", target)
    assert done.exit_code == 2
    assert "exists" in done.stderr
    assert target.read_text() == "mine"


def test_damage_leaves_no_file(run: Any, tmp_path: Path) -> None:
    folder = copied("1.20.5/hashmap-canonical", tmp_path)
    for file in folder.iterdir():
        if file.name != "_metadata":
            file.write_bytes(file.read_bytes()[:-100])
    done = run("read", folder, *USERS, "-o", tmp_path / "out.parquet")
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["savepoint"]


@pytest.mark.parametrize("command", [("read", *USERS), ("sql", QUERY)], ids=["read", "sql"])
def test_what_is_missing_is_said_and_is_not_success(
    run: Any, tmp_path: Path, command: tuple[str, ...]
) -> None:
    folder = copied("2.3.0/hashmap-canonical", tmp_path)
    stream = opened("2.3.0/hashmap-canonical").operator("session-tracker").keyed_backends[1].stream
    assert stream is not None
    (folder / stream.name.rpartition("/")[2]).unlink()
    done = run(command[0], folder, *command[1:])
    assert done.exit_code == 1
    [said] = done.stderr.splitlines()
    assert "incomplete" in said
    assert "subtask 1" in said
    entries = expected("2.3.0/hashmap-canonical", "session-tracker", "keyed", "user-state")
    assert {row["key"] for row in lines(done.stdout)} == {e["key"] for e in entries if e["kg"] < 64}


def test_sql_away_from_a_terminal_is_json_lines(run: Any) -> None:
    done = run("sql", savepoint("2.3.0/hashmap-native"), 'SELECT count(*) AS n FROM "session-tracker".recent')
    assert (done.exit_code, done.stdout) == (0, '{"n": 60}\n')


def test_sql_lists_the_tables(run: Any) -> None:
    done = run("sql", savepoint("2.3.0/hashmap-native"), "SHOW TABLES")
    assert {"session-tracker", "fraud-detector"} <= {row["operator"] for row in lines(done.stdout)}
