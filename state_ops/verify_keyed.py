"""Verification of one subtask's keyed state: every entry is read, decoded, and stands where its key belongs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..io.keyed.backend import KeyedBackend
from ..io.keyed.canonical import read_canonical
from ..io.keyed.entries import EntryBatch, Window
from ..io.metadata import KeyGroupRange
from ..schemas import types as t
from ..schemas.errors import StateliftError, Where
from ..schemas.hashing import may_have_names, stability
from .damage import Damage
from .findings import Examples, Finding, Progress, fault, is_format_gap, key_groups_text, of_error, unchecked
from .tables import KeyedTable
from .verify_kernels import fingerprints

_MAX_STATES = 0x8000
_LEAST_HELD = 4096

Groups = npt.NDArray[np.int32]
Fingerprints = npt.NDArray[np.uint64]


@dataclass
class KeyedCheck:
    """Checks a backend. ``entries`` counts what was read, by state name; iterate over ``findings()`` once.

    Where a key group cannot be read the others are, and of a state that cannot, the other states.
    """

    backend: KeyedBackend
    where: Where
    progress: Progress
    batch_bytes: int
    entries: dict[str, int] = field(default_factory=dict)
    gaps: list[StateliftError] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tables = [
            KeyedTable(kind, self.backend.max_parallelism, wide_times=True) for kind in self.backend.states
        ]

    def findings(self) -> Iterator[Finding]:
        try:
            if self.backend.format == "rocksdb":
                self.backend.families()
            elif self.backend.stream is not None:
                self.backend.regions()
        except StateliftError as error:
            yield of_error(error, self.where)
            return
        for wanted in self._parts():
            failed: list[tuple[int, StateliftError]] = []
            for unit in self._units(self.backend.key_groups, wanted, failed):
                yield from unit.findings()
                for state, count in unit.counts.items():
                    name = self.name(state)
                    self.entries[name] = self.entries.get(name, 0) + count
            yield from self._unread(failed, wanted)
            yield from self._gaps(wanted)

    def name(self, state: int) -> str:
        return self.tables[state].type.name if state < len(self.tables) else f"number {state}"

    def _parts(self) -> list[frozenset[int] | None]:
        """RocksDB's states lie in files of their own, and those of a heap that has one which cannot be stepped over
        may stand before it: each is read alone, so that none hides another."""
        if self.backend.format != "rocksdb" and not (self.backend.format == "hashmap" and self._has_opaque()):
            return [None]
        return [frozenset((state,)) for state in range(len(self.tables))]

    def _has_opaque(self) -> bool:
        return any(t.opaque_in(part) for kind in self.backend.states for part in kind.nodes())

    def _gaps(self, wanted: frozenset[int] | None) -> Iterator[Finding]:
        """What of a heap was not read, since it stands at or behind a value that cannot be stepped over."""
        for error in self.gaps:
            own = self.name(next(iter(wanted))) if wanted is not None else None
            if own is None or own == error.where.state:
                yield of_error(error, self.where)
            else:
                what = f"its entries stand behind those of {error.where.state}: {error.what}"
                yield unchecked(what, replace(error.where, state=own).within(self.where))
        self.gaps.clear()

    def _units(
        self, groups: KeyGroupRange, wanted: frozenset[int] | None, failed: list[tuple[int, StateliftError]]
    ) -> Iterator[_Unit]:
        """Key groups read without an error, as many at once as can be; the others are halved down to single ones."""
        unit = _Unit(self, wanted)
        try:
            for window in self.windows(groups, wanted):
                unit.add(window)
            unit.end()
        except StateliftError as error:
            if self.backend.format == "hashmap" and is_format_gap(error):  # all was read that can be
                unit.end()
                self.gaps.append(error)
                yield unit
                return
            if len(groups) > 1:
                half = len(groups) // 2
                yield from self._units(KeyGroupRange(groups.start, half), wanted, failed)
                yield from self._units(KeyGroupRange(groups.start + half, len(groups) - half), wanted, failed)
                return
            lenient = self._lenient(groups.start)
            if lenient is None:
                failed.append((groups.start, error))
            else:
                yield lenient
            return
        yield unit

    def windows(self, groups: KeyGroupRange, wanted: frozenset[int] | None) -> Iterator[Window]:
        return self.backend.windows(groups, wanted, self.batch_bytes)

    def _lenient(self, key_group: int) -> _Unit | None:
        """One canonical key group with what does not belong there; None where it cannot be read even so."""
        if self.backend.format != "canonical" or self.backend.stream is None:
            return None
        unit = _Unit(self, None, stands_in=key_group)
        try:
            for window in read_canonical(
                self.backend.stream, self.backend.regions(KeyGroupRange(key_group, 1)), states=_MAX_STATES,
                max_parallelism=self.backend.max_parallelism, compressed=self.backend.header.compressed,
                batch_bytes=self.batch_bytes, lenient=True,
            ):  # fmt: skip
                unit.add(window)
            unit.end()
        except StateliftError:
            return None
        return unit

    def _unread(
        self, failed: list[tuple[int, StateliftError]], wanted: frozenset[int] | None
    ) -> Iterator[Finding]:
        """One finding for all key groups that fail alike."""
        alike: dict[tuple[str, str | None], list[tuple[int, StateliftError]]] = {}
        for group, error in failed:
            alike.setdefault((error.what, error.where.file), []).append((group, error))
        bad = {group for group, _ in failed}
        rest = [group for group in self.backend.key_groups if group not in bad]
        others = f"; {key_groups_text(rest)} can" if rest else ""
        for same in alike.values():
            groups = [group for group, _ in same]
            error = same[0][1]
            where = error.where.within(self.where)
            if wanted is not None:
                where = where.within(Where(state=self.name(next(iter(wanted)))))
            text = f"{key_groups_text(groups)} cannot be read: {error.what}{others}"
            yield (unchecked if is_format_gap(error) else fault)(text, where)


@dataclass
class _Unit:
    """What a reading of some key groups found. ``stands_in`` is the one key group of a lenient reading."""

    check: KeyedCheck
    wanted: frozenset[int] | None
    stands_in: int | None = None
    counts: dict[int, int] = field(default_factory=dict)
    broken: dict[int, Damage] = field(default_factory=dict)
    misplaced: dict[int, Examples] = field(default_factory=dict)
    unknown: dict[int, int] = field(default_factory=dict)
    held: dict[int, list[tuple[Groups, Fingerprints]]] = field(default_factory=dict)
    twice: dict[int, set[tuple[int, int]]] = field(default_factory=dict)

    def add(self, window: Window) -> None:
        for state, batch in window.items():
            self.check.progress(batch.nbytes)
            if state >= len(self.check.tables):
                self.unknown[state] = self.unknown.get(state, 0) + len(batch)
                continue
            self.counts[state] = self.counts.get(state, 0) + len(batch)
            table = self.check.tables[state]
            for rows in self.broken.setdefault(state, Damage()).sound(table, batch):
                self._check_places(state, table, *rows)
            self._hold(state, batch)

    def end(self) -> None:
        for state in self.held:
            self._settle(state, None)

    def _broken(self, state: int, damage: Damage) -> Iterator[Finding]:
        where = Where(state=self.check.name(state)).within(self.check.where)
        examples = Examples("entries do not decode or were left out behind them", where, [])
        for error in damage.errors:
            examples.add(of_error(error, where))
        examples.count = damage.count
        yield from examples
        for what in damage.not_decoded.lines():
            yield unchecked(what, where)

    # -- places --------------------------------------------------------------------------------------------

    def _check_places(self, state: int, table: KeyedTable, batch: EntryBatch, rows: pa.RecordBatch) -> None:
        stands = batch.key_groups
        if self.stands_in is not None:
            stands = np.full(len(batch), self.stands_in, np.int32)
        belongs = batch.key_groups
        keys = rows.column("key")
        if stability(table.type.key) is None:
            belongs = np.where(keys.is_valid(), table.stored_key_groups(batch, keys), stands)
        where = Where(state=table.type.name).within(self.check.where)
        for row in np.flatnonzero(stands != belongs).tolist():
            misplaced = self.misplaced.setdefault(state, Examples("misplaced keys", where, []))
            if misplaced.count < 5:
                stand, belong = int(stands[row]), int(belongs[row])
                what = f"the key {_short(keys[row])} stands in key group {stand} and belongs to {belong}"
                misplaced.add(fault(what, Where(key_group=stand).within(where)))
            else:
                misplaced.count += 1

    # -- duplicates ----------------------------------------------------------------------------------------

    def _hold(self, state: int, batch: EntryBatch) -> None:
        """Keep the fingerprints of the keys until their key group is over: 12 bytes for each entry of it.

        Those of all states together take little more than a batch.
        """
        prints = np.empty(len(batch), np.uint64)
        fingerprints(batch.keys.data, batch.keys.starts, batch.keys.ends, prints)
        held = self.held.setdefault(state, [])
        held.append((batch.key_groups, prints))
        most = max(_LEAST_HELD, self.check.batch_bytes // (16 * len(self.check.tables)))
        if sum(len(groups) for groups, _ in held) > most:
            self._settle(state, int(batch.key_groups[-1]))

    def _settle(self, state: int, unfinished: int | None) -> None:
        """Look for equal fingerprints; those of the key group ``unfinished`` are kept for later."""
        held = self.held[state]
        if not held:
            return
        groups = np.concatenate([one for one, _ in held])
        prints = np.concatenate([one for _, one in held])
        order = np.lexsort((prints, groups))
        same = (prints[order][1:] == prints[order][:-1]) & (groups[order][1:] == groups[order][:-1])
        for row in order[1:][same].tolist():
            self.twice.setdefault(state, set()).add((int(groups[row]), int(prints[row])))
        keep = groups == (-1 if unfinished is None else unfinished)
        self.held[state] = [(groups[keep], prints[keep])] if keep.any() else []

    def _duplicates(self) -> Iterator[Finding]:
        for state, suspects in self.twice.items():
            table = self.check.tables[state]
            where = Where(state=table.type.name).within(self.check.where)
            found = Examples("keys stand several times", where, [])
            for group in sorted({group for group, _ in suspects}):
                prints = np.array([value for g, value in suspects if g == group], np.uint64)
                for key, count in self._repeated(state, group, prints):
                    what = f"the key {key} stands {count} times in its key group"
                    found.add(fault(what, Where(key_group=group).within(where)))
            yield from found

    def _repeated(self, state: int, group: int, prints: Fingerprints) -> Iterator[tuple[str, int]]:
        """Read a key group again for the keys whose fingerprints are equal."""
        seen: dict[bytes, tuple[str, int]] = {}
        table = self.check.tables[state]
        for window in self.check.windows(KeyGroupRange(group, 1), frozenset((state,))):
            batch = window[state]
            own = np.empty(len(batch), np.uint64)
            fingerprints(batch.keys.data, batch.keys.starts, batch.keys.ends, own)
            suspects = batch.take(np.flatnonzero(np.isin(own, prints)))
            if not len(suspects):
                continue
            rows = table.decode(suspects)
            for row, raw in enumerate(suspects.keys.to_arrow(clear_flag=True).to_pylist()):
                text = ", ".join(
                    _short(rows.column(name)[row])
                    for name in ("key", "namespace", "map_key", "timestamp")
                    if name in rows.schema.names
                )
                seen[raw] = (text, seen.get(raw, ("", 0))[1] + 1)
        yield from (one for one in seen.values() if one[1] > 1)

    # -- the end -------------------------------------------------------------------------------------------

    def findings(self) -> Iterator[Finding]:
        for state, count in sorted(self.unknown.items()):
            where = Where(key_group=self.stands_in).within(self.check.where)
            known = self.check.backend.state_count
            if state < known:
                yield unchecked(f"{count} entries of state number {state}, whose type is not known", where)
            else:
                what = f"unknown state id {state}: {count} entries, the header defines {known} states"
                yield fault(what, where)
        for state, damage in self.broken.items():
            yield from self._broken(state, damage)
        for state, examples in self.misplaced.items():
            if may_have_names(self.check.tables[state].type.key):
                what = (
                    f"{examples.count} keys are rows that hash to other key groups by the position of their fields:"
                    " rows with named fields hash by the names, which no snapshot has"
                )
                yield unchecked(what, examples.where)
            else:
                yield from examples
        try:
            yield from self._duplicates()
        except StateliftError as error:
            yield of_error(error, self.check.where)


def _short(value: pa.Scalar) -> str:
    text = repr(value.as_py())
    return text if len(text) <= 80 else text[:77] + "…"
