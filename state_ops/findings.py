"""What a verification says: findings, and the tally of what was looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from ..schemas.errors import StateliftError, UnknownSerializerError, UnsupportedVersionError, Where

EXAMPLES = 5
"""How many of many equal findings are given one by one."""

Severity = Literal["fault", "unchecked"]
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """``fault``: something is wrong. ``unchecked``: something could not be looked at, and why."""

    severity: Severity
    what: str
    where: Where

    def as_dict(self) -> dict[str, object]:
        """For JSON: what, and the places that are known."""
        places = {field.name: getattr(self.where, field.name) for field in fields(self.where)}
        return {"what": self.what, **{name: place for name, place in places.items() if place is not None}}

    def __str__(self) -> str:
        place = str(self.where)
        return " ".join((self.what + (f" ({place})" if place else "")).split())


@dataclass(slots=True)
class Tally:
    """What was looked at: entries and states, bytes of their files."""

    entries: int = 0
    states: int = 0
    nbytes: int = 0


def fault(what: str, where: Where) -> Finding:
    return Finding(severity="fault", what=what, where=where)


def unchecked(what: str, where: Where) -> Finding:
    return Finding(severity="unchecked", what=what, where=where)


def of_error(error: StateliftError, where: Where) -> Finding:
    """A finding of an error that something raised; ``where`` fills in the places it does not name."""
    return Finding(severity=severity_of(error), what=error.what, where=error.where.within(where))


@dataclass(slots=True)
class Examples:
    """The first few of many findings of one kind; the rest is counted."""

    more: str
    where: Where
    found: list[Finding]
    count: int = 0

    def add(self, finding: Finding) -> None:
        self.count += 1
        if len(self.found) < EXAMPLES:
            self.found.append(finding)

    def __iter__(self) -> Iterator[Finding]:
        yield from self.found
        if self.count > len(self.found):
            yield fault(f"{self.count - len(self.found)} more {self.more}", self.where)


def ranges(numbers: Iterable[int]) -> str:
    """Ascending numbers as text: ``3``, ``3-7``, ``3-7, 9``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def key_groups_text(numbers: Sequence[int]) -> str:
    """``key group 3`` or ``key groups 3-7``."""
    return f"key group{'s' if len(numbers) != 1 else ''} {ranges(numbers)}"


def is_format_gap(error: StateliftError) -> bool:
    """Whether an error says that something is not read here, rather than that it is wrong."""
    return isinstance(error, UnknownSerializerError | UnsupportedVersionError)


def severity_of(error: StateliftError) -> Severity:
    return "unchecked" if is_format_gap(error) else "fault"
