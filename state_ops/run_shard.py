"""One shard's work: read the key groups, change what the plan changes, write the files of the target.

File names depend on the plan alone: a shard that is tried again replaces its own files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from ..io.keyed.aligned import Cursor, align
from ..io.keyed.backend import KeyedBackend
from ..io.keyed.canonical import CanonicalWriter
from ..io.keyed.entries import EntryBatch, Window
from ..io.keyed.header import KeyedBackendHeader, write_keyed_header
from ..io.keyed.rocksdb import FILE_BYTES, RocksDbWriter
from ..io.memory import Memory
from ..io.metadata import KeyGroupRange
from ..io.sst.sst_file import ColumnFamily
from ..io.sst.writer import BUFFER_BYTES
from ..io.stores import StoreWriter
from ..schemas.errors import StateliftError, StoreError, Where
from ..schemas.wire import Writer
from .digest import Digest
from .job import Job, OperatorWork, Shard, Unit
from .results import ShardResult, SstFile, StateResult, UnitResult
from .transform import Transform
from .whole_select import WholeSelects

Progress = Callable[[int], None]

#: What the names of the records of finished shards begin with.
RECORDS = ".statelift-"
#: SST file numbers of the n-th piece of a subtask begin at n times this.
NUMBERS_PER_PIECE = 100_000
#: Bytes of each state that are sorted at once, at least.
_LEAST_SORTED = 4 << 20
#: Bytes of an SST file, at least.
_LEAST_FILE = 1 << 20
#: Bytes of blocks that each state's writer holds, at least.
_LEAST_BUFFER = 64 << 10


def base_name(job: Job, operator: str, subtask: int) -> str:
    """What the names of a subtask's files in the target begin with; a canonical stream is called so itself."""
    return f"{operator}-{subtask}-{job.digest[:8]}"


def unit_name(job: Job, unit: Unit) -> str:
    """What the names of a unit's files begin with: another cut of the subtask has other names."""
    base = base_name(job, unit.operator, unit.subtask)
    return base if unit.pieces == 1 else f"{base}-{unit.key_group_start}-{unit.key_groups}"


def header_bytes(header: KeyedBackendHeader) -> bytes:
    """The header as it is written: never compressed."""
    writer = Writer()
    write_keyed_header(writer, KeyedBackendHeader(key_serializer=header.key_serializer, states=header.states))
    return writer.getvalue()


def column_families(header: KeyedBackendHeader) -> dict[int, ColumnFamily]:
    """The column family of each state id: ids from 1 in the order of the header, as Flink gives them."""
    return {i: ColumnFamily(id=i + 1, name=state.name) for i, state in enumerate(header.states)}


def record_url(job: Job, shard: Shard) -> str:
    """Where a finished shard's result is kept until the snapshot is committed."""
    what = hashlib.sha256((job.digest + shard.model_dump_json()).encode()).hexdigest()[:24]
    return job.file(f"{RECORDS}{what}.json")


def run_shard(
    job: Job, shard: Shard, *, progress: Progress | None = None, memory: Memory | None = None
) -> ShardResult:
    """Do a shard's work, or take over what an earlier run of the same plan did of it.

    ``progress`` is told the stored bytes of each unit when it is done; ``memory`` is the shard's part of the job's.
    Raises StateliftError; the files written
    so far are no snapshot and are replaced by the next try.
    """
    memory = memory or job.memory
    done = _earlier(job, shard)
    if done is not None:
        if progress:
            progress(shard.nbytes)
        return done
    units = []
    selects: dict[str, WholeSelects] = {}
    try:
        for unit in shard.units:
            work = job.work[unit.operator]
            if work.whole and unit.operator not in selects:
                selects[unit.operator] = WholeSelects.run(job.snapshot, work, memory)
            units.append(_run_unit(job, work, unit, selects.get(unit.operator), memory))
            if progress:
                progress(unit.nbytes)
    finally:
        for whole in selects.values():
            whole.close()
    result = ShardResult(number=shard.number, units=units)
    job.written.add(record_url(job, shard))
    job.stores.put(record_url(job, shard), result.model_dump_json().encode())
    return result


def _earlier(job: Job, shard: Shard) -> ShardResult | None:
    with suppress(StoreError, ValueError):
        raw = job.stores.read(record_url(job, shard))
        result = ShardResult.model_validate_json(raw)
        files = {job.file(name): size for unit in result.units for name, size in unit.files().items()}
        if any(job.stores.size(url) != size for url, size in files.items()):
            return None
        job.written.update(files, [record_url(job, shard)])
        return result.model_copy(update={"resumed": True})
    return None


@dataclass(slots=True)
class _Meter:
    """Digests and changes of a unit's states as its windows go by."""

    backend: KeyedBackend
    transforms: dict[str, Transform]
    states: dict[str, StateResult] = field(default_factory=dict)

    def change(self, windows: Iterator[Window], replaced: frozenset[str]) -> Iterator[Window]:
        for window in windows:
            out: Window = {}
            for state, batch in window.items():
                name = self.backend.states[state].name
                result = self.states.setdefault(name, StateResult())
                digest = Digest.of(batch)
                if name not in replaced:
                    result.read = _plus(result.read, digest)
                transform = self.transforms.get(name)
                if transform is not None:
                    batch = self._changed(transform, batch, name)
                    digest = Digest.of(batch)
                if len(batch):
                    result.written = _plus(result.written, digest)
                    result.nbytes += batch.nbytes
                    out[state] = batch
            if out:
                yield out

    @staticmethod
    def _changed(transform: Transform, batch: EntryBatch, name: str) -> EntryBatch:
        try:
            return transform.apply(batch)
        except StateliftError as error:
            raise error.at(Where(state=name)) from None

    def finish(self) -> dict[str, StateResult]:
        for name, transform in self.transforms.items():
            self.states.setdefault(name, StateResult()).count(transform.changes)
        return self.states


