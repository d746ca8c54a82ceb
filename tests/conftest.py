"""Fixtures shared by all floors, and how long property tests look."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"

settings.register_profile("quick", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", deadline=None, max_examples=3000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of snapshots that Flink wrote, beside the checkout; tests that need it skip where it is not."""
    if not CORPUS.is_dir():
        pytest.skip(f"the corpus of Flink-written snapshots is not at {CORPUS}")
    return CORPUS
