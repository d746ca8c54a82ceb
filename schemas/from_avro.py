"""Avro schemas to types: Flink's Avro values need no user class, only the schema in their snapshot.

The layout is Flink's own (``DataOutputEncoder``, spec "serializers" 2.12): fixed-width big-endian numbers, and
collections in blocks of plain varints.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from . import types as t
from .tree import rebuilt

_MAX_DEPTH = 48
_MAX_PRECISION = 38
_MAX_FIXED_DECIMAL = 64
_RECURSIVE = "its schema is recursive"
_PRIMITIVES: dict[str, t.ScalarName] = {
    "null": "null", "boolean": "boolean", "int": "int", "long": "long", "float": "float", "double": "double",
    "string": "string_data", "bytes": "bytes",
}  # fmt: skip
_LOGICAL: dict[tuple[str, str], t.ScalarName] = {
    ("int", "date"): "days",
    ("int", "time-millis"): "millis_of_day",
    ("long", "time-micros"): "micros_of_day",
    ("long", "timestamp-millis"): "timestamp_millis_utc",
    ("long", "timestamp-micros"): "timestamp_micros_utc",
    ("long", "timestamp-nanos"): "timestamp_nanos_utc",
    ("long", "local-timestamp-millis"): "timestamp_millis",
    ("long", "local-timestamp-micros"): "timestamp_micros",
    ("long", "local-timestamp-nanos"): "timestamp_nanos",
}


def type_of_avro(schema: str) -> t.DataType:
    """The type of an Avro schema (JSON text). What it cannot be is opaque, with the reason."""
    try:
        parsed = json.loads(schema)
    except (ValueError, RecursionError) as error:
        return t.OpaqueType(class_name="Avro", reason=f"its schema is not JSON: {error}")
    return _Schemas().type(parsed, "", 0)


@dataclass(slots=True)
class _Schemas:
    """The named types met so far, by full name; None while one is being read. ``again`` are those met within
    themselves."""

    named: dict[str, t.DataType | None] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)

    def type(self, schema: Any, namespace: str, depth: int) -> t.DataType:
        if depth > _MAX_DEPTH:
            return _opaque("Avro", "its schema is nested too deeply")
        if isinstance(schema, str):
            return self._by_name(schema, namespace)
        if isinstance(schema, list):
            return self._union(schema, namespace, depth)
        if not isinstance(schema, dict):
            return _opaque("Avro", f"{schema!r} is no schema")
        kind = schema.get("type")
        if kind in ("record", "error", "enum", "fixed"):
            return self._define(schema, kind, namespace, depth)
        if kind == "array":
            element = self.type(schema.get("items"), namespace, depth + 1)
            return t.ListType(element=element, framing="block")
        if kind == "map":
            value = self.type(schema.get("values"), namespace, depth + 1)
            return t.MapType(key=t.scalar("string_data"), value=value, framing="block")
        if isinstance(kind, str) and kind in _PRIMITIVES:
            return _logical(schema, kind)
        return self.type(kind, namespace, depth + 1)

    def _by_name(self, name: str, namespace: str) -> t.DataType:
        if name in _PRIMITIVES:
            return t.scalar(_PRIMITIVES[name])
        for full in (name, f"{namespace}.{name}"):
            if full in self.named:
                return self.named[full] or self._within_itself(full)
        return _opaque(name, "its schema does not define this name")

    def _define(self, schema: dict[str, Any], kind: str, namespace: str, depth: int) -> t.DataType:
        full = _full_name(schema, namespace)
        self.named[full] = None
        space = full.rpartition(".")[0]
        node: t.DataType
        if kind == "enum":
            symbols = schema.get("symbols")
            constants = tuple(str(one) for one in symbols) if isinstance(symbols, list) else ()
            node = t.EnumType(class_name=full, constants=constants)
        elif kind == "fixed":
            size = schema.get("size")
            if not isinstance(size, int) or size < 0:
                return _opaque(full, "a fixed without a size")
            node = _decimal(schema, "fixed", size) or t.FixedType(class_name=full, size=size)
        else:
            parts = schema.get("fields")
            if not isinstance(parts, list) or not all(isinstance(one, dict) for one in parts):
                return _opaque(full, "a record without fields")
            fields = tuple(
                t.Field(name=str(one.get("name")), type=self.type(one.get("type"), space, depth + 1))
                for one in parts
            )
            node = t.TupleType(class_name=full, fields=fields)
            if full in self.again:
                node = self._closed(full, node)
        self.named[full] = node
        return node

    def _within_itself(self, name: str) -> t.DataType:
        self.again.add(name)
        return t.SpanType(class_name=name, reason=_RECURSIVE)

    def _closed(self, name: str, node: t.TupleType) -> t.DataType:
        """``node``, with itself as the body of those that it holds; in other types that were read within it too."""

        def close(one: t.DataType) -> t.DataType:
            inner = isinstance(one, t.SpanType) and one.class_name == name and one.body is None
            return t.SpanType(class_name=name, reason=_RECURSIVE, body=node) if inner else one

        for other, found in self.named.items():
            if found is not None:
                self.named[other] = rebuilt(found, close)
        return rebuilt(node, close)

    def _union(self, branches: list[Any], namespace: str, depth: int) -> t.DataType:
        types = [self.type(branch, namespace, depth + 1) for branch in branches]
        null = t.scalar("null")
        if len(types) == 2 and types.count(null) == 1:
            first = types[0] == null
            inner = types[1] if first else types[0]
            return t.NullableType(inner=inner, flag="null_first" if first else "null_second")
        names = [_branch_name(branch, namespace) for branch in branches]
        short = [name.rpartition(".")[2] for name in names]
        if len(set(short)) == len(short):
            names = short
        return t.UnionType(
            class_name="Avro union",
            alternatives=tuple(t.Field(name=n, type=one) for n, one in zip(names, types, strict=True)),
            tags=tuple(range(len(types))),
            tag_width=4,
        )


def _branch_name(branch: Any, namespace: str) -> str:
    if isinstance(branch, dict):
        return _full_name(branch, namespace) if "name" in branch else str(branch.get("type"))
    return str(branch)


def _full_name(schema: dict[str, Any], namespace: str) -> str:
    name = str(schema.get("name"))
    if "." in name:
        return name
    space = schema.get("namespace", namespace)
    return f"{space}.{name}" if space else name


def _logical(schema: dict[str, Any], kind: str) -> t.DataType:
    logical = schema.get("logicalType")
    if kind == "bytes" and logical == "decimal":
        decimal = _decimal(schema, "bytes", 0)
        if decimal is not None:
            return decimal
    return t.scalar(_LOGICAL.get((kind, str(logical)), _PRIMITIVES[kind]))


def _decimal(schema: dict[str, Any], storage: str, size: int) -> t.DataType | None:
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    if schema.get("logicalType") != "decimal" or not isinstance(precision, int) or not isinstance(scale, int):
        return None
    if not 0 < precision <= _MAX_PRECISION or not 0 <= scale <= precision or size > _MAX_FIXED_DECIMAL:
        return None
    return t.DecimalType(precision=precision, scale=scale, storage=storage, size=size)  # type: ignore[arg-type]


def _opaque(name: str, reason: str) -> t.OpaqueType:
    return t.OpaqueType(class_name=name, reason=reason)
