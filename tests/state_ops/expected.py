"""State tables in the JSON of ``expected.json``: what a job's own model says is in the snapshot it took.

Values are plain JSON where that is exact, else an object of one tag (``$tuple``, ``$instant``, …). The way there
follows the state's type, column by column, so that nothing is guessed from how a value looks. JSON texts are
compared, not Python values: there ``1``, ``1.0`` and ``true`` differ, and ``0.0`` and ``-0.0`` too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pyarrow as pa
from statelift.schemas import types as t
from statelift.schemas.codec.codec import Codec
from statelift.schemas.codec.shapes import compile_type

from .expected_kryo import kryo_column

Json = Any
KINDS = ("+I", "-U", "+U", "-D")
_EPOCH = date(1970, 1, 1)
_DAY = 86400 * 10**9


def text(value: Json) -> str:
    """The one text of a JSON value."""
    return json.dumps(value, sort_keys=True)


# -- values ------------------------------------------------------------------------------------------------


def column(node: t.DataType, values: pa.Array) -> list[Json]:
    """The values of an Arrow column of this type."""
    match node:
        case t.Scalar():
            return _scalars(node.name, values)
        case t.TtlType() | t.NullableType() | t.RawDataType():
            return column(node.inner, values)
        case t.EnumType():
            return _tagged("$enum", values.to_pylist())
        case t.TupleType():
            return _present(values, _tagged("$tuple", _rows(node.fields, values)))
        case t.RowType() | t.RowDataType():
            return _present(values, _kinded(node, values))
        case t.PojoType():
            return _pojos(node, values)
        case t.ListType() | t.ArrayDataType():
            lists = _cut(values, column(node.element, _flat(values, values.values)))
            flavour = node.flavour if isinstance(node, t.ListType) else "list"
            return _tagged("$set", map(_sorted, lists)) if flavour == "set" else lists
        case t.MapType() | t.MapDataType():
            keys = column(node.key, _flat(values, values.keys))
            items = column(node.value, _flat(values, values.items))
            pairs = _cut(values, [list(pair) for pair in zip(keys, items, strict=True)])
            return _tagged("$map", map(_sorted, pairs))
        case t.UnionType():
            return _unions(node, values)
        case t.FixedType() | t.SpanType():
            return _tagged("$bytes", _hex(values))
        case t.KryoType() if node.shape is not None:
            return kryo_column(node.shape, values, column)
        case t.DecimalType():
            return [None if one is None else _decimal(one.as_tuple()) for one in values.to_pylist()]
        case t.TimestampDataType():
            if pa.types.is_struct(values.type):
                return _tagged("$timestampdata", _parts(values))
            return _tagged("$timestampdata", [_timestamp_data(one, values.type) for one in _raw(values)])
    raise NotImplementedError(f"no JSON form for {node}")


def _scalars(name: str, values: pa.Array) -> list[Json]:
    wide = pa.types.is_struct(values.type)
    match name:
        case (
            "boolean" | "byte" | "short" | "int" | "long" | "string"
            | "boolean_value" | "long_value" | "string_value" | "string_data"
        ):  # fmt: skip
            return values.to_pylist()
        case "void" | "null" | "tuple0" | "global_window" | "unit" | "nothing":
            return [None] * len(values)
        case "float" | "double" | "double_value":
            return [None if one is None else _double(one) for one in values.to_pylist()]
        case "char":
            return _tagged("$char", values.to_pylist())
        case "bytes" | "bitmap":
            return _tagged("$bytes", _hex(values))
        case "variant":
            pairs = zip(*(_tagged("$bytes", _hex(values.field(i))) for i in range(2)), strict=True)
            return _present(values, _tagged("$variant", map(list, pairs)))
        case "raw_data":
            return _tagged("$raw", _hex(values))
        case "big_integer":
            return _tagged(
                "$bigint", [None if one is None else str(_signed(one)) for one in values.to_pylist()]
            )
        case "big_decimal":
            return [
                None if one is None else {"$decimal": [str(_signed(one["unscaled"])), one["scale"]]}
                for one in values.to_pylist()
            ]
        case "days" | "months" | "day_time_millis" | "millis_of_day" | "micros_of_day":
            return _raw(values)
        case (
            "timestamp_millis" | "timestamp_micros" | "timestamp_nanos"
            | "timestamp_millis_utc" | "timestamp_micros_utc" | "timestamp_nanos_utc"
        ):  # fmt: skip
            return _raw(values)
        case "window":
            return _tagged("$window", _parts(values))
        case "date" | "sql_date" | "sql_time":
            return _tagged("$" + name.replace("_", ""), _raw(values))
        case "sql_timestamp":
            parts = _parts(values) if wide else [_split(one, 10**6, 10**9) for one in _raw(values)]
            return _tagged("$sqltimestamp", parts)
        case "instant":
            parts = _parts(values) if wide else [_split(one, 10**9, 10**9) for one in _raw(values)]
            return _tagged("$instant", parts)
        case "local_date":
            return _tagged("$localdate", _parts(values) if wide else [*map(_day, _raw(values))])
        case "local_time":
            return _tagged("$localtime", [*map(_time, _raw(values))])
        case "local_date_time":
            return _tagged(
                "$localdatetime", _wide_times(values) if wide else [*map(_date_time, _raw(values))]
            )
    raise NotImplementedError(f"no JSON form for {name}")


def _tagged(tag: str, values: Iterable[Json]) -> list[Json]:
    return [None if one is None else {tag: one} for one in values]


def _present(values: pa.Array, converted: list[Json]) -> list[Json]:
    return [one if there else None for one, there in zip(converted, _valid(values), strict=True)]


def _valid(values: pa.Array) -> list[bool]:
    return values.is_valid().to_pylist()  # type: ignore[no-any-return]


def _rows(fields: Iterable[t.Field], values: pa.Array) -> list[list[Json]]:
    columns = [column(part.type, values.field(part.name)) for part in fields]
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in range(len(values))]


def _kinded(node: t.RowType | t.RowDataType, values: pa.Array) -> Iterator[Json]:
    tag = "$row" if isinstance(node, t.RowType) else "$rowdata"
    kinds = values.field("__kind").to_pylist()
    raw = {
        i: iter(_raw_bytes(part.type.inner, values.field(part.name)))
        for i, part in enumerate(node.fields)
        if isinstance(node, t.RowDataType) and isinstance(part.type, t.RawDataType)
    }
    for kind, row in zip(kinds, _rows(node.fields, values), strict=True):
        for i, held in raw.items():
            row[i] = next(held)
        yield {tag: row, "kind": KINDS[kind or 0]}


def _raw_bytes(inner: t.DataType, values: pa.Array) -> Iterator[Json]:
    """RAW in rows, as the bytes of its serializer; nothing of ``NullSerializer``."""
    written = Codec(compile_type(inner)).encode(values.drop_null())
    held = iter(written.to_pylist())
    for there in values.is_valid().to_pylist():
        yield {"$raw": next(held).hex()} if there else None


def _pojos(node: t.PojoType, values: pa.Array) -> list[Json]:
    """A subclass's field is in the column of its name, or in ``name@Class`` where that has another type."""
    names = {values.type.field(i).name for i in range(values.type.num_fields)}
    classes = values.field("__class").to_pylist() if "__class" in names else [None] * len(values)
    subclasses = {part.name: part.type for part in (*node.registered, *node.non_registered)}
    result: list[Json] = [None] * len(values)
    for name in {*classes}:
        one = node if name is None else subclasses[name]
        assert isinstance(one, t.PojoType)
        at = {part.name: f"{part.name}@{name}" for part in one.fields if f"{part.name}@{name}" in names}
        chosen = pa.array([i for i, c in enumerate(classes) if c == name], pa.int64())
        fields = {
            part.name: column(part.type, values.field(at.get(part.name, part.name)).take(chosen))
            for part in one.fields
        }
        for row, i in enumerate(chosen.to_pylist()):
            own = {field: parts[row] for field, parts in fields.items()}
            result[i] = {"$object": name or node.class_name, "fields": own}
    return _present(values, result)


