"""Types of the DataStream API, and of Scala and Avro, that are made of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..type_text import braced, optional_name, options, quoted
from .base import JAVA_TUPLE, DataType, Field, is_numbered


@dataclass(frozen=True, slots=True, kw_only=True)
class TupleType(DataType):
    """Fields one after the other, no null flags: TupleN, Scala case classes, TTL pairs, timers, buffer entries.

    ``case_class``: the class is one of Scala, whose serializer is another than that of Java's tuples.
    """

    class_name: str
    fields: tuple[Field, ...]
    case_class: bool = False

    def children(self) -> tuple[DataType, ...]:
        return tuple(field.type for field in self.fields)

    def __str__(self) -> str:
        types = ", ".join(str(field.type) for field in self.fields)
        if self.class_name == f"{JAVA_TUPLE}{len(self.fields)}" and is_numbered(self.fields):
            return f"tuple<{types}>"
        if self.case_class:
            return f"case_class {quoted(self.class_name)} {braced(self.fields)}"
        return f"tuple{optional_name(self.class_name)} {braced(self.fields)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PojoType(DataType):
    """``PojoSerializer``: a flags byte, then each field behind a null flag, in the snapshot's order.

    ``registered`` subclasses are written by tag (their place in the tuple), the others by class name; a subclass
    whose type is no PojoType is not decoded, and only a value of that class fails.
    """

    class_name: str
    fields: tuple[Field, ...]
    registered: tuple[Field, ...] = ()
    non_registered: tuple[Field, ...] = ()

    def children(self) -> tuple[DataType, ...]:
        known = [part for part in (*self.registered, *self.non_registered) if isinstance(part.type, PojoType)]
        return tuple(part.type for part in (*self.fields, *known))

    def __str__(self) -> str:
        registered = f" registered {braced(self.registered)}" if self.registered else ""
        others = f" non_registered {braced(self.non_registered)}" if self.non_registered else ""
        return f"pojo {quoted(self.class_name)} {braced(self.fields)}{registered}{others}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowType(DataType):
    """``RowSerializer``: a mask of kind and null bits, then the fields that are not null."""

    fields: tuple[Field, ...]
    supports_row_kind: bool = True

    def children(self) -> tuple[DataType, ...]:
        return tuple(field.type for field in self.fields)

    def __str__(self) -> str:
        kind = options(supports_row_kind=(self.supports_row_kind, True))
        return f"row{kind} {braced(self.fields)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListType(DataType):
    """A count, then the elements. ``element_flag`` is what tells null elements: a byte before each one, or a mask
    of bits before them all.

    ``flavour`` names the collection where Arrow does not. ``framing`` is the count: an i4, Avro's blocks, or none (the
    elements go on to the end of what holds them).
    """

    element: DataType
    flavour: Literal["list", "set", "array"] = "list"
    element_flag: Literal["none", "is_null", "is_present", "mask"] = "none"
    framing: Literal["i4", "block", "rest"] = "i4"
    class_name: str | None = None

    def children(self) -> tuple[DataType, ...]:
        return (self.element,)

    def __str__(self) -> str:
        usual = "is_null" if self.flavour == "set" else "is_present" if self.class_name else "none"
        given = options(
            element_flag=(self.element_flag, usual),
            framing=(self.framing, "i4"),
            class_name=(self.class_name, None),
        )
        return f"{self.flavour}{given}<{self.element}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapType(DataType):
    """``MapSerializer``: i4 count, then key, is-null flag, value. Avro's maps come in blocks, without the flag.

    ``class_name`` is the class that Kryo names.
    """

    key: DataType
    value: DataType
    framing: Literal["i4", "block"] = "i4"
    class_name: str | None = None

    def children(self) -> tuple[DataType, ...]:
        return (self.key, self.value)

    def __str__(self) -> str:
        given = options(framing=(self.framing, "i4"), class_name=(self.class_name, None))
        return f"map{given}<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumType(DataType):
    """``EnumSerializer``: an i4 index into ``constants``. ``EnumValueSerializer``, of Scala: the i4 is the id."""

    class_name: str
    constants: tuple[str, ...]

    @property
    def of_scala(self) -> bool:
        """Whether the class is that of an Enumeration object."""
        return self.class_name.endswith("$")

    def __str__(self) -> str:
        return f"enum {quoted(self.class_name)} {braced(tuple(map(quoted, self.constants)))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NullableType(DataType):
    """A flag, then the value where there is one.

    The flag is ``NullableSerializer``'s byte, Scala ``Option``'s byte, or an Avro union's i4 branch, null being
    the first or the second one. ``padding`` zero bytes stand for a null.
    """

    inner: DataType
    flag: Literal["is_null", "is_present", "null_first", "null_second"] = "is_null"
    padding: int = 0

    def children(self) -> tuple[DataType, ...]:
        return (self.inner,)

    def __str__(self) -> str:
        given = options(flag=(self.flag, "is_null"), padding=(self.padding, 0))
        return f"nullable{given}<{self.inner}>"


def is_option(node: DataType) -> bool:
    """Whether a null of this type is ``scala.None``, which can stand where Flink has no nulls."""
    return isinstance(node, NullableType) and node.flag == "is_present"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionType(DataType):
    """One of ``alternatives`` behind a tag of ``tag_width`` bytes, ``tags[i]`` for the i-th: Either, Avro's unions.

    An alternative of the type ``null`` has no column.
    """

    class_name: str
    alternatives: tuple[Field, ...]
    tags: tuple[int, ...]
    tag_width: Literal[1, 4] = 1

    def children(self) -> tuple[DataType, ...]:
        return tuple(field.type for field in self.alternatives)

    def __str__(self) -> str:
        names = [part.name for part in self.alternatives]
        if (self.class_name, names, self.tags, self.tag_width) == ("Either", ["left", "right"], (1, 0), 1):
            left, right = (part.type for part in self.alternatives)
            return f"either<{left}, {right}>"
        given = options(tags=(self.tags, None), tag_width=(self.tag_width, 1))
        return f"union{given}{optional_name(self.class_name)} {braced(self.alternatives)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedType(DataType):
    """Avro's ``fixed``: ``size`` bytes."""

    class_name: str
    size: int

    def __str__(self) -> str:
        return f"fixed{optional_name(self.class_name)}({self.size})"


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlType(DataType):
    """``TtlSerializer``: i8 last access (epoch milliseconds), then the value."""

    inner: DataType

    def children(self) -> tuple[DataType, ...]:
        return (self.inner,)

    def __str__(self) -> str:
        return f"ttl<{self.inner}>"
