"""Types to programs and Arrow shapes: which instructions read a type, and which slots become which Arrow array.

Children keep the length of their parent, so a null struct has placeholders below it; see :mod:`.ops` for null
paths.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from .. import types as t
from ..errors import PlanError
from . import binary, ops, pojo
from .kryo_classes import CLASSES, UNKNOWN
from .kryo_shapes import ShapeRows
from .kryo_shapes import choice as kryo_plain
from .program import (
    EIGHT_A_BYTE,
    EnumShape,
    FixedShape,
    KryoRows,
    KryoShape,
    ListShape,
    MapShape,
    NullShape,
    Program,
    Shape,
    Slot,
    StructShape,
    UnionShape,
    VarShape,
)
from .scalars import FIXED, TEMPORAL, VARIABLE, WIDE, least_bytes, mask_bytes
from .spans import SpanRows

__all__ = [
    "Builder",
    "NullShape",
    "Program",
    "Slot",
    "compile_delimited",
    "compile_map_value",
    "compile_timer",
    "compile_type",
]

_FUSED = {ops.I1: ops.F_I1, ops.I2: ops.F_I2, ops.I4: ops.F_I4, ops.I8: ops.F_I8, ops.BOOL: ops.F_BOOL}
_OPERANDS = 7
_TUPLE0 = 42


@dataclass(slots=True)
class Builder:
    """Emits the instructions of one program. ``least`` is the element size of the list being compiled;
    ``wide_times`` gives times as structs of their parts, where 64 bits do not hold them all."""

    wide_times: bool = False
    code: list[list[int]] = field(default_factory=list)
    pool: bytearray = field(default_factory=bytearray)
    slots: list[Slot] = field(default_factory=list)
    deferred: list[Callable[[], None]] = field(default_factory=list)
    kryo: list[KryoRows] = field(default_factory=list)
    kryo_numbers: dict[int, str] = field(default_factory=dict)
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

    def finish(self, shape: Shape) -> Program:
        self.emit(ops.END)
        while self.deferred:
            self.deferred.pop(0)()
        code = np.array(self.code, np.int64)
        pool = np.frombuffer(bytes(self.pool), np.uint8)
        for rows in self.kryo:
            rows.code, rows.pool = code.reshape(-1), pool
        return Program(
            code=code,
            pool=pool,
            slots=tuple(self.slots),
            shape=shape,
            kryo_numbers=self.kryo_numbers,
        )

    # -- nodes ---------------------------------------------------------------------------------------------

    def node(self, node: t.DataType, last: bool = False) -> Shape:
        """Emit the code of ``node``. ``last``: the value ends with it, so that opaque bytes are all that is left."""
        match node:
            case t.Scalar():
                return self._scalar(node.name)
            case t.EnumType():
                slot = self.slot(4)
                self.emit(ops.ENUM, slot, len(node.constants))
                kind = pa.dictionary(pa.int32(), pa.string())
                return EnumShape(arrow_type=kind, slot=slot, constants=node.constants)
            case t.TupleType():
                return struct_of([part.name for part in node.fields], self.sequence(node.children(), last))
            case t.TtlType():
                slot = self.slot(8)
                self.emit(ops.I8, slot)
                stamp = FixedShape(arrow_type=pa.timestamp("ms", tz="UTC"), slot=slot)
                return struct_of(("ttl_timestamp", "value"), [stamp, self.node(node.inner, last)])
            case t.PojoType():
                return pojo.compile_pojo(self, node, last)
            case t.RowType():
                return self._row(node, last)
            case t.ListType():
                return self._list(node)
            case t.MapType():
                return self._map(node)
            case t.NullableType():
                return self._nullable(node, last)
            case t.UnionType():
                return self._union(node, last)
            case t.FixedType():
                offsets, data = self.variable()
                self.emit(ops.RAW, offsets, data, node.size)
                return VarShape(arrow_type=pa.binary(), offsets=offsets, data=data)
            case t.DecimalType():
                slot = self.slot(16)
                op = {"long": ops.DECIMAL_LONG, "bytes": ops.DECIMAL_BYTES, "fixed": ops.DECIMAL_FIXED}
                self.emit(op[node.storage], slot, node.size)
                return FixedShape(arrow_type=pa.decimal128(node.precision, node.scale), slot=slot)
            case t.TimestampDataType():
                return binary.compile_timestamp(self, node, ops.TIMESTAMP_DATA, ops.WIDE_TIMESTAMP_DATA)
            case t.RowDataType() | t.ArrayDataType() | t.MapDataType():
                return binary.compile_binary(self, node, nested=False)
            case t.RawDataType():
                self.emit(ops.FRAME)
                shape = self.node(node.inner)
                self.emit(ops.UNFRAME)
                return shape
            case t.KryoType():
                return self._kryo(node, last)
            case t.SpanType(body=t.DataType()):
                return self._span(node)
            case t.JavaType() | t.ClassType() | t.NamedType():
                raise PlanError(f"{node} stands only where Kryo writes it: kryo[kryo=…]<class, {node}>")
        return self.rest()

    def _span(self, node: t.SpanType) -> Shape:
        offsets, data = self.variable()
        at = self.emit(ops.SPAN, offsets, data)
        self.deferred.append(lambda: self.patch(at, 3, SpanRows(self).compile(node)))
        return VarShape(arrow_type=pa.binary(), offsets=offsets, data=data)

    def _kryo(self, node: t.KryoType, last: bool) -> Shape:
        offsets, data = self.variable()
        self.kryo_numbers |= {node.first_id + i: name for i, name in enumerate(node.registered)}
        at = -1
        if last:
            self.emit(ops.REST, offsets, data, 0)
        else:
            bodies = bytes(CLASSES.get(name, UNKNOWN) for name in node.registered)
            at = self.emit(ops.KRYO, offsets, data, node.kryo, self.constant(bodies), len(bodies))
        if node.shape is None:
            return VarShape(arrow_type=pa.binary(), offsets=offsets, data=data)
        rows = KryoRows(five=int(node.kryo == 5))

        def emit() -> None:
            shape = ShapeRows(self, node)
            rows.first, rows.classes = shape.compile(), len(shape.numbers)
            if at >= 0:
                self.patch(at, 6, rows.first)

        self.deferred.append(emit)
        self.kryo.append(rows)
        plain = compile_type(kryo_plain(node.shape), wide_times=self.wide_times)
        kind = plain.shape.arrow_type
        return KryoShape(arrow_type=kind, offsets=offsets, data=data, plain=plain, rows=rows)

    def sequence(self, nodes: Iterable[t.DataType], last: bool) -> list[Shape]:
        """Values one behind the other; only the final one can be the last of the whole."""
        every = list(nodes)
        return [self.node(node, last and i == len(every) - 1) for i, node in enumerate(every)]

    def _scalar(self, name: str) -> Shape:
        if name in FIXED:
            op, width, kind = FIXED[name]
            slot = self.slot(width)
            self.emit(op, slot)
            return FixedShape(arrow_type=kind, slot=slot)
        if name in WIDE and self.wide_times:
            wide, parts = WIDE[name]
            slots = [self.slot(width) for _, width, _ in parts]
            valid = self.slot(1)
            self.emit(wide, slots[0], valid, *slots[1:])
            columns = [
                FixedShape(arrow_type=kind, slot=slot)
                for (_, _, kind), slot in zip(parts, slots, strict=True)
            ]
            return struct_of([part for part, _, _ in parts], columns, valid)
        if name in TEMPORAL:
            op, width, _, kind = TEMPORAL[name]
            slot, valid = self.slot(width), self.slot(1)
            self.emit(op, slot, valid)
            return FixedShape(arrow_type=kind, slot=slot, valid=valid)
        if name in VARIABLE:
            op, _, nullable, operand, kind = VARIABLE[name]
            offsets, data = self.variable()
            valid = self.slot(1) if nullable else -1
            self.emit(op, offsets, data, valid if nullable else operand)
            return VarShape(arrow_type=kind, offsets=offsets, data=data, valid=valid)
        if name == "big_decimal":
            return self._big_decimal()
        if name == "window":
            start, end = self.slot(8), self.slot(8)
            self.emit(ops.I8, start)
            self.emit(ops.I8, end)
            bounds = [FixedShape(arrow_type=pa.int64(), slot=slot) for slot in (start, end)]
            return struct_of(("start", "end"), bounds)
        if name == "variant":
            pairs = [self.variable(), self.variable()]
            self.emit(ops.VARIANT, *pairs[0], *pairs[1])
            both = [VarShape(arrow_type=pa.binary(), offsets=o, data=d) for o, d in pairs]
            return struct_of(("value", "metadata"), both)
        if name == "tuple0":
            self.emit(ops.EXPECT, _TUPLE0)
        elif name != "null":
            self.emit(ops.CONST, 1)
        return NullShape(arrow_type=pa.null())

    def _big_decimal(self) -> Shape:
        (offsets, data), valid, scale = self.variable(), self.slot(1), self.slot(4)
        self.emit(ops.BIG_DECIMAL, offsets, data, valid, scale)
        unscaled = VarShape(arrow_type=pa.binary(), offsets=offsets, data=data)
        parts = [unscaled, FixedShape(arrow_type=pa.int32(), slot=scale)]
        return struct_of(("unscaled", "scale"), parts, valid)

    def _row(self, node: t.RowType, last: bool) -> Shape:
        self.emit(ops.MASK, mask_bytes(node))
        names: list[str] = []
        children: list[Shape] = []
        bit = 0
        if node.supports_row_kind:
            kind = self.slot(1)
            self.emit(ops.ROW_KIND, kind)
            names.append("__kind")
            children.append(FixedShape(arrow_type=pa.int8(), slot=kind))
            bit = 2
        for number, part in enumerate(node.fields):
            at = self.emit(ops.MASK_BIT, -1, 0, bit + number, 0)
            names.append(part.name)
            inner = self.node(part.type, last and number == len(node.fields) - 1)
            children.append(self.owned(at, inner))
        self.emit(ops.UNMASK)
        return struct_of(names, children)

    def _list(self, node: t.ListType) -> Shape:
        flag = node.element_flag
        least = least_bytes(node.element) if flag == "none" else 0 if flag == "mask" else 1
        if flag == "mask":
            op, last = ops.MASKED_LIST, ops.NEXT
        elif node.framing == "block":
            op, last = ops.BLOCK, ops.BLOCK_NEXT
        elif node.framing == "rest":
            op, last = ops.DELIMITED, ops.DELIMITED_NEXT
        else:
            op, last = ops.LIST, ops.NEXT

        def element() -> Shape:
            if flag == "none":
                return self.node(node.element)
            if flag == "mask":
                return self.owned(self.emit(ops.LIST_BIT, -1), self.node(node.element))
            return self.flagged(lambda: self.node(node.element), 1 if flag == "is_null" else 0)

        return self.loop(op, last, least, element, int(node.framing == "rest"))

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

    def _map(self, node: t.MapType) -> Shape:
        offsets = self.slot(4, offsets=True)
        block = node.framing == "block"
        least = least_bytes(node.key) + (0 if block else 1)
        at = self.emit(ops.BLOCK if block else ops.LIST, offsets, 0, least)
        outer, self.least = self.least, max(1, least)
        key = self.node(node.key)
        value = self.node(node.value) if block else self.flagged(lambda: self.node(node.value), 1)
        self.least = outer
        self.emit(ops.BLOCK_NEXT if block else ops.NEXT)
        self.patch(at, 2, len(self.code))
        return map_of(offsets, key, value)

    def _union(self, node: t.UnionType, last: bool) -> Shape:
        tag = self.slot(1)
        self.emit(ops.SWITCH, tag, len(node.alternatives), node.tag_width)
        cases = [self.emit(ops.CASE, 0, wire) for wire in node.tags]
        nullable = []  # alternatives that may be null themselves
        bodies: list[tuple[int, Shape]] = []
        jumps = []
        for number, (case, part) in enumerate(zip(cases, node.alternatives, strict=True)):
            self.patch(case, 1, len(self.code))
            shape = self.node(part.type, last)
            if shape.valid >= 0 or isinstance(shape, NullShape):
                nullable.append(number)
            else:
                shape = replace(shape, valid=self.slot(1))
                self.emit(ops.PRESENT, shape.valid)
            bodies.append((case, shape))
            jumps.append(self.emit(ops.JUMP))
        end = len(self.code)
        for jump, (own, _) in zip(jumps, bodies, strict=True):
            self.fill_others(jump, [shape for case, shape in bodies if case != own], end)
        shown = [i for i, (_, shape) in enumerate(bodies) if not isinstance(shape, NullShape)]
        names = [node.alternatives[i].name for i in shown]
        children = [bodies[i][1] for i in shown]
        tagged = len(nullable) > 1
        fields = [pa.field(name, child.arrow_type) for name, child in zip(names, children, strict=True)]
        if tagged:
            fields.insert(0, pa.field("__tag", pa.int8()))
        return UnionShape(
            arrow_type=pa.struct(fields),
            names=tuple(names),
            children=tuple(children),
            alternatives=len(bodies),
            tag=tag,
            of_child=tuple(shown),
            null_alternative=nullable[0] if len(nullable) == 1 else -1,
            tagged=tagged,
        )

    def fill_others(self, jump: int, others: list[Shape], end: int) -> None:
        """Let ``jump`` go by placeholders for ``others`` on its way to ``end``."""

        def emit() -> None:
            self.patch(jump, 1, len(self.code))
            for shape in others:
                self.fill(shape)
            self.emit(ops.JUMP, end)

        self.deferred.append(emit)

    def delimited(self, element: t.DataType) -> Shape:
        """A ListState's value in canonical and RocksDB form: elements with one comma between them."""
        least = least_bytes(element)
        return self.loop(ops.DELIMITED, ops.DELIMITED_NEXT, least, lambda: self.node(element))

    def rest(self, keep: int = 0) -> Shape:
        """The bytes up to the end of the value but the last ``keep``, as they are."""
        offsets, data = self.variable()
        self.emit(ops.REST, offsets, data, keep)
        return VarShape(arrow_type=pa.binary(), offsets=offsets, data=data)

    # -- nulls ---------------------------------------------------------------------------------------------

    def _nullable(self, node: t.NullableType, last: bool) -> Shape:
        if node.flag in ("null_first", "null_second"):
            at = self.emit(ops.BRANCH, -1, 0, 0 if node.flag == "null_first" else 1, 0)
            return self.owned(at, self.node(node.inner, last))
        null_byte = 1 if node.flag == "is_null" else 0
        return self.flagged(lambda: self.node(node.inner, last), null_byte, node.padding)

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
        if single and op == ops.STR:
            self.code[at:] = [[ops.F_STR, first, second, third, null_byte, 0, 0, 0]]
            return shape
        return self.owned(at, shape, padding)

    def owned(self, at: int, shape: Shape, padding: int = 0) -> Shape:
        """Give the flag at ``at`` the validity slot of ``shape``, or one of its own where that has none."""
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
            self.fill(shape)
            if padding:
                self.emit(ops.CONST, padding)
            self.emit(ops.JUMP, back)

        self.deferred.append(emit)

    def fill(self, shape: Shape) -> None:
        """Placeholders for a null ``shape``, in all of its slots."""
        if shape.valid >= 0:
            self.emit(ops.FILL1, shape.valid)
        match shape:
            case FixedShape() | EnumShape():
                width = self.slots[shape.slot].width
                fills = {1: ops.FILL1, 2: ops.FILL2, 4: ops.FILL4, 8: ops.FILL8, 16: ops.FILL16}
                self.emit(fills[width], shape.slot)
            case VarShape() | ListShape() | MapShape():
                self.emit(ops.FILL_OFFSET, shape.offsets)
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


