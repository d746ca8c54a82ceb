"""Subclasses of POJOs that one snapshot names and another does not.

``PojoSerializer`` keeps the subclasses that it met; on the heap it meets those of values that it writes only after
its snapshot was written. What another subtask or state knows of the same class is true here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from . import types as t
from .tree import rebuilt

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


def may_be_unknown(node: t.DataType) -> bool:
    """Whether a value of ``node`` may hold an object of a class that the type does not know: a POJO that has
    subclasses may have others, and Kryo writes objects of any class."""
    if isinstance(node, t.PojoType) and (node.registered or node.non_registered):
        return True
    return has_kryo_shape(node) or any(map(may_be_unknown, node.children()))


def has_kryo_shape(node: t.DataType) -> bool:
    """Whether ``node`` holds decoded Kryo values: equal ones may have several forms in bytes."""
    if isinstance(node, t.KryoType):
        return node.shape is not None
    return any(map(has_kryo_shape, node.children()))


def _pojos(node: t.DataType) -> Iterator[t.PojoType]:
    if isinstance(node, t.PojoType):
        yield node
    for child in node.children():
        yield from _pojos(child)
