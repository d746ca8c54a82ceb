"""Changes of serializers made by hand: what was written, what is wanted. ``#`` is a package of the pair's own."""

from __future__ import annotations

from dataclasses import replace

from statelift.schemas.snapshots import (
    DecimalType,
    LengthType,
    LogicalType,
    RowField,
    RowType,
    SerializerSnapshot,
    TimestampType,
)
from statelift.schemas.to_snapshot import snapshot_of
from statelift.schemas.type_syntax import parse_type

#: Written and wanted, as types.
CHANGES: list[tuple[str, str]] = [
    ("int", "int"),
    ("int", "long"),
    ("string", "nullable<string>"),
    ("long", "list<long>"),
    ("list<int>", "long"),
    ("list<int>", "list<int>"),
    ("list<int>", "list<long>"),
    ("map<string, int>", "map<string, long>"),
    ("map<string, int>", "map<long, int>"),
    ("map<string, int>", "tuple<string, int>"),
    ("tuple<string, int>", "map<string, int>"),
    ("tuple<string, int>", "either<string, int>"),
    ("list<int>", "array[class_name=java.lang.Integer]<int>"),
    ("array[class_name=java.lang.Integer]<int>", "list<int>"),
    ("array[class_name=java.lang.Integer]<int>", "array[class_name=java.lang.Number]<int>"),
    ("array<int>", "array[class_name=java.lang.Integer]<int>"),
    ("nullable<list<int>>", "list<list<int>>"),
    ("list<list<int>>", "nullable<list<int>>"),
    ("nullable<long>", "nullable[padding=8]<long>"),
    ("nullable<long>", "nullable<long>"),
    ("nullable<long>", "long"),
    ("ttl<long>", "ttl<long>"),
    ("ttl<long>", "tuple<long, long>"),
    ("ttl<long>", "long"),
    ("long", "ttl<long>"),
    ("list<ttl<long>>", "list<long>"),
    ("list<long>", "list<ttl<long>>"),
    ("map<string, ttl<long>>", "map<string, long>"),
    ("map<ttl<string>, long>", "map<string, long>"),
    ("map<enum #.E {A}, long>", "map<enum #.E {A, B}, ttl<long>>"),
    ("ttl<pojo #.P {a: int}>", "pojo #.P {a: int, b: int}"),
    ("ttl<long>", "string"),
    ("tuple<ttl<long>>", "tuple<long>"),
    ("row<list<ttl<long>>>", "row<list<long>>"),
    ("tuple<int, int>", "tuple<int, int, int>"),
    ("tuple<int, int, int>", "tuple<int, int>"),
    ("tuple<int, int>", "tuple<int, long>"),
    ("tuple org.apache.flink.api.java.tuple.Tuple3 {f0: int, f1: int}", "tuple<int, int>"),
    ("row {a: int, b: string}", "row {x: int, y: string}"),
    ("row {a: int}", "row {a: int, b: string}"),
    ("row[supports_row_kind=false] {a: int}", "row {a: int}"),
    ("row {a: int}", "row[supports_row_kind=false] {a: int}"),
    ("row {a: int}", "list<int>"),
    ("list<int>", "row {a: int}"),
    ("timer<string, void>", "timer<string, void>"),
    ("timer<string, window>", "timer<string, void>"),
    # POJOs
    ("pojo #.P {a: int, b: string}", "pojo #.P {a: int, b: string}"),
    ("pojo #.P {a: int}", "pojo #.P {a: int, b: string}"),
    ("pojo #.P {a: int, b: string}", "pojo #.P {a: int}"),
    ("pojo #.P {a: int}", "pojo #.P {b: int}"),
    ("pojo #.P {a: int}", "pojo #.P {a: long}"),
    ("pojo #.P {a: int, b: string}", "pojo #.P {a: long, c: string}"),
    ("pojo #.P {a: int}", "pojo #.Q {a: int}"),
    ("pojo #.P {a: int}", "row {a: int}"),
    ("row {a: int}", "pojo #.P {a: int}"),
    ("pojo #.P {a: enum #.E {A}}", "pojo #.P {a: enum #.E {A, B}}"),
    ("pojo #.P {a: enum #.E {A}}", "pojo #.P {a: enum #.E {A, B}, b: int}"),
    ("pojo #.P {a: pojo #.Q {x: int}}", "pojo #.P {a: pojo #.Q {x: int, y: int}}"),
    ("pojo #.P {a: pojo #.Q {x: int}}", "pojo #.P {a: pojo #.Q {x: long}}"),
    ("list<pojo #.P {a: int}>", "list<pojo #.P {a: int, b: int}>"),
    ("map<string, pojo #.P {a: int}>", "map<string, pojo #.P {a: int, b: int}>"),
    ("map<pojo #.P {a: int}, string>", "map<pojo #.P {a: int, b: int}, string>"),
    ("tuple<enum #.E {A}, pojo #.P {a: int}>", "tuple<enum #.E {A, B}, pojo #.P {a: int, b: int}>"),
    ("row<enum #.E {A}, pojo #.P {a: int}>", "row<enum #.E {A, B}, pojo #.P {a: int}>"),
    ("nullable<pojo #.P {a: int}>", "nullable<pojo #.P {b: int}>"),
    (
        "pojo #.P {a: int} registered {#.S: pojo #.S {a: int}}",
        "pojo #.P {a: int} registered {#.S: pojo #.S {a: int}}",
    ),
    ("pojo #.P {a: int}", "pojo #.P {a: int} registered {#.S: pojo #.S {a: int}}"),
    (
        "pojo #.P {a: int} registered {#.S: pojo #.S {a: int}, #.T: pojo #.T {a: int}}",
        "pojo #.P {a: int} registered {#.T: pojo #.T {a: int}, #.S: pojo #.S {a: int}}",
    ),
    (
        "pojo #.P {a: int} registered {#.S: pojo #.S {a: int}}",
        "pojo #.P {a: int} registered {#.S: pojo #.S {a: int}, #.T: pojo #.T {a: int}}",
    ),
    (
        "pojo #.P {a: int} registered {#.S: pojo #.S {a: int}}",
        "pojo #.P {a: int} registered {#.S: pojo #.S {a: int, b: int}}",
    ),
    (
        "pojo #.P {a: int} registered {#.S: pojo #.S {a: int, b: int}}",
        "pojo #.P {a: int} registered {#.S: pojo #.S {a: int, b: long}}",
    ),
    (
        "pojo #.P {a: int} non_registered {#.S: pojo #.S {a: int}}",
        "pojo #.P {a: int} registered {#.S: pojo #.S {a: int}}",
    ),
    (
        "pojo #.P {a: int} non_registered {#.S: pojo #.S {a: int}}",
        "pojo #.P {a: int} non_registered {#.S: pojo #.S {a: int}}",
    ),
    # Enums
    ("enum #.E {A, B}", "enum #.E {A, B}"),
    ("enum #.E {A, B}", "enum #.E {A, B, C}"),
    ("enum #.E {A, B}", "enum #.E {Z, A, B}"),
    ("enum #.E {A, B}", "enum #.E {B, A}"),
    ("enum #.E {A, B}", "enum #.E {A}"),
    ("enum #.E {A, B}", "enum #.F {A, B}"),
    ("enum #.E {A, B}", "string"),
    ("list<enum #.E {A}>", "list<enum #.E {A, B}>"),
    ("map<enum #.E {A}, int>", "map<enum #.E {A, B}, int>"),
    # Kryo
    ("kryo[kryo=5]<#.K>", "kryo[kryo=5]<#.K>"),
    ("kryo[kryo=5]<#.K>", "kryo[kryo=5]<#.L>"),
    ("kryo[kryo=5]<#.K>", "kryo[kryo=5, registered=(java.util.BitSet)]<#.K>"),
    ("kryo[kryo=5, registered=(java.util.BitSet)]<#.K>", "kryo[kryo=5]<#.K>"),
    ("kryo[kryo=5]<#.K>", "pojo #.K {a: int}"),
    ("pojo #.K {a: int}", "kryo[kryo=5]<#.K>"),
]
#: What Flink 2.x has besides.
CHANGES_OF_2: list[tuple[str, str]] = [
    ("set<int>", "set<int>"),
    ("set<int>", "list<int>"),
    ("list<int>", "set<int>"),
    ("set<pojo #.P {a: int}>", "set<pojo #.P {a: int, b: int}>"),
]


