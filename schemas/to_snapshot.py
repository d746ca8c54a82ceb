"""Types to serializer snapshots: what Flink of a chosen release writes for a type made by hand.

The inverse of :mod:`.from_snapshot`, where a type has the one serializer that a job would use. What types do not
hold is as in a plain job: POJO fields are declared by the POJO's own class, no subclass is registered that the type
does not name, Kryo has no serializers of its own.
"""

from __future__ import annotations

import dataclasses

from . import types as t
from .errors import EncodeError
from .flink_version import (
    LINKED_LIST,
    OUTER_VERSIONS,
    ROW,
    SINCE,
    WITHOUT_SCALA,
    Version,
    at_version,
    parse_version,
)
from .from_simple import BASE
from .java_class import has_own_array
from .snapshots import (
    CompositeSnapshot,
    PojoSubclass,
    ScalaEnumSnapshot,
    SerializerSnapshot,
    build,
)
from .snapshots.names import DV, FLINK, SCALA, TW, A, R, T, inner
from .to_logical import logical_of
from .to_records import CONSTANTS, record_snapshot

_STREAMING = FLINK + "streaming."
_SCALARS: dict[str, SerializerSnapshot] = {
    **{name: build.scalar(java) for java, name in BASE.items()},
    "string_value": build.scalar("StringValue"),
    "boolean_value": build.scalar("BooleanValue"),
    "long_value": build.scalar("LongValue"),
    "double_value": build.scalar("DoubleValue"),
    "null": build.scalar("NullValue"),
    "bytes": build.primitive_array("Byte"),
    "window": build.TIME_WINDOW,
    "global_window": build.GLOBAL_WINDOW,
    "count_window": build.simple(f"{TW}CountWindow$Serializer$CountWindowSerializerSnapshot"),
    "string_data": build.simple(inner(T + "StringDataSerializer")),
    "flipped_long": build.simple(inner(f"{FLINK}table.runtime.operators.sink.SortedLongSerializer")),
    "tuple0": build.simple(f"{R}Tuple0SerializerSnapshot"),
    "days": build.scalar("Int"),
    "millis_of_day": build.scalar("Int"),
    "months": build.scalar("Int"),
    "day_time_millis": build.scalar("Long"),
}
_STRING_ARRAY = build.simple(inner(A + "StringArraySerializer"))


