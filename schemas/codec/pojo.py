"""POJOs with subclasses: one struct of the base class's fields, the class, and what the subclasses add.

``__class`` is null for the base class itself. A field that subclasses share under one name and type is one column;
where the type differs it is ``name@Class``. The wire order is each class's own, by field name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from .. import types as t
from ..wire import Writer
from . import ops
from .program import EnumShape, Shape, StructShape

if TYPE_CHECKING:
    from .shapes import Builder

CLASS_COLUMN = "__class"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subclass:
    """A class that values may be of: ``tag`` is its number if it was registered, ``columns`` where its fields go."""

    class_name: str
    tag: int | None
    fields: tuple[t.Field, ...]
    columns: tuple[str, ...]


def subclasses(node: t.PojoType) -> tuple[Subclass, ...]:
    """The subclasses of ``node`` that can be decoded, registered ones first."""
    known: dict[str, t.DataType] = {part.name: part.type for part in node.fields}
    result = []
    tagged = [(tag, part) for tag, part in enumerate(node.registered)]
    for tag, part in [*tagged, *((None, part) for part in node.non_registered)]:
        if not isinstance(part.type, t.PojoType):
            continue
        columns = []
        for own in part.type.fields:
            name = own.name if known.get(own.name, own.type) == own.type else f"{own.name}@{part.name}"
            known[name] = own.type
            columns.append(name)
        result.append(
            Subclass(class_name=part.name, tag=tag, fields=part.type.fields, columns=tuple(columns))
        )
    return tuple(result)


def compile_pojo(builder: Builder, node: t.PojoType, last: bool) -> Shape:
    classes = subclasses(node)
    valid = builder.slot(1)
    if not classes:
        at = builder.emit(ops.POJO, valid)
        final = len(node.fields) - 1
        shapes = [_field(builder, part, last and i == final) for i, part in enumerate(node.fields)]
        shape = _struct([part.name for part in node.fields], shapes, valid)
        builder.null_path(at, shape)
        return shape
    return _with_subclasses(builder, node, classes, valid)


def _with_subclasses(builder: Builder, node: t.PojoType, classes: tuple[Subclass, ...], valid: int) -> Shape:
    index, known = builder.slot(4), builder.slot(1)
    at = builder.emit(ops.POJO, valid, 0, len(classes), index, known)
    cases = []
    for one in classes:
        writer = Writer()
        writer.utf(one.class_name)
        raw = writer.getvalue()
        start = builder.constant(raw)
        cases.append(builder.emit(ops.CASE, 0, -1 if one.tag is None else one.tag, start, len(raw)))
    columns: dict[str, Shape] = {}
    slots: dict[str, list[int]] = {}
    jumps = []
    own = tuple(part.name for part in node.fields)
    bodies: list[tuple[int | None, tuple[t.Field, ...], tuple[str, ...]]] = [(None, node.fields, own)]
    bodies += [(case, one.fields, one.columns) for case, one in zip(cases, classes, strict=True)]
    for case, fields, names in bodies:
        if case is not None:
            builder.patch(case, 1, len(builder.code))
            builder.emit(ops.EXPECT, 2)  # the subclass's own serializer writes its own flags
        for part, name in zip(fields, names, strict=True):
            _into_column(builder, part, name, columns, slots)
        jumps.append((builder.emit(ops.JUMP), names))
    end = len(builder.code)
    for jump, names in jumps:
        builder.fill_others(jump, [shape for name, shape in columns.items() if name not in names], end)
    kind = pa.dictionary(pa.int32(), pa.string())
    constants = tuple(one.class_name for one in classes)
    marker = EnumShape(arrow_type=kind, slot=index, constants=constants, valid=known)
    shape = _struct([CLASS_COLUMN, *columns], [marker, *columns.values()], valid)
    builder.null_path(at, shape)
    return shape


def _into_column(
    builder: Builder, part: t.Field, name: str, columns: dict[str, Shape], slots: dict[str, list[int]]
) -> None:
    if name in columns:
        builder.again(slots[name], lambda: _field(builder, part, False))
    else:
        columns[name], slots[name] = builder.recorded(lambda: _field(builder, part, False))


def _field(builder: Builder, part: t.Field, last: bool) -> Shape:
    return builder.flagged(lambda: builder.node(part.type, last), 1)


def _struct(names: list[str], children: list[Shape], valid: int) -> StructShape:
    kind = pa.struct([pa.field(name, child.arrow_type) for name, child in zip(names, children, strict=True)])
    return StructShape(arrow_type=kind, names=tuple(names), children=tuple(children), valid=valid)
