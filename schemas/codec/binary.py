"""Flink SQL's binary rows, arrays and maps (spec "serializers", 5.3): their programs.

A field is found by its number, not behind the one before it, so these values can be nested but not cut in the
middle. Rows have ``__kind`` (``RowKind``) as their first field.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from .. import types as t
from . import ops
from .program import FixedShape, ListShape, MapShape, NullShape, Shape, StructShape, VarShape
from .scalars import FIXED, VARIABLE

if TYPE_CHECKING:
    from .shapes import Builder

_BY_WIDTH = {1: ops.B_1, 2: ops.B_2, 4: ops.B_4, 8: ops.B_8}
_COMPACT_DECIMAL = 18
_COMPACT_TIMESTAMP = 3


def compile_binary(
    builder: Builder, node: t.RowDataType | t.ArrayDataType | t.MapDataType, *, nested: bool
) -> Shape:
    """The program of a binary value behind its i4 size, or ``nested`` in a field or element of another one."""
    match node:
        case t.RowDataType():
            return _row(builder, node, nested)
        case t.ArrayDataType():
            return _array(builder, node, nested)
    return _map(builder, node, nested)


def _row(builder: Builder, node: t.RowDataType, nested: bool) -> Shape:
    kind = builder.slot(1)
    builder.emit(ops.B_ROW, len(node.fields), kind, int(nested))
    children: list[Shape] = [FixedShape(arrow_type=pa.int8(), slot=kind)]
    for number, part in enumerate(node.fields):
        at = builder.emit(ops.B_BIT, -1, 0, number, 0)
        children.append(builder.owned(at, _field(builder, part.type)))
    builder.emit(ops.B_END)
    names = ("__kind", *(part.name for part in node.fields))
    kinds = pa.struct([pa.field(name, child.arrow_type) for name, child in zip(names, children, strict=True)])
    return StructShape(arrow_type=kinds, names=names, children=tuple(children))


def _array(builder: Builder, node: t.ArrayDataType, nested: bool) -> Shape:
    offsets = builder.slot(4, offsets=True)
    at = builder.emit(ops.B_ARRAY, offsets, 0, element_bytes(node.element), int(nested))
    child = _elements(builder, node.element)
    builder.patch(at, 2, len(builder.code))
    kind = pa.list_(pa.field("item", child.arrow_type))
    return ListShape(arrow_type=kind, offsets=offsets, child=child)


def _map(builder: Builder, node: t.MapDataType, nested: bool) -> Shape:
    offsets = builder.slot(4, offsets=True)
    builder.emit(ops.B_MAP, offsets, 0, 0, int(nested))
    parts = []
    for op, part in ((ops.B_MAP_KEYS, node.key), (ops.B_MAP_VALUES, node.value)):
        at = builder.emit(op, 0, element_bytes(part))
        parts.append(_elements(builder, part))
        builder.patch(at, 1, len(builder.code))
    builder.emit(ops.B_END)
    kind = pa.map_(parts[0].arrow_type, parts[1].arrow_type)
    return MapShape(arrow_type=kind, offsets=offsets, key=parts[0], value=parts[1])


def _elements(builder: Builder, element: t.DataType) -> Shape:
    size = element_bytes(element)
    outer, builder.least = builder.least, size
    at = builder.emit(ops.B_ELEMENT_BIT, -1)
    child = builder.owned(at, _field(builder, element))
    builder.least = outer
    builder.emit(ops.B_ARRAY_NEXT, size)
    return child


def element_bytes(node: t.DataType) -> int:
    """``BinaryArrayData.calculateFixLengthPartSize``: bytes of an element's slot."""
    return FIXED[node.name][1] if isinstance(node, t.Scalar) and node.name in FIXED else 8


def _field(builder: Builder, node: t.DataType) -> Shape:
    """A field's or element's value, in its slot or where the slot points."""
    match node:
        case t.Scalar() if node.name in FIXED:
            _, width, kind = FIXED[node.name]
            slot = builder.slot(width)
            builder.emit(_BY_WIDTH[width], slot)
            return FixedShape(arrow_type=kind, slot=slot)
        case t.Scalar() if node.name == "null":
            return NullShape(arrow_type=pa.null())
        case t.Scalar():
            kind = VARIABLE[node.name][4] if node.name in VARIABLE else pa.binary()
            text = pa.types.is_string(kind)
            return _bytes(builder, kind, text=text, inline=text or node.name == "bytes")
        case t.DecimalType():
            slot = builder.slot(16)
            compact = node.precision <= _COMPACT_DECIMAL
            builder.emit(ops.B_DECIMAL_LONG if compact else ops.B_DECIMAL_BYTES, slot)
            return FixedShape(arrow_type=pa.decimal128(node.precision, node.scale), slot=slot)
        case t.TimestampDataType():
            return compile_timestamp(builder, node, ops.B_TIMESTAMP, ops.B_WIDE_TIMESTAMP, ops.B_8)
        case t.RowDataType() | t.ArrayDataType() | t.MapDataType():
            return compile_binary(builder, node, nested=True)
        case t.RawDataType():
            builder.emit(ops.B_FRAME)
            shape = builder.node(node.inner)
            builder.emit(ops.B_UNFRAME)
            # Flink hands a value without content to its serializer, and does not set the null bit.
            if isinstance(shape, NullShape):
                return replace(shape, present=True, null_is_value=False)
            return shape
    return _bytes(builder, pa.binary(), text=False, inline=False)


def _bytes(builder: Builder, kind: pa.DataType, *, text: bool, inline: bool) -> Shape:
    offsets, data = builder.variable()
    builder.emit(ops.B_BYTES, offsets, data, int(text), int(inline))
    return VarShape(arrow_type=kind, offsets=offsets, data=data)


def compile_timestamp(
    builder: Builder, node: t.TimestampDataType, op: int, wide_op: int, compact_op: int = ops.I8
) -> Shape:
    """``TimestampData``: milliseconds up to precision 3, microseconds up to 6, else nanoseconds."""
    zone = "UTC" if node.utc else None
    slot = builder.slot(8)
    if node.precision <= _COMPACT_TIMESTAMP:
        builder.emit(compact_op, slot)
        return FixedShape(arrow_type=pa.timestamp("ms", tz=zone), slot=slot)
    if builder.wide_times:
        nanos = builder.slot(4)
        builder.emit(wide_op, slot, nanos)
        parts = (FixedShape(arrow_type=pa.int64(), slot=slot), FixedShape(arrow_type=pa.int32(), slot=nanos))
        kind = pa.struct([pa.field("millis", pa.int64()), pa.field("nanos", pa.int32())])
        return StructShape(arrow_type=kind, names=("millis", "nanos"), children=parts)
    unit = 1000 if node.precision <= 6 else 1
    builder.emit(op, slot, unit)
    return FixedShape(arrow_type=pa.timestamp("us" if unit == 1000 else "ns", tz=zone), slot=slot)
