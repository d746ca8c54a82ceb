"""Types of state, as a tree of frozen nodes: what a serializer snapshot says, without the user's classes.

A node says how Flink's serializer lays a value out (spec "serializers", sections 2 to 5); its Arrow type is
given by :mod:`.codec.shapes`. Nodes are built from snapshots by :mod:`.from_snapshot` and by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .type_text import braced, optional_name, options, quoted

ScalarName = Literal[
    "boolean", "byte", "short", "int", "long", "float", "double", "char", "string", "string_value",
    "boolean_value", "long_value", "double_value",
    "void", "null", "date", "sql_date", "sql_time", "sql_timestamp", "instant", "local_date", "local_time",
    "local_date_time", "big_integer", "big_decimal", "bytes", "window", "global_window", "count_window",
    "string_data", "bitmap", "variant", "days", "millis_of_day", "micros_of_day", "months", "day_time_millis",
    "timestamp_millis", "timestamp_micros", "timestamp_nanos",
    "timestamp_millis_utc", "timestamp_micros_utc", "timestamp_nanos_utc", "raw_data",
    "flipped_long", "tuple0",
]  # fmt: skip


JAVA_TUPLE = "org.apache.flink.api.java.tuple.Tuple"
TIMER = "TimerHeapInternalTimer"
_COMPACT_DECIMAL = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class DataType:
    """Base of all nodes. ``__str__`` is the type in the words of the plan language (:mod:`.type_syntax`)."""

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
        return f"{quoted(self.name)}: {self.type}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TupleType(DataType):
    """Fields one after the other, no null flags: TupleN, Scala case classes, TTL pairs, timers, buffer entries."""

    class_name: str
    fields: tuple[Field, ...]

    def children(self) -> tuple[DataType, ...]:
        return tuple(field.type for field in self.fields)

    def __str__(self) -> str:
        types = ", ".join(str(field.type) for field in self.fields)
        if self.class_name == f"{JAVA_TUPLE}{len(self.fields)}" and is_numbered(self.fields):
            return f"tuple<{types}>"
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
    """``EnumSerializer``: an i4 index into ``constants``."""

    class_name: str
    constants: tuple[str, ...]

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
class DecimalType(DataType):
    """A decimal of known precision and scale: its unscaled number is an i8, i4 n and n bytes, or ``size`` bytes."""

    precision: int
    scale: int
    storage: Literal["long", "bytes", "fixed"]
    size: int = 0

    def __str__(self) -> str:
        given = options(storage=(self.storage, decimal_storage(self.precision)), size=(self.size, 0))
        return f"decimal{given}({self.precision}, {self.scale})"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampDataType(DataType):
    """``TimestampDataSerializer``: i8 epoch milliseconds and, above precision 3, i4 nanoseconds of that."""

    precision: int
    utc: bool = False

    def __str__(self) -> str:
        return f"timestamp{'_ltz' if self.utc else ''}({self.precision})"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDataType(DataType):
    """``RowDataSerializer``: i4 size, BinaryRow. The fields are laid out as the binary formats say (spec 5.3)."""

    fields: tuple[Field, ...]

    def children(self) -> tuple[DataType, ...]:
        return tuple(field.type for field in self.fields)

    def __str__(self) -> str:
        return f"rowdata {braced(self.fields)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayDataType(DataType):
    """``ArrayDataSerializer``: i4 size, BinaryArray."""

    element: DataType

    def children(self) -> tuple[DataType, ...]:
        return (self.element,)

    def __str__(self) -> str:
        return f"array_data<{self.element}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class RawDataType(DataType):
    """``RawValueDataSerializer``: i4 size, then the value as its own serializer wrote it."""

    inner: DataType

    def children(self) -> tuple[DataType, ...]:
        return (self.inner,)

    def __str__(self) -> str:
        return f"raw<{self.inner}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapDataType(DataType):
    """``MapDataSerializer``: i4 size, BinaryMap; also the multisets, whose value is the count."""

    key: DataType
    value: DataType

    def children(self) -> tuple[DataType, ...]:
        return (self.key, self.value)

    def __str__(self) -> str:
        return f"map_data<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlType(DataType):
    """``TtlSerializer``: i8 last access (epoch milliseconds), then the value."""

    inner: DataType

    def children(self) -> tuple[DataType, ...]:
        return (self.inner,)

    def __str__(self) -> str:
        return f"ttl<{self.inner}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class KryoType(DataType):
    """A Kryo value. Without a ``shape`` it is carried as Kryo's bytes: of JDK classes, where every object names its
    class, so that its end is known.

    ``kryo`` is Kryo's major version, which the snapshot does not tell: 2 in Flink 1.x, 5 in 2.x. ``registered`` are
    the classes with the numbers from ``first_id`` on, which is 85 wherever Flink runs as a whole. ``shape`` says
    what is in the value, in Java's words: scalars are boxed or primitive, lists, sets and maps the collections of
    Java, ``JavaType`` and ``ClassType`` what only Kryo writes.
    """

    class_name: str
    kryo: Literal[2, 5]
    registered: tuple[str, ...] = ()
    first_id: int = 85
    shape: DataType | None = None

    def __str__(self) -> str:
        given = options(
            kryo=(self.kryo, None), registered=(self.registered, ()), first_id=(self.first_id, 85)
        )
        shape = f", {self.shape}" if self.shape else ""
        return f"kryo{given}<{quoted(self.class_name)}{shape}>"


JavaName = Literal["object", "uuid", "bit_set", "duration", "uri"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaType(DataType):
    """A Java class that Kryo writes and Flink has no serializer of; ``object`` is any of the boxed ones or a string."""

    name: JavaName

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassType(DataType):
    """A user class as Kryo's ``FieldSerializer`` writes it: its fields and those it inherits, by name.

    Where the class is not ``final`` a field of it may hold one of its ``subclasses``.
    """

    class_name: str
    fields: tuple[Field, ...]
    final: bool = False
    subclasses: tuple[DataType, ...] = ()

    def children(self) -> tuple[DataType, ...]:
        return (*(field.type for field in self.fields), *self.subclasses)

    def __str__(self) -> str:
        given = options(final=(self.final, False))
        others = f" subclasses<{', '.join(map(str, self.subclasses))}>" if self.subclasses else ""
        return f"class{given} {quoted(self.class_name)} {braced(self.fields)}{others}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedType(DataType):
    """A class by its name, which is declared elsewhere: it is a POJO or a Kryo class by where it stands."""

    class_name: str

    def __str__(self) -> str:
        return quoted(self.class_name)


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


def is_numbered(fields: tuple[Field, ...]) -> bool:
    """Whether the fields are named f0, f1, …, as those that have no names are."""
    return all(field.name == f"f{i}" for i, field in enumerate(fields))


def decimal_storage(precision: int) -> Literal["long", "bytes"]:
    """How ``DecimalDataSerializer`` stores a decimal: an i8 up to precision 18."""
    return "long" if precision <= _COMPACT_DECIMAL else "bytes"


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


def scalar(name: ScalarName) -> Scalar:
    return Scalar(name=name)


#: What ``getLength()`` of the serializer gives in Java: bytes, or -1 where values differ (spec 5.3, "ambiguous").
_FIXED_LENGTH: dict[str, int] = {
    "boolean": 1, "byte": 1, "short": 2, "int": 4, "long": 8, "float": 4, "double": 8, "char": 2,
    "boolean_value": 1, "long_value": 8, "double_value": 8,
    "void": 0, "date": 8, "sql_date": 8, "sql_time": 8, "sql_timestamp": 12, "instant": 12,
    "local_date": 6, "local_time": 7, "local_date_time": 13, "window": 16, "global_window": 0, "count_window": 8,
}  # fmt: skip


def serializer_length(node: DataType) -> int:
    """``TypeSerializer.getLength()`` of the serializer that wrote ``node``: bytes, or -1 for variable."""
    match node:
        case Scalar():
            return _FIXED_LENGTH.get(node.name, -1)
        case EnumType():
            return 4
        case DecimalType():
            return 8 if node.storage == "long" else -1
        case TimestampDataType():
            return 8 if node.precision <= 3 else 12
        case TupleType() | TtlType():
            lengths = [serializer_length(child) for child in node.children()]
            if isinstance(node, TtlType):
                lengths.append(8)
            return -1 if -1 in lengths else sum(lengths)
    return -1
