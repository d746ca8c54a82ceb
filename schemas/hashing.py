"""Where a key belongs: Java's ``hashCode`` of whole columns, and Flink's key group of a hash.

Spec "savepoint format", sections 4.1 and 4.2. A hash is computed only where every JVM computes the same one
from the value alone; :func:`stability` says why it is not for the rest, and then a key group can only be taken
over from the snapshot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from . import types as t
from .codec.codec import Codec
from .codec.columns import binary_parts
from .codec.shapes import compile_type
from .errors import EncodeError
from .hash_kernels import fold_lists, hash_big_integers, hash_binary_rows, hash_strings

Hashes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]
_Number = TypeVar("_Number", np.int32, np.int64, np.float32, np.float64)

_JAVA_TUPLE = "org.apache.flink.api.java.tuple.Tuple"
_NANOS = 1_000_000_000
SIZE_BYTES = 4
"""Of a SQL row: its size, in front of it."""
_DAY_NANOS = 86_400 * _NANOS


def key_groups(hashes: Hashes, max_parallelism: int) -> npt.NDArray[np.int32]:
    """``KeyGroupRangeAssignment.assignToKeyGroup``: int32 key groups in [0, max_parallelism) of int32 hashes."""
    code = hashes.astype(np.uint32) * np.uint32(0xCC9E2D51)
    code = (code << np.uint32(15) | code >> np.uint32(17)) * np.uint32(0x1B873593)
    code = (code << np.uint32(13) | code >> np.uint32(19)) * np.uint32(5) + np.uint32(0xE6546B64)
    code ^= np.uint32(4)
    code = (code ^ code >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    code = (code ^ code >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    signed = (code ^ code >> np.uint32(16)).view(np.int32).astype(np.int64)
    positive = np.where(signed == -0x80000000, 0, np.abs(signed))
    return (positive % max_parallelism).astype(np.int32)


def stability(node: t.DataType) -> str | None:
    """Why the hash of a key of this type cannot be computed, or None where it can."""
    return _unstable(node, in_row=False)


def _unstable(node: t.DataType, in_row: bool) -> str | None:
    match node:
        case t.Scalar():
            if node.name == "bytes" and not in_row:
                return "an array hashes by its identity"
            if node.name in _UNHASHED:
                return f"{node.name} is not a key type"
            return None
        case t.PojoType():
            return f"the hashCode of {node.class_name} is the user's"
        case t.EnumType() if not node.of_scala:
            return f"the enum {node.class_name} hashes by its identity"
        case t.TupleType() if not node.class_name.startswith(_JAVA_TUPLE):
            return f"the hashCode of {node.class_name or 'this composite'} is its own"
        case t.ListType() if node.flavour == "array" and not in_row:
            return "an array hashes by its identity"
        case t.ListType() if node.flavour == "list" and node.element_flag == "is_present":
            return "a collection of Scala hashes in a way of its own"
        case t.NullableType() if node.flag == "is_present":
            return "the hashCode of scala.Option differs between Scala versions"
        case t.RowDataType():
            opaque = t.opaque_in(node)
            return f"{opaque.class_name} is opaque: {opaque.reason}" if opaque else None
        case t.RowType() if not node.supports_row_kind:
            reasons = (_unstable(_in_arrays(child), in_row=False) for child in node.children())
            return next((reason for reason in reasons if reason), None)
        case t.RowType():
            in_row = True
        case t.TupleType():
            # A row looks into arrays, lists and maps; a tuple asks its fields, and an array then gives its identity.
            in_row = False
        case t.EnumType() | t.ListType() | t.MapType() | t.NullableType():
            pass
        case t.KryoType(shape=t.JavaType(name="uuid")):
            return None
        case t.OpaqueType():
            return f"{node.class_name} is opaque: {node.reason}"
        case _:
            return f"{node} is not a key type"
    reasons = (_unstable(child, in_row) for child in node.children())
    return next((reason for reason in reasons if reason), None)


def may_have_names(node: t.DataType) -> bool:
    """Whether there is a ``Row`` in a key: one with named fields hashes by the names, which no snapshot has, and one of
    Flink 1.11, where no row has names, by other rules than those of 1.12."""
    named = isinstance(node, t.RowType) and node.supports_row_kind
    return named or any(map(may_have_names, node.children()))


def _in_arrays(node: t.DataType) -> t.DataType:
    """What is in arrays of arrays of it, which ``Arrays.deepHashCode`` looks into; bytes are an array of numbers."""
    while isinstance(node, t.ListType) and node.flavour == "array":
        node = node.element
    return t.scalar("byte") if node == t.scalar("bytes") else node


def java_hash(array: pa.Array, node: t.DataType) -> Hashes | None:
    """``hashCode`` of each element (null is 0) as Java computes it, or None where :func:`stability` says why not.

    ``array`` is as the codec of ``node`` decodes it. Rows are hashed as positional ones, which is what
    ``RowSerializer`` reads where it knows no field names.
    """
    return None if stability(node) else _hash(array, node)


def binary_row_hash(data: Bytes, starts: Positions, ends: Positions) -> Hashes:
    """``BinaryRowData.hashCode`` of the rows [starts[i], ends[i]) of ``data``, without their size prefix."""
    out = np.empty(len(starts), np.int32)
    hash_binary_rows(data, np.ascontiguousarray(starts), np.ascontiguousarray(ends), out)
    return out


def _hash(array: pa.Array, node: t.DataType) -> Hashes:
    match node:
        case t.Scalar():
            hashes = _scalar(array, node.name)
        case t.EnumType():
            ids = pc.index_in(array.cast(pa.string()), pa.array(node.constants, pa.string()))
            hashes = _numbers(ids, np.int32)
        case t.TupleType():
            hashes = _fold([_hash(array.field(i), c) for i, c in enumerate(node.children())], len(array), 0)
        case t.RowType():
            hashes = _row(array, node)
        case t.RowDataType():
            hashes = _row_data(array, node)
        case t.ListType() if node.flavour == "set":
            elements, offsets = _elements(array)
            hashes = _folded(_hash(elements, node.element), offsets, 0, 1)
        case t.ListType():
            elements, offsets = _elements(array)
            hashes = _folded(_hash(elements, node.element), offsets, 1, 31)
        case t.MapType():
            entries, offsets = _elements(array)
            both = _hash(entries.field(0), node.key) ^ _hash(entries.field(1), node.value)
            hashes = _folded(both, offsets, 0, 1)
        case t.NullableType():
            hashes = _hash(array, node.inner)
        case t.KryoType():
            hashes = _uuids(array)
        case _:
            raise AssertionError(node)
    return _masked(hashes, array)


def _uuids(array: pa.Array) -> Hashes:
    """``UUID.hashCode`` of UUIDs as text: its four words, one xor the other. Raises EncodeError for other text."""
    data, offsets = binary_parts(pc.replace_substring(array.fill_null("0" * 32), "-", ""))
    try:
        raw = bytes.fromhex(data[offsets[0] : offsets[-1]].tobytes().decode())
        words = np.frombuffer(raw, ">i4").astype(np.int32).reshape(len(array), 4)
    except ValueError:
        raise EncodeError("a UUID has 32 hexadecimal digits") from None
    hashes: Hashes = np.bitwise_xor.reduce(words, axis=1)
    return hashes


def _row(array: pa.Array, node: t.RowType) -> Hashes:
    if not node.supports_row_kind:
        parts = [_array_hash(array.field(i), c) for i, c in enumerate(node.children())]
        return _fold(parts, len(array), 1)
    fields = [_deep_hash(array.field(1 + i), c) for i, c in enumerate(node.children())]
    hashes = _fold(fields, len(array), 1)
    hashes += _numbers(array.field(0), np.int32) * np.int32(31)
    return hashes


def _array_hash(array: pa.Array, node: t.DataType) -> Hashes:
    """What a field adds to its row's hash up to Flink 1.10, as an element to ``Arrays.deepHashCode``."""
    match node:
        case t.Scalar(name="bytes"):
            data, offsets = _binary(array)
            return _masked(_folded(data.view(np.int8).astype(np.int32), offsets, 1, 31), array)
        case t.ListType() if node.flavour == "array":
            elements, offsets = _elements(array)
            return _masked(_folded(_array_hash(elements, node.element), offsets, 1, 31), array)
        case t.NullableType():
            return _array_hash(array, node.inner)
    return _hash(array, node)


