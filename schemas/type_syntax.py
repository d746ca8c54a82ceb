"""Types written by hand: ``map<string, pojo com.acme.FraudScore {score: double, timestamp: long}>``.

``str`` of a type reads back as the same type; POJO fields are put into Flink's order, by name. Names that are no
plain words stand in JSON's quotes. In brackets after a word stand the choices in which a type differs from what
Flink's usual serializer does: ``nullable[padding=8]<long>``.
"""

from __future__ import annotations

import dataclasses
import difflib
import typing
from collections.abc import Callable, Collection

from . import types as t
from .from_composite import nullable
from .java_class import has_own_array, java_class
from .type_tokens import Options, Tokens
from .wire import text_to_units

_MAX_DEPTH = 48
_SCALARS = typing.get_args(t.ScalarName)
_JAVA = typing.get_args(t.JavaName)
#: In a SQL row stand SQL's types.
_IN_ROW_DATA = {
    "array": "array_data", "map": "map_data", "row": "rowdata", "string": "string_data", "date": "days",
}  # fmt: skip


def parse_type(text: str, classes: Collection[str] = ()) -> t.DataType:
    """The type that ``text`` says, in which ``classes`` are known by their names.

    Raises PlanError with the position (from 1) and what was expected there.
    """
    tokens = Tokens(text)
    node = _Parser(tokens, classes=classes).type(0)
    tokens.expect_end()
    return node


@dataclasses.dataclass(slots=True)
class _Parser:
    tokens: Tokens
    classes: Collection[str] = ()
    in_row_data: bool = False
    depth: int = 0

    def type(self, depth: int) -> t.DataType:
        if depth > _MAX_DEPTH:
            raise self.tokens.error(f"at most {_MAX_DEPTH} types in each other")
        start = self.tokens.at
        word = self.tokens.take("name", "a type")
        if self.in_row_data:
            word = _IN_ROW_DATA.get(word, word)
        if word in _SCALARS:
            return t.Scalar(name=word)  # type: ignore[arg-type]
        if word in _JAVA:
            return t.JavaType(name=word)  # type: ignore[arg-type]
        if word in self.classes:
            return t.NamedType(class_name=word)
        rule = _RULES.get(word)
        if rule is None:
            near = difflib.get_close_matches(word, [*_RULES, *_SCALARS, *self.classes], n=3)
            self.tokens.at = start
            raise self.tokens.error("a type", todo=f"nearest: {', '.join(near)}" if near else None)
        outer_depth, self.depth = self.depth, depth
        options = self.tokens.options()
        node = rule(self, options)
        options.expect_none_left()
        self.depth = outer_depth
        return node

    def inner(self) -> t.DataType:
        """``<type>``."""
        return self.inners(1)[0]

    def inners(self, count: int | None) -> tuple[t.DataType, ...]:
        """``<type, …>``: as many as ``count``, or any number above 0."""
        self.tokens.take("<")
        nodes = [self.type(self.depth + 1)]
        while (len(nodes) < count) if count is not None else self.tokens.next_is(","):
            self.tokens.take(",")
            nodes.append(self.type(self.depth + 1))
        self.tokens.take(">")
        return tuple(nodes)

    def fields(self) -> tuple[t.Field, ...]:
        """``{name: type, …}``, each name once."""
        names: set[str] = set()

        def field() -> t.Field:
            start = self.tokens.at
            name = self.tokens.name("a field name")
            if name in names:
                self.tokens.at = start
                raise self.tokens.error(f"no second field {name!r}")
            names.add(name)
            self.tokens.take(":")
            return t.Field(name=name, type=self.type(self.depth + 1))

        return tuple(self.tokens.braced(field))

    def class_name(self) -> str:
        return self.tokens.name("a class name")

    def optional_class(self) -> str:
        return "" if self.tokens.next_is("{") or self.tokens.next_is("(") else self.class_name()

    def outside_row_data(self, parse: Callable[[], t.DataType], *, row_data: bool = False) -> t.DataType:
        outside, self.in_row_data = self.in_row_data, row_data
        node = parse()
        self.in_row_data = outside
        return node


def _numbered(nodes: tuple[t.DataType, ...]) -> tuple[t.Field, ...]:
    return tuple(t.Field(name=f"f{i}", type=node) for i, node in enumerate(nodes))


