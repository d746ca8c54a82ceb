"""The native format of HashMapStateBackend (spec 6): entries without frames, read to canonical entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from ...schemas import types as t
from ...schemas.codec import ops
from ...schemas.codec.run import run_decode
from ...schemas.codec.shapes import Builder, NullShape, Program
from ...schemas.codec.undecoded import TODO, class_at, text
from ...schemas.errors import FormatError, UnexpectedEndError, UnsupportedVersionError, Where
from ..memory import BATCH_BYTES
from ..streams import StateStream
from .entries import Bytes, Positions, Window
from .heap_entries import HeapState, Marks
from .heap_groups import GroupProgram
from .regions import Piece, Region, Rest, pieces

__all__ = ["HeapState", "read_hashmap"]

_MOST_GROUPS = 4096
_GROUPS_BYTES = 1 << 20
"""Key groups of less than this, divided by the states, are read together, and of an eighth of a batch: a program has
room for all that so many bytes can hold of each state."""


@dataclass(frozen=True, slots=True)
class _Marked:
    """A program over one entry, and its marks."""

    program: Program
    marks: Marks

    @staticmethod
    def of(state: HeapState) -> _Marked:
        builder = Builder(wide_times=True)
        marks = Marks.emit(builder, state)
        return _Marked(builder.finish(NullShape(arrow_type=pa.null())), marks)


def read_hashmap(
    stream: StateStream,
    regions: Sequence[Region],
    *,
    states: Sequence[HeapState],
    compressed: bool,
    wanted: frozenset[int] | None = None,
    batch_bytes: int = BATCH_BYTES,
) -> Iterator[Window]:
    """The entries of the key groups ``regions`` in their order, as canonical entries.

    Raises FormatError naming the state and the offset. A value that has no codec, or is of a class that its type does
    not know, cannot be stepped over: what stands before it in its key group and all other key groups come first, then
    UnsupportedVersionError, unless nothing that is wanted is lost.
    """
    most = min(_GROUPS_BYTES, batch_bytes // 8) // max(1, len(states))
    reader = _Reader(stream=stream, states=states, wanted=wanted, together=most)
    for piece in pieces(stream, regions, compressed=compressed, chunk_bytes=batch_bytes, raw_head=4):
        yield from reader.piece(piece)
    if reader.lost is not None:
        raise reader.lost.error()


@dataclass(frozen=True, slots=True)
class _Lost:
    """Why what was wanted of a number of key groups was not read: the first error."""

    first: UnsupportedVersionError
    groups: int = 1

    def error(self) -> UnsupportedVersionError:
        more = f", and so in {self.groups - 1:,} other key groups" if self.groups > 1 else ""
        return UnsupportedVersionError(self.first.what + more, where=self.first.where, todo=self.first.todo)


@dataclass(slots=True)
class _Reader:
    """Where the reading of a key group stands: the blocks still to come, the entries still to come in one."""

    stream: StateStream
    states: Sequence[HeapState]
    wanted: frozenset[int] | None
    together: int
    marked: dict[int, _Marked] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    groups: GroupProgram | None = None
    rest: Rest = field(default_factory=Rest)
    blocks: int = -1  # -1: the key-group id comes next
    state: int = 0
    entries: int = 0
    base: int = 0
    closed: int = -1  # the key group of which nothing more can be read
    lost: _Lost | None = None

    def piece(self, piece: Piece) -> Iterator[Window]:
        data = self.rest.before(piece)
        if data is None:
            return
        carried = len(data) - len(piece.data)
        self.base = piece.offset - carried
        whole = piece.last and not carried and not any(map(_opaque, self.states))
        done = slow = 0
        for number, (region, (start, stop)) in enumerate(
            zip(piece.regions, piece.bounds.tolist(), strict=True)
        ):
            if number < done or region.key_group == self.closed:
                continue
            if whole and self.order and number >= slow:
                last = _end_of_run(piece.bounds, number, self.together)
                groups = self._groups(data, piece, number, last)
                if groups is not None:
                    done = last
                    if groups:
                        yield groups
                    continue
                slow = last
            self.order.clear()
            pos = start
            window: Window = {}
            while True:
                try:
                    pos, more = self._step(data, pos, stop + carried, region, piece.last, window)
                except UnsupportedVersionError as error:
                    self._close(region, error)
                    more = False
                if window:
                    yield window
                    window = {}
                if more:
                    self.rest.keep(data[pos:])
                    return
                if self.blocks == 0 and self.entries == 0:
                    break
            self.blocks = -1

    def _close(self, region: Region, error: UnsupportedVersionError) -> None:
        """Leave a key group at a value that cannot be stepped over."""
        seen = frozenset(self.order)
        if self.wanted is None or self.state in self.wanted or not self.wanted <= seen:
            self.lost = _Lost(error) if self.lost is None else replace(self.lost, groups=self.lost.groups + 1)
        self.closed = region.key_group
        self.blocks = self.entries = 0
        self.order.clear()

    def _groups(self, data: Bytes, piece: Piece, first: int, last: int) -> Window | None:
        """Several key groups at once, if they have the blocks of the one before them; None where they have not."""
        if first == last:
            return None
        if self.groups is None or [block.state for block in self.groups.blocks] != self.order:
            self.groups = GroupProgram.of(self.states, self.order)
        numbers = [region.key_group for region in piece.regions[first:last]]
        return self.groups.read(self.states, self.wanted, data, numbers, piece.bounds[first:last])

    def _step(
        self, data: Bytes, pos: int, end: int, region: Region, last: bool, window: Window
    ) -> tuple[int, bool]:
        """Read an id, a block's head or entries. Returns the next position and whether more bytes are needed."""
        if self.entries == 0:
            size = 4 if self.blocks < 0 else 6
            if pos + size > end:
                return self._short(pos, region, last)
            head = bytes(data[pos : pos + size])
            if self.blocks < 0:
                if int.from_bytes(head, "big") != region.key_group:
                    raise self._error("another key group's id stands here", region, pos)
                self.blocks = len(self.states)
                return pos + size, False
            self.state = int.from_bytes(head[:2], "big", signed=True)
            self.entries = int.from_bytes(head[2:], "big", signed=True)
            if not 0 <= self.state < len(self.states):
                raise self._error(f"an unknown state id {self.state}", region, pos)
            if self.entries < 0:
                raise self._error(f"a state of {self.entries} entries", region, pos)
            self.blocks -= 1
            self.order.append(self.state)
            return pos + size, False
        return self._entries(data, pos, end, region, last, window)

    def _entries(
        self, data: Bytes, pos: int, end: int, region: Region, last: bool, window: Window
    ) -> tuple[int, bool]:
        marked = self._program(region, pos)
        rows = min(self.entries, (end - pos) // 2 + 1)
        bounds = np.array([pos]), np.array([end])
        run = run_decode(marked.program, data, *bounds, ops.CHAINED | ops.STEP, rows, end - pos)
        arena, stops = run.arena, run.stops
        done = rows if run.reason == ops.OK else run.row
        if done:
            if self.wanted is None or self.state in self.wanted:
                starts = np.concatenate([[pos], stops[: done - 1]]).astype(np.int64)
                groups = np.full(done, region.key_group, np.int32)
                batch = marked.marks.compose(
                    self.states[self.state], arena, data, starts, stops[:done], groups
                )
                if len(batch):
                    window[self.state] = batch
            self.entries -= done
            pos = int(stops[done - 1])
        if run.reason == ops.OK:
            return pos, False
        if run.reason in (ops.SHORT, ops.BAD_LENGTH) and not last:
            return pos, True
        where = self._where(region, max(pos, run.position))
        numbers = marked.program.kryo_numbers
        why = text((run.reason, class_at(data, run.position, run.reason, numbers)))
        if run.reason in ops.UNHELD:
            what = f"a value cannot be stepped over in the hashmap format, nor what follows it: {why}"
            raise UnsupportedVersionError(what, where=where, todo=TODO.get(run.reason))
        raise FormatError(f"an entry does not decode: {why}", where=where)

    def _program(self, region: Region, pos: int) -> _Marked:
        if self.state not in self.marked:
            state = self.states[self.state]
            unknown = _opaque(state)
            if unknown is not None:
                raise UnsupportedVersionError(
                    f"a value of {unknown.class_name} ({unknown.reason}) cannot be stepped over in the"
                    " hashmap format, nor what follows it",
                    where=self._where(region, pos),
                )
            self.marked[self.state] = _Marked.of(state)
        return self.marked[self.state]

    def _short(self, pos: int, region: Region, last: bool) -> tuple[int, bool]:
        if last:
            raise UnexpectedEndError("the data ends inside a key group", where=self._where(region, pos))
        return pos, True

    def _where(self, region: Region, pos: int) -> Where:
        known = self.blocks >= 0 and 0 <= self.state < len(self.states)
        name = self.states[self.state].name if known else None
        return Where(file=self.stream.name, state=name, key_group=region.key_group, offset=self.base + pos)

    def _error(self, what: str, region: Region, pos: int) -> FormatError:
        return FormatError(what, where=self._where(region, pos))


def _opaque(state: HeapState) -> t.OpaqueType | None:
    """What of a state's entries has no codec, if anything."""
    parts = (state.keys.namespace, state.keys.key, state.keys.map_key, state.value)
    return next((found for part in parts if part is not None and (found := t.opaque_in(part))), None)


def _end_of_run(bounds: Positions, first: int, most: int) -> int:
    """The end of the run of key groups from ``first`` on that are of ``most`` bytes together; ``first`` if none is."""
    ends = np.cumsum(bounds[first : first + _MOST_GROUPS, 1] - bounds[first : first + _MOST_GROUPS, 0])
    return first + int(np.searchsorted(ends, most, side="right"))
