"""Decoded columns as DuckDB takes them. All but two types it takes as they are.

A ``timestamp[ms, UTC]`` (``java.util.Date``, the stamp of a TTL) becomes TIMESTAMPTZ, which counts microseconds:
what is beyond its range, such as ``new Date(Long.MAX_VALUE)``, becomes infinity instead of failing the query.
A ``duration[ms]`` (SQL's day-time interval) becomes BIGINT: an INTERVAL comes back in nanoseconds, where more than
292 years silently become another time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_MILLIS_UTC = pa.timestamp("ms", "UTC")
_MICROS_UTC = pa.timestamp("us", "UTC")
_INFINITY = (1 << 63) - 1
_LAST_MILLIS = _INFINITY // 1000


def to_duckdb_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of :func:`to_duckdb`'s batches."""
    return pa.schema([pa.field(field.name, _type(field.type)) for field in schema])


def to_duckdb(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """``batch`` with the types of ``schema``, which is ``to_duckdb_schema`` of its own."""
    columns = [_array(column) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _type(kind: pa.DataType) -> pa.DataType:
    if kind == _MILLIS_UTC:
        return _MICROS_UTC
    if pa.types.is_duration(kind):
        return pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(part.name, _type(part.type)) for part in kind])
    if pa.types.is_map(kind):
        return pa.map_(_type(kind.key_type), _type(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(_type(kind.value_type))
    return kind


def _array(array: pa.Array) -> pa.Array:
    kind = _type(array.type)
    if kind == array.type:
        return array
    if array.type == _MILLIS_UTC:
        return _micros(array)
    if pa.types.is_duration(array.type):
        return array.cast(kind)
    if array.offset:
        array = pa.concat_arrays([array])
    nulls = array.is_null() if array.null_count else None
    if pa.types.is_struct(kind):
        children = [_array(array.field(i)) for i in range(kind.num_fields)]
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=nulls)
    if pa.types.is_map(kind):
        return _rebuilt(
            lambda **mask: pa.MapArray.from_arrays(
                array.offsets, _array(array.keys), _array(array.items), type=kind, **mask
            ),
            nulls,
        )
    return _rebuilt(
        lambda **mask: pa.ListArray.from_arrays(array.offsets, _array(array.values), type=kind, **mask), nulls
    )


def _rebuilt(build: Callable[..., pa.Array], nulls: pa.Array | None) -> pa.Array:
    return build() if nulls is None else build(mask=nulls)


def _micros(array: pa.Array) -> pa.Array:
    millis = np.asarray(array.cast(pa.int64()).fill_null(0))
    micros = np.clip(millis, -_LAST_MILLIS, _LAST_MILLIS) * 1000
    micros[millis > _LAST_MILLIS] = _INFINITY
    micros[millis < -_LAST_MILLIS] = -_INFINITY
    return pc.if_else(array.is_valid(), pa.array(micros).cast(_MICROS_UTC), pa.scalar(None, _MICROS_UTC))
