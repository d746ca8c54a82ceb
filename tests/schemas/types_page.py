"""The page docs/types.md, made from the code: ``python tests/schemas/types_page.py > docs/types.md`` writes it anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from statelift.schemas import types as t
from statelift.schemas.codec import ops
from statelift.schemas.codec.codec import Codec
from statelift.schemas.codec.scalars import WIDE
from statelift.schemas.codec.shapes import compile_type
from statelift.schemas.codec.undecoded import TODO
from statelift.schemas.errors import StateliftError
from statelift.schemas.from_composite import NESTED, RULES
from statelift.schemas.from_simple import _SIMPLE, VALUES
from statelift.schemas.from_snapshot import type_of
from statelift.schemas.hashing import stability
from statelift.schemas.snapshots import CompositeSnapshot, SerializerSnapshot, build
from statelift.schemas.snapshots.names import SCALA
from statelift.schemas.snapshots.outer import BOOL, COMPOSITES, I4, UTF, ExternalOuter
from statelift.schemas.to_snapshot import snapshot_of
from statelift.schemas.type_syntax import parse_type

HEAD = """# Types

What Flink's serializers become: the type as it is written in plans and declarations, the Arrow type of its column,
whether statelift makes the serializer's snapshot by itself (for state that no savepoint has had), and whether Flink's
key group of a key of that type can be computed. All of them are read, and values are written back in the bytes that
Flink writes. Examples stand for the parameters: `int` and `string` for any element, `com.acme.P` for any class.

