"""Emits the instructions of a program, whatever the types: slots, loops, and the ways round a null."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from . import ops
from .program import (
    EIGHT_A_BYTE,
    EnumShape,
    FixedShape,
    FlagShape,
    ListShape,
    MapShape,
    Shape,
    Slot,
    StructShape,
    UnionShape,
    VarShape,
)

_FUSED = {ops.I1: ops.F_I1, ops.I2: ops.F_I2, ops.I4: ops.F_I4, ops.I8: ops.F_I8, ops.BOOL: ops.F_BOOL}
_OPERANDS = 7


@dataclass(slots=True)
class Emitter:
    """The code and slots so far. ``least`` is the element size of the list being compiled; ``deferred`` is what is
    emitted behind the END."""

    code: list[list[int]] = field(default_factory=list)
    pool: bytearray = field(default_factory=bytearray)
    slots: list[Slot] = field(default_factory=list)
    deferred: list[Callable[[], None]] = field(default_factory=list)
    least: int = 0
    reused: deque[int] | None = None
    taken: list[int] | None = None

    def emit(self, op: int, *operands: int) -> int:
        self.code.append([op, *operands, *[0] * (_OPERANDS - len(operands))])
        return len(self.code) - 1

    def patch(self, at: int, operand: int, value: int) -> None:
        self.code[at][operand] = value

    def slot(self, width: int, *, data: bool = False, offsets: bool = False) -> int:
        """A new slot, or the next of those that :meth:`again` fills once more."""
        if self.reused is not None:
            number = self.reused.popleft()
        else:
            number = len(self.slots)
            self.slots.append(Slot(width=width, least=self.least, data=data, offsets=offsets))
        if self.taken is not None:
            self.taken.append(number)
        return number

    def variable(self) -> tuple[int, int]:
        """The slots of offsets and data."""
        return self.slot(4, offsets=True), self.slot(1, data=True)

    def recorded(self, emit: Callable[[], Shape]) -> tuple[Shape, list[int]]:
        """What ``emit`` compiles, and the slots that it takes: for :meth:`again`."""
        outer, self.taken = self.taken, []
        shape = emit()
        slots, self.taken = self.taken, outer
        if outer is not None:
            outer += slots
        return shape, slots

    def again(self, slots: list[int], emit: Callable[[], Shape]) -> None:
        """Compile what was compiled before into the same slots: another path of the program to the same column."""
        reused, taken = self.reused, self.taken
        self.reused, self.taken = deque(slots), None
        emit()
        self.reused, self.taken = reused, taken

    def constant(self, raw: bytes) -> int:
        """Keep ``raw`` in the pool; where it starts."""
        self.pool += raw
        return len(self.pool) - len(raw)

    def loop(
        self, op: int, closing: int, least: int, element: Callable[[], Shape], joined: int = 0
    ) -> ListShape:
        """A collection: ``op`` opens it, ``closing`` goes on to the next element; ``joined``: with nothing between."""
        offsets = self.slot(4, offsets=True)
        at = self.emit(op, offsets, 0, least)
        outer, self.least = self.least, EIGHT_A_BYTE if op == ops.MASKED_LIST else max(1, least)
        child = element()
        self.least = outer
        self.emit(closing, joined)
        self.patch(at, 2, len(self.code))
        item = pa.field("item", child.arrow_type)
        return ListShape(arrow_type=pa.list_(item), offsets=offsets, child=child)

    def rest(self, keep: int = 0) -> Shape:
        """The bytes up to the end of the value but the last ``keep``, as they are."""
        offsets, data = self.variable()
        self.emit(ops.REST, offsets, data, keep)
        return VarShape(arrow_type=pa.binary(), offsets=offsets, data=data)

    def flagged(self, inner: Callable[[], Shape], null_byte: int, padding: int = 0) -> Shape:
        """A flag byte and then, where it is not ``null_byte``, the inner value; else ``padding`` (see CONST)."""
        at = self.emit(ops.FLAG, -1, 0, null_byte, 0)
        shape = inner()
        single = len(self.code) == at + 2 and not padding
        op, first, second, third = self.code[-1][:4]
        if single and op in _FUSED and shape.valid < 0:
            shape = replace(shape, valid=self.slot(1))
            self.code[at:] = [[_FUSED[op], first, shape.valid, null_byte, 0, 0, 0, 0]]
            return shape
        if single and op == ops.STR and isinstance(shape, VarShape):
            self.code[at:] = [[ops.F_STR, first, second, third, null_byte, 0, 0, 0]]
            return shape
        return self.owned(at, shape, padding)

    def owned(self, at: int, shape: Shape, padding: int = 0) -> Shape:
        """Give the flag at ``at`` the validity slot of ``shape``, or one of its own where that has none or needs it."""
        if shape.null_is_value:
            shape = FlagShape(arrow_type=shape.arrow_type, inner=shape, always=True)
        if shape.valid < 0:
            shape = replace(shape, valid=self.slot(1))
            self.patch(at, 4, 1)
        self.patch(at, 1, shape.valid)
        self.null_path(at, shape, padding)
        return shape

    def null_path(self, at: int, shape: Shape, padding: int = 0) -> None:
        """Where the flag at ``at`` says null: placeholders for ``shape``, then back behind it."""
        back = len(self.code)

        def emit() -> None:
            self.patch(at, 2, len(self.code))
            self.fill(shape, own=True)
            if padding:
                self.emit(ops.CONST, padding)
            self.emit(ops.JUMP, back)

        self.deferred.append(emit)

    def fill_others(self, jump: int, others: list[Shape], end: int) -> None:
        """Let ``jump`` go by placeholders for ``others`` on its way to ``end``."""

        def emit() -> None:
            self.patch(jump, 1, len(self.code))
            for shape in others:
                self.fill(shape)
            self.emit(ops.JUMP, end)

        self.deferred.append(emit)

    def fill(self, shape: Shape, own: bool = False) -> None:
        """Placeholders for a null ``shape``, in all of its slots; ``own`` where its own flag says so."""
        if shape.valid >= 0:
            # Below another null, a flag that is to say that a value is there says so.
            there = isinstance(shape, FlagShape) and shape.always and not own
            self.emit(ops.PRESENT if there else ops.FILL1, shape.valid)
        match shape:
            case FixedShape() | EnumShape():
                width = self.slots[shape.slot].width
                fills = {1: ops.FILL1, 2: ops.FILL2, 4: ops.FILL4, 8: ops.FILL8, 16: ops.FILL16}
                self.emit(fills[width], shape.slot)
            case VarShape() | ListShape() | MapShape():
                self.emit(ops.FILL_OFFSET, shape.offsets)
            case FlagShape():
                self.fill(shape.inner)
            case StructShape():
                if isinstance(shape, UnionShape):
                    self.emit(ops.FILL1, shape.tag)
                for child in shape.children:
                    self.fill(child)


def struct_of(names: Iterable[str], children: Sequence[Shape], valid: int = -1) -> StructShape:
    names = tuple(names)
    kind = pa.struct([pa.field(name, child.arrow_type) for name, child in zip(names, children, strict=True)])
    return StructShape(arrow_type=kind, names=names, children=tuple(children), valid=valid)


def map_of(offsets: int, key: Shape, value: Shape) -> MapShape:
    kind = pa.map_(key.arrow_type, value.arrow_type)
    return MapShape(arrow_type=kind, offsets=offsets, key=key, value=value)
