"""``statelift verify``: the exit code, a line for each fault, and JSON."""

from __future__ import annotations

import json
import re
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
    """Of a lost file what it held, of one that is short which key groups still decode; the rest is read."""
    done = run("verify", damaged)
    assert done.exit_code == 1
    *faults, total = done.stdout.splitlines()
    missing, short, unread = sorted(faults, key=lambda line: ("short" in line) + 2 * ("cannot" in line))
    size = (
        (savepoint("1.20.5/hashmap-canonical") / missing.split("/")[-1].split(",")[0].rstrip(")"))
        .stat()
        .st_size
    )
    assert f"the file is missing: {size:,} bytes of managed keyed state of key groups " in missing
    assert "short by 10 bytes" in short
    assert all("operator" in line and "subtask" in line for line in faults)
    assert re.match(r"key groups? \d+(-\d+)? cannot be read: .*; key groups .* can ", unread)
    assert re.fullmatch(r"[1-9]\d+ entries in 14 states, 3 faults", total)
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