def _flat(values: pa.Array, children: pa.Array) -> pa.Array:
    """The children that lists or maps have, one list's after the other's."""
    return pa.ListArray.from_arrays(values.offsets.cast(pa.int32()), children).flatten()


def _cut(values: pa.Array, flat: list[Json]) -> list[Json]:
    offsets = values.offsets.to_numpy()
    ends = (offsets - offsets[0]).tolist()
    return _present(values, [flat[start:end] for start, end in pairwise(ends)])


def _sorted(values: list[Json] | None) -> list[Json] | None:
    return None if values is None else sorted(values, key=text)


def _unions(node: t.UnionType, values: pa.Array) -> list[Json]:
    names = [part.name for part in node.alternatives]
    columns = {part.name: column(part.type, values.field(part.name)) for part in _shown(node, values)}
    tags = values.field("__tag").to_pylist() if _has(values, "__tag") else [None] * len(values)
    in_band = next((n for n in names if n in columns and _null_in_band(node, n)), names[0])
    result = []
    for row, tag in enumerate(tags):
        set_ = [name for name, parts in columns.items() if parts[row] is not None]
        assert len(set_) <= 1
        name = names[tag] if tag is not None else set_[0] if set_ else in_band
        value = columns[name][row] if name in columns else None
        result.append(_alternative(name, value))
    return _present(values, result)


