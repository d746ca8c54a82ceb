"""The end of a job: parts joined, carried files copied, and ``_metadata`` last, which alone makes the snapshot."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from ..io.keyed.backend import KeyedBackend
from ..io.keyed.header import KeyedBackendHeader
from ..io.metadata import (
    NULL_PROPERTIES,
    ByteStreamStateHandle,
    HandleAndLocalPath,
    IncrementalRemoteKeyedStateHandle,
    KeyedStateHandle,
    KeyGroupsSavepointStateHandle,
    Metadata,
    OperatorState,
    RelativeFileStateHandle,
    SubtaskState,
    at_version,
    streams,
    write_metadata,
)
from ..io.sst.directory_writer import write_database_files
from ..io.stores import StoreWriter
from ..schemas.errors import StoreError
from .carry import carry, copy_all
from .commit_elements import INLINE_BYTES, with_new_elements
from .job import Job, OperatorWork, Shard
from .report import Report, make_report
from .results import ShardResult, UnitResult
from .run_shard import RECORDS, base_name, column_families, header_bytes
from .snapshot import metadata_url

#: The tag of IncrementalRemoteKeyedStateHandle V2, written since Flink 1.15.
_INCREMENTAL_TAG = 11
#: The oldest version that Flink 1.11 and later write; version 2 has no place for what is written here.
_OLDEST_VERSION = 3


def commit(job: Job, shards: Sequence[Shard], results: Iterable[ShardResult]) -> Report:
    """Make the snapshot exist. All shards have been run. Returns what was done.

    A snapshot that stands at the target is whole until the new ``_metadata`` takes the place of its own; then its
    files go, and so does what killed runs left.
    """
    finished = sorted(results, key=lambda result: result.number)
    if [result.number for result in finished] != [shard.number for shard in shards]:
        raise ValueError(f"{len(finished)} results of {len(shards)} shards")
    units: dict[tuple[str, int], list[UnitResult]] = {}
    for result in finished:
        for unit in result.units:
            units.setdefault((unit.operator, unit.subtask), []).append(unit)
    rewritten = frozenset((bytes.fromhex(operator), subtask) for operator, subtask in units)
    metadata = _with_new_handles(job, units)
    metadata, elements = with_new_elements(job, metadata)
    metadata, carried = carry(job, metadata, rewritten, frozenset(job.elements))
    copy_all(job, carried)
    data = write_metadata(metadata)
    job.stores.put(metadata_url(job.target), data)
    leftover = job.written | {job.file(name) for name in job.replaces}
    job.written.clear()  # from here on the files are the snapshot's, whatever fails
    leftover.update(_left_of_runs(job))
    job.stores.delete(sorted(leftover - {job.file(name) for name in _names(metadata)}))
    return make_report(job, finished, elements, carried, metadata)


def _left_of_runs(job: Job) -> Iterator[str]:
    """The records of finished shards, of this run and of those that were killed, and the files they name."""
    for info in list(job.stores.list(job.file(RECORDS))):
        yield info.url
        with suppress(StoreError, ValueError):
            for unit in ShardResult.model_validate_json(job.stores.read(info.url)).units:
                yield from map(job.file, unit.files())


def _names(metadata: Metadata) -> set[str]:
    return {
        use.handle.relative_path
        for use in streams(metadata)
        if isinstance(use.handle, RelativeFileStateHandle)
    }


def _with_new_handles(job: Job, units: dict[tuple[str, int], list[UnitResult]]) -> Metadata:
    metadata = job.snapshot.metadata
    operators = []
    for state in metadata.operator_states:
        work = job.work.get(state.uid_hash)
        operators.append(_operator(job, work, state, units) if work else state)
    metadata = replace(metadata, operator_states=tuple(operators))
    if metadata.version < _OLDEST_VERSION:
        metadata = at_version(metadata, _OLDEST_VERSION)
    if metadata.properties and any(_changes_format(work) for work in job.work.values()):
        # They say which format the savepoint has; Flink restores without them (spec 2.9).
        metadata = replace(metadata, properties=NULL_PROPERTIES)
    return metadata


def _changes_format(work: OperatorWork) -> bool:
    return any(backend.format != work.format for backend in work.operator.keyed_backends.values())


def _operator(
    job: Job, work: OperatorWork, state: OperatorState, units: dict[tuple[str, int], list[UnitResult]]
) -> OperatorState:
    def subtask(old: SubtaskState) -> SubtaskState:
        backend = work.operator.keyed_backends.get(old.subtask_index)
        if backend is None:
            return old
        pieces = sorted(units[work.operator.id, old.subtask_index], key=lambda unit: unit.piece)
        make = _canonical_handle if work.format == "canonical" else _rocksdb_handle
        return replace(old, managed_keyed_state=make(job, backend, old.subtask_index, pieces))

    return replace(state, subtask_states=tuple(map(subtask, state.subtask_states)))


def _canonical_handle(
    job: Job, backend: KeyedBackend, subtask: int, pieces: Sequence[UnitResult]
) -> KeyedStateHandle:
    name = pieces[0].name
    offsets: dict[int, int] = {}
    size = 0
    if len(pieces) > 1:
        name = base_name(job, pieces[0].operator, subtask)
        head = job.file(name + ".head")
        header = header_bytes(_header(backend))
        job.written.update((head, job.file(name)))
        job.stores.put(head, header)
        size = len(header)
        job.stores.compose(job.file(name), [head, *(job.file(piece.name) for piece in pieces)])
    for piece in pieces:
        offsets |= {key_group: offset + size for key_group, offset in piece.offsets.items()}
        size += piece.size
    return KeyGroupsSavepointStateHandle(
        key_group_range=backend.key_groups,
        offsets=tuple(offsets.get(key_group, 0) for key_group in backend.key_groups),
        stream=RelativeFileStateHandle(relative_path=name, state_size=size),
    )


def _rocksdb_handle(
    job: Job, backend: KeyedBackend, subtask: int, pieces: Sequence[UnitResult]
) -> KeyedStateHandle:
    operator = pieces[0].operator
    base = base_name(job, operator, subtask)
    header = _header(backend)

    def open_file(local: str) -> StoreWriter:
        url = job.file(f"{base}-{local}")
        job.written.add(url)
        return job.stores.open_write(url)

    names = {file.info().name: piece.sst_name(file) for piece in pieces for file in piece.sst_files}

    infos = [file.info() for piece in pieces for file in piece.sst_files]
    files = write_database_files(open_file, list(column_families(header).values()), infos)
    meta = header_bytes(header)
    meta_name = f"{base}-meta"
    identity = uuid.uuid5(uuid.NAMESPACE_URL, f"{job.target}/{operator}/{subtask}")
    handle: ByteStreamStateHandle | RelativeFileStateHandle
    if len(meta) <= INLINE_BYTES:
        handle = ByteStreamStateHandle(handle_name=meta_name, data=meta)
    else:
        job.written.add(job.file(meta_name))
        job.stores.put(job.file(meta_name), meta)
        handle = RelativeFileStateHandle(relative_path=meta_name, state_size=len(meta))
    return IncrementalRemoteKeyedStateHandle(
        tag=_INCREMENTAL_TAG,
        checkpoint_id=job.snapshot.checkpoint_id,
        backend_identifier=str(identity),
        key_group_range=backend.key_groups,
        persisted_size_of_this_checkpoint=sum(size for _, size in files) + len(meta),
        meta_state_handle=handle,
        shared_state=(),
        private_state=tuple(
            HandleAndLocalPath(
                local_path=local,
                handle=RelativeFileStateHandle(
                    relative_path=names.get(local, f"{base}-{local}"), state_size=size
                ),
            )
            for local, size in files
        ),
        state_handle_id=str(identity),
    )


def _header(backend: KeyedBackend) -> KeyedBackendHeader:
    if not isinstance(backend.header, KeyedBackendHeader):
        raise backend.header.reason
    return backend.header
