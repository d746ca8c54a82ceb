"""How Flink judges a written serializer snapshot against the wanted one, class by class (spec "serializers" 6.1).

Since Flink 1.19 the wanted serializer's snapshot judges
(``TypeSerializerSnapshot.resolveSchemaCompatibility(oldSnapshot)``); before, the written one judged the new
serializer, and asked for its class first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from .avro_resolution import SchemaError, differences, equal, parse_schema
from .flink_version import NEW_JUDGES_OLD, Version
from .restore_composite import composite_reasons
from .restore_kryo import kryo_reasons
from .restore_pojo import pojo_reasons
from .snapshots import (
    ArrayDataSnapshot,
    AvroSnapshot,
    BinaryRowDataSnapshot,
    CompositeSnapshot,
    DecimalDataSnapshot,
    EnumSnapshot,
    GenericSnapshot,
    KryoSnapshot,
    LegacyConfigSnapshot,
    LogicalType,
    MapDataSnapshot,
    OpaqueSnapshot,
    PojoSnapshot,
    RowDataKeySnapshot,
    RowDataSnapshot,
    ScalaEnumSnapshot,
    SerializerSnapshot,
    SimpleSnapshot,
    SortedMapSnapshot,
    TimestampDataSnapshot,
    TimestampType,
    TtlAwareSnapshot,
)
from .verdict import Compatibility, Reason, differs, short

Reasons = Iterator[Reason]
_LEGACY_REFUSED: Version = (1, 17)


def reasons(written: SerializerSnapshot, wanted: SerializerSnapshot, path: str, version: Version) -> Reasons:
    """Every difference between two snapshots that Flink ``version`` would act on, or should."""

    def inner(old: SerializerSnapshot, new: SerializerSnapshot, at: str) -> Reasons:
        return reasons(old, new, at, version)

    if isinstance(written, TtlAwareSnapshot):
        written = written.inner
    if isinstance(wanted, TtlAwareSnapshot):
        wanted = wanted.inner
    match written, wanted:
        case (LegacyConfigSnapshot() | OpaqueSnapshot(), _) | (_, LegacyConfigSnapshot() | OpaqueSnapshot()):
            yield from _not_known(written, wanted, path, version)
        case SimpleSnapshot(), SimpleSnapshot():
            if written.class_name != wanted.class_name:
                yield differs(path, f"{short(written)} is now {short(wanted)}")
        case CompositeSnapshot(), CompositeSnapshot():
            yield from composite_reasons(written, wanted, path, version, inner)
        case PojoSnapshot(), PojoSnapshot():
            yield from pojo_reasons(written, wanted, path, inner)
        case KryoSnapshot(), KryoSnapshot():
            yield from kryo_reasons(written, wanted, path)
        case ScalaEnumSnapshot(), ScalaEnumSnapshot():
            yield from _scala_enum(written, wanted, path, version)
        case RowDataKeySnapshot(), RowDataKeySnapshot():
            yield from inner(written.row, wanted.row, path)
        case _ if type(written) is type(wanted) and type(written) in _RULES:
            yield from _RULES[type(written)](written, wanted, path, inner)
        case _:
            yield differs(path, f"{short(written)} is now {short(wanted)}")


Inner = Callable[[SerializerSnapshot, SerializerSnapshot, str], Reasons]


def _not_known(
    written: SerializerSnapshot, wanted: SerializerSnapshot, path: str, version: Version
) -> Reasons:
    if isinstance(written, LegacyConfigSnapshot) and version >= _LEGACY_REFUSED:
        yield differs(
            path, "the serializer is Java-serialized, by Flink 1.7 or before; Flink since 1.17 refuses that"
        )
    elif written != wanted:
        yield differs(path, f"how {short(written)} and {short(wanted)} are judged is not known")


def _generic(written: GenericSnapshot, wanted: GenericSnapshot, path: str, inner: Inner) -> Reasons:
    if written.class_name != wanted.class_name:
        yield differs(path, f"{short(written)} is now {short(wanted)}")
    elif written.type_class != wanted.type_class:
        yield differs(path, f"the class {written.type_class} is now {wanted.type_class}")


def _enum(written: EnumSnapshot, wanted: EnumSnapshot, path: str, inner: Inner) -> Reasons:
    """``EnumSerializerSnapshot``: values are places in the written list, which a reconfigured serializer keeps."""
    gone = [name for name in written.constants if name not in wanted.constants]
    if written.enum_class != wanted.enum_class:
        yield differs(path, f"the enum {written.enum_class} is now {wanted.enum_class}")
    elif gone:
        yield differs(path, f"the constants {', '.join(gone)} are gone, and the restore fails")
    elif written.constants != wanted.constants:
        added = [name for name in wanted.constants if name not in written.constants]
        what = f"the constants {', '.join(added)} are new" if added else "the constants are in another order"
        yield differs(path, what, Compatibility.AFTER_RECONFIGURATION)


def _scala_enum(
    written: ScalaEnumSnapshot, wanted: ScalaEnumSnapshot, path: str, version: Version
) -> Reasons:
    """``ScalaEnumSerializerSnapshot``: values are ids. Flink since 1.19 looks a written id up as a place in the list
    of the values that there are now, and finds another value, or fails, where these have gaps."""
    now = {number: name for name, number in wanted.enum_constants}
    changed = [name for name, number in written.enum_constants if now.get(number) != name]
    if written.enumeration_class != wanted.enumeration_class:
        yield differs(path, f"the Enumeration {written.enumeration_class} is now {wanted.enumeration_class}")
    elif changed:
        yield differs(path, f"the values {', '.join(changed)} are gone or have other ids")
    elif version >= NEW_JUDGES_OLD:
        names = [name for name, _ in wanted.enum_constants]
        lost = [name for name, number in written.enum_constants if names[number : number + 1] != [name]]
        if lost:
            what = f"the ids of {', '.join(lost)} are not their places among the values, as Flink takes them to be"
            yield differs(path, what)


def _avro(written: AvroSnapshot, wanted: AvroSnapshot, path: str, inner: Inner) -> Reasons:
    """``AvroSerializerSnapshot``: equal schemas as is, what Avro resolves after migration."""
    try:
        writer, reader = parse_schema(written.schema), parse_schema(wanted.schema)
    except SchemaError as error:
        yield differs(path, str(error))
        return
    if equal(writer, reader):
        return
    found = [differs(place, what) for place, what in differences(reader, writer, path)]
    yield from found or [differs(path, "the Avro schema has changed", Compatibility.AFTER_MIGRATION)]


def _row_data(written: RowDataSnapshot, wanted: RowDataSnapshot, path: str, inner: Inner) -> Reasons:
    """``RowDataSerializerSnapshot``: the types of all fields equal, to lengths, nullability and nested names."""
    if len(written.types) != len(wanted.types):
        yield differs(path, f"{len(written.types)} fields are now {len(wanted.types)}")
        return
    for i, (old, new) in enumerate(zip(written.types, wanted.types, strict=True)):
        if _without_kind(old) != _without_kind(new):
            yield differs(f"{path}.f{i}", f"the SQL type {_sql(old)} is now {_sql(new)}")
    for i, (before, after) in enumerate(zip(written.nested, wanted.nested, strict=True)):
        yield from inner(before, after, f"{path}.f{i}")


def _without_kind(value: Any) -> Any:
    """A logical type as ``equals`` sees it: without the kind of timestamps, in whatever depth."""
    if isinstance(value, tuple):
        return tuple(map(_without_kind, value))
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    changed = {f.name: _without_kind(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, TimestampType):
        changed["kind"] = "REGULAR"
    return dataclasses.replace(value, **changed)


def _sql(logical: LogicalType) -> str:
    own = {
        f.name: getattr(logical, f.name)
        for f in dataclasses.fields(logical)
        if f.name not in ("type_root", "is_nullable", "kind")
    }
    numbers = ", ".join(str(value) for value in own.values() if isinstance(value, int))
    nullable = "" if logical.is_nullable else " NOT NULL"
    return logical.type_root + (f"({numbers})" if numbers else "") + nullable


def _array_data(written: ArrayDataSnapshot, wanted: ArrayDataSnapshot, path: str, inner: Inner) -> Reasons:
    if _without_kind(written.element_type) != _without_kind(wanted.element_type):
        yield differs(
            path + "[]", f"the SQL type {_sql(written.element_type)} is now {_sql(wanted.element_type)}"
        )


def _map_data(written: MapDataSnapshot, wanted: MapDataSnapshot, path: str, inner: Inner) -> Reasons:
    pairs = {
        "key": (written.key_type, wanted.key_type),
        "value": (written.value_type, wanted.value_type),
    }
    for name, (old, new) in pairs.items():
        if _without_kind(old) != _without_kind(new):
            yield differs(f"{path}.{name}", f"the SQL type {_sql(old)} is now {_sql(new)}")


def _sorted_map(written: SortedMapSnapshot, wanted: SortedMapSnapshot, path: str, inner: Inner) -> Reasons:
    if written.comparator_stream != wanted.comparator_stream:
        yield differs(path, "the comparator of the sorted map has changed")
    elif len(written.nested) != len(wanted.nested):
        yield differs(path, f"{len(written.nested)} nested serializers are now {len(wanted.nested)}")
    else:
        for name, old, new in zip(("key", "value"), written.nested, wanted.nested, strict=False):
            yield from inner(old, new, f"{path}.{name}")


def _parameters(written: Any, wanted: Any, path: str, inner: Inner) -> Reasons:
    """``DecimalSerializerSnapshot`` and the like: equal parameters."""
    for field in dataclasses.fields(written):
        old, new = getattr(written, field.name), getattr(wanted, field.name)
        if old != new and field.name != "version":
            yield differs(path, f"the {field.name.replace('_', ' ')} {old} is now {new}")


_RULES: dict[type[SerializerSnapshot], Callable[[Any, Any, str, Inner], Reasons]] = {
    GenericSnapshot: _generic,
    EnumSnapshot: _enum,
    AvroSnapshot: _avro,
    RowDataSnapshot: _row_data,
    ArrayDataSnapshot: _array_data,
    MapDataSnapshot: _map_data,
    SortedMapSnapshot: _sorted_map,
    DecimalDataSnapshot: _parameters,
    TimestampDataSnapshot: _parameters,
    BinaryRowDataSnapshot: _parameters,
}
