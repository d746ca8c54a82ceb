"""Types of state, as a tree of frozen nodes: what a serializer snapshot says, without the user's classes.

A node says how Flink's serializer lays a value out (spec "serializers", sections 2 to 5); its Arrow type is
given by :mod:`.codec.shapes`. Nodes are built from snapshots by :mod:`.from_snapshot` and by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ScalarName = Literal[
    "boolean", "byte", "short", "int", "long", "float", "double", "char", "string", "string_value",
    "void", "null", "date", "sql_date", "sql_time", "sql_timestamp", "instant", "local_date", "local_time",
    "local_date_time", "big_integer", "big_decimal", "bytes", "window", "global_window", "count_window",
    "string_data",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class DataType:
    """Base of all nodes. ``__str__`` is the type in the words of the plan language."""

    def children(self) -> tuple[DataType, ...]:
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar(DataType):
    """A type without parts; ``name`` is Flink's serializer without ``Serializer``, in snake case."""

    name: ScalarName

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    name: str
    type: DataType

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TupleType(DataType):
    """Fields one after the other, no null flags: TupleN, Scala case classes, TTL pairs, timers, buffer entries."""

    class_name: str
    fields: tuple[Field, ...]

    def children(self) -> tuple[DataType, ...]:
        return tuple(field.type for field in self.fields)

    def __str__(self) -> str:
        return "tuple<" + ", ".join(str(field.type) for field in self.fields) + ">"


@dataclass(frozen=True, slots=True, kw_only=True)
class PojoType(DataType):
    """``PojoSerializer``: a flags byte, then each field behind a null flag, in the snapshot's order.

    ``registered`` subclasses are written by tag (their place in the tuple), the others by class name.
    """

    class_name: str
    fields: tuple[Field, ...]
    registered: tuple[Field, ...] = ()
    non_registered: tuple[Field, ...] = ()

    def children(self) -> tuple[DataType, ...]:
        return tuple(field.type for field in (*self.fields, *self.registered, *self.non_registered))

    def __str__(self) -> str:
        return f"pojo {self.class_name} {{{', '.join(map(str, self.fields))}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowType(DataType):
    """``RowSerializer``: a mask of kind and null bits, then the fields that are not null."""

    fields: tuple[Field, ...]
    supports_row_kind: bool = True

    def children(self) -> tuple[DataType, ...]:
        return tuple(field.type for field in self.fields)

    def __str__(self) -> str:
        return f"row {{{', '.join(map(str, self.fields))}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListType(DataType):
    """i4 count, then the elements. ``element_flag`` is the byte that stands before each one, if any.

    ``flavour`` names the collection where Arrow does not: ``list``, ``set``, ``array``.
    """

    element: DataType
    flavour: Literal["list", "set", "array"] = "list"
    element_flag: Literal["none", "is_null", "is_present"] = "none"
    class_name: str | None = None

    def children(self) -> tuple[DataType, ...]:
        return (self.element,)

    def __str__(self) -> str:
        return f"{self.flavour}<{self.element}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapType(DataType):
    """``MapSerializer``: i4 count, then key, is-null flag, value."""

    key: DataType
    value: DataType

    def children(self) -> tuple[DataType, ...]:
        return (self.key, self.value)

    def __str__(self) -> str:
        return f"map<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumType(DataType):
    """``EnumSerializer``: an i4 index into ``constants``."""

    class_name: str
    constants: tuple[str, ...]

    def __str__(self) -> str:
        return f"enum {self.class_name} {{{', '.join(self.constants)}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NullableType(DataType):
    """``NullableSerializer`` or Scala's ``Option``: one flag byte, then the value, or ``padding`` zero bytes."""

    inner: DataType
    flag: Literal["is_null", "is_present"] = "is_null"
    padding: int = 0

    def children(self) -> tuple[DataType, ...]:
        return (self.inner,)

    def __str__(self) -> str:
        return f"nullable<{self.inner}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlType(DataType):
    """``TtlSerializer``: i8 last access (epoch milliseconds), then the value."""

    inner: DataType

    def children(self) -> tuple[DataType, ...]:
        return (self.inner,)

    def __str__(self) -> str:
        return f"ttl<{self.inner}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaqueType(DataType):
    """A value that is carried as bytes: ``class_name`` is whose it is, ``reason`` why it is not decoded."""

    class_name: str
    reason: str

    def __str__(self) -> str:
        return f"opaque<{self.class_name}>"


def opaque_in(node: DataType) -> OpaqueType | None:
    """The first opaque node of the tree, or None: a value that holds one is opaque as a whole."""
    if isinstance(node, OpaqueType):
        return node
    for child in node.children():
        found = opaque_in(child)
        if found is not None:
            return found
    return None


def scalar(name: ScalarName) -> Scalar:
    return Scalar(name=name)


#: What ``getLength()`` of the serializer gives in Java: bytes, or -1 where values differ (spec 5.3, "ambiguous").
_FIXED_LENGTH: dict[str, int] = {
    "boolean": 1, "byte": 1, "short": 2, "int": 4, "long": 8, "float": 4, "double": 8, "char": 2,
    "void": 0, "date": 8, "sql_date": 8, "sql_time": 8, "sql_timestamp": 12, "instant": 12,
    "local_date": 6, "local_time": 7, "local_date_time": 13, "window": 16, "global_window": 1, "count_window": 8,
}  # fmt: skip


def serializer_length(node: DataType) -> int:
    """``TypeSerializer.getLength()`` of the serializer that wrote ``node``: bytes, or -1 for variable."""
    if isinstance(node, Scalar):
        return _FIXED_LENGTH.get(node.name, -1)
    if isinstance(node, EnumType):
        return 4
    if isinstance(node, (TupleType, TtlType)):
        lengths = [serializer_length(child) for child in node.children()]
        if isinstance(node, TtlType):
            lengths.append(8)
        return -1 if -1 in lengths else sum(lengths)
    return -1
