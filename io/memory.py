"""How much memory is taken: one limit for a process, shared out to what holds data."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..schemas.errors import InputError

BATCH_BYTES = 16 << 20
"""Stored bytes that are read and changed at once where nothing limits it; more is not faster."""

PROGRAM_BYTES = 340_000_000
"""What Python, Arrow, DuckDB, the compiled kernels and the client of S3 take themselves."""

LEAST_DATA_BYTES = 40_000_000
"""With less than this for the data, reading would be all overhead."""

_HELD = 32
"""Batches that are held at most between a reader and a writer: blocks read ahead and merged, columns and their
bytes, what is being sorted and framed; a quarter of them is for parts of files on their way to a store."""

_WRITTEN_BYTES = 256 << 20
"""Of all files that are written at once, what their writers may hold where nothing limits it."""

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """``limit`` is the resident memory of the process in bytes, the program itself included; None: no limit.

    ``parts`` is how many take their share of it at once. A single record, the changes of a changelog and the
    operator state of a subtask are read whole whatever they take; the latter two are refused above the limit.
    """

    limit: int | None = None
    parts: int = 1

    @staticmethod
    def of(limit: str | int | None) -> Memory:
        """From bytes or a text as ``512MB`` or ``2GiB``. Raises InputError for another text, or too little."""
        if limit is None:
            return Memory()
        size = parse_size(limit) if isinstance(limit, str) else limit
        least = PROGRAM_BYTES + LEAST_DATA_BYTES
        if size < least:
            raise InputError(
                f"a memory limit of {limit} is too small: the program alone takes about {PROGRAM_BYTES // 10**6}MB",
                todo=f"give {least // 10**6}MB or more",
            )
        return Memory(limit=size)

    def share(self, parts: int) -> Memory:
        """What each of ``parts`` has that go on at once."""
        return replace(self, parts=self.parts * parts)

    def require(self, least: int, what: str) -> None:
        """Raise InputError where the limit has no room for ``least`` bytes of data, which ``what`` take."""
        if self.limit is not None and self.limit < PROGRAM_BYTES + least:
            raise InputError(
                f"a memory limit of {self.limit:,} bytes is too small: {what} take {least:,} beside the program",
                todo=f"give {-(-(PROGRAM_BYTES + least) // 10**6)}MB or more",
            )

    def workers(self, wanted: int, least: int = LEAST_DATA_BYTES) -> int:
        """As many of the ``wanted`` threads as there is memory for, one at least; each takes ``least`` bytes."""
        if self.limit is None:
            return wanted
        return max(1, min(wanted, (self.limit - PROGRAM_BYTES) // max(least, LEAST_DATA_BYTES)))

    @property
    def data_bytes(self) -> int | None:
        """What there is for data."""
        return None if self.limit is None else (self.limit - PROGRAM_BYTES) // self.parts

    @property
    def batch_bytes(self) -> int:
        """Stored bytes to read and change at once."""
        data = self.data_bytes
        return BATCH_BYTES if data is None else max(256 << 10, min(BATCH_BYTES, data // _HELD))

    def writer_bytes(self, files: int) -> int:
        """What the writer of each of ``files`` that are written at once may hold."""
        data = self.data_bytes
        return (_WRITTEN_BYTES if data is None else data // 4) // max(1, files)


NO_LIMIT = Memory()


@dataclass(slots=True)
class Held:
    """Bytes of one thing that is held in memory whole, counted as they come."""

    memory: Memory
    what: str
    nbytes: int = 0

    def add(self, nbytes: int) -> None:
        """Raises InputError where they are more than the memory limit leaves for data."""
        self.nbytes += nbytes
        most = self.memory.data_bytes
        if most is not None and self.nbytes > most:
            raise InputError(
                f"{self.what} is held in memory whole, and is more than the {most:,} bytes that the memory limit"
                " leaves for it",
                todo="give a larger memory limit",
            )


def parse_size(text: str) -> int:
    """Bytes of ``512MB`` (powers of 1000), ``512MiB`` (of 1024) or ``512000000``. Raises InputError."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", text.upper())
    if found is None or (found[3] and not found[2]):
        raise InputError(f"{text!r} is no size", todo="write it as 512MB or 2GiB")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** _UNITS[found[2]])
