"""The text of a type as tokens: names, JSON strings, numbers and marks, with errors that say where."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from .errors import PlanError
from .type_text import NAME

_TOKEN = re.compile(
    rf'(?P<name>{NAME.pattern})|(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?\d{{1,10}})|(?P<mark>[<>{{}}()\[\],:=])'
)
_SPACE = re.compile(r"\s*")
_KINDS = ("name", "string", "number")
_SHOWN = 60
X = TypeVar("X")

Value = str | int | bool | None | tuple["Value", ...]


@dataclass(slots=True)
class Tokens:
    """A cursor over ``text``; ``at`` is where the next token starts, spaces left out."""

    text: str
    at: int = 0

    def __post_init__(self) -> None:
        self._skip_space()

    def error(self, expected: str, *, todo: str | None = None) -> PlanError:
        """What was expected at the cursor, and what stands there."""
        start = max(0, min(self.at, len(self.text)) - _SHOWN)
        shown = self.text[start : start + 2 * _SHOWN]
        token = self._peek()[1]
        found = (token if token.isprintable() else repr(token)) or "the end"
        return PlanError(
            f"type {shown!r}, position {self.at + 1}: expected {expected}, found {found}", todo=todo
        )

    def take(self, kind: str, expected: str | None = None) -> str:
        """The next token, which is of the ``kind`` name, string or number, or is that very mark."""
        found, token = self._peek()
        wanted = found == kind if kind in _KINDS else (found, token) == ("mark", kind)
        if not wanted:
            raise self.error(expected or f"'{kind}'")
        self.at += len(token)
        self._skip_space()
        return token

    def next_is(self, mark: str) -> bool:
        return self._peek() == ("mark", mark)

    def skip_word(self, word: str) -> bool:
        if self._peek() != ("name", word):
            return False
        self.take("name")
        return True

    def name(self, expected: str) -> str:
        """A name, plain or in quotes."""
        start = self.at
        if self._peek()[0] != "string":
            return self.take("name", expected)
        try:
            return str(json.loads(self.take("string"), strict=False))
        except ValueError:
            self.at = start
            raise self.error(f"{expected} in JSON's quotes") from None

    def numbers(self, count: int) -> tuple[int, ...]:
        """``(number, …)``, none of them negative."""
        self.take("(")
        numbers = []
        for i in range(count):
            if i:
                self.take(",")
            start = self.at
            numbers.append(int(self.take("number", "a number")))
            if numbers[-1] < 0:
                self.at = start
                raise self.error("a number from 0")
        self.take(")")
        return tuple(numbers)

    def braced(self, parse: Callable[[], X]) -> list[X]:
        """``{one, …}``, or ``{}``."""
        return self._many("{", parse, "}")

    def options(self) -> Options:
        """``[name=value, …]`` where it stands."""
        values = dict(self._many("[", self._option, "]")) if self.next_is("[") else {}
        return Options(tokens=self, values=values)

    def expect_end(self) -> None:
        if self.at < len(self.text):
            raise self.error("the end")

    def _option(self) -> tuple[str, Value]:
        name = self.take("name", "an option")
        self.take("=")
        return name, self._value()

    def _value(self) -> Value:
        kind, token = self._peek()
        if kind == "number":
            return int(self.take("number"))
        if kind == "name" and token in _WORDS:
            return _WORDS[self.take("name")]
        if token == "(" and kind == "mark":
            return tuple(self._many("(", self._value, ")"))
        return self.name("a value")

    def _many(self, opening: str, parse: Callable[[], X], closing: str) -> list[X]:
        self.take(opening)
        found: list[X] = []
        while not self.next_is(closing):
            if found:
                self.take(",", f"',' or '{closing}'")
            found.append(parse())
        self.take(closing)
        return found

    def _peek(self) -> tuple[str, str]:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            return "", self.text[self.at : self.at + 1]
        return str(match.lastgroup), match.group()

    def _skip_space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at


_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


@dataclass(slots=True, kw_only=True)
class Options:
    """The choices in brackets; each is taken by name, and what is left over is an error."""

    tokens: Tokens
    values: dict[str, Value]

    def flag(self, name: str, default: bool) -> bool:
        value = self.values.pop(name, default)
        if not isinstance(value, bool):
            raise self.tokens.error(f"{name}=true or {name}=false before this")
        return value

    def number(self, name: str, default: int) -> int:
        value = self.values.pop(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.tokens.error(f"a number from 0 for {name} before this")
        return value

    def text(self, name: str, default: str | None) -> str | None:
        value = self.values.pop(name, default)
        if value is not None and not isinstance(value, str):
            raise self.tokens.error(f"a name for {name} before this")
        return value

    def word(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        value = self.values.pop(name, default)
        if value not in allowed:
            raise self.tokens.error(f"{' or '.join(filter(None, allowed))} for {name} before this")
        return str(value)

    def numbers(self, name: str) -> tuple[int, ...] | None:
        if name not in self.values:
            return None
        return tuple(one for one in self._many(name) if isinstance(one, int))

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(str(one) for one in self._many(name)) if name in self.values else ()

    def _many(self, name: str) -> tuple[Value, ...]:
        value = self.values.pop(name)
        if not isinstance(value, tuple):
            raise self.tokens.error(f"{name}=(…) before this")
        return value

    def expect_none_left(self) -> None:
        if self.values:
            raise self.tokens.error(f"no option {', '.join(self.values)} before this")
