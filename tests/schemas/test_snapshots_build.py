"""Snapshots built by hand are those that Flink 2.2 wrote in its own migration tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from statelift.schemas.errors import EncodeError
from statelift.schemas.snapshots import (
    LogicalType,
    PojoSnapshot,
    SerializerSnapshot,
    build,
    read_proxy,
    write_proxy,
)
from statelift.schemas.wire import Reader, Writer

TEST = "org.apache.flink.api.java.typeutils.runtime."
POJO = TEST + "PojoSerializerUpgradeTestSpecifications$StaticSchemaPojo"
ANIMAL = TEST + "kryo.KryoPojosForMigrationTests$Animal"
INT, LONG, STRING = build.scalar("Int"), build.scalar("Long"), build.scalar("String")

BUILT: dict[str, SerializerSnapshot] = {
    "int-serializer": INT,
    "big-dec-serializer": build.scalar("BigDec"),
    "byte-primitive-array-serializer": build.primitive_array("Byte"),
    "void-namespace-serializer": build.VOID_NAMESPACE,
    "time-window-serializer": build.TIME_WINDOW,
    "global-window-serializer": build.GLOBAL_WINDOW,
    "list-serializer": build.list_of(STRING),
    "set-serializer": build.set_of(STRING),
    "map-serializer": build.map_of(INT, STRING),
    "generic-array-serializer": build.array_of("java.lang.String", STRING),
    "nullable-padded-serializer": build.nullable(LONG, padding=8),
    "nullable-not-padded-serializer": build.nullable(LONG),
    "either-serializer": build.either(STRING, INT),
    "tuple-serializer": build.tuple_of(STRING, STRING, INT),
    "row-serializer": build.row_of(STRING, LONG, STRING, STRING),
    "ttl-serializer": build.ttl(STRING),
    "timer-serializer": build.timer(STRING, INT),
    "enum-serializer": build.enum(
        "org.apache.flink.api.common.typeutils.base.TestEnum",
        ["FOO", "BAR", "PETER", "PAULA", "NATHANIEL", "EMMA"],
    ),
    "pojo-serializer-identical-schema": build.pojo(
        POJO,
        {
            "name": STRING,
            "age": INT,
            "favoriteColor": build.enum(POJO + "$Color", ["RED", "BLUE", "GREEN"]),
            "married": build.scalar("Boolean"),
        },
    ),
    "kryo-type-serializer-empty-config": build.kryo(ANIMAL),
    "generic-avro-serializer": build.avro(
        '{"type":"record","name":"Address","namespace":"org.apache.flink.formats.avro.generated","fields":['
        '{"name":"num","type":"int"},{"name":"street","type":"string"},{"name":"city","type":"string"},'
        '{"name":"state","type":"string"},{"name":"zip","type":"string"}]}'
    ),
}


@pytest.mark.corpus
@pytest.mark.parametrize("name", BUILT)
def test_built_as_flink_wrote_it(corpus: Path, name: str) -> None:
    written = (corpus / "serializers" / f"{name}-2.2" / "serializer-snapshot").read_bytes()
    writer = Writer()
    write_proxy(writer, BUILT[name])
    assert writer.getvalue() == written
    assert read_proxy(Reader(written)) == BUILT[name]


def test_pojo_fields_stand_in_the_order_of_string_compare_to() -> None:
    """By UTF-16 unit: upper case before lower, and a supplementary character before U+FF21."""
    snapshot = build.pojo("P", {"b": INT, "a1": INT, "a": INT, "Z": INT, "\uff21": INT, "\U00010400": INT})
    assert [field.key_name for field in snapshot.fields] == ["Z", "a", "a1", "b", "\U00010400", "\uff21"]


def test_pojo_with_inherited_fields_and_registered_subclasses() -> None:
    snapshot = build.pojo(
        "Sub",
        {"a": INT, "b": STRING},
        declaring_classes={"b": "Base"},
        registered_subclasses={"Z": INT, "A": LONG},
    )
    assert isinstance(snapshot, PojoSnapshot)
    assert [(field.field_name, field.declaring_class) for field in snapshot.fields] == [
        ("a", "Sub"),
        ("b", "Base"),
    ]
    assert [one.subclass for one in snapshot.registered_subclasses] == ["Z", "A"]


def test_kryo_registers_the_type_once_and_first() -> None:
    snapshot = build.kryo("a.A", registered=["a.B", "a.A"])
    assert [entry.key_name for entry in snapshot.kryo_registrations] == ["a.A", "a.B", build.AVRO_ARRAY]


def test_internal_serializer_of_a_type_without_one_is_refused() -> None:
    with pytest.raises(EncodeError, match="RAW"):
        build.internal(LogicalType(type_root="RAW"))
