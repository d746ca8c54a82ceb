"""Types to programs and Arrow shapes: which instructions read a type, and which slots become which Arrow array.

Arrow types of the scalars follow spec "serializers" section 8. Children keep the length of their parent, so a
null struct has placeholders below it; see :mod:`.ops` for null paths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .. import types as t
from . import ops


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A growing column in the arena: ``width`` bytes an element, at most one element for ``least`` input bytes.

    ``least`` 0 means one element a row. ``data`` slots hold the bytes of strings and blobs.
    """

    width: int
    least: int = 0
    data: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How slots become one Arrow array. ``valid`` is the slot of validity bytes, or -1: never null."""

    arrow_type: pa.DataType
    valid: int = -1


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
class NullShape(Shape):
    """Nothing stored: every element is null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StructShape(Shape):
    names: tuple[str, ...]
    children: tuple[Shape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListShape(Shape):
    offsets: int
    child: Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class MapShape(Shape):
    offsets: int
    key: Shape
    value: Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A compiled type: ``code`` int64 of shape (n, 5), the slots it fills, and the Arrow array they make."""

    code: npt.NDArray[np.int64]
    slots: tuple[Slot, ...]
    shape: Shape


_FIXED: dict[str, tuple[int, int, pa.DataType]] = {
    "boolean": (ops.BOOL, 1, pa.bool_()),
    "byte": (ops.I1, 1, pa.int8()),
    "short": (ops.I2, 2, pa.int16()),
    "int": (ops.I4, 4, pa.int32()),
    "long": (ops.I8, 8, pa.int64()),
    "float": (ops.I4, 4, pa.float32()),
    "double": (ops.I8, 8, pa.float64()),
    "char": (ops.I2, 2, pa.uint16()),
    "count_window": (ops.I8, 8, pa.int64()),
}

_TEMPORAL: dict[str, tuple[int, int, int, pa.DataType]] = {
    # op, width of the slot, bytes on the wire at least
    "date": (ops.MILLIS, 8, 8, pa.timestamp("ms", tz="UTC")),
    "sql_date": (ops.MILLIS, 8, 8, pa.timestamp("ms")),
    "sql_time": (ops.MILLIS, 8, 8, pa.timestamp("ms")),
    "sql_timestamp": (ops.SQL_TIMESTAMP, 8, 8, pa.timestamp("ns")),
    "instant": (ops.INSTANT, 8, 12, pa.timestamp("ns", tz="UTC")),
    "local_date": (ops.LOCAL_DATE, 4, 6, pa.date32()),
    "local_time": (ops.LOCAL_TIME, 8, 7, pa.time64("ns")),
    "local_date_time": (ops.LOCAL_DATE_TIME, 8, 13, pa.timestamp("ns")),
}

_VARIABLE: dict[str, tuple[int, int, pa.DataType]] = {
    "string": (ops.STR, 1, pa.string()),
    "string_value": (ops.STR_VALUE, 1, pa.string()),
    "bytes": (ops.BLOB, 4, pa.binary()),
    "string_data": (ops.BLOB, 4, pa.string()),
    "big_integer": (ops.BIG_INT, 4, pa.binary()),
}

_NULLABLE_IN_BAND = {"string", "big_integer"}


def least_bytes(node: t.DataType) -> int:
    """The fewest bytes a value of ``node`` takes on the wire; bounds the element counts a list may claim."""
    if isinstance(node, t.Scalar):
        if node.name in _FIXED:
            return _FIXED[node.name][1]
        if node.name in _TEMPORAL:
            return _TEMPORAL[node.name][2]
        if node.name in _VARIABLE:
            return _VARIABLE[node.name][1]
        return {"big_decimal": 4, "window": 16, "void": 1, "global_window": 1, "null": 0}[node.name]
    if isinstance(node, t.TupleType):
        return sum(least_bytes(child) for child in node.children())
    if isinstance(node, t.TtlType):
        return 8 + least_bytes(node.inner)
    if isinstance(node, (t.ListType, t.MapType, t.EnumType)):
        return 4
    if isinstance(node, t.RowType):
        return _mask_bytes(node)
    return 1


def _mask_bytes(node: t.RowType) -> int:
    return (len(node.fields) + (2 if node.supports_row_kind else 0) + 7) // 8


@dataclass(slots=True)
class Builder:
    """Emits the instructions of one program. ``least`` is the element size of the list being compiled."""

    code: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    deferred: list[Callable[[], None]] = field(default_factory=list)
    least: int = 0

    def emit(self, op: int, a: int = 0, b: int = 0, c: int = 0, d: int = 0) -> int:
        self.code.append((op, a, b, c, d))
        return len(self.code) - 1

    def patch(self, at: int, operand: int, value: int) -> None:
        row = list(self.code[at])
        row[operand] = value
        self.code[at] = (row[0], row[1], row[2], row[3], row[4])

    def slot(self, width: int, *, data: bool = False) -> int:
        self.slots.append(Slot(width=width, least=self.least, data=data))
        return len(self.slots) - 1

    def finish(self, shape: Shape) -> Program:
        self.emit(ops.END)
        while self.deferred:
            self.deferred.pop(0)()
        return Program(code=np.array(self.code, np.int64), slots=tuple(self.slots), shape=shape)

    # -- nodes ---------------------------------------------------------------------------------------------

    def node(self, node: t.DataType) -> Shape:
        match node:
            case t.Scalar():
                return self._scalar(node.name)
            case t.EnumType():
                slot = self.slot(4)
                self.emit(ops.ENUM, slot, len(node.constants))
                kind = pa.dictionary(pa.int32(), pa.string())
                return EnumShape(arrow_type=kind, slot=slot, constants=node.constants)
            case t.TupleType():
                return _struct(node.fields, [self.node(child) for child in node.children()])
            case t.TtlType():
                slot = self.slot(8)
                self.emit(ops.I8, slot)
                stamp = FixedShape(arrow_type=pa.timestamp("ms", tz="UTC"), slot=slot)
                names = (t.Field(name="ttl_timestamp", type=node), t.Field(name="value", type=node))
                return _struct(names, [stamp, self.node(node.inner)])
            case t.PojoType():
                return self._pojo(node)
            case t.RowType():
                return self._row(node)
            case t.ListType():
                return self._list(ops.LIST, node)
            case t.MapType():
                return self._map(node)
            case t.NullableType():
                null_byte = 1 if node.flag == "is_null" else 0
                return self.flagged(lambda: self.node(node.inner), null_byte, node.padding)
        return self.rest()

    def _scalar(self, name: str) -> Shape:
        if name in _FIXED:
            op, width, kind = _FIXED[name]
            slot = self.slot(width)
            self.emit(op, slot)
            return FixedShape(arrow_type=kind, slot=slot)
        if name in _TEMPORAL:
            op, width, _, kind = _TEMPORAL[name]
            slot, valid = self.slot(width), self.slot(1)
            self.emit(op, slot, valid)
            return FixedShape(arrow_type=kind, slot=slot, valid=valid)
        if name in _VARIABLE:
            op, _, kind = _VARIABLE[name]
            offsets, data = self.slot(4), self.slot(1, data=True)
            valid = self.slot(1) if name in _NULLABLE_IN_BAND else -1
            self.emit(op, offsets, data, valid)
            return VarShape(arrow_type=kind, offsets=offsets, data=data, valid=valid)
        if name == "big_decimal":
            return self._big_decimal()
        if name == "window":
            start, end = self.slot(8), self.slot(8)
            self.emit(ops.I8, start)
            self.emit(ops.I8, end)
            bounds = [FixedShape(arrow_type=pa.int64(), slot=slot) for slot in (start, end)]
            return _struct_of(("start", "end"), bounds)
        if name != "null":
            self.emit(ops.CONST, 1)
        return NullShape(arrow_type=pa.null())

    def _big_decimal(self) -> Shape:
        offsets, data, valid, scale = self.slot(4), self.slot(1, data=True), self.slot(1), self.slot(4)
        self.emit(ops.DECIMAL, offsets, data, valid, scale)
        unscaled = VarShape(arrow_type=pa.binary(), offsets=offsets, data=data)
        parts = [unscaled, FixedShape(arrow_type=pa.int32(), slot=scale)]
        return _struct_of(("unscaled", "scale"), parts, valid=valid)

    def _pojo(self, node: t.PojoType) -> Shape:
        valid = self.slot(1)
        at = self.emit(ops.POJO, valid)
        children = [self.flagged(lambda f=f: self.node(f.type), 1) for f in node.fields]
        shape = _struct(node.fields, children, valid=valid)
        self._null_path(at, shape, 0)
        return shape

    def _row(self, node: t.RowType) -> Shape:
        self.emit(ops.MASK, _mask_bytes(node))
        names, children, bit = [], [], 0
        if node.supports_row_kind:
            kind = self.slot(1)
            self.emit(ops.ROW_KIND, kind)
            names.append("__kind")
            children.append(FixedShape(arrow_type=pa.int8(), slot=kind))
            bit = 2
        for number, part in enumerate(node.fields):
            at = self.emit(ops.MASK_BIT, -1, 0, bit + number, 0)
            names.append(part.name)
            children.append(self._owned(at, 4, self.node(part.type), 0))
        self.emit(ops.UNMASK)
        return _struct_of(tuple(names), children)

    def _list(self, op: int, node: t.ListType) -> Shape:
        offsets = self.slot(4)
        outer, flag = self.least, node.element_flag
        least = least_bytes(node.element) if flag == "none" else 1
        at = self.emit(op, offsets, 0, least)
        self.least = max(1, least)
        if flag == "none":
            child = self.node(node.element)
        else:
            child = self.flagged(lambda: self.node(node.element), 1 if flag == "is_null" else 0)
        self.least = outer
        self.emit(ops.NEXT if op == ops.LIST else ops.DELIMITED_NEXT)
        self.patch(at, 2, len(self.code))
        item = pa.field("item", child.arrow_type)
        return ListShape(arrow_type=pa.list_(item), offsets=offsets, child=child)

    def _map(self, node: t.MapType) -> Shape:
        offsets = self.slot(4)
        outer = self.least
        least = least_bytes(node.key) + 1
        at = self.emit(ops.LIST, offsets, 0, least)
        self.least = least
        key = self.node(node.key)
        value = self.flagged(lambda: self.node(node.value), 1)
        self.least = outer
        self.emit(ops.NEXT)
        self.patch(at, 2, len(self.code))
        kind = pa.map_(key.arrow_type, value.arrow_type)
        return MapShape(arrow_type=kind, offsets=offsets, key=key, value=value)

    def delimited(self, element: t.DataType) -> Shape:
        """A ListState's value in canonical and RocksDB form: elements with one comma between them."""
        return self._list(ops.DELIMITED, t.ListType(element=element))

    def rest(self, keep: int = 0) -> Shape:
        """The bytes up to the end of the value but the last ``keep``, as they are."""
        offsets, data = self.slot(4), self.slot(1, data=True)
        self.emit(ops.REST, offsets, data, keep)
        return VarShape(arrow_type=pa.binary(), offsets=offsets, data=data)

    # -- nulls ---------------------------------------------------------------------------------------------

    def flagged(self, inner: Callable[[], Shape], null_byte: int, padding: int = 0) -> Shape:
        """A flag byte and then, where it is not ``null_byte``, the inner value."""
        at = self.emit(ops.FLAG, -1, 0, null_byte, 0)
        return self._owned(at, 4, inner(), padding)

    def _owned(self, at: int, own_operand: int, shape: Shape, padding: int) -> Shape:
        """Give the flag at ``at`` the validity slot of ``shape``, or one of its own where that has none."""
        if shape.valid < 0:
            shape = replace(shape, valid=self.slot(1))
            self.patch(at, own_operand, 1)
        self.patch(at, 1, shape.valid)
        self._null_path(at, shape, padding)
        return shape

    def _null_path(self, at: int, shape: Shape, padding: int) -> None:
        back = len(self.code)

        def emit() -> None:
            self.patch(at, 2, len(self.code))
            self._fill(shape)
            if padding:
                self.emit(ops.PAD, padding)
            self.emit(ops.JUMP, back)

        self.deferred.append(emit)

    def _fill(self, shape: Shape) -> None:
        if shape.valid >= 0:
            self.emit(ops.FILL1, shape.valid)
        match shape:
            case FixedShape() | EnumShape():
                width = self.slots[shape.slot].width
                self.emit({1: ops.FILL1, 2: ops.FILL2, 4: ops.FILL4, 8: ops.FILL8}[width], shape.slot)
            case VarShape() | ListShape() | MapShape():
                self.emit(ops.FILL_OFFSET, shape.offsets)
            case StructShape():
                for child in shape.children:
                    self._fill(child)


def _struct(fields: tuple[t.Field, ...], children: list[Shape], valid: int = -1) -> StructShape:
    return _struct_of(tuple(part.name for part in fields), children, valid)


def _struct_of(names: tuple[str, ...], children: list[Shape], valid: int = -1) -> StructShape:
    kind = pa.struct([pa.field(name, child.arrow_type) for name, child in zip(names, children, strict=True)])
    return StructShape(arrow_type=kind, names=names, children=tuple(children), valid=valid)


def compile_type(node: t.DataType) -> Program:
    """The program of ``node`` standing alone. A tree with an opaque node in it is opaque as a whole."""
    builder = Builder()
    return builder.finish(builder.rest() if t.opaque_in(node) else builder.node(node))


def compile_delimited(element: t.DataType) -> Program:
    """The program of a ListState's value (spec 5.4, LIST)."""
    builder = Builder()
    return builder.finish(builder.rest() if t.opaque_in(element) else builder.delimited(element))


def compile_map_value(node: t.DataType) -> Program:
    """The program of a MapState's value: an is-null byte, then the user value (spec 5.4, MAP)."""
    builder = Builder()
    opaque = t.opaque_in(node) is not None
    return builder.finish(builder.flagged(lambda: builder.rest() if opaque else builder.node(node), 1))


def compile_timer(key: t.DataType, namespace: t.DataType) -> Program:
    """The program of a timer: sign-flipped timestamp, key, namespace (spec 8.2); a struct of the three."""
    builder = Builder()
    slot = builder.slot(8)
    builder.emit(ops.I8_FLIPPED, slot)
    stamp = FixedShape(arrow_type=pa.int64(), slot=slot)
    parts = [stamp, builder.node(key), builder.node(namespace)]
    return builder.finish(_struct_of(("timestamp", "key", "namespace"), parts))
