"""Entries of HashMapStateBackend (spec 6): the program that marks their seams, and the entries in canonical form.

Nothing says where an entry ends, so its serializers are run over it with marks at the seams; list and map values
are then turned into the canonical form: elements joined by commas, one entry for each map entry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...schemas import types as t
from ...schemas.codec import ops
from ...schemas.codec.arena import Arena
from ...schemas.codec.shapes import Builder
from .composite import CompositeKeyCodec
from .entries import Bytes, EntryBatch, Positions, Spans
from .parts import PartMarks, Parts

Groups = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapState:
    """How one state's entries lie: ``kind`` is value, list, map or timer; ``value`` the type of the value, the
    element or the user value (of a timer: not used)."""

    name: str
    kind: str
    keys: CompositeKeyCodec
    value: t.DataType | None


@dataclass(frozen=True, slots=True)
class Marks:
    """The slots of the marks in an entry: behind the namespace, behind the key, and at the parts of a list or map."""

    key_start: int
    key_end: int
    parts: PartMarks | None

    @staticmethod
    def emit(builder: Builder, state: HeapState) -> Marks:
        """Add one entry of ``state`` to the program."""
        key_start, key_end = builder.slot(8), builder.slot(8)
        if state.kind == "timer":
            builder.emit(ops.I8_FLIPPED, builder.slot(8))
            builder.node(state.keys.key)
            builder.node(state.keys.namespace)
            return Marks(key_start, key_end, None)
        builder.node(state.keys.namespace)
        builder.emit(ops.MARK, key_start)
        builder.node(state.keys.key)
        builder.emit(ops.MARK, key_end)
        value = state.value or t.scalar("null")
        if state.kind == "value":
            builder.node(value)
            return Marks(key_start, key_end, None)
        map_key = (state.keys.map_key or value) if state.kind == "map" else None
        return Marks(key_start, key_end, PartMarks.emit(builder, value, map_key))

    def compose(
        self, state: HeapState, arena: Arena, data: Bytes, starts: Positions, stops: Positions, groups: Groups
    ) -> EntryBatch:
        """The entries that lie in [starts[i], stops[i]) and belong to ``groups[i]``, after the program ran."""
        rows = len(stops)
        if state.kind == "timer":
            none = Spans(data=data, starts=stops, ends=stops)
            keys = state.keys.timers(groups, Spans(data=data, starts=starts, ends=stops))
            return EntryBatch(key_groups=groups, keys=Spans.of(keys), values=none)
        key_starts = arena.array(self.key_start, rows).view(np.int64)
        key_ends = arena.array(self.key_end, rows).view(np.int64)
        if self.parts is None:
            keys = state.keys.join(
                groups, Spans(data=data, starts=key_starts, ends=key_ends),
                Spans(data=data, starts=starts, ends=key_starts), None,
            )  # fmt: skip
            values = Spans(data=data, starts=key_ends, ends=stops)
            return EntryBatch(key_groups=groups, keys=Spans.of(keys), values=values)
        parts = Parts.of(arena, self.parts, stops)
        counts = parts.counts
        if parts.flags is not None:
            key, space = (
                Spans(data=data, starts=np.repeat(a, counts), ends=np.repeat(b, counts))
                for a, b in ((key_starts, key_ends), (starts, key_starts))
            )
            groups = np.repeat(groups, counts)
            user = Spans(data=data, starts=parts.starts, ends=parts.flags)
            keys = state.keys.join(groups, key, space, user)
            values = Spans(data=data, starts=parts.flags, ends=parts.ends)
            return EntryBatch(key_groups=groups, keys=Spans.of(keys), values=values)
        filled = counts > 0
        keys = state.keys.join(
            groups[filled], Spans(data=data, starts=key_starts[filled], ends=key_ends[filled]),
            Spans(data=data, starts=starts[filled], ends=key_starts[filled]), None,
        )  # fmt: skip
        return EntryBatch.of(groups[filled], keys, parts.joined(data))
