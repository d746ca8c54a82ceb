"""``LinkedOptionalMap``: an ordered map of optional keys and values, each framed by its length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..errors import UnknownSerializerError, UnsupportedVersionError
from ..wire import Reader, Writer
from .base import Head, OpaqueSnapshot, SerializerSnapshot, read_nested

OMAP_HEADER = 0x000004F2C69A3D70

K = TypeVar("K")
V = TypeVar("V")
X = TypeVar("X")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Generic[K, V]):
    """One entry; ``key`` or ``value`` is None where the writer could not resolve it."""

    key_name: str
    key: K | None
    value: V | None


def read_omap(
    reader: Reader, read_key: Callable[[Reader], K], read_value: Callable[[Reader], V]
) -> tuple[Entry[K, V], ...]:
    """Read a map. The given functions see a reader that ends with the frame and must use it up."""
    start = reader.pos
    if reader.i8("LinkedOptionalMap header") != OMAP_HEADER:
        raise reader.error("a LinkedOptionalMap does not start with its header", start)
    return tuple(
        Entry(
            key_name=reader.utf("map key name"),
            key=_read_optional(reader, read_key),
            value=_read_optional(reader, read_value),
        )
        for _ in range(reader.count("map entries", at_least=4))
    )


def write_omap(
    writer: Writer,
    entries: tuple[Entry[K, V], ...],
    write_key: Callable[[Writer, K], None],
    write_value: Callable[[Writer, V], None],
) -> None:
    writer.i8(OMAP_HEADER)
    writer.i4(len(entries))
    for entry in entries:
        writer.utf(entry.key_name)
        _write_optional(writer, entry.key, write_key)
        _write_optional(writer, entry.value, write_value)


def _read_optional(reader: Reader, read: Callable[[Reader], X]) -> X | None:
    if not reader.bool_("presence flag"):
        return None
    start = reader.pos + 4
    reader.take(reader.i4("frame length"), "frame")
    frame = Reader(reader.data[: reader.pos], start, reader.file)
    value = read(frame)
    frame.expect_end("a framed map entry")
    return value


def _write_optional(writer: Writer, value: X | None, write: Callable[[Writer, X], None]) -> None:
    writer.bool_(value is not None)
    if value is not None:
        frame = Writer()
        write(frame, value)
        writer.ba(frame.getvalue())


def framed_snapshot(head: Head) -> Callable[[Reader], SerializerSnapshot]:
    """A reader of a framed snapshot nested in ``head``; one that is not known is kept as its bytes."""

    def read(frame: Reader) -> SerializerSnapshot:
        start = frame.pos
        try:
            return read_nested(frame, head)
        except UnknownSerializerError as error:
            unknown = error.class_name
        except UnsupportedVersionError:
            unknown = None
        frame.pos = start
        class_name = frame.utf("snapshot class name")
        version = frame.i4("snapshot version")
        raw = frame.bytes(frame.remaining)
        return OpaqueSnapshot(
            class_name=class_name, version=version, raw=raw, unknown_class=unknown or class_name
        )

    return read


def read_nothing(frame: Reader) -> bool:
    """The key of a map whose keys are told by their names alone: an empty frame."""
    return True


def write_nothing(writer: Writer, value: bool) -> None:
    pass


def read_utf(frame: Reader) -> str:
    return frame.utf("framed string")


def write_utf(writer: Writer, value: str) -> None:
    writer.utf(value)


def read_raw(frame: Reader) -> bytes:
    return frame.bytes(frame.remaining)


def write_raw(writer: Writer, value: bytes) -> None:
    writer.bytes(value)
