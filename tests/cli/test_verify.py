"""``statelift verify``: the exit code, a line for each fault, and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ..golden_savepoints import ALL, copied, savepoint


@pytest.mark.parametrize("name", ALL)
def test_a_sound_savepoint(run: Any, name: str) -> None:
    done = run("verify", savepoint(name))
    assert (done.exit_code, done.stdout) == (0, "409 entries in 14 states, no faults\n")


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    folder = copied("1.20.5/hashmap-canonical", tmp_path)
    first, second, *_ = sorted(path for path in folder.iterdir() if path.name != "_metadata")
    first.unlink()
    second.write_bytes(second.read_bytes()[:-10])
    return folder


def test_a_line_for_each_fault(run: Any, damaged: Path) -> None:
    done = run("verify", damaged)
    assert done.exit_code == 1
    *faults, total = done.stdout.splitlines()
    assert len(faults) == 3
    for text in ("the file is missing: ", "short by 10 bytes", "cannot be read"):
        assert sum(text in line for line in faults) == 1
    assert total.endswith("in 14 states, 3 faults")
    assert done.stderr == ""


def test_faults_for_machines(run: Any, damaged: Path) -> None:
    done = run("verify", damaged, "--json")
    assert done.exit_code == 1
    report = json.loads(done.stdout)
    assert len(report["faults"]) == 3
    assert {"what", "operator", "subtask", "file"} <= report["faults"][0].keys()
    assert report["states"] == 14
    assert json.loads(run("verify", savepoint("2.3.0/rocksdb-native"), "--json").stdout)["faults"] == []


@pytest.mark.corpus
def test_what_is_not_looked_at_is_a_note_and_no_fault(run: Any, corpus: Path) -> None:
    pojo_keys = next((corpus / "known" / "2.0.2" / "keys-rocksdb-canonical").glob("savepoint-*"), None)
    if pojo_keys is None:
        pytest.skip("the corpus has no keys-rocksdb-canonical")
    done = run("verify", pojo_keys)
    assert done.exit_code == 0
    notes = [line for line in done.stdout.splitlines() if line.startswith("note: ")]
    assert any("KeyPojo is the user's" in note for note in notes)
