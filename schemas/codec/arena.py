"""The memory that programs work on: all slots of a batch in one block, seen at four element widths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .shapes import Slot

_VIEWS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(slots=True)
class Arena:
    """``base`` and ``capacity`` int64, in elements of each slot's width; ``cursor`` int64 counts the elements."""

    slots: Sequence[Slot]
    base: npt.NDArray[np.int64]
    capacity: npt.NDArray[np.int64]
    cursor: npt.NDArray[np.int64]
    a8: npt.NDArray[np.uint8]
    a16: npt.NDArray[np.uint16]
    a32: npt.NDArray[np.uint32]
    a64: npt.NDArray[np.uint64]

    @staticmethod
    def of(slots: Sequence[Slot], capacities: Sequence[int]) -> Arena:
        """An arena with room for ``capacities[i]`` elements in slot i. Pages not written take no memory."""
        base = np.zeros(len(slots), np.int64)
        words = 0
        for i, (slot, capacity) in enumerate(zip(slots, capacities, strict=True)):
            base[i] = words * 8 // slot.width
            words += (capacity * slot.width + 7) // 8
        block = np.empty(words, np.uint64)
        arena = Arena(
            slots=slots,
            base=base,
            capacity=np.array(capacities, np.int64),
            cursor=np.zeros(len(slots), np.int64),
            a8=block.view(np.uint8),
            a16=block.view(np.uint16),
            a32=block.view(np.uint32),
            a64=block,
        )
        for i, slot in enumerate(slots):
            if slot.width == 4:
                arena.a32[base[i]] = 0  # the first offset, where the slot holds offsets
        return arena

    def array(self, slot: int, length: int | None = None) -> npt.NDArray[np.unsignedinteger]:
        """The first ``length`` elements of a slot (all that are filled, if not given), without a copy."""
        width = self.slots[slot].width
        view = {1: self.a8, 2: self.a16, 4: self.a32, 8: self.a64}[width]
        start = int(self.base[slot])
        return view[start : start + (int(self.cursor[slot]) if length is None else length)]  # type: ignore[return-value]

    def fill(self, slot: int, values: npt.NDArray[np.generic]) -> None:
        """Copy ``values`` (of the slot's width) into a slot that will be read."""
        width = self.slots[slot].width
        self.array(slot, len(values))[:] = values.view(_VIEWS[width])
