"""What a person sees of the demo's run in Dagster's UI.

``STATELIFT_PICTURE`` names a file for the picture of the audit, as ``docs/audit.png`` is made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright
from statelift.orchestration.demo import demo_run
from statelift.orchestration.webserver import webserver

pytestmark = pytest.mark.browser

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: The code location is loaded at the first look; milliseconds.
PATIENCE = 120_000


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The UI on a run of the demo."""
    if not CHROMIUM.exists() and not os.environ.get("STATELIFT_REQUIRE_BROWSER"):
        pytest.skip(f"no Chromium at {CHROMIUM}: apt-get install chromium chromium-driver")
    with demo_run(lasting=True) as run, webserver(run.home, run.plans) as url:
        assert run.result.success
        yield url


@pytest.fixture(scope="module")
def page(url: str) -> Iterator[Page]:
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser.new_page(viewport={"width": 1600, "height": 1100}, base_url=url)
        browser.close()


def test_the_asset_graph_shows_source_audit_and_new_savepoint(page: Page) -> None:
    page.goto("/asset-groups")
    for name in ("source_savepoint", "audit", "new_savepoint"):
        expect(page.get_by_text(name, exact=True).first).to_be_visible()
    expect(page.get_by_text("6 / 6 Passed")).to_be_visible()
    expect(page.get_by_text("Observed")).to_be_visible()


def test_the_audit_is_a_table_that_can_be_read(page: Page, tmp_path: Path) -> None:
    page.goto("/assets/fraud_repair/audit")
    expect(page.get_by_text("statelift/states")).to_be_visible()
    expect(page.get_by_role("cell", name="buffered-elements").first).to_be_attached()
    page.get_by_text("Show Markdown").first.click()
    dialog = page.get_by_role("dialog")
    row = dialog.get_by_role("row").filter(has_text="user-state")
    expect(row).to_contain_text("2,140")
    expect(row).to_contain_text("lastSeenTimestamp: long")
    page.wait_for_timeout(1000)  # the dialog moves in
    picture = Path(os.environ.get("STATELIFT_PICTURE") or tmp_path / "audit.png")
    page.screenshot(path=picture)
    assert picture.stat().st_size > 20_000


def test_the_checks_are_green(page: Page) -> None:
    page.goto("/assets/fraud_repair/new_savepoint?view=checks")
    expect(page.get_by_text("Succeeded")).to_have_count(6)
    for name in ("reads_back", "content", "key_groups", "carried_over", "no_negative_timestamps"):
        expect(page.get_by_text(name, exact=True).first).to_be_visible()


def test_the_new_savepoint_tells_what_was_changed(page: Page) -> None:
    page.goto("/assets/fraud_repair/new_savepoint")
    page.get_by_text("Show Markdown").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Before and after")).to_be_visible()
    expect(dialog.get_by_text("-1700000000000")).to_be_visible()
