"""Kryo shapes to the rows of :mod:`.kryo_ops`, and to the ordinary type whose bytes those rows hand on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from .. import types as t
from ..errors import PlanError
from . import kryo_ops as k
from .kryo_classes import CLASSES, COLLECTION, DEFAULT_IDS, FIRST_ID, MAP, SORTED_MAP, SORTED_SET
from .kryo_leaves import BOXED, leaf_of

if TYPE_CHECKING:
    from .shapes import Builder

#: Where a value stands: by itself, in a field, as an element whose class the collection's declaration tells or not.
Place = Literal["top", "field", "typed", "tagged"]


_ARRAYS = {
    "boolean": ("[Z", k.ONES), "short": ("[S", k.TWOS), "char": ("[C", k.TWOS), "int": ("[I", k.INTS),
    "long": ("[J", k.LONGS), "float": ("[F", k.FOURS), "double": ("[D", k.EIGHTS),
}  # fmt: skip
_USUAL = {"list": "java.util.ArrayList", "set": "java.util.HashSet", "map": "java.util.HashMap"}
_OBJECT = (*BOXED, "string")


def class_of(node: t.DataType) -> str:
    """The Java class of an object of this shape. Raises PlanError for what Kryo's objects are not."""
    leaf = leaf_of(node)
    if leaf is not None:
        return leaf.class_name
    match node:
        case t.NullableType():
            return class_of(node.inner)
        case t.ClassType() | t.EnumType():
            return node.class_name
        case t.ListType(flavour="array"):
            if isinstance(node.element, t.Scalar) and node.element.name in _ARRAYS and not node.class_name:
                return _ARRAYS[node.element.name][0]
            inner = node.class_name or class_of(node.element)
            return f"[{inner}" if inner.startswith("[") else f"[L{inner};"
        case t.ListType():
            return _known(node.class_name or _USUAL[node.flavour], (COLLECTION, SORTED_SET))
        case t.MapType():
            return _known(node.class_name or _USUAL["map"], (MAP, SORTED_MAP))
    raise PlanError(f"{node} is no type of Kryo's objects")


def _known(name: str, bodies: tuple[int, ...]) -> str:
    if CLASSES.get(name) not in bodies:
        raise PlanError(f"it is not known how Kryo writes {name}")
    return name


def plain_type(node: t.DataType) -> t.DataType:
    """The ordinary type that an object of this shape is read as; what may be null is so around it."""
    leaf = leaf_of(node)
    if leaf is not None:
        return leaf.plain
    match node:
        case t.NullableType():
            return plain_type(node.inner)
        case t.EnumType():
            return node
        case t.ListType():
            if node.flavour == "array" and _primitive(node.element) and not node.class_name:
                return t.ListType(element=plain_type(node.element), flavour="array")
            return t.ListType(element=_or_null(node.element), flavour=node.flavour)
        case t.MapType():
            return t.MapType(key=choice(node.key), value=choice(node.value))
        case t.ClassType():
            fields = tuple(
                t.Field(name=f.name, type=plain_type(f.type) if _primitive(f.type) else _or_null(f.type))
                for f in node.fields
            )
            return t.TupleType(class_name=node.class_name, fields=fields)
        case t.JavaType(name="object"):
            return choice(node)
    raise PlanError(f"{node} is no type of Kryo's objects")


def _primitive(node: t.DataType) -> bool:
    return isinstance(node, t.Scalar) and node.name in BOXED


def _or_null(node: t.DataType) -> t.DataType:
    return t.NullableType(inner=choice(node))


def choice(node: t.DataType) -> t.DataType:
    """What stands for an object where subclasses may: the one class, or a choice of them."""
    several = alternatives(node)
    if len(several) == 1:
        return plain_type(several[0])
    names = _short_names([class_of(one) for one in several]) if not _is_object(node) else _OBJECT
    parts = tuple(t.Field(name=n, type=plain_type(one)) for n, one in zip(names, several, strict=True))
    return t.UnionType(class_name="java.lang.Object", alternatives=parts, tags=tuple(range(len(parts))))


def alternatives(node: t.DataType) -> list[t.DataType]:
    """The shapes of the objects that may stand where ``node`` is declared."""
    match node:
        case t.NullableType():
            return alternatives(node.inner)
        case t.JavaType(name="object"):
            return [t.scalar(name) for name in _OBJECT]  # type: ignore[arg-type]
        case t.ClassType():
            return [node, *(one for below in node.subclasses for one in alternatives(below))]
    return [node]


def _is_object(node: t.DataType) -> bool:
    inner = node.inner if isinstance(node, t.NullableType) else node
    return inner == t.JavaType(name="object")


def _short_names(names: Sequence[str]) -> Sequence[str]:
    short = [name.rpartition(".")[2].rpartition("$")[2] for name in names]
    return short if len(set(short)) == len(short) else names


def is_final(node: t.DataType) -> bool:
    """Whether Kryo leaves out the class of a field of this type."""
    leaf = leaf_of(node)
    if leaf is not None:
        return leaf.final
    match node:
        case t.NullableType():
            return is_final(node.inner)
        case t.ClassType():
            return node.final
        case t.EnumType():
            return True
        case t.ListType(flavour="array"):
            return _primitive(node.element) or is_final(node.element)
    return False


