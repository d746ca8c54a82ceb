"""Subclasses of POJOs that one snapshot names and another does not.

``PojoSerializer`` keeps the subclasses that it met; on the heap it meets those of values that it writes only after
its snapshot was written. What another subtask or state knows of the same class is true here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import pyarrow as pa

from . import types as t
from .codec.program import has_two_nulls
from .codec.scalars import VARIABLE, WIDE
from .codec.shapes import compile_type
from .key_forms import is_big
from .tree import rebuilt

_COMPACT_TIMESTAMP = 3

#: By the name of a POJO class, the types of its subclasses by their names.
Subclasses = dict[str, dict[str, t.DataType]]


def with_subclasses(node: t.PojoType, known: Mapping[str, t.DataType]) -> t.PojoType:
    """``node`` with the subclasses of ``known`` that it does not name, or does not know the fields of."""

    def told(part: t.Field) -> t.Field:
        lacks = isinstance(part.type, t.OpaqueType) and part.name in known
        return t.Field(name=part.name, type=known[part.name]) if lacks else part

    registered = tuple(map(told, node.registered))
    others = tuple(map(told, node.non_registered))
    named = {part.name for part in (*registered, *others)}
    more = tuple(t.Field(name=name, type=kind) for name, kind in known.items() if name not in named)
    if not more and (registered, others) == (node.registered, node.non_registered):
        return node
    return replace(node, registered=registered, non_registered=others + more)


def subclasses_of(nodes: Iterable[t.DataType]) -> Subclasses:
    """The subclasses that the POJOs in these types name."""
    found: Subclasses = {}
    for node in nodes:
        for pojo in _pojos(node):
            for part in (*pojo.registered, *pojo.non_registered):
                if isinstance(part.type, t.PojoType):
                    found.setdefault(pojo.class_name, {}).setdefault(part.name, part.type)
    return found


def told(node: t.DataType, known: Subclasses) -> t.DataType:
    """``node``, its POJOs with the subclasses that are known of their classes."""

    def change(one: t.DataType) -> t.DataType:
        if isinstance(one, t.PojoType) and one.class_name in known:
            return with_subclasses(one, known[one.class_name])
        return one

    return rebuilt(node, change) if known else node


def may_be_undecoded(node: t.DataType, *, wide_times: bool) -> bool:
    """Whether there are values of ``node`` that no column holds: an object of a class that the type does not know (a
    POJO that has subclasses may have others, and Kryo writes objects of any class), text that is no UTF-8, a map
    with a null key, a null beside the one that the column has, and without ``wide_times`` a far time."""
    return _may_be_undecoded(node, wide_times) or has_two_nulls(compile_type(node).shape)


def _may_be_undecoded(node: t.DataType, wide_times: bool) -> bool:
    match node:
        case t.PojoType() if node.registered or node.non_registered:
            return True
        case t.KryoType():
            return True
        case t.Scalar():
            return (
                pa.types.is_string(VARIABLE[node.name][-1])
                if node.name in VARIABLE
                else (node.name in WIDE and not wide_times)
            )
        case t.TimestampDataType():
            return node.precision > _COMPACT_TIMESTAMP and not wide_times
        case t.MapDataType():
            return True
        case t.MapType() if compile_type(node.key).shape.valid >= 0:
            return True
    return any(_may_be_undecoded(child, wide_times) for child in node.children())


def has_many_forms(node: t.DataType) -> bool:
    """Whether equal values may be other bytes: decoded Kryo values, RAW in SQL rows, where a null has two forms, and
    big numbers."""
    match node:
        case t.Scalar():
            return is_big(node)
        case t.KryoType():
            return node.shape is not None
        case t.RowDataType() | t.ArrayDataType() | t.MapDataType():
            if any(isinstance(child, t.RawDataType) for child in node.children()):
                return True
    return any(map(has_many_forms, node.children()))


def _pojos(node: t.DataType) -> Iterator[t.PojoType]:
    if isinstance(node, t.PojoType):
        yield node
    for child in node.children():
        yield from _pojos(child)
