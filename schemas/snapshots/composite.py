"""``CompositeTypeSerializerSnapshot``: a small outer part and the snapshots of nested serializers."""

from __future__ import annotations

from dataclasses import dataclass

from ..wire import Reader, Writer
from .base import Head, SerializerSnapshot, read_nested, register, write_snapshot
from .outer import COMPOSITES, ExternalOuter

COMPOSITE_MAGIC = 911108
NESTED_MAGIC = 1333245
NESTED_VERSION = 1
_VERSION = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeSnapshot(SerializerSnapshot):
    """A serializer made of others. Versions up to 2 have no header: the version is the outer version.

    ``outer`` is what the class keeps of its own (:data:`COMPOSITES`): nothing, a class name or code (str), a
    flag (bool), a number (int), the data type of an external value.
    """

    outer_version: int
    outer: str | bool | int | ExternalOuter | None = None
    nested: tuple[SerializerSnapshot, ...]


def read_composite(reader: Reader, head: Head) -> CompositeSnapshot:
    if head.version == _VERSION:
        start = reader.pos
        if reader.i4("composite magic") != COMPOSITE_MAGIC:
            raise reader.error(f"{head.class_name} does not start with the composite magic", start)
        outer_version = reader.i4("outer version")
    else:
        outer_version = head.version
    outer = COMPOSITES[head.class_name].get(outer_version)
    if outer is None or head.version > _VERSION:
        raise head.unsupported(reader, f"version {head.version} with outer version {outer_version}")
    return CompositeSnapshot(
        class_name=head.class_name,
        version=head.version,
        outer_version=outer_version,
        outer=outer.read(reader),
        nested=read_nested_all(reader, head),
    )


def write_composite(writer: Writer, snapshot: CompositeSnapshot) -> None:
    if snapshot.version == _VERSION:
        writer.i4(COMPOSITE_MAGIC)
        writer.i4(snapshot.outer_version)
    COMPOSITES[snapshot.class_name][snapshot.outer_version].write(writer, snapshot.outer)
    write_nested_all(writer, snapshot.nested)


def read_nested_all(reader: Reader, head: Head) -> tuple[SerializerSnapshot, ...]:
    """Read ``NestedSerializersSnapshotDelegate``: magic, version 1, count, snapshots."""
    start = reader.pos
    if reader.i4("nested magic") != NESTED_MAGIC:
        raise reader.error(
            f"the nested serializers of {head.class_name} do not start with their magic", start
        )
    version = reader.i4("nested version")
    if version != NESTED_VERSION:
        raise head.unsupported(reader, f"version {version} of the nested serializers")
    count = reader.count("nested serializers", at_least=6)
    return tuple(read_nested(reader, head) for _ in range(count))


def write_nested_all(writer: Writer, nested: tuple[SerializerSnapshot, ...]) -> None:
    writer.i4(NESTED_MAGIC)
    writer.i4(NESTED_VERSION)
    writer.i4(len(nested))
    for snapshot in nested:
        write_snapshot(writer, snapshot)


register(CompositeSnapshot, COMPOSITES, read_composite, write_composite)
