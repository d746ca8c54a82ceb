"""Several streams of windows made one, in which key groups never fall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from .entries import Window


@dataclass(slots=True)
class Cursor:
    """The windows of some states in key-group order, one of them at hand."""

    windows: Iterator[Window]
    at_hand: Window = field(default_factory=dict)
    done: bool = False

    def fill(self) -> bool:
        """Whether there are entries at hand, after the next ones were read where there were none."""
        while not self.done and not self.at_hand:
            window = next(self.windows, None)
            self.done = window is None
            self.at_hand = {state: batch for state, batch in (window or {}).items() if len(batch)}
        return bool(self.at_hand)

    @property
    def last(self) -> int:
        """The last key group at hand; it may go on in the next window, and none before it does."""
        return max(int(batch.key_groups[-1]) for batch in self.at_hand.values())

    def take(self, key_group: int, side: Literal["left", "right"]) -> Window:
        """Remove and return what is at hand below the key group (left), or up to it (right)."""
        taken: Window = {}
        for state, batch in list(self.at_hand.items()):
            rows = int(np.searchsorted(batch.key_groups, key_group, side=side))
            if rows:
                taken[state] = batch.slice(0, rows)
                self.at_hand[state] = batch.slice(rows, len(batch))
                if rows == len(batch):
                    del self.at_hand[state]
        return taken


def align(cursors: Sequence[Cursor]) -> Iterator[Window]:
    """The windows of all cursors, which have no state in common, such that key groups never fall from one to the
    next."""
    while True:
        filled = [cursor for cursor in cursors if cursor.fill()]
        if not filled:
            return
        bound = min(cursor.last for cursor in filled)
        window = {state: batch for cursor in filled for state, batch in cursor.take(bound, "left").items()}
        yield window or next(taken for cursor in filled if (taken := cursor.take(bound, "right")))
