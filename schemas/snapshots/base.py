"""What every serializer snapshot is, and the registry that finds the layout of one by its class name.

A versioned snapshot (``TypeSerializerSnapshot.writeVersionedSnapshot``) is the name of the snapshot class, a
version and a payload *without a length*: a class that is not registered here cannot be stepped over, except
where Flink frames it (see :mod:`.omap`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import UnknownSerializerError, UnsupportedVersionError
from ..wire import Reader, Writer

MAX_DEPTH = 48
PROXY_VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SerializerSnapshot:
    """One serializer snapshot: the binary name of the Flink *snapshot* class and its version."""

    class_name: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaqueSnapshot(SerializerSnapshot):
    """A snapshot kept as the bytes ``raw`` behind its version, because ``unknown_class`` (itself or one
    nested in it) has no layout here. Only inside a frame, where Flink gives the length."""

    raw: bytes
    unknown_class: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What was read of a snapshot before its payload: ``offset`` is where its class name starts."""

    class_name: str
    version: int
    offset: int
    depth: int

    def unsupported(self, reader: Reader, what: str | None = None) -> UnsupportedVersionError:
        version = f"version {self.version}" if what is None else what
        return UnsupportedVersionError(
            f"{version} of {self.class_name} is not known", where=reader.where(self.offset)
        )


PayloadReader = Callable[[Reader, Head], SerializerSnapshot]
PayloadWriter = Callable[[Writer, Any], None]

_READERS: dict[str, PayloadReader] = {}
_READERS_BY_VERSION: dict[int, PayloadReader] = {}
_WRITERS: dict[type[SerializerSnapshot], PayloadWriter] = {}


def register(
    kind: type[SerializerSnapshot], names: Iterable[str], read: PayloadReader, write: PayloadWriter
) -> None:
    """Make the snapshot classes ``names`` readable as ``kind``; they see the payload only."""
    _WRITERS[kind] = write
    for name in names:
        _READERS[name] = read


def register_version(
    kind: type[SerializerSnapshot], version: int, read: PayloadReader, write: PayloadWriter
) -> None:
    """As :func:`register`, for a version number that alone tells the layout whatever the class."""
    _WRITERS[kind] = write
    _READERS_BY_VERSION[version] = read


def is_known(class_name: str) -> bool:
    """Whether the payload of the snapshot class can be read."""
    return class_name in _READERS


def read_snapshot(reader: Reader) -> SerializerSnapshot:
    """Read one versioned snapshot with all that is nested in it.

    Raises UnknownSerializerError for a class whose layout is not known, UnsupportedVersionError for a version
    of a known class that is not, UnexpectedEndError and FormatError for bytes that Flink does not write.
    """
    return _read(reader, 0)


def read_nested(reader: Reader, head: Head) -> SerializerSnapshot:
    """Read a versioned snapshot that stands inside the payload of ``head``."""
    if head.depth >= MAX_DEPTH:
        raise reader.error(f"serializer snapshots nested deeper than {MAX_DEPTH}")
    return _read(reader, head.depth + 1)


def _read(reader: Reader, depth: int) -> SerializerSnapshot:
    offset = reader.pos
    class_name = reader.utf("snapshot class name")
    version = reader.i4("snapshot version")
    read = _READERS_BY_VERSION.get(version) or _READERS.get(class_name)
    if read is None:
        raise UnknownSerializerError(class_name, where=reader.where(offset))
    return read(reader, Head(class_name=class_name, version=version, offset=offset, depth=depth))


def write_snapshot(writer: Writer, snapshot: SerializerSnapshot) -> None:
    """Write one versioned snapshot; what :func:`read_snapshot` returned is written byte for byte."""
    writer.utf(snapshot.class_name)
    writer.i4(snapshot.version)
    _WRITERS[type(snapshot)](writer, snapshot)


def read_proxy(reader: Reader) -> SerializerSnapshot:
    """Read the form that state meta information holds (``TypeSerializerSnapshotSerializationUtil``)."""
    offset = reader.pos
    version = reader.i4("serializer snapshot proxy version")
    if version != PROXY_VERSION:
        raise UnsupportedVersionError(
            f"serializer snapshot proxy version {version} is not read (1 is of Flink 1.6 and earlier)",
            where=reader.where(offset),
            todo="take the savepoint again with Flink 1.8 to 1.16",
        )
    return read_snapshot(reader)


def write_proxy(writer: Writer, snapshot: SerializerSnapshot) -> None:
    writer.i4(PROXY_VERSION)
    write_snapshot(writer, snapshot)


def _write_opaque(writer: Writer, snapshot: OpaqueSnapshot) -> None:
    writer.bytes(snapshot.raw)


_WRITERS[OpaqueSnapshot] = _write_opaque
