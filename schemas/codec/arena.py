"""The memory that programs work on: all slots of a batch in one block of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .program import Slot

_ALIGNMENT = 16
_VIEWS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(slots=True)
class Arena:
    """``base``, ``head`` and ``limit`` are int64 addresses in ``block`` (uint8), one for each slot: of its first
    element, of the next one, and of the byte behind the last that it has room for."""

    slots: Sequence[Slot]
    base: npt.NDArray[np.int64]
    head: npt.NDArray[np.int64]
    limit: npt.NDArray[np.int64]
    block: npt.NDArray[np.uint8]

    @staticmethod
    def of(slots: Sequence[Slot], capacities: Sequence[int]) -> Arena:
        """An arena with room for ``capacities[i]`` elements in slot i. Pages not written take no memory."""
        widths = np.array([slot.width for slot in slots], np.int64)
        sizes = np.array(capacities, np.int64) * widths
        ends = np.cumsum((sizes + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT)
        base = np.concatenate([np.zeros(1, np.int64), ends])[: len(slots)]
        block = np.empty(int(ends[-1]) if len(slots) else 0, np.uint8)
        arena = Arena(slots=slots, base=base, head=base.copy(), limit=base + sizes, block=block)
        for i, slot in enumerate(slots):
            if slot.offsets:
                block[base[i] : base[i] + 4] = 0
        return arena

    def array(self, slot: int, length: int) -> npt.NDArray[np.unsignedinteger]:
        """The first ``length`` elements of a slot, without a copy; those of 16 bytes as two numbers each."""
        width = self.slots[slot].width
        start = int(self.base[slot])
        raw = self.block[start : start + length * width]
        return raw.view(_VIEWS[min(width, 8)])

    def filled(self, slot: int) -> npt.NDArray[np.uint8]:
        """The bytes of a slot up to its head."""
        return self.block[self.base[slot] : self.head[slot]]

    def fill(self, slot: int, values: npt.NDArray[np.generic]) -> None:
        """Copy ``values`` into a slot that will be read."""
        raw = np.ascontiguousarray(values).view(np.uint8)
        start = int(self.base[slot])
        self.block[start : start + len(raw)] = raw
