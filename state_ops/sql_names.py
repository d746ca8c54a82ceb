"""Which tables a query names, and how often it may read each, by DuckDB's own parser."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NamedTuple

import duckdb

from ..schemas.errors import SqlError


class TableName(NamedTuple):
    """A table as the query names it. ``schema`` and ``catalog`` are empty where it does not say one."""

    catalog: str
    schema: str
    table: str

    def __str__(self) -> str:
        return ".".join(quoted(part) for part in self if part)


def quoted(name: str) -> str:
    """A name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def one_line(error: object) -> str:
    """DuckDB's message without the picture of the query under it."""
    text = str(error).partition("\n\nLINE ")[0]
    return " ".join(text.split()).rstrip(".")


def tables_named(connection: duckdb.DuckDBPyConnection, query: str) -> Counter[TableName]:
    """The tables that a SELECT names, common table expressions apart, and how many times each stands in it.

    A table in a common table expression counts as often as that is used. Raises SqlError for what is not one
    query (SELECT, FROM, SUMMARIZE, DESCRIBE).
    """
    row = connection.execute("SELECT json_serialize_sql($1::VARCHAR)", [query]).fetchall()[0]
    tree = json.loads(row[0])
    if tree["error"]:
        if tree["error_type"] == "not implemented":
            raise SqlError(
                "only queries are run here: a snapshot is not changed by SQL", todo="write one SELECT"
            )
        raise SqlError(f"DuckDB: {one_line(tree['error_message'])}")
    if len(tree["statements"]) != 1:
        raise SqlError(f"{len(tree['statements'])} statements were given", todo="give one query")
    return _tables(tree["statements"][0]["node"], {})


_Scope = dict[str, Counter[TableName]]
_SEVERAL = 2


def _tables(node: Any, scope: _Scope) -> Counter[TableName]:
    """The tables under ``node``; ``scope`` holds those of each common table expression in sight."""
    if isinstance(node, list):
        return sum((_tables(one, scope) for one in node), Counter())
    if not isinstance(node, dict):
        return Counter()
    found: Counter[TableName] = Counter()
    own = node.get("cte_map")
    expressions = own["map"] if isinstance(own, dict) and "map" in own else []
    if expressions:
        scope = dict(scope)
    for expression in expressions:
        name = expression["key"].casefold()
        inside = _expression(expression["value"]["query_node"], name, scope)
        scope[name] = inside
        found += Counter(dict.fromkeys(inside, 0))
    for key, part in node.items():
        if key != "cte_map":
            found += _tables(part, scope)
    if node.get("type") == "BASE_TABLE":
        name = TableName(node.get("catalog_name", ""), node.get("schema_name", ""), node["table_name"])
        in_sight = scope.get(name.table.casefold()) if not name.schema else None
        found += Counter([name]) if in_sight is None else in_sight
    for expression in expressions:  # one that nobody uses is bound all the same
        for table in scope[expression["key"].casefold()]:
            found[table] = found[table] or 1
    return found


def _expression(node: Any, name: str, scope: _Scope) -> Counter[TableName]:
    if node.get("type") != "RECURSIVE_CTE_NODE":
        return _tables(node, scope)
    inside = _tables(node, {**scope, name: Counter()})
    return Counter({table: count * _SEVERAL for table, count in inside.items()})
