"""Kernels that are kept compiled from one process to the next, for as long as all they are made of is the same.

numba keeps what it compiled beside the file of the function, and takes it again while that one file is as it was. But a
kernel has in it the functions that it calls and the constants that it names, of other files too: after an upgrade that
changed only those it would run as before. So the name under which a kernel is kept has a digest of every file
that it can be made of: its own, and those that this one imports, from one to the next.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit

_BEGUN = time.time()
_RELATIVE_IMPORT = re.compile(r"^from (\.+)([\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)


def kernel(signature: Any = None, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``njit`` of ``signature`` (without one: of what it is called with), without the GIL, kept on disk."""

    def compiled(function: Callable[..., Any]) -> Any:
        # numba makes the name of the file of the qualified name, wherever that file is to lie. What follows the last
        # dot stays: by it a function calls itself.
        module = Path(function.__code__.co_filename)
        function.__qualname__ = f"{digest(module)}.{function.__qualname__}"
        return njit(signature, cache=are_loaded(sources(module)), nogil=True, **options)(function)

    return compiled


def are_loaded(files: Iterable[Path]) -> bool:
    """Whether the files are still what this process runs: one changed since it began has another digest than that."""
    return all(max(stat.st_mtime, stat.st_ctime) < _BEGUN for stat in (path.stat() for path in files))


@cache
def digest(module: Path) -> str:
    """Of the sources that ``module`` is made of, 16 hexadecimal digits."""
    whole = hashlib.sha256()
    for path in sorted(sources(module)):
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:16]


def sources(module: Path) -> set[Path]:
    """``module`` and the files of its package that it imports when it is imported itself, and those that they do."""
    found: set[Path] = set()
    todo = [module]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo += _imported(path)
    return found


@cache
def _imported(module: Path) -> list[Path]:
    """What ``from .a import b`` reads: ``a`` or the package ``a``, and ``b`` where that is a module itself."""
    found = []
    for dots, name, names in _RELATIVE_IMPORT.findall(module.read_text()):
        base = module.parents[len(dots) - 1].joinpath(*name.split("."))
        places = [base, *(base / word for word in re.findall(r"\w+", names))]
        files = [path for place in places for path in (place.with_suffix(".py"), place / "__init__.py")]
        found += [path for path in files if path.is_file()]
    return found
