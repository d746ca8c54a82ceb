"""The savepoint that the tests of this floor run plans on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .runs import GOLDEN


@pytest.fixture(scope="session")
def golden() -> Path:
    """The savepoint on the heap that Flink 2.3.0 wrote, with ``expected.json`` beside it."""
    return GOLDEN / "hashmap-native" / "savepoint"


@pytest.fixture(scope="session")
def expected(golden: Path) -> dict[str, Any]:
    """What Flink's job put into the savepoint: operators by uid."""
    operators: dict[str, Any] = json.loads((golden.parent / "expected.json").read_text())["operators"]
    return operators
