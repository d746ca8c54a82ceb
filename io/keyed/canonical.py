"""The canonical format: framed entries in key groups (spec 5.4), read in bounded steps and written in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...schemas.errors import FormatError, UnexpectedEndError, Where
from ..memory import BATCH_BYTES
from ..stores import StoreWriter
from ..streams import StateStream
from . import entry_kernels as kernels
from .entries import Bytes, EntryBatch, Positions, Spans, Window
from .regions import Piece, Region, Rest, pieces

_ROWS = 1 << 18


def prefix_bytes(max_parallelism: int) -> int:
    """Width of the key-group prefix in bytes (spec 5.3)."""
    return 1 if max_parallelism <= 128 else 2


def read_canonical(
    stream: StateStream,
    regions: Sequence[Region],
    *,
    states: int,
    max_parallelism: int,
    compressed: bool,
    wanted: frozenset[int] | None = None,
    batch_bytes: int = BATCH_BYTES,
    lenient: bool = False,
) -> Iterator[Window]:
    """The entries of the key groups ``regions``, in their order, in steps of about ``batch_bytes``.

    ``states`` is how many the header defines; ``wanted`` leaves out other state ids. ``lenient`` lets entries
    through whose key names another key group than the one they stand in. Raises FormatError naming the key group
    and the offset (of the plain bytes where the stream is compressed).
    """
    scanner = _Scanner(stream, states, prefix_bytes(max_parallelism), wanted, lenient)
    for piece in pieces(stream, regions, compressed=compressed, chunk_bytes=batch_bytes):
        yield from scanner.piece(piece)


@dataclass(slots=True)
class _Scanner:
    """Cuts pieces into entries. What a piece leaves of an entry is carried to the next one."""

    stream: StateStream
    states: int
    prefix: int
    wanted: frozenset[int] | None
    lenient: bool
    rest: Rest = field(default_factory=Rest)
    state: int = -1

    def piece(self, piece: Piece) -> Iterator[Window]:
        data = self.rest.before(piece)
        if data is None:
            return
        carried = len(data) - len(piece.data)
        bounds = piece.bounds.copy()
        bounds[:, 1] += carried
        any_group = kernels.ANY_KEY_GROUP if self.lenient else None
        groups = np.array([any_group or region.key_group for region in piece.regions], np.int64)
        rows = min(_ROWS, len(data) // 9 + 1)
        at = np.array([0, bounds[0, 0], self.state, 0, kernels.FULL], np.int64)
        while at[4] == kernels.FULL:
            row_groups, ids = np.empty(rows, np.int32), np.empty(rows, np.int32)
            spans = np.empty((4, rows), np.int64)
            kernels.scan(
                data, groups, bounds, self.states, self.prefix, row_groups, ids,
                spans[0], spans[1], spans[2], spans[3], at,
            )  # fmt: skip
            count = int(at[3])
            window = self._split(data, row_groups[:count], ids[:count], [span[:count] for span in spans])
            if window:
                yield window
        index, pos, self.state, _, reason = map(int, at)
        if reason == kernels.MORE and not piece.last:
            self.rest.keep(data[pos:])
            return
        if reason != kernels.DONE:
            raise self._error(reason, piece.regions[index], piece.offset + pos - carried)
        self.state = -1

    def _split(
        self,
        data: Bytes,
        groups: npt.NDArray[np.int32],
        ids: npt.NDArray[np.int32],
        spans: Sequence[Positions],
    ) -> Window:
        window: Window = {}
        for state in np.flatnonzero(np.bincount(ids)).tolist():
            if self.wanted is not None and state not in self.wanted:
                continue
            mask = ids == state
            rows = slice(None) if mask.all() else np.flatnonzero(mask)
            key_starts, key_ends, value_starts, value_ends = (span[rows] for span in spans)
            window[state] = EntryBatch(
                key_groups=groups[rows],
                keys=Spans(data=data, starts=key_starts, ends=key_ends),
                values=Spans(data=data, starts=value_starts, ends=value_ends),
            )
        return window

    def _error(self, reason: int, region: Region, offset: int) -> FormatError:
        where = Where(file=self.stream.name, key_group=region.key_group, offset=offset)
        if reason == kernels.MORE:
            return UnexpectedEndError("the data ends inside an entry", where=where)
        what = {
            kernels.BAD_LENGTH: "an entry has an impossible length",
            kernels.BAD_KEY_GROUP: "an entry belongs to another key group",
            kernels.BAD_STATE: f"an unknown state id: the header defines {self.states}",
        }
        return FormatError(what[reason], where=where)


@dataclass(slots=True)
class CanonicalWriter:
    """Writes windows as a canonical stream. ``offsets[kg]`` is where key group kg begins, 0 where it is empty.

    ``base`` is the position of the first byte in the stream: the header's length, or what earlier parts took.
    The last window is held back, since the next one may go on with its last state.
    """

    out: StoreWriter
    base: int
    offsets: dict[int, int] = field(default_factory=dict)
    position: int = 0
    _held: Bytes | None = None
    _flag: int = 0  # in ``_held``: the first byte of the last key
    _open: tuple[int, int] = (-1, -1)  # key group and state of the last entry

    def write(self, window: Window) -> None:
        """Append entries; key groups never fall from one window to the next."""
        window = {state: batch for state, batch in window.items() if len(batch)}
        if not window:
            return
        first = min((int(batch.key_groups[0]), state) for state, batch in window.items())
        if first[0] < self._open[0]:
            raise ValueError(f"key group {first[0]} after {self._open[0]}")
        goes_on = first == self._open
        runs = [
            _Runs.of(state, batch, goes_on=goes_on and state == first[1])
            for state, batch in sorted(window.items())
        ]
        groups = np.concatenate([run.groups for run in runs])
        order = np.lexsort((np.concatenate([np.full(len(r.groups), i) for i, r in enumerate(runs)]), groups))
        sizes = np.concatenate([run.sizes for run in runs])[order]
        ordered = groups[order]
        new_group = np.empty(len(ordered), np.bool_)
        new_group[0] = ordered[0] != self._open[0]
        new_group[1:] = ordered[1:] != ordered[:-1]
        closes = new_group.astype(np.int64) * 2
        if self._open[0] < 0:
            closes[0] = 0
        ends = np.cumsum(sizes + closes)
        starts = ends - sizes
        out = np.empty(int(ends[-1]), np.uint8)
        for at in (starts - closes)[closes > 0]:
            out[at : at + 2] = 0xFF
        back = np.empty(len(order), np.int64)
        back[order] = starts
        at = 0
        for run in runs:
            run.write(out, back[at : at + len(run.groups)])
            at += len(run.groups)
        for group, start in zip(ordered[new_group].tolist(), starts[new_group].tolist(), strict=True):
            self.offsets[group] = self.base + self.position + start
        last = max((int(batch.key_groups[-1]), state) for state, batch in window.items())
        self._hold(out, window[last[1]], goes_on)
        self._open = last

    def _hold(self, out: Bytes, last: EntryBatch, goes_on: bool) -> None:
        if self._held is not None and goes_on:
            self._held[self._flag] &= 0x7F
        self._put_held()
        self._held = out
        self._flag = len(out) - 4 - int(last.values.lengths[-1] + last.keys.lengths[-1])
        self.position += len(out)

    def finish(self) -> None:
        """End the last key group. The output is left open."""
        self._put_held()
        if self._open[0] >= 0:
            self.out.write(b"\xff\xff")
            self.position += 2

    def _put_held(self) -> None:
        if self._held is not None:
            self.out.write(memoryview(self._held))  # type: ignore[arg-type]
            self._held = None


@dataclass(frozen=True, slots=True)
class _Runs:
    """The entries of one state, cut where the key group changes: ``groups`` and framed ``sizes`` of each run.

    Where the first run ``goes_on`` with the state that was last written, its id does not come again.
    """

    state: int
    batch: EntryBatch
    groups: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]
    framed: npt.NDArray[np.int64]
    goes_on: bool

    @staticmethod
    def of(state: int, batch: EntryBatch, *, goes_on: bool) -> _Runs:
        changes = np.flatnonzero(np.diff(batch.key_groups)) + 1
        firsts = np.concatenate([[0], changes]).astype(np.int64)
        framed = batch.keys.lengths + batch.values.lengths + 8
        framed[firsts[1:] if goes_on else firsts] += 2
        return _Runs(
            state,
            batch,
            batch.key_groups[firsts].astype(np.int64),
            np.add.reduceat(framed, firsts),
            firsts,
            framed,
            goes_on,
        )

    def write(self, out: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]) -> None:
        rows = len(self.batch)
        first, last = np.zeros(rows, np.bool_), np.zeros(rows, np.bool_)
        first[self.firsts] = True
        first[0] = not self.goes_on
        last[np.concatenate([self.firsts[1:] - 1, [rows - 1]])] = True
        before = np.cumsum(self.framed) - self.framed
        counts = np.diff(np.concatenate([self.firsts, [rows]]))
        positions = before + np.repeat(starts - before[self.firsts], counts)
        keys, values = self.batch.keys, self.batch.values
        kernels.frame(
            keys.data, keys.starts, keys.ends, values.data, values.starts, values.ends, self.state, first, last,
            positions, out,
        )  # fmt: skip
