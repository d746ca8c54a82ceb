"""Scalars: the instruction that reads each one, the bytes it takes at least, and its Arrow type.

Arrow types follow spec "serializers", section 8.
"""

from __future__ import annotations

import pyarrow as pa

from .. import types as t
from . import ops
from .emitter import Emitter, struct_of
from .program import FixedShape, NullShape, Shape, VarShape

_TUPLE0 = 42

#: Always there, of one width: instruction, bytes of the slot and on the wire.
FIXED: dict[str, tuple[int, int, pa.DataType]] = {
    "boolean": (ops.BOOL, 1, pa.bool_()),
    "byte": (ops.I1, 1, pa.int8()),
    "short": (ops.I2, 2, pa.int16()),
    "int": (ops.I4, 4, pa.int32()),
    "long": (ops.I8, 8, pa.int64()),
    "float": (ops.I4, 4, pa.float32()),
    "double": (ops.I8, 8, pa.float64()),
    "char": (ops.I2, 2, pa.uint16()),
    "boolean_value": (ops.BOOL, 1, pa.bool_()),
    "long_value": (ops.I8, 8, pa.int64()),
    "double_value": (ops.I8, 8, pa.float64()),
    "count_window": (ops.I8, 8, pa.int64()),
    "flipped_long": (ops.I8_FLIPPED, 8, pa.int64()),
    "days": (ops.I4, 4, pa.date32()),
    "millis_of_day": (ops.I4, 4, pa.time32("ms")),
    "micros_of_day": (ops.I8, 8, pa.time64("us")),
    "months": (ops.I4, 4, pa.int32()),
    "day_time_millis": (ops.I8, 8, pa.duration("ms")),
    "timestamp_millis": (ops.I8, 8, pa.timestamp("ms")),
    "timestamp_micros": (ops.I8, 8, pa.timestamp("us")),
    "timestamp_nanos": (ops.I8, 8, pa.timestamp("ns")),
    "timestamp_millis_utc": (ops.I8, 8, pa.timestamp("ms", tz="UTC")),
    "timestamp_micros_utc": (ops.I8, 8, pa.timestamp("us", tz="UTC")),
    "timestamp_nanos_utc": (ops.I8, 8, pa.timestamp("ns", tz="UTC")),
}

#: Null in band: instruction, bytes of the slot, bytes on the wire at least.
TEMPORAL: dict[str, tuple[int, int, int, pa.DataType]] = {
    "date": (ops.MILLIS, 8, 8, pa.timestamp("ms", tz="UTC")),
    "sql_date": (ops.MILLIS, 8, 8, pa.timestamp("ms")),
    "sql_time": (ops.MILLIS, 8, 8, pa.timestamp("ms")),
    "sql_timestamp": (ops.SQL_TIMESTAMP, 8, 8, pa.timestamp("ns")),
    "instant": (ops.INSTANT, 8, 12, pa.timestamp("ns", tz="UTC")),
    "local_date": (ops.LOCAL_DATE, 4, 6, pa.date32()),
    "local_time": (ops.LOCAL_TIME, 8, 7, pa.time64("ns")),
    "local_date_time": (ops.LOCAL_DATE_TIME, 8, 13, pa.timestamp("ns")),
}

#: The same where a 64-bit time does not hold every value: instruction, and the slots of the struct's parts.
WIDE: dict[str, tuple[int, tuple[tuple[str, int, pa.DataType], ...]]] = {
    "sql_timestamp": (ops.WIDE_SQL_TIMESTAMP, (("millis", 8, pa.int64()), ("nanos", 4, pa.int32()))),
    "instant": (ops.WIDE_INSTANT, (("seconds", 8, pa.int64()), ("nanos", 4, pa.int32()))),
    "local_date": (
        ops.WIDE_DATE,
        (("year", 4, pa.int32()), ("month", 1, pa.int8()), ("day", 1, pa.int8())),
    ),
    "local_date_time": (
        ops.WIDE_DATE_TIME,
        (
            ("year", 4, pa.int32()),
            ("month", 1, pa.int8()),
            ("day", 1, pa.int8()),
            ("nano_of_day", 8, pa.int64()),
        ),
    ),
}

#: Of varying width: instruction, bytes on the wire at least, whether null is in band, its third operand.
VARIABLE: dict[str, tuple[int, int, bool, int, pa.DataType]] = {
    "string": (ops.STR, 1, True, 0, pa.string()),
    "string_value": (ops.STR_VALUE, 1, False, 0, pa.string()),
    "bytes": (ops.BLOB, 4, False, 0, pa.binary()),
    "bitmap": (ops.BLOB, 4, False, 0, pa.binary()),
    "raw_data": (ops.BLOB, 4, False, 0, pa.binary()),
    "string_data": (ops.BLOB, 4, False, 1, pa.string()),
    "big_integer": (ops.BIG_INT, 4, True, 0, pa.binary()),
}

