"""Fixtures shared by all floors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"

# Property tests: quick by default, HYPOTHESIS_PROFILE=long for a search worth a coffee.
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("quick", max_examples=60, deadline=None, derandomize=True, suppress_health_check=_SLOW)
settings.register_profile("long", max_examples=5000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of snapshots that Flink wrote, beside the checkout; tests that need it skip where it is not."""
    if not CORPUS.is_dir():
        pytest.skip(f"the corpus of Flink-written snapshots is not at {CORPUS}")
    return CORPUS
