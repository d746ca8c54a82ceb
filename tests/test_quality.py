"""The project's own rules: style, layers, types."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent


def run(*command: str, cwd: Path = ROOT, **env: str) -> None:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


def test_ruff_finds_nothing() -> None:
    run(str(BIN / "ruff"), "check", ".")


def test_the_code_is_formatted() -> None:
    run(str(BIN / "ruff"), "format", "--check", ".")


def test_a_floor_imports_only_from_floors_below_it() -> None:
    run(str(BIN / "lint-imports"))


def test_types_hold(tmp_path: Path) -> None:
    """mypy does not follow the editable install's mapping; a link named as the package shows it the way."""
    (tmp_path / "statelift").symlink_to(ROOT)
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache")]
    packages = [f"-pstatelift.{name}" for name in ("schemas", "io", "state_ops", "orchestration", "cli")]
    run(str(BIN / "mypy"), *options, *packages, cwd=tmp_path, MYPYPATH=str(tmp_path))
