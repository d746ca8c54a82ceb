"""Avro's rules for reading what one schema wrote with another: ``Schema.equals`` and ``SchemaCompatibility``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
#: Which writer's types a reader's type also takes.
_PROMOTIONS = {
    "long": ("int",),
    "float": ("int", "long"),
    "double": ("int", "long", "float"),
    "string": ("bytes",),
    "bytes": ("string",),
}
#: What ``Schema.equals`` does not look at.
_UNSEEN = (
    "doc",
    "aliases",
    "name",
    "namespace",
    "fields",
    "type",
    "items",
    "values",
    "symbols",
    "size",
    "order",
)
_MAX_DEPTH = 64


@dataclass(slots=True)
class Schema:
    """One schema with the names in it resolved. ``name`` is the full one of a record, enum or fixed.

    A name that is used again is the same object, so recursive schemas are cycles.
    """

    type: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    fields: list[SchemaField] = field(default_factory=list)
    parts: list[Schema] = field(default_factory=list)
    symbols: tuple[str, ...] = ()
    size: int = 0
    properties: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class SchemaField:
    name: str
    schema: Schema
    aliases: tuple[str, ...]
    has_default: bool
    default: Any
    order: str
    properties: dict[str, Any]


class SchemaError(ValueError):
    """A text that is no Avro schema; the message says why."""


def parse_schema(text: str) -> Schema:
    """The schema of a JSON text. Raises SchemaError."""
    try:
        return _Names().schema(json.loads(text), "", 0)
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError) as error:
        raise SchemaError(f"no Avro schema: {error!r}") from None


@dataclass(slots=True)
class _Names:
    named: dict[str, Schema] = field(default_factory=dict)

    def schema(self, value: Any, namespace: str, depth: int) -> Schema:
        if depth > _MAX_DEPTH:
            raise SchemaError("it is nested too deeply")
        if isinstance(value, str):
            return self._by_name(value, namespace)
        if isinstance(value, list):
            return Schema(type="union", parts=[self.schema(one, namespace, depth + 1) for one in value])
        kind = value["type"]
        if not isinstance(kind, str):
            return self.schema(kind, namespace, depth + 1)
        properties = {name: one for name, one in value.items() if name not in _UNSEEN}
        if kind in ("record", "error", "enum", "fixed"):
            return self._define(value, "record" if kind == "error" else kind, namespace, depth, properties)
        if kind == "array":
            items = self.schema(value["items"], namespace, depth + 1)
            return Schema(type=kind, parts=[items], properties=properties)
        if kind == "map":
            values = self.schema(value["values"], namespace, depth + 1)
            return Schema(type=kind, parts=[values], properties=properties)
        if kind in _PRIMITIVES:
            return Schema(type=kind, properties=properties)
        return self._by_name(kind, namespace)

    def _by_name(self, name: str, namespace: str) -> Schema:
        if name in _PRIMITIVES:
            return Schema(type=name)
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        if full in self.named:
            return self.named[full]
        return self.named[name]

    def _define(
        self, value: Any, kind: str, namespace: str, depth: int, properties: dict[str, Any]
    ) -> Schema:
        full = _full_name(value["name"], value.get("namespace", namespace))
        space = full.rpartition(".")[0]
        aliases = tuple(_full_name(one, space) for one in value.get("aliases", ()))
        made = self.named[full] = Schema(type=kind, name=full, aliases=aliases, properties=properties)
        made.symbols = tuple(value["symbols"]) if kind == "enum" else ()
        made.size = int(value["size"]) if kind == "fixed" else 0
        for one in value["fields"] if kind == "record" else ():
            made.fields.append(
                SchemaField(
                    name=one["name"],
                    schema=self.schema(one["type"], space, depth + 1),
                    aliases=tuple(one.get("aliases", ())),
                    has_default="default" in one,
                    default=one.get("default"),
                    order=one.get("order", "ascending"),
                    properties={n: v for n, v in one.items() if n not in (*_UNSEEN, "default")},
                )
            )
        return made


def _full_name(name: str, namespace: str | None) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def equal(one: Schema, other: Schema) -> bool:
    """``Schema.equals``: names, types, defaults, order of fields and properties; neither docs nor aliases."""
    return _equal(one, other, set())


def _equal(one: Schema, other: Schema, met: set[tuple[int, int]]) -> bool:
    pair = (id(one), id(other))
    if pair in met:
        return True
    met.add(pair)
    head = (one.type, one.name, one.symbols, one.size, one.properties, len(one.fields), len(one.parts))
    if head != (
        other.type, other.name, other.symbols, other.size, other.properties, len(other.fields), len(other.parts)
    ):  # fmt: skip
        return False
    for mine, its in zip(one.fields, other.fields, strict=True):
        same = (mine.name, mine.has_default, mine.default, mine.order, mine.properties)
        if same != (its.name, its.has_default, its.default, its.order, its.properties):
            return False
        if not _equal(mine.schema, its.schema, met):
            return False
    return all(_equal(mine, its, met) for mine, its in zip(one.parts, other.parts, strict=True))


def differences(reader: Schema, writer: Schema, path: str) -> Iterator[tuple[str, str]]:
    """Why ``reader`` cannot read what ``writer`` wrote (``checkReaderWriterCompatibility``): places and reasons."""
    return _differences(reader, writer, path, set())


def _differences(
    reader: Schema, writer: Schema, path: str, met: set[tuple[int, int]]
) -> Iterator[tuple[str, str]]:
    pair = (id(reader), id(writer))
    if pair in met:
        return
    met.add(pair)
    if writer.type == "union":
        for branch in writer.parts:
            yield from _differences(reader, branch, path, met)
    elif reader.type == "union":
        if not any(_reads(branch, writer, met) for branch in reader.parts):
            yield path, f"no branch of the union reads {writer.name or writer.type}"
    elif reader.type != writer.type:
        if writer.type not in _PROMOTIONS.get(reader.type, ()):
            yield path, f"{reader.name or reader.type} does not read {writer.name or writer.type}"
    elif reader.type in ("record", "enum", "fixed") and not _same_name(reader, writer):
        yield path, f"{writer.name} is now {reader.name}"
    elif reader.type == "record":
        for part in reader.fields:
            yield from _field(part, writer, path, met)
    elif reader.type == "enum":
        gone = [symbol for symbol in writer.symbols if symbol not in reader.symbols]
        if gone and reader.properties.get("default") not in reader.symbols:
            yield path, f"the symbols {', '.join(gone)} are gone"
    elif reader.type == "fixed":
        if reader.size != writer.size:
            yield path, f"{writer.size} bytes are now {reader.size}"
    elif reader.type in ("array", "map"):
        yield from _differences(reader.parts[0], writer.parts[0], path + "[]", met)


def _field(
    part: SchemaField, writer: Schema, path: str, met: set[tuple[int, int]]
) -> Iterator[tuple[str, str]]:
    where = f"{path}.{part.name}"
    source = next((one for one in writer.fields if one.name == part.name), None)
    source = source or next((one for one in writer.fields if one.name in part.aliases), None)
    if source is not None:
        yield from _differences(part.schema, source.schema, where, met)
    elif not part.has_default:
        yield where, "is new and has no default"


def _reads(reader: Schema, writer: Schema, met: set[tuple[int, int]]) -> bool:
    return next(_differences(reader, writer, "", set(met)), None) is None


def _same_name(reader: Schema, writer: Schema) -> bool:
    """``schemaNameEquals``: without namespaces, or by an alias of the reader."""
    short = reader.name.rpartition(".")[2] == writer.name.rpartition(".")[2]
    return short or writer.name in reader.aliases
