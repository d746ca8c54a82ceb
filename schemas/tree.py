"""Types rebuilt with other parts in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from . import types as t


def rebuilt(
    node: t.DataType,
    change: Callable[[t.DataType], t.DataType],
    enter: Callable[[t.DataType], bool] = lambda node: True,
) -> t.DataType:
    """``node`` with ``change`` done to each node of its tree, the inner ones first; only the parts of those nodes
    are changed that ``enter`` lets in."""

    def part(value: Any) -> Any:
        match value:
            case t.DataType():
                return rebuilt(value, change, enter)
            case t.Field():
                return t.Field(name=value.name, type=rebuilt(value.type, change, enter))
            case tuple():
                return tuple(map(part, value))
        return value

    if not enter(node):
        return change(node)

    names = [one.name for one in dataclasses.fields(node)]
    values = {name: getattr(node, name) for name in names}
    changed = {name: part(value) for name, value in values.items()}
    return change(node if changed == values else dataclasses.replace(node, **changed))
