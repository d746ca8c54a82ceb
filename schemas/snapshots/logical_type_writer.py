"""Writes logical types as the Java streams that ``InstantiationUtil.serializeObject`` makes of them."""

from __future__ import annotations

import struct
from typing import Any

from ..errors import EncodeError
from .java_stream import (
    SC_ENUM,
    SC_SERIALIZABLE,
    SC_WRITE_METHOD,
    BlockData,
    JavaClassDesc,
    JavaEnum,
    JavaField,
    JavaObject,
    JavaString,
)
from .java_writer import write_java
from .logical_types import (
    CollectionType,
    DayTimeIntervalType,
    DecimalType,
    LengthType,
    LogicalType,
    MapType,
    RowField,
    RowType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
)

LOGICAL = "org.apache.flink.table.types.logical."
_CLASSES = {
    "CHAR": "CharType",
    "VARCHAR": "VarCharType",
    "BOOLEAN": "BooleanType",
    "BINARY": "BinaryType",
    "VARBINARY": "VarBinaryType",
    "DECIMAL": "DecimalType",
    "TINYINT": "TinyIntType",
    "SMALLINT": "SmallIntType",
    "INTEGER": "IntType",
    "BIGINT": "BigIntType",
    "FLOAT": "FloatType",
    "DOUBLE": "DoubleType",
    "DATE": "DateType",
    "TIME_WITHOUT_TIME_ZONE": "TimeType",
    "TIMESTAMP_WITHOUT_TIME_ZONE": "TimestampType",
    "TIMESTAMP_WITH_TIME_ZONE": "ZonedTimestampType",
    "TIMESTAMP_WITH_LOCAL_TIME_ZONE": "LocalZonedTimestampType",
    "INTERVAL_YEAR_MONTH": "YearMonthIntervalType",
    "INTERVAL_DAY_TIME": "DayTimeIntervalType",
    "ARRAY": "ArrayType",
    "MULTISET": "MultisetType",
    "MAP": "MapType",
    "ROW": "RowType",
    "NULL": "NullType",
    "VARIANT": "VariantType",
    "BITMAP": "BitmapType",
    "DESCRIPTOR": "DescriptorType",
}
"""Java class by ``LogicalTypeRoot``."""
_UIDS = {"VariantType": -7525210688776332292}
"""``serialVersionUID`` where it is not 1."""


def write_logical_type(logical_type: LogicalType) -> bytes:
    """The Java stream of ``logical_type``. Raises EncodeError for RAW, STRUCTURED, DISTINCT and SYMBOL types,
    whose streams hold objects that only the job has."""
    return write_java(_Builder().type(logical_type))


