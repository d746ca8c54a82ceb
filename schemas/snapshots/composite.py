"""``CompositeTypeSerializerSnapshot``: a small outer part and the snapshots of nested serializers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..wire import Reader, Writer
from .base import Head, SerializerSnapshot, read_nested, register, write_snapshot
from .names import CEP, DV, FLINK, SCALA, B, R, S, T

COMPOSITE_MAGIC = 911108
NESTED_MAGIC = 1333245
NESTED_VERSION = 1
_VERSION = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeSnapshot(SerializerSnapshot):
    """A serializer made of others. Versions up to 2 have no header: the version is the outer version.

    ``outer`` is what the class keeps of its own (:data:`COMPOSITES`): nothing, a class name or code (str), a
    flag (bool), a number (int).
    """

    outer_version: int
    outer: str | bool | int | None = None
    nested: tuple[SerializerSnapshot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    """How one kind of outer part is read and written."""

    read: Callable[[Reader], Any]
    write: Callable[[Writer, Any], None]


NOTHING = Outer(read=lambda reader: None, write=lambda writer, value: None)
UTF = Outer(read=lambda reader: reader.utf("outer string"), write=lambda writer, value: writer.utf(value))
BOOL = Outer(read=lambda reader: reader.bool_("outer flag"), write=lambda writer, value: writer.bool_(value))
I4 = Outer(read=lambda reader: reader.i4("outer number"), write=lambda writer, value: writer.i4(value))


def same(outer: Outer, current: int) -> dict[int, Outer]:
    """The outer part did not change up to the outer version ``current``."""
    return dict.fromkeys(range(min(current, 1), current + 1), outer)


_STREAMING = FLINK + "streaming.api."
COMPOSITES: dict[str, dict[int, Outer]] = {
    B + "ListSerializerSnapshot": same(NOTHING, 1),
    B + "SetSerializerSnapshot": same(NOTHING, 1),
    B + "MapSerializerSnapshot": same(NOTHING, 1),
    B + "GenericArraySerializerSnapshot": same(UTF, 1),
    S + "ArrayListSerializerSnapshot": same(NOTHING, 1),
    R + "JavaEitherSerializerSnapshot": same(NOTHING, 1),
    R + "EitherSerializerSnapshot": {2: NOTHING},
    R + "NullableSerializer$NullableSerializerSnapshot": same(I4, 2),
    R + "TupleSerializerSnapshot": same(UTF, 2),
    R + "RowSerializer$RowSerializerSnapshot": {2: NOTHING, 3: NOTHING, 4: BOOL},
    _STREAMING + "operators.TimerSerializerSnapshot": same(NOTHING, 2),
    _STREAMING + "datastream.CoGroupedStreams$UnionSerializerSnapshot": same(NOTHING, 2),
    _STREAMING + "operators.co.IntervalJoinOperator$BufferEntrySerializerSnapshot": same(NOTHING, 2),
    FLINK + "streaming.runtime.streamrecord.StreamElementSerializer$StreamElementSerializerSnapshot": same(
        NOTHING, 2
    ),
    S + "ttl.TtlStateFactory$TtlSerializerSnapshot": same(NOTHING, 2),
    S + "v2.ttl.TtlStateFactory$TtlSerializerSnapshot": same(NOTHING, 2),
    **{
        f"{_STREAMING}functions.sink.{legacy}TwoPhaseCommitSinkFunction$StateSerializerSnapshot": {
            **same(NOTHING, 3),
            4: BOOL,
        }
        for legacy in ("", "legacy.")
    },
    T + "LinkedListSerializer$LinkedListSerializerSnapshot": {**same(NOTHING, 2), 3: BOOL},
    T + "RawValueDataSerializer$RawValueDataSerializerSnapshot": same(NOTHING, 0),
    T + "WindowKeySerializer$WindowKeySerializerSnapshot": same(NOTHING, 1),
    DV + "ListViewSerializerSnapshot": same(NOTHING, 1),
    DV + "MapViewSerializerSnapshot": same(NOTHING, 1),
    DV + "NullAwareMapSerializerSnapshot": same(NOTHING, 1),
    CEP + "NFAStateSerializerSnapshot": {1: NOTHING, 2: BOOL},
    CEP + "sharedbuffer.LockableTypeSerializerSnapshot": same(NOTHING, 1),
    CEP + "sharedbuffer.NodeId$NodeIdSerializer$NodeIdSerializerSnapshot": same(NOTHING, 1),
    CEP + "sharedbuffer.SharedBufferEdge$SharedBufferEdgeSerializer$SharedBufferEdgeSerializerSnapshot": same(
        NOTHING, 1
    ),
    CEP + "sharedbuffer.SharedBufferNodeSerializer$SharedBufferNodeSerializerSnapshot": same(NOTHING, 1),
    **{
        package + name: versions
        for package in SCALA
        for name, versions in {
            "ScalaCaseClassSerializerSnapshot": same(UTF, 2),
            "Tuple2CaseClassSerializerSnapshot": same(UTF, 2),
            "TraversableSerializerSnapshot": same(UTF, 2),
            "ScalaOptionSerializerSnapshot": same(NOTHING, 2),
            "ScalaEitherSerializerSnapshot": same(NOTHING, 1),
            "ScalaTrySerializerSnapshot": same(NOTHING, 2),
        }.items()
    },
}


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
