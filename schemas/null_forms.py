"""Nulls of SQL rows that have two forms in bytes.

A null DECIMAL of more than 18 digits, or TIMESTAMP of more than 3, is a slot of zeros where Flink's
``RowDataSerializer`` writes the row (``BinaryRowWriter.setNullAt``), and 16 bytes set aside behind the fields with
their offset in the slot where code does that Flink generates, as that which makes keys
(``BinaryRowWriter.writeDecimal`` and ``writeTimestamp`` of null). Rows of either form are equal as values, have other
hashes, and are other keys.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from . import types as t

_COMPACT_DECIMAL = 18
_COMPACT_TIMESTAMP = 3


def may_have_two_forms(node: t.DataType) -> bool:
    """Whether there may be such a null in a value."""
    match node:
        case t.RowDataType() | t.ArrayDataType() | t.MapDataType():
            return any(_is_wide(child) or may_have_two_forms(child) for child in node.children())
    return any(map(may_have_two_forms, node.children()))


def has_two_forms(array: pa.Array, node: t.DataType) -> npt.NDArray[np.bool_]:
    """In which rows of ``array`` there is such a null; wherever there may be one in what is no row."""
    there: npt.NDArray[np.bool_] = np.asarray(array.is_valid())
    found = np.zeros(len(array), np.bool_)
    if not isinstance(node, t.RowDataType):
        return there if may_have_two_forms(node) else found
    for number, child in enumerate(node.children()):
        part = array.field(number + 1)
        found |= ~np.asarray(part.is_valid()) if _is_wide(child) else has_two_forms(part, child)
    return found & there


def _is_wide(node: t.DataType) -> bool:
    match node:
        case t.DecimalType():
            return node.precision > _COMPACT_DECIMAL
        case t.TimestampDataType():
            return node.precision > _COMPACT_TIMESTAMP
    return False
