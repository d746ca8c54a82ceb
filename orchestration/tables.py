"""Tables as Dagster's metadata: a table value for the eye and for queries, Markdown for a whole page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

#: Rows are mappings with the same columns.
Rows = Sequence[Mapping[str, Any]]


def table(rows: Rows) -> dg.TableMetadataValue:
    """``rows`` as a table; what is neither text nor a number is JSON. Columns without any value are left out."""
    names = _columns(rows)
    return dg.MetadataValue.table(
        records=[dg.TableRecord({name: _cell(row.get(name)) for name in names}) for row in rows],
        schema=dg.TableSchema([dg.TableColumn(name, _type_of(rows, name)) for name in names]),
    )


def markdown(rows: Rows) -> str:
    """``rows`` as a Markdown table, numbers to the right. Columns without any value are left out."""
    names = _columns(rows)
    rule = ["---:" if _type_of(rows, name) == "int" else "---" for name in names]
    lines = [names, rule, *([_escaped(row.get(name)) for name in names] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def type_columns(types: Mapping[str, str]) -> dict[str, str | None]:
    """The columns of a state's types."""
    names = {"key": "key", "namespace": "namespace", "map_key": "map key", "value": "value"}
    return {column: types.get(part) for part, column in names.items()}


def _columns(rows: Rows) -> list[str]:
    names = dict.fromkeys(name for row in rows for name in row)
    return [name for name in names if any(row.get(name) is not None for row in rows)]


def _cell(value: Any) -> str | int | float | bool | None:
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def as_text(value: Any) -> str:
    """A cell as it is shown: thousands with commas, nothing for None, JSON for what has parts."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    cell = _cell(value)
    return "" if cell is None else str(cell)


def _escaped(value: Any) -> str:
    return as_text(value).replace("|", "\\|").replace("\n", " ")


def _type_of(rows: Rows, name: str) -> str:
    values = [row[name] for row in rows if row.get(name) is not None]
    whole = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
    return "int" if values and whole else "string"
