"""``ScalaEnumSerializerSnapshot``, the one snapshot of the Scala API that is not composite."""

from __future__ import annotations

from dataclasses import dataclass

from ..wire import Reader, Writer
from .base import Head, SerializerSnapshot, register
from .names import SCALA


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalaEnumSnapshot(SerializerSnapshot):
    """``enumeration_class`` is that of the Enumeration object (it ends in ``$``); ``enum_constants`` are names
    and ids; a value is an id."""

    enumeration_class: str
    enum_constants: tuple[tuple[str, int], ...]


def read_scala_enum(reader: Reader, head: Head) -> ScalaEnumSnapshot:
    if head.version != 3:
        raise head.unsupported(reader)
    enumeration_class = reader.utf("Enumeration class")
    count = reader.count("Enumeration values", at_least=6)
    return ScalaEnumSnapshot(
        class_name=head.class_name,
        version=head.version,
        enumeration_class=enumeration_class,
        enum_constants=tuple((reader.utf("name"), reader.i4("id")) for _ in range(count)),
    )


def write_scala_enum(writer: Writer, snapshot: ScalaEnumSnapshot) -> None:
    writer.utf(snapshot.enumeration_class)
    writer.i4(len(snapshot.enum_constants))
    for name, number in snapshot.enum_constants:
        writer.utf(name)
        writer.i4(number)


register(
    ScalaEnumSnapshot,
    [package + "ScalaEnumSerializerSnapshot" for package in SCALA],
    read_scala_enum,
    write_scala_enum,
)
