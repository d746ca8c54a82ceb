"""Real Flink as a fixture, and the skip where it cannot run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .flink import VERSIONS, FlinkHarness, missing_tools, unavailable


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked `flink` are skipped where Java or Maven is missing; with STATELIFT_REQUIRE_FLINK=1 they fail."""
    if item.get_closest_marker("flink") and (missing := missing_tools()):
        unavailable(missing)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out tests marked `only_flink` under other versions than theirs."""
    others = [
        item
        for item in items
        if (only := item.get_closest_marker("only_flink")) and _version(item) not in only.args
    ]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]


def _version(item: pytest.Item) -> object:
    return item.callspec.params["flink"] if isinstance(item, pytest.Function) else None


@pytest.fixture(scope="session", params=VERSIONS)
def flink(request: pytest.FixtureRequest) -> Iterator[FlinkHarness]:
    """A running harness, for each version in turn."""
    with FlinkHarness(request.param) as harness:
        yield harness
