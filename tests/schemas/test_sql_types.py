"""SQL's types as texts, and what binary rows hold of them (spec 5.1)."""

from __future__ import annotations

import pytest
from statelift.schemas import types as t
from statelift.schemas.errors import PlanError
from statelift.schemas.from_logical import decimal_type
from statelift.schemas.sql_types import Tokens, columns_of, read_type

TEXT, LONG, INT = t.scalar("string_data"), t.scalar("long"), t.scalar("int")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("VARCHAR(2147483647) NOT NULL", TEXT),
        ("STRING", TEXT),
        ("bigint", LONG),
        ("BYTES", t.scalar("bytes")),
        ("DOUBLE PRECISION", t.scalar("double")),
        ("TIME(0)", t.scalar("millis_of_day")),
        ("DECIMAL(38, 2)", decimal_type(38, 2)),
        ("NUMERIC(5)", decimal_type(5, 0)),
        ("DECIMAL", decimal_type(10, 0)),
        ("TIMESTAMP(3) *ROWTIME*", t.TimestampDataType(precision=3)),
        ("TIMESTAMP", t.TimestampDataType(precision=6)),
        ("TIMESTAMP(9) WITH LOCAL TIME ZONE", t.TimestampDataType(precision=9, utc=True)),
        ("TIMESTAMP_LTZ(3) *PROCTIME* NOT NULL", t.TimestampDataType(precision=3, utc=True)),
        ("INTERVAL YEAR(4) TO MONTH", t.scalar("months")),
        ("INTERVAL DAY TO SECOND(3)", t.scalar("day_time_millis")),
        ("ARRAY<INT NOT NULL>", t.ArrayDataType(element=INT)),
        ("MAP<STRING, ARRAY<BIGINT>>", t.MapDataType(key=TEXT, value=t.ArrayDataType(element=LONG))),
        ("MULTISET<STRING>", t.MapDataType(key=TEXT, value=INT)),
        ("RAW('java.util.UUID', 'AFNvcmcuYXBhY2hl')", t.scalar("raw_data")),
        (
            "ROW<`a``b` INT, nested ROW<x BIGINT 'how often', `y` STRING>>",
            t.RowDataType(
                fields=(
                    t.Field(name="a`b", type=INT),
                    t.Field(
                        name="nested",
                        type=t.RowDataType(
                            fields=(t.Field(name="x", type=LONG), t.Field(name="y", type=TEXT))
                        ),
                    ),
                )
            ),
        ),
    ],
)
def test_types_as_texts(text: str, expected: t.DataType) -> None:
    tokens = Tokens(text)
    assert read_type(tokens) == expected
    assert tokens.at == len(tokens.items)


def test_types_as_objects_of_a_plan() -> None:
    row = {
        "type": "ROW",
        "fields": [
            {"name": "id", "fieldType": "INT NOT NULL"},
            {
                "name": "at",
                "fieldType": {"type": "TIMESTAMP_WITH_LOCAL_TIME_ZONE", "precision": 3, "kind": "PROCTIME"},
            },
            {"name": "raw", "fieldType": {"type": "RAW", "class": "java.util.UUID"}},
        ],
    }
    fields = columns_of(row)
    assert fields is not None
    assert [(part.name, part.type) for part in fields] == [
        ("id", INT), ("at", t.TimestampDataType(precision=3, utc=True)), ("raw", t.scalar("raw_data")),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["GEOMETRY", "ROW<a", "ARRAY INT", "MAP<INT>", ""])
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(PlanError):
        read_type(Tokens(text))