def _tuple(parser: _Parser, options: Options) -> t.DataType:
    if parser.tokens.next_is("<"):
        fields = _numbered(parser.inners(None))
        return t.TupleType(class_name=f"{t.JAVA_TUPLE}{len(fields)}", fields=fields)
    class_name = parser.optional_class()
    return t.TupleType(
        class_name=class_name, fields=parser.fields(), case_class=class_name.startswith("scala.Tuple")
    )


def _case_class(parser: _Parser, options: Options) -> t.DataType:
    return t.TupleType(class_name=parser.class_name(), fields=parser.fields(), case_class=True)


def _timer(parser: _Parser, options: Options) -> t.DataType:
    key, namespace = parser.inners(2)
    names = {"timestamp": t.scalar("flipped_long"), "key": key, "namespace": namespace}
    fields = tuple(t.Field(name=name, type=node) for name, node in names.items())
    return t.TupleType(class_name=t.TIMER, fields=fields)


def _pojo(parser: _Parser, options: Options) -> t.DataType:
    class_name = parser.class_name()
    fields = parser.fields()
    return t.PojoType(
        class_name=class_name,
        fields=tuple(sorted(fields, key=lambda field: text_to_units(field.name))),
        registered=parser.fields() if parser.tokens.skip_word("registered") else (),
        non_registered=parser.fields() if parser.tokens.skip_word("non_registered") else (),
    )


def _row(parser: _Parser, options: Options) -> t.DataType:
    kind = options.flag("supports_row_kind", True)
    fields = _numbered(parser.inners(None)) if parser.tokens.next_is("<") else parser.fields()
    return t.RowType(fields=fields, supports_row_kind=kind)


_FLAGS = ("none", "is_null", "is_present", "mask")


def _list(flavour: str) -> Callable[[_Parser, Options], t.DataType]:
    def rule(parser: _Parser, options: Options) -> t.DataType:
        class_name = options.text("class_name", None)
        flag = options.word("element_flag", "", ("", *_FLAGS))
        framing = options.word("framing", "i4", ("i4", "block", "rest"))
        element = parser.inner()
        if flavour == "array" and not flag and class_name is None:
            if element == t.scalar("byte"):
                return t.scalar("bytes")
            class_name = None if has_own_array(element) else java_class(element)
            if class_name is None and not has_own_array(element):
                raise parser.tokens.error("array[class_name=…]<…> for elements whose type names no class")
        usual = "is_null" if flavour == "set" else "is_present" if class_name else "none"
        return t.ListType(
            element=element,
            flavour=flavour,  # type: ignore[arg-type]
            element_flag=flag or usual,  # type: ignore[arg-type]
            framing=framing,  # type: ignore[arg-type]
            class_name=class_name,
        )

    return rule


def _map(parser: _Parser, options: Options) -> t.DataType:
    framing = options.word("framing", "i4", ("i4", "block"))
    class_name = options.text("class_name", None)
    key, value = parser.inners(2)
    return t.MapType(key=key, value=value, framing=framing, class_name=class_name)  # type: ignore[arg-type]


def _enum(parser: _Parser, options: Options) -> t.DataType:
    class_name = parser.class_name()
    constants = parser.tokens.braced(lambda: parser.tokens.name("a constant"))
    return t.EnumType(class_name=class_name, constants=tuple(constants))


def _nullable(parser: _Parser, options: Options) -> t.DataType:
    flag = options.word("flag", "is_null", ("is_null", "is_present", "null_first", "null_second"))
    padding = options.number("padding", 0)
    return nullable(parser.inner(), flag, padding)


def _either(parser: _Parser, options: Options) -> t.DataType:
    left, right = parser.inners(2)
    alternatives = (t.Field(name="left", type=left), t.Field(name="right", type=right))
    return t.UnionType(class_name="Either", alternatives=alternatives, tags=(1, 0))


def _union(parser: _Parser, options: Options) -> t.DataType:
    tags, width = options.numbers("tags"), options.number("tag_width", 1)
    class_name, alternatives = parser.optional_class(), parser.fields()
    tags = tuple(range(len(alternatives))) if tags is None else tags
    if len(tags) != len(alternatives) or width not in (1, 4):
        raise parser.tokens.error("a tag for each alternative, of 1 or 4 bytes")
    return t.UnionType(
        class_name=class_name,
        alternatives=alternatives,
        tags=tags,
        tag_width=width,  # type: ignore[arg-type]
    )