def snapshot_of(node: t.DataType, flink_version: str = "1.20") -> SerializerSnapshot:
    """The serializer snapshot that Flink ``flink_version`` (1.8 to 2.3) writes for a state of type ``node``.

    ``void`` by itself and as the namespace of a timer is that of a namespace, inside of other types it is
    ``java.lang.Void``. Raises EncodeError where no serializer of that release writes the type, or its snapshot holds
    what only a savepoint of the job has; PlanError for a version that is none.
    """
    maker = _Maker(version=parse_version(flink_version))
    return maker.namespace(node)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Maker:
    version: Version

    def of(self, node: t.DataType) -> SerializerSnapshot:
        snapshot = self._of(node)
        since = SINCE.get(snapshot.class_name)
        if since and self.version < since:
            raise self._refused(node, f"its serializer exists since Flink {since[0]}.{since[1]}")
        return snapshot

    def namespace(self, node: t.DataType) -> SerializerSnapshot:
        return build.VOID_NAMESPACE if node == t.scalar("void") else self.of(node)

    def composite(
        self, class_name: str, *nested: t.DataType, outer: str | bool | None = None
    ) -> CompositeSnapshot:
        """A composite of the outer version of this release."""
        made = build.composite(class_name, *map(self.of, nested), outer=outer)
        outer_version = at_version(OUTER_VERSIONS.get(class_name, {}), self.version)
        return made if outer_version is None else dataclasses.replace(made, outer_version=outer_version)

    def scala(self, name: str) -> str:
        return SCALA[self.version >= WITHOUT_SCALA] + name

    def _of(self, node: t.DataType) -> SerializerSnapshot:
        for constant, snapshot in CONSTANTS:
            if node == constant:
                return snapshot
        match node:
            case t.Scalar(name="unit"):
                return build.simple(self.scala("UnitSerializer$UnitSerializerSnapshot"))
            case t.Scalar(name="nothing"):
                return build.simple(self.scala("NothingSerializerSnapshot"))
            case t.Scalar() if node.name in _SCALARS:
                return _SCALARS[node.name]
            case t.TupleType():
                return self._record(node)
            case t.PojoType():
                return self._pojo(node)
            case t.RowType():
                return self._row(node)
            case t.ListType() if node.framing == "i4":
                return self._list(node)
            case t.MapType() if node.framing == "i4":
                return build.map_of(self.of(node.key), self.of(node.value))
            case t.EnumType():
                return self._enum(node)
            case t.NullableType():
                return self._nullable(node)
            case t.UnionType():
                return self._union(node)
            case t.TtlType():
                return build.ttl(self.of(node.inner))
            case t.KryoType():
                return build.kryo(node.class_name, node.registered)
            case t.RawDataType():
                return self.composite(T + "RawValueDataSerializer$RawValueDataSerializerSnapshot", node.inner)
            case t.DecimalType() if node.storage == t.decimal_storage(node.precision):
                return build.internal(logical_of(node))
            case t.TimestampDataType() | t.ArrayDataType() | t.MapDataType():
                return build.internal(logical_of(node))
            case t.RowDataType():
                return build.row_data(*(logical_of(part.type) for part in node.fields))
            case t.OpaqueType():
                raise self._refused(node, node.reason)
        raise self._refused(node, "only Avro and binary rows lay values out so")

    def _record(self, node: t.TupleType) -> SerializerSnapshot:
        own = record_snapshot(node, self.of, self.namespace, self.version)
        if own is not None:
            return own
        if not node.class_name or not t.is_numbered(node.fields):
            raise self._refused(node, "the fields of a tuple are f0, f1, … and those of Avro's records named")
        name = (
            self.scala("ScalaCaseClassSerializerSnapshot")
            if node.case_class
            else R + "TupleSerializerSnapshot"
        )
        return self.composite(name, *node.children(), outer=node.class_name)

    def _pojo(self, node: t.PojoType, base: t.PojoType | None = None) -> SerializerSnapshot:
        """A POJO; one that is a subclass of ``base`` inherits the fields of its names."""

        def subclass(part: t.Field) -> PojoSubclass:
            of = self._pojo(part.type, node) if isinstance(part.type, t.PojoType) else self.of(part.type)
            return PojoSubclass(subclass=part.name, snapshot=of)

        made = build.pojo(
            node.class_name,
            {part.name: self.of(part.type) for part in node.fields},
            declaring_classes={part.name: base.class_name for part in base.fields} if base else None,
        )
        return dataclasses.replace(
            made,
            registered_subclasses=tuple(map(subclass, node.registered)),
            non_registered_subclasses=tuple(map(subclass, node.non_registered)),
        )

    def _row(self, node: t.RowType) -> SerializerSnapshot:
        told = at_version(OUTER_VERSIONS[ROW], self.version)
        outer = node.supports_row_kind if told == 4 else None
        if told != 4 and node.supports_row_kind != (told == 3):
            kind = "has" if told == 3 else "has not"
            raise self._refused(node, f"a row of Flink {self.version[0]}.{self.version[1]} {kind} a row kind")
        return self.composite(ROW, *node.children(), outer=outer)

    def _list(self, node: t.ListType) -> SerializerSnapshot:
        element = node.element
        match node.flavour, node.element_flag, node.class_name:
            case "list", "none", None if isinstance(element, t.TupleType) and not element.class_name:
                return self._null_aware_map(node, element)
            case "list", "none", None:
                return build.list_of(self.of(element))
            case "list", "mask", None:
                outer = True if at_version(OUTER_VERSIONS[LINKED_LIST], self.version) == 3 else None
                if outer is None:
                    raise self._refused(node, "its serializer has no mask of nulls before Flink 1.15")
                return self.composite(LINKED_LIST, element, outer=outer)
            case "set", "is_null", None:
                return build.set_of(self.of(element))
            case "array", "none", None if element == t.scalar("string"):
                return _STRING_ARRAY
            case "array", "none", None if isinstance(element, t.Scalar) and has_own_array(element):
                return build.primitive_array(element.name.capitalize())
            case "array", "is_present", str(component):
                return build.array_of(component, self.of(element))
            case "list", "is_present", None:
                raise self._refused(node, "the snapshot of a Scala collection holds the job's Scala code")
        raise self._refused(node, "no serializer marks null elements so")

    def _null_aware_map(self, node: t.ListType, entry: t.TupleType) -> SerializerSnapshot:
        parts = [part.type for part in entry.fields]
        if [part.name for part in entry.fields] != ["key", "value"]:
            raise self._refused(node, "the elements are of no class")
        key, value = (part.inner if isinstance(part, t.NullableType) else part for part in parts)
        return self.composite(DV + "NullAwareMapSerializerSnapshot", key, value)

    def _enum(self, node: t.EnumType) -> SerializerSnapshot:
        if not node.of_scala:
            return build.enum(node.class_name, node.constants)
        named = ((name, i) for i, name in enumerate(node.constants) if name != f"#{i}")
        return ScalaEnumSnapshot(
            class_name=self.scala("ScalaEnumSerializerSnapshot"),
            version=3,
            enumeration_class=node.class_name,
            enum_constants=tuple(named),
        )

    def _nullable(self, node: t.NullableType) -> SerializerSnapshot:
        kept_apart = isinstance(node.inner, t.TupleType) and not node.inner.class_name
        value = node.inner.children()[0] if kept_apart else node.inner
        if node.flag == "is_null":
            return build.nullable(self.of(value), node.padding)
        if node.flag == "is_present":
            return self.composite(self.scala("ScalaOptionSerializerSnapshot"), value)
        raise self._refused(node, "only Avro's unions have nulls so")

    def _union(self, node: t.UnionType) -> SerializerSnapshot:
        types = node.children()
        match node.class_name, len(types):
            case "Either", 2:
                return build.either(*map(self.of, types))
            case "scala.util.Either", 2:
                return self.composite(self.scala("ScalaEitherSerializerSnapshot"), *types)
            case "TaggedUnion", 2:
                name = _STREAMING + "api.datastream.CoGroupedStreams$UnionSerializerSnapshot"
                return self.composite(name, *types)
            case "StreamElement", 7:
                name = (
                    _STREAMING
                    + "runtime.streamrecord.StreamElementSerializer$StreamElementSerializerSnapshot"
                )
                return self.composite(name, types[1].children()[0])
        raise self._refused(node, "no serializer writes these alternatives")

    def _refused(self, node: t.DataType, reason: str) -> EncodeError:
        return EncodeError(
            f"no serializer snapshot can be made for {node}: {reason}",
            todo="copy its snapshot from a savepoint of the job",
        )
