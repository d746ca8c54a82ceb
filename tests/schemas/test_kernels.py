"""Compiled kernels are kept from one process to the next, and no longer than the code they are made of."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest
from numba.core.dispatcher import Dispatcher
from statelift.schemas.kernels import sources

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(p for floor in ("schemas", "io", "state_ops") for p in (ROOT / floor).rglob("*.py"))
KEPT = [path for path in MODULES if "@kernel(" in path.read_text()]

CALLER = """
from statelift.schemas.kernels import kernel
from .parts import callee, constants

@kernel("int64(int64)")
def run(x):
    return callee.step(x) + constants.ADDED
"""
CALLEE = "from numba import njit\n\n@njit\ndef step(x):\n    return x * {factor}\n"
RUN = "from made.caller import run\nprint(run(10), sum(run.stats.cache_hits.values()))"


class Made:
    """A package with a kernel that calls a function and names a constant of other files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "made/parts").mkdir(parents=True)
        for name in ("made/__init__.py", "made/parts/__init__.py"):
            (folder / name).touch()
        (folder / "made/caller.py").write_text(CALLER)
        self.write(factor=2, added=1)

    def write(self, *, factor: int, added: int) -> None:
        (self.folder / "made/parts/callee.py").write_text(CALLEE.format(factor=factor))
        (self.folder / "made/parts/constants.py").write_text(f"ADDED = {added}\n")

    def run(self, before: str = "") -> tuple[int, bool]:
        """What the kernel answers to 10 in a new process, and whether that process found it compiled."""
        paths = os.pathsep.join([str(self.folder), *filter(None, sys.path)])
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", before + RUN], env=environment, capture_output=True, text=True, check=True
        )
        result, hits = map(int, done.stdout.split())
        return result, hits == 1


def test_an_upgrade_of_what_a_kernel_calls_or_names_runs_at_once(tmp_path: Path) -> None:
    """numba by itself would give the old answer each time: it looks at the file of the kernel alone."""
    made = Made(tmp_path)
    assert made.run() == (21, False)
    assert made.run() == (21, True)
    made.write(factor=3, added=1)
    assert made.run() == (31, False)
    made.write(factor=3, added=5)
    assert made.run() == (35, False)
    made.write(factor=2, added=1)
    assert made.run() == (21, True)  # what was kept is found again, as after going back to another branch


def test_what_is_compiled_while_its_files_are_replaced_is_not_kept(tmp_path: Path) -> None:
    made = Made(tmp_path)
    callee = tmp_path / "made/parts/callee.py"
    replaced = "import made.parts.callee, pathlib, statelift.schemas.kernels\n"
    replaced += f"pathlib.Path({str(callee)!r}).write_text({CALLEE.format(factor=3)!r})\n"
    assert made.run(replaced) == (21, False)
    assert made.run() == (31, False)


def test_all_kept_kernels_are_kept_so() -> None:
    assert [path for path in MODULES if "cache=True" in path.read_text()] == []


def compiled_in(function: FunctionType) -> Iterator[FunctionType]:
    """``function`` and what it calls of ours, from one function to the next."""
    seen: set[FunctionType] = set()
    todo = [function]
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        yield one
        named = [one.__globals__.get(name) for name in one.__code__.co_names]
        todo += [value.py_func for value in named if isinstance(value, Dispatcher)]
        intrinsics = [getattr(value, "_defn", None) for value in named]
        todo += [value for value in intrinsics if isinstance(value, FunctionType)]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_the_sources_of_a_kernel_are_those_of_all_that_is_compiled_in(path: Path) -> None:
    name = ".".join(("statelift", *path.relative_to(ROOT).with_suffix("").parts))
    module = importlib.import_module(name)
    kernels = [one for one in vars(module).values() if isinstance(one, Dispatcher)]
    assert kernels
    files = {Path(part.__code__.co_filename) for one in kernels for part in compiled_in(one.py_func)}
    ours = {file for file in files if "site-packages" not in file.parts}
    assert ours <= sources(Path(str(module.__file__)))
