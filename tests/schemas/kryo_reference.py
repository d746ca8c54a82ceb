"""The slow twin of the Kryo codec: values of a shape in Kryo's bytes, from the format description alone.

Values are as in :mod:`.reference`; an object of several possible classes is a dict in which one entry is not None.
Each object is written by itself, as Kryo does for objects that are not the same one.
"""

from __future__ import annotations

import struct
import uuid
from typing import Any

from statelift.schemas import types as t
from statelift.schemas.wire import text_to_units

from .reference_wire import varint

#: Java's boxes: class name, number, and how struct packs the body (None: a zig-zag varint).
BOXES = {
    "int": ("java.lang.Integer", 0, None), "float": ("java.lang.Float", 2, "f"),
    "boolean": ("java.lang.Boolean", 3, "?"), "byte": ("java.lang.Byte", 4, "b"),
    "char": ("java.lang.Character", 5, "H"), "short": ("java.lang.Short", 6, "h"),
    "long": ("java.lang.Long", 7, None), "double": ("java.lang.Double", 8, "d"),
}  # fmt: skip
OTHERS = {
    "string": ("java.lang.String", 1), "bit_set": ("java.util.BitSet", 74), "uuid": ("java.util.UUID", 82),
    "bytes": ("[B", None), "big_integer": ("java.math.BigInteger", None),
    "big_decimal": ("java.math.BigDecimal", None), "date": ("java.util.Date", None),
    "atomic_int": ("java.util.concurrent.atomic.AtomicInteger", None), "year": ("java.time.Year", None),
    "period": ("java.time.Period", None), "optional_long": ("java.util.OptionalLong", None),
    "zone_offset": ("java.time.ZoneOffset", None),
}  # fmt: skip
FINAL = {*BOXES, "string", "uuid", "bytes", "year", "period", "optional_long", "zone_offset"}
OBJECT = ("boolean", "byte", "short", "int", "long", "float", "double", "char", "string")
USUAL = {"list": "java.util.ArrayList", "set": "java.util.HashSet", "map": "java.util.HashMap"}
SORTED = {"java.util.TreeMap", "java.util.TreeSet"}


def zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def varlong(value: int) -> bytes:
    """Up to nine bytes, the last of which has eight bits."""
    value &= 2**64 - 1
    out = b""
    for _ in range(8):
        if value < 0x80:
            return out + bytes([value])
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def flagged(value: int, flag: bool) -> bytes:
    first = value & 0x3F | (0x80 if flag else 0)
    return bytes([first | 0x40]) + varint(value >> 6) if value >> 6 else bytes([first])


def name_of(node: t.DataType) -> str:
    """What the class of an object is called where several may stand."""
    match node:
        case t.Scalar() | t.JavaType():
            return node.name
        case t.ClassType():
            return node.class_name.rpartition(".")[2]
    raise AssertionError(node)


def choices(node: t.DataType) -> list[t.DataType]:
    match node:
        case t.NullableType():
            return choices(node.inner)
        case t.JavaType(name="object"):
            return [t.scalar(name) for name in OBJECT]  # type: ignore[arg-type]
        case t.ClassType():
            return [node, *node.subclasses]
    return [node]


