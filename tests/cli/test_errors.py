"""What is typed wrong or is not there: one line on stderr, exit code 2, nothing on stdout, nothing written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from statelift.cli.main import COMMANDS

from ..golden_savepoints import copied, savepoint

GOOD = savepoint("1.20.5/hashmap-canonical")
STATE = ("--uid", "session-tracker", "--state", "user-state")


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    """Folders with something wrong: ``{empty}``, ``{truncated}``, ``{garbage}``, ``{header}``."""
    folders = {"empty": tmp_path / "empty", "out": tmp_path / "out"}
    for name, meta in (
        ("truncated", (GOOD / "_metadata").read_bytes()[:700]),
        ("garbage", b"PK\x03\x04 this is no snapshot"),
    ):
        folders[name] = tmp_path / name
        folders[name].mkdir()
        (folders[name] / "_metadata").write_bytes(meta)
    folders["empty"].mkdir()
    (tmp_path / "h").mkdir()
    folders["header"] = copied("1.20.5/hashmap-canonical", tmp_path / "h")
    for file in folders["header"].iterdir():
        if file.name != "_metadata":
            file.write_bytes(b"\xff" * 64 + file.read_bytes()[64:])
    (tmp_path / "plan.yaml").write_text(f"source: {GOOD}\ntarget: {tmp_path / 'out'}\noperatorz: {{}}\n")
    (tmp_path / "good.yaml").write_text(f"source: {GOOD}\ntarget: {tmp_path / 'out'}\n")
    (tmp_path / "text.yaml").write_text("- a\n")
    return {**folders, "tmp": tmp_path, "good": GOOD}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["inspect", "{empty}"], ["no snapshot at", "no _metadata"]),
        (["inspect", "{tmp}/nowhere"], ["no snapshot at"]),
        (["inspect", "{truncated}"], ["bytes", "_metadata", "offset"]),
        (["inspect", "{garbage}"], ["_metadata"]),
        (["verify", "{garbage}"], ["_metadata"]),
        (["sql", "{empty}", "SELECT 1"], ["no snapshot at"]),
        (["read", "{header}", *STATE], ["session-tracker", "subtask 0"]),
        (["read", "{good}", "--uid", "session-traker", "--state", "x"], ["no operator 'session-traker'"]),
        (["read", "{good}", "--uid", "session-tracker", "--state", "user-stat"], ["nearest: user-state"]),
        (["read", "{good}", *STATE, "-o", "{tmp}/x.txt"], [".parquet, .csv, .jsonl"]),
        (["read", "{good}", *STATE, "-o", "{tmp}/x"], [".parquet, .csv, .jsonl"]),
        (["read", "{good}", *STATE, "--limit", "-1"], ["--limit"]),
        (["read", "{good}", "--uid", "session-tracker"], ["--state"]),
        (["sql", "{good}", "SELEC 1"], ["syntax error"]),
        (["read", "{good}", *STATE, "--memory-limit", "lots"], ["'lots' is no size", "512MB"]),
        (["verify", "{good}", "--memory-limit", "64MB"], ["memory limit of 64MB is too small", "410MB"]),
        (["sql", "{good}", "SELECT 1", "--memory-limit", "64MB"], ["memory limit of 64MB is too small"]),
        (["apply", "{tmp}/good.yaml", "--memory-limit", "64MB"], ["memory limit of 64MB is too small"]),
        (
            ["sql", "{good}", 'SELECT nope FROM "session-tracker".recent'],
            ["nope", "columns of", "key string"],
        ),
        (["sql", "{good}", "FROM nothing_like_it"], ["no state 'nothing_like_it'"]),
        (["sql", "{good}", "SELECT 1", "--memory-limit", "lots"], ["lots"]),
        (["sql", "{good}", "SELEC 1", "-o", "{tmp}/x.csv"], ["syntax error"]),
        (["get", "{good}", "--uid", "buffering-sink", "k"], ["no keyed state"]),
        (["get", "{good}", "--uid", "session-tracker", "--state", "recen", "k"], ["nearest: recent"]),
        (["inspect", "{good}", "--path-map", "nonsense"], ["OLD=NEW"]),
        (["inspect", "{good}", "--uids", "{tmp}/no.txt"], ["no.txt"]),
        (["apply", "{tmp}/no.yaml"], ["no.yaml"]),
        (["apply", "{tmp}/plan.yaml"], ["operatorz", "operators"]),
        (["apply", "{tmp}/text.yaml"], ["mapping"]),
        (["apply", "{tmp}/plan.yaml", "--set", "target"], ["NAME=VALUE"]),
        (["inspect", "ftp://host/sp"], ["ftp"]),
        (["inspect"], ["SAVEPOINT", "statelift inspect --help"]),
        (["frobnicate"], ["frobnicate", "statelift --help"]),
        (["inspect", "{good}", "--frob"], ["--frob"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input(run: Any, places: dict[str, Path], args: list[str], says: list[str]) -> None:
    before = sorted(places["tmp"].rglob("*"))
    done = run(*(arg.format(**places) if "{" in arg else arg for arg in args))
    assert done.exit_code == 2, done.output
    [line] = done.stderr.splitlines()
    assert line.startswith("statelift: ")
    for text in says:
        assert text in line
    assert done.stdout == ""
    assert sorted(places["tmp"].rglob("*")) == before


@pytest.mark.usefixtures("aws_environment")
def test_a_bucket_that_is_missing(run: Any, moto_endpoint: str) -> None:
    done = run("inspect", "s3://no-such-bucket/sp", "--endpoint-url", moto_endpoint)
    assert done.exit_code == 2
    [line] = done.stderr.splitlines()
    assert "no-such-bucket" in line


def test_what_nobody_foresaw_is_one_line_too(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from statelift.state_ops import snapshot

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a\nb")

    monkeypatch.setattr(snapshot, "open_snapshot", fail)
    done = run("inspect", GOOD)
    assert done.exit_code == 2
    assert done.stderr == "statelift: unexpected RuntimeError: a b; STATELIFT_TRACEBACK=1 shows where\n"


def test_an_interrupt(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from statelift.state_ops import snapshot

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(snapshot, "open_snapshot", interrupt)
    done = run("inspect", GOOD)
    assert done.exit_code == 130
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    "command", [(), *((name,) for name in COMMANDS)], ids=lambda args: " ".join(args) or "statelift"
)
def test_help_teaches_by_example(run: Any, command: tuple[str, ...]) -> None:
    done = run(*command, "--help")
    assert done.exit_code == 0
    example = f"statelift {command[0]}" if command else "statelift inspect"
    assert example in done.stdout.partition("\n")[2]


def test_no_arguments_show_the_help(run: Any) -> None:
    done = run()
    assert done.exit_code == 2
    for name, text in COMMANDS.items():
        assert name in done.stderr
        assert text in done.stderr
