"""What each version of ``_metadata`` holds, as a table (spec sections 2.1 to 2.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...schemas.errors import FormatError, Where
from ...schemas.wire import Reader, Writer
from .handles import ByteStreamStateHandle
from .layout import BA, I4, I8, U1, UTF, Codec, array, const, counted, optional, record
from .layouts import (
    COORDINATOR_STREAM,
    INPUT_CHANNEL,
    KEYED,
    OPERATOR,
    RESULT_SUBPARTITION,
    TYPED_INPUT,
    TYPED_OUTPUT,
)
from .model import MasterState, Metadata, OperatorState, SubtaskState

_MASTER_STATE_MAGIC = 0xC96B1696
_JAVA_STREAM = b"\xac\xed\x00\x05"
NULL_PROPERTIES = _JAVA_STREAM + b"\x70"
"""An object stream holding ``null``: the properties of a writer that has none."""


# Leaves that only ``_metadata`` has


def _read_operator_id(reader: Reader, what: str) -> bytes:
    return reader.bytes(16, what)


def _write_operator_id(writer: Writer, value: bytes) -> None:
    if len(value) != 16:
        raise FormatError(f"operator id of {len(value)} bytes instead of 16")
    writer.bytes(value)


def _read_checkpoint_id(reader: Reader, what: str) -> int:
    at = reader.pos
    value = reader.i8(what)
    if value < 0:
        raise reader.error(f"negative checkpoint id {value}", at)
    return value


def _read_duration(reader: Reader, what: str) -> int:
    duration = reader.i8(what)
    at = reader.pos
    n = reader.i4(what)
    if n != 0:
        raise reader.error(f"{n} legacy states, of Flink 1.1's Checkpointed interface", at)
    return duration


def _write_duration(writer: Writer, value: int) -> None:
    writer.i8(value)
    writer.i4(0)


def _read_properties(reader: Reader, what: str) -> bytes:
    at = reader.pos
    value = reader.bytes(reader.remaining, what)
    if not value.startswith(_JAVA_STREAM):
        raise reader.error("checkpoint properties are not a Java object stream", at)
    return value


def _write_properties(writer: Writer, value: bytes) -> None:
    if not value.startswith(_JAVA_STREAM):
        raise FormatError("checkpoint properties are not a Java object stream", todo="use NULL_PROPERTIES")
    writer.bytes(value)


_OPERATOR_ID: Codec[bytes] = Codec(_read_operator_id, _write_operator_id, 16)
_CHECKPOINT_ID: Codec[int] = Codec(_read_checkpoint_id, Writer.i8, 8)
_PROPERTIES: Codec[bytes] = Codec(_read_properties, _write_properties, 4)
_DURATION: Codec[int] = Codec(_read_duration, _write_duration, 12)


# Master states: a record inside a block of known length

_MASTER_BODY = record(MasterState, {"version": I4, "name": UTF, "payload": BA})


def _read_master_state(reader: Reader, what: str) -> MasterState:
    at = reader.pos
    if reader.u4(what) != _MASTER_STATE_MAGIC:
        raise reader.error("master state does not begin with its magic number", at)
    size = reader.i4(what)
    end = reader.pos + size
    state = _MASTER_BODY.read(reader, what)
    if reader.pos != end:
        raise reader.error(f"master state of {size} bytes holds {size + reader.pos - end}", at)
    return state


def _write_master_state(writer: Writer, state: MasterState) -> None:
    body = Writer()
    _MASTER_BODY.write(body, state)
    writer.u4(_MASTER_STATE_MAGIC)
    writer.ba(body.getvalue())


_MASTER_STATES = array(Codec(_read_master_state, _write_master_state, 18))


# Subtasks

Fields = dict[str, Codec[Any]]


def _subtask(fields: Fields, may_finish: bool) -> Codec[SubtaskState]:
    """A subtask's index and state; an index below zero is a finished subtask's and stands alone."""
    body = record(SubtaskState, {"subtask_index": I4, **fields})

    def read(reader: Reader, what: str) -> SubtaskState:
        at = reader.pos
        index = reader.i4(what)
        if index < 0:
            if not may_finish:
                raise reader.error(f"negative subtask index {index}", at)
            return SubtaskState(subtask_index=-index - 1, finished=True)
        reader.pos = at
        try:
            return body.read(reader, what)
        except FormatError as error:
            raise error.at(Where(subtask=index)) from None

    def write(writer: Writer, value: SubtaskState) -> None:
        if not value.finished:
            body.write(writer, value)
            return
        if not may_finish or value != SubtaskState(subtask_index=value.subtask_index, finished=True):
            raise FormatError(f"finished subtask {value.subtask_index} cannot be written so")
        writer.i4(-value.subtask_index - 1)

    return Codec(read, write, 4)


_HANDLES: Fields = {
    "managed_operator_state": counted(OPERATOR, I4),
    "raw_operator_state": counted(OPERATOR, I4),
    "managed_keyed_state": KEYED,
    "raw_keyed_state": KEYED,
}
_CHANNELS: Fields = {
    "input_channel_state": array(INPUT_CHANNEL),
    "result_subpartition_state": array(RESULT_SUBPARTITION),
}
_TYPED_CHANNELS: Fields = {
    "input_channel_state": array(TYPED_INPUT),
    "result_subpartition_state": array(TYPED_OUTPUT),
}
_REGION: Fields = {"ref_checkpoint_id": counted(I8, U1)}

_SUBTASK_V2 = _subtask({"duration": _DURATION, **_HANDLES}, may_finish=False)
_SUBTASK_V3 = _subtask({**_HANDLES, **_CHANNELS}, may_finish=True)
_SUBTASK_V6 = _subtask({**_HANDLES, **_TYPED_CHANNELS}, may_finish=True)
_SUBTASK_V7 = _subtask({**_HANDLES, **_TYPED_CHANNELS, **_REGION}, may_finish=True)


# Operators

_Execution = tuple[ByteStreamStateHandle | None, tuple[SubtaskState, ...], bool]


def _execution(subtask: Codec[SubtaskState]) -> Fields:
    """Coordinator and subtasks; a count of -1 is a fully finished operator, which has neither."""
    subtasks = array(subtask)

    def read(reader: Reader, what: str) -> _Execution:
        coordinator = COORDINATOR_STREAM.read(reader, what)
        at = reader.pos
        if reader.i4("subtask count") != -1:
            reader.pos = at
            return coordinator, subtasks.read(reader, "OperatorState.subtask_states"), False
        if coordinator is not None:
            raise reader.error("fully finished operator with coordinator state", at)
        return None, (), True

    def write(writer: Writer, value: _Execution) -> None:
        coordinator, states, fully_finished = value
        if fully_finished and (coordinator is not None or states):
            raise FormatError("fully finished operator with state")
        COORDINATOR_STREAM.write(writer, coordinator)
        if fully_finished:
            writer.i4(-1)
        else:
            subtasks.write(writer, states)

    return {"coordinator_state subtask_states fully_finished": Codec(read, write, 5, nullable=True)}


_NAMES: Fields = {"operator_name": optional(UTF, ""), "operator_uid": optional(UTF, "")}
_ID: Fields = {"operator_id": _OPERATOR_ID}
_SIZE: Fields = {"parallelism": I4, "max_parallelism": I4}


def _operator(head: Fields, tail: Fields) -> Codec[OperatorState]:
    """An operator; errors in it name the operator, by the uid where ``head`` has one."""
    body = record(OperatorState, {**head, **tail})

    def read(reader: Reader, what: str) -> OperatorState:
        start = reader.pos
        try:
            return body.read(reader, what)
        except FormatError as error:
            raise error.at(Where(operator=_name_at(reader.data, start, head))) from None

    return Codec(read, body.write, body.at_least)


def _name_at(data: memoryview, start: int, head: Fields) -> str | None:
    reader = Reader(data, start)
    try:
        found = {name: codec.read(reader, name) for name, codec in head.items()}
    except FormatError:
        return None
    uid: str | None = found.get("operator_uid")
    operator_id: bytes = found["operator_id"]
    return uid or operator_id.hex()


_OPERATOR_V2 = _operator(_ID, {**_SIZE, "chain_length": I4, "subtask_states": array(_SUBTASK_V2)})
_OPERATOR_V3 = _operator(_ID, {**_SIZE, **_execution(_SUBTASK_V3)})
_OPERATOR_V5 = _operator({**_NAMES, **_ID}, {**_SIZE, **_execution(_SUBTASK_V3)})
_OPERATOR_V6 = _operator({**_NAMES, **_ID}, {**_SIZE, **_execution(_SUBTASK_V6)})
_OPERATOR_V7 = _operator({**_NAMES, **_ID}, {**_SIZE, **_execution(_SUBTASK_V7)})


def _metadata(version: int, operator: Codec[OperatorState], *, properties: bool) -> Codec[Metadata]:
    fields: Fields = {
        "version": const(version),
        "checkpoint_id": _CHECKPOINT_ID,
        "master_states": _MASTER_STATES,
        "operator_states": array(operator),
    }
    return record(Metadata, fields | ({"properties": _PROPERTIES} if properties else {}))


FORMATS: Mapping[int, Codec[Metadata]] = {
    2: _metadata(2, _OPERATOR_V2, properties=False),
    3: _metadata(3, _OPERATOR_V3, properties=False),
    4: _metadata(4, _OPERATOR_V3, properties=True),
    5: _metadata(5, _OPERATOR_V5, properties=True),
    6: _metadata(6, _OPERATOR_V6, properties=True),
    7: _metadata(7, _OPERATOR_V7, properties=True),
}
"""What follows the version number: 2 is Flink 1.3 to 1.10, 3 to 1.15, 4 to 1.20, 5 is 2.0, 6 from 2.1 on."""
