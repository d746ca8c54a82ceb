"""Hypothesis strategies for types and their values, and Arrow arrays as the plain values of :mod:`.reference`."""

from __future__ import annotations

import itertools
from decimal import Context
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from statelift.schemas import types as t

from .reference import all_columns, can_be_null, encode, shown, unrolled

_WIDE = Context(prec=100)
_INTEGERS = {
    "byte": 8, "short": 16, "int": 32, "long": 64, "count_window": 64, "flipped_long": 64, "days": 32,
    "months": 32, "day_time_millis": 64, "timestamp_millis": 64,
    "timestamp_micros": 64, "timestamp_nanos": 64, "timestamp_millis_utc": 64, "timestamp_micros_utc": 64,
    "timestamp_nanos_utc": 64,
}  # fmt: skip
_NANOS = st.integers(-9_223_372_036 * 10**9, 9_223_372_035 * 10**9 + 10**9 - 1)
_TEXT = st.text(max_size=12)
_BINARY = st.binary(max_size=12)
_BIG = st.integers(-(2**90), 2**90).map(
    lambda v: v.to_bytes((v + (v < 0)).bit_length() // 8 + 1, "big", signed=True)
)
_DAY = 86_400 * 10**9

SCALARS: dict[str, st.SearchStrategy[Any]] = {
    **{name: st.integers(-(2 ** (n - 1)), 2 ** (n - 1) - 1) for name, n in _INTEGERS.items()},
    "millis_of_day": st.integers(0, 86_399_999),
    "micros_of_day": st.integers(0, 86_399_999_999),
    "boolean": st.booleans(),
    "char": st.integers(0, 0xFFFF),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "string": st.none() | _TEXT,
    "string_value": _TEXT,
    "string_data": _TEXT,
    "void": st.none(),
    "global_window": st.none(),
    "null": st.none(),
    "tuple0": st.none(),
    "unit": st.none(),
    "bytes": _BINARY,
    "bitmap": _BINARY,
    "raw_data": _BINARY,
    "window": st.fixed_dictionaries({"start": st.integers(-(2**63), 0), "end": st.integers(0, 2**63 - 1)}),
    "variant": st.fixed_dictionaries({"value": _BINARY, "metadata": _BINARY}),
    "date": st.none() | st.integers(-(2**62), 2**62),
    "sql_date": st.none() | st.integers(-(2**62), 2**62),
    "sql_time": st.none() | st.integers(0, 86_399_999),
    "sql_timestamp": st.none() | _NANOS,
    "instant": st.none() | _NANOS,
    "local_date": st.none() | st.integers(-(2**31), 2**31 - 1),
    "local_time": st.none() | st.integers(0, _DAY - 1),
    "local_date_time": st.none() | st.integers(-106_751 * _DAY, 106_751 * _DAY - 1),
    "big_integer": st.none() | _BIG,
    "big_decimal": st.none()
    | st.fixed_dictionaries({"unscaled": _BIG, "scale": st.integers(-(2**31), 2**31 - 1)}),
}
_DATES = st.builds(
    lambda year, month, day: {"year": year, "month": month, "day": min(day, 28)},
    st.integers(-999_999_999, 999_999_999),
    st.integers(1, 12),
    st.integers(1, 31),
)
#: Times in their parts, as ``wide_times`` gives them.
PARTS: dict[str, st.SearchStrategy[Any]] = {
    "instant": st.none()
    | st.fixed_dictionaries(
        {
            "seconds": st.integers(-31_557_014_167_219_200, 31_556_889_864_403_199),
            "nanos": st.integers(0, 10**9 - 1),
        }
    ),
    "sql_timestamp": st.none()
    | st.builds(
        lambda millis, nano: {"millis": millis, "nanos": millis % 1000 * 10**6 + nano},
        st.integers(-(2**63) + 1, 2**63 - 1),
        st.integers(0, 10**6 - 1),
    ),
    "local_date": st.none() | _DATES,
    "local_date_time": st.none()
    | st.builds(lambda date, nano: {**date, "nano_of_day": nano}, _DATES, st.integers(0, _DAY - 1)),
}
#: Scalars that a binary row holds.
BINARY_SCALARS = (
    "boolean", "byte", "short", "int", "long", "float", "double", "days", "millis_of_day", "months",
    "day_time_millis", "string_data", "bytes", "raw_data",
)  # fmt: skip
_NAMES = ("alpha", "b", "count", "deep", "é")


def fields(of: st.SearchStrategy[t.DataType], least: int = 0) -> st.SearchStrategy[tuple[t.Field, ...]]:
    lists = st.lists(of, min_size=least, max_size=5)
    return lists.map(
        lambda nodes: tuple(t.Field(name=n, type=one) for n, one in zip(_NAMES, nodes, strict=False))
    )


decimals = st.builds(
    lambda precision, storage: t.DecimalType(
        precision=min(precision, 18) if storage == "long" else precision,
        scale=precision // 3,
        storage=storage,
        size=17 if storage == "fixed" else 0,
    ),
    st.integers(1, 38),
    st.sampled_from(["long", "bytes", "fixed"]),
)
timestamps = st.builds(
    lambda p, utc: t.TimestampDataType(precision=p, utc=utc), st.integers(0, 9), st.booleans()
)
enums = st.just(t.EnumType(class_name="Color", constants=("RED", "GREEN", "BLUE")))


def _binary(of: st.SearchStrategy[t.DataType]) -> st.SearchStrategy[t.DataType]:
    keys = st.sampled_from(["int", "string_data", "long"]).map(t.scalar)
    return st.one_of(
        fields(of).map(lambda parts: t.RowDataType(fields=parts)),
        of.map(lambda one: t.ArrayDataType(element=one)),
        st.builds(lambda k, v: t.MapDataType(key=k, value=v), keys, of),
    )


_binary_decimals = decimals.map(
    lambda d: t.DecimalType(
        precision=d.precision, scale=d.scale, storage="long" if d.precision <= 18 else "bytes"
    )
)
#: RAW in rows: values of serializers of their own.
_RAW = [
    *map(t.scalar, ("int", "string", "string_value", "bytes", "local_date", "big_integer", "double")),
    t.ListType(element=t.scalar("string"), flavour="array", element_flag="is_present"),
]
binary_types: st.SearchStrategy[t.DataType] = _binary(
    st.recursive(
        st.sampled_from(BINARY_SCALARS).map(t.scalar)
        | _binary_decimals
        | timestamps
        | st.sampled_from(_RAW).map(lambda inner: t.RawDataType(inner=inner)),
        _binary,
        max_leaves=4,
    )
)


def _pojo(parts: tuple[t.Field, ...]) -> t.DataType:
    return t.PojoType(class_name="com.acme.P", fields=parts)


def _family(base: tuple[t.Field, ...], extra: tuple[t.Field, ...], other: t.DataType) -> t.DataType:
    """A POJO with subclasses: one adds fields, one has a field of the base's name and another type."""
    taken = {part.name for part in base}
    first = (*base, *(part for part in extra if part.name not in taken))
    second = tuple(t.Field(name=part.name, type=other) for part in base[:1]) + base[1:]
    return t.PojoType(
        class_name="com.acme.P",
        fields=base,
        registered=(t.Field(name="com.acme.Sub", type=t.PojoType(class_name="com.acme.Sub", fields=first)),),
        non_registered=(t.Field(name="Süß", type=t.PojoType(class_name="Süß", fields=second)),),
    )


def _nullable(one: t.DataType) -> t.DataType:
    inner = t.TupleType(class_name="", fields=(t.Field(name="value", type=one),))
    return inner if isinstance(one, t.NullableType) or str(one) in t.ONE_VALUE else one


def _nest(of: st.SearchStrategy[t.DataType]) -> st.SearchStrategy[t.DataType]:
    flags = st.sampled_from(["is_null", "is_present", "null_first", "null_second"])
    return st.one_of(
        fields(of).map(lambda parts: t.TupleType(class_name="T", fields=parts)),
        fields(of).map(_pojo),
        st.builds(_family, fields(of), fields(of), of),
        st.builds(
            lambda parts, kind: t.RowType(fields=parts, supports_row_kind=kind), fields(of), st.booleans()
        ),
        st.builds(
            lambda one, flag: t.ListType(element=one, element_flag=flag),
            of,
            st.sampled_from(["none", "is_null", "is_present", "mask"]),
        ),
        of.map(lambda one: t.ListType(element=one, framing="block")),
        st.sampled_from(["byte", "string_data", "instant"]).map(
            lambda name: t.RawDataType(inner=t.ListType(element=t.scalar(name), framing="rest"))
        ),
        st.builds(
            lambda key, value, framing: t.MapType(key=key, value=value, framing=framing),
            st.sampled_from(["string_data", "int", "boolean"]).map(t.scalar),
            of,
            st.sampled_from(["i4", "block"]),
        ),
        of.map(lambda one: t.TtlType(inner=one)),
        st.builds(lambda one, flag: t.NullableType(inner=_nullable(one), flag=flag), of, flags),
        fields(of, least=1).map(
            lambda parts: t.UnionType(
                class_name="U", alternatives=parts, tags=tuple(range(len(parts), 0, -1)), tag_width=4
            )
        ),
        of.map(lambda one: t.RawDataType(inner=one)),
    )


def _again(name: str) -> t.SpanType:
    return t.SpanType(class_name=name, reason="its schema is recursive")


def _span(name: str, /, **fields: t.DataType) -> t.SpanType:
    parts = tuple(t.Field(name=part, type=kind) for part, kind in fields.items())
    body = t.TupleType(class_name=name, fields=parts)
    return t.SpanType(class_name=name, reason="its schema is recursive", body=body)


def _blocks(node: t.DataType) -> t.ListType:
    return t.ListType(element=node, framing="block")


#: Avro records that hold themselves: linked ones, trees, and one within another.
SPANS = (
    _span("Linked", value=t.scalar("long"), next=t.NullableType(inner=_again("Linked"), flag="null_first")),
    _span(
        "Tree",
        name=t.scalar("string_data"),
        below=_blocks(_again("Tree")),
        hash=t.FixedType(class_name="F", size=3),
    ),
    _span(
        "Outer",
        other=t.NullableType(inner=_again("Outer"), flag="null_second"),
        inner=_blocks(
            _span(
                "Inner",
                either=t.UnionType(
                    class_name="Avro union",
                    alternatives=(
                        t.Field(name="null", type=t.scalar("null")),
                        t.Field(name="inner", type=_again("Inner")),
                        t.Field(name="outer", type=_again("Outer")),
                    ),
                    tags=(0, 1, 2),
                    tag_width=4,
                ),
                prices=t.MapType(
                    key=t.scalar("string_data"),
                    value=t.DecimalType(precision=20, scale=2, storage="bytes"),
                    framing="block",
                ),
            )
        ),
        color=t.EnumType(class_name="E", constants=("A", "B")),
    ),
)


_leaves: st.SearchStrategy[t.DataType] = (
    st.sampled_from(sorted(SCALARS)).map(t.scalar)
    | decimals
    | timestamps
    | enums
    | st.integers(0, 9).map(lambda n: t.FixedType(class_name="F", size=n))
    | binary_types
)
#: What can be declared; and what a snapshot can say besides.
declarable_types = st.recursive(_leaves, _nest, max_leaves=6)
types = st.recursive(_leaves | st.sampled_from(SPANS), _nest, max_leaves=6)


def values(node: t.DataType) -> st.SearchStrategy[Any]:
    """Values of ``node`` as :mod:`.reference` has them; never one that its serializer cannot tell from another."""
    match node:
        case t.Scalar():
            return SCALARS[node.name]
        case t.EnumType():
            return st.sampled_from(node.constants)
        case t.TupleType():
            return record(node.fields, nulls=False)
        case t.RowType() | t.RowDataType():
            parts = {part.name: _or_none(part.type) for part in node.fields}
            kind = {"__kind": st.integers(0, 3)}
            with_kind = isinstance(node, t.RowDataType) or node.supports_row_kind
            return st.fixed_dictionaries({**(kind if with_kind else {}), **parts})
        case t.PojoType():
            return st.none() | _pojo_values(node)
        case t.TtlType():
            return st.fixed_dictionaries({"ttl_timestamp": SCALARS["long"], "value": values(node.inner)})
        case t.NullableType():
            return _or_none(node.inner)
        case t.ListType(element=t.SpanType()):
            return st.lists(
                values(node.element), max_size=1
            )  # more of each and there would be no end to them
        case t.ListType() if node.element_flag == "none":
            return st.lists(values(node.element), max_size=4)
        case t.ListType():
            return st.lists(_or_none(node.element), max_size=10)
        case t.ArrayDataType():
            return st.lists(_or_none(node.element), max_size=5)
        case t.MapType():
            value = values(node.value) if node.framing == "block" else _or_none(node.value)
            return st.lists(st.tuples(values(node.key), value), max_size=3)
        case t.MapDataType():
            return st.lists(st.tuples(values(node.key), _or_none(node.value)), max_size=3)
        case t.UnionType():
            return _union_values(node)
        case t.FixedType():
            return st.binary(min_size=node.size, max_size=node.size)
        case t.SpanType():
            inside = unrolled(node)
            return st.deferred(lambda: values(inside)).map(lambda value: encode(inside, value))
        case t.DecimalType():
            top = 10**node.precision - 1
            return st.integers(-top, top)
        case t.TimestampDataType():
            return st.integers(-(2**62), 2**62)
        case t.RawDataType():
            return values(node.inner)
    raise AssertionError(node)


def record(parts: tuple[t.Field, ...], nulls: bool) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({p.name: _or_none(p.type) if nulls else values(p.type) for p in parts})


def _or_none(node: t.DataType) -> st.SearchStrategy[Any]:
    return st.none() | values(node)


def _pojo_values(node: t.PojoType) -> st.SearchStrategy[dict[str, Any]]:
    columns, places = all_columns(node)
    if not places:
        return record(node.fields, nulls=True)
    choices = [
        record(node.fields, nulls=True).map(lambda own: {"__class": None, **dict.fromkeys(columns), **own})
    ]
    for one in (*node.registered, *node.non_registered):
        assert isinstance(one.type, t.PojoType)
        where = places[one.name]
        own = st.fixed_dictionaries({where[part.name]: _or_none(part.type) for part in one.type.fields})
        name = one.name
        choices.append(own.map(lambda v, name=name: {"__class": name, **dict.fromkeys(columns), **v}))
    return st.one_of(choices)


def _union_values(node: t.UnionType) -> st.SearchStrategy[dict[str, Any]]:
    columns = [node.alternatives[i].name for i in shown(node)]
    ambiguous = sum(can_be_null(part.type) for part in node.alternatives) > 1
    choices = []
    for i, part in enumerate(node.alternatives):
        tag = {"__tag": i} if ambiguous else {}
        has_column = {part.name} if i in shown(node) else set()
        choices.append(
            values(part.type).map(
                lambda v, tag=tag, has=has_column: {**tag, **dict.fromkeys(columns), **dict.fromkeys(has, v)}
            )
        )
    return st.one_of(choices)


def plain(array: pa.Array) -> list[Any]:
    """An Arrow array as values of :mod:`.reference`."""
    kind = array.type
    if pa.types.is_decimal(kind):
        scale = kind.scale
        return [None if v is None else int(v.scaleb(scale, _WIDE)) for v in array.to_pylist()]
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return list(array.cast(pa.int32()).to_pylist())
    if pa.types.is_temporal(kind):
        return list(array.cast(pa.int64()).to_pylist())
    if pa.types.is_struct(kind):
        names = [kind.field(i).name for i in range(kind.num_fields)]
        columns = [plain(array.field(i)) for i in range(kind.num_fields)]
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)] or [{}] * len(array)
        return [row if there else None for row, there in zip(rows, array.is_valid().to_pylist(), strict=True)]
    if pa.types.is_map(kind):
        pairs = list(zip(plain(array.keys), plain(array.items), strict=True))
        return _rows(array, pairs)
    if pa.types.is_list(kind):
        return _rows(array, plain(array.values))
    return list(array.to_pylist())


def _rows(array: pa.Array, elements: list[Any]) -> list[Any]:
    bounds = array.offsets.to_pylist()
    rows = [elements[a:b] for a, b in itertools.pairwise(bounds)]
    return [row if there else None for row, there in zip(rows, array.is_valid().to_pylist(), strict=True)]
