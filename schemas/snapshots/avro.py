"""``AvroSerializerSnapshot``: the schema is whole JSON, so the values need no user class."""

from __future__ import annotations

from dataclasses import dataclass

from ..wire import Reader, Writer
from .base import Head, SerializerSnapshot, register
from .names import FLINK


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroSnapshot(SerializerSnapshot):
    """Versions 1 to 3; version 1 has no runtime class (None). ``schema`` is the Avro schema as JSON text."""

    runtime_class: str | None
    schema: str


def read_avro(reader: Reader, head: Head) -> AvroSnapshot:
    runtime_class: str | None
    schema: str | None
    start = reader.pos
    if head.version == 1:
        runtime_class, schema = None, reader.utf("Avro schema")
    elif head.version == 2:
        runtime_class, schema = reader.utf("Avro runtime class"), reader.utf("Avro schema")
    elif head.version == 3:
        runtime_class, schema = reader.str_("Avro runtime class"), reader.str_("Avro schema")
        again = Writer()
        again.str_(runtime_class)
        again.str_(schema)
        if runtime_class is None or schema is None or again.out != reader.data[start : reader.pos]:
            raise reader.error("an Avro snapshot without a runtime class or schema in their one form", start)
    else:
        raise head.unsupported(reader)
    return AvroSnapshot(
        class_name=head.class_name, version=head.version, runtime_class=runtime_class, schema=schema
    )


def write_avro(writer: Writer, snapshot: AvroSnapshot) -> None:
    if snapshot.version == 3:
        writer.str_(snapshot.runtime_class)
        writer.str_(snapshot.schema)
        return
    if snapshot.version == 2:
        writer.utf(snapshot.runtime_class or "")
    writer.utf(snapshot.schema)


register(AvroSnapshot, [FLINK + "formats.avro.typeutils.AvroSerializerSnapshot"], read_avro, write_avro)
