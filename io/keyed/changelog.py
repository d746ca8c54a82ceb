"""Changelog checkpoints (spec 12): a materialized part of any format, and the changes since.

The changes are read when the handle is opened, since they announce their states, and are held in memory: their
plain bytes, and while a state is read some hundred bytes for each of its keys, map entries or timers that changed.
The materialized part is streamed.

Changes are those of the outer handle's key groups, as in ChangelogBackendLogApplier, not of each inner handle's:
after a job was rescaled twice the same log may stand in two of them, and Flink replays all of it twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ...schemas.errors import FormatError, UnsupportedVersionError
from ...schemas.snapshots import SerializerSnapshot
from ..memory import Held
from ..metadata import (
    ChangelogStateBackendHandle,
    ChangelogStateHandleStreamImpl,
    InMemoryChangelogStateHandle,
    KeyGroupRange,
)
from ..streams import StreamOpener
from .canonical import prefix_bytes
from .changelog_merge import merge
from .changelog_read import Changes, read_changes
from .changelog_replay import Overlay, replay
from .changelog_rows import StateRows
from .changelog_states import ChangelogStates
from .entries import Window
from .header import KEYED_VERSION, KeyedBackendHeader
from .key_inference import infer_key
from .lenient import RawKeyedHeader
from .state_types import KeyedStateType, state_types


class Materialized(Protocol):
    """What is asked of the backend of a materialized handle."""

    header: KeyedBackendHeader | RawKeyedHeader
    key_groups: KeyGroupRange

    def windows(
        self, key_groups: KeyGroupRange | None, wanted: frozenset[int] | None, batch_bytes: int
    ) -> Iterator[Window]: ...

    @property
    def nbytes(self) -> int: ...


@dataclass(slots=True)
class Changelog:
    """An opened changelog handle. ``header`` has the states of the materialized part and then those that only the
    changes announce. ``remarks`` say how the key's serializer was found where nothing names it, and where Flink itself
    takes changes twice."""

    header: KeyedBackendHeader | RawKeyedHeader
    states: Sequence[KeyedStateType]
    max_parallelism: int
    bases: Sequence[tuple[Materialized, Sequence[int]]]
    changes: Sequence[Changes]
    ids: Sequence[npt.NDArray[np.int32]]
    conflicts: Mapping[int, str]
    remarks: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        return sum(base.nbytes for base, _ in self.bases) + sum(len(one.data) for one in self.changes)

    def windows(
        self, key_groups: KeyGroupRange, wanted: frozenset[int] | None, batch_bytes: int
    ) -> Iterator[Window]:
        """The entries after all changes. Raises as ``replay``, for the wanted states only."""
        overlays: dict[int, Overlay] = {}
        for state in range(len(self.states)):
            if wanted is None or state in wanted:
                if state in self.conflicts:
                    raise UnsupportedVersionError(self.conflicts[state])
                overlays[state] = replay(self.states[state], self._rows(state, key_groups))
        base = self._base_windows(key_groups, frozenset(overlays), batch_bytes)
        yield from merge(base, overlays, prefix_bytes(self.max_parallelism))

    def _rows(self, state: int, key_groups: KeyGroupRange) -> Iterator[StateRows]:
        for changes, ids in zip(self.changes, self.ids, strict=True):
            groups = changes.key_groups
            rows = np.flatnonzero((ids == state) & (groups >= key_groups.start) & (groups <= key_groups.end))
            if len(rows):
                yield StateRows(self.states[state], changes, rows, self.max_parallelism)

    def _base_windows(
        self, key_groups: KeyGroupRange, wanted: frozenset[int], batch_bytes: int
    ) -> Iterator[Window]:
        for base, ids in self.bases:
            own = frozenset(i for i, state in enumerate(ids) if state in wanted)
            for window in base.windows(key_groups, own, batch_bytes):
                yield {ids[i]: batch for i, batch in window.items()}


def open_changelog(
    handle: ChangelogStateBackendHandle,
    bases: Sequence[Materialized],
    opener: StreamOpener,
    max_parallelism: int,
    key_serializer: SerializerSnapshot | None = None,
) -> Changelog:
    """Read the changes of ``handle``, whose materialized handles are opened as ``bases``.

    A changelog names no key serializer: it is that of the materialized part, else of a timer state, else
    ``key_serializer``, else the one simple type by which all keys decode and belong to their key groups.
    Raises UnsupportedVersionError where that cannot be told, FormatError for damaged changes.
    """
    bases = _in_order(bases, handle.key_group_range)
    states = ChangelogStates(opener.types)
    base_ids = [states.add_header(base.header) for base in bases]
    changes = []
    held = Held(opener.memory, "what changed in a changelog checkpoint")
    for one in read_changes(handle.non_materialized, opener):
        held.add(len(one.data))
        changes.append(one)
    ids = [states.announce(one) for one in changes]
    key, remark = states.key or key_serializer, None
    if key is None:
        key, remark = infer_key(states.metas, changes, ids, max_parallelism, opener.types)
    header = _header(key, states)
    return Changelog(
        header=header,
        states=state_types(header, opener.types),
        max_parallelism=max_parallelism,
        bases=tuple(zip(bases, base_ids, strict=True)),
        changes=changes,
        ids=ids,
        conflicts=states.conflicts,
        remarks=tuple(text for text in (remark, _doubled(handle)) if text is not None),
    )


def _doubled(handle: ChangelogStateBackendHandle) -> str | None:
    """What to say where one log stands in several handles: it does after a job was rescaled twice."""
    logs: list[object] = []
    for one in handle.non_materialized:
        if isinstance(one, InMemoryChangelogStateHandle):
            logs += [one.changes] if one.changes else []
        elif isinstance(one, ChangelogStateHandleStreamImpl):
            logs += one.handles_and_offsets
    doubled = len(logs) - len(set(logs))
    if not doubled:
        return None
    return (
        f"{doubled} of {len(logs)} change sets come a second time, as after a job was rescaled twice: Flink replays"
        " them again, which undoes newer changes; what is read is what Flink restores"
    )


def _header(key: SerializerSnapshot | None, states: ChangelogStates) -> KeyedBackendHeader | RawKeyedHeader:
    if key is not None:
        return KeyedBackendHeader(key_serializer=key, states=tuple(states.metas))
    reason = UnsupportedVersionError("the changelog has no keys and names no key serializer")
    return RawKeyedHeader(version=KEYED_VERSION, compressed=False, raw=b"", reason=reason)


def _in_order(bases: Sequence[Materialized], key_groups: KeyGroupRange) -> list[Materialized]:
    """The bases by key group; each holds its own key groups of the handle's."""
    ordered = sorted(bases, key=lambda base: base.key_groups.start)
    for before, after in pairwise(ordered):
        if min(before.key_groups.end, key_groups.end) >= max(after.key_groups.start, key_groups.start):
            raise FormatError("the materialized handles of a changelog hold the same key groups")
    return ordered
