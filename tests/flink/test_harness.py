"""The harness against itself: what real Flink restores from a savepoint of its own is what the job's model says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .compare import assert_same_content, edited, users_repaired, without
from .flink import Contents, FlinkFailure, FlinkHarness, Restore

pytestmark = pytest.mark.flink

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

# A native savepoint is bound to its backend; a canonical one restores on either.
BACKENDS = {
    "hashmap-canonical": ("hashmap", "rocksdb"),
    "hashmap-native": ("hashmap",),
    "rocksdb-canonical": ("rocksdb", "hashmap"),
    "rocksdb-native": ("rocksdb",),
}


def golden(version: str, variant: str) -> tuple[Path, Contents]:
    folder = GOLDEN / version / variant
    return folder / "savepoint", json.loads((folder / "expected.json").read_text())


@pytest.mark.parametrize("variant", BACKENDS)
def test_golden_savepoints_restore_to_their_expected_contents(flink: FlinkHarness, variant: str) -> None:
    savepoint, expected = golden(flink.version, variant)
    restores = [
        Restore(snapshot=savepoint, backend=backend, parallelism=parallelism)
        for backend in BACKENDS[variant]
        for parallelism in (1, 2, 4)
    ]
    for found in flink.restore(restores):
        assert_same_content(expected, found, same_parallelism=False)


def test_a_restore_as_wide_as_the_write_finds_each_list_element_at_its_place(flink: FlinkHarness) -> None:
    savepoint, expected = golden(flink.version, "rocksdb-native")
    as_written = Restore(snapshot=savepoint, backend="rocksdb", parallelism=2, sink_parallelism=3)
    [found] = flink.restore([as_written])
    assert_same_content(expected, found, same_parallelism=True)


def test_the_newer_flink_restores_what_the_older_wrote(flink: FlinkHarness) -> None:
    savepoint, expected = golden("1.20.5", "rocksdb-canonical")
    [found] = flink.restore([Restore(snapshot=savepoint, backend="rocksdb", parallelism=2)])
    assert_same_content(expected, found, same_parallelism=False)


@pytest.mark.parametrize(
    ("backend", "format", "config"),
    [
        ("hashmap", "canonical", {"execution.checkpointing.snapshot-compression": "true"}),
        ("rocksdb", "native", {"execution.checkpointing.data-inline-threshold": "0"}),
        ("rocksdb", "checkpoint", {}),
        ("hashmap", "checkpoint", {"execution.checkpointing.file-merging.enabled": "true"}),
        (
            "hashmap",
            "checkpoint",
            {"state.changelog.enabled": "true", "state.changelog.storage": "filesystem"},
        ),
    ],
)
def test_snapshots_of_other_kinds_restore_too(
    flink: FlinkHarness, tmp_path: Path, backend: str, format: str, config: dict[str, str]
) -> None:
    if "state.changelog.enabled" in config:
        config = {**config, "dstl.dfs.base-path": (tmp_path / "changelog").as_uri()}
    written = flink.write(tmp_path, backend=backend, format=format, keys=25, config=config)
    [found] = flink.restore([Restore(snapshot=written.path, backend=backend, parallelism=2)])
    assert_same_content(written.expected, found, same_parallelism=False)


@pytest.mark.corpus
def test_snapshots_that_other_releases_wrote_restore_to_their_known_contents(
    flink: FlinkHarness, corpus: Path
) -> None:
    """The comparison against contents that this harness had no part in."""
    for entry in known_savepoints(
        corpus, {"1.20.5": ("1.16.3", "1.20.5"), "2.3.0": ("1.20.5", "2.0.2")}[flink.version]
    ):
        expected = json.loads((entry / "expected.json").read_text())
        [savepoint] = entry.glob("savepoint-*")
        restore = Restore(
            snapshot=savepoint,
            backend="rocksdb" if "rocksdb" in entry.name else "hashmap",
            parallelism=expected["parallelism"],
            sink_parallelism=3,
            max_parallelism=expected["max_parallelism"],
        )
        [found] = flink.restore([restore])
        assert_same_content(expected, without(found, "gen-source"), same_parallelism=True)


def known_savepoints(corpus: Path, releases: tuple[str, ...]) -> list[Path]:
    found = [
        entry
        for release in releases
        for entry in sorted((corpus / "known" / release).glob("scenario-*"))
        if "forst" not in entry.name and any(entry.glob("savepoint-*"))
    ]
    assert found
    return found


def test_a_missing_timer_and_a_wrong_value_are_told(flink: FlinkHarness) -> None:
    savepoint, expected = golden(flink.version, "hashmap-native")
    [found] = flink.restore([Restore(snapshot=savepoint, backend="hashmap", parallelism=1)])
    timers = ("session-tracker", "timers", "user-timers/event")
    fewer = edited(expected, timers, lambda e: None if e["key"] == "user-7" else e)
    with pytest.raises(AssertionError, match=r"session-tracker / fired / .*60 found.*too many: .*user-7"):
        assert_same_content(fewer, found, same_parallelism=False)
    with pytest.raises(
        AssertionError, match=r"session-tracker / keyed / user-state: 60 expected, 60 found; 6 missing"
    ):
        assert_same_content(users_repaired(expected), found, same_parallelism=False)


def test_a_snapshot_that_flink_cannot_read_fails_with_its_reason(flink: FlinkHarness, tmp_path: Path) -> None:
    (tmp_path / "_metadata").write_bytes(b"not a savepoint")
    with pytest.raises(FlinkFailure, match=r"(?i)unexpected magic number"):
        flink.restore([Restore(snapshot=tmp_path, backend="hashmap", parallelism=1)])
