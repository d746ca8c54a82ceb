"""The native format of HashMapStateBackend (spec 6): entries without frames, read to canonical entries.

Nothing says where an entry ends, so its serializers are run over it with marks at the seams; list and map values
are then turned into the canonical form: elements joined by commas, one entry for each map entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ...schemas import types as t
from ...schemas.codec import ops
from ...schemas.codec.arena import Arena
from ...schemas.codec.run import run_decode
from ...schemas.codec.shapes import Builder, NullShape, Program
from ...schemas.errors import FormatError, UnexpectedEndError, Where
from ..streams import StateStream
from .composite import CompositeKeyCodec
from .entries import Bytes, EntryBatch, Positions, Spans, Window
from .parts import PartMarks, Parts
from .regions import Piece, Region, pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapState:
    """How one state's entries lie: ``kind`` is value, list, map or timer; ``value`` the type of the value, the
    element or the user value (of a timer: not used)."""

    name: str
    kind: str
    keys: CompositeKeyCodec
    value: t.DataType | None


@dataclass(frozen=True, slots=True)
class _Marked:
    """A program over one entry and the slots of its marks: behind the namespace, behind the key, and at the parts
    of a list or map."""

    program: Program
    key_start: int
    key_end: int
    parts: PartMarks | None

    @staticmethod
    def of(state: HeapState) -> _Marked:
        builder = Builder(wide_times=True)
        key_start, key_end = builder.slot(8), builder.slot(8)
        if state.kind == "timer":
            stamp = builder.slot(8)
            builder.emit(ops.I8_FLIPPED, stamp)
            builder.node(state.keys.key)
            builder.node(state.keys.namespace)
            return _Marked(builder.finish(NullShape(arrow_type=pa.null())), key_start, key_end, None)
        builder.node(state.keys.namespace)
        builder.emit(ops.MARK, key_start)
        builder.node(state.keys.key)
        builder.emit(ops.MARK, key_end)
        parts = None
        value = state.value or t.scalar("null")
        if state.kind == "value":
            builder.node(value)
        else:
            map_key = (state.keys.map_key or value) if state.kind == "map" else None
            parts = PartMarks.emit(builder, value, map_key)
        return _Marked(builder.finish(NullShape(arrow_type=pa.null())), key_start, key_end, parts)


def read_hashmap(
    stream: StateStream,
    regions: Sequence[Region],
    *,
    states: Sequence[HeapState],
    compressed: bool,
    wanted: frozenset[int] | None = None,
    batch_bytes: int = 16 << 20,
) -> Iterator[Window]:
    """The entries of the key groups ``regions`` in their order, as canonical entries.

    Raises FormatError naming the state and the offset; a state whose serializers have no codec cannot be
    stepped over here, and is named.
    """
    reader = _Reader(stream=stream, states=states, wanted=wanted)
    for piece in pieces(stream, regions, compressed=compressed, chunk_bytes=batch_bytes, raw_head=4):
        yield from reader.piece(piece)


@dataclass(slots=True)
class _Reader:
    """Where the reading of a key group stands: the blocks still to come, the entries still to come in one."""

    stream: StateStream
    states: Sequence[HeapState]
    wanted: frozenset[int] | None
    marked: dict[int, _Marked] = field(default_factory=dict)
    rest: Bytes = field(default_factory=lambda: np.empty(0, np.uint8))
    blocks: int = -1  # -1: the key-group id comes next
    state: int = 0
    entries: int = 0
    base: int = 0

    def piece(self, piece: Piece) -> Iterator[Window]:
        carried = len(self.rest)
        data = np.concatenate([self.rest, piece.data]) if carried else piece.data
        self.base = piece.offset - carried
        for region, (start, stop) in zip(piece.regions, piece.bounds.tolist(), strict=True):
            pos = start
            window: Window = {}
            while True:
                pos, more = self._step(data, pos, stop + carried, region, piece.last, window)
                if window:
                    yield window
                    window = {}
                if more:
                    self.rest = data[pos:]
                    return
                if self.blocks == 0 and self.entries == 0:
                    break
            self.blocks = -1
        self.rest = np.empty(0, np.uint8)

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
            return pos + size, False
        return self._entries(data, pos, end, region, last, window)

    def _entries(
        self, data: Bytes, pos: int, end: int, region: Region, last: bool, window: Window
    ) -> tuple[int, bool]:
        marked = self._program(region, pos)
        rows = min(self.entries, (end - pos) // 2 + 1)
        bounds = np.array([pos]), np.array([end])
        run = run_decode(marked.program, data, *bounds, ops.CHAINED, rows, end - pos)
        arena, stops = run.arena, run.stops
        done = rows if run.reason == ops.OK else run.row
        if done:
            if self.wanted is None or self.state in self.wanted:
                starts = np.concatenate([[pos], stops[: done - 1]]).astype(np.int64)
                batch = _compose(
                    self.states[self.state], marked, arena, data, starts, stops[:done], region.key_group
                )
                if len(batch):
                    window[self.state] = batch
            self.entries -= done
            pos = int(stops[done - 1])
        if run.reason == ops.OK:
            return pos, False
        if run.reason in (ops.SHORT, ops.BAD_LENGTH) and not last:
            return pos, True
        where = self._where(region, run.position)
        raise FormatError(f"an entry does not decode: {ops.REASONS[run.reason]}", where=where)

    def _program(self, region: Region, pos: int) -> _Marked:
        if self.state not in self.marked:
            state = self.states[self.state]
            for part in (state.keys.namespace, state.keys.key, state.keys.map_key, state.value):
                unknown = t.opaque_in(part) if part is not None else None
                if unknown is not None:
                    raise self._error(
                        f"a value of {unknown.class_name} ({unknown.reason}) cannot be stepped over in the"
                        " hashmap format, nor what follows it",
                        region, pos,
                    )  # fmt: skip
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


def _compose(
    state: HeapState,
    marked: _Marked,
    arena: Arena,
    data: Bytes,
    starts: Positions,
    stops: Positions,
    key_group: int,
) -> EntryBatch:
    rows = len(stops)
    if state.kind == "timer":
        groups = np.full(rows, key_group, np.int32)
        none = Spans(data=data, starts=stops, ends=stops)
        keys = state.keys.join(groups, Spans(data=data, starts=starts, ends=stops), none, None)
        return EntryBatch(key_groups=groups, keys=Spans.of(keys), values=none)
    key_starts = _positions(arena, marked.key_start, rows)
    key_ends = _positions(arena, marked.key_end, rows)
    if marked.parts is None:
        groups = np.full(rows, key_group, np.int32)
        keys = state.keys.join(
            groups, Spans(data=data, starts=key_starts, ends=key_ends),
            Spans(data=data, starts=starts, ends=key_starts), None,
        )  # fmt: skip
        values = Spans(data=data, starts=key_ends, ends=stops)
        return EntryBatch(key_groups=groups, keys=Spans.of(keys), values=values)
    parts = Parts.of(arena, marked.parts, stops)
    counts = parts.counts
    if parts.flags is not None:
        groups = np.full(len(parts.starts), key_group, np.int32)
        key, space = (
            Spans(data=data, starts=np.repeat(a, counts), ends=np.repeat(b, counts))
            for a, b in ((key_starts, key_ends), (starts, key_starts))
        )
        keys = state.keys.join(groups, key, space, Spans(data=data, starts=parts.starts, ends=parts.flags))
        values = Spans(data=data, starts=parts.flags, ends=parts.ends)
        return EntryBatch(key_groups=groups, keys=Spans.of(keys), values=values)
    filled = counts > 0
    groups = np.full(int(filled.sum()), key_group, np.int32)
    keys = state.keys.join(
        groups, Spans(data=data, starts=key_starts[filled], ends=key_ends[filled]),
        Spans(data=data, starts=starts[filled], ends=key_starts[filled]), None,
    )  # fmt: skip
    return EntryBatch.of(groups, keys, parts.joined(data))


def _positions(arena: Arena, slot: int, length: int) -> Positions:
    return arena.array(slot, length).view(np.int64)
