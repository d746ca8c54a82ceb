"""The Java classes of values, as ``Class.getName`` gives them: object arrays name that of their elements."""

from __future__ import annotations

from . import types as t

_PRIMITIVES = {
    "boolean": "Z", "byte": "B", "char": "C", "short": "S", "int": "I", "long": "J", "float": "F", "double": "D",
}  # fmt: skip
_CLASSES = {
    "boolean": "java.lang.Boolean", "byte": "java.lang.Byte", "short": "java.lang.Short",
    "int": "java.lang.Integer", "long": "java.lang.Long", "float": "java.lang.Float",
    "double": "java.lang.Double", "char": "java.lang.Character", "string": "java.lang.String",
    "void": "java.lang.Void", "date": "java.util.Date", "sql_date": "java.sql.Date",
    "sql_time": "java.sql.Time", "sql_timestamp": "java.sql.Timestamp", "instant": "java.time.Instant",
    "local_date": "java.time.LocalDate", "local_time": "java.time.LocalTime",
    "local_date_time": "java.time.LocalDateTime", "big_integer": "java.math.BigInteger",
    "big_decimal": "java.math.BigDecimal", "bytes": "[B", "string_value": "org.apache.flink.types.StringValue",
    "tuple0": "org.apache.flink.api.java.tuple.Tuple0",
    "window": "org.apache.flink.streaming.api.windowing.windows.TimeWindow",
    "global_window": "org.apache.flink.streaming.api.windowing.windows.GlobalWindow",
}  # fmt: skip

#: Elements whose arrays have a serializer of their own, without a class name and without flags for nulls.
ARRAY_ELEMENTS = (*(name for name in _PRIMITIVES if name != "byte"), "string")


def has_own_array(element: t.DataType) -> bool:
    return isinstance(element, t.Scalar) and element.name in ARRAY_ELEMENTS


def java_class(node: t.DataType) -> str | None:
    """The class that a job declares for values of ``node``; None where the type does not tell."""
    match node:
        case t.Scalar():
            return _CLASSES.get(node.name)
        case t.PojoType() | t.EnumType() | t.KryoType() | t.TupleType() | t.ClassType() | t.NamedType():
            return node.class_name or None
        case t.RowType():
            return "org.apache.flink.types.Row"
        case t.MapType():
            return "java.util.Map"
        case t.ListType() if node.flavour == "array":
            return _array_class(node)
        case t.ListType():
            return f"java.util.{node.flavour.capitalize()}"
        case t.UnionType() if node.class_name == "Either":
            return "org.apache.flink.types.Either"
    return None


def _array_class(node: t.ListType) -> str | None:
    if node.class_name is None and isinstance(node.element, t.Scalar) and node.element.name in _PRIMITIVES:
        return "[" + _PRIMITIVES[node.element.name]
    inner = node.class_name or java_class(node.element)
    if inner is None:
        return None
    return f"[{inner}" if inner.startswith("[") else f"[L{inner};"
