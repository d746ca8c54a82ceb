"""Digests of keyed state that do not depend on the order or the format of the entries.

A digest is the number of entries and the sums, modulo 2^64, of two 64-bit hashes of each entry's composite key
and canonical value. The same entries give the same digest whatever the backend, the files and the parallelism.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..io.keyed.entries import EntryBatch
from .digest_kernel import add_entries

_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Digest:
    """``entries`` and the two sums; digests of disjoint parts add up."""

    entries: int = 0
    low: int = 0
    high: int = 0

    def __add__(self, other: Digest) -> Digest:
        return Digest(
            self.entries + other.entries, (self.low + other.low) & _MASK, (self.high + other.high) & _MASK
        )

    def __str__(self) -> str:
        return f"{self.high:016x}{self.low:016x}"

    @staticmethod
    def of(batch: EntryBatch) -> Digest:
        sums = np.zeros(2, np.uint64)
        keys, values = batch.keys, batch.values
        add_entries(keys.data, keys.starts, keys.ends, values.data, values.starts, values.ends, sums)
        return Digest(len(batch), int(sums[0]), int(sums[1]))
