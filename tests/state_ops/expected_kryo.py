"""Kryo values in the JSON of ``expected.json``, by their shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
from statelift.schemas import types as t
from statelift.schemas.codec.kryo_leaves import leaf_of
from statelift.schemas.codec.kryo_shapes import alternatives

Json = Any
Column = Callable[[t.DataType, pa.Array], list[Json]]


def kryo_column(shape: t.DataType, values: pa.Array, column: Column) -> list[Json]:
    """The values of a column of this Kryo shape; ``column`` does the ordinary types."""
    several = alternatives(shape)
    if len(several) > 1:
        parts = zip(values.type, several, strict=True)
        columns = [_class_column(one, values.field(part.name), column) for part, one in parts]
        return [next((one for one in row if one is not None), None) for row in zip(*columns, strict=True)]
    return _class_column(several[0], values, column)


def _class_column(node: t.DataType, values: pa.Array, column: Column) -> list[Json]:
    """The values of one of the classes that may stand there."""
    match node:
        case t.JavaType(name="uuid"):
            return _tagged("$uuid", values.to_pylist())
        case t.JavaType(name="bit_set"):
            return _tagged("$bitset", values.to_pylist())
        case t.ClassType(class_name="java.util.Optional"):
            inner = kryo_column(node.fields[0].type, values.field("value"), column)
            return [{"$optional": one} if ok else None for one, ok in zip(inner, _valid(values), strict=True)]
        case t.ClassType():
            parts = {f.name: kryo_column(f.type, values.field(f.name), column) for f in node.fields}
            rows = [dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)]
            return [
                {"$object": node.class_name, "fields": row} if ok else None
                for row, ok in zip(rows, _valid(values), strict=True)
            ]
        case t.ListType():
            lists = _cut(values, kryo_column(node.element, values.flatten(), column))
            return _tagged("$set", map(_sorted, lists)) if node.flavour == "set" else lists
        case t.MapType():
            entries = values.cast(pa.list_(pa.struct([*values.type.field(0).type]))).flatten()
            keys = kryo_column(node.key, entries.field(0), column)
            items = kryo_column(node.value, entries.field(1), column)
            pairs = _cut(values, [list(pair) for pair in zip(keys, items, strict=True)])
            return _tagged("$map", map(_sorted, pairs))
    leaf = leaf_of(node)
    return column(leaf.plain if leaf else node, values)


def _tagged(tag: str, values: Iterable[Json]) -> list[Json]:
    return [None if one is None else {tag: one} for one in values]


def _valid(values: pa.Array) -> list[bool]:
    return values.is_valid().to_pylist()  # type: ignore[no-any-return]


def _sorted(values: list[Json] | None) -> list[Json] | None:
    return None if values is None else sorted(values, key=repr)


def _cut(values: pa.Array, inside: list[Json]) -> list[list[Json] | None]:
    """What is inside of all lists or maps, as that of each one."""
    found: list[list[Json] | None] = []
    at = 0
    for one in values.to_pylist():
        if one is None:
            found.append(None)
            continue
        found.append(inside[at : at + len(one)])
        at += len(one)
    return found
