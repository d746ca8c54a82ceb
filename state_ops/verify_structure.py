"""Verification of files whose contents are not entries, or are entries of others: RocksDB's files, channel state."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from ..io.keyed.backend import KeyedBackend
from ..io.keyed.rocksdb import key_group_bound
from ..io.metadata import (
    EmptySegmentFileStateHandle,
    MergedInputChannelStateHandle,
    MergedResultSubpartitionStateHandle,
    SubtaskState,
)
from ..io.sst.manifest_read import Manifest, read_manifest
from ..io.sst.table import SstTable
from ..io.streams import StateStream
from ..schemas.errors import StateliftError, StoreError, Where
from ..schemas.wire import Reader
from .findings import Finding, fault, of_error, unchecked
from .snapshot import Operator

_HEADER = 4
"""Channel state begins with a version (ChannelStateSerializerImpl), and each buffer with its length."""


def check_database(backend: KeyedBackend, where: Where) -> Iterator[Finding]:
    """Whether RocksDB's CURRENT, MANIFEST and tables fit together, and the checksums of the blocks that hold no entry
    of the subtask's states: those of other key groups, of filters, of states that the header does not define."""
    files = {posixpath.basename(name): stream for name, stream in backend.files.items()}
    try:
        yield from _check_manifest(files, where)
        families = backend.families()
    except StateliftError as error:
        yield of_error(error, where)
        return
    known = {state.name for state in backend.states}
    first, last = backend.key_groups.start, backend.key_groups.end
    bounds = [key_group_bound(group, backend.max_parallelism) for group in (first, last + 1)]
    for name, tables in families.items():
        for table in tables:
            try:
                _check_blocks(table, bounds if name in known else None)
            except StateliftError as error:
                yield of_error(error, Where(state=name).within(where))


def _check_manifest(files: dict[str, StateStream], where: Where) -> Iterator[Finding]:
    manifests = [name for name in files if name.startswith("MANIFEST-")]
    if "CURRENT" in files:
        stream = files["CURRENT"]
        named = stream.read(0, stream.size).decode("latin-1").strip()
        if named not in files:
            what = f"CURRENT names {named!r}, which the snapshot does not have"
            yield fault(what, Where(file=stream.name).within(where))
    elif manifests:
        yield fault("the snapshot has no CURRENT beside its MANIFEST: RocksDB does not open that", where)
    for name in manifests:
        stream = files[name]
        manifest = read_manifest(stream.read(0, stream.size), stream.name)
        yield from _check_live(manifest, files, Where(file=stream.name).within(where))


def _check_live(manifest: Manifest, files: dict[str, StateStream], where: Where) -> Iterator[Finding]:
    live = {file.name: file for family in manifest.column_families for file in family.files}
    for name, file in live.items():
        if name not in files:
            yield fault(f"the MANIFEST names {name}, which the snapshot does not have", where)
        elif files[name].size != file.file_size:
            what = f"{name} has {files[name].size:,} bytes, the MANIFEST says {file.file_size:,}"
            yield fault(what, where)
    for name in files:
        if name.endswith(".sst") and name not in live:
            yield fault(f"{name} is not in the MANIFEST", where)


def _check_blocks(table: SstTable, bounds: Sequence[bytes | None] | None) -> None:
    """The blocks outside of ``bounds``; all of them without."""
    table.check_meta_blocks()
    index = table.index()
    read = index.blocks(*bounds) if bounds is not None else range(0)
    table.check_blocks(index, range(read.start))
    table.check_blocks(index, range(read.stop, len(index)))


def check_raw(operator: Operator) -> Iterator[Finding]:
    """Whether the parts of raw operator state begin within its stream. What is in them, and in raw keyed state other
    than timers, only the job knows: that it is not looked into is said."""
    opened = set(operator.raw_timers) | {problem.error.where.subtask for problem in operator.problems}
    for subtask in operator.meta.subtask_states:
        where = Where(operator=operator.label, subtask=subtask.subtask_index)
        if subtask.raw_keyed_state is not None and subtask.subtask_index not in opened:
            yield unchecked(
                "raw keyed state that is no timers is the job's own, and is not looked into", where
            )
        raw = subtask.raw_operator_state
        if raw is None or isinstance(raw.stream, EmptySegmentFileStateHandle):
            continue
        try:
            stream = operator.opener.open(raw.stream, "raw operator state")
            size = stream.size
        except StoreError:
            continue  # said with the other files
        for part in raw.state_name_to_partition_offsets:
            for offset in part.offsets:
                if not 0 <= offset <= size:
                    here = Where(file=stream.name, state=part.state_name, offset=offset).within(where)
                    yield fault(
                        f"raw operator state begins outside of the {size:,} bytes of its stream", here
                    )
        yield unchecked(
            f"raw operator state of {size:,} bytes is the job's own, and is not looked into", where
        )


def check_channels(operator: Operator) -> Iterator[Finding]:
    """Whether each buffer of records in flight lies where ``_metadata`` says, within its file."""
    for subtask in operator.meta.subtask_states:
        where = Where(operator=operator.label, subtask=subtask.subtask_index)
        try:
            for stream, offsets in _buffers(operator, subtask):
                size = stream.size
                for offset in offsets:
                    yield from _check_buffer(stream, offset, size, where)
        except StoreError:
            continue  # said with the other files
        except StateliftError as error:
            yield of_error(error, where)


def _buffers(operator: Operator, subtask: SubtaskState) -> Iterator[tuple[StateStream, Sequence[int]]]:
    for handle in (*subtask.input_channel_state, *subtask.result_subpartition_state):
        stream = operator.opener.open(handle.stream, "channel state")
        if isinstance(handle, (MergedInputChannelStateHandle, MergedResultSubpartitionStateHandle)):
            yield stream, _merged_offsets(handle.serialized_channel_offsets, stream.name)
        else:
            yield stream, handle.offsets


def _merged_offsets(data: bytes, file: str) -> list[int]:
    """The offsets of all channels of AbstractMergedChannelStateHandle (spec 2.8)."""
    reader = Reader(data, file=file)
    offsets = []
    for _ in range(reader.count("channels", at_least=20)):
        reader.bytes(16, "channel and size")
        offsets += [reader.i8("offset") for _ in range(reader.count("offsets", at_least=8))]
    reader.expect_end("the offsets of channels")
    return offsets


def _check_buffer(stream: StateStream, offset: int, size: int, where: Where) -> Iterator[Finding]:
    here = Where(file=stream.name, offset=offset).within(where)
    if offset < _HEADER or offset + 4 > size:
        yield fault(f"a buffer of records in flight begins outside of the {size:,} bytes of its file", here)
        return
    length = int.from_bytes(stream.read(offset, 4), "big", signed=True)
    if length < 0 or offset + 4 + length > size:
        yield fault(f"a buffer of records in flight of {length:,} bytes does not fit in its file", here)
