"""Types that hold themselves to rows of :mod:`.ops` that step over a value: no column holds one, its bytes do.

Only Avro's schemas make such types, so the rows are of Avro's layout (spec "serializers" 2.12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .. import types as t
from ..errors import PlanError
from . import ops

if TYPE_CHECKING:
    from .shapes import Builder

_WIDTHS: dict[str, int] = {
    "null": 0, "boolean": 1, "int": 4, "long": 8, "float": 4, "double": 8, "days": 4, "millis_of_day": 4,
    "micros_of_day": 8, "timestamp_millis": 8, "timestamp_micros": 8, "timestamp_nanos": 8,
    "timestamp_millis_utc": 8, "timestamp_micros_utc": 8, "timestamp_nanos_utc": 8,
}  # fmt: skip
_FRAMED = ("string_data", "bytes")


@dataclass(slots=True)
class SpanRows:
    """Emits the rows of a type into the code of ``builder``. ``around``: the rows of the types around it, by name."""

    builder: Builder
    around: dict[str, int] = field(default_factory=dict)

    def compile(self, node: t.SpanType) -> int:
        """The row where a value begins."""
        assert node.body is not None
        skipped = self.builder.emit(ops.SPAN_GOTO)
        first = len(self.builder.code)
        outer, self.around = self.around, {**self.around, node.class_name: first}
        self._value(node.body)
        self.builder.emit(ops.SPAN_RETURN)
        self.around = outer
        self.builder.patch(skipped, 1, len(self.builder.code))
        return first

    def _value(self, node: t.DataType) -> None:
        match node:
            case t.Scalar() if node.name in _FRAMED:
                self.builder.emit(ops.SPAN_FRAMED)
            case t.Scalar() if node.name in _WIDTHS:
                self.builder.emit(ops.SPAN_BYTES, _WIDTHS[node.name])
            case t.EnumType():
                self.builder.emit(ops.SPAN_BYTES, 4)
            case t.FixedType() | t.DecimalType(storage="fixed"):
                self.builder.emit(ops.SPAN_BYTES, node.size)
            case t.DecimalType(storage="bytes"):
                self.builder.emit(ops.SPAN_FRAMED)
            case t.TupleType():
                for part in node.fields:
                    self._value(part.type)
            case t.ListType(framing="block"):
                self._block([node.element])
            case t.MapType(framing="block"):
                self._block([node.key, node.value])
            case t.NullableType(flag="null_first"):
                self._branches([t.scalar("null"), node.inner])
            case t.NullableType(flag="null_second"):
                self._branches([node.inner, t.scalar("null")])
            case t.UnionType(tag_width=4):
                self._branches(node.children())
            case t.SpanType():
                row = self.around[node.class_name] if node.body is None else self.compile(node)
                self.builder.emit(ops.SPAN_CALL, row)
            case _:
                raise PlanError(f"{node} is no type of Avro's")

    def _block(self, parts: Sequence[t.DataType]) -> None:
        at = self.builder.emit(ops.SPAN_BLOCK)
        for part in parts:
            self._value(part)
        self.builder.emit(ops.SPAN_NEXT)
        self.builder.patch(at, 1, len(self.builder.code))

    def _branches(self, branches: Sequence[t.DataType]) -> None:
        self.builder.emit(ops.SPAN_BRANCH, len(branches))
        starts = [self.builder.emit(ops.SPAN_GOTO) for _ in branches]
        ends = []
        for start, branch in zip(starts, branches, strict=True):
            self.builder.patch(start, 1, len(self.builder.code))
            self._value(branch)
            ends.append(self.builder.emit(ops.SPAN_GOTO))
        for end in ends:
            self.builder.patch(end, 1, len(self.builder.code))
