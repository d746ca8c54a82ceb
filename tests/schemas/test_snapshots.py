"""The layouts of serializer snapshots, by bytes that the format description gives."""

from __future__ import annotations

import hashlib
import struct

import pytest
from statelift.schemas.errors import (
    FormatError,
    UnexpectedEndError,
    UnknownSerializerError,
    UnsupportedVersionError,
)
from statelift.schemas.snapshots import (
    AvroSnapshot,
    CompositeSnapshot,
    EnumSnapshot,
    GenericSnapshot,
    KryoRegistration,
    KryoSnapshot,
    LegacyConfigSnapshot,
    OpaqueSnapshot,
    PojoField,
    PojoSnapshot,
    SerializerSnapshot,
    SimpleSnapshot,
    TtlAwareSnapshot,
    read_proxy,
    read_snapshot,
    write_proxy,
    write_snapshot,
)
from statelift.schemas.wire import Reader, Writer

BASE = "org.apache.flink.api.common.typeutils.base."
RUNTIME = "org.apache.flink.api.java.typeutils.runtime."


def utf(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def i4(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}i", *numbers)


INT = utf(BASE + "IntSerializer$IntSerializerSnapshot") + i4(3)
STRING = utf(BASE + "StringSerializer$StringSerializerSnapshot") + i4(3)
LONG = utf(BASE + "LongSerializer$LongSerializerSnapshot") + i4(3)
C0 = bytes.fromhex("000de704")
N1 = bytes.fromhex("001457fd 00000001")
OMAP = bytes.fromhex("000004f2c69a3d70")


def simple(name: str) -> SimpleSnapshot:
    return SimpleSnapshot(class_name=f"{BASE}{name}Serializer${name}SerializerSnapshot", version=3)


def frame(data: bytes) -> bytes:
    return b"\1" + i4(len(data)) + data


def read(data: bytes) -> SerializerSnapshot:
    """What ``data`` says, to its last byte, having seen that it is written back as it was."""
    reader = Reader(data, file="f")
    snapshot = read_snapshot(reader)
    reader.expect_end("the snapshot")
    writer = Writer()
    write_snapshot(writer, snapshot)
    assert writer.getvalue() == data
    return snapshot


def test_lengths_of_the_short_forms_are_those_of_the_description() -> None:
    assert (len(INT), len(STRING), len(LONG)) == (84, 90, 86)


def test_simple_has_no_payload_in_version_3() -> None:
    assert read(INT) == simple("Int")


def test_simple_of_flink_1_7_names_its_serializer() -> None:
    snapshot = read(INT[:-4] + i4(2) + utf(BASE + "IntSerializer"))
    assert isinstance(snapshot, SimpleSnapshot)
    assert snapshot.serializer_class == BASE + "IntSerializer"


def test_generic_names_the_class_of_its_values() -> None:
    name = RUNTIME + "ValueSerializer$ValueSerializerSnapshot"
    assert read(utf(name) + i4(2) + utf("org.apache.flink.types.IntValue")) == GenericSnapshot(
        class_name=name, version=2, type_class="org.apache.flink.types.IntValue"
    )


def test_list_is_composite_with_one_nested() -> None:
    data = utf(BASE + "ListSerializerSnapshot") + i4(3) + C0 + i4(1) + N1 + i4(1) + INT
    assert read(data) == CompositeSnapshot(
        class_name=BASE + "ListSerializerSnapshot",
        version=3,
        outer_version=1,
        outer=None,
        nested=(simple("Int"),),
    )


@pytest.mark.parametrize(
    ("name", "outer_version", "outer_bytes", "outer"),
    [
        (BASE + "GenericArraySerializerSnapshot", 1, utf("java.lang.Integer"), "java.lang.Integer"),
        (RUNTIME + "TupleSerializerSnapshot", 2, utf("a.MyTuple"), "a.MyTuple"),
        (RUNTIME + "NullableSerializer$NullableSerializerSnapshot", 2, i4(8), 8),
        (RUNTIME + "RowSerializer$RowSerializerSnapshot", 4, b"\1", True),
        (RUNTIME + "RowSerializer$RowSerializerSnapshot", 4, b"\0", False),
        (RUNTIME + "RowSerializer$RowSerializerSnapshot", 3, b"", None),
        ("org.apache.flink.api.scala.typeutils.ScalaOptionSerializerSnapshot", 2, b"", None),
        ("org.apache.flink.api.scala.typeutils.ScalaCaseClassSerializerSnapshot", 2, utf("a.B"), "a.B"),
        ("org.apache.flink.cep.nfa.NFAStateSerializerSnapshot", 2, b"\1", True),
    ],
)
def test_outer_part_of_a_composite_depends_on_class_and_outer_version(
    name: str, outer_version: int, outer_bytes: bytes, outer: object
) -> None:
    snapshot = read(utf(name) + i4(3) + C0 + i4(outer_version) + outer_bytes + N1 + i4(2) + INT + STRING)
    assert isinstance(snapshot, CompositeSnapshot)
    assert snapshot.outer == outer
    assert snapshot.nested == (simple("Int"), simple("String"))


def test_composite_before_version_3_has_no_header() -> None:
    snapshot = read(utf(RUNTIME + "EitherSerializerSnapshot") + i4(2) + N1 + i4(2) + INT + STRING)
    assert isinstance(snapshot, CompositeSnapshot)
    assert (snapshot.version, snapshot.outer_version) == (2, 2)


def test_enum_lists_its_constants() -> None:
    name = BASE + "EnumSerializer$EnumSerializerSnapshot"
    data = utf(name) + i4(3) + utf("demo.Color") + i4(3) + utf("RED") + utf("GREEN") + utf("BLUE")
    assert read(data) == EnumSnapshot(
        class_name=name, version=3, enum_class="demo.Color", constants=("RED", "GREEN", "BLUE")
    )


POJO = utf(RUNTIME + "PojoSerializerSnapshot") + i4(2) + utf("demo.P")


def pojo_fields(*fields: tuple[str, bytes]) -> bytes:
    return (
        OMAP
        + i4(len(fields))
        + b"".join(utf(name) + frame(utf("demo.P") + utf(name)) + value for name, value in fields)
    )


def test_pojo_of_the_description() -> None:
    data = (
        POJO
        + bytes.fromhex("000004f2c69a3d70 00000003")
        + bytes.fromhex("0002 6964 01 0000000c 0006 64656d6f2e50 0002 6964 01 00000054")
        + INT
        + bytes.fromhex("0004 6e616d65 01 0000000e 0006 64656d6f2e50 0004 6e616d65 01 0000005a")
        + STRING
        + bytes.fromhex("0002 7473 01 0000000c 0006 64656d6f2e50 0002 7473 01 00000056")
        + LONG
        + bytes.fromhex("000004f2c69a3d70 00000000 000004f2c69a3d70 00000000")
    )
    snapshot = read(data)
    assert isinstance(snapshot, PojoSnapshot)
    assert snapshot.pojo_class == "demo.P"
    assert snapshot.fields == tuple(
        PojoField(key_name=name, declaring_class="demo.P", field_name=name, snapshot=simple(kind))
        for name, kind in (("id", "Int"), ("name", "String"), ("ts", "Long"))
    )


def test_pojo_field_dropped_by_an_earlier_restore_has_no_key() -> None:
    data = POJO + OMAP + i4(1) + utf("missing-field-at-0") + b"\0" + frame(INT) + (OMAP + i4(0)) * 2
    snapshot = read(data)
    assert isinstance(snapshot, PojoSnapshot)
    assert snapshot.fields == (
        PojoField(
            key_name="missing-field-at-0", declaring_class=None, field_name=None, snapshot=simple("Int")
        ),
    )


def test_pojo_subclasses_keep_their_order_and_may_be_without_a_serializer() -> None:
    registered = OMAP + i4(2) + utf("demo.B") + frame(b"") + frame(INT) + utf("demo.A") + frame(b"") + b"\0"
    other = OMAP + i4(1) + utf("demo.Gone") + b"\0" + b"\0"
    snapshot = read(POJO + pojo_fields() + registered + other)
    assert isinstance(snapshot, PojoSnapshot)
    assert [(one.subclass, one.snapshot) for one in snapshot.registered_subclasses] == [
        ("demo.B", simple("Int")),
        ("demo.A", None),
    ]
    assert [(one.subclass, one.resolved) for one in snapshot.non_registered_subclasses] == [
        ("demo.Gone", False)
    ]


def test_unknown_serializer_in_a_frame_is_kept_as_bytes() -> None:
    custom = utf("a.Custom$Snapshot") + i4(7) + b"payload"
    data = POJO + pojo_fields(("x", frame(custom)), ("y", frame(INT))) + (OMAP + i4(0)) * 2
    snapshot = read(data)
    assert isinstance(snapshot, PojoSnapshot)
    assert [field.snapshot for field in snapshot.fields] == [
        OpaqueSnapshot(
            class_name="a.Custom$Snapshot", version=7, raw=b"payload", unknown_class="a.Custom$Snapshot"
        ),
        simple("Int"),
    ]


def test_unknown_serializer_deep_in_a_frame_makes_the_frame_opaque_and_is_named() -> None:
    custom = utf("a.Custom$Snapshot") + i4(7) + b"payload"
    outer = utf(BASE + "ListSerializerSnapshot") + i4(3) + C0 + i4(1) + N1 + i4(1) + custom
    snapshot = read(POJO + pojo_fields(("x", frame(outer))) + (OMAP + i4(0)) * 2)
    assert isinstance(snapshot, PojoSnapshot)
    field = snapshot.fields[0].snapshot
    assert isinstance(field, OpaqueSnapshot)
    assert (field.class_name, field.unknown_class) == (BASE + "ListSerializerSnapshot", "a.Custom$Snapshot")


def test_broken_snapshot_in_a_frame_is_an_error_not_opaque() -> None:
    with pytest.raises(UnexpectedEndError):
        read_snapshot(Reader(POJO + pojo_fields(("x", frame(INT[:-1]))) + (OMAP + i4(0)) * 2))


def test_unknown_serializer_without_a_frame_stops_with_its_name_and_place() -> None:
    data = utf(BASE + "ListSerializerSnapshot") + i4(3) + C0 + i4(1) + N1 + i4(1)
    with pytest.raises(UnknownSerializerError) as caught:
        read_snapshot(Reader(data + utf("a.Custom$Snapshot") + i4(1), file="_metadata"))
    assert caught.value.class_name == "a.Custom$Snapshot"
    assert caught.value.where.file == "_metadata"
    assert caught.value.where.offset == len(data)


def test_a_user_class_of_a_known_simple_name_is_unknown() -> None:
    with pytest.raises(UnknownSerializerError):
        read_snapshot(Reader(utf("a.b.IntSerializer$IntSerializerSnapshot") + i4(3)))


@pytest.mark.parametrize(
    "data",
    [
        INT[:-4] + i4(4),
        POJO[:-12] + i4(1) + utf("demo.P"),
        utf(BASE + "ListSerializerSnapshot") + i4(3) + C0 + i4(9) + N1 + i4(0),
        utf("org.apache.flink.formats.avro.typeutils.AvroSerializerSnapshot") + i4(4),
    ],
)
def test_unknown_version_of_a_known_class_is_named(data: bytes) -> None:
    with pytest.raises(UnsupportedVersionError, match=r"org\.apache\.flink"):
        read_snapshot(Reader(data))


def test_kryo_of_the_description() -> None:
    dummy = RUNTIME + "kryo.Serializers$DummyAvro"
    array = "org.apache.avro.generic.GenericData$Array"
    uuid = "java.util.UUID"
    data = (
        utf(RUNTIME + "kryo.KryoSerializerSnapshot") + i4(2) + utf(uuid) + OMAP + i4(2)
        + utf(uuid) + frame(utf(uuid)) + frame(utf(uuid) + i4(0))
        + utf(array) + frame(utf(array))
        + frame(utf(dummy + "RegisteredClass") + i4(1) + utf(dummy + "KryoSerializerClass"))
        + (OMAP + i4(0)) * 2
    )  # fmt: skip
    snapshot = read(data)
    assert isinstance(snapshot, KryoSnapshot)
    assert snapshot.type_class == uuid
    assert [entry.value for entry in snapshot.kryo_registrations] == [
        KryoRegistration(registered_class=uuid, serializer=None),
        KryoRegistration(
            registered_class=dummy + "RegisteredClass", serializer=dummy + "KryoSerializerClass"
        ),
    ]


def test_kryo_serializer_instances_stay_java_streams() -> None:
    stream = bytes.fromhex("aced000570")
    data = (
        utf(RUNTIME + "kryo.KryoSerializerSnapshot") + i4(2) + utf("a.A")
        + OMAP + i4(1) + utf("a.A") + frame(utf("a.A")) + frame(utf("a.A") + i4(2) + stream)
        + OMAP + i4(1) + utf("a.B") + frame(utf("a.B")) + frame(stream)
        + OMAP + i4(1) + utf("a.C") + frame(utf("a.C")) + frame(utf("a.CSerializer"))
    )  # fmt: skip
    snapshot = read(data)
    assert isinstance(snapshot, KryoSnapshot)
    assert snapshot.kryo_registrations[0].value == KryoRegistration(registered_class="a.A", serializer=stream)
    assert snapshot.default_serializers[0].value == stream
    assert snapshot.default_serializer_classes[0].value == "a.CSerializer"


@pytest.mark.parametrize(
    ("version", "payload", "runtime_class"),
    [
        (1, utf('"int"'), None),
        (2, utf("a.A") + utf('"int"'), "a.A"),
        (3, b'\x04a.A\x06"int"', "a.A"),
    ],
)
def test_avro_versions(version: int, payload: bytes, runtime_class: str | None) -> None:
    name = "org.apache.flink.formats.avro.typeutils.AvroSerializerSnapshot"
    assert read(utf(name) + i4(version) + payload) == AvroSnapshot(
        class_name=name, version=version, runtime_class=runtime_class, schema='"int"'
    )


def test_ttl_aware_wraps_another() -> None:
    name = "org.apache.flink.runtime.state.ttl.TtlAwareSerializerSnapshot"
    assert read(utf(name) + i4(1) + b"\1" + LONG) == TtlAwareSnapshot(
        class_name=name, version=1, ttl_enabled=True, inner=simple("Long")
    )


JAVA_STRING = bytes.fromhex("aced0005 740002 6162")


def test_config_snapshot_of_flink_1_7_is_read_without_deserializing() -> None:
    nested = i4(1, len(JAVA_STRING)) + JAVA_STRING
    blob = nested + i4(2) + INT
    data = (
        utf(BASE + "CollectionSerializerConfigSnapshot") + i4(0x7A53C4F0)
        + i4(1, len(JAVA_STRING)) + JAVA_STRING + i4(1)
        + i4(1, 0, len(nested), len(blob)) + blob
    )  # fmt: skip
    snapshot = read(data)
    assert isinstance(snapshot, LegacyConfigSnapshot)
    assert snapshot.serializer_stream == JAVA_STRING
    assert snapshot.nested == (simple("Int"),)


def test_config_snapshot_of_an_unknown_class_is_refused_by_name() -> None:
    data = utf("a.ConfigSnapshot") + i4(0x7A53C4F0, 1, len(JAVA_STRING)) + JAVA_STRING + i4(1)
    with pytest.raises(UnknownSerializerError, match=r"a\.ConfigSnapshot"):
        read_snapshot(Reader(data))


def test_proxy_puts_its_version_before() -> None:
    data = i4(2) + INT
    snapshot = read_proxy(Reader(data))
    writer = Writer()
    write_proxy(writer, snapshot)
    assert snapshot == simple("Int")
    assert writer.getvalue() == data


def test_proxy_of_flink_1_6_is_refused_with_what_to_do() -> None:
    with pytest.raises(UnsupportedVersionError, match="again with Flink"):
        read_proxy(Reader(i4(1) + INT))


def test_nesting_is_bounded() -> None:
    head = utf(BASE + "ListSerializerSnapshot") + i4(3) + C0 + i4(1) + N1 + i4(1)
    deep = head * 40 + INT
    assert isinstance(read(deep), CompositeSnapshot)
    with pytest.raises(FormatError, match="nested deeper"):
        read_snapshot(Reader(head * 5000 + INT))


def test_nesting_in_frames_is_bounded() -> None:
    data = INT
    for _ in range(200):
        data = POJO + pojo_fields(("x", frame(data))) + (OMAP + i4(0)) * 2
    with pytest.raises(FormatError, match="nested deeper"):
        read_snapshot(Reader(data))


@pytest.mark.parametrize("count", [-1, 2**31 - 1, 3])
def test_counts_are_checked_against_what_is_left(count: int) -> None:
    data = utf(BASE + "EnumSerializer$EnumSerializerSnapshot") + i4(3) + utf("E") + i4(count) + utf("A")
    with pytest.raises(FormatError):
        read_snapshot(Reader(data))


def test_header_of_the_minimal_savepoint() -> None:
    """Section 13 of the savepoint format: key String, state ``v`` of Long; 367 bytes, in a file of known digest."""
    void = utf("org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot") + i4(
        3
    )
    header = (
        i4(6) + b"\0" + i4(2) + STRING + struct.pack(">h", 1)
        + utf("v") + i4(0, 1) + utf("KEYED_STATE_TYPE") + utf("VALUE")
        + i4(2) + utf("VALUE_SERIALIZER") + i4(2) + LONG + utf("NAMESPACE_SERIALIZER") + i4(2) + void
    )  # fmt: skip
    stream = header + bytes.fromhex("0000 00000004 d1026100 00000008 0000000000000007 ffff")
    assert (len(header), len(stream)) == (367, 391)
    savepoint = (
        bytes.fromhex("4960672d 00000003 0000000000000001 00000000 00000001")
        + bytes.fromhex("18ee88c14cc4b81e796fad3220cd8db9 00000001 00000080 00 00000001 00000000")
        + bytes.fromhex("00000000 00000000 07 00000000 00000080")
        + b"".join(struct.pack(">q", 367 if group == 81 else 0) for group in range(128))
        + b"\1" + utf("s0") + i4(391) + stream
        + bytes.fromhex("00 00000000 00000000")
    )  # fmt: skip
    assert hashlib.sha256(savepoint).hexdigest() == (
        "6443039b12f790e1a091e5100b22ad1375f7688e0c6e3bb5ffa95771cdb1d856"
    )
    reader = Reader(header, 5)
    assert read_proxy(reader) == simple("String")
    reader.pos = header.index(b"VALUE_SERIALIZER") + len("VALUE_SERIALIZER")
    assert read_proxy(reader) == simple("Long")
    reader.pos = header.index(b"NAMESPACE_SERIALIZER") + len("NAMESPACE_SERIALIZER")
    assert isinstance(read_proxy(reader), SimpleSnapshot)
    reader.expect_end("the header")