def compile_type(node: t.DataType, *, alone: bool = False, wide_times: bool = False) -> Program:
    """The program of ``node``. A tree with an opaque node in it is opaque as a whole, unless the value stands
    ``alone`` and the opaque node at its end."""
    builder = Builder(wide_times=wide_times)
    return builder.finish(_whole(builder, node, alone))


def compile_delimited(element: t.DataType, *, wide_times: bool = False) -> Program:
    """The program of a ListState's value (spec 5.4, LIST)."""
    builder = Builder(wide_times=wide_times)
    return builder.finish(builder.rest() if t.opaque_in(element) else builder.delimited(element))


def compile_map_value(node: t.DataType, *, wide_times: bool = False) -> Program:
    """The program of a MapState's value: an is-null byte, then the user value (spec 5.4, MAP).

    From the heap, Flink has the user's serializer write the null behind the flag too, and does not read that. Of
    ``NullValue`` and ``Tuple0`` there is one value, which is what is written: a column does not tell it from a null.
    """
    builder = Builder(wide_times=wide_times)
    shape = builder.flagged(lambda: _whole(builder, node, True), 1, ops.TO_END)
    if isinstance(shape, NullShape) and node in (t.scalar("null"), t.scalar("tuple0")):
        shape = replace(shape, present=True)
    return builder.finish(shape)


def compile_timer(key: t.DataType, namespace: t.DataType, *, wide_times: bool = False) -> Program:
    """The program of a timer: sign-flipped timestamp, key, namespace (spec 8.2); a struct of the three."""
    builder = Builder(wide_times=wide_times)
    slot = builder.slot(8)
    builder.emit(ops.I8_FLIPPED, slot)
    stamp = FixedShape(arrow_type=pa.int64(), slot=slot)
    parts = [stamp, builder.node(key), builder.node(namespace)]
    return builder.finish(struct_of(("timestamp", "key", "namespace"), parts))


def _whole(builder: Builder, node: t.DataType, alone: bool) -> Shape:
    if t.opaque_in(node) is None or (alone and t.opaque_at_end(node)):
        return builder.node(node, alone)
    return builder.rest()
