"""SQL of a plan: checked against a state's columns before anything is read, and run over its batches.

Only what holds for each row by itself is run batch by batch; DuckDB's own parser tells which that is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from ..schemas.errors import PlanError, SqlError, Where
from .duckdb_types import to_duckdb, to_duckdb_schema
from .not_decoded import UNDECODED

#: The row's number in its batch, so that results find their entries again.
ROW = "__row"
_VIEW = "state"


def parse(query: str) -> dict[str, Any]:
    """DuckDB's syntax tree of a SELECT. Raises SqlError with its message."""
    tree: dict[str, Any] = json.loads(_converted("json_serialize_sql(?::VARCHAR)", query))
    if tree.get("error"):
        raise SqlError(f"{tree.get('error_message', 'no SELECT')}")
    return tree


@lru_cache(maxsize=1024)
def _converted(function: str, text: str) -> str:
    """What a DuckDB function makes of a text. Kept, since each shard asks the same."""
    [(converted,)] = _database().cursor().execute(f"SELECT {function}", [text]).fetchall()
    return str(converted)


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """What all queries over batches connect to: a database of its own costs more than most of them."""
    return duckdb.connect(config={"threads": 1})


def _connection() -> duckdb.DuckDBPyConnection:
    """A connection, for one thread at a time, that sees only what is registered with it."""
    connection = _database().cursor()
    connection.execute("SET python_enable_replacements = false").fetchall()
    connection.execute("SET TimeZone = 'UTC'").fetchall()
    return connection


def nodes(tree: object) -> Iterator[dict[str, Any]]:
    """Every object of a syntax tree."""
    if isinstance(tree, dict):
        yield tree
        for part in tree.values():
            yield from nodes(part)
    elif isinstance(tree, list):
        for part in tree:
            yield from nodes(part)


def beyond_the_row(tree: object) -> str | None:
    """What in an expression or query looks beyond its own row, or None."""
    for node in nodes(tree):
        kind = node.get("class") or node.get("type")
        if kind == "SUBQUERY":
            return "a subquery"
        if kind == "WINDOW":
            return "a window function"
        if kind == "FUNCTION" and (node.get("distinct") or _is_aggregate(node)):
            return "an aggregate"
    return None


@dataclass(slots=True, kw_only=True)
class RowQuery:
    """A query over one batch of a state: the columns ``key``, ``value``, … and the number of the row.

    It keeps a DuckDB connection of its own, so one is for one thread at a time.
    """

    sql: str
    where: Where
    _connection: duckdb.DuckDBPyConnection | None = None

    def run(self, batch: pa.RecordBatch) -> pa.Table:
        """The result over ``batch``. Raises SqlError with DuckDB's message and the columns there are."""
        if self._connection is None:
            self._connection = _connection()
        taken = to_duckdb(batch, to_duckdb_schema(batch.schema))
        self._connection.register(_VIEW, pa.Table.from_batches([taken]))
        try:
            result: pa.Table = self._connection.sql(self.sql).to_arrow_table()
        except duckdb.Error as error:
            raise sql_error(error, batch.schema, self.where) from None
        finally:
            self._connection.unregister(_VIEW)
        return result


def sql_error(error: Exception, schema: pa.Schema, where: Where) -> SqlError:
    """DuckDB's message on one line, with the columns of the state."""
    message = str(error).split("\n\nLINE")[0].split("\nLINE")[0]
    columns = ", ".join(f"{field.name} {field.type}" for field in schema if field.name != ROW)
    return SqlError(f"SQL fails: {message}", where=where, todo=f"the columns are: {columns}")


def with_row_numbers(batch: pa.RecordBatch) -> pa.RecordBatch:
    numbers = pa.array(np.arange(len(batch)))
    return pa.RecordBatch.from_arrays([*batch.columns, numbers], names=[*batch.schema.names, ROW])


