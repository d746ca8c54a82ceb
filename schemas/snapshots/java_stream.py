"""A bounded parser and writer of Java's serialization format, for the streams that snapshots hold.

Nothing is ever instantiated: a stream becomes a tree of descriptors, fields and values, and the tree becomes
the same bytes again. Streams have no length, so parsing one is also the only way to find its end. Not read:
proxy classes, exceptions, resets, and externalizable objects without block data (none is found in snapshots).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..wire import Reader

MAGIC = 0xACED0005
FIRST_HANDLE = 0x7E0000
MAX_DEPTH = 96
MAX_ANCESTORS = 16
SC_WRITE_METHOD, SC_SERIALIZABLE, SC_EXTERNALIZABLE, SC_BLOCK_DATA, SC_ENUM = 1, 2, 4, 8, 16

(
    TC_NULL,
    TC_REFERENCE,
    TC_CLASSDESC,
    TC_OBJECT,
    TC_STRING,
    TC_ARRAY,
    TC_CLASS,
    TC_BLOCKDATA,
    TC_ENDBLOCKDATA,
    TC_RESET,
    TC_BLOCKDATALONG,
    TC_EXCEPTION,
    TC_LONGSTRING,
    TC_PROXYCLASSDESC,
    TC_ENUM,
) = range(0x70, 0x7F)

PRIMITIVE_SIZES = {"B": 1, "C": 2, "D": 8, "F": 4, "I": 4, "J": 8, "S": 2, "Z": 1}


@dataclass(slots=True, kw_only=True, eq=False)
class JavaString:
    """A string of its own identity: the stream says where two equal strings were one object."""

    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaField:
    """A field of a class descriptor; ``signature`` only where it is a reference (code ``L`` or ``[``)."""

    type_code: str
    name: str
    signature: JavaString | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class JavaClassDesc:
    """``ObjectStreamClass``."""

    name: str
    serial_version_uid: int
    flags: int
    fields: tuple[JavaField, ...] = ()
    annotation: tuple[Any, ...] = ()
    super_desc: JavaClassDesc | None = None

    def lineage(self) -> list[JavaClassDesc]:
        """The classes from the topmost serializable one down to this: the order of their data."""
        line: list[JavaClassDesc] = []
        desc: JavaClassDesc | None = self
        while desc is not None:
            line.append(desc)
            desc = desc.super_desc
        return line[::-1]


@dataclass(slots=True, kw_only=True, eq=False)
class JavaObject:
    """An object: for each class of its lineage the values of the fields (primitives as raw bytes) and what
    the class's own ``writeObject`` added."""

    desc: JavaClassDesc
    values: list[dict[str, Any]] = field(default_factory=list)
    annotations: list[tuple[Any, ...]] = field(default_factory=list)

    def get(self, name: str) -> Any:
        """The value of the field ``name``, looked for from the object's own class upwards; None if absent."""
        for values in reversed(self.values):
            if name in values:
                return values[name]
        return None


@dataclass(slots=True, kw_only=True, eq=False)
class JavaEnum:
    """An enum constant by name."""

    desc: JavaClassDesc
    constant: JavaString


@dataclass(slots=True, kw_only=True, eq=False)
class JavaArray:
    """An array; elements of primitive type are raw bytes, together."""

    desc: JavaClassDesc
    elements: tuple[Any, ...] | bytes = ()
    count: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class JavaClass:
    """A ``java.lang.Class`` object."""

    desc: JavaClassDesc


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockData:
    """Primitive data written by a class's own ``writeObject``; ``long`` tells which header it had."""

    data: bytes
    long: bool = False


JavaContent = JavaObject | JavaEnum | JavaArray | JavaClass | JavaClassDesc | JavaString | BlockData | None


def read_java(reader: Reader) -> JavaContent:
    """Read one stream of one object and stop right behind it. Raises FormatError, UnexpectedEndError."""
    start = reader.pos
    if reader.u4("Java stream header") != MAGIC:
        raise reader.error("a Java serialization stream does not start with aced0005", start)
    content: JavaContent = _Parser(reader).content(0)
    return content


class _Parser:
    """One stream: the reader and the table of handles."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.handles: list[Any] = []
        self.by_tag: dict[int, Callable[[int], Any]] = {
            TC_NULL: lambda depth: None,
            TC_REFERENCE: self.reference,
            TC_CLASSDESC: self.class_desc,
            TC_OBJECT: self.object,
            TC_STRING: self.string,
            TC_ARRAY: self.array,
            TC_CLASS: self.class_,
            TC_BLOCKDATA: lambda depth: BlockData(data=reader.bytes(reader.u1("block length"), "block data")),
            TC_BLOCKDATALONG: lambda depth: BlockData(data=reader.ba("block data"), long=True),
            TC_LONGSTRING: self.refuse_long_string,
            TC_ENUM: self.enum,
        }

    def content(self, depth: int) -> Any:
        reader = self.reader
        if depth > MAX_DEPTH:
            raise reader.error(f"a Java stream is nested deeper than {MAX_DEPTH}")
        tag = reader.u1("Java stream tag")
        read = self.by_tag.get(tag)
        if read is None:
            raise reader.error(f"tag {tag:#04x} of a Java stream is not read", reader.pos - 1)
        return read(depth)

    def refuse_long_string(self, depth: int) -> Any:
        raise self.reader.error("a Java string longer than 65535 bytes is not read", self.reader.pos - 1)

    def reference(self, depth: int) -> Any:
        start = self.reader.pos
        index = self.reader.i4("Java handle") - FIRST_HANDLE
        if not 0 <= index < len(self.handles):
            raise self.reader.error(f"Java handle {index} of {len(self.handles)}", start)
        return self.handles[index]

    def string(self, depth: int) -> JavaString:
        text = JavaString(value=self.reader.utf("Java string"))
        self.handles.append(text)
        return text

    def typed(self, kind: type[Any], depth: int, what: str) -> Any:
        """A content that can only be of one kind."""
        start = self.reader.pos
        value = self.content(depth + 1)
        if not isinstance(value, kind):
            raise self.reader.error(f"a Java stream holds {type(value).__name__} for {what}", start)
        return value

    def optional_desc(self, depth: int) -> JavaClassDesc | None:
        start = self.reader.pos
        value = self.content(depth + 1)
        if value is not None and not isinstance(value, JavaClassDesc):
            raise self.reader.error("a Java stream holds no class descriptor where one belongs", start)
        return value

    def class_desc(self, depth: int) -> JavaClassDesc:
        reader = self.reader
        name, uid = reader.utf("Java class name"), reader.i8("serialVersionUID")
        desc = JavaClassDesc(name=name, serial_version_uid=uid, flags=0)
        self.handles.append(desc)
        flags = reader.u1("class flags")
        fields = [self.field_desc(depth) for _ in range(reader.u2("field count"))]
        if len({one.name for one in fields}) < len(fields):
            raise reader.error(f"the Java class {name} has two fields of one name")
        desc.fields = tuple(fields)
        desc.annotation = self.annotation(depth)
        start = reader.pos
        desc.super_desc = self.optional_desc(depth)
        ancestors = 0
        above = desc.super_desc
        while above is not None:
            ancestors += 1
            if above is desc or ancestors > MAX_ANCESTORS:
                raise reader.error(
                    f"the Java class {name} has more than {MAX_ANCESTORS} superclasses, or is one", start
                )
            above = above.super_desc
        desc.flags = flags  # last, so that a class that is not yet whole is none that an object can have
        return desc

    def field_desc(self, depth: int) -> JavaField:
        code = chr(self.reader.u1("field type code"))
        name = self.reader.utf("field name")
        if code in PRIMITIVE_SIZES:
            return JavaField(type_code=code, name=name)
        if code not in "L[":
            raise self.reader.error(f"{code!r} is not a Java type code")
        return JavaField(type_code=code, name=name, signature=self.typed(JavaString, depth, "a signature"))

    def annotation(self, depth: int) -> tuple[Any, ...]:
        """The contents up to the end-of-block mark."""
        found: list[Any] = []
        while True:
            if self.reader.remaining and self.reader.data[self.reader.pos] == TC_ENDBLOCKDATA:
                self.reader.pos += 1
                return tuple(found)
            found.append(self.content(depth + 1))

    def object(self, depth: int) -> JavaObject:
        start = self.reader.pos
        desc = self.typed(JavaClassDesc, depth, "the class of an object")
        value = JavaObject(desc=desc)
        self.handles.append(value)
        for one in desc.lineage():
            kind = one.flags & (SC_SERIALIZABLE | SC_EXTERNALIZABLE)
            if not kind or (kind == SC_EXTERNALIZABLE and not one.flags & SC_BLOCK_DATA):
                raise self.reader.error(f"objects of the Java class {one.name} have no known end", start)
            value.values.append({f.name: self.value(f, depth) for f in one.fields})
            own = one.flags & (SC_WRITE_METHOD | SC_EXTERNALIZABLE)
            value.annotations.append(self.annotation(depth) if own else ())
        return value

    def value(self, one: JavaField, depth: int) -> Any:
        if one.type_code in PRIMITIVE_SIZES:
            return self.reader.bytes(PRIMITIVE_SIZES[one.type_code], one.name)
        return self.content(depth + 1)

    def enum(self, depth: int) -> JavaEnum:
        desc = self.typed(JavaClassDesc, depth, "the class of an enum")
        index = len(self.handles)
        self.handles.append(None)
        constant = self.typed(JavaString, depth, "an enum constant")
        value = JavaEnum(desc=desc, constant=constant)
        self.handles[index] = value
        return value

    def class_(self, depth: int) -> JavaClass:
        value = JavaClass(desc=self.typed(JavaClassDesc, depth, "a class"))
        self.handles.append(value)
        return value

    def array(self, depth: int) -> JavaArray:
        reader = self.reader
        desc = self.typed(JavaClassDesc, depth, "the class of an array")
        value = JavaArray(desc=desc)
        self.handles.append(value)
        size = PRIMITIVE_SIZES.get(desc.name[1:])
        value.count = reader.count("Java array", at_least=size or 1)
        if size is not None:
            value.elements = reader.bytes(value.count * size, "Java array")
        else:
            value.elements = tuple(self.content(depth + 1) for _ in range(value.count))
        return value