def snapshots(
    change: tuple[str, str], number: int, version: str
) -> tuple[SerializerSnapshot, SerializerSnapshot]:
    """The two snapshots, with classes in a package that no other change has."""
    written, wanted = (text.replace("#", f"change{number}") for text in change)
    return snapshot_of(parse_type(written), version), snapshot_of(parse_type(wanted), version)


_RECORD = '{"type": "record", "name": "R", "namespace": "a", "fields": [%s]}'
_INT = '{"name": "x", "type": "int"}'


def _record(*fields: str) -> str:
    return _RECORD % ", ".join(fields)


#: Avro schemas: the writer's and the reader's.
AVRO_CHANGES: list[tuple[str, str]] = [
    (_record(_INT), _record(_INT)),
    (_record(_INT), '{"namespace":"a","name":"R","type":"record","doc":"d","fields":[{"type":"int","name":"x"}]}'),
    (_record(_INT), _record('{"name": "x", "type": "int", "doc": "other"}')),
    (_record(_INT), _record('{"name": "x", "type": "int", "aliases": ["old"]}')),
    (_record(_INT), _record('{"name": "x", "type": "int", "own": 1}')),
    (_record(_INT), _record('{"name": "x", "type": "int", "default": 1}')),
    (_record(_INT), _record('{"name": "x", "type": "long"}')),
    (_record(_INT), _record('{"name": "x", "type": "string"}')),
    (_record('{"name": "x", "type": "long"}'), _record(_INT)),
    (_record('{"name": "x", "type": "float"}'), _record('{"name": "x", "type": "double"}')),
    (_record('{"name": "x", "type": "bytes"}'), _record('{"name": "x", "type": "string"}')),
    (_record(_INT), _record(_INT, '{"name": "y", "type": "int"}')),
    (_record(_INT), _record(_INT, '{"name": "y", "type": "int", "default": 7}')),
    (_record(_INT), _record(_INT, '{"name": "y", "type": ["null", "int"], "default": null}')),
    (_record(_INT, '{"name": "y", "type": "int"}'), _record(_INT)),
    (_record(_INT), _record('{"name": "z", "type": "int"}')),
    (_record(_INT), _record('{"name": "z", "type": "int", "aliases": ["x"]}')),
    (_record(_INT), _record(_INT).replace('"R"', '"S"')),
    (_record(_INT), _record(_INT).replace('"a"', '"b"')),
    (_record(_INT), _record(_INT).replace('"R"', '"S", "aliases": ["a.R"]')),
    (_record(_INT), _record('{"name": "x", "type": ["null", "int"]}')),
    (_record('{"name": "x", "type": ["null", "int"]}'), _record(_INT)),
    (_record('{"name": "x", "type": ["int"]}'), _record('{"name": "x", "type": "long"}')),
    (_record('{"name": "x", "type": ["null", "int"]}'), _record('{"name": "x", "type": ["null", "int", "string"]}')),
    (_record('{"name": "x", "type": ["null", "int", "string"]}'), _record('{"name": "x", "type": ["null", "int"]}')),
    (_record('{"name": "x", "type": ["null", "int"]}'), _record('{"name": "x", "type": ["int", "null"]}')),
    (
        _record('{"name": "x", "type": {"type": "enum", "name": "E", "symbols": ["A"]}}'),
        _record('{"name": "x", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}}'),
    ),
    (
        _record('{"name": "x", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}}'),
        _record('{"name": "x", "type": {"type": "enum", "name": "E", "symbols": ["A"]}}'),
    ),
    (
        _record('{"name": "x", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}}'),
        _record('{"name": "x", "type": {"type": "enum", "name": "E", "symbols": ["A"], "default": "A"}}'),
    ),
    (
        _record('{"name": "x", "type": {"type": "fixed", "name": "F", "size": 2}}'),
        _record('{"name": "x", "type": {"type": "fixed", "name": "F", "size": 3}}'),
    ),
    (
        _record('{"name": "x", "type": {"type": "fixed", "name": "F", "size": 2}}'),
        _record('{"name": "x", "type": {"type": "fixed", "name": "G", "size": 2}}'),
    ),
    (
        _record('{"name": "x", "type": {"type": "array", "items": "int"}}'),
        _record('{"name": "x", "type": {"type": "array", "items": "long"}}'),
    ),
    (
        _record('{"name": "x", "type": {"type": "map", "values": "int"}}'),
        _record('{"name": "x", "type": {"type": "map", "values": "string"}}'),
    ),
    (
        _record('{"name": "next", "type": ["null", "R"]}'),
        _record('{"name": "next", "type": ["null", "R"]}', '{"name": "y", "type": "int", "default": 0}'),
    ),
    (
        _record('{"name": "next", "type": ["null", "R"]}', _INT),
        _record('{"name": "next", "type": ["null", "R"]}', '{"name": "x", "type": "string"}'),
    ),
    (
        _record('{"name": "x", "type": {"type": "long", "logicalType": "timestamp-millis"}}'),
        _record('{"name": "x", "type": "long"}'),
    ),
    (
        _record('{"name": "x", "type": "string"}'),
        _record('{"name": "x", "type": {"type": "string", "avro.java.string": "String"}}'),
    ),
    (
        _record('{"name": "a", "type": {"type": "record", "name": "N", "fields": []}}', '{"name": "b", "type": "N"}'),
        _record('{"name": "a", "type": {"type": "record", "name": "N", "fields": []}}', '{"name": "b", "type": "a.N"}'),
    ),
]  # fmt: skip

