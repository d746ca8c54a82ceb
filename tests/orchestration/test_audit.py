"""The audit's page."""

from __future__ import annotations

from pathlib import Path

import statelift
from statelift.orchestration.audit import audit_metadata
from statelift.state_ops.inventory import inventory

from ..changelog_snapshot import changelog_snapshot


def test_how_a_changelog_was_read_is_on_the_page(tmp_path: Path) -> None:
    snapshot = statelift.open(str(changelog_snapshot(tmp_path / "snapshot")))
    page = audit_metadata(inventory(snapshot))["statelift/audit"].value
    assert "### Remarks" in page
    assert "the changelog names no key type" in page
