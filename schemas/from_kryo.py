"""Kryo snapshots to types: which states hold JDK objects only, and the numbers of their classes."""

from __future__ import annotations

import dataclasses
from typing import Literal

from . import types as t
from .codec.kryo_classes import CLASSES, COLLECTION, DEFAULT_IDS, MAP, SORTED_MAP, SORTED_SET
from .codec.kryo_leaves import LEAVES, leaf_type
from .declared import Declared
from .snapshots import KryoSnapshot
from .tree import rebuilt

#: Types that say nothing of their values' classes, beside the classes that are known themselves.
_INTERFACES = {
    "java.lang.Object", "java.lang.Iterable", "java.lang.Number", "java.lang.CharSequence", "java.io.Serializable",
    *(f"java.util.{name}" for name in (
        "Collection", "List", "AbstractList", "Set", "SortedSet", "NavigableSet", "Map", "SortedMap",
        "NavigableMap", "Queue", "Deque")),
    "java.util.concurrent.ConcurrentMap", "java.time.ZoneId", "java.util.Calendar", "java.util.TimeZone",
}  # fmt: skip


_OBJECT = t.JavaType(name="object")
#: Interfaces and the class that Java programs use for them; a value of another one is kept as bytes.
_USUAL: dict[str, t.DataType] = {
    **dict.fromkeys(
        ("java.util.List", "java.util.AbstractList", "java.util.Collection", "java.lang.Iterable"),
        t.ListType(element=_OBJECT),
    ),
    "java.util.Set": t.ListType(element=_OBJECT, flavour="set"),
    "java.util.Map": t.MapType(key=_OBJECT, value=_OBJECT),
    "java.lang.Object": _OBJECT,
    "java.util.Optional": t.ClassType(
        class_name="java.util.Optional", fields=(t.Field(name="value", type=_OBJECT),), final=True
    ),
    **{leaf.class_name: leaf_type(name) for name, leaf in LEAVES.items()},
}
_ONLY_5 = {leaf.class_name for leaf in LEAVES.values() if leaf.only_5}


def type_of_kryo(
    snapshot: KryoSnapshot,
    kryo: Literal[2, 5] | None,
    declared: Declared,
    shape: t.DataType | None = None,
) -> t.DataType:
    """A class that is declared, or a JDK class that is known, has a shape, as has a field that is declared so
    (``shape``). Other JDK objects are carried as Kryo's bytes, whose end is known; a user class is opaque.
    """
    name = snapshot.type_class
    if kryo is None:
        return t.OpaqueType(class_name=name, reason="written by Kryo, of an unknown version")
    if shape is not None:
        shape = declared.as_kryo(shape)
    elif name in declared.classes and not declared.classes[name].opaque:
        shape = declared.kryo(name)
    elif name in _USUAL and not (kryo == 2 and name in _ONLY_5):
        shape = _USUAL[name]
    elif name in CLASSES:
        shape = _collection(name)
    elif name not in _INTERFACES:
        return t.OpaqueType(class_name=name, reason="Kryo without a declared shape")
    return t.KryoType(class_name=name, kryo=kryo, registered=_registered(snapshot), shape=shape)


def in_key(node: t.DataType) -> t.DataType:
    """``node`` as the type of keys, which are found by their bytes: Kryo's values are decoded only where equal ones
    are the same bytes and no class may stand for another, or where the user declared them."""

    def change(one: t.DataType) -> t.DataType:
        if isinstance(one, t.KryoType) and one.shape is not None and _may_vary(one.shape):
            return dataclasses.replace(one, shape=None)
        return one

    return rebuilt(node, change)


def _may_vary(shape: t.DataType) -> bool:
    if shape in (_OBJECT, t.JavaType(name="bit_set")):
        return True
    return any(map(_may_vary, shape.children()))


def _collection(name: str) -> t.DataType | None:
    """A collection of the JDK, whose elements may be of any class; None for other classes."""
    if CLASSES[name] in (COLLECTION, SORTED_SET):
        flavour: Literal["set", "list"] = "set" if name.endswith("Set") else "list"
        usual = {"set": "java.util.HashSet", "list": "java.util.ArrayList"}[flavour]
        return t.ListType(element=_OBJECT, flavour=flavour, class_name=None if name == usual else name)
    if CLASSES[name] in (MAP, SORTED_MAP) and "Immutable" not in name:
        return t.MapType(key=_OBJECT, value=_OBJECT, class_name=None if name == "java.util.HashMap" else name)
    return None


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
