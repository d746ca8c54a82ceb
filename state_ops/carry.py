"""What a plan does not name: streams taken over byte for byte, copied inside the store where it can."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from ..io.metadata import (
    ByteStreamStateHandle,
    EmptySegmentFileStateHandle,
    FileMergingOperatorStreamStateHandle,
    FileRange,
    Metadata,
    OperatorState,
    OperatorStreamStateHandle,
    RelativeFileStateHandle,
    SegmentFileStateHandle,
    StreamStateHandle,
    StreamUse,
    SubtaskState,
    map_streams,
    resolve,
)
from ..io.stores import Stores
from .job import Job

_CHUNK_BYTES = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """One file to be copied: ``length`` bytes from ``start`` of ``source`` become the file ``name``.

    ``whole`` is True where that is all of the source file.
    """

    source: str
    start: int
    length: int
    name: str
    whole: bool


def carry(
    job: Job, metadata: Metadata, rewritten: frozenset[tuple[bytes, int]], elements: frozenset[str]
) -> tuple[Metadata, list[Carried]]:
    """The metadata with every stream that is kept in the target's folder, and what has to be copied for it.

    ``rewritten`` are the (operator id, subtask) whose managed keyed handle has new streams already; ``elements``
    the ids of operators whose managed operator handles have.
    """
    files: dict[tuple[str, int, int], Carried] = {}
    names = set(job.replaces)
    opener = job.snapshot.opener

    def place(use: StreamUse) -> StreamStateHandle:
        handle = use.handle
        if isinstance(handle, (ByteStreamStateHandle, EmptySegmentFileStateHandle)):
            return handle
        if use.kind == "managed keyed" and (use.operator.operator_id, use.subtask_index) in rewritten:
            return handle
        if use.kind == "managed operator" and use.operator.uid_hash in elements:
            return handle
        location = resolve(handle, opener.base_url, opener.path_map, job.stores.exists)
        if not isinstance(location, FileRange):
            return handle
        # Only a segment is a part of its file. A changelog's handle gives one byte less than its file has.
        segment = isinstance(handle, SegmentFileStateHandle)
        size = job.stores.size(location.url)
        stated = size if location.length is None else location.length
        length = stated if segment else size
        key = (location.url, location.start, length)
        if key not in files:
            name = _name(location.url, location.start, names)
            names.add(name)
            files[key] = Carried(
                source=location.url, start=location.start, length=length, name=name,
                whole=location.start == 0 and length == size,
            )  # fmt: skip
        return RelativeFileStateHandle(relative_path=files[key].name, state_size=stated)

    plain = replace(metadata, operator_states=tuple(map(_without_merging, metadata.operator_states)))
    return map_streams(plain, place), list(files.values())


def _name(url: str, start: int, taken: set[str]) -> str:
    """The file's own name, made different where it is taken or is only a part of a file."""
    name = url.rpartition("/")[2]
    if start or name in taken or name == "_metadata":
        name += "-" + hashlib.sha256(f"{url}@{start}".encode()).hexdigest()[:12]
    return name


def _without_merging(operator: OperatorState) -> OperatorState:
    """Operator handles of merged files (tag 17) as plain ones: their segments become files of their own."""
    return replace(operator, subtask_states=tuple(map(_plain_subtask, operator.subtask_states)))


def _plain_subtask(subtask: SubtaskState) -> SubtaskState:
    plain = {}
    for name in ("managed_operator_state", "raw_operator_state"):
        handle = getattr(subtask, name)
        if isinstance(handle, FileMergingOperatorStreamStateHandle):
            empty = handle.is_empty or isinstance(handle.stream, EmptySegmentFileStateHandle)
            plain[name] = None if empty else OperatorStreamStateHandle(
                state_name_to_partition_offsets=handle.state_name_to_partition_offsets, stream=handle.stream
            )  # fmt: skip
    return replace(subtask, **plain)  # type: ignore[arg-type]


def copy_all(job: Job, files: Iterable[Carried], threads: int = 8) -> None:
    """Copy the carried files into the target, several at a time."""
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(lambda file: _copy(job, file), files):
            pass


def _copy(job: Job, file: Carried) -> None:
    target = job.file(file.name)
    job.written.add(target)
    if file.whole:
        job.stores.copy(file.source, target)
        return
    with job.stores.open_write(target) as out:
        for chunk in job.stores.iter_chunks(file.source, file.start, file.length, _CHUNK_BYTES):
            out.write(chunk)


def sha256_of(stores: Stores, url: str, start: int, length: int) -> str:
    """SHA-256 of a range, read in pieces."""
    digest = hashlib.sha256()
    for chunk in stores.iter_chunks(url, start, length, _CHUNK_BYTES):
        digest.update(chunk)
    return digest.hexdigest()
