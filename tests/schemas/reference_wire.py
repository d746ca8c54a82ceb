"""What the slow twin reads and writes with: a cursor over bytes, and numbers."""

from __future__ import annotations

from statelift.schemas.wire import text_to_units


class WireError(Exception):
    """Bytes that are no value of the type."""


class Bytes:
    """A cursor over one value's bytes. ``odd`` gets what is as Flink writes it and no Arrow column holds: "text",
    "time" and "null", of which something is returned all the same."""

    def __init__(self, raw: bytes, odd: list[str] | None = None) -> None:
        self.raw, self.pos, self.odd = raw, 0, odd if odd is not None else []

    def take(self, n: int) -> bytes:
        if n < 0 or self.pos + n > len(self.raw):
            raise WireError(f"{n} bytes at {self.pos} of {len(self.raw)}")
        self.pos += n
        return self.raw[self.pos - n : self.pos]

    def number(self, n: int, signed: bool = True) -> int:
        return int.from_bytes(self.take(n), "big", signed=signed)

    def varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.number(1, signed=False)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 28:
                raise WireError("varint")


def big(value: int, n: int) -> bytes:
    return value.to_bytes(n, "big", signed=True)


def varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def units(text: str) -> bytes:
    return b"".join(varint(unit) for unit in text_to_units(text))


def minimal(value: int) -> bytes:
    return value.to_bytes((value + (value < 0)).bit_length() // 8 + 1, "big", signed=True)
