"""SQL's data types as texts, as compiled plans and DDL have them: the columns of a row, by name and type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from . import types as t
from .errors import PlanError
from .from_logical import decimal_type

_TOKEN = re.compile(r"`((?:[^`]|``)*)`|\"((?:[^\"]|\"\")*)\"|(\w[\w$]*)|('(?:[^']|'')*')|(.)", re.DOTALL)
_BY_NAME: dict[str, t.ScalarName] = {
    "BOOLEAN": "boolean", "TINYINT": "byte", "SMALLINT": "short", "INT": "int", "INTEGER": "int", "BIGINT": "long",
    "FLOAT": "float", "DOUBLE": "double", "DATE": "days", "TIME": "millis_of_day", "CHAR": "string_data",
    "VARCHAR": "string_data", "STRING": "string_data", "BINARY": "bytes", "VARBINARY": "bytes", "BYTES": "bytes",
    "RAW": "raw_data", "NULL": "null", "VARIANT": "raw_data", "BITMAP": "bitmap",
}  # fmt: skip
_BY_ROOT = {
    "TIMESTAMP_WITHOUT_TIME_ZONE": False,
    "TIMESTAMP_WITH_LOCAL_TIME_ZONE": True,
}


class Tokens:
    """The words, quoted names and signs of a text, taken from its front. ``quoted`` tells names from words."""

    def __init__(self, text: str) -> None:
        self.items: list[tuple[str, bool]] = []
        for match in _TOKEN.finditer(re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)):
            backticks, quotes, word, literal, sign = match.groups()
            if backticks is not None or quotes is not None:
                name = (backticks or "").replace("``", "`") or (quotes or "").replace('""', '"')
                self.items.append((name, True))
            elif word or literal or (sign and not sign.isspace()):
                self.items.append((word or literal or sign, False))
        self.at = 0

    def peek(self) -> str:
        """The next word in upper case or sign; "" at the end, and for a quoted name."""
        if self.at >= len(self.items):
            return ""
        text, quoted = self.items[self.at]
        return "" if quoted else text.upper()

    def next(self) -> str:
        if self.at >= len(self.items):
            raise PlanError("SQL ends in the middle")
        self.at += 1
        return self.items[self.at - 1][0]

    def taken(self, *words: str) -> bool:
        """Take these words if they come next."""
        at = self.at
        for word in words:
            if self.peek() != word:
                self.at = at
                return False
            self.at += 1
        return True

    def expect(self, sign: str) -> None:
        if not self.taken(sign):
            found = self.items[self.at][0] if self.at < len(self.items) else "the end"
            raise PlanError(f"SQL has {found!r} where {sign!r} belongs")


def read_type(tokens: Tokens) -> t.DataType:
    """The type that the tokens begin with, as Flink's binary rows hold it. Raises PlanError."""
    name = tokens.next().upper()
    node = _named(name, tokens)
    tokens.taken("NOT", "NULL") or tokens.taken("NULL")
    return node


def _named(name: str, tokens: Tokens) -> t.DataType:
    match name:
        case "ROW":
            return t.RowDataType(fields=_fields(tokens))
        case "ARRAY":
            tokens.expect("<")
            element = read_type(tokens)
            tokens.expect(">")
            return t.ArrayDataType(element=element)
        case "MULTISET":
            tokens.expect("<")
            element = read_type(tokens)
            tokens.expect(">")
            return t.MapDataType(key=element, value=t.scalar("int"))
        case "MAP":
            tokens.expect("<")
            key = read_type(tokens)
            tokens.expect(",")
            value = read_type(tokens)
            tokens.expect(">")
            return t.MapDataType(key=key, value=value)
        case "DECIMAL" | "DEC" | "NUMERIC":
            numbers = _numbers(tokens)
            return decimal_type(numbers[0] if numbers else 10, numbers[1] if len(numbers) > 1 else 0)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return _timestamp(name, tokens)
        case "INTERVAL":
            return _interval(tokens)
    if name not in _BY_NAME:
        raise PlanError(f"{name} is no type of Flink SQL that is known here")
    _numbers(tokens)
    tokens.taken("PRECISION")  # DOUBLE PRECISION
    if name == "TIME":
        tokens.taken("WITHOUT", "TIME", "ZONE")
    return t.scalar(_BY_NAME[name])


def _fields(tokens: Tokens) -> tuple[t.Field, ...]:
    closing = ">" if tokens.taken("<") else ")"
    if closing == ")":
        tokens.expect("(")
    fields: list[t.Field] = []
    while not tokens.taken(closing):
        fields.append(t.Field(name=tokens.next(), type=read_type(tokens)))
        if tokens.at < len(tokens.items) and tokens.items[tokens.at][0].startswith("'"):
            tokens.next()  # a description
        tokens.taken(",")
    return tuple(fields)


def _timestamp(name: str, tokens: Tokens) -> t.DataType:
    numbers = _numbers(tokens)
    utc = name == "TIMESTAMP_LTZ" or tokens.taken("WITH", "LOCAL", "TIME", "ZONE")
    tokens.taken("WITHOUT", "TIME", "ZONE")
    if tokens.taken("*"):  # *ROWTIME*, *PROCTIME*
        tokens.next()
        tokens.expect("*")
    return t.TimestampDataType(precision=numbers[0] if numbers else 6, utc=utc)


def _interval(tokens: Tokens) -> t.DataType:
    months = tokens.next().upper() in ("YEAR", "MONTH")
    _numbers(tokens)
    if tokens.taken("TO"):
        tokens.next()
        _numbers(tokens)
    return t.scalar("months" if months else "day_time_millis")


def _numbers(tokens: Tokens) -> list[int]:
    """``(10, 2)``, if there is one; of RAW's arguments, which are text, nothing."""
    found: list[int] = []
    if tokens.taken("("):
        while not tokens.taken(")"):
            word = tokens.next()
            if word.isdigit():
                found.append(int(word))
    return found


def columns_of(output_type: object) -> tuple[t.Field, ...] | None:
    """The columns of a compiled plan's ``outputType``: a text, or an object where a text will not do. None for
    something else."""
    try:
        node = _of_json(output_type)
    except PlanError:
        return None
    return node.fields if isinstance(node, t.RowDataType) else None


def _of_json(given: object) -> t.DataType:
    if isinstance(given, str):
        return read_type(Tokens(given))
    if not isinstance(given, Mapping):
        raise PlanError("a type is a text or an object")
    root = given.get("type")
    if root == "ROW":
        fields: list[Any] = list(given.get("fields") or ())
        return t.RowDataType(
            fields=tuple(t.Field(name=str(one["name"]), type=_of_json(one["fieldType"])) for one in fields)
        )
    if root in _BY_ROOT:
        return t.TimestampDataType(precision=int(given.get("precision", 6)), utc=_BY_ROOT[str(root)])
    if root == "ARRAY":
        return t.ArrayDataType(element=_of_json(given.get("elementType")))
    if root in ("MAP", "MULTISET"):
        key = _of_json(given.get("keyType") or given.get("elementType"))
        value = _of_json(given["valueType"]) if root == "MAP" else t.scalar("int")
        return t.MapDataType(key=key, value=value)
    return t.scalar("raw_data")
