"""Every error that statelift raises on purpose.

    StateliftError
    ├── InputError              what was given cannot be used: exit code 2
    │   ├── FormatError         bytes that Flink would not have written, at a known place
    │   │   ├── UnexpectedEndError      the data stops before the field does
    │   │   ├── UnsupportedVersionError a version that is named and not read
    │   │   └── UnknownSerializerError  a serializer snapshot whose payload layout is not known
    │   ├── StoreError          a file, bucket or folder that is missing or refused
    │   ├── NameNotFoundError   an operator, state or column that the snapshot does not have
    │   ├── PlanError           a plan that says something impossible
    │   ├── SqlError            SQL that DuckDB refuses
    │   ├── EncodeError         a value that its Flink serializer cannot hold
    │   └── TargetExistsError   a snapshot stands where one is to be written
    └── FindingError            the snapshot was read and something is wrong with it: exit code 1

A message is one line: what is wrong, where, what to do.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A place in a snapshot; ``offset`` is in bytes from the start of ``file`` (or of the inline stream)."""

    file: str | None = None
    operator: str | None = None
    subtask: int | None = None
    state: str | None = None
    key_group: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        parts = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None:
                parts.append(f"{field.name.replace('_', ' ')} {value}")
        return ", ".join(parts)

    def within(self, outer: Where) -> Where:
        """This place, with what it leaves open taken from ``outer``."""
        own = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return Where(**{k: v if v is not None else getattr(outer, k) for k, v in own.items()})


class StateliftError(Exception):
    """Base of all errors here. ``str()`` of one is a single line fit for a terminal."""

    exit_code = 2

    def __init__(self, what: str, *, where: Where | None = None, todo: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where or Where()
        self.todo = todo

    def __str__(self) -> str:
        place = str(self.where)
        text = self.what + (f" ({place})" if place else "") + (f"; {self.todo}" if self.todo else "")
        return " ".join(text.split())

    def at(self, where: Where) -> StateliftError:
        """The same error with the places it did not know filled in from ``where``. Returns self."""
        self.where = self.where.within(where)
        return self


class InputError(StateliftError):
    """What was given cannot be used."""


class FormatError(InputError):
    """Bytes that Flink would not have written."""


class UnexpectedEndError(FormatError):
    """The data stops before the field does."""


class UnsupportedVersionError(FormatError):
    """A version that is known by name and not read."""


class UnknownSerializerError(FormatError):
    """A serializer snapshot whose payload layout is not known, so that nothing behind it can be found."""

    def __init__(self, class_name: str, *, where: Where | None = None) -> None:
        super().__init__(f"unknown serializer snapshot class {class_name!r}", where=where)
        self.class_name = class_name


class StoreError(InputError):
    """A file, bucket or folder that is missing or refused."""


class NameNotFoundError(InputError):
    """An operator, state or column that is not there; the message gives the nearest names."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: Where | None = None) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.4) or names[:5]
        todo = f"nearest: {', '.join(near)}" if near else "there is none"
        super().__init__(f"no {kind} {name!r}", where=where, todo=todo)


class PlanError(InputError):
    """A plan that says something impossible."""


class SqlError(InputError):
    """SQL that DuckDB refuses."""


class EncodeError(InputError):
    """A value that its Flink serializer cannot hold."""


class TargetExistsError(InputError):
    """A snapshot stands where one is to be written."""


class FindingError(StateliftError):
    """The input was read, and something in it is wrong."""

    exit_code = 1
