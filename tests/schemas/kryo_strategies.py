"""Hypothesis strategies for Kryo shapes and their values, as :mod:`.kryo_reference` has them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from statelift.schemas import types as t
from statelift.schemas.codec.kryo_leaves import leaf_type

from .codec_strategies import SCALARS, enums
from .kryo_reference import BOXES, choices, name_of

_NAMES = ("alpha", "b", "count", "deep", "é")
_TEXT = st.text(max_size=70)
_BIG = SCALARS["bytes"].filter(bool)
LEAVES: dict[str, st.SearchStrategy[Any]] = {
    **{name: SCALARS[name] for name in BOXES},
    "string": _TEXT,
    "bytes": SCALARS["bytes"],
    "uuid": st.uuids().map(str),
    "bit_set": st.lists(st.integers(0, 200), unique=True, max_size=5).map(sorted),
    "big_integer": _BIG,
    "big_decimal": st.fixed_dictionaries({"unscaled": _BIG, "scale": SCALARS["int"]}),
    "date": st.integers(-(2**62), 2**62),
    "atomic_int": SCALARS["int"],
    "year": st.integers(-999_999_999, 999_999_999),
    "period": st.fixed_dictionaries(dict.fromkeys(("years", "months", "days"), SCALARS["int"])),
    "optional_long": st.fixed_dictionaries({"value": st.none() | SCALARS["long"]}),
    "zone_offset": st.integers(-64_800, 64_800) | st.integers(-72, 72).map(lambda n: n * 900),
}


_leaves = st.sampled_from(sorted(LEAVES)).map(leaf_type)
_arrays = st.sampled_from(["int", "long", "string"]).map(
    lambda name: t.ListType(element=t.scalar(name), flavour="array")  # type: ignore[arg-type]
)


def _fields(of: st.SearchStrategy[t.DataType]) -> st.SearchStrategy[tuple[t.Field, ...]]:
    boxed = st.sampled_from(sorted(BOXES)).map(lambda name: t.NullableType(inner=t.scalar(name)))  # type: ignore[arg-type]
    return st.lists(of | boxed, max_size=4).map(
        lambda nodes: tuple(t.Field(name=n, type=one) for n, one in zip(_NAMES, nodes, strict=False))
    )


def _class(base: tuple[t.Field, ...], final: bool, below: list[tuple[t.Field, ...]]) -> t.DataType:
    subclasses = tuple(
        t.ClassType(class_name=f"com.acme.Sub{i}", fields=parts) for i, parts in enumerate(below)
    )
    return t.ClassType(
        class_name="com.acme.Thing", fields=base, final=final, subclasses=() if final else subclasses
    )


def _nest(of: st.SearchStrategy[t.DataType]) -> st.SearchStrategy[t.DataType]:
    lists = [
        ("list", None),
        ("list", "java.util.LinkedList"),
        ("set", None),
        ("set", "java.util.TreeSet"),
    ]
    return st.one_of(
        st.builds(_class, _fields(of), st.booleans(), st.lists(_fields(of), max_size=2)),
        st.builds(
            lambda one, kind: t.ListType(element=one, flavour=kind[0], class_name=kind[1]),
            of,
            st.sampled_from(lists),
        ),
        st.builds(
            lambda key, value, name: t.MapType(key=key, value=value, class_name=name),
            _leaves | st.just(t.JavaType(name="object")),
            of,
            st.sampled_from([None, "java.util.TreeMap", "java.util.concurrent.ConcurrentHashMap"]),
        ),
    )


shapes: st.SearchStrategy[t.DataType] = st.recursive(
    _leaves | _arrays | enums | st.just(t.JavaType(name="object")), _nest, max_leaves=6
)
REGISTERED = ("com.acme.Thing", "java.util.LinkedList")
kryo_types: st.SearchStrategy[t.KryoType] = st.builds(
    lambda shape, kryo, registered: t.KryoType(
        class_name="com.acme.State", kryo=kryo, registered=registered, shape=shape
    ),
    shapes,
    st.sampled_from([2, 5]),
    st.sampled_from([(), REGISTERED]),
)


def values(node: t.DataType) -> st.SearchStrategy[Any]:
    """Objects of a shape, never null."""
    several = choices(node)
    if len(several) > 1:
        return st.one_of(*(_one_of(one, several) for one in several))
    return _only(several[0])


def _one_of(node: t.DataType, several: list[t.DataType]) -> st.SearchStrategy[Any]:
    none = {name_of(one): None for one in several}
    return _only(node).map(lambda value: {**none, name_of(node): value})


def _only(node: t.DataType) -> st.SearchStrategy[Any]:
    match node:
        case t.Scalar() | t.JavaType():
            return LEAVES[node.name]
        case t.EnumType():
            return st.sampled_from(node.constants)
        case t.ClassType():
            return st.fixed_dictionaries({part.name: _field(part.type) for part in node.fields})
        case t.ListType(flavour="array") if str(node.element) != "string":
            return st.lists(values(node.element), max_size=4)
        case t.ListType():
            return st.lists(st.none() | values(node.element), max_size=4)
        case t.MapType():
            return st.lists(st.tuples(values(node.key), st.none() | values(node.value)), max_size=3)
    raise AssertionError(node)


def _field(node: t.DataType) -> st.SearchStrategy[Any]:
    primitive = isinstance(node, t.Scalar) and node.name in BOXES
    return values(node) if primitive else st.none() | values(node)
