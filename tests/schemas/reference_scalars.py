"""The slow twin of the scalars: numbers, strings, dates and times, each written and read."""

from __future__ import annotations

import struct
from typing import Any

from statelift.schemas.wire import text_to_units, units_to_text

from .reference_wire import Bytes, WireError, big, units, varint

NULL8, NULL4 = big(-(2**63), 8), big(-(2**31), 4)
WIDTHS = {
    "byte": 1, "short": 2, "int": 4, "long": 8, "count_window": 8, "days": 4, "millis_of_day": 4, "micros_of_day": 8,
    "months": 4, "day_time_millis": 8, "timestamp_millis": 8, "timestamp_micros": 8, "timestamp_nanos": 8,
    "timestamp_millis_utc": 8, "timestamp_micros_utc": 8, "timestamp_nanos_utc": 8,
}  # fmt: skip
DAY = 86_400 * 10**9


def encode_scalar(name: str, value: Any) -> bytes:
    if name in WIDTHS:
        return big(value, WIDTHS[name])
    match name:
        case "boolean":
            return bytes([value])
        case "char":
            return struct.pack(">H", value)
        case "float":
            return struct.pack(">f", value)
        case "double":
            return struct.pack(">d", value)
        case "string":
            return b"\0" if value is None else varint(len(text_to_units(value)) + 1) + units(value)
        case "string_value":
            return varint(len(text_to_units(value))) + units(value)
        case "void" | "global_window" | "unit":
            return b"\0"
        case "null":
            return b""
        case "tuple0":
            return b"\x2a"
        case "bytes" | "bitmap" | "raw_data":
            return big(len(value), 4) + value
        case "string_data":
            return big(len(value.encode()), 4) + value.encode()
        case "window":
            return big(value["start"], 8) + big(value["end"], 8)
        case "variant":
            parts = value["value"], value["metadata"]
            return big(len(parts[0]), 4) + big(len(parts[1]), 4) + parts[0] + parts[1]
        case "flipped_long":
            return struct.pack(">Q", value + 2**63)
        case "date" | "sql_date" | "sql_time":
            return NULL8 if value is None else big(value, 8)
        case "instant":
            if value is None:
                return NULL8 + NULL4
            return big(value // 10**9, 8) + big(value % 10**9, 4)
        case "sql_timestamp":
            if value is None:
                return NULL8 + bytes(4)
            return big(value // 10**6, 8) + big(value % 10**9, 4)
        case "local_date":
            return encode_date(value)
        case "local_time":
            return encode_time(value)
        case "local_date_time":
            if value is None:
                return encode_date(None) + encode_time(None)
            return encode_date(value // DAY) + encode_time(value % DAY)
        case "big_integer":
            return encode_big_integer(value)
        case "big_decimal":
            if value is None:
                return bytes(4)
            return encode_big_integer(value["unscaled"]) + big(value["scale"], 4)
    raise AssertionError(name)


def encode_date(days: int | None) -> bytes:
    if days is None:
        return NULL4 + b"\x80\0"
    year, month, day = civil(days)
    return big(year, 4) + bytes([month, day])


def encode_time(nanos: int | None) -> bytes:
    if nanos is None:
        return b"\x80\x80\0" + NULL4
    seconds = nanos // 10**9
    return bytes([seconds // 3600, seconds // 60 % 60, seconds % 60]) + big(nanos % 10**9, 4)


def encode_big_integer(raw: bytes | None) -> bytes:
    if raw is None:
        return bytes(4)
    short = {b"\0": 1, b"\1": 2, b"\x0a": 3}.get(raw)
    return big(short, 4) if short else big(len(raw) + 4, 4) + raw


def civil(days: int) -> tuple[int, int, int]:
    """Count years, then months: slow and plain."""
    cycles, days = divmod(days, 146_097)
    year = 1970 + 400 * cycles
    while days >= year_days(year):
        days -= year_days(year)
        year += 1
    month = 1
    while days >= month_days(year, month):
        days -= month_days(year, month)
        month += 1
    return year, month, days + 1


def days_of(year: int, month: int, day: int) -> int:
    if not 1 <= month <= 12 or not 1 <= day <= month_days(year, month):
        raise WireError("date")
    cycles, rest = divmod(year - 1970, 400)
    days = 146_097 * cycles + sum(year_days(y) for y in range(1970, 1970 + rest))
    return days + sum(month_days(year, m) for m in range(1, month)) + day - 1


def year_days(year: int) -> int:
    return 366 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 365


def month_days(year: int, month: int) -> int:
    if month == 2:
        return year_days(year) - 337
    return 30 if month in (4, 6, 9, 11) else 31


def decode_scalar(name: str, data: Bytes) -> Any:
    if name in WIDTHS:
        return data.number(WIDTHS[name])
    match name:
        case "boolean":
            return data.number(1) != 0
        case "char":
            return data.number(2, signed=False)
        case "float":
            return struct.unpack(">f", data.take(4))[0]
        case "double":
            return struct.unpack(">d", data.take(8))[0]
        case "string":
            n = data.varint()
            return None if n == 0 else text(data, n - 1)
        case "string_value":
            return text(data, data.varint())
        case "void" | "global_window" | "unit":
            data.take(1)
            return None
        case "null":
            return None
        case "tuple0":
            if data.take(1) != b"\x2a":
                raise WireError("tuple0")
            return None
        case "bytes" | "bitmap" | "raw_data":
            return data.take(data.number(4))
        case "string_data":
            return utf8(data.take(data.number(4)), data.odd)
        case "window":
            return {"start": data.number(8), "end": data.number(8)}
        case "variant":
            n, m = data.number(4), data.number(4)
            return {"value": data.take(n), "metadata": data.take(m)}
        case "flipped_long":
            return data.number(8, signed=False) - 2**63
        case "date" | "sql_date" | "sql_time":
            value = data.number(8)
            return None if value == -(2**63) else value
        case "instant":
            seconds, nanos = data.number(8), data.number(4)
            return None if seconds == -(2**63) else fit(seconds, nanos, data.odd)
        case "sql_timestamp":
            millis = data.number(8)
            if millis == -(2**63):
                if data.raw[data.pos : data.pos + 4] == bytes(4):
                    data.take(4)
                return None
            nanos = data.number(4)
            if nanos // 10**6 != millis % 1000:
                raise WireError("milliseconds that are not those of the nanoseconds")
            return fit(millis // 1000, nanos, data.odd)
        case "local_date":
            days = decode_date(data)
            if days is not None and not -(2**31) <= days < 2**31:
                data.odd.append("time")
            return days
        case "local_time":
            return decode_time(data)
        case "local_date_time":
            days, nanos = decode_date(data), decode_time(data)
            if days is None or nanos is None:
                return None
            if not -106_751 <= days <= 106_750:
                data.odd.append("time")
            return days * DAY + nanos
        case "big_integer":
            return decode_big_integer(data)
        case "big_decimal":
            unscaled = decode_big_integer(data)
            return None if unscaled is None else {"unscaled": unscaled, "scale": data.number(4)}
    raise AssertionError(name)


def fit(seconds: int, nanos: int, odd: list[str]) -> int:
    if not 0 <= nanos < 10**9:
        raise WireError("nanoseconds")
    if not -9_223_372_036 <= seconds <= 9_223_372_035:
        odd.append("time")
    return seconds * 10**9 + nanos


def text(data: Bytes, n: int) -> str:
    if n > len(data.raw) - data.pos:
        raise WireError("length")
    codes = [data.varint() for _ in range(n)]
    if any(code > 0xFFFF for code in codes):
        raise WireError("character")
    joined = units_to_text(codes)
    try:
        joined.encode()
    except UnicodeEncodeError:
        data.odd.append("text")
    return joined


def utf8(raw: bytes, odd: list[str]) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        odd.append("text")
        return ""


def decode_date(data: Bytes) -> int | None:
    year, month, day = data.number(4), data.number(1, signed=False), data.number(1, signed=False)
    if year == -(2**31) and month == 0x80:
        return None
    if abs(year) > 999_999_999:
        raise WireError("beyond LocalDate")
    return days_of(year, month, day)


def decode_time(data: Bytes) -> int | None:
    hour, minute, second = (data.number(1, signed=False) for _ in range(3))
    nanos = data.number(4)
    if hour == 0x80:
        return None
    if hour > 23 or minute > 59 or second > 59 or not 0 <= nanos < 10**9:
        raise WireError("time")
    return ((hour * 60 + minute) * 60 + second) * 10**9 + nanos


def decode_big_integer(data: Bytes) -> bytes | None:
    code = data.number(4)
    if code < 4:
        short = {0: None, 1: b"\0", 2: b"\1", 3: b"\x0a"}
        if code not in short:
            raise WireError("length")
        return short[code]
    if code == 4:
        raise WireError("length")
    return data.take(code - 4)


def encode_parts(name: str, value: dict[str, int] | None) -> bytes:
    """A time as ``wide_times`` gives it."""
    if value is None:
        return encode_scalar(name, None)
    if name in ("instant", "sql_timestamp"):
        return big(value["seconds" if name == "instant" else "millis"], 8) + big(value["nanos"], 4)
    date = big(value["year"], 4) + bytes([value["month"], value["day"]])
    return date if name == "local_date" else date + encode_time(value["nano_of_day"])


def decode_parts(name: str, data: Bytes) -> dict[str, int] | None:
    if name in ("instant", "sql_timestamp"):
        first = data.number(8)
        if first == -(2**63):
            if name == "instant" or data.raw[data.pos : data.pos + 4] == bytes(4):
                data.take(4)
            return None
        nanos = data.number(4)
        if not 0 <= nanos < 10**9:
            raise WireError("nanoseconds")
        if name == "sql_timestamp":
            if nanos // 10**6 != first % 1000:
                raise WireError("milliseconds that are not those of the nanoseconds")
            return {"millis": first, "nanos": nanos}
        if not -31_557_014_167_219_200 <= first <= 31_556_889_864_403_199:
            raise WireError("beyond java.time.Instant")
        return {"seconds": first, "nanos": nanos}
    year, month, day = data.number(4), data.number(1, signed=False), data.number(1, signed=False)
    there = year != -(2**31) or month != 0x80
    if there and (abs(year) > 999_999_999 or not 1 <= month <= 12 or not 1 <= day <= month_days(year, month)):
        raise WireError("date")
    date = {"year": year, "month": month, "day": day}
    if name == "local_date":
        return date if there else None
    nano = decode_time(data)
    return {**date, "nano_of_day": nano} if there and nano is not None else None