This page is made from the code (`python tests/schemas/types_page.py > docs/types.md`), and a test holds it to that.
How fast values of each kind are read and written: [benchmarks](../benchmarks/README.md#values).

Parts of other types are null where Flink marks them so: POJO and row fields, map values, elements of sets and of object
arrays. A value of a type that is not decoded is `binary`, carried as it is, and a value that holds one is `binary` as a
whole unless it stands at its end. Where a schema of Avro holds itself, the columns go down to where it stands again:
that part is `binary`, and what follows it is read. With `wide_times` the types of the last table are structs of
their parts.
"""

UNHELD = """
## Values that no column holds

Some values are as Flink writes them, and still nothing that a column of their type holds. Such a value is null, its
bytes are in the column `undecoded` of its row, and the other rows are read. `inspect`, `read` and `verify` count them
by state and reason. A plan keeps the bytes: a `set`, `where` or `delete` that looks at `value` leaves such a row as it
is, unless it names `undecoded` too, and only a `set` of the whole value by other columns replaces it. A select that
makes a whole state gives the column `undecoded` on (one that would write nulls instead is refused).

A key, namespace or map key that no column holds is null, and `set`, `where` and `delete` leave it as it is. A list is
bytes as a whole. Where nothing says how long a value is (the heap's own format, broadcast states) one of an unknown
class cannot be stepped over: what follows it in its key group, or its broadcast state, is not read, and said so; texts
and times can.

Some keys have two forms in Flink: SQL rows with a null DECIMAL of over 18 digits, or TIMESTAMP of over 3 (each form
with a hash of its own), and BigInteger and BigDecimal of 0, 1 and 10 (`BigInteger.ONE` is written as a code, `new
BigInteger("1")` as its bytes). They are read, found and changed as they stand; a select that would write such a key
anew is refused.
"""

_INT, _STRING = build.scalar("Int"), build.scalar("String")
_LINKED = (
    '{"type": "record", "name": "com.acme.Linked", "fields": [{"name": "id", "type": "long"},'
    ' {"name": "next", "type": ["null", "com.acme.Linked"]}]}'
)
_AVRO = (
    '{"type": "record", "name": "com.acme.R", "fields": [{"name": "id", "type": "long"},'
    ' {"name": "name", "type": ["null", "string"]}, {"name": "tags", "type": {"type": "array", "items": "string"}},'
    ' {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}}]}'
)


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, rows in (
        ("Without parameters", simple()),
        ("Made of others", composites()),
        ("With what their snapshot keeps", others()),
        ("SQL rows, arrays and maps", sql()),
    ):
        parts += [f"\n## {title}\n", *_table(HEADER, rows)]
    parts += ["\n## With `wide_times`\n", *_table(("Type", "Arrow type"), wide())]
    parts += [UNHELD, *_table(("What it is", "What reads it"), unheld())]
    return "\n".join(parts) + "\n"


HEADER = ("Flink's serializer", "Type", "Arrow type", "Snapshot by hand", "Key group")


def simple() -> Iterator[tuple[str, ...]]:
    for name, node in _SIMPLE.items():
        yield _row(serializer(name), node)
    for name, node in VALUES.items():
        yield _row(f"`ValueSerializer` of `{name.rpartition('.')[2]}`", node)


def composites() -> Iterator[tuple[str, ...]]:
    for name in RULES:
        yield _row(serializer(name), type_of(_composite(name)))


def _composite(name: str) -> SerializerSnapshot:
    version = max(COMPOSITES[name])
    outer = COMPOSITES[name][version]
    values = {id(UTF): "com.acme.C", id(BOOL): True, id(I4): 0}
    kept: str | bool | int | ExternalOuter | None = values.get(id(outer))
    if "TupleSerializer" in name:
        kept = "org.apache.flink.api.java.tuple.Tuple2"
    elif "GenericArray" in name:
        kept = "java.lang.Integer"
    nested = (_INT, _STRING) if NESTED.get(name, 1) != 1 else (_INT,)
    return CompositeSnapshot(class_name=name, version=3, outer_version=version, outer=kept, nested=nested)


def others() -> Iterator[tuple[str, ...]]:
    base = build.pojo("com.acme.P", {"name": _STRING, "n": _INT})
    below = build.pojo("com.acme.P", {"n": _INT}, registered_subclasses={"com.acme.Q": base})
    snapshots: list[tuple[str, SerializerSnapshot]] = [
        ("`PojoSerializer`", base),
        ("`PojoSerializer` with subclasses", below),
        ("`EnumSerializer`", build.enum("com.acme.Color", ("RED", "BLUE"))),
        ("`AvroSerializer`", build.avro(_AVRO)),
        ("`AvroSerializer`", build.avro('["null", "int", "string"]')),
        ("`AvroSerializer`, a schema that holds itself", build.avro(_LINKED)),
        ("`AvroSerializer`", build.avro('{"type": "fixed", "name": "com.acme.F", "size": 4}')),
        ("`KryoSerializer` of a JDK class", build.kryo("java.util.ArrayList")),
        ("`KryoSerializer` of a class that is not declared", build.kryo("com.acme.K")),
    ]
    for name, snapshot in snapshots:
        yield _row(name, type_of(snapshot, kryo=5))


def sql() -> Iterator[tuple[str, ...]]:
    texts = (
        "rowdata {f0: int, f1: string_data}", "decimal(10, 2)", "decimal(30, 2)", "timestamp(3)", "timestamp_ltz(6)",
        "timestamp(9)", "array_data<int>", "map_data<string_data, long>", "days", "millis_of_day", "months",
        "day_time_millis", "raw_data", "raw<int>", "rowdata {f0: raw<string>, f1: raw<void>}",
    )  # fmt: skip
    words = {
        "rowdata {f0: int, f1: string_data}": "`RowDataSerializer`", "decimal(10, 2)": "`DecimalDataSerializer`",
        "timestamp(3)": "`TimestampDataSerializer`", "array_data<int>": "`ArrayDataSerializer`",
        "map_data<string_data, long>": "`MapDataSerializer`, multisets", "days": "DATE in a row",
        "millis_of_day": "TIME in a row", "months": "INTERVAL YEAR TO MONTH in a row",
        "day_time_millis": "INTERVAL DAY TO SECOND in a row",
        "raw_data": "VARIANT, RAW in arrays and maps if its serializer has parts, `BinaryRowData`",
        "raw<int>": "`RawValueDataSerializer`",
        "rowdata {f0: raw<string>, f1: raw<void>}": "RAW (f1: data views) in a row",
    }  # fmt: skip
    for text in texts:
        yield _row(words.get(text, ""), parse_type(text))


def wide() -> Iterator[tuple[str, ...]]:
    nodes: list[t.DataType] = [t.scalar(name) for name in WIDE]  # type: ignore[arg-type]
    for node in [*nodes, t.TimestampDataType(precision=9)]:
        yield f"`{node}`", f"`{Codec(compile_type(node, wide_times=True)).arrow_type}`"


def unheld() -> Iterator[tuple[str, ...]]:
    for reason in ops.UNHELD:
        yield ops.REASONS[reason], TODO.get(reason, "")


def serializer(snapshot_class: str) -> str:
    """A serializer's name from that of its snapshot class; Scala's and PyFlink's stand in packages of their own."""
    package, _, name = snapshot_class.rpartition(".")
    outer, *inner = name.split("$")
    if inner and outer.startswith(("TimeWindow", "CountWindow", "GlobalWindow")):
        table = " of SQL" if ".table." in package else ""
        return f"`{outer}.Serializer`{table}"
    last = (inner or [outer])[-1].removesuffix("V2").removesuffix("Snapshot")
    scala = {SCALA[0][:-1]: " of Scala", SCALA[1][:-1]: " of Scala's Table API"}.get(package, "")
    return f"`{last}`{scala}"


def _row(name: str, node: t.DataType) -> tuple[str, ...]:
    opaque = t.opaque_in(node)
    arrow = str(Codec(compile_type(node)).arrow_type)
    return (
        name,
        f"`{node}`",
        f"`{arrow}`" + (f" ({opaque.reason})" if opaque else ""),
        _by_hand(node),
        stability(node) or "yes",
    )


def _by_hand(node: t.DataType) -> str:
    versions = []
    for version in ("1.20", "2.3"):
        try:
            snapshot_of(node, version)
            versions.append(version)
        except StateliftError as error:
            reason = error.what
    if len(versions) == 2:
        return "yes"
    return f"{versions[0]} only" if versions else f"no: {reason.rpartition(': ')[2]}"


def _table(header: Iterable[str], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    names = list(header)
    yield "| " + " | ".join(names) + " |"
    yield "|" + " --- |" * len(names)
    for row in dict.fromkeys(rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


if __name__ == "__main__":
    print(page(), end="")
