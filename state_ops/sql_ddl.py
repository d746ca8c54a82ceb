"""Column names from DDL: ``CREATE TABLE "operator"."state" (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED)``.

The columns are those of the rows that the state holds, as values or as user keys; the primary key's are those of
the operator's key. A table of one name is the state of that name in any operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..schemas import types as t
from ..schemas.errors import PlanError, Where
from ..schemas.operator_id import operator_id_of_uid
from ..schemas.sql_types import Tokens, read_type
from .sql_columns import Row, StateRows, known


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table: ``operator`` is a uid or id, "" for any."""

    operator: str
    state: str
    columns: Row
    primary_key: tuple[str, ...]

    def is_of(self, operator_id: bytes, state: str) -> bool:
        if self.state != state:
            return False
        ids = (operator_id_of_uid(self.operator).hex(), self.operator.lower())
        return not self.operator or operator_id.hex() in ids


@dataclass(frozen=True, slots=True)
class Ddl:
    """The tables of a text of DDL, other statements left out."""

    tables: tuple[Table, ...]

    @staticmethod
    def parse(text: str, file: str | None = None) -> Ddl:
        """Raises PlanError for a statement that is not understood, or where there is no table at all."""
        try:
            tables = tuple(_tables(Tokens(text)))
        except PlanError as error:
            raise error.at(Where(file=file)) from None
        if not tables:
            raise PlanError("the DDL has no CREATE TABLE", where=Where(file=file))
        return Ddl(tables)

    def uids(self) -> Iterator[str]:
        yield from (table.operator for table in self.tables if table.operator)

    def rows(self, operator_id: bytes, state: str, value: t.DataType | None) -> StateRows:
        for table in self.tables:
            if table.is_of(operator_id, state):
                by_name = {part.name: part for part in table.columns}
                key = tuple(by_name[name] for name in table.primary_key if name in by_name)
                return StateRows(
                    key=known(key or None), map_key=known(table.columns, key or None), value=(table.columns,)
                )
        return StateRows()


def _tables(tokens: Tokens) -> Iterator[Table]:
    while tokens.at < len(tokens.items):
        if tokens.taken("CREATE"):
            tokens.taken("TEMPORARY")
            if tokens.taken("TABLE"):
                tokens.taken("IF", "NOT", "EXISTS")
                yield _table(tokens)
        _skip(tokens, ";")
        tokens.taken(";")


def _table(tokens: Tokens) -> Table:
    names = [tokens.next()]
    while tokens.taken("."):
        names.append(tokens.next())
    tokens.expect("(")
    columns: list[t.Field] = []
    key: list[str] = []
    while not tokens.taken(")"):
        if tokens.taken("CONSTRAINT"):
            tokens.next()
        if tokens.taken("PRIMARY", "KEY", "("):
            while not tokens.taken(")"):
                key.append(tokens.next())
                tokens.taken(",")
        elif not tokens.taken("WATERMARK"):
            name = tokens.next()
            if tokens.peek() != "AS":  # a computed column is in no row
                columns.append(t.Field(name=name, type=read_type(tokens)))
                if tokens.taken("PRIMARY", "KEY"):
                    key.append(name)
        _skip(tokens, ",", ")")
        tokens.taken(",")
    operator = names[-2] if len(names) > 1 else ""
    return Table(operator=operator, state=names[-1], columns=tuple(columns), primary_key=tuple(key))


def _skip(tokens: Tokens, *until: str) -> None:
    """Go on to one of the signs ``until`` that stands in no parentheses, or to the end."""
    depth = 0
    while tokens.at < len(tokens.items):
        sign = tokens.peek()
        if depth == 0 and sign in until:
            return
        depth += (sign in ("(", "<")) - (sign in (")", ">"))
        tokens.at += 1
