"""PyFlink's type informations as texts, and how its coders lay values of them out (spec "serializers", 7).

A state of a Python job in process mode is byte arrays to Flink: which coder wrote them only the job knows, so the
user says it as the job does, ``ValueStateDescriptor('last', Types.ROW_NAMED(['name', 'n'], [Types.STRING(),
Types.INT()]))`` or the type alone. Nothing is evaluated, and a pickle stays bytes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from . import types as t
from .errors import PlanError

_SCALARS: dict[str, t.ScalarName] = {
    "BOOLEAN": "boolean", "BYTE": "byte", "SHORT": "short", "INT": "int", "LONG": "long", "BIG_INT": "long",
    "FLOAT": "float", "DOUBLE": "double", "STRING": "string_data", "CHAR": "string_data", "BIG_DEC": "string_data",
    "SQL_DATE": "days", "SQL_TIME": "millis_of_day", "SQL_TIMESTAMP": "timestamp_millis", "INSTANT": "instant",
    "LOCAL_DATE": "local_date", "LOCAL_TIME": "local_time", "LOCAL_DATE_TIME": "local_date_time",
    "PICKLED_BYTE_ARRAY": "bytes",
}  # fmt: skip


PythonKind = Literal["value", "list", "map"]

#: By the state descriptor its kind on the side of Python, and how many arguments come before its types.
_DESCRIPTORS: dict[str, tuple[PythonKind, int]] = {
    "ValueStateDescriptor": ("value", 1), "ReducingStateDescriptor": ("value", 2),
    "AggregatingStateDescriptor": ("value", 2), "ListStateDescriptor": ("list", 1), "MapStateDescriptor": ("map", 1),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonState:
    """What a state holds: of a list its element, of a map a MapType. ``kind`` is None where only a type was said."""

    type: t.DataType
    kind: PythonKind | None = None


def python_state(text: str) -> PythonState:
    """A state as its descriptor says it, or its type information alone. Raises PlanError for what is neither."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if _called(call) not in _DESCRIPTORS:
            return PythonState(type=_type(call))
        assert isinstance(call, ast.Call)
        kind, before = _DESCRIPTORS[_called(call)]
        types = call.args[before:]
        if call.keywords or len(types) != (2 if kind == "map" else 1):
            raise ValueError
        return PythonState(type=_map(types) if kind == "map" else _type(*types), kind=kind)
    except (SyntaxError, ValueError, TypeError, IndexError, RecursionError, MemoryError):
        what = "no state descriptor or type information of PyFlink"
        raise PlanError(
            f"{text!r} is {what}", todo="write ValueStateDescriptor('name', Types.STRING())"
        ) from None


def _called(node: ast.expr) -> str:
    """The name of what is called, without its module; empty where nothing is."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _type(node: ast.expr) -> t.DataType:
    if not isinstance(node, ast.Call) or node.keywords:
        raise ValueError
    name = _called(node)
    if name in _SCALARS and not node.args:
        return t.scalar(_SCALARS[name])
    rule = _RULES.get(name)
    if rule is None:
        raise PlanError(f"Types.{name} is not read here", todo=f"known: {', '.join([*_SCALARS, *_RULES])}")
    return rule(node.args)


def _primitive_array(args: list[ast.expr]) -> t.DataType:
    element = _type(*args)
    return t.scalar("bytes") if element == t.scalar("byte") else t.ListType(element=element, flavour="array")


def _list(args: list[ast.expr]) -> t.DataType:
    return t.ListType(element=_type(*args), element_flag="is_present")


def _map(args: list[ast.expr]) -> t.DataType:
    key, value = args
    return t.MapType(key=_type(key), value=_type(value))


def _tuple(args: list[ast.expr]) -> t.DataType:
    return t.TupleType(class_name=f"{t.JAVA_TUPLE}{len(_types(*args))}", fields=_numbered(_types(*args)))


def _row(args: list[ast.expr]) -> t.DataType:
    return t.RowType(fields=_numbered(_types(*args)))


def _row_named(args: list[ast.expr]) -> t.DataType:
    names, types = ast.literal_eval(args[0]), _types(*args[1:])
    if not all(isinstance(name, str) for name in names) or len(names) != len(types):
        raise ValueError
    return t.RowType(
        fields=tuple(t.Field(name=name, type=one) for name, one in zip(names, types, strict=True))
    )


def _types(node: ast.expr) -> list[t.DataType]:
    if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
        raise ValueError
    return [_type(one) for one in node.elts]


def _numbered(types: list[t.DataType]) -> tuple[t.Field, ...]:
    return tuple(t.Field(name=f"f{i}", type=one) for i, one in enumerate(types))


_RULES: dict[str, Callable[[list[ast.expr]], t.DataType]] = {
    "PRIMITIVE_ARRAY": _primitive_array,
    "OBJECT_ARRAY": _list,
    "BASIC_ARRAY": _list,
    "LIST": _list,
    "MAP": _map,
    "TUPLE": _tuple,
    "ROW": _row,
    "ROW_NAMED": _row_named,
}