_OTHERS = {
    "big_decimal": 4, "window": 16, "void": 1, "global_window": 1, "null": 0, "variant": 8, "tuple0": 1,
    "unit": 1, "nothing": 0,
}  # fmt: skip


def scalar_least(name: str) -> int:
    """The fewest bytes that a scalar takes on the wire."""
    if name in FIXED:
        return FIXED[name][1]
    if name in TEMPORAL:
        return TEMPORAL[name][2]
    if name in VARIABLE:
        return VARIABLE[name][1]
    return _OTHERS[name]


def least_bytes(node: t.DataType) -> int:
    """The fewest bytes a value of ``node`` takes on the wire; bounds the element counts a list may claim."""
    match node:
        case t.Scalar():
            return scalar_least(node.name)
        case t.TupleType():
            return sum(least_bytes(child) for child in node.children())
        case t.TtlType():
            return 8 + least_bytes(node.inner)
        case t.ListType() | t.MapType():
            return {"i4": 4, "block": 1, "rest": 0}[node.framing]
        case t.EnumType() | t.RowDataType() | t.ArrayDataType() | t.MapDataType() | t.RawDataType():
            return 4
        case t.RowType():
            return mask_bytes(node)
        case t.NullableType():
            return 4 if node.flag in ("null_first", "null_second") else 1
        case t.UnionType():
            return node.tag_width
        case t.FixedType():
            return node.size
        case t.DecimalType():
            return {"long": 8, "bytes": 4, "fixed": node.size}[node.storage]
        case t.TimestampDataType():
            return 8 if node.precision <= 3 else 12
    return 1


def mask_bytes(node: t.RowType) -> int:
    """``MaskUtils``: two bits of kind, if there are any, and one for each field."""
    return (len(node.fields) + (2 if node.supports_row_kind else 0) + 7) // 8


def compile_scalar(emitter: Emitter, name: str, wide_times: bool) -> Shape:
    """The instructions of the scalar type of this name."""
    if name in FIXED:
        op, width, kind = FIXED[name]
        slot = emitter.slot(width)
        emitter.emit(op, slot)
        return FixedShape(arrow_type=kind, slot=slot)
    if name in WIDE and wide_times:
        wide, parts = WIDE[name]
        slots = [emitter.slot(width) for _, width, _ in parts]
        valid = emitter.slot(1)
        emitter.emit(wide, slots[0], valid, *slots[1:])
        columns = [
            FixedShape(arrow_type=kind, slot=slot) for (_, _, kind), slot in zip(parts, slots, strict=True)
        ]
        return struct_of([part for part, _, _ in parts], columns, valid)
    if name in TEMPORAL:
        op, width, _, kind = TEMPORAL[name]
        slot, valid = emitter.slot(width), emitter.slot(1)
        emitter.emit(op, slot, valid)
        return FixedShape(arrow_type=kind, slot=slot, valid=valid)
    if name in VARIABLE:
        op, _, nullable, operand, kind = VARIABLE[name]
        offsets, data = emitter.variable()
        valid = emitter.slot(1) if nullable else -1
        emitter.emit(op, offsets, data, valid if nullable else operand)
        return VarShape(arrow_type=kind, offsets=offsets, data=data, valid=valid)
    if name == "big_decimal":
        return _compile_big_decimal(emitter)
    if name == "window":
        start, end = emitter.slot(8), emitter.slot(8)
        emitter.emit(ops.I8, start)
        emitter.emit(ops.I8, end)
        bounds = [FixedShape(arrow_type=pa.int64(), slot=slot) for slot in (start, end)]
        return struct_of(("start", "end"), bounds)
    if name == "variant":
        pairs = [emitter.variable(), emitter.variable()]
        emitter.emit(ops.VARIANT, *pairs[0], *pairs[1])
        both = [VarShape(arrow_type=pa.binary(), offsets=o, data=d) for o, d in pairs]
        return struct_of(("value", "metadata"), both)
    if name == "tuple0":
        emitter.emit(ops.EXPECT, _TUPLE0)
    elif name not in ("null", "nothing"):
        emitter.emit(ops.CONST, 1)
    return NullShape(arrow_type=pa.null(), null_is_value=name in t.ONE_VALUE)


def _compile_big_decimal(emitter: Emitter) -> Shape:
    (offsets, data), valid, scale = emitter.variable(), emitter.slot(1), emitter.slot(4)
    emitter.emit(ops.BIG_DECIMAL, offsets, data, valid, scale)
    unscaled = VarShape(arrow_type=pa.binary(), offsets=offsets, data=data)
    parts = [unscaled, FixedShape(arrow_type=pa.int32(), slot=scale)]
    return struct_of(("unscaled", "scale"), parts, valid)
