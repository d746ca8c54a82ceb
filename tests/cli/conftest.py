"""The command as the tests of this floor run it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result
from statelift.cli.main import main

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Runs ``statelift`` with these arguments, in this process; not on a terminal."""
    return lambda *args: CliRunner().invoke(main, [str(arg) for arg in args])
