# mypy: ignore-errors
"""What the two walks over a Kryo shape have in common: their signature, and how the parts of a collection lie."""

from __future__ import annotations

import numpy as np
from numba import int64, njit, uint8

from . import kryo_ops as k
from .kernel_options import PART_OF_KERNEL, READ, WORDS
from .memory import word

#: code, pool, row, forced, nulls, five, the bytes that are read, position, end, out, state: the next position.
WALK = int64(WORDS, READ, int64, int64, int64, int64, READ, int64, int64, uint8[::1], int64[::1])

#: Arguments: written as numbers they would be types of their own to the compiler.
NONE, NO = np.int64(-1), np.int64(0)


@njit(**PART_OF_KERNEL)
def parts_of(code, body):
    """(row of an element or key, row of an element or value, how many of them an entry is, whether a comparator comes
    with it) of the COLLECTION, MAP or ARRAY at word ``body``."""
    kind, one, two = word(code, body), word(code, body + 1), word(code, body + 2)
    if kind == k.MAP:
        return one, two, np.int64(2), word(code, body + 3)
    return one, one, np.int64(1), (two if kind == k.COLLECTION else np.int64(0))
