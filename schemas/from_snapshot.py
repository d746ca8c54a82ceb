"""Serializer snapshots to types: what the bytes of a state mean, from the savepoint alone.

What has no rule here becomes an OpaqueType that says whose it is: a value that holds one is carried as bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from . import types as t
from .declared import NOTHING_DECLARED, Declared
from .from_avro import type_of_avro
from .from_composite import NESTED, RAW_VALUE, RULES
from .from_kryo import type_of_kryo
from .from_logical import decimal_type, fields_of, type_of_logical
from .from_simple import VALUES, type_of_simple
from .snapshots import (
    ArrayDataSnapshot,
    AvroSnapshot,
    BinaryRowDataSnapshot,
    CompositeSnapshot,
    DecimalDataSnapshot,
    DistinctType,
    EnumSnapshot,
    GenericSnapshot,
    KryoSnapshot,
    LogicalType,
    MapDataSnapshot,
    OpaqueSnapshot,
    PojoField,
    PojoSnapshot,
    PojoSubclass,
    RawType,
    RowDataKeySnapshot,
    RowDataSnapshot,
    RowType,
    ScalaEnumSnapshot,
    SerializerSnapshot,
    SimpleSnapshot,
    SortedMapSnapshot,
    StructuredType,
    TimestampDataSnapshot,
    TtlAwareSnapshot,
)
from .subclasses import with_subclasses

_MOST_IDS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRules:
    """What is known of a savepoint beside its serializer snapshots.

    ``kryo`` is the major version of the Kryo that wrote the values (Flink 1.x: 2, Flink 2.x: 5), which snapshots
    do not tell; without it all that Kryo wrote is opaque. ``declared`` are classes as the user declares them.
    """

    kryo: Literal[2, 5] | None = None
    declared: Declared = NOTHING_DECLARED

    def type_of(self, snapshot: SerializerSnapshot) -> t.DataType:
        """The type that ``snapshot`` stands for; parts that are not decoded are OpaqueType nodes with the reason."""
        match snapshot:
            case SimpleSnapshot():
                return type_of_simple(snapshot.class_name)
            case CompositeSnapshot():
                return _composite(snapshot, tuple(self.type_of(nested) for nested in snapshot.nested))
            case PojoSnapshot():
                return self._pojo(snapshot)
            case EnumSnapshot():
                return t.EnumType(class_name=snapshot.enum_class, constants=snapshot.constants)
            case ScalaEnumSnapshot():
                return _scala_enum(snapshot)
            case TtlAwareSnapshot():
                return self.type_of(snapshot.inner)
            case AvroSnapshot():
                return type_of_avro(snapshot.schema)
            case RowDataSnapshot():
                return self._row_data([f"f{i}" for i in range(len(snapshot.types))], snapshot)
            case BinaryRowDataSnapshot():
                return t.scalar("raw_data")
            case RowDataKeySnapshot():
                return self.type_of(snapshot.row)
            case DecimalDataSnapshot():
                return decimal_type(snapshot.precision, snapshot.scale)
            case TimestampDataSnapshot():
                return t.TimestampDataType(precision=snapshot.precision)
            case ArrayDataSnapshot():
                return t.ArrayDataType(element=type_of_logical(snapshot.element_type))
            case MapDataSnapshot():
                key, value = type_of_logical(snapshot.key_type), type_of_logical(snapshot.value_type)
                return t.MapDataType(key=key, value=value)
            case SortedMapSnapshot() if len(snapshot.nested) == 2:
                key, value = map(self.type_of, snapshot.nested)
                return t.MapType(key=key, value=value)
            case KryoSnapshot():
                return type_of_kryo(snapshot, self.kryo, self.declared)
            case GenericSnapshot() if snapshot.type_class in VALUES:
                return VALUES[snapshot.type_class]
            case GenericSnapshot():
                return t.OpaqueType(
                    class_name=snapshot.type_class, reason="written by the class's own write method"
                )
            case OpaqueSnapshot():
                return t.OpaqueType(
                    class_name=snapshot.unknown_class, reason="serializer snapshot of unknown layout"
                )
        return t.OpaqueType(class_name=snapshot.class_name, reason="no codec for this serializer")

    def _row_data(self, names: Sequence[str], row: RowDataSnapshot) -> t.DataType:
        types = (
            map(self._field_of_row, row.types, row.nested) if row.nested else map(type_of_logical, row.types)
        )
        return t.RowDataType(
            fields=tuple(t.Field(name=name, type=one) for name, one in zip(names, types, strict=True))
        )

    def _field_of_row(self, logical: LogicalType, serializer: SerializerSnapshot) -> t.DataType:
        """A field by its logical type, which alone has names and time zones; what is in a RAW its serializer says."""
        match logical, serializer:
            case ((RowType() | StructuredType()), RowDataSnapshot()):
                return self._row_data([part.name for part in fields_of(logical)], serializer)
            case DistinctType(), _:
                return self._field_of_row(logical.source_type, serializer)
            case RawType(), CompositeSnapshot(class_name=name) if name == RAW_VALUE:
                return self.type_of(serializer)
        return type_of_logical(logical)

    def _pojo(self, snapshot: PojoSnapshot) -> t.DataType:
        def optional(nested: SerializerSnapshot | None, name: str) -> t.DataType:
            if nested is None:
                return t.OpaqueType(class_name=name, reason="its serializer snapshot is missing")
            return self.type_of(nested)

        def classes(parts: tuple[PojoSubclass, ...]) -> tuple[t.Field, ...]:
            return tuple(
                t.Field(name=part.subclass, type=optional(part.snapshot, part.subclass)) for part in parts
            )

        def of_field(part: PojoField) -> t.DataType:
            if isinstance(part.snapshot, KryoSnapshot):
                shape = self.declared.field(part.declaring_class or snapshot.pojo_class, part.key_name)
                return type_of_kryo(part.snapshot, self.kryo, self.declared, shape)
            return optional(part.snapshot, part.key_name)

        made = t.PojoType(
            class_name=snapshot.pojo_class,
            fields=tuple(
                t.Field(name=part.field_name or part.key_name, type=of_field(part))
                for part in snapshot.fields
            ),
            registered=classes(snapshot.registered_subclasses),
            non_registered=classes(snapshot.non_registered_subclasses),
        )
        return with_subclasses(
            made, {name: self.declared.pojo(name, made) for name in self.declared.subclasses(made.class_name)}
        )


SNAPSHOTS_ALONE = TypeRules()


def type_of(snapshot: SerializerSnapshot, *, kryo: Literal[2, 5] | None = None) -> t.DataType:
    """As :meth:`TypeRules.type_of`, from the snapshot alone."""
    return TypeRules(kryo=kryo).type_of(snapshot)


def _composite(snapshot: CompositeSnapshot, nested: tuple[t.DataType, ...]) -> t.DataType:
    rule = RULES.get(snapshot.class_name)
    if rule is None or len(nested) < NESTED.get(snapshot.class_name, 1):
        return t.OpaqueType(class_name=snapshot.class_name, reason="no codec for this serializer")
    return rule(snapshot, nested)


def _scala_enum(snapshot: ScalaEnumSnapshot) -> t.DataType:
    """A value is an id: ids without a name stand as ``#id`` among the constants."""
    names = {number: name for name, number in snapshot.enum_constants}
    top = max(names, default=-1)
    if min(names, default=0) < 0 or top >= _MOST_IDS:
        return t.OpaqueType(class_name=snapshot.enumeration_class, reason="its ids are no small numbers")
    constants = tuple(names.get(number, f"#{number}") for number in range(top + 1))
    return t.EnumType(class_name=snapshot.enumeration_class, constants=constants)
