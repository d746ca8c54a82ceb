"""RocksDB's native format (spec 7): a directory of SST files, a column family for each state.

Reading: the files of each column family are merged and clipped to the handle's key groups; the states then go
forward together, key group by key group. Writing: the entries of each state are sorted into SST files.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...schemas.errors import EncodeError, FormatError, Where
from ..memory import BATCH_BYTES
from ..metadata import KeyGroupRange
from ..sst.manifest_read import LiveFile, read_manifest
from ..sst.scan import scan
from ..sst.sst_file import ColumnFamily, SstFileInfo, sst_name
from ..sst.table import SstTable, open_table
from ..sst.writer import BUFFER_BYTES, SstWriter
from ..stores import StoreWriter
from ..streams import StateStream
from . import entry_kernels as kernels
from .aligned import Cursor, align
from .canonical import prefix_bytes
from .entries import EntryBatch, Spans, Window, concat
from .sorting import first_duplicate, sorted_order

_LEAST_SHARE = 128 << 10
"""Bytes that each of many states reads at once, at least."""


def open_database(files: Mapping[str, StateStream]) -> dict[str, list[SstTable]]:
    """The SST files of a directory, by column family. ``files`` are all of it, by their local names.

    Raises FormatError for a damaged file, naming it.
    """
    live = _live_files(files)
    families: dict[str, list[SstTable]] = {}
    for name, stream in sorted(files.items()):
        if not name.endswith(".sst"):
            continue
        table = open_table(
            stream.read_ranges, stream.size, stream.name, live=live.get(posixpath.basename(name))
        )
        families.setdefault(table.column_family_name, []).append(table)
    return families


def _live_files(files: Mapping[str, StateStream]) -> dict[str, LiveFile]:
    manifests = [stream for name, stream in files.items() if posixpath.basename(name).startswith("MANIFEST-")]
    live: dict[str, LiveFile] = {}
    for stream in manifests:
        manifest = read_manifest(stream.read(0, stream.size), stream.name)
        for family in manifest.column_families:
            live.update({file.name: file for file in family.files})
    return live


def key_group_bound(key_group: int, max_parallelism: int) -> bytes | None:
    """The least composite key of ``key_group``; None where every key is below it."""
    width = prefix_bytes(max_parallelism)
    return None if key_group >= 1 << (8 * width) else key_group.to_bytes(width, "big")


def read_rocksdb(
    families: Mapping[str, Sequence[SstTable]],
    names: Mapping[int, str],
    key_groups: KeyGroupRange,
    *,
    max_parallelism: int,
    batch_bytes: int = BATCH_BYTES,
) -> Iterator[Window]:
    """The entries of the states ``names`` (by state id) in ``key_groups``, forward through the key groups.

    A state without a column family in the files has no entries.
    """
    lower = key_group_bound(key_groups.start, max_parallelism)
    upper = key_group_bound(key_groups.end + 1, max_parallelism)
    prefix = prefix_bytes(max_parallelism)
    cursors = []
    share = max(_LEAST_SHARE, batch_bytes // max(1, len(names)))
    for state, name in names.items():
        tables = families.get(name, ())
        if tables:
            batches = scan(tables, lower, upper, batch_bytes=share)
            cursors.append(Cursor(_windows(state, _entries(batches, prefix, name))))
    yield from align(cursors)


def _windows(state: int, batches: Iterator[EntryBatch]) -> Iterator[Window]:
    return ({state: batch} for batch in batches)


def read_prefix(
    families: Mapping[str, Sequence[SstTable]], name: str, begins: bytes, *, max_parallelism: int
) -> Iterator[EntryBatch]:
    """The entries of one state whose composite keys begin so; only blocks are read that can hold one."""
    tables = families.get(name, ())
    if tables:
        batches = scan(tables, begins, _behind(begins))
        yield from _entries(batches, prefix_bytes(max_parallelism), name)


def _behind(begins: bytes) -> bytes | None:
    """The least key above all that begin so; None where there is none."""
    kept = begins.rstrip(b"\xff")
    return kept[:-1] + bytes((kept[-1] + 1,)) if kept else None


def _entries(batches: Iterator[pa.RecordBatch], prefix: int, name: str) -> Iterator[EntryBatch]:
    for batch in batches:
        keys = Spans.of(batch.column("key"))
        groups = np.empty(len(keys), np.int32)
        kernels.key_groups_of(keys.data, keys.starts, keys.ends, prefix, groups)
        if len(groups) and groups.min() < 0:
            raise FormatError("a key is shorter than its key-group prefix", where=Where(state=name))
        yield EntryBatch(key_groups=groups, keys=keys, values=Spans.of(batch.column("value")))


_LEAST_RUN = 4 << 20
"""Bytes of entries that are held until some are sorted."""

FILE_BYTES = 64 << 20
"""The size of an SST file, as RocksDB's own."""

