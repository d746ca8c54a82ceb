"""Files that a plan does not name are copied whole: a handle's own size may say less than its file holds."""

from __future__ import annotations

from pathlib import Path

from statelift.io.metadata import RelativeFileStateHandle, streams
from statelift.io.stores import Stores
from statelift.state_ops.apply import apply
from statelift.state_ops.checks import digests_of
from statelift.state_ops.plan import Plan
from statelift.state_ops.snapshot import open_snapshot


def test_a_changelog_that_is_carried_over_reads_the_same(corpus: Path, tmp_path: Path) -> None:
    folder = corpus / "known" / "1.20.5" / "collections-changelog-hashmap-chk-dstl"
    [metadata] = folder.rglob("_metadata")
    apply(Plan.of({"source": str(metadata), "target": str(tmp_path / "copy")}))
    source, copy = open_snapshot(str(metadata)), open_snapshot(str(tmp_path / "copy"))
    for operator in source.operators:
        names = [state.name for state in operator.states]
        assert digests_of(copy.operator(operator.label), names) == digests_of(operator, names)
    assert any(operator.states for operator in source.operators)
    for use in streams(copy.metadata):
        if isinstance(use.handle, RelativeFileStateHandle):
            assert Stores().size(str(tmp_path / "copy" / use.handle.relative_path)) >= use.handle.state_size
