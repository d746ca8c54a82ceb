"""The changes of one state, cut at their seams: key, namespace, and the parts of lists and maps.

Nothing says where a key ends and a namespace begins, so their serializers are run over all changes of a set at
once; values stay the bytes they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...schemas import types as t
from ...schemas.codec.codec import Codec, DecodeError
from ...schemas.codec.shapes import compile_type
from ...schemas.errors import FormatError, UnsupportedVersionError
from .canonical import prefix_bytes
from .changelog_read import ADD_ELEMENT, CLEAR, OPERATIONS, Changes
from .entries import Positions, Spans
from .parts import Parts, mark_parts
from .state_types import KeyedStateType

_MATERIALIZE = "take a savepoint, or a checkpoint after the changelog was materialized"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """``heads[i]``: the composite key of change i, without a user key; its data begins at ``starts[i]``."""

    heads: list[bytes]
    starts: Positions


@dataclass(frozen=True, slots=True)
class StateRows:
    """The changes ``rows`` (indices) of one change set, all of one state."""

    state: KeyedStateType
    changes: Changes
    rows: npt.NDArray[np.int64]
    max_parallelism: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def operations(self) -> npt.NDArray[np.uint8]:
        return self.changes.data[self.changes.starts[self.rows]]

    @property
    def groups(self) -> npt.NDArray[np.int32]:
        return self.changes.key_groups[self.rows]

    @property
    def starts(self) -> Positions:
        """What follows the operation and the state's id."""
        return self.changes.starts[self.rows] + 3

    @property
    def ends(self) -> Positions:
        return self.changes.ends[self.rows]

    def some(self, mask: npt.NDArray[np.bool_]) -> StateRows:
        return StateRows(self.state, self.changes, self.rows[mask], self.max_parallelism)

    def allow(self, *operations: int) -> None:
        """Raise FormatError for an operation that this kind of state does not have."""
        bad = np.flatnonzero(~np.isin(self.operations, operations))
        if len(bad):
            code = int(self.operations[bad[0]])
            name = OPERATIONS[code] if code < len(OPERATIONS) else str(code)
            raise self.error(f"operation {name} of a {self.state.kind} state", int(bad[0]))

    # -- seams ---------------------------------------------------------------------------------------------

    def scope(self) -> Scope:
        """The composite keys of the changes of a key-value state."""
        starts = self.starts
        keys = self.stops(self.state.key, starts, "key")
        spaces = self.stops(self.state.namespace, keys, "namespace")
        return Scope(heads=self._composed(starts, keys, keys, spaces), starts=spaces)

    def stops(self, kind: t.DataType, starts: Positions, what: str) -> Positions:
        """Where the values of the type ``kind`` that begin at ``starts`` end."""
        if not len(self):
            return starts
        opaque = t.opaque_in(kind)
        if opaque is not None:
            raise self.unsupported(
                f"a {what} of {opaque.class_name} ({opaque.reason}) cannot be stepped over"
            )
        try:
            codec = Codec(compile_type(kind, wide_times=True))
            return codec.stops(self.changes.data, starts, self.ends)
        except DecodeError as error:
            raise self.error(f"a {what} does not decode: {error.what}", error.row) from None

    def rest(self, starts: Positions, before: bytes = b"") -> list[bytes | None]:
        """``before`` and what each change has from ``starts`` on; None for CLEAR."""
        cleared = (self.operations == CLEAR).tolist()
        texts = self.texts(starts, self.ends)
        return [None if clear else before + text for clear, text in zip(cleared, texts, strict=True)]

    def texts(self, starts: Positions, ends: Positions) -> list[bytes]:
        spans = Spans(data=self.changes.data, starts=starts, ends=ends)
        texts: list[bytes] = spans.to_arrow().to_pylist()
        return texts

    # -- lists and maps ------------------------------------------------------------------------------------

    def lists(self, starts: Positions) -> list[bytes | None]:
        """The canonical form of the whole lists at ``starts``; None for an empty one."""
        if not len(self):
            return []
        parts = self._marked(starts, self.state.value or t.scalar("null"), None)
        texts = iter(parts.joined(self.changes.data).to_pylist())
        return [next(texts) if count else None for count in parts.counts.tolist()]

    def maps(self, starts: Positions) -> list[list[tuple[bytes, bytes]]]:
        """The entries of the whole maps at ``starts``: user key, and value behind its null flag."""
        if not len(self):
            return []
        parts = self._marked(starts, self.state.value or t.scalar("null"), self.state.map_key)
        flags = parts.ends if parts.flags is None else parts.flags
        entries = list(zip(self.texts(parts.starts, flags), self.texts(flags, parts.ends), strict=True))
        bounds = parts.offsets.tolist()
        return [entries[a:b] for a, b in pairwise(bounds)]

    def timers(self) -> list[tuple[list[bytes], bool]]:
        """The composite keys that each change adds (True) or removes."""
        adds = self.operations == ADD_ELEMENT
        prefix = prefix_bytes(self.max_parallelism)
        prefixes = [group.to_bytes(prefix, "big") for group in self.groups.tolist()]
        added = iter(self.some(adds)._timer_lists())
        removed = self.texts(self.starts, self.ends)
        return [
            ([before + one for one in (next(added) if adding else [text])], adding)
            for before, text, adding in zip(prefixes, removed, adds.tolist(), strict=True)
        ]

    def _timer_lists(self) -> list[list[bytes]]:
        if not len(self):
            return []
        fields = (t.scalar("long"), self.state.key, self.state.namespace)
        timer = t.TupleType(
            class_name="timer",
            fields=tuple(t.Field(name=f"f{i}", type=kind) for i, kind in enumerate(fields)),
        )
        parts = self._marked(self.starts, timer, None)
        texts = self.texts(parts.starts, parts.ends)
        bounds = parts.offsets.tolist()
        return [texts[a:b] for a, b in pairwise(bounds)]

    def merged(self, starts: Positions) -> list[tuple[bytes, list[bytes]]]:
        """Of MERGE_NS changes, whose data begin at ``starts``: composite keys of the target and of the sources."""
        begins = self.starts
        keys = self.stops(self.state.key, begins, "key")
        stops = self.stops(self.state.namespace, starts, "namespace")
        targets = self._composed(begins, keys, starts, stops)
        at = stops + 4
        short = np.flatnonzero(at > self.ends)
        if len(short):
            raise self.error("the change ends inside its count of namespaces", int(short[0]))
        counts = self.changes.data[stops[:, None] + np.arange(4)].view(">i4")[:, 0].astype(np.int64)
        bad = np.flatnonzero((counts < 0) | (counts > self.ends - at + 1))
        if len(bad):
            raise self.error(f"{counts[bad[0]]} merged namespaces", int(bad[0]))
        sources: list[list[bytes]] = [[] for _ in targets]
        for passed in range(int(counts.max(initial=0))):
            more = counts > passed
            some = self.some(more)
            stops = some.stops(self.state.namespace, at[more], "namespace")
            composed = some._composed(begins[more], keys[more], at[more], stops)
            for row, source in zip(np.flatnonzero(more).tolist(), composed, strict=True):
                sources[row].append(source)
            at[more] = stops
        return list(zip(targets, sources, strict=True))

    def _marked(self, starts: Positions, value: t.DataType, map_key: t.DataType | None) -> Parts:
        for part in (value, map_key):
            opaque = t.opaque_in(part) if part else None
            if opaque is not None:
                raise self.unsupported(
                    f"a value of {opaque.class_name} ({opaque.reason}) cannot be stepped over"
                )
        try:
            return mark_parts(self.changes.data, starts, self.ends, value, map_key)
        except DecodeError as error:
            raise self.error(f"a change does not decode: {error.what}", error.row) from None

    def _composed(
        self, starts: Positions, ends: Positions, space_starts: Positions, space_ends: Positions
    ) -> list[bytes]:
        key = Spans(data=self.changes.data, starts=starts, ends=ends)
        space = Spans(data=self.changes.data, starts=space_starts, ends=space_ends)
        composed: list[bytes] = (
            self.state.composite(self.max_parallelism).join(self.groups, key, space, None).to_pylist()
        )
        return composed

    # -- errors --------------------------------------------------------------------------------------------

    def error(self, what: str, row: int = 0) -> FormatError:
        return FormatError(what, where=self.changes.where(int(self.rows[row]), self.state.name))

    def unsupported(self, what: str, row: int = 0) -> UnsupportedVersionError:
        where = self.changes.where(int(self.rows[row]), self.state.name)
        return UnsupportedVersionError(what, where=where, todo=_MATERIALIZE)
