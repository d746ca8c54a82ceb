"""Layouts as data: a :class:`Codec` reads and writes one kind of field, a record is its fields in order.

One table serves the reader and the writer, so what is read is written back byte for byte.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, TypeAlias, TypeVar, cast

from ...schemas.errors import FormatError
from ...schemas.wire import Reader, Writer
from .handles import MAX_KEY_GROUPS, KeyGroupRange

T = TypeVar("T")
E = TypeVar("E", bound=IntEnum)


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """``read(reader, what)`` and its mirror ``write(writer, value)``; ``at_least`` bytes are always there."""

    read: Callable[[Reader, str], T]
    write: Callable[[Writer, T], None]
    at_least: int
    nullable: bool = False


I4: Codec[int] = Codec(Reader.i4, Writer.i4, 4)
I8: Codec[int] = Codec(Reader.i8, Writer.i8, 8)
U1: Codec[int] = Codec(Reader.u1, Writer.u1, 1)
BOOL: Codec[bool] = Codec(Reader.bool_, Writer.bool_, 1)
UTF: Codec[str] = Codec(Reader.utf, Writer.utf, 2)
BA: Codec[bytes] = Codec(Reader.ba, Writer.ba, 4)


def _read_i8_array(reader: Reader, what: str) -> tuple[int, ...]:
    return _i8s(reader, reader.count(what, at_least=8), what)


def _i8s(reader: Reader, n: int, what: str) -> tuple[int, ...]:
    return struct.unpack(f">{n}q", reader.take(8 * n, what))


def _write_i8_array(writer: Writer, values: tuple[int, ...]) -> None:
    writer.i4(len(values))
    writer.bytes(struct.pack(f">{len(values)}q", *values))


I8_ARRAY: Codec[tuple[int, ...]] = Codec(_read_i8_array, _write_i8_array, 4)


def _read_key_group_range(reader: Reader, what: str) -> KeyGroupRange:
    at = reader.pos
    start, number = reader.i4(what), reader.i4(what)
    if start < 0 or number < 0 or start + number > MAX_KEY_GROUPS:
        raise reader.error(f"{what} of {number} key groups from {start} is outside 0 to {MAX_KEY_GROUPS}", at)
    return KeyGroupRange(start, number)


def _write_key_group_range(writer: Writer, value: KeyGroupRange) -> None:
    writer.i4(value.start)
    writer.i4(value.number)


KEY_GROUP_RANGE: Codec[KeyGroupRange] = Codec(_read_key_group_range, _write_key_group_range, 8)


def _read_range_offsets(reader: Reader, what: str) -> tuple[KeyGroupRange, tuple[int, ...]]:
    key_groups = _read_key_group_range(reader, what)
    return key_groups, _i8s(reader, key_groups.number, what)


def _write_range_offsets(writer: Writer, value: tuple[KeyGroupRange, tuple[int, ...]]) -> None:
    key_groups, offsets = value
    if len(offsets) != key_groups.number:
        raise FormatError(f"{len(offsets)} offsets for the {key_groups.number} key groups {key_groups}")
    _write_key_group_range(writer, key_groups)
    writer.bytes(struct.pack(f">{len(offsets)}q", *offsets))


RangeOffsets: TypeAlias = tuple[KeyGroupRange, tuple[int, ...]]
RANGE_OFFSETS: Codec[RangeOffsets] = Codec(_read_range_offsets, _write_range_offsets, 8)
"""KeyGroupRangeOffsets: a range and one offset for each of its key groups."""


def optional(codec: Codec[T], absent: T) -> Codec[T | None]:
    """``absent`` on disk is ``None`` here."""

    def read(reader: Reader, what: str) -> T | None:
        value = codec.read(reader, what)
        return None if value == absent else value

    def write(writer: Writer, value: T | None) -> None:
        codec.write(writer, absent if value is None else value)

    return Codec(read, write, codec.at_least, nullable=True)


def counted(item: Codec[T], count: Codec[int]) -> Codec[T | None]:
    """``0``, or ``1`` and the item: how Flink writes a list of one thing at most."""

    def read(reader: Reader, what: str) -> T | None:
        at = reader.pos
        n = count.read(reader, what)
        if n not in (0, 1):
            raise reader.error(f"{n} of {what}, where there is one at most", at)
        return item.read(reader, what) if n else None

    def write(writer: Writer, value: T | None) -> None:
        count.write(writer, int(value is not None))
        if value is not None:
            item.write(writer, value)

    return Codec(read, write, count.at_least, nullable=True)


def or_none(codec: Codec[T]) -> Codec[T | None]:
    """A tagged value, or the single byte 0 for none."""

    def read(reader: Reader, what: str) -> T | None:
        if reader.remaining and reader.data[reader.pos] == 0:
            reader.pos += 1
            return None
        return codec.read(reader, what)

    def write(writer: Writer, value: T | None) -> None:
        if value is None:
            writer.u1(0)
        else:
            codec.write(writer, value)

    return Codec(read, write, 1, nullable=True)


def array(item: Codec[T]) -> Codec[tuple[T, ...]]:
    """i4 count and the items, refused when they cannot fit in what is left."""

    def read(reader: Reader, what: str) -> tuple[T, ...]:
        n = reader.count(what, at_least=max(1, item.at_least))
        return tuple(item.read(reader, what) for _ in range(n))

    def write(writer: Writer, values: tuple[T, ...]) -> None:
        writer.i4(len(values))
        for value in values:
            item.write(writer, value)

    return Codec(read, write, 4)


def enum_(kind: type[E], codec: Codec[int]) -> Codec[E]:
    """An ordinal."""

    def read(reader: Reader, what: str) -> E:
        at = reader.pos
        value = codec.read(reader, what)
        try:
            return kind(value)
        except ValueError:
            raise reader.error(f"{what} {value} is none of {', '.join(kind.__members__)}", at) from None

    return Codec(read, codec.write, codec.at_least)


def const(value: T) -> Codec[T]:
    """A field that the layout decides and the file does not hold."""
    return Codec(lambda reader, what: value, lambda writer, given: None, 0)


def record(cls: type[T], fields: Mapping[str, Codec[Any]]) -> Codec[T]:
    """A dataclass, its fields in the order they are written; a codec under two names, ``"a b"``, gives both.

    A field of the dataclass that the layout does not hold must have its default to be written.
    """
    parts = [(tuple(names.split()), codec) for names, codec in fields.items()]
    held = {name for names, _ in parts for name in names}
    left = {f.name: f.default for f in dataclasses.fields(cast(Any, cls)) if f.name not in held}

    def read(reader: Reader, what: str) -> T:
        values: dict[str, Any] = {}
        for names, codec in parts:
            value = codec.read(reader, f"{cls.__name__}.{names[0]}")
            values.update(zip(names, value, strict=True) if len(names) > 1 else ((names[0], value),))
        return cls(**values)

    def write(writer: Writer, value: T) -> None:
        for name, default in left.items():
            if getattr(value, name) != default:
                raise FormatError(f"{cls.__name__}.{name} has no place in the layout to be written")
        for names, codec in parts:
            given = tuple(getattr(value, name) for name in names)
            if None in given and not codec.nullable:
                raise FormatError(f"{cls.__name__}.{names[0]} is missing in the layout to be written")
            codec.write(writer, given if len(names) > 1 else given[0])

    return Codec(read, write, sum(codec.at_least for _, codec in parts))


def tagged(kind: str, layouts: Mapping[int, Codec[Any]], attribute: str = "tag") -> Codec[Any]:
    """A byte that says which of the layouts follows."""
    known = ", ".join(str(tag) for tag in sorted(layouts))

    def read(reader: Reader, what: str) -> Any:
        at = reader.pos
        tag = reader.u1(what)
        if tag not in layouts:
            raise reader.error(f"{what} is a {kind} of unknown type {tag}, not one of {known}", at)
        return layouts[tag].read(reader, what)

    def write(writer: Writer, value: Any) -> None:
        tag: int = getattr(value, attribute, -1)
        if tag not in layouts:
            raise FormatError(f"{type(value).__name__} cannot be written as a {kind}")
        writer.u1(tag)
        layouts[tag].write(writer, value)

    return Codec(read, write, 1)