_VARCHAR = LengthType(type_root="VARCHAR")
_NESTED = RowType(fields=(RowField(name="n", type=LogicalType(type_root="INTEGER")),))


def _timestamp(precision: int, kind: str = "REGULAR") -> LogicalType:
    return TimestampType(type_root="TIMESTAMP_WITHOUT_TIME_ZONE", precision=precision, kind=kind)


#: The types of a SQL row: those that were written and those wanted.
ROW_DATA_CHANGES: list[tuple[tuple[LogicalType, ...], tuple[LogicalType, ...]]] = [
    ((_VARCHAR,), (_VARCHAR,)),
    ((_VARCHAR,), (replace(_VARCHAR, length=20),)),
    ((_VARCHAR,), (replace(_VARCHAR, is_nullable=False),)),
    ((_VARCHAR,), (_VARCHAR, _VARCHAR)),
    ((LogicalType(type_root="INTEGER"),), (LogicalType(type_root="BIGINT"),)),
    ((LogicalType(type_root="INTEGER"),), (LogicalType(type_root="DATE"),)),
    ((DecimalType(precision=10, scale=2),), (DecimalType(precision=12, scale=2),)),
    ((_timestamp(3),), (_timestamp(3, "ROWTIME"),)),
    ((_timestamp(3),), (_timestamp(6),)),
    ((_NESTED,), (replace(_NESTED, fields=(replace(_NESTED.fields[0], name="m"),)),)),
    ((_NESTED,), (replace(_NESTED, fields=(replace(_NESTED.fields[0], description="m"),)),)),
]