#: Opens a file of the database for writing by its local name.
OpenFile = Callable[[str], StoreWriter]


@dataclass(slots=True)
class RocksDbWriter:
    """Writes windows into SST files, at most ``file_bytes`` each. ``numbers`` gives the file numbers.

    Key groups are sorted one by one, so the windows need no order within them. A key group larger than
    ``sort_bytes`` is cut in sorted runs, each a file of its own. Of each state it holds ``buffer_bytes`` and a
    sixteenth of ``sort_bytes``, or its part of one key group; of one state only where they come ``one_by_one``.
    """

    open_file: OpenFile
    families: Mapping[int, ColumnFamily]
    numbers: Iterator[int]
    file_bytes: int = FILE_BYTES
    sort_bytes: int = 64 << 20
    buffer_bytes: int = BUFFER_BYTES
    one_by_one: bool = False
    _writers: dict[int, _FamilyWriter] = field(default_factory=dict)

    def write(self, window: Window) -> None:
        for state, batch in window.items():
            if len(batch):
                if state not in self._writers:
                    if self.one_by_one:
                        self.finish()
                    self._writers[state] = _FamilyWriter(self, self.families[state])
                self._writers[state].add(batch)

    def finish(self) -> list[SstFileInfo]:
        """Write what is left and return the files of all states."""
        return [info for _, writer in sorted(self._writers.items()) for info in writer.finish()]

    def abort(self) -> None:
        for writer in self._writers.values():
            writer.abort()


@dataclass(slots=True)
class _FamilyWriter:
    parent: RocksDbWriter
    family: ColumnFamily
    pending: list[EntryBatch] = field(default_factory=list)
    held: int = 0
    infos: list[SstFileInfo] = field(default_factory=list)
    out: StoreWriter | None = None
    sst: SstWriter | None = None

    def add(self, batch: EntryBatch) -> None:
        self.pending.append(batch)
        self.held += batch.nbytes + 16 * len(batch)
        if self.held < min(_LEAST_RUN, self.parent.sort_bytes // 16):
            return
        whole = concat(self.pending)
        last = int(whole.key_groups[-1])
        complete = int(np.searchsorted(whole.key_groups, last, side="left"))
        if complete:
            self._put(whole.slice(0, complete))
            whole = whole.slice(complete, len(whole))
        elif self.held > self.parent.sort_bytes:
            self._end_file()
            self._put(whole)
            self._end_file()
            whole = whole.slice(0, 0)
        self.pending = [whole] if len(whole) else []
        self.held = whole.nbytes + 16 * len(whole)

    def _put(self, batch: EntryBatch) -> None:
        for start, stop in _group_edges(batch.key_groups):
            self._put_group(batch.slice(start, stop))

    def _put_group(self, batch: EntryBatch) -> None:
        order = sorted_order(batch.keys)
        if order is not None:
            batch = batch.take(order)
        twice = first_duplicate(batch.keys)
        if twice >= 0:
            where = Where(state=self.family.name, key_group=int(batch.key_groups[twice]))
            raise EncodeError("a key stands twice", where=where, todo="keep one of its entries")
        if self.sst is None:
            number = next(self.parent.numbers)
            self.out = self.parent.open_file(sst_name(number))
            self.sst = SstWriter(
                self.out,
                file_number=number,
                column_family=self.family,
                buffer_bytes=self.parent.buffer_bytes,
            )
        self.sst.add(batch.keys.to_arrow(clear_flag=True), batch.values.to_arrow())
        if self.sst.size >= self.parent.file_bytes:
            self._end_file()

    def _end_file(self) -> None:
        if self.sst is not None and self.out is not None:
            self.infos.append(self.sst.finish())
            self.out.close()
        self.sst = self.out = None

    def finish(self) -> list[SstFileInfo]:
        if self.pending:
            self._put(concat(self.pending))
        self.pending = []
        self._end_file()
        return self.infos

    def abort(self) -> None:
        if self.out is not None:
            self.out.abort()


def _group_edges(key_groups: npt.NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    edges = np.concatenate([[0], np.flatnonzero(np.diff(key_groups)) + 1, [len(key_groups)]])
    yield from zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