def _row_data(array: pa.Array, node: t.RowDataType) -> Hashes:
    """``BinaryRowData.hashCode``, of the bytes that Flink's ``BinaryRowWriter`` gives the row."""
    program = compile_type(node, wide_times=_has_parts(array.type, node))
    there = np.flatnonzero(array.is_valid())
    data, offsets = binary_parts(Codec(program).encode(array.take(pa.array(there)), "key"))
    hashes = np.zeros(len(array), np.int32)
    hashes[there] = binary_row_hash(data, offsets[:-1] + SIZE_BYTES, offsets[1:])
    return hashes


def _has_parts(kind: pa.DataType, node: t.DataType) -> bool:
    """Whether the array type of a SQL value is that of ``wide_times``."""
    match node:
        case t.TimestampDataType():
            return bool(pa.types.is_struct(kind))
        case t.RowDataType():
            return any(_has_parts(kind.field(i + 1).type, one) for i, one in enumerate(node.children()))
        case t.ArrayDataType():
            return _has_parts(kind.value_type, node.element)
        case t.MapDataType():
            return _has_parts(kind.key_type, node.key) or _has_parts(kind.item_type, node.value)
    return False


def _deep_hash(array: pa.Array, node: t.DataType) -> Hashes:
    """``RowUtils.deepHashCodeInternal``: what a field adds to its row's hash."""
    match node:
        case t.Scalar() if node.name == "bytes":
            data, offsets = _binary(array)
            hashes = _folded(data.view(np.int8).astype(np.int32), offsets, 1, 31) + np.int32(31)
        case t.ListType() if node.flavour != "set":
            elements, offsets = _elements(array)
            # Arrays of primitives go to Arrays.hashCode, those of objects and lists into their elements.
            primitive = node.flavour == "array" and _is_primitive_array(node)
            inner = _hash(elements, node.element) if primitive else _deep_hash(elements, node.element)
            hashes = _folded(inner, offsets, 1, 31)
            if primitive:
                hashes += np.int32(31)
        case t.MapType():
            entries, offsets = _elements(array)
            both = _deep_hash(entries.field(0), node.key) ^ _deep_hash(entries.field(1), node.value)
            hashes = _folded(both, offsets, 0, 1) + np.int32(1)
        case t.NullableType():
            return _deep_hash(array, node.inner)
        case _:
            hashes = _hash(array, node) + np.int32(31)
    return _masked(hashes, array)


