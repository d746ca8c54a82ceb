"""Java ``DataOutput`` primitives: one reader and one writer for all that is not state data.

Headers, ``_metadata`` and serializer snapshots are small and read field by field here; state data goes
through the kernels. Big-endian throughout (spec section 0, "Notation").
"""

from __future__ import annotations

import builtins
import struct

from .errors import FormatError, UnexpectedEndError, Where

_I2, _U2 = struct.Struct(">h"), struct.Struct(">H")
_I4, _U4 = struct.Struct(">i"), struct.Struct(">I")
_I8 = struct.Struct(">q")


class Reader:
    """Reads big-endian fields from ``data`` starting at ``pos``; every error says the file and the offset.

    Lengths read from the data are checked against what is left before memory is taken.
    """

    __slots__ = ("data", "file", "pos")

    def __init__(self, data: bytes | memoryview, pos: int = 0, file: str | None = None) -> None:
        self.data = memoryview(data)
        self.pos = pos
        self.file = file

    @property
    def remaining(self) -> int:
        return len(self.data) - self.pos

    def where(self, offset: int | None = None) -> Where:
        return Where(file=self.file, offset=self.pos if offset is None else offset)

    def error(self, what: str, offset: int | None = None) -> FormatError:
        return FormatError(what, where=self.where(offset))

    def take(self, n: int, what: str = "field") -> memoryview:
        if n < 0:
            raise self.error(f"negative length {n} for {what}")
        if n > self.remaining:
            raise UnexpectedEndError(
                f"{what} needs {n} bytes and {self.remaining} are left", where=self.where()
            )
        start = self.pos
        self.pos = start + n
        return self.data[start : self.pos]

    def bytes(self, n: int, what: str = "bytes") -> bytes:
        return bytes(self.take(n, what))

    def u1(self, what: str = "u1") -> int:
        return self.take(1, what)[0]

    def i2(self, what: str = "i2") -> int:
        return int(_I2.unpack(self.take(2, what))[0])

    def u2(self, what: str = "u2") -> int:
        return int(_U2.unpack(self.take(2, what))[0])

    def i4(self, what: str = "i4") -> int:
        return int(_I4.unpack(self.take(4, what))[0])

    def u4(self, what: str = "u4") -> int:
        return int(_U4.unpack(self.take(4, what))[0])

    def i8(self, what: str = "i8") -> int:
        return int(_I8.unpack(self.take(8, what))[0])

    def bool_(self, what: str = "bool") -> bool:
        """One byte that is 0 or 1; anything else is not what Java wrote."""
        value = self.u1(what)
        if value > 1:
            raise self.error(f"{what} is a boolean and holds {value}", self.pos - 1)
        return value == 1

    def utf(self, what: str = "string") -> str:
        """``DataOutput.writeUTF``: u2 byte length, modified UTF-8."""
        start = self.pos
        raw = self.bytes(self.u2(what), what)
        try:
            text = decode_modified_utf8(raw)
        except ValueError as error:
            raise self.error(f"{what} is not modified UTF-8: {error}", start) from None
        return text

    def ba(self, what: str = "byte array") -> builtins.bytes:
        """``BytePrimitiveArraySerializer``: i4 length and that many bytes."""
        return self.bytes(self.i4(what), what)

    def count(self, what: str, at_least: int = 1) -> int:
        """An i4 element count, refused when the elements (``at_least`` bytes each) cannot fit in what is left."""
        start = self.pos
        n = self.i4(what)
        if n < 0 or n * at_least > self.remaining:
            raise self.error(f"{what} of {n} cannot be held in the {self.remaining} bytes left", start)
        return n

    def str_(self, what: str = "string") -> str | None:
        """Flink's ``StringValue.writeString``: varint(length + 1), then a varint for each UTF-16 unit."""
        n = self.varint(what)
        if n == 0:
            return None
        if n - 1 > self.remaining:
            raise self.error(
                f"{what} of {n - 1} characters cannot be held in the {self.remaining} bytes left"
            )
        units = [self.varint(what) for _ in range(n - 1)]
        if any(unit > 0xFFFF for unit in units):
            raise self.error(f"{what} holds a character above 16 bits")
        return units_to_text(units)

    def varint(self, what: str = "varint") -> int:
        value = shift = 0
        while True:
            byte = self.u1(what)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 35:
                raise self.error(f"{what} is longer than five bytes")

    def expect_end(self, what: str) -> None:
        if self.remaining:
            raise self.error(f"{self.remaining} bytes follow the end of {what}")


