"""Flink's own records to serializer snapshots: timers, join buffers, sink transactions, CEP's state."""

from __future__ import annotations

from collections.abc import Callable

from . import types as t
from .errors import EncodeError
from .flink_version import OUTER_VERSIONS, TWO_PHASE_COMMIT, WITHOUT_SCALA, Version, at_version
from .from_composite import EDGE, EVENT_ID, NODE, NODE_ID
from .snapshots import SerializerSnapshot, build
from .snapshots.composite import CompositeSnapshot
from .snapshots.names import CEP, FLINK, T

_STREAMING = FLINK + "streaming."
_EVENT_ID = build.simple(CEP + "sharedbuffer.EventId$EventIdSerializer$EventIdSerializerSnapshot")
_DEWEY = build.simple(CEP + "DeweyNumber$DeweyNumberSerializer$DeweyNumberSerializerSnapshot")
_NODE_ID = build.composite(CEP + "sharedbuffer.NodeId$NodeIdSerializer$NodeIdSerializerSnapshot", _EVENT_ID)
_EDGE = build.composite(
    CEP + "sharedbuffer.SharedBufferEdge$SharedBufferEdgeSerializer$SharedBufferEdgeSerializerSnapshot",
    _NODE_ID,
    _DEWEY,
)

#: Types that stand for one snapshot.
CONSTANTS: list[tuple[t.DataType, SerializerSnapshot]] = [
    (EVENT_ID, _EVENT_ID),
    (NODE_ID, _NODE_ID),
    (EDGE, _EDGE),
    (NODE, build.composite(CEP + "sharedbuffer.SharedBufferNodeSerializerSnapshotV2", _EDGE)),
]

#: Makes the snapshot of a part; the second for a namespace.
Make = Callable[[t.DataType], SerializerSnapshot]

#: The class of the snapshot, and the field that is its one nested serializer.
_OF_ONE: dict[str, tuple[str, str]] = {
    "BufferEntry": (
        _STREAMING + "api.operators.co.IntervalJoinOperator$BufferEntrySerializerSnapshot",
        "element",
    ),
    "WindowKey": (T + "WindowKeySerializer$WindowKeySerializerSnapshot", "key"),
    "Lockable": (CEP + "sharedbuffer.LockableTypeSerializerSnapshot", "element"),
}


def record_snapshot(
    node: t.TupleType, of: Make, namespace: Make, version: Version
) -> SerializerSnapshot | None:
    """The snapshot of a record of Flink's own, or None for a tuple of the job's."""
    parts = {part.name: part.type for part in node.fields}
    if node.class_name in _OF_ONE:
        class_name, field = _OF_ONE[node.class_name]
        return build.composite(class_name, of(parts[field]))
    if node.class_name == t.TIMER:
        return build.timer(of(parts["key"]), namespace(parts["namespace"]))
    if node.class_name == "TwoPhaseCommitSinkFunction$State":
        return _two_phase_commit(parts, of, version)
    if node.class_name == "NFAState":
        match = parts["partial_matches"].children()[0]
        previous = isinstance(match, t.TupleType) and any(
            part.name == "previous_timestamp" for part in match.fields
        )
        nested = (_DEWEY, _NODE_ID, _EVENT_ID)
        return build.composite(CEP + "NFAStateSerializerSnapshot", *nested, outer=previous)
    return None


def _two_phase_commit(parts: dict[str, t.DataType], of: Make, version: Version) -> CompositeSnapshot:
    legacy = "legacy." if version >= WITHOUT_SCALA else ""
    pending = parts["pending_transaction"].children()[0]
    context = parts["context"]
    null_supported = isinstance(pending, t.NullableType)
    outer_version = at_version(OUTER_VERSIONS[TWO_PHASE_COMMIT], version)
    if null_supported and outer_version != 4:
        raise EncodeError("transactions that may be null are written since Flink 1.15")
    assert isinstance(context, t.NullableType)
    return CompositeSnapshot(
        class_name=f"{_STREAMING}api.functions.sink.{legacy}{TWO_PHASE_COMMIT}",
        version=3,
        outer_version=outer_version or 4,
        outer=null_supported if outer_version == 4 else None,
        nested=(of(pending.inner if isinstance(pending, t.NullableType) else pending), of(context.inner)),
    )
