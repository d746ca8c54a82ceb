"""The types of keyed states: what a header's meta information says of key, namespace, user key and value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...schemas import types as t
from ...schemas.from_kryo import in_key
from ...schemas.from_snapshot import SNAPSHOTS_ALONE, TypeRules
from ...schemas.snapshots import CompositeSnapshot
from ...schemas.subclasses import Subclasses, told
from .canonical import prefix_bytes
from .composite import CompositeKeyCodec
from .header import KeyedBackendHeader
from .lenient import RawKeyedHeader
from .meta_info import BackendStateType, StateMetaInfo

_KINDS = {
    "VALUE": "value",
    "LIST": "list",
    "MAP": "map",
    "REDUCING": "reducing",
    "AGGREGATING": "aggregating",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedStateType:
    """What the header says of one state, as types. ``kind`` is value, list, map, reducing, aggregating or timer.

    ``value`` is the type of the value, of the element (list) or of the user value (map); None for timers. A list
    state that is ``single`` has one element for each key and is shown as that, as PyFlink's value states.
    """

    name: str
    kind: str
    key: t.DataType
    namespace: t.DataType
    map_key: t.DataType | None = None
    value: t.DataType | None = None
    single: bool = False

    def nodes(self) -> tuple[t.DataType, ...]:
        """All types of the state."""
        parts = (self.key, self.namespace, self.map_key, self.value)
        return tuple(part for part in parts if part is not None)

    def told(self, known: Subclasses) -> KeyedStateType:
        """The state with the subclasses of POJOs that are ``known``."""
        return replace(self, value=told(self.value, known)) if self.value is not None else self

    def composite(self, max_parallelism: int, *, wide_times: bool = False) -> CompositeKeyCodec:
        return CompositeKeyCodec(
            prefix=prefix_bytes(max_parallelism),
            key=self.key,
            namespace=self.namespace,
            map_key=self.map_key,
            wide_times=wide_times,
        )


def keyed_state_type(
    meta: StateMetaInfo, key: t.DataType, types: TypeRules = SNAPSHOTS_ALONE
) -> KeyedStateType:
    """The types of a state of a keyed backend whose keys are ``key``."""
    type_of = types.type_of
    key = in_key(key)
    value = meta.value_serializer
    if meta.backend_state_type is BackendStateType.PRIORITY_QUEUE:
        nested = value.nested if isinstance(value, CompositeSnapshot) else ()
        namespace = type_of(nested[1]) if len(nested) == 2 else _missing("namespace")
        return KeyedStateType(name=meta.name, kind="timer", key=key, namespace=in_key(namespace))
    namespace = type_of(meta.namespace_serializer) if meta.namespace_serializer else _missing("namespace")
    kind = _KINDS.get(meta.keyed_state_type or "", "value")
    inner = type_of(value) if value is not None else _missing("value")
    map_key = None
    if kind in ("list", "map") and meta.backend_state_type is BackendStateType.KEY_VALUE:
        if kind == "list":
            inner = inner.element if isinstance(inner, t.ListType) else inner
        elif isinstance(inner, t.MapType):
            map_key, inner = inner.key, inner.value
        else:
            # A map's snapshot with one inside that is not known tells nothing of the keys either.
            map_key = inner if isinstance(inner, t.OpaqueType) else _missing("user key")
    elif kind == "map":
        map_key = type_of(meta.user_key_serializer) if meta.user_key_serializer else _missing("user key")
    return KeyedStateType(
        name=meta.name,
        kind=kind,
        key=key,
        namespace=in_key(namespace),
        map_key=in_key(map_key) if map_key is not None else None,
        value=inner,
    )


def _missing(what: str) -> t.DataType:
    return t.OpaqueType(class_name=what, reason=f"the header names no {what} serializer")


def state_types(header: KeyedBackendHeader | RawKeyedHeader, types: TypeRules) -> Sequence[KeyedStateType]:
    """The types of a header's states by state id; none where the key's serializer is unknown."""
    if header.key_serializer is None:
        return ()
    key = types.type_of(header.key_serializer)
    return [keyed_state_type(meta, key, types) for meta in header.states]
