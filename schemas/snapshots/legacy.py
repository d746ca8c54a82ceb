"""``TypeSerializerConfigSnapshot`` of Flink 1.7 to 1.16: the serializer itself is in it, Java-serialized.

Flink since 1.17 refuses these. They are read as far as is needed to find what follows, and never deserialized;
their bytes are kept for writing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import FormatError, UnknownSerializerError
from ..wire import Reader, Writer
from .base import PROXY_VERSION, Head, SerializerSnapshot, register_version
from .java_stream import JavaObject, read_java
from .names import FLINK, TU, B, R
from .omap import framed_snapshot

ADAPTER_VERSION = 0x7A53C4F0
_SERIALIZER_PROXY_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyConfigSnapshot(SerializerSnapshot):
    """A config snapshot and its serializer: ``serializer_class`` is the class of the Java stream (None where that
    is no plain object), ``nested`` what the body of a composite one says of its parts."""

    serializer_class: str | None
    serializer_stream: bytes
    legacy_version: int
    nested: tuple[SerializerSnapshot, ...]
    body: bytes


def read_legacy(reader: Reader, head: Head) -> LegacyConfigSnapshot:
    start = reader.pos
    proxy_version = reader.i4("serializer proxy version")
    if proxy_version != _SERIALIZER_PROXY_VERSION:
        raise reader.error(f"a legacy config snapshot with serializer proxy version {proxy_version}", start)
    stream_at = reader.pos + 4
    stream = reader.ba("serializer stream")
    legacy_version = reader.i4("legacy version")
    body_at = reader.pos
    read_body = _BODIES.get(head.class_name)
    if read_body is None:
        raise UnknownSerializerError(head.class_name, where=reader.where(head.offset))
    nested = read_body(reader, head)
    return LegacyConfigSnapshot(
        class_name=head.class_name,
        version=head.version,
        serializer_class=_class_of(Reader(reader.data[: stream_at + len(stream)], stream_at, reader.file)),
        serializer_stream=stream,
        legacy_version=legacy_version,
        nested=nested,
        body=bytes(reader.data[body_at : reader.pos]),
    )


def write_legacy(writer: Writer, snapshot: LegacyConfigSnapshot) -> None:
    writer.i4(_SERIALIZER_PROXY_VERSION)
    writer.ba(snapshot.serializer_stream)
    writer.i4(snapshot.legacy_version)
    writer.bytes(snapshot.body)


def _class_of(reader: Reader) -> str | None:
    try:
        content = read_java(reader)
    except FormatError:
        return None
    return content.desc.name if isinstance(content, JavaObject) else None


def _name(reader: Reader, head: Head) -> tuple[SerializerSnapshot, ...]:
    reader.utf("serializer class name")
    return ()


def _composite(reader: Reader, head: Head) -> tuple[SerializerSnapshot, ...]:
    """Offsets of serializers and configs into a blob that holds them in turn."""
    count = reader.count("nested serializers", at_least=8)
    offsets = [(reader.i4("serializer offset"), reader.i4("config offset")) for _ in range(count)]
    size = reader.i4("size of the nested serializers")
    blob_at = reader.pos
    reader.take(size, "nested serializers")
    ends = [offset for offset, _ in offsets[1:]] + [size]
    read = framed_snapshot(head)
    nested = []
    for (_, config_at), end in zip(offsets, ends, strict=True):
        if not 0 <= config_at <= end <= size:
            raise reader.error(f"nested config from {config_at} to {end} of {size} bytes", blob_at)
        part = Reader(reader.data[: blob_at + end], blob_at + config_at, reader.file)
        if part.i4("serializer snapshot proxy version") != PROXY_VERSION:
            raise reader.error("a nested config is not a serializer snapshot", blob_at + config_at)
        nested.append(read(part))
    return tuple(nested)


def _composite_and_class(reader: Reader, head: Head) -> tuple[SerializerSnapshot, ...]:
    nested = _composite(reader, head)
    read_java(reader)
    return nested


_BODIES: dict[str, Callable[[Reader, Head], tuple[SerializerSnapshot, ...]]] = {
    TU + "ParameterlessTypeSerializerConfig": _name,
    B + "CollectionSerializerConfigSnapshot": _composite,
    B + "MapSerializerConfigSnapshot": _composite,
    R + "EitherSerializerConfigSnapshot": _composite,
    R + "RowSerializer$RowSerializerConfigSnapshot": _composite,
    FLINK + "streaming.api.operators.TimerSerializerSnapshot": _composite,
    R + "TupleSerializerConfigSnapshot": _composite_and_class,
    B + "GenericArraySerializerConfigSnapshot": _composite_and_class,
}

register_version(LegacyConfigSnapshot, ADAPTER_VERSION, read_legacy, write_legacy)
