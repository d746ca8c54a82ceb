"""State meta information: what a header says of one state (Flink's StateMetaInfoSnapshot; spec section 5.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from ...schemas.errors import FormatError, Where
from ...schemas.snapshots import SerializerSnapshot, read_proxy, write_proxy
from ...schemas.wire import Reader, Writer

SnapshotReader: TypeAlias = Callable[[Reader], SerializerSnapshot]
"""Reads one serializer snapshot with the proxy version before it."""


class BackendStateType(IntEnum):
    """StateMetaInfoSnapshot.BackendStateType, by code; KEY_VALUE_V2 is Flink 2's asynchronous state."""

    KEY_VALUE = 0
    OPERATOR = 1
    BROADCAST = 2
    PRIORITY_QUEUE = 3
    KEY_VALUE_V2 = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class StateMetaInfo:
    """One state; ``options`` and ``serializers`` are pairs of key and value in the order of the file.

    The properties give what stands under Flink's keys, ``None`` where nothing does.
    """

    name: str
    backend_state_type: BackendStateType
    options: tuple[tuple[str, str], ...] = ()
    serializers: tuple[tuple[str, SerializerSnapshot], ...] = ()

    @property
    def keyed_state_type(self) -> str | None:
        """``VALUE``, ``LIST``, ``REDUCING``, ``FOLDING``, ``AGGREGATING`` or ``MAP``."""
        return dict(self.options).get("KEYED_STATE_TYPE")

    @property
    def distribution_mode(self) -> str | None:
        """``SPLIT_DISTRIBUTE``, ``UNION`` or ``BROADCAST``."""
        return dict(self.options).get("OPERATOR_STATE_DISTRIBUTION_MODE")

    @property
    def namespace_serializer(self) -> SerializerSnapshot | None:
        return dict(self.serializers).get("NAMESPACE_SERIALIZER")

    @property
    def value_serializer(self) -> SerializerSnapshot | None:
        """Of the whole state, an operator state's element, a timer, or (V2) the element or user value."""
        return dict(self.serializers).get("VALUE_SERIALIZER")

    @property
    def key_serializer(self) -> SerializerSnapshot | None:
        """Of broadcast state's keys."""
        return dict(self.serializers).get("KEY_SERIALIZER")

    @property
    def user_key_serializer(self) -> SerializerSnapshot | None:
        """Of a V2 map state's keys."""
        return dict(self.serializers).get("USER_KEY_SERIALIZER")


def read_state_meta_info(reader: Reader, read_serializer: SnapshotReader = read_proxy) -> StateMetaInfo:
    """Read one state (meta information formats 6 and 7, which are alike). Errors name the state."""
    name = reader.utf("state name")
    try:
        backend_state_type = _read_type(reader)
        options = tuple(
            (reader.utf("option key"), reader.utf("option value"))
            for _ in range(reader.count("state options", at_least=4))
        )
        serializers = tuple(
            (reader.utf("serializer key"), read_serializer(reader))
            for _ in range(reader.count("state serializers", at_least=12))
        )
    except FormatError as error:
        raise error.at(Where(state=name)) from None
    return StateMetaInfo(
        name=name, backend_state_type=backend_state_type, options=options, serializers=serializers
    )


def write_state_meta_info(writer: Writer, state: StateMetaInfo) -> None:
    writer.utf(state.name)
    writer.i4(state.backend_state_type)
    writer.i4(len(state.options))
    for key, value in state.options:
        writer.utf(key)
        writer.utf(value)
    writer.i4(len(state.serializers))
    for key, snapshot in state.serializers:
        writer.utf(key)
        write_proxy(writer, snapshot)


def read_states(reader: Reader, read_serializer: SnapshotReader = read_proxy) -> tuple[StateMetaInfo, ...]:
    """i2 count and as many states; the place of one in the list is its id in the data."""
    at = reader.pos
    n = reader.i2("state count")
    if n < 0:
        raise reader.error(f"negative state count {n}", at)
    return tuple(read_state_meta_info(reader, read_serializer) for _ in range(n))


def write_states(writer: Writer, states: tuple[StateMetaInfo, ...]) -> None:
    if len(states) > 0x7FFF:
        raise FormatError(f"{len(states)} states are more than a header holds (32767)")
    writer.i2(len(states))
    for state in states:
        write_state_meta_info(writer, state)


def _read_type(reader: Reader) -> BackendStateType:
    at = reader.pos
    code = reader.i4("backend state type")
    try:
        return BackendStateType(code)
    except ValueError:
        raise reader.error(f"unknown backend state type {code}", at) from None
