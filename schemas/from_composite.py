"""Composite serializer snapshots to types, one rule for each class."""

from __future__ import annotations

from collections.abc import Callable

from . import types as t
from .snapshots import CompositeSnapshot
from .snapshots.names import CEP, DV, FLINK, SCALA, TU, B, R, S, T

#: A rule is given the snapshot and the types of what is nested in it.
Rule = Callable[[CompositeSnapshot, tuple[t.DataType, ...]], t.DataType]

RAW_VALUE = T + "RawValueDataSerializer$RawValueDataSerializerSnapshot"
_STREAMING = FLINK + "streaming."


def fields(**types: t.DataType) -> tuple[t.Field, ...]:
    return tuple(t.Field(name=name, type=node) for name, node in types.items())


def _record(class_name: str, **types: t.DataType) -> t.TupleType:
    return t.TupleType(class_name=class_name, fields=fields(**types))


def _numbered(nested: tuple[t.DataType, ...]) -> tuple[t.Field, ...]:
    return tuple(t.Field(name=f"f{i}", type=node) for i, node in enumerate(nested))


def nullable(inner: t.DataType, flag: str = "is_null", padding: int = 0) -> t.NullableType:
    """One level of null; what has a null of its own that is a value is kept apart by a struct of one field."""
    if isinstance(inner, t.NullableType) or (isinstance(inner, t.Scalar) and inner.name in t.ONE_VALUE):
        inner = _record("", value=inner)
    return t.NullableType(inner=inner, flag=flag, padding=padding)  # type: ignore[arg-type]


_BOOLEAN, _INT, _LONG, _STRING = (t.scalar("boolean"), t.scalar("int"), t.scalar("long"), t.scalar("string"))


