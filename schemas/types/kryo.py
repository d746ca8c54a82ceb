"""Kryo's values, and the shapes of the objects in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..type_text import braced, options, quoted
from .base import DataType, Field

JavaName = Literal[
    "object", "uuid", "bit_set", "duration", "uri", "currency", "atomic_boolean",
    "atomic_int", "atomic_long", "year", "year_month", "month_day", "period", "optional_int", "optional_long",
    "optional_double", "zone_offset", "zone_region", "offset_date_time",
    "zoned_date_time", "locale", "url",
]  # fmt: skip


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
