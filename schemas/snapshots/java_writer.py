"""Writes the trees of :mod:`.java_stream` as Java's ``ObjectOutputStream`` would: byte for byte."""

from __future__ import annotations

from typing import Any

from ..wire import Writer
from .java_stream import (
    FIRST_HANDLE,
    MAGIC,
    PRIMITIVE_SIZES,
    SC_EXTERNALIZABLE,
    SC_WRITE_METHOD,
    TC_ARRAY,
    TC_BLOCKDATA,
    TC_BLOCKDATALONG,
    TC_CLASS,
    TC_CLASSDESC,
    TC_ENDBLOCKDATA,
    TC_ENUM,
    TC_NULL,
    TC_OBJECT,
    TC_REFERENCE,
    TC_STRING,
    BlockData,
    JavaArray,
    JavaClass,
    JavaClassDesc,
    JavaContent,
    JavaEnum,
    JavaObject,
    JavaString,
)


def write_java(content: JavaContent) -> bytes:
    """The stream of one object; what is the same Python object twice becomes a handle."""
    emitter = _Emitter()
    emitter.writer.u4(MAGIC)
    emitter.content(content)
    return emitter.writer.getvalue()


class _Emitter:
    def __init__(self) -> None:
        self.writer = Writer()
        self.handles: dict[int, int] = {}

    def handle(self, value: Any) -> None:
        self.handles[id(value)] = FIRST_HANDLE + len(self.handles)

    def content(self, value: Any) -> None:
        writer = self.writer
        if value is None:
            writer.u1(TC_NULL)
        elif id(value) in self.handles:
            writer.u1(TC_REFERENCE)
            writer.i4(self.handles[id(value)])
        elif isinstance(value, JavaString):
            writer.u1(TC_STRING)
            self.handle(value)
            writer.utf(value.value)
        elif isinstance(value, JavaClassDesc):
            self.class_desc(value)
        elif isinstance(value, JavaObject):
            self.object(value)
        elif isinstance(value, JavaEnum):
            writer.u1(TC_ENUM)
            self.content(value.desc)
            self.handle(value)
            self.content(value.constant)
        elif isinstance(value, JavaClass):
            writer.u1(TC_CLASS)
            self.content(value.desc)
            self.handle(value)
        elif isinstance(value, JavaArray):
            self.array(value)
        elif isinstance(value, BlockData):
            self.block(value)

    def class_desc(self, desc: JavaClassDesc) -> None:
        writer = self.writer
        writer.u1(TC_CLASSDESC)
        writer.utf(desc.name)
        writer.i8(desc.serial_version_uid)
        self.handle(desc)
        writer.u1(desc.flags)
        writer.u2(len(desc.fields))
        for one in desc.fields:
            writer.u1(ord(one.type_code))
            writer.utf(one.name)
            if one.signature is not None:
                self.content(one.signature)
        self.annotation(desc.annotation)
        self.content(desc.super_desc)

    def object(self, value: JavaObject) -> None:
        self.writer.u1(TC_OBJECT)
        self.content(value.desc)
        self.handle(value)
        for desc, values, annotation in zip(
            value.desc.lineage(), value.values, value.annotations, strict=True
        ):
            for one in desc.fields:
                if one.type_code in PRIMITIVE_SIZES:
                    self.writer.bytes(values[one.name])
                else:
                    self.content(values[one.name])
            if desc.flags & (SC_WRITE_METHOD | SC_EXTERNALIZABLE):
                self.annotation(annotation)

    def array(self, value: JavaArray) -> None:
        self.writer.u1(TC_ARRAY)
        self.content(value.desc)
        self.handle(value)
        self.writer.i4(value.count)
        if isinstance(value.elements, bytes):
            self.writer.bytes(value.elements)
        else:
            for element in value.elements:
                self.content(element)

    def annotation(self, contents: tuple[Any, ...]) -> None:
        for one in contents:
            self.content(one)
        self.writer.u1(TC_ENDBLOCKDATA)

    def block(self, value: BlockData) -> None:
        if value.long:
            self.writer.u1(TC_BLOCKDATALONG)
            self.writer.ba(value.data)
        else:
            self.writer.u1(TC_BLOCKDATA)
            self.writer.u1(len(value.data))
            self.writer.bytes(value.data)
