"""Every kind of snapshot that real Flink writes reads as the job's own model says, state by state, entry by entry.

The job (Churn) overwrites, clears, removes and adds again over several rounds, with a checkpoint after each, so that
RocksDB's files and the changelogs hold much that is no longer so. Each kind is also shown to be what its name says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import statelift
from click.testing import CliRunner
from statelift.cli.main import main
from statelift.io.keyed.backend import KeyedBackend
from statelift.io.metadata import (
    ByteStreamStateHandle,
    ChangelogStateBackendHandle,
    ChangelogStateHandleStreamImpl,
    InMemoryChangelogStateHandle,
    SegmentFileStateHandle,
    StreamKind,
    SubtaskState,
    streams,
)
from statelift.io.sst.manifest_read import read_manifest
from statelift.io.sst.table import SstTable
from statelift.state_ops.snapshot import Snapshot
from statelift.state_ops.verify import verify

from ..state_ops.sections import compare_operator
from .flink import Contents, FlinkHarness, Written

pytestmark = pytest.mark.flink

KEYS, ROUNDS = 120, 4
Shows = Callable[[Snapshot], bool]


def differences(path: Path, expected: Contents, **options: object) -> list[str]:
    """What the snapshot at ``path`` holds otherwise than it should, over all operators and states."""
    snapshot = statelift.open(str(path), uids=expected["operators"], **options)  # type: ignore[arg-type]
    opaque: set[str] = set()
    found = [
        one
        for uid, sections in expected["operators"].items()
        for one in compare_operator(snapshot.operator(uid), uid, sections, opaque)
    ]
    assert not opaque
    return found


# -- what shows that a snapshot is of its kind ---------------------------------------------------------------------


def backends(snapshot: Snapshot) -> Iterator[KeyedBackend]:
    for operator in snapshot.operators:
        yield from operator.keyed_backends.values()


def tables(snapshot: Snapshot) -> Iterator[list[SstTable]]:
    """The files of each column family of each subtask."""
    for backend in backends(snapshot):
        yield from backend.families().values()


def is_of(form: str) -> Shows:
    return lambda snapshot: {backend.format for backend in backends(snapshot)} == {form}


def has_files(count: int) -> Shows:
    """Several files of one state, of several checkpoints or levels."""
    return lambda snapshot: max(map(len, tables(snapshot))) >= count


def has_levels(count: int) -> Shows:
    return lambda snapshot: len(levels(snapshot)) >= count


def levels(snapshot: Snapshot) -> set[int]:
    """The levels at which the MANIFESTs have files."""
    manifests = (
        read_manifest(file.read(0, file.size), name)
        for backend in backends(snapshot)
        for name, file in backend.files.items()
        if name.startswith("MANIFEST-")
    )
    return {file.level for one in manifests for family in one.column_families for file in family.files}


def has_deletions(snapshot: Snapshot) -> bool:
    return sum(table.properties.num_deletions for family in tables(snapshot) for table in family) > 100


def is_compressed(snapshot: Snapshot) -> bool:
    return all(backend.header.compressed for backend in backends(snapshot))


def has_key_group_prefix_of(size: int) -> Shows:
    return lambda snapshot: all((1 if b.max_parallelism <= 128 else 2) == size for b in backends(snapshot))


def is_inline(snapshot: Snapshot) -> bool:
    return all(isinstance(use.handle, ByteStreamStateHandle) for use in streams(snapshot.metadata))


def is_merged(snapshot: Snapshot) -> bool:
    keyed = [use for use in streams(snapshot.metadata) if use.kind == StreamKind.MANAGED_KEYED]
    return any(isinstance(use.handle, SegmentFileStateHandle) for use in keyed)


def subtasks(snapshot: Snapshot) -> Iterator[SubtaskState]:
    for operator in snapshot.operators:
        yield from operator.meta.subtask_states


def changelogs(snapshot: Snapshot) -> list[ChangelogStateBackendHandle]:
    handles = (subtask.managed_keyed_state for subtask in subtasks(snapshot))
    return [handle for handle in handles if isinstance(handle, ChangelogStateBackendHandle)]


def has_changes_in(kind: type) -> Shows:
    return lambda snapshot: any(
        isinstance(one, kind) for changelog in changelogs(snapshot) for one in changelog.non_materialized
    )


def is_materialized(snapshot: Snapshot) -> bool:
    return any(changelog.materialized for changelog in changelogs(snapshot))


def has_raw_timers(snapshot: Snapshot) -> bool:
    return any(operator.raw_timers for operator in snapshot.operators)


def has_partitioned_index(snapshot: Snapshot) -> bool:
    return any(table.properties.index_type == 2 for family in tables(snapshot) for table in family)


def is_packed_by(*names: str) -> Shows:
    return lambda snapshot: (
        {table.properties.compression for family in tables(snapshot) for table in family} == {*names}
    )


# -- the kinds -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """``shows`` are what a snapshot of the kind must show."""

    backend: str
    format: str = "checkpoint"
    config: dict[str, str] = field(default_factory=dict)
    keys: int = KEYS
    parallelism: int = 2
    max_parallelism: int = 32
    shows: tuple[Shows, ...] = ()

    def write(self, flink: FlinkHarness, folder: Path, **options: object) -> Written:
        """Changelogs lie beside the checkpoints, in ``dstl``. Files are files, however small."""
        config = {"execution.checkpointing.data-inline-threshold": "0", **self.config}
        config = {name: value.replace("{folder}", folder.as_uri()) for name, value in config.items()}
        return flink.write(
            folder / "checkpoints",
            **{
                "backend": self.backend,
                "format": self.format,
                "keys": self.keys,
                "rounds": ROUNDS,
                "parallelism": self.parallelism,
                "max_parallelism": self.max_parallelism,
                "family": "churn",
                "config": config,
                **options,
            },  # type: ignore[arg-type]
        )


INLINE = {"execution.checkpointing.data-inline-threshold": "1mb"}
"""What is smaller stands in ``_metadata``."""
COMPRESSED = {"execution.checkpointing.snapshot-compression": "true"}
MERGED = {
    "execution.checkpointing.file-merging.enabled": "true",
    "execution.checkpointing.file-merging.across-checkpoint-boundary": "true",
}
CHANGES_IN_MEMORY = {"state.changelog.enabled": "true", "state.changelog.storage": "memory"}
CHANGES_IN_FILES = {
    "state.changelog.enabled": "true",
    "state.changelog.storage": "filesystem",
    "dstl.dfs.base-path": "{folder}/dstl",
}
MATERIALIZING = {**CHANGES_IN_FILES, "state.changelog.periodic-materialize.interval": "20 ms"}
UNCOMPACTED = {"state.backend.rocksdb.compaction.style": "NONE"}
SMALL_FILES = {
    "state.backend.rocksdb.writebuffer.size": "64kb",
    "state.backend.rocksdb.compaction.level.target-file-size-base": "4kb",
    "state.backend.rocksdb.compaction.level.max-size-level-base": "16kb",
}
PARTITIONED = {
    "state.backend.rocksdb.memory.fixed-per-slot": "256mb",
    "state.backend.rocksdb.memory.partitioned-index-filters": "true",
    "state.backend.rocksdb.use-bloom-filter": "true",
    "state.backend.rocksdb.block.blocksize": "512",
    "state.backend.rocksdb.metadata.blocksize": "512",
}
PACKED = {"state.backend.rocksdb.compression.per.level": "ZSTD_COMPRESSION;LZ4_COMPRESSION"}

KINDS = {
    "hashmap-canonical": Kind(backend="hashmap", format="canonical", shows=(is_of("canonical"),)),
    "hashmap-native": Kind(backend="hashmap", format="native", shows=(is_of("hashmap"),)),
    "hashmap-checkpoint": Kind(backend="hashmap", shows=(is_of("hashmap"),)),
    "rocksdb-canonical": Kind(backend="rocksdb", format="canonical", shows=(is_of("canonical"),)),
    "rocksdb-native": Kind(backend="rocksdb", format="native", shows=(is_of("rocksdb"),)),
    "rocksdb-incremental": Kind(backend="rocksdb", shows=(is_of("rocksdb"), has_files(2))),
    "rocksdb-inline": Kind(backend="rocksdb", config=INLINE, shows=(has_files(2), is_inline)),
    "hashmap-inline": Kind(backend="hashmap", config=INLINE, shows=(is_inline,)),
    "rocksdb-uncompacted": Kind(
        backend="rocksdb", config=UNCOMPACTED, shows=(has_files(ROUNDS), has_deletions)
    ),
    "rocksdb-levels": Kind(
        backend="rocksdb", config=SMALL_FILES, keys=800, shows=(has_files(10), has_levels(3))
    ),
    "rocksdb-universal": Kind(
        backend="rocksdb",
        config={**SMALL_FILES, "state.backend.rocksdb.compaction.style": "UNIVERSAL"},
        keys=800,
        shows=(has_levels(2),),
    ),
    "rocksdb-partitioned-index": Kind(
        backend="rocksdb", format="native", config=PARTITIONED, shows=(has_partitioned_index,)
    ),
    "rocksdb-zstd": Kind(backend="rocksdb", config=PACKED, shows=(is_packed_by("ZSTD", "LZ4"),)),
    "rocksdb-heap-timers": Kind(
        backend="rocksdb",
        config={"state.backend.rocksdb.timer-service.factory": "HEAP"},
        shows=(has_raw_timers,),
    ),
    "hashmap-canonical-compressed": Kind(
        backend="hashmap", format="canonical", config=COMPRESSED, shows=(is_compressed,)
    ),
    "hashmap-checkpoint-compressed": Kind(backend="hashmap", config=COMPRESSED, shows=(is_compressed,)),
    "rocksdb-canonical-300": Kind(
        backend="rocksdb", format="canonical", max_parallelism=300, shows=(has_key_group_prefix_of(2),)
    ),
    "rocksdb-native-300": Kind(
        backend="rocksdb", format="native", max_parallelism=300, shows=(has_key_group_prefix_of(2),)
    ),
    "hashmap-checkpoint-300": Kind(
        backend="hashmap", max_parallelism=300, shows=(has_key_group_prefix_of(2),)
    ),
    "rocksdb-incremental-4": Kind(backend="rocksdb", max_parallelism=4, parallelism=3),
    "hashmap-merged": Kind(backend="hashmap", config=MERGED, shows=(is_merged,)),
    "rocksdb-merged": Kind(backend="rocksdb", config=MERGED, shows=(is_merged,)),
    "hashmap-changes-in-memory": Kind(
        backend="hashmap", config=CHANGES_IN_MEMORY, shows=(has_changes_in(InMemoryChangelogStateHandle),)
    ),
    "rocksdb-changes-in-files": Kind(
        backend="rocksdb", config=CHANGES_IN_FILES, shows=(has_changes_in(ChangelogStateHandleStreamImpl),)
    ),
    "hashmap-changes-compressed": Kind(backend="hashmap", config={**CHANGES_IN_FILES, **COMPRESSED}),
    "hashmap-materialized": Kind(backend="hashmap", config=MATERIALIZING, shows=(is_materialized,)),
    "rocksdb-materialized": Kind(backend="rocksdb", config=MATERIALIZING, shows=(is_materialized,)),
    "rocksdb-changelog-canonical": Kind(
        backend="rocksdb", format="canonical", config=CHANGES_IN_FILES, shows=(is_of("canonical"),)
    ),
}


#: Those that Flink 2 writes by the same code as 1.20 does: options of the backends that have nothing new in them.
OF_EITHER = (
    "hashmap-inline",
    "rocksdb-inline",
    "rocksdb-universal",
    "rocksdb-heap-timers",
    "hashmap-canonical-compressed",
    "rocksdb-canonical-300",
    "hashmap-checkpoint-300",
    "rocksdb-incremental-4",
    "hashmap-changes-compressed",
    "rocksdb-changelog-canonical",
)
#: Those that name files by absolute paths, each of its own sort: shared files, merged files, changelogs.
MOVED = ("rocksdb-incremental", "rocksdb-merged", "rocksdb-changes-in-files", "hashmap-materialized")


def of_one_flink(kinds: Iterable[str], version: str, only: Collection[str]) -> list[object]:
    """Parameters, of which those in ``only`` are tried with that version alone."""
    alone = pytest.mark.only_flink(version)
    return [pytest.param(kind, marks=[alone] if kind in only else []) for kind in kinds]


@pytest.mark.parametrize("kind", of_one_flink(KINDS, "1.20.5", OF_EITHER))
def test_what_flink_writes_reads_equal(flink: FlinkHarness, tmp_path: Path, kind: str) -> None:
    """Those that name files by absolute paths read equal from another place too."""
    written = KINDS[kind].write(flink, tmp_path / "here")
    assert differences(written.path, written.expected) == []
    snapshot = statelift.open(str(written.path))
    for shows in KINDS[kind].shows:
        assert shows(snapshot)
    assert not any(operator.in_flight for operator in snapshot.operators)

    if kind in MOVED:
        expected = written.expected
        (tmp_path / "here").rename(tmp_path / "moved")
        moved = tmp_path / "moved" / written.path.relative_to(tmp_path / "here")
        assert differences(moved, expected) == []


# -- restored by a wider or narrower job, which goes on ------------------------------------------------------------

CLAIMED = {"execution.state-recovery.claim-mode": "CLAIM"}
"""The new job owns the files of the old one; without, its first checkpoint is whole, which changelogs cannot."""
INGESTED = {"state.backend.rocksdb.use-ingest-db-restore-mode": "true"}
DELETED_IN_RANGE = {
    "state.backend.rocksdb.rescaling.use-delete-files-in-range": "true",
    "state.backend.rocksdb.use-ingest-db-restore-mode": "false",
}


def has_files_of_other_jobs(snapshot: Snapshot) -> bool:
    job = snapshot.url.rstrip("/").split("/")[-2]
    paths = [getattr(use.handle, "file_path", None) for use in streams(snapshot.metadata)]
    return any(path is not None and job not in path for path in paths)


RESCALED = {
    "hashmap-native": Kind(backend="hashmap", format="native"),
    "hashmap-checkpoint": Kind(backend="hashmap"),
    "rocksdb-native": Kind(backend="rocksdb", format="native"),
    "rocksdb-incremental": Kind(backend="rocksdb", config=UNCOMPACTED, shows=(has_deletions,)),
    "rocksdb-ingested": Kind(backend="rocksdb", config=INGESTED),
    "rocksdb-deleted-in-range": Kind(backend="rocksdb", config={**DELETED_IN_RANGE, **UNCOMPACTED}),
    "rocksdb-merged": Kind(backend="rocksdb", config=MERGED, shows=(is_merged,)),
    "rocksdb-300": Kind(backend="rocksdb", max_parallelism=300, format="native"),
    "hashmap-changelog": Kind(backend="hashmap", config={**CHANGES_IN_FILES, **CLAIMED}),
    "rocksdb-changelog": Kind(backend="rocksdb", config={**CHANGES_IN_FILES, **CLAIMED}),
    "rocksdb-materialized": Kind(
        backend="rocksdb", config={**MATERIALIZING, **CLAIMED}, shows=(is_materialized,)
    ),
}


#: Those of which Flink 2 does more than 1.20: another RocksDB, that cuts files and takes them in, and merged files.
RESCALED_BY_2 = {"hashmap-checkpoint", "rocksdb-incremental", "rocksdb-ingested", "rocksdb-merged"}


@pytest.mark.parametrize("kind", of_one_flink(RESCALED, "1.20.5", RESCALED.keys() - RESCALED_BY_2))
def test_what_a_rescaled_job_writes_reads_equal(flink: FlinkHarness, tmp_path: Path, kind: str) -> None:
    """From 2 subtasks to 3, which go on, and to 2 again, which do nothing but restore and take a snapshot."""
    write = RESCALED[kind].write
    first = write(flink, tmp_path, until=2)
    wider = write(flink, tmp_path, parallelism=3, resume=first.path, after=2)
    assert differences(wider.path, wider.expected) == []
    for shows in RESCALED[kind].shows:
        assert shows(statelift.open(str(wider.path)))
    if "state.changelog.enabled" not in RESCALED[kind].config:
        again = write(flink, tmp_path, parallelism=2, resume=wider.path, after=ROUNDS)
        assert differences(again.path, again.expected) == []


def test_a_changelog_rescaled_twice_reads_as_flink_restores_it(flink: FlinkHarness, tmp_path: Path) -> None:
    """Where Flink loses changes: key groups of one log come to a subtask in two handles, and it replays all of the
    log for each, so that what was newer is undone. The job then has that, and so have we."""
    write = RESCALED["hashmap-changelog"].write
    first = write(flink, tmp_path, until=2)
    wider = write(flink, tmp_path, parallelism=3, resume=first.path, after=2)
    again = write(flink, tmp_path, parallelism=2, resume=wider.path, after=ROUNDS)
    ours = sorted(differences(again.path, again.expected))
    said = [one for backend in backends(statelift.open(str(again.path))) for one in backend.remarks]
    assert any("Flink replays them again" in one for one in said)
    whole = write(flink, tmp_path, parallelism=2, resume=again.path, after=ROUNDS, format="canonical")
    assert ours == sorted(differences(whole.path, whole.expected)) != []


def test_a_job_that_claims_a_checkpoint_goes_on_with_its_files(flink: FlinkHarness, tmp_path: Path) -> None:
    kind = Kind(backend="rocksdb", config={**UNCOMPACTED, **CLAIMED})
    first = kind.write(flink, tmp_path, until=2)
    second = kind.write(flink, tmp_path, resume=first.path, after=2)
    assert has_files_of_other_jobs(statelift.open(str(second.path)))
    assert differences(second.path, second.expected) == []


def test_a_canonical_savepoint_goes_on_in_the_other_backend(flink: FlinkHarness, tmp_path: Path) -> None:
    first = KINDS["rocksdb-canonical"].write(flink, tmp_path, until=2)
    second = KINDS["hashmap-checkpoint"].write(flink, tmp_path, parallelism=3, resume=first.path, after=2)
    assert differences(second.path, second.expected) == []


# -- unaligned checkpoints -----------------------------------------------------------------------------------------

UNALIGNED = {"execution.checkpointing.unaligned.enabled": "true"}
OVERTAKEN = {
    "hashmap": Kind(backend="hashmap", config=UNALIGNED),
    "rocksdb": Kind(backend="rocksdb", config=UNALIGNED),
    "rocksdb-merged": Kind(backend="rocksdb", config={**UNALIGNED, **MERGED}, shows=(is_merged,)),
    "hashmap-changelog": Kind(backend="hashmap", config={**UNALIGNED, **CHANGES_IN_FILES}),
}


@pytest.mark.parametrize("kind", OVERTAKEN)
def test_an_unaligned_checkpoint_reads_equal_and_tells_what_was_in_flight(
    flink: FlinkHarness, tmp_path: Path, kind: str
) -> None:
    """Its barrier overtakes the records that wait for a slow operator: most of 3000, of 20 bytes or more."""
    written = OVERTAKEN[kind].write(flink, tmp_path, family="churn-flood", sink_parallelism=2)
    assert differences(written.path, written.expected) == []
    snapshot = statelift.open(str(written.path), uids=["slow", *written.expected["operators"]])
    for shows in OVERTAKEN[kind].shows:
        assert shows(snapshot)
    assert [str(finding) for finding in verify(snapshot) if finding.severity == "fault"] == []
    slow = snapshot.operator("slow").in_flight
    assert slow.inputs >= 2
    assert sum(operator.in_flight.bytes for operator in snapshot.operators) > 2000 * 20
    assert not snapshot.operator("churn").in_flight

    shown = CliRunner().invoke(main, ["inspect", str(written.path), "--uid", "slow"])
    assert f"in-flight records: {slow}" in shown.stdout
    told = CliRunner().invoke(main, ["inspect", str(written.path), "--uid", "slow", "--json"])
    [one] = [operator for operator in json.loads(told.stdout)["operators"] if operator["uid"] == "slow"]
    assert one["in_flight"] == {"inputs": slow.inputs, "outputs": slow.outputs, "bytes": slow.bytes}
