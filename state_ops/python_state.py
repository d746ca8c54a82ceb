"""State of PyFlink's process mode: byte arrays to Flink, values of a Python type where the user says which.

On disk a value, a list, and what is reduced or aggregated are all ``ListState<byte[]>`` called ``python-state-…``. A
byte array of a list holds one element or several, one behind the other, so a list is a list of lists here. What a
descriptor says to hold one value has one byte array with that. A map or
broadcast state is a map of byte arrays, one value in each. With TTL each byte array has its own time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from ..io.keyed.state_types import KeyedStateType
from ..io.operator_state import OperatorStateType
from ..io.stores import Stores
from ..schemas import types as t
from ..schemas.errors import PlanError, Where
from ..schemas.operator_id import operator_id_of_uid
from ..schemas.python_types import PythonState, python_state
from .yaml_file import read_yaml

PREFIX = "python-state-"
_BYTES = t.scalar("bytes")
_STATES = TypeAdapter(dict[str, dict[str, str]])

#: By uid (or operator id) and state, with or without the prefix: its descriptor as in the job, as
#: ``ValueStateDescriptor('count', Types.LONG())``, or its type information alone.
PythonStates = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class PythonTypes:
    """The declared types by operator id (hex) and state."""

    uids: tuple[str, ...] = ()
    states: Mapping[tuple[str, str], PythonState] | None = None

    def unknown(self, operator_id: bytes, names: Iterable[str]) -> list[str]:
        """The states that are declared for an operator whose states are called ``names``, and that it does not have."""
        there = {(operator_id.hex(), name.removeprefix(PREFIX)) for name in names}
        return [
            name for uid, name in self.states or {} if uid == operator_id.hex() and (uid, name) not in there
        ]

    def told(self, operator_id: bytes, state: KeyedStateType) -> KeyedStateType:
        """The state with its byte arrays as what they hold. Raises PlanError where they cannot hold that."""
        said = self._of(operator_id, state.name)
        if said is None:
            return state
        if state.kind == "list" and said.kind == "value":
            value = _holding(state.value, said.type)
        elif state.kind == "list" and said.kind != "map":
            value = _holding(state.value, t.ListType(element=said.type, framing="rest"))
        elif state.kind == "map" and said.kind in ("map", None) and state.map_key == _BYTES:
            key, inner = _pair(said, state.name)
            value = _holding(state.value, inner)
            state = replace(state, map_key=t.RawDataType(inner=key))
        else:
            value = None
        if value is None:
            raise _unlike(said, state.name, f"a {state.kind} state of {state.value}")
        return replace(state, value=value, single=said.kind == "value")

    def told_broadcast(self, operator_id: bytes, state: OperatorStateType) -> OperatorStateType:
        """As :meth:`told`, of an operator's state: PyFlink has broadcast states alone."""
        said = self._of(operator_id, state.name)
        if said is None:
            return state
        if state.kind != "broadcast" or not state.map_key == state.value == _BYTES:
            raise _unlike(said, state.name, f"a {state.kind} state of {state.value}")
        key, value = _pair(said, state.name)
        return replace(state, map_key=t.RawDataType(inner=key), value=t.RawDataType(inner=value))

    def _of(self, operator_id: bytes, name: str) -> PythonState | None:
        return (self.states or {}).get((operator_id.hex(), name.removeprefix(PREFIX)))


def _pair(said: PythonState, state: str) -> tuple[t.DataType, t.DataType]:
    if said.kind not in ("map", None) or not isinstance(said.type, t.MapType):
        raise PlanError(
            "a map state has a type of its keys and one of its values",
            where=Where(state=state), todo="write MapStateDescriptor('name', Types.STRING(), Types.LONG())",
        )  # fmt: skip
    return said.type.key, said.type.value


def _holding(written: t.DataType | None, inner: t.DataType) -> t.DataType | None:
    """The type of a byte array that holds ``inner``; None where what is ``written`` is no byte array."""
    if isinstance(written, t.TtlType):
        held = _holding(written.inner, inner)
        return None if held is None else replace(written, inner=held)
    return t.RawDataType(inner=inner) if written == _BYTES else None


def _unlike(said: PythonState, state: str, written: str) -> PlanError:
    if "bytes" in written:
        return PlanError(f"{written} is no {said.kind or 'such'} state of PyFlink", where=Where(state=state))
    return PlanError(
        f"{written} is none of PyFlink's process mode: its type is in the snapshot", where=Where(state=state)
    )


def python_types(states: PythonStates | str | None, stores: Stores) -> PythonTypes:
    """Types as they are declared, or those of a YAML file (a path or URL). Raises PlanError."""
    if states is None:
        return PythonTypes()
    file = states if isinstance(states, str) else None
    try:
        declared = _STATES.validate_python((read_yaml(file, stores) or {}) if file is not None else states)
        types = {
            (_id(uid), name.removeprefix(PREFIX)): python_state(text)
            for uid, names in declared.items()
            for name, text in names.items()
        }
    except ValidationError as error:
        first = error.errors()[0]
        place = " ".join(str(part) for part in first["loc"])
        raise PlanError(f"Python types: {place}: {first['msg']}", where=Where(file=file)) from None
    except PlanError as error:
        raise error.at(Where(file=file)) from None
    return PythonTypes(tuple(declared), types)


def _id(uid: str) -> str:
    is_id = len(uid) == 32 and all(digit in "0123456789abcdef" for digit in uid.lower())
    return uid.lower() if is_id else operator_id_of_uid(uid).hex()
