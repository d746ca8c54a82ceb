"""Kryo snapshots to types: which states hold JDK objects only, and the numbers of their classes."""

from __future__ import annotations

from typing import Literal

from . import types as t
from .codec.kryo_kernels import CLASSES, DEFAULT_IDS
from .declared import Declared
from .snapshots import KryoSnapshot

#: Types that say nothing of their values' classes, beside the classes that are known themselves.
_INTERFACES = {
    "java.lang.Object", "java.lang.Iterable", "java.lang.Number", "java.lang.CharSequence", "java.io.Serializable",
    *(f"java.util.{name}" for name in (
        "Collection", "List", "AbstractList", "Set", "SortedSet", "NavigableSet", "Map", "SortedMap",
        "NavigableMap", "Queue", "Deque")),
    "java.util.concurrent.ConcurrentMap",
}  # fmt: skip


def type_of_kryo(
    snapshot: KryoSnapshot,
    kryo: Literal[2, 5] | None,
    declared: Declared,
    shape: t.DataType | None = None,
) -> t.DataType:
    """A type of JDK objects is carried as Kryo's bytes, whose end is known; a user class is opaque."""
    name = snapshot.type_class
    if kryo is None:
        return t.OpaqueType(class_name=name, reason="written by Kryo, of an unknown version")
    if name not in CLASSES and name not in _INTERFACES:
        return t.OpaqueType(class_name=name, reason="Kryo without a declared shape")
    return t.KryoType(class_name=name, kryo=kryo, registered=_registered(snapshot))


def _registered(snapshot: KryoSnapshot) -> tuple[str, ...]:
    """The classes from number 85 on, "" for those with a serializer of their own.

    A class that Flink registers anyway keeps its number, unless it is given a serializer.
    """
    names = []
    for entry in snapshot.kryo_registrations:
        registration = entry.value
        if registration is not None and registration.serializer is None:
            if entry.key_name in DEFAULT_IDS or entry.key_name in names:
                continue
            names.append(entry.key_name)
        else:
            names.append("")
    return tuple(names)
