"""``KryoSerializerSnapshot``. It does not say which Kryo wrote the values (1.x: 2.24, 2.x: 5.6)."""

from __future__ import annotations

from dataclasses import dataclass

from ..wire import Reader, Writer
from .base import Head, SerializerSnapshot, register
from .names import K
from .omap import Entry, read_omap, read_raw, read_utf, write_omap, write_raw, write_utf

_VERSION = 2
UNSPECIFIED, CLASS, INSTANCE = range(3)
"""``KryoRegistration.SerializerDefinitionType`` by ordinal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KryoRegistration:
    """``KryoRegistration``: ``serializer`` is None (UNSPECIFIED), a class name (CLASS) or the Java stream
    of a serializer (INSTANCE, never deserialized)."""

    registered_class: str
    serializer: str | bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KryoSnapshot(SerializerSnapshot):
    """Kryo's settings for values of ``type_class``; class tags in values follow the registrations' order.

    ``default_serializers`` are given as Java streams, ``default_serializer_classes`` by name.
    """

    type_class: str
    kryo_registrations: tuple[Entry[str, KryoRegistration], ...]
    default_serializers: tuple[Entry[str, bytes], ...] = ()
    default_serializer_classes: tuple[Entry[str, str], ...] = ()


def read_kryo(reader: Reader, head: Head) -> KryoSnapshot:
    if head.version != _VERSION:
        raise head.unsupported(reader)
    return KryoSnapshot(
        class_name=head.class_name,
        version=head.version,
        type_class=reader.utf("Kryo type class"),
        kryo_registrations=read_omap(reader, read_utf, _read_registration),
        default_serializers=read_omap(reader, read_utf, read_raw),
        default_serializer_classes=read_omap(reader, read_utf, read_utf),
    )


def write_kryo(writer: Writer, snapshot: KryoSnapshot) -> None:
    writer.utf(snapshot.type_class)
    write_omap(writer, snapshot.kryo_registrations, write_utf, _write_registration)
    write_omap(writer, snapshot.default_serializers, write_utf, write_raw)
    write_omap(writer, snapshot.default_serializer_classes, write_utf, write_utf)


def _read_registration(frame: Reader) -> KryoRegistration:
    registered_class = frame.utf("registered class")
    start = frame.pos
    kind = frame.i4("Kryo registration kind")
    serializer: str | bytes | None
    if kind == UNSPECIFIED:
        serializer = None
    elif kind == CLASS:
        serializer = frame.utf("Kryo serializer class")
    elif kind == INSTANCE:
        serializer = frame.bytes(frame.remaining)
    else:
        raise frame.error(f"{kind} is not a kind of Kryo registration (0, 1 or 2)", start)
    return KryoRegistration(registered_class=registered_class, serializer=serializer)


def _write_registration(writer: Writer, registration: KryoRegistration) -> None:
    writer.utf(registration.registered_class)
    if registration.serializer is None:
        writer.i4(UNSPECIFIED)
    elif isinstance(registration.serializer, str):
        writer.i4(CLASS)
        writer.utf(registration.serializer)
    else:
        writer.i4(INSTANCE)
        writer.bytes(registration.serializer)


register(KryoSnapshot, [K + "KryoSerializerSnapshot"], read_kryo, write_kryo)
