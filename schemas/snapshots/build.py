"""Snapshots made by hand, as Flink 1.20 and 2.x write them: for state that no savepoint has had before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import EncodeError
from ..wire import text_to_units
from .avro import AvroSnapshot
from .base import SerializerSnapshot
from .composite import CompositeSnapshot
from .kryo import KryoRegistration, KryoSnapshot
from .logical_type_writer import write_logical_type
from .logical_types import DecimalType, LogicalType, RowType, TimestampType
from .names import FLINK, A, B, K, R, S, T, W, inner
from .omap import Entry
from .outer import COMPOSITES
from .pojo import PojoField, PojoSnapshot, PojoSubclass
from .simple import EnumSnapshot, SimpleSnapshot
from .table import DecimalDataSnapshot, RowDataSnapshot, TimestampDataSnapshot

AVRO_ARRAY = "org.apache.avro.generic.GenericData$Array"


def simple(class_name: str) -> SimpleSnapshot:
    """A serializer without parameters, by the full name of its snapshot class."""
    return SimpleSnapshot(class_name=class_name, version=3)


def scalar(name: str) -> SimpleSnapshot:
    """A serializer of ``api.common.typeutils.base``, by its name without "Serializer": ``scalar("Long")``."""
    return simple(inner(f"{B}{name}Serializer"))


def primitive_array(name: str) -> SimpleSnapshot:
    """A primitive array by its element: ``primitive_array("Byte")``."""
    return simple(inner(f"{A}{name}PrimitiveArraySerializer"))


VOID_NAMESPACE = simple(inner(S + "VoidNamespaceSerializer"))
TIME_WINDOW = simple(W + "TimeWindow$Serializer$TimeWindowSerializerSnapshot")
GLOBAL_WINDOW = simple(W + "GlobalWindow$Serializer$GlobalWindowSerializerSnapshot")


def composite(
    class_name: str, *nested: SerializerSnapshot, outer: str | bool | int | None = None
) -> CompositeSnapshot:
    """A composite of the newest outer version of its class."""
    return CompositeSnapshot(
        class_name=class_name,
        version=3,
        outer_version=max(COMPOSITES[class_name]),
        outer=outer,
        nested=nested,
    )


def list_of(element: SerializerSnapshot) -> CompositeSnapshot:
    return composite(B + "ListSerializerSnapshot", element)


def set_of(element: SerializerSnapshot) -> CompositeSnapshot:
    return composite(B + "SetSerializerSnapshot", element)


def map_of(key: SerializerSnapshot, value: SerializerSnapshot) -> CompositeSnapshot:
    return composite(B + "MapSerializerSnapshot", key, value)


def array_of(component_class: str, element: SerializerSnapshot) -> CompositeSnapshot:
    """An object array of ``component_class`` (a binary name)."""
    return composite(B + "GenericArraySerializerSnapshot", element, outer=component_class)


def nullable(inner_snapshot: SerializerSnapshot, padding: int = 0) -> CompositeSnapshot:
    return composite(R + "NullableSerializer$NullableSerializerSnapshot", inner_snapshot, outer=padding)


def either(left: SerializerSnapshot, right: SerializerSnapshot) -> CompositeSnapshot:
    return composite(R + "JavaEitherSerializerSnapshot", left, right)


def tuple_of(*fields: SerializerSnapshot, tuple_class: str | None = None) -> CompositeSnapshot:
    """A ``TupleN`` of the fields, or the user's subclass of it."""
    name = tuple_class or f"{FLINK}api.java.tuple.Tuple{len(fields)}"
    return composite(R + "TupleSerializerSnapshot", *fields, outer=name)


def row_of(*fields: SerializerSnapshot) -> CompositeSnapshot:
    """A ``Row`` with row kind, as every ``RowTypeInfo`` of today makes it."""
    return composite(R + "RowSerializer$RowSerializerSnapshot", *fields, outer=True)


def ttl(user: SerializerSnapshot) -> CompositeSnapshot:
    """A value with the time of its last access. The element of a list, the value of a map; see spec 2.14."""
    return composite(S + "ttl.TtlStateFactory$TtlSerializerSnapshot", scalar("Long"), user)


def timer(key: SerializerSnapshot, namespace: SerializerSnapshot) -> CompositeSnapshot:
    return composite(FLINK + "streaming.api.operators.TimerSerializerSnapshot", key, namespace)


def enum(enum_class: str, constants: Sequence[str]) -> EnumSnapshot:
    """An enum with its constants in the order of their declaration."""
    return EnumSnapshot(
        class_name=inner(B + "EnumSerializer"),
        version=3,
        enum_class=enum_class,
        constants=tuple(constants),
    )