@dataclass(slots=True)
class ShapeRows:
    """Emits the rows of one shape into the code of ``builder``."""

    builder: Builder
    node: t.KryoType
    numbers: dict[str, int] = field(default_factory=dict)

    def compile(self) -> int:
        """The row where a whole value begins."""
        assert self.node.shape is not None
        (row,) = self._reserve(1)
        self._place(row, self.node.shape, "top", 0)
        return row

    def _reserve(self, count: int) -> range:
        first = len(self.builder.code)
        for _ in range(count):
            self.builder.emit(0)
        return range(first, first + count)

    def _fill(self, row: int, *words: int) -> None:
        self.builder.code[row] = [*words, *[0] * (8 - len(words))]

    def _place(self, row: int, node: t.DataType, place: Place, form: int) -> None:
        several = alternatives(node)
        mode = k.TAGGED
        if place == "field" and _primitive(node):
            mode = k.PRIMITIVE
        elif place in ("field", "typed") and is_final(node):
            mode = k.KNOWN
        rows = self._reserve(len(several))
        self._fill(row, 0, mode, len(several), rows.start, form | (k.CHOICE if len(several) > 1 else 0))
        for at, one in zip(rows, several, strict=True):
            self._alternative(at, one, place)

    def _alternative(self, row: int, node: t.DataType, place: Place) -> None:
        name = class_of(node)
        tag = self._tag(name)
        raw = b"" if tag > 0 else kryo_name(name, self.node.kryo)
        leaf = leaf_of(node)
        if leaf is not None and leaf.only_5 and self.node.kryo == 2:
            raise PlanError(
                f"{name} is not read as Kryo 2 (Flink 1.x) writes it; leave what holds it undeclared"
            )
        referenced = leaf.referenced if leaf else not (isinstance(node, t.EnumType) and self.node.kryo == 5)
        number = self.numbers.setdefault(name, len(self.numbers))
        start = self.builder.constant(raw)
        self._fill(row, 0, tag, start, len(raw), number, self._body(node, place), int(referenced))

    def _tag(self, name: str) -> int:
        """The number by which Kryo names a class, or -1."""
        if name in self.node.registered:
            return self.node.first_id + self.node.registered.index(name) + 2
        return DEFAULT_IDS[name] + 2 if DEFAULT_IDS.get(name, FIRST_ID) < self.node.first_id else -1

    def _body(self, node: t.DataType, place: Place) -> int:
        (row,) = self._reserve(1)
        leaf = leaf_of(node)
        if leaf is not None and leaf.fields and self.node.kryo == 2:
            places = self._reserve(len(leaf.fields))
            self._fill(row, k.CLASS, len(leaf.fields), places.start)
            for at, one in zip(places, leaf.fields, strict=True):
                self._place(at, one, "field", 0)
            return row
        if leaf is not None:
            self._fill(row, leaf.body)
            return row
        match node:
            case t.EnumType():
                self._fill(row, k.ENUM, len(node.constants))
            case t.ClassType():
                fields = self._reserve(len(node.fields))
                self._fill(row, k.CLASS, len(node.fields), fields.start)
                for at, part in zip(fields, node.fields, strict=True):
                    self._place(at, part.type, "field", 0 if _primitive(part.type) else k.FLAGGED)
            case t.ListType(flavour="array"):
                if _primitive(node.element) and not node.class_name:
                    self._fill(row, _ARRAYS[node.element.name][1])  # type: ignore[attr-defined]
                    return row
                (element,) = self._reserve(1)
                self._fill(row, k.ARRAY, element)
                self._place(element, node.element, "typed", k.FLAGGED)
            case t.ListType():
                (element,) = self._reserve(1)
                ordered = CLASSES[class_of(node)] == SORTED_SET
                self._fill(row, k.COLLECTION, element, int(ordered))
                self._place(element, node.element, self._inside(place), k.FLAGGED)
            case t.MapType():
                key, value = self._reserve(2)
                ordered = CLASSES[class_of(node)] == SORTED_MAP
                self._fill(row, k.MAP, key, value, int(ordered))
                self._place(key, node.key, self._inside(place), 0)
                self._place(value, node.value, self._inside(place), k.FLAGGED)
        return row

    def _inside(self, place: Place) -> Place:
        """Kryo knows the classes that a field's declaration gives its elements; Kryo 5 those of inner ones too."""
        if place == "field" or (place == "typed" and self.node.kryo == 5):
            return "typed"
        return "tagged"


_SHORT_NAME = 63


def kryo_name(text: str, kryo: int) -> bytes:
    """A class name as Kryo writes it: ASCII with its last byte marked (Kryo 2: up to 63 characters), else behind its
    length."""
    raw = text.encode()
    if raw.isascii() and len(raw) > 1 and (kryo == 5 or len(raw) <= _SHORT_NAME):
        return raw[:-1] + bytes([raw[-1] | 0x80])
    units = text.encode("utf-16-be")
    n = len(units) // 2 + 1
    out = bytearray([0x80 | n & 0x3F | (0x40 if n >> 6 else 0)])
    n >>= 6
    while n:
        out.append(n & 0x7F | (0x80 if n >> 7 else 0))
        n >>= 7
    for high, low in zip(units[::2], units[1::2], strict=True):
        out += chr(high << 8 | low).encode("utf-8", "surrogatepass")
    return bytes(out)
