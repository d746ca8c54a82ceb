"""Parts of keys that have two forms in bytes.

A null DECIMAL of more than 18 digits, or TIMESTAMP of more than 3, is a slot of zeros where Flink's
``RowDataSerializer`` writes the row (``BinaryRowWriter.setNullAt``), and 16 bytes set aside behind the fields with
their offset in the slot where code does that Flink generates, as that which makes keys
(``BinaryRowWriter.writeDecimal`` and ``writeTimestamp`` of null). Rows of either form are equal as values, have other
hashes, and are other keys.

The numbers 0, 1 and 10 are a code alone where ``BigIntSerializer`` is given the very objects ``BigInteger.ZERO``,
``ONE`` and ``TEN`` (as ``BigInteger.valueOf`` gives them), and their bytes behind a length where it is given others
that are equal (as ``new BigInteger("1")``). So are the unscaled numbers of ``BigDecimal``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from . import types as t

_COMPACT_DECIMAL = 18
_COMPACT_TIMESTAMP = 3
_CODED = pa.array([b"\0", b"\1", b"\n"], pa.binary())

Mask = npt.NDArray[np.bool_]


def may_have_two_forms(node: t.DataType) -> bool:
    """Whether there may be such a part in a value."""
    match node:
        case t.RowDataType() | t.ArrayDataType() | t.MapDataType():
            return any(_is_wide(child) or may_have_two_forms(child) for child in node.children())
    return is_big(node) or any(map(may_have_two_forms, node.children()))


def is_big(node: t.DataType) -> bool:
    """Whether ``BigIntSerializer`` writes (a part of) it."""
    return isinstance(node, t.Scalar) and node.name in ("big_integer", "big_decimal")


def has_two_forms(array: pa.Array, node: t.DataType) -> Mask:
    """In which rows of ``array`` there is such a part; of arrays and maps of SQL and of maps, wherever there may be
    one."""
    if not may_have_two_forms(node):
        return np.zeros(len(array), np.bool_)
    there: Mask = np.asarray(array.is_valid())
    return there & _within(array, node)


def _within(array: pa.Array, node: t.DataType) -> Mask:
    """:func:`has_two_forms` of the rows that are there."""
    found: Mask = np.ones(len(array), np.bool_)
    match node:
        case t.Scalar(name="big_integer"):
            found = np.asarray(pc.is_in(array, value_set=_CODED))
        case t.Scalar(name="big_decimal"):
            found = np.asarray(pc.is_in(array.field("unscaled"), value_set=_CODED))
        case t.RowDataType():
            parts = [array.field(part.name) for part in node.fields]
            wide = [
                ~np.asarray(part.is_valid()) if _is_wide(child) else has_two_forms(part, child)
                for part, child in zip(parts, node.children(), strict=True)
            ]
            found = np.logical_or.reduce(wide)
        case t.TupleType() | t.RowType():
            found = np.logical_or.reduce(
                [has_two_forms(array.field(part.name), part.type) for part in node.fields]
            )
        case t.ListType():
            before = np.concatenate([[0], np.cumsum(has_two_forms(array.values, node.element))])
            offsets = np.asarray(array.offsets)
            found = before[offsets[1:]] > before[offsets[:-1]]
    return found


def _is_wide(node: t.DataType) -> bool:
    match node:
        case t.DecimalType():
            return node.precision > _COMPACT_DECIMAL
        case t.TimestampDataType():
            return node.precision > _COMPACT_TIMESTAMP
    return False
