"""Types to programs and Arrow shapes: which instructions read a type, and which slots become which Arrow array.

Children keep the length of their parent, so a null struct has placeholders below it; see :mod:`.ops` for null
paths.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from .. import types as t
from ..errors import PlanError
from . import binary, ops, pojo
from .emitter import Emitter, map_of, struct_of
from .kryo_classes import CLASSES, UNKNOWN
from .kryo_shapes import ShapeRows
from .kryo_shapes import choice as kryo_plain
from .program import (
    EnumShape,
    FixedShape,
    FlagShape,
    KryoRows,
    KryoShape,
    NullShape,
    Program,
    Shape,
    Slot,
    UnionShape,
    VarShape,
)
from .scalars import compile_scalar, least_bytes, mask_bytes
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


@dataclass(slots=True)
class Builder(Emitter):
    """Compiles types into one program. ``wide_times`` gives times as structs of their parts, where 64 bits do not hold
    them all."""

    wide_times: bool = False
    kryo: list[KryoRows] = field(default_factory=list)
    kryo_numbers: dict[int, str] = field(default_factory=dict)

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

    def node(self, node: t.DataType, last: bool = False) -> Shape:
        """Emit the code of ``node``. ``last``: the value ends with it, so that opaque bytes are all that is left."""
        match node:
            case t.Scalar():
                return compile_scalar(self, node.name, self.wide_times)
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

    def delimited(self, element: t.DataType) -> Shape:
        """A ListState's value in canonical and RocksDB form: elements with one comma between them."""
        least = least_bytes(element)
        return self.loop(ops.DELIMITED, ops.DELIMITED_NEXT, least, lambda: self.node(element))

    def _nullable(self, node: t.NullableType, last: bool) -> Shape:
        if node.flag in ("null_first", "null_second"):
            at = self.emit(ops.BRANCH, -1, 0, 0 if node.flag == "null_first" else 1, 0)
            return self.owned(at, self.node(node.inner, last))
        if node.flag == "is_null":
            return self.flagged(lambda: self.node(node.inner, last), 1, node.padding)

        def inner() -> Shape:
            shape = self.node(node.inner, last)
            in_band = shape.valid >= 0 or isinstance(shape, NullShape)
            return FlagShape(arrow_type=shape.arrow_type, inner=shape) if in_band else shape

        return replace(self.flagged(inner, 0), null_is_value=True)


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

    From the heap, Flink has the user's serializer write the null behind the flag too, and does not read that.
    """
    builder = Builder(wide_times=wide_times)
    return builder.finish(builder.flagged(lambda: _whole(builder, node, True), 1, ops.TO_END))


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
