"""Where the column names of SQL state come from: the files that are named when a snapshot is opened."""

from __future__ import annotations

from ..io.stores import Stores, normalize
from ..schemas.errors import PlanError, Where
from .sql_columns import ColumnNames
from .sql_ddl import Ddl
from .sql_plan import CompiledPlan


def column_names(sql_plan: str | None, ddl: str | None, stores: Stores) -> tuple[ColumnNames, ...]:
    """What the files at these paths or URLs say; DDL goes first. Raises StoreError, PlanError."""
    found: list[ColumnNames] = []
    if ddl is not None:
        found.append(Ddl.parse(_text(ddl, stores), ddl))
    if sql_plan is not None:
        found.append(CompiledPlan.parse(_text(sql_plan, stores), sql_plan))
    return tuple(found)


def _text(path: str, stores: Stores) -> str:
    try:
        return stores.read(normalize(path)).decode()
    except UnicodeDecodeError:
        raise PlanError("not a text", where=Where(file=path)) from None
