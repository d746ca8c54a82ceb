"""Changes of serializers made by hand: what was written, what is wanted. ``#`` is a package of the pair's own."""

from __future__ import annotations

from statelift.schemas.snapshots import SerializerSnapshot
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
    ("raw<int>", "raw<int>"),
    ("list[element_flag=mask]<int>", "list<int>"),
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
