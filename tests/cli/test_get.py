"""``statelift get``: one key, and no more bytes than it needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from statelift.cli.keys import parse_key
from statelift.io.streams import StateStream
from statelift.schemas import types as t

from ..golden_savepoints import ALL, expected, plain, savepoint


def got(run: Any, *args: object) -> dict[str, Any]:
    done = run("get", *args, "--json")
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", ALL)
def test_every_state_of_a_key(run: Any, name: str) -> None:
    found = got(run, savepoint(name), "--uid", "session-tracker", "user-1")
    by_key = {
        state: next(e for e in expected(name, "session-tracker", "keyed", state) if e["key"] == "user-1")
        for state in ("user-state", "recent")
    }
    assert (found["key"], found["key_group"], found["subtask"]) == ("user-1", 121, 1)
    assert by_key["recent"]["kg"] == 121
    assert found["states"]["user-state"] == plain(by_key["user-state"]["value"])
    assert found["states"]["recent"] == by_key["recent"]["value"]
    assert [timer["domain"] for timer in found["states"]["_timer_state/event_user-timers"]] == ["event"]
    assert found["states"]["_timer_state/processing_user-timers"] is None


@pytest.mark.parametrize("name", ALL)
def test_a_map_is_an_object_and_a_state_can_be_chosen(run: Any, name: str) -> None:
    entry = expected(name, "fraud-detector", "keyed", "fraud-scores")[0]
    found = got(run, savepoint(name), "--uid", "fraud-detector", "--state", "fraud-scores", entry["key"])
    assert found["states"] == {"fraud-scores": plain(entry["value"])}


def test_a_key_that_is_nowhere(run: Any) -> None:
    done = run("get", savepoint("2.3.0/rocksdb-native"), "--uid", "session-tracker", "user-999")
    assert done.exit_code == 1
    assert "no state of session-tracker has the key user-999" in done.stderr
    assert set(json.loads(done.stdout)["states"].values()) == {None}


@pytest.mark.parametrize("name", ["1.20.5/hashmap-canonical", "1.20.5/hashmap-native"])
def test_only_the_key_group_is_read(run: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each stream the header, whatever its subtask; of the data, what one key group takes."""
    reads: list[tuple[str, int, int]] = []
    real = StateStream.read

    def read(self: StateStream, start: int, length: int) -> bytes:
        reads.append((self.name, start, length))
        return real(self, start, length)

    monkeypatch.setattr(StateStream, "read", read)
    got(run, savepoint(name), "--uid", "session-tracker", "--state", "recent", "user-1")
    data = [length for _, start, length in reads if start > 0 and length > 4]
    sizes = [path.stat().st_size for path in savepoint(name).iterdir() if path.name != "_metadata"]
    assert len(data) == 1
    assert data[0] < max(sizes) / 10


# -- keys of every type ----------------------------------------------------------------------------------------


def typed(value: Any) -> str:
    """A key of ``expected.json`` as a user types it."""
    match value:
        case str():
            return value
        case {"$decimal": [unscaled, scale]}:
            digits = str(unscaled).rjust(scale + 1, "0")
            return f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits
        case {"$localdate": [year, month, day]}:
            return f"{year:04}-{month:02}-{day:02}"
        case {"$tuple": parts} | {"$row": parts}:
            return json.dumps(parts)
        case {"$object": _, "fields": fields}:
            return json.dumps(fields)
    return json.dumps(value)


@pytest.mark.corpus
@pytest.mark.parametrize("entry", ["keys-hashmap-canonical", "keys-rocksdb-canonical"])
def test_keys_of_every_type(run: Any, corpus: Path, entry: str) -> None:
    folder = corpus / "known" / "2.0.2" / entry
    if not folder.is_dir():
        pytest.skip(f"the corpus has no {entry}")
    snapshot = next(folder.glob("savepoint-*"))
    operators = json.loads((folder / "expected.json").read_text())["operators"]
    looked = 0
    for uid, sections in operators.items():
        for state, content in sections.get("keyed", {}).items():
            if content["kind"] != "map":
                continue
            for one in content["entries"][:2]:
                found = got(run, snapshot, "--uid", uid, "--state", state, typed(one["key"]))
                assert found["key_group"] == one["kg"], (uid, one["key"])
                assert found["states"][state] == plain(one["value"]), (uid, one["key"])
                looked += 1
    assert looked >= 20


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("uid", "key", "says"),
    [
        ("k-long", "one", "'one' is no long"),
        ("k-long", "1.5", "a whole number is wanted"),
        ("k-int", "99999999999", "is no int"),
        ("k-tuple2", '["a"]', "1 values for 2 fields; write a JSON list of 2 values"),
        ("k-pojo", '{"a": "x"}', "the field 'b' is missing"),
        ("k-pojo", '{"a": "x", "b": 1, "c": 2}', "it has no field 'c'"),
        ("k-localdate", "yesterday", "is no local_date"),
        ("k-boolean", "1", "true or false"),
    ],
)
def test_a_key_of_the_wrong_type(run: Any, corpus: Path, uid: str, key: str, says: str) -> None:
    folder = corpus / "known" / "2.0.2" / "keys-rocksdb-canonical"
    if not folder.is_dir():
        pytest.skip("the corpus has no keys-rocksdb-canonical")
    done = run("get", next(folder.glob("savepoint-*")), "--uid", uid, key)
    assert done.exit_code == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


PYFLINK = savepoint("pyflink").parent / "2.3.0" / "process-rocksdb-canonical"


@pytest.mark.parametrize(
    ("uid", "key", "value"),
    [
        ("kinds", "[-2]", 9),
        ("by-tuple", '[["é1", 1]]', 6),
        ("by-row", '[["n2", 2]]', 9),
        ("by-pickle", '["8005950d000000000000008c056b65792d31944b0186942e"]', 6),
    ],
)
def test_a_key_of_pyflink_is_a_row_of_one(run: Any, uid: str, key: str, value: int) -> None:
    types = PYFLINK.parents[1] / "types.yaml"
    found = got(run, PYFLINK, "--python-types", types, "--uid", uid, key)["states"]
    assert value in found.values()


def test_a_time_is_meant_to_its_nanosecond() -> None:
    kind = t.scalar("instant")
    text = "2023-11-14T22:13:21.001000001Z"
    assert parse_key(text, kind, pa.timestamp("ns", "UTC")).cast(pa.int64()).to_pylist() == [
        1_700_000_001_001_000_001
    ]
