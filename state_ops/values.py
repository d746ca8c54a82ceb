"""Arrow values as JSON, for people and programs that have no Arrow.

Bytes are hexadecimal, times ISO 8601 (a number where it has no calendar date), decimals with a fraction and
numbers that JSON does not know (NaN, Infinity) are strings, maps with string keys are objects and other maps lists of
``{"key", "value"}``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from .not_decoded import UNDECODED

VALUES_HELP = (
    "Bytes are written in hexadecimal, times in ISO 8601 (UTC where Java's type is a moment), decimals as"
    " strings; maps with string keys are objects, other maps lists of key and value. A value that is not decoded is"
    " null, with its bytes as undecoded."
)


#: Made once: ``json.dumps`` makes one for each value.
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def to_json(value: Any) -> str:
    return _ENCODER.encode(value)


def rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a batch, ready for JSON: without ``undecoded`` where all is decoded."""
    names = batch.schema.names
    for row in zip(*(values(column) for column in batch.columns), strict=True):
        yield {n: value for n, value in zip(names, row, strict=True) if value is not None or n != UNDECODED}


def json_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows of a small batch as a list."""
    return list(rows(batch))


def values(array: pa.Array) -> list[Any]:
    """The values of an array, ready for JSON."""
    kind = array.type
    if (
        pa.types.is_null(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_string(kind)
    ):
        plain: list[Any] = array.to_pylist()
        return plain
    if pa.types.is_dictionary(kind):
        return values(array.dictionary_decode())
    if pa.types.is_struct(kind):
        return _structs(array)
    if pa.types.is_map(kind):
        return _maps(array)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _lists(array)
    if pa.types.is_union(kind):
        return [_plain(value) for value in array.to_pylist()]
    if pa.types.is_timestamp(kind):
        return _timestamps(array)
    if pa.types.is_date(kind) or pa.types.is_time(kind):
        return _texts(array, array.cast(pa.string()).to_pylist())
    if pa.types.is_decimal(kind) and kind.scale == 0:
        return [None if value is None else int(value) for value in array.to_pylist()]
    if pa.types.is_duration(kind):
        return list(array.cast(pa.int64()).to_pylist())
    return [_plain(value) for value in array.to_pylist()]


def _plain(value: Any) -> Any:
    match value:
        case bytes():
            return value.hex()
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case None | bool() | int() | float() | str():
            return value
    return str(value)


def _structs(array: pa.StructArray) -> list[Any]:
    names = [field.name for field in array.type]
    columns = [values(array.field(i)) for i in range(len(names))]
    valid = array.is_valid().to_pylist()
    found = zip(*columns, strict=True) if columns else iter([()] * len(array))
    return [dict(zip(names, row, strict=True)) if ok else None for ok, row in zip(valid, found, strict=True)]


def _maps(array: pa.MapArray) -> list[Any]:
    offsets = array.offsets.to_pylist()
    keys, items = values(array.keys), values(array.items)
    by_name = pa.types.is_string(array.type.key_type)
    out: list[Any] = []
    for ok, start, stop in zip(array.is_valid().to_pylist(), offsets[:-1], offsets[1:], strict=True):
        pairs = zip(keys[start:stop], items[start:stop], strict=True)
        if not ok:
            out.append(None)
        elif by_name:
            out.append(dict(pairs))
        else:
            out.append([{"key": key, "value": value} for key, value in pairs])
    return out


def _lists(array: pa.ListArray) -> list[Any]:
    offsets = array.offsets.to_pylist()
    inside = values(array.values)
    valid = array.is_valid().to_pylist()
    bounds = zip(valid, offsets[:-1], offsets[1:], strict=True)
    return [inside[start:stop] if ok else None for ok, start, stop in bounds]


def _timestamps(array: pa.Array) -> list[Any]:
    local = array.cast(pa.timestamp(array.type.unit))  # far from now, times of a zone are written wrongly
    texts = _texts(array, local.cast(pa.string()).to_pylist())
    ending = "Z" if array.type.tz else ""
    return [text.replace(" ", "T") + ending if isinstance(text, str) else text for text in texts]


def _texts(array: pa.Array, texts: list[str | None]) -> list[Any]:
    """``texts``, with the number itself where Arrow finds no date for it."""
    if not any(text and text.startswith("<") for text in texts):
        return list(texts)
    width = pa.int32() if array.type.bit_width == 32 else pa.int64()
    numbers = array.cast(width).to_pylist()
    return [n if text and text.startswith("<") else text for text, n in zip(texts, numbers, strict=True)]