class _Builder:
    """Builds the Java tree of one stream, in which descriptors, signatures and enum constants occur once."""

    def __init__(self) -> None:
        self.descs: dict[str, JavaClassDesc] = {}
        self.signatures: dict[str, JavaString] = {}
        self.constants: dict[tuple[str, str], JavaEnum] = {}

    def type(self, one: LogicalType) -> JavaObject:
        java_class = _CLASSES.get(one.type_root)
        if java_class is None:
            raise EncodeError(
                f"a {one.type_root} type cannot be written from its description",
                todo="copy the serializer snapshot from a savepoint of the job",
            )
        base = self.desc(
            LOGICAL + "LogicalType", [("Z", "isNullable"), (f"L{LOGICAL}LogicalTypeRoot", "typeRoot")]
        )
        values = self.parameters(one)
        desc = self.desc(
            LOGICAL + java_class,
            [(code, name) for code, name, _ in values],
            uid=_UIDS.get(java_class, 1),
            super_desc=base,
        )
        common = {
            "isNullable": struct.pack(">?", one.is_nullable),
            "typeRoot": self.constant(LOGICAL + "LogicalTypeRoot", one.type_root),
        }
        own = {name: value for _, name, value in values}
        return JavaObject(desc=desc, values=[common, own], annotations=[(), ()])

    def parameters(self, one: LogicalType) -> list[tuple[str, str, Any]]:
        """The fields of the type's own class: type code, name, value; in the order of their descriptor."""
        any_type = f"L{LOGICAL}LogicalType"
        match one:
            case LengthType():
                return [_number("length", one.length)]
            case DecimalType():
                return [_number("precision", one.precision), _number("scale", one.scale)]
            case TimeType():
                return [_number("precision", one.precision)]
            case TimestampType():
                return [_number("precision", one.precision), self.choice("kind", "TimestampKind", one.kind)]
            case YearMonthIntervalType():
                resolution = "YearMonthIntervalType$YearMonthResolution"
                return [
                    _number("yearPrecision", one.year_precision),
                    self.choice("resolution", resolution, one.resolution),
                ]
            case DayTimeIntervalType():
                resolution = "DayTimeIntervalType$DayTimeResolution"
                return [
                    _number("dayPrecision", one.day_precision),
                    _number("fractionalPrecision", one.fractional_precision),
                    self.choice("resolution", resolution, one.resolution),
                ]
            case CollectionType():
                return [(any_type, "elementType", self.type(one.element_type))]
            case MapType():
                return [
                    (any_type, "keyType", self.type(one.key_type)),
                    (any_type, "valueType", self.type(one.value_type)),
                ]
            case RowType():
                return [("Ljava.util.List", "fields", self.fields(one.fields))]
            case _:
                return []

    def choice(self, name: str, enum: str, constant: str) -> tuple[str, str, JavaEnum]:
        return f"L{LOGICAL}{enum}", name, self.constant(LOGICAL + enum, constant)

    def fields(self, fields: tuple[RowField, ...]) -> JavaObject:
        """``Collections.unmodifiableList(new ArrayList(fields))``, one object in both of its fields."""
        array_list = self.desc("java.util.ArrayList", [("I", "size")], 8683452581122892189, own_data=True)
        collection = self.desc(
            "java.util.Collections$UnmodifiableCollection",
            [("Ljava.util.Collection", "c")],
            1820017752578914078,
        )
        unmodifiable = self.desc(
            "java.util.Collections$UnmodifiableList",
            [("Ljava.util.List", "list")],
            -283967356065247728,
            super_desc=collection,
        )
        size = struct.pack(">i", len(fields))
        elements = (BlockData(data=size), *(self.field(one) for one in fields))
        plain = JavaObject(desc=array_list, values=[{"size": size}], annotations=[elements])
        return JavaObject(desc=unmodifiable, values=[{"c": plain}, {"list": plain}], annotations=[(), ()])

    def field(self, one: RowField) -> JavaObject:
        text = "Ljava.lang.String"
        desc = self.desc(
            LOGICAL + "RowType$RowField",
            [(text, "description"), (text, "name"), (f"L{LOGICAL}LogicalType", "type")],
        )
        description = JavaString(value=one.description) if one.description is not None else None
        values = {"description": description, "name": JavaString(value=one.name), "type": self.type(one.type)}
        return JavaObject(desc=desc, values=[values], annotations=[()])

    def constant(self, enum: str, name: str) -> JavaEnum:
        key = (enum, name)
        if key not in self.constants:
            base = self.desc("java.lang.Enum", [], 0, enum=True)
            desc = self.desc(enum, [], 0, enum=True, super_desc=base)
            self.constants[key] = JavaEnum(desc=desc, constant=JavaString(value=name))
        return self.constants[key]

    def desc(
        self,
        name: str,
        fields: list[tuple[str, str]],
        uid: int = 1,
        *,
        super_desc: JavaClassDesc | None = None,
        own_data: bool = False,
        enum: bool = False,
    ) -> JavaClassDesc:
        if name not in self.descs:
            flags = SC_SERIALIZABLE | (SC_WRITE_METHOD if own_data else 0) | (SC_ENUM if enum else 0)
            self.descs[name] = JavaClassDesc(
                name=name,
                serial_version_uid=uid,
                flags=flags,
                fields=tuple(self.field_desc(code, field_name) for code, field_name in fields),
                super_desc=super_desc,
            )
        return self.descs[name]

    def field_desc(self, code: str, name: str) -> JavaField:
        if len(code) == 1:
            return JavaField(type_code=code, name=name)
        text = code.replace(".", "/") + ";"
        signature = self.signatures.setdefault(text, JavaString(value=text))
        return JavaField(type_code="L", name=name, signature=signature)


def _number(name: str, value: int) -> tuple[str, str, bytes]:
    return "I", name, struct.pack(">i", value)
