"""State of PyFlink's process mode: byte arrays to Flink, values of a Python type where the user says which.

On disk a value, a list, and what is reduced or aggregated are all ``ListState<byte[]>`` called ``python-state-…``. A
byte array holds one element or several, one behind the other, so a declared state is a list of lists. A map state
is a map of byte arrays, one value in each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from ..io.keyed.state_types import KeyedStateType
from ..io.stores import Stores
from ..schemas import types as t
from ..schemas.errors import PlanError, Where
from ..schemas.operator_id import operator_id_of_uid
from ..schemas.python_types import python_type
from .yaml_file import read_yaml

PREFIX = "python-state-"
_BYTES = t.scalar("bytes")
_STATES = TypeAdapter(dict[str, dict[str, str]])

#: By uid (or operator id) and state, with or without the prefix: a type information, as ``Types.LONG()``.
PythonStates = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class PythonTypes:
    """The declared types by operator id (hex) and state."""

    uids: tuple[str, ...] = ()
    states: Mapping[tuple[str, str], t.DataType] | None = None

    def told(self, operator_id: bytes, state: KeyedStateType) -> KeyedStateType:
        """The state with its byte arrays as what they hold. Raises PlanError where it has no byte arrays."""
        node = (self.states or {}).get((operator_id.hex(), state.name.removeprefix(PREFIX)))
        if node is None:
            return state
        if isinstance(node, t.MapType) and state.kind == "map" and state.map_key == state.value == _BYTES:
            return replace(
                state, map_key=t.RawDataType(inner=node.key), value=t.RawDataType(inner=node.value)
            )
        if state.kind == "list" and state.value == _BYTES:
            elements = t.ListType(element=node, framing="rest")
            return replace(state, value=t.RawDataType(inner=elements))
        raise PlanError(
            f"a {state.kind} state of {state.value} is none of PyFlink's process mode: its type is in the snapshot",
            where=Where(state=state.name),
        )


def python_types(states: PythonStates | str | None, stores: Stores) -> PythonTypes:
    """Types as they are declared, or those of a YAML file (a path or URL). Raises PlanError."""
    if states is None:
        return PythonTypes()
    file = states if isinstance(states, str) else None
    try:
        declared = _STATES.validate_python((read_yaml(file, stores) or {}) if file is not None else states)
        types = {
            (_id(uid), name.removeprefix(PREFIX)): python_type(text)
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
