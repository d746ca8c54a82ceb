"""The composite snapshot classes, and what each keeps of its own before the nested snapshots, by outer version."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..wire import Reader, Writer
from .java_stream import JavaObject, read_java
from .logical_type_reader import logical_type_of
from .logical_types import LogicalType
from .names import CEP, DV, FLINK, SCALA, TU, B, R, S, T


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalOuter:
    """What ``ExternalSerializerSnapshot`` keeps: the Java stream of a ``DataType``, and the type in it."""

    logical_type: LogicalType
    data_type_stream: bytes
    is_internal_input: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    """How one kind of outer part is read and written."""

    read: Callable[[Reader], Any]
    write: Callable[[Writer, Any], None]


def _read_external(reader: Reader) -> ExternalOuter:
    start = reader.pos
    data_type = read_java(reader)
    if not isinstance(data_type, JavaObject):
        raise reader.error("the data type of an external serializer is no object", start)
    stream = bytes(reader.data[start : reader.pos])
    return ExternalOuter(
        logical_type=logical_type_of(reader, start, data_type.get("logicalType")),
        data_type_stream=stream,
        is_internal_input=reader.bool_("isInternalInput"),
    )


def _write_external(writer: Writer, value: ExternalOuter) -> None:
    writer.bytes(value.data_type_stream)
    writer.bool_(value.is_internal_input)


NOTHING = Outer(read=lambda reader: None, write=lambda writer, value: None)
UTF = Outer(read=lambda reader: reader.utf("outer string"), write=lambda writer, value: writer.utf(value))
BOOL = Outer(read=lambda reader: reader.bool_("outer flag"), write=lambda writer, value: writer.bool_(value))
I4 = Outer(read=lambda reader: reader.i4("outer number"), write=lambda writer, value: writer.i4(value))
EXTERNAL = Outer(read=_read_external, write=_write_external)


def _same(outer: Outer, current: int) -> dict[int, Outer]:
    """The outer part did not change up to the outer version ``current``."""
    return dict.fromkeys(range(min(current, 1), current + 1), outer)


_STREAMING = FLINK + "streaming."
_MULTISET = FLINK + "table.runtime.sequencedmultisetstate.linked."
_TABLE: list[tuple[str, str, dict[int, Outer]]] = [
    (B, "ListSerializerSnapshot", _same(NOTHING, 1)),
    (B, "SetSerializerSnapshot", _same(NOTHING, 1)),
    (B, "MapSerializerSnapshot", _same(NOTHING, 1)),
    (B, "GenericArraySerializerSnapshot", _same(UTF, 1)),
    (
        TU,
        "SingleThreadAccessCheckingTypeSerializer$SingleThreadAccessCheckingTypeSerializerSnapshot",
        _same(NOTHING, 1),
    ),
    (S, "ArrayListSerializerSnapshot", _same(NOTHING, 1)),
    (S, "ttl.TtlStateFactory$TtlSerializerSnapshot", _same(NOTHING, 2)),
    (S, "v2.ttl.TtlStateFactory$TtlSerializerSnapshot", _same(NOTHING, 2)),
    (R, "JavaEitherSerializerSnapshot", _same(NOTHING, 1)),
    (R, "EitherSerializerSnapshot", {2: NOTHING}),
    (R, "NullableSerializer$NullableSerializerSnapshot", _same(I4, 2)),
    (R, "TupleSerializerSnapshot", _same(UTF, 2)),
    (R, "RowSerializer$RowSerializerSnapshot", {2: NOTHING, 3: NOTHING, 4: BOOL}),
    (_STREAMING, "api.operators.TimerSerializerSnapshot", _same(NOTHING, 2)),
    (_STREAMING, "api.datastream.CoGroupedStreams$UnionSerializerSnapshot", _same(NOTHING, 2)),
    (
        _STREAMING,
        "api.operators.co.IntervalJoinOperator$BufferEntrySerializerSnapshot",
        _same(NOTHING, 2),
    ),
    (
        _STREAMING,
        "runtime.streamrecord.StreamElementSerializer$StreamElementSerializerSnapshot",
        _same(NOTHING, 2),
    ),
    (
        _STREAMING,
        "api.functions.sink.TwoPhaseCommitSinkFunction$StateSerializerSnapshot",
        {**_same(NOTHING, 3), 4: BOOL},
    ),
    (
        _STREAMING,
        "api.functions.sink.legacy.TwoPhaseCommitSinkFunction$StateSerializerSnapshot",
        {**_same(NOTHING, 3), 4: BOOL},
    ),
    (T, "LinkedListSerializer$LinkedListSerializerSnapshot", {**_same(NOTHING, 2), 3: BOOL}),
    (T, "RawValueDataSerializer$RawValueDataSerializerSnapshot", _same(NOTHING, 0)),
    (T, "WindowKeySerializer$WindowKeySerializerSnapshot", _same(NOTHING, 1)),
    (T, "ExternalSerializer$ExternalSerializerSnapshot", {1: EXTERNAL}),
    (DV, "ListViewSerializerSnapshot", _same(NOTHING, 1)),
    (DV, "MapViewSerializerSnapshot", _same(NOTHING, 1)),
    (DV, "NullAwareMapSerializerSnapshot", _same(NOTHING, 1)),
    (_MULTISET, "NodeSerializer$NodeSerializerSnapshot", _same(NOTHING, 0)),
    (_MULTISET, "MetaSqnInfoSerializer$MetaSqnInfoSerializerSnapshot", _same(NOTHING, 0)),
    (_MULTISET, "RowSqnInfoSerializer$RowSqnInfoSerializerSnapshot", _same(NOTHING, 0)),
    (CEP, "NFAStateSerializerSnapshot", {1: NOTHING, 2: BOOL}),
    (CEP, "NFA$MigratedNFASerializerSnapshot", _same(NOTHING, 2)),
    (CEP, "SharedBuffer$SharedBufferSerializerSnapshot", _same(NOTHING, 2)),
    (CEP, "sharedbuffer.LockableTypeSerializerSnapshot", _same(NOTHING, 1)),
    (CEP, "sharedbuffer.NodeId$NodeIdSerializer$NodeIdSerializerSnapshot", _same(NOTHING, 1)),
    (CEP, "sharedbuffer.SharedBufferNodeSerializerSnapshotV2", _same(NOTHING, 1)),
    (
        CEP,
        "sharedbuffer.SharedBufferNode$SharedBufferNodeSerializer$SharedBufferNodeSerializerSnapshot",
        _same(NOTHING, 1),
    ),
    (
        CEP,
        "sharedbuffer.SharedBufferEdge$SharedBufferEdgeSerializer$SharedBufferEdgeSerializerSnapshot",
        _same(NOTHING, 1),
    ),
]
_SCALA: list[tuple[str, dict[int, Outer]]] = [
    ("ScalaCaseClassSerializerSnapshot", _same(UTF, 2)),
    ("Tuple2CaseClassSerializerSnapshot", _same(UTF, 2)),
    ("TraversableSerializerSnapshot", _same(UTF, 2)),
    ("ScalaOptionSerializerSnapshot", _same(NOTHING, 2)),
    ("ScalaEitherSerializerSnapshot", _same(NOTHING, 1)),
    ("ScalaTrySerializerSnapshot", _same(NOTHING, 2)),
]

COMPOSITES: dict[str, dict[int, Outer]] = {
    **{package + name: versions for package, name, versions in _TABLE},
    **{package + name: versions for package in SCALA for name, versions in _SCALA},
}
