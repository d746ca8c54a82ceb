"""``CompositeTypeSerializerSnapshot``: the outer part of a few classes, then every nested serializer.

Since Flink 1.19 the class of the written snapshot is compared only by classes with an outer part of their own, and
what they do not see is told here: a list is read where a set was written, one tuple class where another was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .flink_version import LINKED_LIST, NEW_JUDGES_OLD, ROW, TWO_PHASE_COMMIT, Version
from .snapshots import CompositeSnapshot, SerializerSnapshot
from .snapshots.names import DV, FLINK, SCALA, B, R, S
from .verdict import Compatibility, Reason, differs, short

_GENERIC_ARRAY = B + "GenericArraySerializerSnapshot"
_NULLABLE = R + "NullableSerializer$NullableSerializerSnapshot"
_TUPLE = R + "TupleSerializerSnapshot"

#: Classes whose outer part must be equal, and what it is.
_EQUAL_OUTER = {
    _GENERIC_ARRAY: "component class",
    _NULLABLE: "padding",
    **{
        package + name: what
        for package in SCALA
        for name, what in {
            "ScalaCaseClassSerializerSnapshot": "case class",
            "Tuple2CaseClassSerializerSnapshot": "case class",
            "TraversableSerializerSnapshot": "builder code",
        }.items()
    },
}
#: Classes whose flag may change with a migration: what it is, and what versions without the flag had.
_FLAGS: dict[str, tuple[str, Callable[[CompositeSnapshot], bool]]] = {
    ROW: ("row kind", lambda snapshot: snapshot.outer_version == 3),
    LINKED_LIST: ("mask of nulls", lambda snapshot: snapshot.outer_version == 2),
    **{
        f"{FLINK}streaming.api.functions.sink.{folder}{TWO_PHASE_COMMIT}": (
            "support of null transactions",
            lambda snapshot: snapshot.outer_version == 3,
        )
        for folder in ("", "legacy.")
    },
}
#: Classes that lay values out alike, so that none is misread for the other.
_ALIKE = (
    {B + "ListSerializerSnapshot", S + "ArrayListSerializerSnapshot"},
    {R + "JavaEitherSerializerSnapshot", R + "EitherSerializerSnapshot"},
    {S + "ttl.TtlStateFactory$TtlSerializerSnapshot", S + "v2.ttl.TtlStateFactory$TtlSerializerSnapshot"},
)
#: The names of nested serializers in paths, where they are not f0, f1, …
_NAMES: dict[str, tuple[str, ...]] = {
    B + "ListSerializerSnapshot": ("[]",),
    S + "ArrayListSerializerSnapshot": ("[]",),
    B + "SetSerializerSnapshot": ("[]",),
    _GENERIC_ARRAY: ("[]",),
    LINKED_LIST: ("[]",),
    B + "MapSerializerSnapshot": (".key", ".value"),
    DV + "NullAwareMapSerializerSnapshot": (".key", ".value"),
    _NULLABLE: ("",),
    S + "ttl.TtlStateFactory$TtlSerializerSnapshot": (".ttl_timestamp", ""),
    S + "v2.ttl.TtlStateFactory$TtlSerializerSnapshot": (".ttl_timestamp", ""),
    R + "JavaEitherSerializerSnapshot": (".left", ".right"),
    R + "EitherSerializerSnapshot": (".left", ".right"),
    DV + "ListViewSerializerSnapshot": ("",),
    DV + "MapViewSerializerSnapshot": ("",),
}

Inner = Callable[[SerializerSnapshot, SerializerSnapshot, str], Iterator[Reason]]


def composite_reasons(
    written: CompositeSnapshot, wanted: CompositeSnapshot, path: str, version: Version, inner: Inner
) -> Iterator[Reason]:
    if len(written.nested) != len(wanted.nested):
        yield differs(path, f"{_parts(written)} are now {_parts(wanted)}")
        return
    if written.class_name != wanted.class_name:
        outer = _other_class(written, wanted, path, version)
    else:
        outer = _outer(written, wanted, path)
    if outer is not None:
        yield outer
    names = _NAMES.get(wanted.class_name, ())
    for i, (old, new) in enumerate(zip(written.nested, wanted.nested, strict=True)):
        yield from inner(old, new, path + (names[i] if i < len(names) else f".f{i}"))


def _parts(snapshot: CompositeSnapshot) -> str:
    return f"the {len(snapshot.nested)} parts of {short(snapshot)}"


def _other_class(
    written: CompositeSnapshot, wanted: CompositeSnapshot, path: str, version: Version
) -> Reason | None:
    what = f"{short(written)} is now {short(wanted)}"
    compared = wanted.class_name in _EQUAL_OUTER or wanted.class_name in _FLAGS
    alike = any({written.class_name, wanted.class_name} <= one for one in _ALIKE)
    safe = Compatibility.AS_IS if alike else Compatibility.INCOMPATIBLE
    if version < NEW_JUDGES_OLD or compared:
        return differs(path, what)
    return None if alike else Reason(path=path, what=what, flink_says=Compatibility.AS_IS, safe=safe)


def _outer(written: CompositeSnapshot, wanted: CompositeSnapshot, path: str) -> Reason | None:
    old: Any = written.outer
    new: Any = wanted.outer
    name = wanted.class_name
    if name in _FLAGS:
        what, before = _FLAGS[name]
        had = old if isinstance(old, bool) else before(written)
        has = new if isinstance(new, bool) else before(wanted)
        if had == has:
            return None
        return differs(path, f"the {what} is {'new' if has else 'gone'}", Compatibility.AFTER_MIGRATION)
    if old == new:
        return None
    if name in _EQUAL_OUTER:
        return differs(path, f"the {_EQUAL_OUTER[name]} {old} is now {new}")
    if name == _TUPLE:
        return Reason(
            path=path,
            what=f"the tuple class {old} is now {new}",
            flink_says=Compatibility.AS_IS,
            safe=Compatibility.INCOMPATIBLE,
        )
    return None