def _is_primitive_array(node: t.ListType) -> bool:
    return node.element_flag == "none" and node.element != t.scalar("string")


def _fold(parts: list[Hashes], length: int, first: int) -> Hashes:
    hashes = np.full(length, first, np.int32)
    for part in parts:
        hashes = hashes * np.int32(31) + part
    return hashes


def _folded(elements: Hashes, offsets: Positions, first: int, factor: int) -> Hashes:
    out = np.empty(len(offsets) - 1, np.int32)
    fold_lists(elements, offsets, first, factor, out)
    return out


def _masked(hashes: Hashes, array: pa.Array) -> Hashes:
    if array.null_count == 0:
        return hashes
    return np.where(array.is_valid().to_numpy(zero_copy_only=False), hashes, np.int32(0))


# -- scalars -----------------------------------------------------------------------------------------------

_INTEGERS = ("byte", "short", "int", "char")
_MILLIS = ("date", "sql_date", "sql_time")
_UNHASHED = (
    "void", "null", "window", "global_window", "count_window", "string_data", "tuple0", "variant",
    "bitmap", "raw_data", "flipped_long", "unit", "nothing",
    # Parts of SQL rows, which hash as a whole, and of Avro records, whose hash is their own.
    "days", "millis_of_day", "micros_of_day", "months", "day_time_millis", "timestamp_millis", "timestamp_micros",
    "timestamp_nanos", "timestamp_millis_utc", "timestamp_micros_utc", "timestamp_nanos_utc",
)  # fmt: skip


