"""How names and options are spelled in the text of a type; :mod:`.type_syntax` reads them back."""

from __future__ import annotations

import json
import re

#: A name that stands without quotes: a field, a constant, a class name with its packages.
NAME = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*|\$[\w$]*(?:\.[^\W\d][\w$]*)*")

Option = str | int | bool | None | tuple[int, ...] | tuple[str, ...]


def quoted(name: str) -> str:
    """``name`` as it is where it can stand so, else in JSON's quotes."""
    if NAME.fullmatch(name):
        return name
    return json.dumps(name, ensure_ascii=not name.isprintable())


def braced(parts: tuple[object, ...]) -> str:
    return "{" + ", ".join(map(str, parts)) + "}"


def optional_name(name: str) -> str:
    """A class name before braces, with its space; nothing where there is no class."""
    return f" {quoted(name)}" if name else ""


def options(**values: tuple[Option, Option]) -> str:
    """``[name=value, …]`` of the options that differ from their defaults; each is a pair (value, default)."""
    given = [f"{name}={_value(value)}" for name, (value, default) in values.items() if value != default]
    return f"[{', '.join(given)}]" if given else ""


def _value(value: Option) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "(" + ", ".join(_value(one) for one in value) + ")"
    if isinstance(value, int):
        return str(value)
    # The words of other values are kept apart from names.
    return json.dumps(value) if value in ("null", "true", "false") else quoted(value)
