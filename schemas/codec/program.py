"""What a compiled type is made of: slots that the kernels fill, and the Arrow array that these become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

EIGHT_A_BYTE = -8
"""``least`` of slots below a mask of bits: a byte of input can stand for eight null elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A growing column in the arena: ``width`` bytes an element, at most one element for ``least`` input bytes.

    ``least`` 0 means one element a row, -8 eight elements a byte. ``data`` slots hold the bytes of strings and
    blobs, ``offsets`` slots 32-bit offsets, one more than elements.
    """

    width: int
    least: int = 0
    data: bool = False
    offsets: bool = False

    def capacity(self, rows: int, total: int) -> int:
        """The most elements that ``rows`` values of ``total`` bytes can put here."""
        if self.data:
            return total * 3 // 2 + rows + 16
        if self.least == 0:
            return rows + 2
        return (total // self.least if self.least > 0 else total * -self.least) + 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How slots become one Arrow array. ``valid`` is the slot of validity bytes, or -1: never null.

    ``null_is_value``: a null of the column is an object in Java (``scala.None``, the one ``Unit``), and a flag before
    it that tells nulls says that there is one.
    """

    arrow_type: pa.DataType
    valid: int = -1
    null_is_value: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedShape(Shape):
    """One slot of fixed-width elements (booleans as bytes)."""

    slot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumShape(Shape):
    slot: int
    constants: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VarShape(Shape):
    """Offsets and data, for strings and binaries."""

    offsets: int
    data: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KryoShape(VarShape):
    """The bytes of Kryo values, which are read once more: by ``rows`` to plain bytes, and these by ``plain``."""

    plain: Program
    rows: KryoRows


@dataclass(slots=True, kw_only=True)
class KryoRows:
    """The rows of a Kryo shape: ``first`` of them in ``code`` (int64, eight words a row), names in ``pool``. They
    are set when the program that they belong to is finished. ``classes`` is how many classes have numbers."""

    five: int
    first: int = 0
    classes: int = 0
    code: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    pool: npt.NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))


@dataclass(frozen=True, slots=True, kw_only=True)
class NullShape(Shape):
    """Nothing stored: every element is null. ``present`` is what a flag of its own says when written."""

    present: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagShape(Shape):
    """A flag, in the slot ``valid``, before an ``inner`` value that can be null too; the column is that of ``inner``.

    It has one null where the bytes have two. ``always``: it stands for the inner one, and the flag is written as that
    of a value; else for the flag's, and the inner one is ``Some(null)``. The other null is left out.
    """

    inner: Shape
    always: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StructShape(Shape):
    names: tuple[str, ...]
    children: tuple[Shape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionShape(StructShape):
    """A struct of which at most one field is set. ``tag`` is the slot of alternatives' numbers; ``of_child`` the
    alternative of each field; ``null_alternative`` the one that leaves all fields null (-1: none does).

    Where several of the ``alternatives`` can be null the first field is ``__tag``, the number itself.
    """

    alternatives: int

    tag: int
    of_child: tuple[int, ...]
    null_alternative: int
    tagged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListShape(Shape):
    offsets: int
    child: Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class MapShape(Shape):
    offsets: int
    key: Shape
    value: Shape


def has_two_nulls(shape: Shape) -> bool:
    """Whether there are values with a null in them that a column of this shape does not tell from another."""
    match shape:
        case FlagShape():
            return True
        case StructShape():
            return any(map(has_two_nulls, shape.children))
        case ListShape():
            return has_two_nulls(shape.child)
        case MapShape():
            return has_two_nulls(shape.key) or has_two_nulls(shape.value)
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A compiled type: ``code`` int64 of shape (n, 8), ``pool`` the bytes that it names, the slots it fills, and
    the Arrow array they make. ``kryo_numbers`` are the classes that Kryo writes by number in it."""

    code: npt.NDArray[np.int64]
    pool: npt.NDArray[np.uint8]
    slots: tuple[Slot, ...]
    shape: Shape
    kryo_numbers: Mapping[int, str] = field(default_factory=dict)
