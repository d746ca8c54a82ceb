"""Which SQL looks at each row by itself, and so runs batch by batch."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from statelift.schemas.errors import PlanError, SqlError, Where
from statelift.state_ops.expressions import row_local_select, update_query, with_row_numbers

WHERE = Where(operator="op", state="seen")
BATCH = pa.RecordBatch.from_pydict(
    {
        "key": ["a", "b", "c"],
        "map_key": ["x", "y", "z"],
        "value": pa.array([{"n": 1, "key": "k"}, {"n": 2, "key": "l"}, {"n": 3, "key": "m"}]),
        "key_group": pa.array([1, 2, 3], pa.int32()),
    }
)

LOCAL = [
    "SELECT * FROM seen",
    "SELECT key, map_key, value FROM seen",
    "SELECT s.key, s.map_key, s.value FROM op.seen s WHERE s.value.n > 1",
    "SELECT seen.key, seen.map_key, {n: value.n + 1, key: value.key} AS value FROM seen",
    "SELECT op.seen.key, map_key, value FROM op.seen WHERE op.seen.value.n > 1",
    'SELECT "key", map_key AS map_key, value FROM "op"."seen" WHERE key IN (\'a\', \'b\') OR value.n BETWEEN 2 AND 3',
    "FROM seen",
    "FROM seen WHERE value.n % 2 = 1",
    "SELECT * REPLACE ({n: 0, key: ''} AS value) FROM seen",
    "SELECT *, CASE WHEN value.n > 1 THEN 1 ELSE 2 END AS more FROM seen",
]
WIDER = [
    "SELECT key, map_key, max(value) AS value FROM seen GROUP BY ALL",
    "SELECT key, map_key, value FROM seen ORDER BY key",
    "SELECT key, map_key, value FROM seen LIMIT 2",
    "SELECT DISTINCT key, map_key, value FROM seen",
    "SELECT key, map_key, value FROM seen USING SAMPLE 1",
    "SELECT key, map_key, value FROM seen TABLESAMPLE 50%",
    "SELECT key, map_key, value FROM seen QUALIFY row_number() OVER () = 1",
    "SELECT key, map_key, value FROM seen, other",
    "SELECT key, map_key, value FROM seen JOIN other USING (key)",
    "SELECT key, map_key, value FROM other",
    "SELECT key, map_key, value FROM another.seen",
    "SELECT key, map_key, value FROM (SELECT * FROM seen)",
    "WITH seen AS (SELECT 1) SELECT key, map_key, value FROM seen",
    "SELECT key, map_key, value FROM seen UNION ALL SELECT key, map_key, value FROM seen",
    "SELECT key, map_key, value FROM seen WHERE key IN (SELECT key FROM other)",
    "SELECT key, map_key, (SELECT 1) AS value FROM seen",
    "SELECT key, map_key, sum(value.n) OVER () AS value FROM seen",
    "SELECT upper(key) AS key, map_key, value FROM seen",
    "SELECT map_key AS key, key AS map_key, value FROM seen",
    "SELECT value.key, map_key, value FROM seen",
    "SELECT value.key AS key, map_key, value FROM seen",
    "SELECT s.value.key AS key, map_key, value FROM seen s",
    "SELECT * REPLACE (upper(key) AS key) FROM seen",
    "SELECT * REPLACE (value.key AS map_key) FROM seen",
    "SELECT count(*) AS key, 'x' AS map_key, 'y' AS value FROM seen",
]


@pytest.mark.parametrize("query", LOCAL)
def test_a_query_that_filters_and_projects_runs_over_batches(query: str) -> None:
    local = row_local_select(query, "op", "seen", WHERE)
    assert local is not None
    result = local.run(with_row_numbers(BATCH))
    kept = result.column(result.num_columns - 1).to_pylist()
    assert result.column("key").to_pylist() == [BATCH["key"][row].as_py() for row in kept]
    assert {"map_key", "value"} <= set(result.column_names)


@pytest.mark.parametrize("query", WIDER)
def test_a_query_that_looks_further_or_makes_keys_is_for_the_whole_state(query: str) -> None:
    assert row_local_select(query, "op", "seen", WHERE) is None


def test_the_new_values_of_an_update_come_with_the_numbers_of_their_rows() -> None:
    query = update_query({"value.n": "value.n * 10", "value.key": "upper(key)"}, "value.n >= 2", WHERE)
    assert query.run(with_row_numbers(BATCH)).to_pylist() == [
        {"__row": 1, "s0": 20, "s1": "B"},
        {"__row": 2, "s0": 30, "s1": "C"},
    ]


def test_without_a_condition_an_update_is_for_every_row() -> None:
    assert update_query({"value": "key"}, None, WHERE).run(with_row_numbers(BATCH)).num_rows == 3


@pytest.mark.parametrize("condition", ["NULL", "value.n > NULL"])
def test_a_condition_that_is_null_holds_for_no_row(condition: str) -> None:
    assert update_query({"value": "1"}, condition, WHERE).run(with_row_numbers(BATCH)).num_rows == 0


def test_times_are_told_in_utc_whatever_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    rows = pa.RecordBatch.from_pydict({"seen": pa.array([0], pa.timestamp("ms", "UTC"))})
    query = update_query({"seen": "seen::VARCHAR"}, None, WHERE)
    assert query.run(with_row_numbers(rows)).column("s0").to_pylist() == ["1970-01-01 00:00:00+00"]


def test_a_time_beyond_the_range_of_sql_does_not_stop_a_query_over_other_rows() -> None:
    rows = pa.RecordBatch.from_pydict(
        {"key": [1, 2], "seen": pa.array([(1 << 63) - 1, 5], pa.timestamp("ms", "UTC"))}
    )
    query = update_query({"key": "0"}, "seen < '2000-01-01'", WHERE)
    assert query.run(with_row_numbers(rows)).column("__row").to_pylist() == [1]


def test_a_name_is_never_a_variable_of_the_program() -> None:
    with pytest.raises((SqlError, PlanError)):
        update_query({}, "EXISTS (FROM BATCH)", WHERE).run(with_row_numbers(BATCH))


def test_an_error_of_one_row_says_the_columns_and_the_place() -> None:
    query = update_query({"value": "CAST(key AS INTEGER)"}, None, WHERE)
    with pytest.raises(SqlError, match=re.escape("(operator op, state seen)")) as caught:
        query.run(with_row_numbers(BATCH))
    assert "the columns are: key string, map_key string" in str(caught.value)
    assert "\n" not in str(caught.value)
