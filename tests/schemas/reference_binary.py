"""The slow twin's SQL rows, arrays and maps in Flink's binary format (spec "serializers" 5.3).

``encode`` and ``decode`` are of the values of other serializers, which stand in a RAW.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from statelift.schemas import types as t

from .reference_scalars import utf8
from .reference_wire import Bytes, WireError, minimal

Encode = Callable[[t.DataType, Any], bytes]
Decode = Callable[[t.DataType, Bytes], Any]


def timestamp(millis: int, nanos: int, precision: int, odd: list[str]) -> int:
    unit = 1000 if precision <= 6 else 1
    value, rest = divmod(millis * 10**6 + nanos, unit)
    if not 0 <= nanos < 10**6:
        raise WireError("nanoseconds")
    if rest or not -(2**63) + 10**6 <= value < 2**63 - 10**6:
        odd.append("time")
    return value


def little(value: int, n: int) -> bytes:
    return (value % 2 ** (8 * n)).to_bytes(n, "little")


def pad(raw: bytes) -> bytes:
    return raw + bytes(-len(raw) % 8)


def width(node: t.DataType) -> int:
    names = {
        "boolean": 1,
        "byte": 1,
        "short": 2,
        "int": 4,
        "float": 4,
        "days": 4,
        "millis_of_day": 4,
        "months": 4,
    }
    return names.get(node.name, 8) if isinstance(node, t.Scalar) else 8


def encode_binary(node: t.DataType, value: Any, encode: Encode) -> bytes:
    """A row, an array or a map, without its size."""
    match node:
        case t.RowDataType():
            n = len(node.fields)
            header = bytearray((n + 8 + 63) // 64 * 8)
            header[0] = value["__kind"]
            values = [value[part.name] for part in node.fields]
            for i, one in enumerate(values):
                header[(i + 8) // 8] |= (one is None) << (i % 8)
            return slots(bytes(header), [part.type for part in node.fields], values, 8, encode)
        case t.ArrayDataType():
            nulls = bytearray((len(value) + 31) // 32 * 4)
            for i, one in enumerate(value):
                nulls[i // 8] |= (one is None) << (i % 8)
            head = little(len(value), 4) + bytes(nulls)
            return slots(head, [node.element] * len(value), value, width(node.element), encode)
        case t.MapDataType():
            keys = encode_binary(t.ArrayDataType(element=node.key), [k for k, _ in value], encode)
            return (
                little(len(keys), 4)
                + keys
                + encode_binary(t.ArrayDataType(element=node.value), [v for _, v in value], encode)
            )
    raise AssertionError(node)


def slots(head: bytes, types: list[t.DataType], values: list[Any], size: int, encode: Encode) -> bytes:
    """The fixed part behind ``head``, then what does not fit into it."""
    fixed, behind = b"", b""
    start = len(pad(head + bytes(size * len(values))))
    for kind, value in zip(types, values, strict=True):
        slot, more = (
            (bytes(size), b"") if value is None else slot_of(kind, value, start + len(behind), size, encode)
        )
        fixed += slot
        behind += pad(more)
    return pad(head + fixed) + behind


def slot_of(node: t.DataType, value: Any, offset: int, size: int, encode: Encode) -> tuple[bytes, bytes]:
    """The slot of a value and the bytes that it points at, which will lie at ``offset``."""

    def pointer(raw: bytes, length: int | None = None) -> tuple[bytes, bytes]:
        return little(len(raw) if length is None else length, 4) + little(offset, 4), raw

    match node:
        case t.Scalar(name="float"):
            return struct.pack("<f", value).ljust(size, b"\0"), b""
        case t.Scalar(name="double"):
            return struct.pack("<d", value), b""
        case t.Scalar(name="string_data" | "bytes"):
            raw = value.encode() if isinstance(value, str) else value
            if len(raw) <= 7:
                return raw + bytes(7 - len(raw)) + bytes([0x80 + len(raw)]), b""
            return pointer(raw)
        case t.Scalar(name="raw_data" | "bitmap"):
            return pointer(value)
        case t.RawDataType():
            return pointer(encode(node.inner, value))
        case t.Scalar():
            return pad(little(value, width(node)))[:size], b""
        case t.DecimalType():
            if node.precision <= 18:
                return little(value, 8), b""
            raw = minimal(value)
            return pointer(raw + bytes(16 - len(raw)), len(raw))
        case t.TimestampDataType():
            if node.precision <= 3:
                return little(value, 8), b""
            nanos = value * (1000 if node.precision <= 6 else 1)
            return pointer(little(nanos // 10**6, 8), nanos % 10**6)
    return pointer(encode_binary(node, value, encode))


def decode_binary(node: t.DataType, raw: bytes, odd: list[str], decode: Decode) -> Any:
    match node:
        case t.RowDataType():
            n = len(node.fields)
            header = (n + 8 + 63) // 64 * 8
            if len(raw) < header + 8 * n:
                raise WireError("row")
            value: dict[str, Any] = {"__kind": int.from_bytes(raw[:1], "big", signed=True)}
            for i, part in enumerate(node.fields):
                null = raw[(i + 8) // 8] >> (i % 8) & 1
                value[part.name] = None if null else read_slot(part.type, raw, header + 8 * i, odd, decode)
            return value
        case t.ArrayDataType():
            n = little_at(raw, 0, 4)
            start = 4 + (n + 31) // 32 * 4
            size = width(node.element)
            if start + n * size > len(raw):
                raise WireError("array")
            nulls = [raw[4 + i // 8] >> (i % 8) & 1 for i in range(n)]
            return [
                None if null else read_slot(node.element, raw, start + size * i, odd, decode)
                for i, null in enumerate(nulls)
            ]
        case t.MapDataType():
            size = little_at(raw, 0, 4)
            if size < 4 or 8 + size > len(raw):
                raise WireError("map")
            keys = decode_binary(t.ArrayDataType(element=node.key), raw[4 : 4 + size], odd, decode)
            values = decode_binary(t.ArrayDataType(element=node.value), raw[4 + size :], odd, decode)
            if len(keys) != len(values):
                raise WireError("map")
            return list(zip(keys, values, strict=True))
    raise AssertionError(node)


def little_at(raw: bytes, at: int, n: int, signed: bool = False) -> int:
    if at < 0 or at + n > len(raw):
        raise WireError("beyond the value")
    return int.from_bytes(raw[at : at + n], "little", signed=signed)


def read_slot(node: t.DataType, raw: bytes, at: int, odd: list[str], decode: Decode) -> Any:
    slot = raw[at : at + 8]

    def pointed() -> bytes:
        size, offset = little_at(raw, at, 4), little_at(raw, at + 4, 4)
        if offset >= 2**31 or offset + size > len(raw):
            raise WireError("beyond the value")
        return raw[offset : offset + size]

    match node:
        case t.Scalar(name="boolean"):
            return raw[at] != 0
        case t.Scalar(name="float"):
            return struct.unpack("<f", slot[:4])[0]
        case t.Scalar(name="double"):
            return struct.unpack("<d", slot)[0]
        case t.Scalar(name="string_data" | "bytes"):
            if slot[7] >= 0x80:
                if slot[7] > 0x87:
                    raise WireError("length")
                found = slot[: slot[7] & 0x7F]
            else:
                found = pointed()
            return utf8(found, odd) if node.name == "string_data" else found
        case t.Scalar(name="raw_data" | "bitmap"):
            return pointed()
        case t.RawDataType():
            inside = Bytes(pointed(), odd)
            value = decode(node.inner, inside)
            if inside.pos != len(inside.raw):
                raise WireError("more in the frame")
            return value
        case t.Scalar():
            return little_at(raw, at, width(node), signed=True)
        case t.DecimalType():
            if node.precision <= 18:
                return little_at(raw, at, 8, signed=True)
            value = int.from_bytes(pointed(), "big", signed=True)
            if not -(2**127) <= value < 2**127:
                raise WireError("beyond 128 bits")
            return value
        case t.TimestampDataType():
            if node.precision <= 3:
                return little_at(raw, at, 8, signed=True)
            offset = little_at(raw, at + 4, 4)
            if offset >= 2**31:
                raise WireError("beyond the value")
            return timestamp(
                little_at(raw, offset, 8, signed=True), little_at(raw, at, 4), node.precision, odd
            )
    return decode_binary(node, pointed(), odd, decode)
