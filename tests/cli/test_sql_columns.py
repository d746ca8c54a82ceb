"""``--sql-plan``: the columns of SQL state by their names, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_a_compiled_plan_names_columns_and_operators(run: Any, corpus: Path) -> None:
    folder = corpus / "sql-restore" / "stream-exec-deduplicate_1" / "deduplicate-desc"
    plan = folder / "plan" / "deduplicate-desc.json"
    done = run("inspect", folder / "savepoint", "--sql-plan", plan)
    assert done.exit_code == 0
    assert "order_id: long, user: string_data, product: string_data" in done.stdout.replace("\n", "")
    (uid,) = [line.split()[0] for line in done.stdout.splitlines() if "_deduplicate" in line]
    arguments = ["--uid", uid, "--state", "deduplicate-state"]
    done = run("read", folder / "savepoint", *arguments, "--sql-plan", plan)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows
    assert all(row["value"]["product"] == row["key"]["product"] for row in rows)
