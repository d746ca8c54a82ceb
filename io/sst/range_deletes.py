"""Range deletions: which keys they hide, and up to which sequence number."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .arrays import Bytes, Ints, Tags


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeDeletion:
    """Hides the entries of user keys in [start, end) whose sequence number is below ``sequence``."""

    start: bytes
    end: bytes
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cover:
    """Disjoint stretches of user keys in order: from key ``i`` up to key ``i + 1``, entries below ``sequences[i]``
    are deleted (0: none)."""

    keys: Bytes
    key_offsets: Ints
    sequences: Tags


def cover_of(deletions: Iterable[RangeDeletion]) -> Cover:
    """The stretches that overlapping deletions make; where several hide a key, the newest counts."""
    starts = sorted((d for d in deletions if d.start < d.end), key=lambda d: d.start)
    bounds = sorted({d.start for d in starts} | {d.end for d in starts})
    stretches: list[tuple[bytes, int]] = []
    newest: list[tuple[int, bytes]] = []
    taken = 0
    for bound in bounds:
        while taken < len(starts) and starts[taken].start <= bound:
            heapq.heappush(newest, (-starts[taken].sequence, starts[taken].end))
            taken += 1
        while newest and newest[0][1] <= bound:
            heapq.heappop(newest)
        sequence = -newest[0][0] if newest else 0
        if not stretches or stretches[-1][1] != sequence:
            stretches.append((bound, sequence))
    lengths = [len(key) for key, _ in stretches]
    return Cover(
        keys=np.frombuffer(b"".join(key for key, _ in stretches), dtype=np.uint8),
        key_offsets=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
        sequences=np.array([sequence for _, sequence in stretches], dtype=np.uint64),
    )