def _list(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    return t.ListType(element=nested[0])


def _first(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    return nested[0]


def _tuple(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    return t.TupleType(class_name=str(snapshot.outer), fields=_numbered(nested))


def _case_class(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    return t.TupleType(class_name=str(snapshot.outer), fields=_numbered(nested), case_class=True)


def _row(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    kind = snapshot.outer if isinstance(snapshot.outer, bool) else snapshot.outer_version == 3
    return t.RowType(fields=_numbered(nested), supports_row_kind=kind)


def _nullable(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    return nullable(nested[0], padding=snapshot.outer if isinstance(snapshot.outer, int) else 0)


def _ttl(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    return t.TtlType(inner=nested[1])


def _either(class_name: str, left: str, right: str, tags: tuple[int, int]) -> Rule:
    def rule(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
        alternatives = (t.Field(name=left, type=nested[0]), t.Field(name=right, type=nested[1]))
        return t.UnionType(class_name=class_name, alternatives=alternatives, tags=tags)

    return rule


def _stream_element(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    """``StreamElementSerializer``: the tags are its constants, in their order."""
    alternatives = fields(
        timestamped=_record("StreamRecord", timestamp=_LONG, value=nested[0]),
        record=_record("StreamRecord", value=nested[0]),
        watermark=_LONG,
        latency_marker=_record(
            "LatencyMarker", marked_time=_LONG, operator_upper=_LONG, operator_lower=_LONG, subtask=_INT
        ),
        watermark_status=_INT,
        backlog=_BOOLEAN,
        internal_watermark=_record("InternalWatermark", subpartition=_INT, timestamp=_LONG),
    )
    return t.UnionType(class_name="StreamElement", alternatives=alternatives, tags=tuple(range(7)))


def _two_phase_commit(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    """``TwoPhaseCommitSinkFunction.StateSerializer``: the pending transaction, those to commit, the context."""
    transaction, context = nested
    null_supported = snapshot.outer if isinstance(snapshot.outer, bool) else snapshot.outer_version == 3
    held = _record("TransactionHolder", handle=transaction, start_time=_LONG)
    pending = nullable(transaction, "is_present") if null_supported else transaction
    return _record(
        "TwoPhaseCommitSinkFunction$State",
        pending_transaction=_record("TransactionHolder", handle=pending, start_time=_LONG),
        pending_commit_transactions=t.ListType(element=held),
        context=nullable(context, "is_present"),
    )


def _linked_list(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    masked = snapshot.outer if isinstance(snapshot.outer, bool) else snapshot.outer_version == 2
    return t.ListType(element=nested[0], element_flag="mask" if masked else "none")


def _null_aware_map(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    return t.ListType(element=_record("", key=nullable(nested[0]), value=nullable(nested[1])))


def _raw_value(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    return t.scalar("raw_data") if t.opaque_in(nested[0]) else t.RawDataType(inner=nested[0])


EVENT_ID = _record("EventId", id=_INT, timestamp=_LONG)
DEWEY_NUMBER = t.ListType(element=_INT, flavour="array")
NODE_ID = nullable(_record("NodeId", event_id=EVENT_ID, page_name=_STRING), "is_present")
EDGE = _record("SharedBufferEdge", target=NODE_ID, dewey_number=DEWEY_NUMBER)
NODE = t.ListType(element=_record("Lockable", ref_counter=_INT, element=EDGE))


def _nfa_state(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    """``NFAStateSerializer``: partial and completed matches; the previous timestamp where its flag says so."""
    previous = {"previous_timestamp": _LONG} if snapshot.outer is True else {}
    match = _record(
        "ComputationState",
        state=_STRING,
        previous_buffer_entry=NODE_ID,
        version=DEWEY_NUMBER,
        start_timestamp=_LONG,
        **previous,
        start_event_id=nullable(EVENT_ID, "is_present"),
    )
    lists = t.ListType(element=match)
    return _record("NFAState", partial_matches=lists, completed_matches=lists)


def _constant(node: t.DataType) -> Rule:
    return lambda snapshot, nested: node


_SCALA_RULES: dict[str, Rule] = {
    "ScalaCaseClassSerializerSnapshot": _case_class,
    "Tuple2CaseClassSerializerSnapshot": _case_class,
    "TraversableSerializerSnapshot": lambda s, n: t.ListType(element=n[0], element_flag="is_present"),
    "ScalaOptionSerializerSnapshot": lambda s, n: nullable(n[0], "is_present"),
    "ScalaEitherSerializerSnapshot": _either("scala.util.Either", "left", "right", (1, 0)),
    "ScalaTrySerializerSnapshot": _either("scala.util.Try", "success", "failure", (1, 0)),
}

#: How many nested snapshots the rules ask for; one where nothing is said.
NESTED: dict[str, int] = {
    B + "MapSerializerSnapshot": 2,
    R + "JavaEitherSerializerSnapshot": 2,
    R + "EitherSerializerSnapshot": 2,
    R + "TupleSerializerSnapshot": 0,
    R + "RowSerializer$RowSerializerSnapshot": 0,
    S + "ttl.TtlStateFactory$TtlSerializerSnapshot": 2,
    S + "v2.ttl.TtlStateFactory$TtlSerializerSnapshot": 2,
    _STREAMING + "api.datastream.CoGroupedStreams$UnionSerializerSnapshot": 2,
    _STREAMING + "api.operators.TimerSerializerSnapshot": 2,
    _STREAMING + "api.functions.sink.TwoPhaseCommitSinkFunction$StateSerializerSnapshot": 2,
    _STREAMING + "api.functions.sink.legacy.TwoPhaseCommitSinkFunction$StateSerializerSnapshot": 2,
    DV + "NullAwareMapSerializerSnapshot": 2,
    **{
        package + name: count
        for package in SCALA
        for name, count in {
            "ScalaCaseClassSerializerSnapshot": 0,
            "ScalaEitherSerializerSnapshot": 2,
            "ScalaTrySerializerSnapshot": 2,
        }.items()
    },
}

RULES: dict[str, Rule] = {
    B + "ListSerializerSnapshot": _list,
    S + "ArrayListSerializerSnapshot": _list,
    B + "SetSerializerSnapshot": lambda s, n: t.ListType(element=n[0], flavour="set", element_flag="is_null"),
    B + "GenericArraySerializerSnapshot": lambda s, n: t.ListType(
        element=n[0], flavour="array", element_flag="is_present", class_name=str(s.outer)
    ),
    B + "MapSerializerSnapshot": lambda s, n: t.MapType(key=n[0], value=n[1]),
    TU + "SingleThreadAccessCheckingTypeSerializer$SingleThreadAccessCheckingTypeSerializerSnapshot": _first,
    R + "NullableSerializer$NullableSerializerSnapshot": _nullable,
    R + "TupleSerializerSnapshot": _tuple,
    R + "RowSerializer$RowSerializerSnapshot": _row,
    R + "JavaEitherSerializerSnapshot": _either("Either", "left", "right", (1, 0)),
    R + "EitherSerializerSnapshot": _either("Either", "left", "right", (1, 0)),
    S + "ttl.TtlStateFactory$TtlSerializerSnapshot": _ttl,
    S + "v2.ttl.TtlStateFactory$TtlSerializerSnapshot": _ttl,
    _STREAMING + "api.operators.TimerSerializerSnapshot": lambda s, n: t.TupleType(
        class_name=t.TIMER,
        fields=fields(timestamp=t.scalar("flipped_long"), key=n[0], namespace=n[1]),
    ),
    _STREAMING + "api.datastream.CoGroupedStreams$UnionSerializerSnapshot": _either(
        "TaggedUnion", "one", "two", (1, 2)
    ),
    _STREAMING + "api.operators.co.IntervalJoinOperator$BufferEntrySerializerSnapshot": lambda s, n: _record(
        "BufferEntry", has_been_joined=_BOOLEAN, element=n[0]
    ),
    _STREAMING
    + "runtime.streamrecord.StreamElementSerializer$StreamElementSerializerSnapshot": _stream_element,
    _STREAMING + "api.functions.sink.TwoPhaseCommitSinkFunction$StateSerializerSnapshot": _two_phase_commit,
    _STREAMING
    + "api.functions.sink.legacy.TwoPhaseCommitSinkFunction$StateSerializerSnapshot": _two_phase_commit,
    T + "LinkedListSerializer$LinkedListSerializerSnapshot": _linked_list,
    RAW_VALUE: _raw_value,
    T + "WindowKeySerializer$WindowKeySerializerSnapshot": lambda s, n: _record(
        "WindowKey", window=_LONG, key=n[0]
    ),
    T + "ExternalSerializer$ExternalSerializerSnapshot": _first,
    DV + "ListViewSerializerSnapshot": _first,
    DV + "MapViewSerializerSnapshot": _first,
    DV + "NullAwareMapSerializerSnapshot": _null_aware_map,
    CEP + "sharedbuffer.LockableTypeSerializerSnapshot": lambda s, n: _record(
        "Lockable", ref_counter=_INT, element=n[0]
    ),
    CEP + "sharedbuffer.NodeId$NodeIdSerializer$NodeIdSerializerSnapshot": _constant(NODE_ID),
    CEP
    + "sharedbuffer.SharedBufferEdge$SharedBufferEdgeSerializer$SharedBufferEdgeSerializerSnapshot": _constant(
        EDGE
    ),
    CEP + "sharedbuffer.SharedBufferNodeSerializerSnapshotV2": _constant(NODE),
    CEP + "NFAStateSerializerSnapshot": _nfa_state,
    **{package + name: rule for package in SCALA for name, rule in _SCALA_RULES.items()},
}
