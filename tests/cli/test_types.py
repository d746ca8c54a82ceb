"""``--types``: classes that the snapshot does not describe, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ..state_ops.test_known import TYPES

pytestmark = pytest.mark.corpus


def source(corpus: Path) -> str:
    (metadata,) = (corpus / "known" / "2.0.2" / "types-hashmap-canonical").rglob("_metadata")
    return str(metadata.parent)


def values(run: Any, *arguments: str) -> dict[str, dict[str, Any]]:
    done = run("read", *arguments)
    assert done.exit_code == 0, done.stderr
    return {row["key"]: row for row in map(json.loads, done.stdout.splitlines())}


def test_what_is_not_declared_is_undecoded_and_said(run: Any, corpus: Path, tmp_path: Path) -> None:
    arguments = [source(corpus), "--uid", "types", "--state", "v-pojo-sub"]
    rows = values(run, *arguments)
    undecoded = {key for key, row in rows.items() if row["value"] is None}
    assert undecoded
    assert all(("undecoded" in rows[key]) == (key in undecoded) for key in rows)
    said = " ".join(run("inspect", source(corpus), "--uid", "types").stdout.split())
    assert (
        f"not decoded: v-pojo-sub of types: {len(undecoded)} values are only bytes, in the column undecoded: a"
        in said
    )
    assert "not in the snapshot: org.example.lab.M$SubUnregistered; declare which class it extends" in said

    file = tmp_path / "classes.yaml"
    file.write_text(json.dumps(TYPES))
    declared = values(run, *arguments, "--types", str(file))
    assert {declared[key]["value"]["__class"] for key in undecoded} == {"org.example.lab.M$SubUnregistered"}
    assert (
        "v-pojo-sub of types: "
        not in run("inspect", source(corpus), "--uid", "types", "--types", str(file)).stdout
    )


def test_a_class_of_kryos_is_columns_where_it_is_declared(run: Any, corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "classes.yaml"
    file.write_text(json.dumps(TYPES))
    query = """SELECT value.left, value.many FROM "types"."v-kryo-opaque" WHERE key = 'key-1'"""
    done = run("sql", source(corpus), query, "--types", str(file))
    assert json.loads(done.stdout) == {"left": "op1", "many": [1, 2]}


def test_a_file_that_is_not_understood_is_named(run: Any, corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "classes.yaml"
    file.write_text("com.acme.A: {fields: {a: strin}}")
    done = run("inspect", source(corpus), "--types", str(file))
    assert done.exit_code == 2
    assert "classes.yaml" in done.stderr
