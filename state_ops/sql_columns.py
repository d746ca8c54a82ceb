"""Column names of SQL state. A serializer snapshot of a row holds types and no names: a compiled plan or DDL does.

Names are given only where the types agree field by field; the other rows keep ``f0``, ``f1``, ….
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..schemas import types as t
from ..schemas.tree import rebuilt

#: The columns of a row: names and types.
Row = tuple[t.Field, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRows:
    """The rows that the key, the user key and the values of a state may be, the likelier ones first."""

    key: Sequence[Row] = ()
    map_key: Sequence[Row] = ()
    value: Sequence[Row] = ()


class ColumnNames(Protocol):
    """Something that knows what the states of SQL operators hold."""

    def uids(self) -> Iterable[str]:
        """The uids of the operators it knows."""

    def rows(self, operator_id: bytes, state: str, value: t.DataType | None) -> StateRows:
        """The rows of a state, ``value`` being the type of its values as the snapshot has it."""


def named(node: t.DataType, rows: Sequence[Row]) -> t.DataType:
    """``node`` with the names of the one of ``rows`` that its SQL rows agree with; rows inside of rows have names."""

    def change(one: t.DataType) -> t.DataType:
        if not isinstance(one, t.RowDataType) or not t.is_numbered(one.fields) or not one.fields:
            return one
        types = [part.type for part in one.fields]
        fit = [row for row in rows if [_erased(part.type) for part in row] == list(map(_erased, types))]
        if not fit or not _distinct(fit[0]):
            return one
        return t.RowDataType(
            fields=tuple(t.Field(name=part.name, type=kind) for part, kind in zip(fit[0], types, strict=True))
        )

    return rebuilt(node, change, enter=lambda one: not isinstance(one, t.RowDataType))


def _erased(node: t.DataType) -> t.DataType:
    """``node`` with RAW as its bytes: what is in it only the snapshot says."""
    return rebuilt(node, lambda one: t.scalar("raw_data") if isinstance(one, t.RawDataType) else one)


def has_unnamed(node: t.DataType) -> bool:
    """Whether there is a SQL row in ``node`` whose columns are f0, f1, …; rows inside of rows have names."""
    if isinstance(node, t.RowDataType):
        return bool(node.fields) and t.is_numbered(node.fields)
    return any(map(has_unnamed, node.children()))


def _distinct(row: Row) -> bool:
    """Whether the names can be those of a table: each once, and none that stands for something else."""
    names = [part.name for part in row]
    return len(set(names)) == len(names) and "__kind" not in names


def chosen(row: Row | None, indices: Iterable[int]) -> Row | None:
    """The columns at ``indices``, None where the row does not have them."""
    if row is None:
        return None
    wanted = list(indices)
    return tuple(row[i] for i in wanted) if all(0 <= i < len(row) for i in wanted) else None


def known(*rows: Row | None) -> tuple[Row, ...]:
    return tuple(row for row in rows if row is not None)