class Kryo:
    """Writes one value: knows the names that came before."""

    def __init__(self, version: int, registered: tuple[str, ...]) -> None:
        self.five = version == 5
        self.registered = registered
        self.names: dict[str, int] = {}
        self.objects = 0
        self.enums: dict[tuple[str, str], int] = {}

    def string(self, text: str) -> bytes:
        units = list(text_to_units(text))
        if 1 < len(units) <= (32 if self.five else 63) and max(units) < 0x80:
            return bytes(units[:-1]) + bytes([units[-1] | 0x80])
        out = flagged(len(units) + 1, True)
        for unit in units:
            if unit < 0x80:
                out += bytes([unit])
            elif unit < 0x800:
                out += bytes([0xC0 | unit >> 6, 0x80 | unit & 0x3F])
            else:
                out += bytes([0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F])
        return out

    def class_of(self, node: t.DataType) -> tuple[str, int | None]:
        match node:
            case t.Scalar() | t.JavaType():
                return BOXES[node.name][:2] if node.name in BOXES else OTHERS[node.name]
            case t.ClassType() | t.EnumType():
                return node.class_name, None
            case t.ListType(flavour="array"):
                return {"int": "[I", "long": "[J", "string": "[Ljava.lang.String;"}[str(node.element)], None
            case t.ListType():
                return node.class_name or USUAL[node.flavour], None
            case t.MapType():
                return node.class_name or USUAL["map"], None
        raise AssertionError(node)

    def tag(self, node: t.DataType) -> bytes:
        name, number = self.class_of(node)
        if name in self.registered:
            return varint(self.registered.index(name) + 87)
        if number is not None:
            return varint(number + 2)
        if name in self.names:
            return b"\1" + varint(self.names[name])
        self.names[name] = len(self.names)
        return b"\1" + varint(self.names[name]) + self.class_name(name)

    def class_name(self, name: str) -> bytes:
        if self.five and name.isascii() and len(name) > 1:
            return name[:-1].encode() + bytes([ord(name[-1]) | 0x80])
        return self.string(name)

    def referenced(self, node: t.DataType) -> bool:
        if isinstance(node, t.EnumType):
            return not self.five
        return not (isinstance(node, t.Scalar) and node.name in BOXES)

    def final(self, node: t.DataType) -> bool:
        match node:
            case t.NullableType():
                return self.final(node.inner)
            case t.Scalar() | t.JavaType():
                return node.name in FINAL
            case t.ClassType():
                return node.final
            case t.ListType():
                return node.flavour == "array"
        return isinstance(node, t.EnumType)

    def chosen(self, node: t.DataType, value: Any) -> tuple[t.DataType, Any]:
        several = choices(node)
        if len(several) == 1:
            return several[0], value
        return next((one, value[name_of(one)]) for one in several if value[name_of(one)] is not None)

    def place(self, node: t.DataType, value: Any, place: str) -> bytes:
        """An object where it stands: a field, or an element whose class is known ("typed") or not ("tagged")."""
        if place == "field" and isinstance(node, t.Scalar) and node.name in BOXES:
            return self.body(node, value, place)
        if place != "tagged" and self.final(node):
            if value is None:
                return b"\0"
            one, value = self.chosen(node, value)
            return self.marked(one, value, place, b"\1")
        if value is None:
            return b"\0"
        one, value = self.chosen(node, value)
        return self.tag(one) + self.marked(one, value, place, b"")

    def marked(self, node: t.DataType, value: Any, place: str, flag: bytes) -> bytes:
        """A body behind the mark of a new object, or the number of one that came before; else behind ``flag``."""
        if not self.referenced(node):
            return flag + self.body(node, value, place)
        if isinstance(node, t.EnumType):
            known = self.enums.setdefault((node.class_name, value), self.objects)
            if known != self.objects:
                return varint(known + 2)
        self.objects += 1
        return b"\1" + self.body(node, value, place)

    def body(self, node: t.DataType, value: Any, place: str) -> bytes:
        inside = "typed" if place == "field" or (place == "typed" and self.five) else "tagged"
        match node:
            case t.Scalar() | t.JavaType():
                return self.leaf(node.name, value)
            case t.EnumType():
                return varint(node.constants.index(value) + 1)
            case t.ClassType():
                return b"".join(self.place(f.type, value[f.name], "field") for f in node.fields)
            case t.ListType(flavour="array"):
                if str(node.element) in ("int", "long"):
                    return varint(len(value) + 1) + b"".join(varlong(zigzag(one)) for one in value)
                return varint(len(value) + 1) + b"".join(self.place(node.element, e, "typed") for e in value)
            case t.ListType():
                return self.collection(node, value, inside)
            case t.MapType():
                comparator = b"\0" if self.class_of(node)[0] in SORTED else b""
                count = varint(len(value) + self.five)
                out = count + comparator if self.five else comparator + count
                for key, one in value:
                    out += self.place(node.key, key, inside) + self.place(node.value, one, inside)
                return out
        raise AssertionError(node)

    def collection(self, node: t.ListType, value: list[Any], inside: str) -> bytes:
        comparator = b"\0" if self.class_of(node)[0] in SORTED else b""
        if not self.five:
            return (
                comparator + varint(len(value)) + b"".join(self.place(node.element, e, inside) for e in value)
            )
        if not value:
            return b"\1" + comparator
        nulls = any(one is None for one in value)
        if inside == "typed" and self.final(node.element):
            out = flagged(len(value) + 1, nulls) + comparator
            return out + b"".join(self.element(node.element, one, nulls, inside) for one in value)
        classes = {self.class_of(self.chosen(node.element, e)[0])[0] for e in value if e is not None}
        out = flagged(len(value) + 1, len(classes) <= 1) + comparator
        if len(classes) > 1:
            return out + b"".join(self.place(node.element, one, inside) for one in value)
        if not classes:
            return out + b"\0"
        first = next(one for one in value if one is not None)
        out += self.tag(self.chosen(node.element, first)[0]) + bytes([nulls])
        return out + b"".join(self.element(node.element, one, nulls, inside) for one in value)

    def element(self, node: t.DataType, value: Any, nulls: bool, place: str) -> bytes:
        """An element of a Kryo 5 collection that has told the class."""
        if value is None:
            return b"\0"
        one, value = self.chosen(node, value)
        return self.marked(one, value, place, b"\1" if nulls else b"")

    def leaf(self, name: str, value: Any) -> bytes:
        order = "<" if self.five else ">"
        if name in BOXES:
            pack = BOXES[name][2]
            return varlong(zigzag(value)) if pack is None else struct.pack(order + pack, value)
        match name:
            case "string":
                return self.string(value)
            case "bytes":
                return varint(len(value) + 1) + value
            case "big_integer":
                return varint(len(value) + 1) + value
            case "big_decimal":
                return (
                    varint(len(value["unscaled"]) + 1) + value["unscaled"] + varlong(zigzag(value["scale"]))
                )
            case "date":
                return varlong(value)
            case "bit_set":
                words = [0] * max(max(value, default=-1) // 64 + 1, 0 if self.five else 1)
                for bit in value:
                    words[bit // 64] |= 1 << bit % 64
                return varint(len(words)) + b"".join(struct.pack(order + "Q", one) for one in words)
            case "uuid":
                most, least = struct.unpack(">qq", uuid.UUID(value).bytes)
                if self.five:
                    return struct.pack("<qq", most, least)
                return varlong(zigzag(most)) + varlong(zigzag(least))
            case "atomic_int":
                return varlong(zigzag(value))
            case "year":
                return self.number(value)
            case "period":
                parts = [self.number(value[part]) for part in ("years", "months", "days")]
                return b"".join(parts if self.five else parts[::-1])
            case "optional_long":
                number = value["value"]
                if self.five:
                    return b"\0" if number is None else b"\1" + struct.pack("<q", number)
                return bytes([number is not None]) + varlong(zigzag(number or 0))
            case "zone_offset":
                if not self.five:
                    return varlong(zigzag(value))
                return struct.pack("<bi", 127, value) if value % 900 else struct.pack("b", value // 900)
        raise AssertionError(name)

    def number(self, value: int) -> bytes:
        return varint(value & 0xFFFFFFFF if self.five else zigzag(value))


def encode(node: t.KryoType, value: Any) -> bytes:
    """The bytes of a value of a Kryo type, as ``writeClassAndObject``."""
    assert node.shape is not None
    return Kryo(node.kryo, node.registered).place(node.shape, value, "tagged")