def pojo(
    pojo_class: str,
    fields: Mapping[str, SerializerSnapshot],
    *,
    declaring_classes: Mapping[str, str] | None = None,
    registered_subclasses: Mapping[str, SerializerSnapshot] | None = None,
) -> PojoSnapshot:
    """A POJO or record. Fields are put in Flink's order, by name; ``declaring_classes`` names the superclass of
    inherited ones; registered subclasses keep the order they are given in, which is their tag."""
    declaring = declaring_classes or {}
    return PojoSnapshot(
        class_name=R + "PojoSerializerSnapshot",
        version=2,
        pojo_class=pojo_class,
        fields=tuple(
            PojoField(
                key_name=name,
                declaring_class=declaring.get(name, pojo_class),
                field_name=name,
                snapshot=fields[name],
            )
            # String.compareTo compares UTF-16 units, and Flink reads RocksDB values in the job's order.
            for name in sorted(fields, key=text_to_units)
        ),
        registered_subclasses=tuple(
            PojoSubclass(subclass=name, snapshot=snapshot)
            for name, snapshot in (registered_subclasses or {}).items()
        ),
    )


def avro(schema: str, runtime_class: str = "org.apache.avro.generic.GenericRecord") -> AvroSnapshot:
    """Avro values of ``schema``, which is the schema's JSON text."""
    return AvroSnapshot(
        class_name=FLINK + "formats.avro.typeutils.AvroSerializerSnapshot",
        version=3,
        runtime_class=runtime_class,
        schema=schema,
    )


def kryo(type_class: str, registered: Sequence[str] = ()) -> KryoSnapshot:
    """Kryo of a job without flink-avro and without serializers of its own; ``registered`` are its Kryo types."""
    dummies = K + "Serializers$DummyAvro"
    registrations = [
        Entry(key_name=name, key=name, value=KryoRegistration(registered_class=name, serializer=None))
        for name in dict.fromkeys((type_class, *registered))
    ]
    avro_array = KryoRegistration(
        registered_class=dummies + "RegisteredClass", serializer=dummies + "KryoSerializerClass"
    )
    registrations.append(Entry(key_name=AVRO_ARRAY, key=AVRO_ARRAY, value=avro_array))
    return KryoSnapshot(
        class_name=K + "KryoSerializerSnapshot",
        version=2,
        type_class=type_class,
        kryo_registrations=tuple(registrations),
    )


_BY_ROOT = {
    **dict.fromkeys(("CHAR", "VARCHAR"), simple(inner(T + "StringDataSerializer"))),
    **dict.fromkeys(("BINARY", "VARBINARY"), primitive_array("Byte")),
    "BOOLEAN": scalar("Boolean"),
    "TINYINT": scalar("Byte"),
    "SMALLINT": scalar("Short"),
    **dict.fromkeys(("INTEGER", "DATE", "TIME_WITHOUT_TIME_ZONE", "INTERVAL_YEAR_MONTH"), scalar("Int")),
    **dict.fromkeys(("BIGINT", "INTERVAL_DAY_TIME"), scalar("Long")),
    "FLOAT": scalar("Float"),
    "DOUBLE": scalar("Double"),
    "VARIANT": scalar("Variant"),
    "BITMAP": scalar("Bitmap"),
}


def internal(logical_type: LogicalType) -> SerializerSnapshot:
    """The serializer that the Table runtime uses for a type (``InternalSerializers``).

    Raises EncodeError for arrays, maps, multisets and user-defined types: those snapshots hold Java-serialized
    serializers, which only a savepoint of the job has.
    """
    if isinstance(logical_type, RowType):
        return row_data(*(field.type for field in logical_type.fields))
    if isinstance(logical_type, DecimalType):
        return DecimalDataSnapshot(
            class_name=T + "DecimalDataSerializer$DecimalSerializerSnapshot",
            version=3,
            precision=logical_type.precision,
            scale=logical_type.scale,
        )
    if isinstance(logical_type, TimestampType):
        return TimestampDataSnapshot(
            class_name=inner(T + "TimestampDataSerializer"), version=1, precision=logical_type.precision
        )
    if logical_type.type_root not in _BY_ROOT:
        raise EncodeError(
            f"the serializer of a {logical_type.type_root} type cannot be made by hand",
            todo="copy its snapshot from a savepoint of the job",
        )
    return _BY_ROOT[logical_type.type_root]


def row_data(*types: LogicalType) -> RowDataSnapshot:
    """A SQL row of fields of these types; raises EncodeError as :func:`internal` does."""
    return RowDataSnapshot(
        class_name=inner(T + "RowDataSerializer"),
        version=3,
        types=types,
        streams=tuple(write_logical_type(one) for one in types),
        nested=tuple(internal(one) for one in types),
    )
