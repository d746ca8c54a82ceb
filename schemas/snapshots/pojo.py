"""``PojoSerializerSnapshot``: POJOs and Java records."""

from __future__ import annotations

from dataclasses import dataclass

from ..wire import Reader, Writer
from .base import Head, SerializerSnapshot, register, write_snapshot
from .names import R
from .omap import Entry, framed_snapshot, read_nothing, read_omap, write_nothing, write_omap

_VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PojoField:
    """One field. ``declaring_class`` and ``field_name`` are None, and ``key_name`` is ``missing-field-at-N``,
    where an earlier restore dropped the field; ``snapshot`` is None where it could not be written."""

    key_name: str
    declaring_class: str | None
    field_name: str | None
    snapshot: SerializerSnapshot | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PojoSubclass:
    """One subclass. ``resolved`` is False where the class could not be loaded by the writer."""

    subclass: str
    resolved: bool = True
    snapshot: SerializerSnapshot | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PojoSnapshot(SerializerSnapshot):
    """A POJO: ``fields`` in the order of the values' bytes (by name); the position in
    ``registered_subclasses`` is the tag in values; ``non_registered_subclasses`` are only those
    that the writer had met."""

    pojo_class: str
    fields: tuple[PojoField, ...]
    registered_subclasses: tuple[PojoSubclass, ...] = ()
    non_registered_subclasses: tuple[PojoSubclass, ...] = ()


def read_pojo(reader: Reader, head: Head) -> PojoSnapshot:
    if head.version != _VERSION:
        raise head.unsupported(reader)
    return PojoSnapshot(
        class_name=head.class_name,
        version=head.version,
        pojo_class=reader.utf("POJO class"),
        fields=_read_fields(reader, head),
        registered_subclasses=_read_subclasses(reader, head),
        non_registered_subclasses=_read_subclasses(reader, head),
    )


def write_pojo(writer: Writer, snapshot: PojoSnapshot) -> None:
    writer.utf(snapshot.pojo_class)
    _write_fields(writer, snapshot.fields)
    _write_subclasses(writer, snapshot.registered_subclasses)
    _write_subclasses(writer, snapshot.non_registered_subclasses)


def _read_field_key(frame: Reader) -> tuple[str, str]:
    return frame.utf("declaring class"), frame.utf("field name")


def _write_field_key(writer: Writer, key: tuple[str, str]) -> None:
    declaring_class, field_name = key
    writer.utf(declaring_class)
    writer.utf(field_name)


def _read_fields(reader: Reader, head: Head) -> tuple[PojoField, ...]:
    fields = []
    for entry in read_omap(reader, _read_field_key, framed_snapshot(head)):
        declaring_class, field_name = entry.key or (None, None)
        fields.append(
            PojoField(
                key_name=entry.key_name,
                declaring_class=declaring_class,
                field_name=field_name,
                snapshot=entry.value,
            )
        )
    return tuple(fields)


def _write_fields(writer: Writer, fields: tuple[PojoField, ...]) -> None:
    entries = []
    for field in fields:
        missing = field.declaring_class is None or field.field_name is None
        key = None if missing else (field.declaring_class or "", field.field_name or "")
        entries.append(Entry(key_name=field.key_name, key=key, value=field.snapshot))
    write_omap(writer, tuple(entries), _write_field_key, write_snapshot)


def _read_subclasses(reader: Reader, head: Head) -> tuple[PojoSubclass, ...]:
    return tuple(
        PojoSubclass(subclass=entry.key_name, resolved=entry.key is not None, snapshot=entry.value)
        for entry in read_omap(reader, read_nothing, framed_snapshot(head))
    )


def _write_subclasses(writer: Writer, subclasses: tuple[PojoSubclass, ...]) -> None:
    entries = tuple(
        Entry(key_name=one.subclass, key=True if one.resolved else None, value=one.snapshot)
        for one in subclasses
    )
    write_omap(writer, entries, write_nothing, write_snapshot)


register(PojoSnapshot, [R + "PojoSerializerSnapshot"], read_pojo, write_pojo)
