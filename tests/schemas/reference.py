"""The slow twin of the codecs: one value at a time, in plain Python, written from the format description alone.

Values are what Arrow's ``to_pylist`` gives, but for times, which are numbers in the unit of their column, and
decimals, which are unscaled numbers. Maps are lists of pairs.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

from statelift.schemas import types as t
from statelift.schemas.tree import rebuilt
from statelift.schemas.wire import encode_modified_utf8

from .reference_binary import decode_binary, encode_binary, timestamp
from .reference_scalars import decode_scalar, encode_scalar
from .reference_wire import Bytes, WireError, big, minimal, varint


def encode(node: t.DataType, value: Any) -> bytes:
    """The bytes of one value."""
    match node:
        case t.Scalar():
            return encode_scalar(node.name, value)
        case t.EnumType():
            return big(node.constants.index(value), 4)
        case t.TupleType():
            return b"".join(encode(part.type, value[part.name]) for part in node.fields)
        case t.TtlType():
            return big(value["ttl_timestamp"], 8) + encode(node.inner, value["value"])
        case t.PojoType():
            return encode_pojo(node, value)
        case t.RowType():
            return encode_row(node, value)
        case t.ListType():
            return encode_list(node, value)
        case t.MapType():
            if node.framing == "block":
                body = b"".join(encode(node.key, k) + encode(node.value, v) for k, v in value)
                return (varint(len(value)) if value else b"") + body + b"\0"
            pairs = (
                encode(node.key, k) + (b"\1" if is_missing(node.value, v) else b"\0" + encode(node.value, v))
                for k, v in value
            )
            return big(len(value), 4) + b"".join(pairs)
        case t.NullableType():
            there = value is not None
            body = encode(node.inner, value) if there else bytes(node.padding)
            flags = {
                "is_null": bytes([not there]),
                "is_present": bytes([there]),
                "null_first": big(int(there), 4),
                "null_second": big(int(not there), 4),
            }
            return flags[node.flag] + body
        case t.UnionType():
            return encode_union(node, value)
        case t.FixedType():
            assert len(value) == node.size
            return bytes(value)
        case t.SpanType():
            return bytes(value)
        case t.DecimalType():
            if node.storage == "bytes":
                return big(len(minimal(value)), 4) + minimal(value)
            return big(value, node.size if node.storage == "fixed" else 8)
        case t.TimestampDataType():
            if node.precision <= 3:
                return big(value, 8)
            nanos = value * (1000 if node.precision <= 6 else 1)
            return big(nanos // 10**6, 8) + big(nanos % 10**6, 4)
        case t.RowDataType() | t.ArrayDataType() | t.MapDataType():
            raw = encode_binary(node, value, encode)
            return big(len(raw), 4) + raw
        case t.RawDataType():
            raw = encode(node.inner, value)
            return big(len(raw), 4) + raw
    raise AssertionError(node)


def decode(node: t.DataType, data: Bytes) -> Any:
    """One value; raises WireError."""
    match node:
        case t.Scalar():
            return decode_scalar(node.name, data)
        case t.EnumType():
            index = data.number(4)
            if not 0 <= index < len(node.constants):
                raise WireError("constant")
            return node.constants[index]
        case t.TupleType():
            return {part.name: decode(part.type, data) for part in node.fields}
        case t.TtlType():
            return {"ttl_timestamp": data.number(8), "value": decode(node.inner, data)}
        case t.PojoType():
            return decode_pojo(node, data)
        case t.RowType():
            return decode_row(node, data)
        case t.ListType():
            return decode_list(node, data)
        case t.MapType():
            if node.framing == "block":
                n = data.varint()
                pairs = [(decode(node.key, data), decode(node.value, data)) for _ in range(n)]
                if n and data.number(1):
                    raise WireError("block")
                return pairs
            return [
                (decode(node.key, data), decode_flagged(node.value, data, flag(data)))
                for _ in range(count(data))
            ]
        case t.NullableType():
            return decode_nullable(node, data)
        case t.UnionType():
            return decode_union(node, data)
        case t.FixedType():
            return data.take(node.size)
        case t.SpanType():
            start = data.pos
            decode(unrolled(node), data)
            return data.raw[start : data.pos]
        case t.DecimalType():
            n = {"long": lambda: 8, "bytes": lambda: data.number(4), "fixed": lambda: node.size}[
                node.storage
            ]()
            value = int.from_bytes(data.take(n), "big", signed=True)
            if not -(2**127) <= value < 2**127:
                raise WireError("beyond 128 bits")
            return value
        case t.TimestampDataType():
            return decode_timestamp(node, data)
        case t.RowDataType() | t.ArrayDataType() | t.MapDataType():
            return decode_binary(node, data.take(data.number(4)), data.odd, decode)
        case t.RawDataType():
            inside = Bytes(data.take(data.number(4)), data.odd)
            value = decode(node.inner, inside)
            if inside.pos != len(inside.raw):
                raise WireError("more in the frame")
            return value
    raise AssertionError(node)


def unrolled(node: t.SpanType) -> t.DataType:
    """What is in a value of a type that holds itself, with the type itself where it stands again."""
    assert node.body is not None
    again = replace(node, body=None)

    def is_outside(one: t.DataType) -> bool:
        return not (isinstance(one, t.SpanType) and one.class_name == node.class_name)

    return rebuilt(node.body, lambda one: node if one == again else one, is_outside)


def flag(data: Bytes) -> bool:
    byte = data.number(1)
    if byte not in (0, 1):
        raise WireError("flag")
    return byte == 1


def count(data: Bytes) -> int:
    n = data.number(4)
    if not 0 <= n <= len(data.raw) - data.pos + 65536:
        raise WireError("count")
    return n


def none_is_value(node: t.DataType) -> bool:
    """Whether None stands for an object in Java, beside which there may be a null: ``scala.None``, the one Unit."""
    match node:
        case t.RawDataType():
            return none_is_value(node.inner)
        case t.NullableType():
            return node.flag == "is_present"
        case t.Scalar():
            return node.name in ("null", "tuple0", "unit", "global_window")
    return False


def is_missing(node: t.DataType, value: Any) -> bool:
    """Whether a flag in front of the value says that it is null."""
    return value is None and not none_is_value(node)


def decode_flagged(node: t.DataType, data: Bytes, null: bool) -> Any:
    if null and none_is_value(node):
        data.odd.append("null")
    return None if null else decode(node, data)


def decode_nullable(node: t.NullableType, data: Bytes) -> Any:
    if node.flag in ("null_first", "null_second"):
        branch = data.number(4)
        if branch not in (0, 1):
            raise WireError("branch")
        null = (branch == 0) == (node.flag == "null_first")
    else:
        null = flag(data) == (node.flag == "is_null")
    if null:
        data.take(node.padding)
        return None
    value = decode(node.inner, data)
    if value is None and node.flag == "is_present":
        data.odd.append("null")
    return value


def decode_timestamp(node: t.TimestampDataType, data: Bytes) -> int:
    millis = data.number(8)
    return millis if node.precision <= 3 else timestamp(millis, data.number(4), node.precision, data.odd)


def encode_list(node: t.ListType, value: list[Any]) -> bytes:
    if node.framing == "rest":
        return b"".join(encode(node.element, one) for one in value)
    flags = {"is_null": (b"\0", b"\1"), "is_present": (b"\1", b"\0")}
    if node.framing == "block":
        body = b"".join(encode(node.element, one) for one in value)
        return (varint(len(value)) if value else b"") + body + b"\0"
    head = big(len(value), 4)
    if node.element_flag == "mask":
        missing = [is_missing(node.element, one) for one in value]
        there = [one for one, lacks in zip(value, missing, strict=True) if not lacks]
        return head + bits(missing) + b"".join(encode(node.element, one) for one in there)
    if node.element_flag == "none":
        return head + b"".join(encode(node.element, one) for one in value)
    before, instead = flags[node.element_flag]
    return head + b"".join(
        instead if is_missing(node.element, one) else before + encode(node.element, one) for one in value
    )


def decode_list(node: t.ListType, data: Bytes) -> list[Any]:
    if node.framing == "rest":
        values = []
        while data.pos < len(data.raw):
            values.append(decode(node.element, data))
        return values
    if node.framing == "block":
        n = data.varint()
        values = [decode(node.element, data) for _ in range(n)]
        if n and data.number(1):
            raise WireError("block")
        return values
    n = count(data)
    if node.element_flag == "mask":
        mask = data.take((n + 7) // 8)
        nulls = [bool(mask[i // 8] >> (7 - i % 8) & 1) for i in range(n)]
        return [decode_flagged(node.element, data, null) for null in nulls]
    if node.element_flag == "none":
        return [decode(node.element, data) for _ in range(n)]
    null = node.element_flag == "is_null"
    return [decode_flagged(node.element, data, flag(data) == null) for _ in range(n)]


def bits(flags: list[bool]) -> bytes:
    out = bytearray((len(flags) + 7) // 8)
    for i, one in enumerate(flags):
        out[i // 8] |= one << (7 - i % 8)
    return bytes(out)


def encode_row(node: t.RowType, value: dict[str, Any]) -> bytes:
    kind = [bool(value["__kind"] & 1), bool(value["__kind"] & 2)] if node.supports_row_kind else []
    missing = [is_missing(part.type, value[part.name]) for part in node.fields]
    there = [part for part, lacks in zip(node.fields, missing, strict=True) if not lacks]
    return bits(kind + missing) + b"".join(encode(part.type, value[part.name]) for part in there)


def decode_row(node: t.RowType, data: Bytes) -> dict[str, Any]:
    skip = 2 if node.supports_row_kind else 0
    mask = data.take((skip + len(node.fields) + 7) // 8)
    flags = [mask[i // 8] >> (7 - i % 8) & 1 for i in range(skip + len(node.fields))]
    row = {"__kind": flags[0] | flags[1] << 1} if skip else {}
    for part, null in zip(node.fields, flags[skip:], strict=True):
        row[part.name] = decode_flagged(part.type, data, bool(null))
    return row


def all_columns(node: t.PojoType) -> tuple[list[str], dict[str, dict[str, str]]]:
    """The columns of a POJO, and for each subclass which column each of its fields goes to."""
    known = {part.name: part.type for part in node.fields}
    columns = list(known)
    places: dict[str, dict[str, str]] = {}
    for one in (*node.registered, *node.non_registered):
        if not isinstance(one.type, t.PojoType):
            continue
        places[one.name] = {}
        for part in one.type.fields:
            clash = part.name in known and known[part.name] != part.type
            name = f"{part.name}@{one.name}" if clash else part.name
            known[name] = part.type
            places[one.name][part.name] = name
            if name not in columns:
                columns.append(name)
    return columns, places


def encode_pojo(node: t.PojoType, value: dict[str, Any] | None) -> bytes:
    if value is None:
        return b"\1"
    name = value.get("__class")
    if name is None:
        return b"\2" + pojo_fields(node, {part.name: part.name for part in node.fields}, value)
    tags = [part.name for part in node.registered]
    prefix = b"\x08" + bytes([tags.index(name)]) if name in tags else b"\x04" + utf(name)
    subclass = next(p.type for p in (*node.registered, *node.non_registered) if p.name == name)
    assert isinstance(subclass, t.PojoType)
    return prefix + b"\2" + pojo_fields(subclass, all_columns(node)[1][name], value)


def pojo_fields(node: t.PojoType, places: dict[str, str], value: dict[str, Any]) -> bytes:
    parts = ((part.type, value[places[part.name]]) for part in node.fields)
    return b"".join(b"\1" if is_missing(kind, v) else b"\0" + encode(kind, v) for kind, v in parts)


def utf(name: str) -> bytes:
    raw = encode_modified_utf8(name)
    return struct.pack(">H", len(raw)) + raw


def decode_pojo(node: t.PojoType, data: Bytes) -> dict[str, Any] | None:
    flags = data.number(1)
    if flags == 1:
        return None
    columns, places = all_columns(node)
    name: str | None = None
    if flags == 4:
        raw = data.take(data.number(2, signed=False))
        name = next((known for known in places if utf(known)[2:] == raw and known not in tagged(node)), "?")
    elif flags == 8:
        tag = data.number(1, signed=False)
        name = tagged(node)[tag] if tag < len(node.registered) else "?"
    elif flags != 2:
        raise WireError("flags")
    if name is not None and name not in places:
        raise WireError("subclass")
    value: dict[str, Any] = {"__class": name} if places else {}
    value |= dict.fromkeys(columns)
    actual, where = node, {part.name: part.name for part in node.fields}
    if name is not None:
        if data.number(1) != 2:
            raise WireError("flags of the subclass")
        found = next(p.type for p in (*node.registered, *node.non_registered) if p.name == name)
        assert isinstance(found, t.PojoType)
        actual, where = found, places[name]
    for part in actual.fields:
        value[where[part.name]] = decode_flagged(part.type, data, flag(data))
    return value


def tagged(node: t.PojoType) -> list[str]:
    return [part.name for part in node.registered]


def can_be_null(node: t.DataType) -> bool:
    names = ("string", "big_integer", "big_decimal", "void", "null", "global_window", "tuple0", "unit")
    times = (
        "date",
        "sql_date",
        "sql_time",
        "sql_timestamp",
        "instant",
        "local_date",
        "local_time",
        "local_date_time",
    )
    if isinstance(node, t.Scalar):
        return node.name in (*names, *times)
    if isinstance(node, t.RawDataType):
        return can_be_null(node.inner)
    return isinstance(node, (t.PojoType, t.NullableType))


def shown(node: t.UnionType) -> list[int]:
    """The alternatives that have a column."""
    valueless = [t.scalar(name) for name in ("null", "void", "global_window", "tuple0", "unit")]  # type: ignore[arg-type]
    return [i for i, part in enumerate(node.alternatives) if part.type not in valueless]


def encode_union(node: t.UnionType, value: dict[str, Any]) -> bytes:
    nullable = [i for i, part in enumerate(node.alternatives) if can_be_null(part.type)]
    if len(nullable) > 1:
        number = value["__tag"]
    else:
        filled = [i for i in shown(node) if value[node.alternatives[i].name] is not None]
        number = filled[0] if filled else nullable[0]
    part = node.alternatives[number]
    return big(node.tags[number], node.tag_width) + encode(part.type, value.get(part.name))


def decode_union(node: t.UnionType, data: Bytes) -> dict[str, Any]:
    tag = data.number(node.tag_width, signed=node.tag_width == 4)
    if tag not in node.tags:
        raise WireError("tag")
    number = node.tags.index(tag)
    value: dict[str, Any] = {node.alternatives[i].name: None for i in shown(node)}
    if sum(can_be_null(part.type) for part in node.alternatives) > 1:
        value = {"__tag": number, **value}
    inner = decode(node.alternatives[number].type, data)
    if number in shown(node):
        value[node.alternatives[number].name] = inner
    return value