def _plus(total: tuple[int, int, int], digest: Digest) -> tuple[int, int, int]:
    both = Digest(*total) + digest
    return both.entries, both.low, both.high


def _run_unit(
    job: Job, work: OperatorWork, unit: Unit, whole: WholeSelects | None, memory: Memory
) -> UnitResult:
    backend = work.operator.keyed_backends[unit.subtask]
    key_groups = KeyGroupRange(unit.key_group_start, unit.key_groups)
    known = {state.name for state in backend.states}
    transforms = {name: t for name, t in work.transforms().items() if name in known}
    meter = _Meter(backend, transforms)
    windows = meter.change(_windows(work, backend, key_groups, whole, memory.batch_bytes), work.whole)
    where = Where(operator=work.operator.label, subtask=unit.subtask)
    try:
        if work.format == "canonical":
            result = _write_canonical(job, backend, unit, windows, memory)
        else:
            result = _write_rocksdb(job, backend, unit, windows, memory, _one_by_one(work, backend))
    except StateliftError as error:
        raise error.at(where) from None
    result.states = meter.finish()
    if whole is not None and unit.piece == 0:
        for name in work.whole:
            told = result.states.setdefault(name, StateResult())
            if unit.subtask == min(work.operator.keyed_backends):
                whole.report(name, told)
    return result


def _one_by_one(work: OperatorWork, backend: KeyedBackend) -> bool:
    """Whether the states go one after the other, from RocksDB's files to RocksDB's files."""
    return backend.format == work.format == "rocksdb" and not work.whole


def _windows(
    work: OperatorWork,
    backend: KeyedBackend,
    key_groups: KeyGroupRange,
    whole: WholeSelects | None,
    batch_bytes: int,
) -> Iterator[Window]:
    """The unit's entries; those of a whole select in the place of its state's."""
    if _one_by_one(work, backend):
        each = (frozenset((number,)) for number in range(len(backend.states)))
        return (window for one in each for window in backend.windows(key_groups, one, batch_bytes))
    if whole is None:
        return backend.windows(key_groups, None, batch_bytes)
    others = frozenset(n for n, state in enumerate(backend.states) if state.name not in whole.selects)
    cursors = [Cursor(whole.windows(backend, key_groups))]
    if others:
        cursors.append(Cursor(backend.windows(key_groups, others, batch_bytes)))
    return align(cursors)


def _write_canonical(
    job: Job, backend: KeyedBackend, unit: Unit, windows: Iterator[Window], memory: Memory
) -> UnitResult:
    name = unit_name(job, unit)
    head = _header(backend) if unit.pieces == 1 else b""
    with _open(job, name, memory.writer_bytes(1)) as out:
        if head:
            out.write(head)
        writer = CanonicalWriter(out=out, base=len(head))
        for window in windows:
            writer.write(window)
        writer.finish()
    return UnitResult(
        operator=unit.operator, subtask=unit.subtask, piece=unit.piece, name=name, states={},
        stream=True, size=len(head) + writer.position, offsets=writer.offsets,
    )  # fmt: skip


def _header(backend: KeyedBackend) -> bytes:
    if not isinstance(backend.header, KeyedBackendHeader):
        raise backend.header.reason
    return header_bytes(backend.header)


def _write_rocksdb(
    job: Job, backend: KeyedBackend, unit: Unit, windows: Iterator[Window], memory: Memory, one_by_one: bool
) -> UnitResult:
    if not isinstance(backend.header, KeyedBackendHeader):
        raise backend.header.reason
    first = unit.piece * NUMBERS_PER_PIECE + 1
    name = unit_name(job, unit)
    together = 1 if one_by_one else max(1, backend.state_count)
    share = memory.batch_bytes // together
    # Each of these has a file open: where what is written is held in parts, many states make small files.
    held = memory.writer_bytes(together)
    small = held < job.stores.least_held(job.target)
    writer = RocksDbWriter(
        open_file=lambda local: _open(job, f"{name}-{local}", held),
        families=column_families(backend.header),
        numbers=iter(range(first, first + NUMBERS_PER_PIECE - 1)),
        file_bytes=max(_LEAST_FILE, held) if small else FILE_BYTES,
        sort_bytes=max(_LEAST_SORTED, 4 * share),
        buffer_bytes=min(BUFFER_BYTES, max(_LEAST_BUFFER, share)),
        one_by_one=one_by_one,
    )
    try:
        for window in windows:
            writer.write(window)
        infos = writer.finish()
    except BaseException:
        writer.abort()
        raise
    return UnitResult(
        operator=unit.operator, subtask=unit.subtask, piece=unit.piece, name=name, states={},
        sst_files=[SstFile.of(info) for info in infos],
    )  # fmt: skip


def _open(job: Job, name: str, held_bytes: int) -> StoreWriter:
    url = job.file(name)
    job.written.add(url)
    return job.stores.open_write(url, held_bytes)
