"""What is not decoded, and where in a type it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..type_text import quoted
from .base import DataType, Field
from .composite import ListType, MapType, NullableType, PojoType, RowType, TtlType, TupleType, UnionType
from .kryo import ClassType
from .table import ArrayDataType, MapDataType, RowDataType


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaqueType(DataType):
    """A value that is carried as bytes: ``class_name`` is whose it is, ``reason`` why it is not decoded."""

    class_name: str
    reason: str

    def __str__(self) -> str:
        return f"opaque<{quoted(self.class_name)}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanType(OpaqueType):
    """A value of a type that holds itself, as in a list of linked records: no column holds it, but its ``body`` tells
    where it ends. Within ``body`` one without a body stands for the one of its name around it."""

    body: DataType | None = None


def opaque_in(node: DataType) -> OpaqueType | None:
    """The first node of the tree whose end nothing tells, or None: a value that holds one is opaque as a whole."""
    if isinstance(node, SpanType):
        return None
    if isinstance(node, OpaqueType):
        return node
    for child in node.children():
        found = opaque_in(child)
        if found is not None:
            return found
    return None


def opaque_parts(node: DataType, path: str) -> Iterator[tuple[str, OpaqueType]]:
    """Every opaque node below ``path`` and where it is: ``value.tags[]``, ``value.counts.key``, ``value@Subclass``."""
    match node:
        case OpaqueType():
            yield path, node
        case ListType() | ArrayDataType():
            yield from opaque_parts(node.element, f"{path}[]")
        case MapType() | MapDataType():
            yield from opaque_parts(node.key, f"{path}.key")
            yield from opaque_parts(node.value, f"{path}.value")
        case PojoType():
            yield from _opaque_fields(node.fields, path + ".")
            yield from _opaque_fields((*node.registered, *node.non_registered), path + "@")
        case TupleType() | RowType() | RowDataType() | ClassType():
            yield from _opaque_fields(node.fields, path + ".")
        case UnionType():
            yield from _opaque_fields(node.alternatives, path + ".")
        case _:
            for child in node.children():
                yield from opaque_parts(child, path)


def _opaque_fields(fields: tuple[Field, ...], before: str) -> Iterator[tuple[str, OpaqueType]]:
    for part in fields:
        yield from opaque_parts(part.type, before + part.name)


def opaque_at_end(node: DataType) -> bool:
    """Whether opaque nodes, if there are any, stand only where the value's bytes end."""
    match node:
        case OpaqueType():
            return True
        case TtlType():
            return opaque_at_end(node.inner)
        case NullableType() if not node.padding:
            return opaque_at_end(node.inner)
        case UnionType():
            return all(opaque_at_end(child) for child in node.children())
        case TupleType() | RowType() | PojoType() if len(node.children()) == len(node.fields) > 0:
            *before, last = node.children()
            return opaque_at_end(last) and all(opaque_in(child) is None for child in before)
    return opaque_in(node) is None
