"""A key as it is typed: plain text or JSON, by the type of the operator's keys."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from ..schemas import types as t
from ..schemas.errors import EncodeError

KEY_HELP = (
    "A string key is written as it is; a number, boolean, or decimal likewise; a time in ISO 8601, bytes in"
    " hexadecimal, an enum by its constant. A tuple is a JSON list, a POJO or row a JSON object of its fields."
)

_NUMBERS = ("byte", "short", "int", "long", "char", "big_integer", "count_window", "flipped_long")


def parse_key(text: str, kind: t.DataType, arrow_type: pa.DataType) -> pa.Array:
    """An array of the one key that ``text`` says. Raises EncodeError that names the type wanted."""
    try:
        value = text if _is_text(kind, arrow_type) else json.loads(text, parse_float=str)
        return pa.array([_value(value, kind, arrow_type)], arrow_type)
    except (ValueError, TypeError, OverflowError, KeyError, pa.ArrowException) as error:
        why = " ".join(str(error).split())
        raise EncodeError(f"the key {text!r} is no {kind}: {why}", todo=_example(kind)) from None


def _is_text(kind: t.DataType, arrow_type: pa.DataType) -> bool:
    if isinstance(kind, t.Scalar):
        if pa.types.is_struct(arrow_type) and kind.name != "big_decimal":  # a time in its parts
            return False
        return kind.name not in (*_NUMBERS, "boolean", "float", "double", "window")
    return isinstance(kind, t.EnumType | t.DecimalType | t.TimestampDataType | t.FixedType)


def _example(kind: t.DataType) -> str:
    match kind:
        case t.TupleType() | t.RowType() | t.RowDataType():
            return f"write a JSON list of {len(kind.fields)} values"
        case t.PojoType():
            names = ", ".join(f'"{field.name}": …' for field in kind.fields)
            return f"write a JSON object {{{names}}}"
        case t.NullableType():
            return 'write it in JSON: null, "text", 1, …'
    return f"write a {kind}"


def _value(value: Any, kind: t.DataType, arrow_type: pa.DataType) -> Any:
    """``value``, from JSON, as pyarrow takes it for ``arrow_type``."""
    if value is None:
        return None
    if pa.types.is_struct(arrow_type):
        return _struct(value, kind, arrow_type)
    if pa.types.is_list(arrow_type):
        if not isinstance(value, list):
            raise TypeError("a JSON list is wanted")
        return [_value(one, kind.children()[0], arrow_type.value_type) for one in value]
    if isinstance(kind, t.Scalar) and kind.name == "big_integer":
        number = int(value)
        return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
    if pa.types.is_binary(arrow_type) or pa.types.is_fixed_size_binary(arrow_type):
        return bytes.fromhex(value)
    if pa.types.is_floating(arrow_type):
        return float(value)
    if pa.types.is_temporal(arrow_type):
        return pa.scalar(value).cast(arrow_type).value if isinstance(value, str) else value
    if pa.types.is_boolean(arrow_type) and not isinstance(value, bool):
        raise TypeError("true or false is wanted")
    if pa.types.is_integer(arrow_type) and (isinstance(value, bool) or not isinstance(value, int)):
        raise TypeError("a whole number is wanted")
    if pa.types.is_dictionary(arrow_type) or pa.types.is_string(arrow_type):
        if not isinstance(value, str):
            raise TypeError("text is wanted")
        return value
    if pa.types.is_decimal(arrow_type):
        from decimal import Decimal

        return Decimal(str(value))
    return value


def _struct(value: Any, kind: t.DataType, arrow_type: pa.StructType) -> dict[str, Any]:
    if isinstance(kind, t.Scalar) and kind.name == "big_decimal":
        from decimal import Decimal

        sign, digits, exponent = Decimal(str(value)).as_tuple()
        number = int("".join(map(str, digits))) * (-1 if sign else 1)
        unscaled = number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
        return {"unscaled": unscaled, "scale": -int(exponent)}
    fields = list(arrow_type)
    typed: dict[str, t.DataType] = {field.name: field.type for field in getattr(kind, "fields", ())}
    if isinstance(value, list):
        names = list(typed) or [field.name for field in fields]
        if len(value) != len(names):
            raise ValueError(f"{len(value)} values for {len(names)} fields")
        value = dict(zip(names, value, strict=True))
    if not isinstance(value, dict):
        raise TypeError("a JSON list or object is wanted")
    unknown = sorted(value.keys() - {field.name for field in fields})
    if unknown:
        raise ValueError(f"it has no field {unknown[0]!r}")
    missing = sorted(typed.keys() - value.keys())
    if missing:
        raise ValueError(f"the field {missing[0]!r} is missing")
    out = {}
    for field in fields:
        if field.name in typed:
            out[field.name] = _value(value[field.name], typed[field.name], field.type)
        else:  # the kind of a row: an insertion unless it is said
            out[field.name] = value.get(field.name, 0 if field.name == "__kind" else None)
    return out
