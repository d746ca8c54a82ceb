"""The states of a changelog handle: those of its materialized headers and those that its changes announce."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...schemas import types as t
from ...schemas.errors import FormatError
from ...schemas.from_snapshot import SNAPSHOTS_ALONE, TypeRules
from ...schemas.snapshots import CompositeSnapshot, SerializerSnapshot
from ...schemas.wire import Reader
from .changelog_read import METADATA, Changes
from .header import KeyedBackendHeader
from .lenient import RawKeyedHeader
from .meta_info import BackendStateType, StateMetaInfo, read_state_meta_info
from .state_types import keyed_state_type

_META_INFO_VERSIONS = (6, 7)
_TAIL_BYTES = 3
"""i2 state id and u1 backend state type, at the end of an announcement."""


class ChangelogStates:
    """Each state once, by name and whether it is a queue, numbered as they come.

    ``key`` is the key's serializer, where something names it. ``conflicts`` says of states, by number, why the
    materialized part and the changes do not go together.
    """

    def __init__(self, types: TypeRules = SNAPSHOTS_ALONE) -> None:
        self._types = types
        self.metas: list[StateMetaInfo] = []
        self.key: SerializerSnapshot | None = None
        self.conflicts: dict[int, str] = {}
        self._numbers: dict[tuple[str, bool], int] = {}
        self._announced = np.full(1 << 16, -1, np.int32)

    def add_header(self, header: KeyedBackendHeader | RawKeyedHeader) -> list[int]:
        """The numbers of a materialized header's states, by their ids there."""
        if isinstance(header, RawKeyedHeader):
            raise header.reason
        self.key = self.key or header.key_serializer
        return [self._add(meta) for meta in header.states]

    def announce(self, changes: Changes) -> npt.NDArray[np.int32]:
        """The number of each change's state, -1 for the announcements. Changes are given in their order."""
        data, starts = changes.data, changes.starts
        numbers = np.full(len(starts), -1, np.int32)
        announcements = np.flatnonzero(data[starts] == METADATA).tolist()
        for first, last in zip([-1, *announcements], [*announcements, len(starts)], strict=True):
            if first >= 0:
                self._announce(changes, first)
            rows = slice(first + 1, last)
            short = np.flatnonzero(changes.ends[rows] - starts[rows] < 3)
            if len(short):
                raise FormatError("a change is too short", where=changes.where(first + 1 + int(short[0])))
            ids = data[starts[rows] + 1].astype(np.int32) << 8 | data[starts[rows] + 2]
            numbers[rows] = self._announced[ids]
            unknown = np.flatnonzero(numbers[rows] < 0)
            if len(unknown):
                row = int(unknown[0])
                where = changes.where(first + 1 + row)
                raise FormatError(f"a change of state {int(ids[row])}, which was not announced", where=where)
        return numbers

    def _announce(self, changes: Changes, row: int) -> None:
        where = changes.where(row)
        raw = changes.data[int(changes.starts[row]) + 1 : int(changes.ends[row])].tobytes()
        reader = Reader(raw, file=where.file)
        try:
            version = reader.i4("meta information version")
            if version not in _META_INFO_VERSIONS:
                raise reader.error(f"meta information version {version} is unknown")
            meta = read_state_meta_info(reader)
            # TTL settings (a Java object, never read) and a default value stand between: the tail is fixed.
            reader.pos = max(reader.pos, len(raw) - _TAIL_BYTES)
            state = reader.u2("state id")
            kind = reader.u1("backend state type")
            if kind != meta.backend_state_type:
                raise reader.error(f"backend state types {meta.backend_state_type} and {kind} of one state")
        except FormatError as error:
            error.where = where.within(error.where)
            raise
        self._announced[state] = self._add(meta)

    def _add(self, meta: StateMetaInfo) -> int:
        queue = meta.backend_state_type is BackendStateType.PRIORITY_QUEUE
        number = self._numbers.setdefault((meta.name, queue), len(self.metas))
        if number == len(self.metas):
            self.metas.append(meta)
        elif self.metas[number] != meta and self._type(self.metas[number]) != self._type(meta):
            self.conflicts[number] = f"the serializers of state {meta.name!r} changed within its changelog"
        if queue and self.key is None and isinstance(meta.value_serializer, CompositeSnapshot):
            self.key = meta.value_serializer.nested[0]
        return number

    def _type(self, meta: StateMetaInfo) -> object:
        return keyed_state_type(meta, t.scalar("void"), self._types)
