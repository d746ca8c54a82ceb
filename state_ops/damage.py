"""Entries that do not decode, told apart from those that do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from ..io.keyed.entries import EntryBatch
from ..schemas.errors import StateliftError, Where
from .findings import EXAMPLES
from .not_decoded import NotDecoded
from .tables import KeyedTable


@dataclass(slots=True)
class Damage:
    """How many entries of a state do not decode, and why the first few of them do not.

    Once there are enough examples what is near another one is counted with it: then ``count`` is an upper bound.
    ``not_decoded`` is what of the sound entries is only its bytes.
    """

    count: int = 0
    not_decoded: NotDecoded = field(default_factory=NotDecoded)
    errors: list[StateliftError] = field(default_factory=list)

    def sound(self, table: KeyedTable, batch: EntryBatch) -> Iterator[tuple[EntryBatch, pa.RecordBatch]]:
        """The parts of ``batch`` that decode, with their rows; halved until the others are single entries."""
        pending = [batch]
        while pending:
            part = pending.pop()
            try:
                found = table.read(part)
                self.not_decoded.note(found.values, found.keys)
                yield part, found.rows
                continue
            except StateliftError as error:
                if len(part) == 1:
                    self.count += 1
                    self.errors.append(error.at(Where(key_group=int(part.key_groups[0]))))
                    continue
            if len(self.errors) >= EXAMPLES:
                self.count += len(part)
                continue
            half = len(part) // 2
            pending += [part.slice(half, len(part)), part.slice(0, half)]