def _alternative(name: str, value: Json) -> Json:
    if name == "timestamped":
        return {"$streamrecord": value["$tuple"]}
    return {f"${name}": value}


def _shown(node: t.UnionType, values: pa.Array) -> list[t.Field]:
    return [part for part in node.alternatives if _has(values, part.name)]


def _has(values: pa.Array, name: str) -> bool:
    return bool(values.type.get_field_index(name) >= 0)


def _null_in_band(node: t.UnionType, name: str) -> bool:
    kind = next(part.type for part in node.alternatives if part.name == name)
    return isinstance(kind, t.PojoType | t.NullableType) or str(kind) in (
        "string",
        "big_integer",
        "big_decimal",
    )


def _double(value: float) -> Json:
    if math.isnan(value):
        return {"$double": "NaN"}
    return {"$double": "Infinity" if value > 0 else "-Infinity"} if math.isinf(value) else value


def _hex(values: pa.Array) -> list[str | None]:
    return [None if one is None else one.hex() for one in values.to_pylist()]


def _signed(raw: bytes) -> int:
    return int.from_bytes(raw, "big", signed=True)


def _decimal(parts: Any) -> Json:
    unscaled = int("".join(map(str, parts.digits))) * (-1 if parts.sign else 1)
    return {"$decimal": [str(unscaled), -parts.exponent]}


def _raw(values: pa.Array) -> list[int | None]:
    """The numbers that times are stored as."""
    width = pa.int32() if values.type.bit_width == 32 else pa.int64()
    return values.view(width).to_pylist()  # type: ignore[no-any-return]


def _parts(values: pa.Array) -> list[list[int] | None]:
    return [None if one is None else list(one.values()) for one in values.to_pylist()]


def _split(value: int | None, first: int, second: int) -> list[int] | None:
    return None if value is None else [value // first, value % second]


def _timestamp_data(value: int | None, kind: pa.DataType) -> list[int] | None:
    per_milli = {"ms": 1, "us": 10**3, "ns": 10**6}[kind.unit]
    return None if value is None else [value // per_milli, value % per_milli * (10**6 // per_milli)]


def _day(value: int | None) -> list[int] | None:
    if value is None:
        return None
    day = _EPOCH + timedelta(days=value)
    return [day.year, day.month, day.day]


def _time(nanos: int | None) -> list[int] | None:
    if nanos is None:
        return None
    seconds, nano = divmod(nanos, 10**9)
    return [seconds // 3600, seconds // 60 % 60, seconds % 60, nano]


def _date_time(nanos: int | None) -> list[int] | None:
    if nanos is None:
        return None
    return [*(_day(nanos // _DAY) or ()), *(_time(nanos % _DAY) or ())]


def _wide_times(values: pa.Array) -> list[list[int] | None]:
    return [
        None if one is None else [one["year"], one["month"], one["day"], *(_time(one["nano_of_day"]) or ())]
        for one in values.to_pylist()
    ]
