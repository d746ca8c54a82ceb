"""One SST file, opened from ranged reads (``BlockBasedTable::Open``)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...schemas.errors import FormatError, UnsupportedVersionError, Where
from .arrays import Ints
from .blocks import Columns, as_mapping, decode
from .footer import Footer, read_footer, read_handle
from .format import (
    BLOCK_TRAILER_SIZE,
    INTERNAL_KEY_SUFFIX,
    MAX_SEQUENCE_NUMBER,
    META_COMPRESSION_DICTIONARY,
    META_INDEX,
    META_PARTITIONED_FILTER,
    META_PROPERTIES,
    META_RANGE_DELETIONS,
    BlockHandle,
    IndexType,
    ValueType,
)
from .index import BlockIndex, read_index
from .little import LittleReader
from .manifest_read import LiveFile
from .properties import GLOBAL_SEQNO, TableProperties, read_properties
from .range_deletes import RangeDeletion
from .runs import BlockFormat, RawRun, check, unpack

ReadRanges = Callable[[list[tuple[int, int]]], list[bytes]]
"""Reads ``(start, length)`` stretches of one file, in the order given."""

_TAIL_BYTES = 64 << 10
_REQUEST_BYTES = 2 << 20
_CHECKED_BLOCKS = 64
_GAP_BYTES = 16 << 10
"""Padding of aligned blocks that is read along with them rather than asked around."""
_RANGE_DELETION_SENTINEL = MAX_SEQUENCE_NUMBER << 8 | ValueType.RANGE_DELETION


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SstTable:
    """An open table: its properties, the upper level of its index and its range deletions are in memory.

    ``global_seqno`` is the sequence number of all entries of an ingested file, None where they have their own.
    ``smallest`` is a user key below which the file has none, b"" where it is not known. ``meta_blocks`` are those that
    the metaindex names but for the properties: filters, range deletions.
    """

    file: str
    size: int
    properties: TableProperties
    footer: Footer
    global_seqno: int | None
    smallest: bytes
    range_deletions: tuple[RangeDeletion, ...]
    data_end: int
    meta_blocks: Mapping[str, BlockHandle]
    _form: BlockFormat = field(repr=False)
    _read_ranges: ReadRanges = field(repr=False)
    _top: BlockIndex = field(repr=False)
    _partitions: dict[int, BlockIndex] = field(default_factory=dict, repr=False)

    @property
    def column_family_name(self) -> str:
        return self.properties.column_family_name

    @property
    def num_entries(self) -> int:
        return self.properties.num_entries

    @property
    def format_version(self) -> int:
        return self.footer.format_version

    def index(self, lower: bytes | None = None, upper: bytes | None = None) -> BlockIndex:
        """The index of the data blocks that can hold keys in [lower, upper); only its partitions are read."""
        if self.properties.index_type is not IndexType.TWO_LEVEL:
            return self._top.part(self._top.blocks(lower, upper))
        wanted = self._top.blocks(lower, upper)
        missing = [i for i in wanted if i not in self._partitions]
        for i, index in zip(missing, self._read_partitions(missing), strict=True):
            self._partitions[i] = index
        index = BlockIndex.join([self._partitions[i] for i in wanted])
        if np.any(index.offsets[1:] < index.offsets[:-1] + index.sizes[:-1] + BLOCK_TRAILER_SIZE):
            raise FormatError(
                "blocks of the index's partitions are out of order", where=Where(file=self.file)
            )
        return index.part(index.blocks(lower, upper))

    def _read_partitions(self, numbers: list[int]) -> list[BlockIndex]:
        if not numbers:
            return []
        offsets, sizes = self._top.offsets[numbers], self._top.sizes[numbers]
        return [
            read_index(self._form, unpack(self._form, run), i, self.properties, top=False)
            for run in self.read_runs(offsets, sizes)
            for i in range(len(run.offsets))
        ]

    def load(self, index: BlockIndex, blocks: range) -> list[Columns]:
        """The entries of some of the blocks of ``index``, one :class:`Columns` for each stretch of the file."""
        offsets, sizes = index.offsets[blocks.start : blocks.stop], index.sizes[blocks.start : blocks.stop]
        return [
            decode(self._form, unpack(self._form, run), sequence=self.global_seqno, types=_POINT_TYPES)
            for run in self.read_runs(offsets, sizes)
        ]

    def check_blocks(self, index: BlockIndex, blocks: range) -> None:
        """Read some of the blocks of ``index`` for their checksums alone. Raises FormatError at the first bad one."""
        for start in range(blocks.start, blocks.stop, _CHECKED_BLOCKS):
            part = slice(start, min(blocks.stop, start + _CHECKED_BLOCKS))
            for run in self.read_runs(index.offsets[part], index.sizes[part]):
                check(self._form, run)

    def check_meta_blocks(self) -> None:
        """As ``check_blocks``, of the blocks that the metaindex names, and of the partitions of a filter."""
        for name, handle in sorted(self.meta_blocks.items(), key=lambda block: block[1].offset):
            [run] = self.read_runs(np.array([handle.offset]), np.array([handle.size]))
            check(self._form, run)
            if name.startswith(META_PARTITIONED_FILTER):
                # Its top level is made as that of a partitioned index (``partitioned_filter_block.cc``).
                parts = read_index(self._form, unpack(self._form, run), 0, self.properties, top=True)
                self.check_blocks(parts, range(len(parts)))

    def read_runs(self, offsets: Ints, sizes: Ints) -> list[RawRun]:
        """Blocks as they lie in the file: those near each other together, read in pieces of a few MiB at once."""
        ends = offsets + sizes + BLOCK_TRAILER_SIZE
        cuts = [0, *(np.flatnonzero(offsets[1:] - ends[:-1] > _GAP_BYTES) + 1).tolist(), len(offsets)]
        stretches = [(int(offsets[a]), int(ends[b - 1])) for a, b in itertools.pairwise(cuts)]
        requests = [
            (at, min(_REQUEST_BYTES, end - at))
            for start, end in stretches
            for at in range(start, end, _REQUEST_BYTES)
        ]
        answers = iter(self._read_ranges(requests))
        runs = []
        for a, b, (start, end) in zip(cuts[:-1], cuts[1:], stretches, strict=True):
            pieces = [next(answers) for _ in range(start, end, _REQUEST_BYTES)]
            data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            runs.append(RawRun(data=data, offset=start, offsets=offsets[a:b], sizes=sizes[a:b]))
        return runs


_POINT_TYPES = frozenset({ValueType.DELETION, ValueType.VALUE, ValueType.MERGE, ValueType.SINGLE_DELETION})


def open_table(
    read_ranges: ReadRanges, size: int, file: str, *, verify: bool = True, live: LiveFile | None = None
) -> SstTable:
    """Opens a table of ``size`` bytes; ``file`` names it in errors; ``verify`` checks the blocks' checksums.

    ``live`` is what the MANIFEST says of the file. It is needed where an ingested file has its sequence number only
    there, and where range deletions reach past the file's own keys; without it they hold as they are written.
    One request where the file's tail of 64 KiB holds index and properties, at most three otherwise.
    Raises FormatError (UnsupportedVersionError for what is known by name and not read).
    """
    start = max(0, size - _TAIL_BYTES)
    [tail] = read_ranges([(start, size - start)])
    if len(tail) != size - start:
        raise FormatError(
            f"file of {size} bytes ends early", where=Where(file=file, offset=start + len(tail))
        )
    footer = read_footer(tail, size, file)
    form = BlockFormat(
        file=file,
        checksum=footer.checksum,
        format_version=footer.format_version,
        verify=verify,
        file_size=size,
        base_context_checksum=footer.base_context_checksum,
    )
    source = _Tail(read_ranges, start, tail)
    [metaindex_run] = source.runs([footer.metaindex])
    metaindex = as_mapping(decode(form, unpack(form, metaindex_run), internal_keys=False))
    handles = {name.decode("latin-1"): handle for name, handle in _handles(metaindex, size, file).items()}
    if META_COMPRESSION_DICTIONARY in handles:
        raise UnsupportedVersionError("SST file is compressed with a dictionary", where=Where(file=file))
    index = footer.index or handles.get(META_INDEX)
    if index is None:
        raise FormatError("SST file has no index", where=Where(file=file))
    names = [name for name in (META_PROPERTIES, META_RANGE_DELETIONS) if name in handles]
    if META_PROPERTIES not in names:
        raise FormatError("SST file has no properties", where=Where(file=file))
    properties_run, *range_runs, index_run = source.runs([*(handles[name] for name in names), index])
    properties = read_properties(_raw_properties(form, properties_run), file)
    seqno = _global_seqno(properties, live, file)
    deletions = [
        deletion
        for run in range_runs
        for deletion in _range_deletions(
            decode(
                form,
                unpack(form, run),
                sequence=seqno,
                ordered=False,
                types=frozenset({ValueType.RANGE_DELETION}),
            )
        )
    ]
    top = properties.index_type is IndexType.TWO_LEVEL
    return SstTable(
        file=file,
        size=size,
        properties=properties,
        footer=footer,
        global_seqno=seqno,
        smallest=live.smallest[:-INTERNAL_KEY_SUFFIX] if live else b"",
        range_deletions=tuple(_clip(d, live) for d in deletions) if live else tuple(deletions),
        data_end=min((h.offset for h in (*handles.values(), index)), default=size),
        meta_blocks={name: handle for name, handle in handles.items() if name != META_PROPERTIES},
        _form=form,
        _read_ranges=read_ranges,
        _top=read_index(form, unpack(form, index_run), 0, properties, top=top),
    )


class _Tail:
    """Blocks out of the end of a file that is in memory already; what lies before it is read in one request."""

    def __init__(self, read_ranges: ReadRanges, start: int, tail: bytes) -> None:
        self.read_ranges, self.start, self.tail = read_ranges, start, tail

    def runs(self, handles: Sequence[BlockHandle]) -> list[RawRun]:
        missing = [(h.offset, h.end - h.offset) for h in handles if h.offset < self.start]
        read = iter(self.read_ranges(missing) if missing else [])
        return [
            RawRun.of(
                h,
                next(read)
                if h.offset < self.start
                else self.tail[h.offset - self.start : h.end - self.start],
            )
            for h in handles
        ]


def _handles(metaindex: dict[bytes, bytes], size: int, file: str) -> dict[bytes, BlockHandle]:
    return {name: read_handle(LittleReader(value, file=file), size) for name, value in metaindex.items()}


def _raw_properties(form: BlockFormat, run: RawRun) -> dict[bytes, bytes]:
    """The properties block. Ingestion may have written the global sequence number into it afterwards, so where its
    checksum does not hold it is tried with that number zero, as it was when the checksum was made."""
    try:
        return as_mapping(decode(form, unpack(form, run), internal_keys=False))
    except FormatError:
        unchecked = replace(form, verify=False)
        columns = decode(unchecked, unpack(unchecked, run), internal_keys=False)
        names = [columns.key(i) for i in range(len(columns))]
        if GLOBAL_SEQNO not in names or columns.value_lengths[names.index(GLOBAL_SEQNO)] != 8:
            raise
        at = int(columns.value_starts[names.index(GLOBAL_SEQNO)])
        zeroed = replace(run, data=run.data[:at] + bytes(8) + run.data[at + 8 :])
        unpack(form, zeroed)
        return as_mapping(columns)


def _global_seqno(properties: TableProperties, live: LiveFile | None, file: str) -> int | None:
    """``GetGlobalSequenceNumber`` of ``block_based_table_reader.cc``: only files of version 2 have one."""
    if properties.external_version < 2:
        return None
    seqno = properties.external_global_seqno or (live.largest_seqno if live else 0)
    if seqno > MAX_SEQUENCE_NUMBER:
        raise FormatError(f"global sequence number {seqno} is above 56 bits", where=Where(file=file))
    return seqno


def _range_deletions(columns: Columns) -> list[RangeDeletion]:
    return [
        RangeDeletion(start=columns.key(i), end=columns.value(i), sequence=int(columns.tags[i]) >> 8)
        for i in range(len(columns))
    ]


def _clip(deletion: RangeDeletion, live: LiveFile) -> RangeDeletion:
    """The part of a deletion that lies within its file's bounds (``TruncatedRangeDelIterator``).

    Compaction writes a deletion whole into each of its output files. Past a file's bounds it no longer holds: there
    a newer entry may have lost its sequence number since.
    """
    smallest, largest = live.smallest[:-INTERNAL_KEY_SUFFIX], live.largest[:-INTERNAL_KEY_SUFFIX]
    tag = int.from_bytes(live.largest[-INTERNAL_KEY_SUFFIX:], "little")
    end = largest if tag == _RANGE_DELETION_SENTINEL else largest + b"\0"
    return RangeDeletion(
        start=max(deletion.start, smallest), end=min(deletion.end, end), sequence=deletion.sequence
    )


def approximate_offsets(table: SstTable, keys: Sequence[bytes]) -> Ints:
    """For each key, about how many bytes of the file lie before it: the offset of the block that can hold it."""
    index = table.index()
    offsets = np.append(index.offsets, index.end)
    return offsets[[index.first_reaching(key) for key in keys]]