class Writer:
    """Appends big-endian fields; the mirror of :class:`Reader`, method for method."""

    __slots__ = ("out",)

    def __init__(self) -> None:
        self.out = bytearray()

    def getvalue(self) -> bytes:
        return bytes(self.out)

    def bytes(self, value: bytes | memoryview) -> None:
        self.out += value

    def u1(self, value: int) -> None:
        self.out.append(value)

    def i2(self, value: int) -> None:
        self.out += _I2.pack(value)

    def u2(self, value: int) -> None:
        self.out += _U2.pack(value)

    def i4(self, value: int) -> None:
        self.out += _I4.pack(value)

    def u4(self, value: int) -> None:
        self.out += _U4.pack(value)

    def i8(self, value: int) -> None:
        self.out += _I8.pack(value)

    def bool_(self, value: bool) -> None:
        self.out.append(1 if value else 0)

    def utf(self, value: str) -> None:
        raw = encode_modified_utf8(value)
        if len(raw) > 0xFFFF:
            raise FormatError(f"string of {len(raw)} bytes is longer than writeUTF holds (65535)")
        self.u2(len(raw))
        self.out += raw

    def ba(self, value: builtins.bytes) -> None:
        self.i4(len(value))
        self.out += value

    def str_(self, value: str | None) -> None:
        if value is None:
            self.out.append(0)
            return
        units = text_to_units(value)
        self.varint(len(units) + 1)
        for unit in units:
            self.varint(unit)

    def varint(self, value: int) -> None:
        while value >= 0x80:
            self.out.append(value & 0x7F | 0x80)
            value >>= 7
        self.out.append(value)


def text_to_units(text: str) -> list[int]:
    """The UTF-16 code units of ``text``; lone surrogates stay as they are."""
    raw = text.encode("utf-16-be", "surrogatepass")
    return list(struct.unpack(f">{len(raw) // 2}H", raw))


def units_to_text(units: list[int]) -> str:
    """The text of UTF-16 code units; pairs are joined, lone surrogates kept."""
    return struct.pack(f">{len(units)}H", *units).decode("utf-16-be", "surrogatepass")


def encode_modified_utf8(text: str) -> bytes:
    """Java's modified UTF-8: NUL as C0 80, each UTF-16 surrogate as three bytes."""
    if text.isascii() and "\0" not in text:
        return text.encode("ascii")
    out = bytearray()
    for unit in text_to_units(text):
        if 0 < unit < 0x80:
            out.append(unit)
        elif unit < 0x800:
            out += bytes((0xC0 | unit >> 6, 0x80 | unit & 0x3F))
        else:
            out += bytes((0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F))
    return bytes(out)


def decode_modified_utf8(raw: bytes) -> str:
    """The text of modified UTF-8 bytes. Raises ValueError on bytes that Java would not have written."""
    if raw.isascii() and 0 not in raw:
        return raw.decode("ascii")
    units = []
    pos = 0
    while pos < len(raw):
        lead = raw[pos]
        size = 1 if lead < 0x80 else 2 if lead & 0xE0 == 0xC0 else 3 if lead & 0xF0 == 0xE0 else 0
        tail = raw[pos + 1 : pos + size]
        if size == 0 or len(tail) != size - 1 or any(byte & 0xC0 != 0x80 for byte in tail):
            raise ValueError(f"byte {lead:#04x} at {pos}")
        if size == 1:
            units.append(lead)
        elif size == 2:
            units.append((lead & 0x1F) << 6 | tail[0] & 0x3F)
        else:
            units.append((lead & 0x0F) << 12 | (tail[0] & 0x3F) << 6 | tail[1] & 0x3F)
        pos += size
    text = units_to_text(units)
    if encode_modified_utf8(text) != raw:
        raise ValueError("not the shortest form")
    return text
