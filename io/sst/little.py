"""RocksDB's little-endian fields (``util/coding.h``): the footer, properties and MANIFEST are read with these."""

from __future__ import annotations

import struct

from ...schemas.wire import Reader

_U4 = struct.Struct("<I")
_U8 = struct.Struct("<Q")


class LittleReader(Reader):
    """A :class:`Reader` with the fields of RocksDB; errors say the file and the offset."""

    __slots__ = ()

    def fixed32(self, what: str = "fixed32") -> int:
        return int(_U4.unpack(self.take(4, what))[0])

    def fixed64(self, what: str = "fixed64") -> int:
        return int(_U8.unpack(self.take(8, what))[0])

    def varint32(self, what: str = "varint32") -> int:
        return self._varint(what, 32)

    def varint64(self, what: str = "varint64") -> int:
        return self._varint(what, 64)

    def slice(self, what: str = "slice") -> bytes:
        """A varint32 length and that many bytes."""
        return self.bytes(self.varint32(what), what)

    def _varint(self, what: str, bits: int) -> int:
        start = self.pos
        value = shift = 0
        while True:
            byte = self.u1(what)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift >= bits:
                raise self.error(f"{what} is longer than {bits} bits", start)
        if value >> bits:
            raise self.error(f"{what} is longer than {bits} bits", start)
        return value
