"""Snapshots without parameters or with a single one: Simple, Generic, Enum and the like."""

from __future__ import annotations

from dataclasses import dataclass

from ..wire import Reader, Writer
from .base import Head, SerializerSnapshot, read_nested, register, write_snapshot
from .names import CEP, DV, FLINK, SCALA, A, B, R, S, T, W, inner


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleSnapshot(SerializerSnapshot):
    """``SimpleTypeSerializerSnapshot``: nothing in version 3, the serializer's class name in version 2."""

    serializer_class: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GenericSnapshot(SerializerSnapshot):
    """``GenericTypeSerializerSnapshot``: the class of the values, which write themselves."""

    type_class: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumSnapshot(SerializerSnapshot):
    """``EnumSerializerSnapshot``: a value is an index into ``constants``."""

    enum_class: str
    constants: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlAwareSnapshot(SerializerSnapshot):
    """``TtlAwareSerializerSnapshot``: a wrapper that adds nothing to the values of ``inner``."""

    ttl_enabled: bool
    inner: SerializerSnapshot


def read_simple(reader: Reader, head: Head) -> SimpleSnapshot:
    if head.version == 3:
        return SimpleSnapshot(class_name=head.class_name, version=3)
    if head.version == 2:
        name = reader.utf("serializer class name")
        return SimpleSnapshot(class_name=head.class_name, version=2, serializer_class=name)
    raise head.unsupported(reader)


def write_simple(writer: Writer, snapshot: SimpleSnapshot) -> None:
    if snapshot.version == 2:
        writer.utf(snapshot.serializer_class or "")


def read_generic(reader: Reader, head: Head) -> GenericSnapshot:
    if head.version != 2:
        raise head.unsupported(reader)
    type_class = reader.utf("type class")
    return GenericSnapshot(class_name=head.class_name, version=head.version, type_class=type_class)


def write_generic(writer: Writer, snapshot: GenericSnapshot) -> None:
    writer.utf(snapshot.type_class)


def read_enum(reader: Reader, head: Head) -> EnumSnapshot:
    if not 1 <= head.version <= 3:
        raise head.unsupported(reader)
    enum_class = reader.utf("enum class")
    count = reader.count("enum constants", at_least=2)
    constants = tuple(reader.utf("enum constant") for _ in range(count))
    return EnumSnapshot(
        class_name=head.class_name, version=head.version, enum_class=enum_class, constants=constants
    )


def write_enum(writer: Writer, snapshot: EnumSnapshot) -> None:
    writer.utf(snapshot.enum_class)
    writer.i4(len(snapshot.constants))
    for constant in snapshot.constants:
        writer.utf(constant)


def read_ttl_aware(reader: Reader, head: Head) -> TtlAwareSnapshot:
    if head.version != 1:
        raise head.unsupported(reader)
    return TtlAwareSnapshot(
        class_name=head.class_name,
        version=head.version,
        ttl_enabled=reader.bool_("ttlEnabled"),
        inner=read_nested(reader, head),
    )


def write_ttl_aware(writer: Writer, snapshot: TtlAwareSnapshot) -> None:
    writer.bool_(snapshot.ttl_enabled)
    write_snapshot(writer, snapshot.inner)


_SCALARS = [
    "Boolean",
    "Byte",
    "Short",
    "Int",
    "Long",
    "Float",
    "Double",
    "Char",
    "String",
    "Void",
    "Date",
    "SqlDate",
    "SqlTime",
    "SqlTimestamp",
    "Instant",
    "LocalDate",
    "LocalTime",
    "LocalDateTime",
    "BigInt",
    "BigDec",
    "BooleanValue",
    "ByteValue",
    "ShortValue",
    "IntValue",
    "LongValue",
    "FloatValue",
    "DoubleValue",
    "CharValue",
    "StringValue",
    "NullValue",
    "Variant",
    "Bitmap",
]
_ARRAYS = ["Boolean", "Byte", "Char", "Short", "Int", "Long", "Float", "Double"]

SIMPLE = (
    *(inner(f"{B}{name}Serializer") for name in _SCALARS),
    *(inner(f"{A}{name}PrimitiveArraySerializer") for name in _ARRAYS),
    inner(A + "StringArraySerializer"),
    R + "Tuple0SerializerSnapshot",
    inner(S + "VoidNamespaceSerializer"),
    inner(FLINK + "queryablestate.client.VoidNamespaceSerializer"),
    inner(S + "JavaSerializer"),
    W + "TimeWindow$Serializer$TimeWindowSerializerSnapshot",
    W + "GlobalWindow$Serializer$GlobalWindowSerializerSnapshot",
    inner(FLINK + "streaming.api.utils.ByteArrayWrapperSerializer"),
    inner(T + "StringDataSerializer"),
    inner(DV + "NullSerializer"),
    *(
        f"{FLINK}table.runtime.operators.window.{name}Window$Serializer${name}WindowSerializerSnapshot"
        for name in ("Time", "Count", "Global")
    ),
    inner(FLINK + "table.runtime.operators.sink.SortedLongSerializer"),
    *(
        f"{FLINK}streaming.connectors.kafka.{producer}${name}Serializer${name}SerializerSnapshot"
        for producer in ("FlinkKafkaProducer", "FlinkKafkaProducer011")
        for name in ("TransactionState", "ContextState", "NextTransactionalIdHint")
    ),
    CEP + "DeweyNumber$DeweyNumberSerializer$DeweyNumberSerializerSnapshot",
    CEP + "sharedbuffer.EventId$EventIdSerializer$EventIdSerializerSnapshot",
    *(
        package + name
        for package in SCALA
        for name in ("UnitSerializer$UnitSerializerSnapshot", "NothingSerializerSnapshot")
    ),
)

register(SimpleSnapshot, SIMPLE, read_simple, write_simple)
register(
    GenericSnapshot,
    [inner(f"{R}{name}Serializer") for name in ("Value", "CopyableValue", "Writable")],
    read_generic,
    write_generic,
)
register(EnumSnapshot, [inner(B + "EnumSerializer")], read_enum, write_enum)
register(TtlAwareSnapshot, [S + "ttl.TtlAwareSerializerSnapshot"], read_ttl_aware, write_ttl_aware)