def _scalar(array: pa.Array, name: str) -> Hashes:
    if name in ("string", "string_value"):
        return _of_bytes(array, hash_strings)
    if name in _INTEGERS:
        return _numbers(array, np.int32)
    if name == "boolean_value":
        return _numbers(array.cast(pa.uint8()), np.int32)
    if name == "boolean":
        flags = array.fill_null(False).to_numpy(zero_copy_only=False)
        return np.where(flags, np.int32(1231), np.int32(1237))
    if name == "float":
        return _canonical(_numbers(array, np.float32)).view(np.int32)
    if name == "double_value":
        return _scalar(array, "double") + np.int32(31)
    if name == "double":
        return _long(_canonical(_numbers(array, np.float64)).view(np.int64))
    if name == "long_value":
        return _long(_numbers(array, np.int64)) + np.int32(43)
    if name == "big_integer":
        return _of_bytes(array, hash_big_integers)
    if name == "big_decimal":
        return _of_bytes(array.field(0), hash_big_integers) * np.int32(31) + _numbers(
            array.field(1), np.int32
        )
    return _temporal(array, name)


def _temporal(array: pa.Array, name: str) -> Hashes:
    if pa.types.is_struct(array.type):
        return _wide(array, name)
    if name == "local_date":
        return _local_date(_numbers(array.cast(pa.int32()), np.int64))
    units = _numbers(array.cast(pa.int64()), np.int64)
    if name == "sql_timestamp":
        return _long(units // 1_000_000)
    if name == "instant":
        seconds = units // _NANOS
        return _long(seconds) + ((units - seconds * _NANOS) * 51).astype(np.int32)
    if name == "local_date_time":
        days = units // _DAY_NANOS
        return _local_date(days) ^ _long(units - days * _DAY_NANOS)
    return _long(units)  # a long, milliseconds of a Date, nanoseconds of a LocalTime


def _wide(array: pa.StructArray, name: str) -> Hashes:
    """Times in parts, as ``wide_times`` gives them."""
    parts = [_numbers(array.field(i), np.int64) for i in range(array.type.num_fields)]
    match name:
        case "sql_timestamp":
            return _long(parts[0])
        case "instant":
            return _long(parts[0]) + (parts[1] * 51).astype(np.int32)
        case "local_date":
            return _date(*parts)
    return _date(*parts[:3]) ^ _long(parts[3])


def _local_date(days: npt.NDArray[np.int64]) -> Hashes:
    """``LocalDate.hashCode`` of days since the epoch."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    year = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    month = months.astype(np.int64) - (year - 1970) * 12 + 1
    day = (dates - months).astype(np.int64) + 1
    return _date(year, month, day)


def _date(year: npt.NDArray[np.int64], month: npt.NDArray[np.int64], day: npt.NDArray[np.int64]) -> Hashes:
    """``LocalDate.hashCode``."""
    value: npt.NDArray[np.int64] = year & 0xFFFFF800 ^ ((year << 11) + (month << 6) + day)
    return value.astype(np.int32)


def _long(values: npt.NDArray[np.int64]) -> Hashes:
    folded = values.view(np.uint64) ^ (values.view(np.uint64) >> np.uint64(32))
    return folded.astype(np.uint32).view(np.int32)


def _canonical(values: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """``floatToIntBits``: all NaN are one."""
    values[np.isnan(values)] = np.nan
    return values


def _numbers(array: pa.Array, dtype: type[_Number]) -> npt.NDArray[_Number]:
    """The values as ``dtype``, with 0 for null."""
    if array.null_count:
        array = array.fill_null(pa.scalar(0, array.type))
    return np.array(array.to_numpy(zero_copy_only=False), dtype=dtype)


def _of_bytes(array: pa.Array, kernel: Callable[[Bytes, Positions, Hashes], None]) -> Hashes:
    data, offsets = _binary(array)
    out = np.empty(len(array), np.int32)
    kernel(data, offsets, out)
    return out


def _binary(array: pa.Array) -> tuple[Bytes, Positions]:
    array = array.cast(pa.large_binary())
    _, offsets, data = array.buffers()
    if offsets is None or not len(array):
        return np.empty(0, np.uint8), np.zeros(len(array) + 1, np.int64)
    bounds = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8), bounds


def _elements(array: pa.Array) -> tuple[pa.Array, Positions]:
    """The elements of lists or the entries of maps, none for null ones, and each list's bounds among them."""
    if pa.types.is_map(array.type):
        entry = pa.struct([pa.field("key", array.type.key_type), pa.field("value", array.type.item_type)])
        array = array.cast(pa.list_(entry))
    lengths = pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
    offsets = np.zeros(len(array) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return array.flatten(), offsets