def update_query(
    assignments: dict[str, str], condition: str | None, where: Where, *, columns: Sequence[str] = ()
) -> RowQuery:
    """The new values (columns s0, s1, …) of the rows that ``condition`` holds for.

    Among ``columns`` may be ``undecoded``: where the value of a row is not known, nothing that looks at values holds
    for it or changes a part of it, unless it says ``undecoded`` itself.
    """
    values = "".join(f", ({expression}) AS s{i}" for i, expression in enumerate(assignments.values()))
    query = f"SELECT {ROW}{values} FROM {_VIEW} AS {_VIEW}"
    if condition is not None:
        query += f" WHERE ({condition})"
    try:
        tree = parse(query)
    except SqlError as error:
        raise error.at(where) from None
    wider = beyond_the_row(tree)
    node = tree["statements"][0]["node"]
    named = _columns_named(tree)
    in_part = any("." in path for path in assignments)
    if UNDECODED in columns and UNDECODED not in named and (in_part or named & {"value", "ttl_timestamp"}):
        query += f" {'WHERE' if condition is None else 'AND'} {UNDECODED} IS NULL"
    if len(tree["statements"]) > 1 or node["type"] != "SELECT_NODE" or not _plain(node):
        wider = wider or "a clause"
    if wider is not None:
        raise PlanError(
            f"{wider} in set or where looks beyond the row", where=where, todo="use select: for that"
        )
    return RowQuery(sql=query, where=where)


def _columns_named(tree: object) -> set[str]:
    """The columns, not the fields in them, that a syntax tree names."""
    paths = [part["column_names"] for part in nodes(tree) if part.get("class") == "COLUMN_REF"]
    return {path[path[0] == _VIEW and len(path) > 1].lower() for path in paths}


def row_local_select(query: str, schema: str, table: str, where: Where) -> RowQuery | None:
    """The query as one over batches, if it only filters and projects the one state with its key as it is."""
    try:
        tree = parse(query)
    except SqlError as error:
        raise error.at(where) from None
    statements = tree.get("statements", [])
    node = statements[0]["node"] if len(statements) == 1 else {}
    if node.get("type") != "SELECT_NODE" or beyond_the_row(node) or not _plain(node):
        return None
    source = node.get("from_table") or {}
    if source.get("type") != "BASE_TABLE" or source.get("table_name") != table:
        return None
    if source.get("schema_name") not in ("", schema) or source.get("sample"):
        return None
    for part in nodes(node):
        if part.get("class") == "COLUMN_REF" and part["column_names"][:2] == [schema, table]:
            del part["column_names"][0]  # the batch has the state's name and no schema
    if not _keeps_keys(node["select_list"], {(), (table,), (source.get("alias"),)}):
        return None
    source["alias"] = source.get("alias") or table
    source["table_name"], source["schema_name"] = _VIEW, ""
    source["qualified_name"] = {"path": [_VIEW]}  # DuckDB 2 reads this, DuckDB 1 the two names
    node["select_list"].append(
        {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "query_location": 0, "column_names": [ROW]}
    )
    try:
        sql = _converted("json_deserialize_sql(?::JSON)", json.dumps(tree))
    except duckdb.Error:
        return None
    return RowQuery(sql=sql, where=where)


def _plain(node: dict[str, Any]) -> bool:
    """Whether a SELECT has no grouping, sorting, limiting, sampling, distinct, HAVING, QUALIFY or CTE."""
    ctes = (node.get("cte_map") or {}).get("map")
    groups = node.get("group_expressions") or node.get("group_sets")
    others = ("having", "sample", "qualify")
    return not (ctes or groups or node.get("modifiers") or any(node.get(name) for name in others))


def _keeps_keys(select_list: list[dict[str, Any]], names: set[tuple[Any, ...]]) -> bool:
    """Whether key, namespace and map_key come out as the columns they are, with one of ``names`` before them."""
    for item in select_list:
        if item.get("class") == "STAR":
            replaced = item.get("replace_list") or []
            if any(_name(part.get("key")) in ("key", "namespace", "map_key") for part in replaced):
                return False
            continue
        columns = item.get("column_names") or []
        name = item.get("alias") or (columns[-1] if columns else "")
        if name in ("key", "namespace", "map_key") and (
            item.get("class") != "COLUMN_REF" or columns[-1:] != [name] or tuple(columns[:-1]) not in names
        ):
            return False
    return True


def _name(part: object) -> str:
    return part if isinstance(part, str) else ""


_AGGREGATES: set[str] | None = None


def _is_aggregate(node: dict[str, Any]) -> bool:
    global _AGGREGATES
    if _AGGREGATES is None:
        rows = (
            _database()
            .cursor()
            .execute(
                "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
            )
            .fetchall()
        )
        _AGGREGATES = {row[0] for row in rows}
    return str(node.get("function_name", "")).lower() in _AGGREGATES
