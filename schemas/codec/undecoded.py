"""Values that are as Flink writes them and that nothing here reads: which rows of a batch hold one, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from . import ops
from .columns import Bytes, Positions, Reasons
from .kryo_classes import DEFAULT_IDS

#: Why a value is not decoded: a reason of ``ops``, and the class that it is about where the bytes name one.
Why = tuple[int, str | None]

FAR_TIMES_TODO = "wide_times (--wide-times, in a plan wide_times: true) gives such times in their parts"
SUBCLASS_TODO = (
    "declare which class it extends, and its fields or that it is opaque (--types, in a plan types:)"
)
KRYO_TODO = "declare what is in it (--types, in a plan types:)"
#: What reads such values after all, by reason.
TODO = {
    ops.FAR_TIME: FAR_TIMES_TODO, ops.SUBCLASS: SUBCLASS_TODO, ops.BAD_KRYO: KRYO_TODO, ops.KRYO_SHAPE: KRYO_TODO,
}  # fmt: skip

_MOST_NAMED = 1000
"""Of so many rows of a batch the class is looked up; those beyond are counted without one."""
_LONGEST_NAME = 1000
_FLAG_OF_NAME = 4
_STOPS_BEHIND = (ops.FAR_TIME, ops.NO_TEXT, ops.NULL_KEY, ops.OTHER_NULL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Rows (int64) with the reason of each (uint8), and where in ``data`` the class of each is named (-1: nowhere)."""

    rows: Positions
    reasons: Reasons
    data: Bytes
    places: Positions

    @staticmethod
    def all(rows: Positions, reason: int) -> Gap:
        """All these rows, for one reason that is about no class."""
        reasons = np.full(len(rows), reason, np.uint8)
        places = np.full(len(rows), -1, np.int64)
        return Gap(rows=rows, reasons=reasons, data=np.empty(0, np.uint8), places=places)

    @staticmethod
    def of(data: Bytes, stops: Positions, reasons: Reasons) -> Gap:
        """What a run of a kernel left out of ``data``."""
        rows = np.flatnonzero(reasons)
        return Gap(rows=rows, reasons=reasons[rows], data=data, places=stops[rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecoded:
    """What of a batch is not decoded. ``mask`` tells the rows; ``numbers`` are Kryo's of registered classes."""

    mask: npt.NDArray[np.bool_]
    gaps: Sequence[Gap] = ()
    numbers: Mapping[int, str] = field(default_factory=dict)

    @staticmethod
    def none(rows: int) -> Undecoded:
        return Undecoded(mask=np.zeros(rows, np.bool_))

    def __len__(self) -> int:
        """How many rows are not decoded."""
        return int(np.count_nonzero(self.mask))

    def then(self, other: Undecoded) -> Undecoded:
        """This, with the rows of ``other`` behind."""
        base = len(self.mask)
        behind = [replace(gap, rows=gap.rows + base) for gap in other.gaps]
        mask = np.concatenate([self.mask, other.mask])
        return Undecoded(mask=mask, gaps=[*self.gaps, *behind], numbers={**self.numbers, **other.numbers})

    def beside(self, other: Undecoded) -> Undecoded:
        """This, with what ``other`` says of the same rows."""
        if not len(other):
            return self
        numbers = {**self.numbers, **other.numbers}
        return Undecoded(mask=self.mask | other.mask, gaps=[*self.gaps, *other.gaps], numbers=numbers)

    def why(self) -> Counter[Why]:
        """How many rows are not decoded for which reason; each row counts once, by what was found first."""
        found: Counter[Why] = Counter()
        counted = np.zeros(len(self.mask), np.bool_)
        left = _MOST_NAMED
        for gap in self.gaps:
            new = np.flatnonzero(~counted[gap.rows])
            counted[gap.rows] = True
            for i in new[:left].tolist():
                found[int(gap.reasons[i]), self._class(gap, i)] += 1
            for reason, number in zip(*np.unique(gap.reasons[new[left:]], return_counts=True), strict=True):
                found[int(reason), None] += int(number)
            left = max(0, left - len(new))
        return found

    def first(self) -> tuple[int, Why]:
        """The first row that is not decoded, and why."""
        row = int(np.argmax(self.mask))
        for gap in self.gaps:
            for i in np.flatnonzero(gap.rows == row)[:1].tolist():
                return row, (int(gap.reasons[i]), self._class(gap, i))
        raise AssertionError(row)

    def _class(self, gap: Gap, i: int) -> str | None:
        return class_at(gap.data, int(gap.places[i]), int(gap.reasons[i]), self.numbers)


def text(why: Why) -> str:
    """``a subclass whose serializer is not in the snapshot: com.acme.X``."""
    reason, name = why
    return f"{ops.REASONS[reason]}: {name}" if name else ops.REASONS[reason]


def is_behind(reasons: Reasons) -> npt.NDArray[np.bool_]:
    """Of which values left out the end was found all the same."""
    return np.isin(reasons, _STOPS_BEHIND)


def class_at(data: Bytes, place: int, reason: int, numbers: Mapping[int, str]) -> str | None:
    """The class that is named at ``place``, where a kernel met one that it does not know."""
    if place < 0:
        return None
    head = data[place : place + _LONGEST_NAME].tobytes()
    if reason == ops.SUBCLASS:
        if not place or data[place - 1] != _FLAG_OF_NAME:
            return None
        n = int.from_bytes(head[:2], "big")
        return head[2 : 2 + n].decode(errors="replace") if n <= len(head) - 2 else None
    if reason in (ops.BAD_KRYO, ops.KRYO_COMPARATOR):
        return _kryo_class(head, numbers)
    return None


def _kryo_class(head: bytes, numbers: Mapping[int, str]) -> str | None:
    """The class in ``writeClass``'s bytes: a number, or 1, the name's number and the name as ASCII that ends at a
    byte with its high bit."""
    tag, at = _varint(head, 0)
    if tag > 1:
        number = tag - 2
        standing = next((name for name, own in DEFAULT_IDS.items() if own == number), None)
        return numbers.get(number) or standing or f"number {number} of Kryo's"
    if tag < 1:
        return None
    _, at = _varint(head, at)
    end = next((i for i in range(at, len(head)) if head[i] >= 0x80), -1)
    if end <= at:
        return None
    return (head[at:end] + bytes([head[end] & 0x7F])).decode()


def _varint(head: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(head):
        value |= (head[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if head[at - 1] < 0x80:
            break
    return value, at
