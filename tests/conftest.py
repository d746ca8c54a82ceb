"""Fixtures shared by all floors."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of snapshots that Flink wrote, beside the checkout; tests that need it skip where it is not."""
    if not CORPUS.is_dir():
        pytest.skip(f"the corpus of Flink-written snapshots is not at {CORPUS}")
    return CORPUS