def _fixed(parser: _Parser, options: Options) -> t.DataType:
    class_name = parser.optional_class()
    (size,) = parser.tokens.numbers(1)
    return t.FixedType(class_name=class_name, size=size)


def _decimal(parser: _Parser, options: Options) -> t.DataType:
    storage = options.word("storage", "", ("", "long", "bytes", "fixed"))
    size = options.number("size", 0)
    precision, scale = parser.tokens.numbers(2)
    if not 1 <= precision <= 38 or scale > precision:
        raise parser.tokens.error("a precision of 1 to 38, and a scale not above it")
    return t.DecimalType(
        precision=precision,
        scale=scale,
        storage=storage or t.decimal_storage(precision),  # type: ignore[arg-type]
        size=size,
    )


def _timestamp(*, utc: bool) -> Callable[[_Parser, Options], t.DataType]:
    def rule(parser: _Parser, options: Options) -> t.DataType:
        (precision,) = parser.tokens.numbers(1)
        if precision > 9:
            raise parser.tokens.error("a precision of 0 to 9")
        return t.TimestampDataType(precision=precision, utc=utc)

    return rule


def _row_data(parser: _Parser, options: Options) -> t.DataType:
    def parse() -> t.DataType:
        fields = _numbered(parser.inners(None)) if parser.tokens.next_is("<") else parser.fields()
        return t.RowDataType(fields=fields)

    return parser.outside_row_data(parse, row_data=True)


def _array_data(parser: _Parser, options: Options) -> t.DataType:
    return parser.outside_row_data(lambda: t.ArrayDataType(element=parser.inner()), row_data=True)


def _map_data(parser: _Parser, options: Options) -> t.DataType:
    def parse() -> t.DataType:
        key, value = parser.inners(2)
        return t.MapDataType(key=key, value=value)

    return parser.outside_row_data(parse, row_data=True)


def _raw(parser: _Parser, options: Options) -> t.DataType:
    return parser.outside_row_data(lambda: t.RawDataType(inner=parser.inner()))


def _ttl(parser: _Parser, options: Options) -> t.DataType:
    return t.TtlType(inner=parser.inner())


def _class(parser: _Parser, options: Options) -> t.DataType:
    final = options.flag("final", False)
    class_name, fields = parser.class_name(), parser.fields()
    return t.ClassType(
        class_name=class_name,
        fields=tuple(sorted(fields, key=lambda field: text_to_units(field.name))),
        final=final,
        subclasses=parser.inners(None) if parser.tokens.skip_word("subclasses") else (),
    )


def _named(parser: _Parser) -> str:
    parser.tokens.take("<")
    class_name = parser.class_name()
    parser.tokens.take(">")
    return class_name


def _kryo(parser: _Parser, options: Options) -> t.DataType:
    version = options.number("kryo", 0)
    if version not in (2, 5):
        raise parser.tokens.error("kryo[kryo=2]<…> for Flink 1.x, kryo[kryo=5]<…> for Flink 2.x")
    registered, first_id = options.texts("registered"), options.number("first_id", 85)
    parser.tokens.take("<")
    class_name, shape = parser.class_name(), None
    if parser.tokens.next_is(","):
        parser.tokens.take(",")
        shape = parser.type(parser.depth + 1)
    parser.tokens.take(">")
    return t.KryoType(
        class_name=class_name,
        kryo=version,  # type: ignore[arg-type]
        registered=registered,
        first_id=first_id,
        shape=shape,
    )


def _opaque(parser: _Parser, options: Options) -> t.DataType:
    return t.OpaqueType(class_name=_named(parser), reason="declared opaque")


_RULES: dict[str, Callable[[_Parser, Options], t.DataType]] = {
    "tuple": _tuple,
    "case_class": _case_class,
    "timer": _timer,
    "pojo": _pojo,
    "row": _row,
    "list": _list("list"),
    "set": _list("set"),
    "array": _list("array"),
    "map": _map,
    "enum": _enum,
    "nullable": _nullable,
    "either": _either,
    "union": _union,
    "fixed": _fixed,
    "decimal": _decimal,
    "timestamp": _timestamp(utc=False),
    "timestamp_ltz": _timestamp(utc=True),
    "rowdata": _row_data,
    "array_data": _array_data,
    "map_data": _map_data,
    "raw": _raw,
    "ttl": _ttl,
    "kryo": _kryo,
    "class": _class,
    "opaque": _opaque,
}
