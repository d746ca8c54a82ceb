"""Column names of SQL state, from compiled plans and DDL: snapshots that Flink's own SQL operators wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
import statelift
from statelift.schemas import types as t
from statelift.schemas.errors import PlanError
from statelift.state_ops.checks import run_checks
from statelift.state_ops.sql_columns import has_unnamed
from statelift.state_ops.sql_ddl import Ddl
from statelift.state_ops.sql_plan import CompiledPlan

from .lifting import lift, one_state, plan_of


def case(corpus: Path, name: str) -> tuple[Path, Path]:
    """The snapshot of a case and its plan."""
    folder = corpus / "sql-restore" / name
    (plan,) = folder.glob("plan/*.json")
    return folder / "savepoint", plan


def opened(corpus: Path, name: str) -> statelift.Snapshot:
    savepoint, plan = case(corpus, name)
    return statelift.open(str(savepoint), sql_plan=str(plan))


#: Of a state of a case: its key, its user key and its value, as the plan names their columns.
NAMED = [
    (
        "stream-exec-deduplicate_1/deduplicate-desc", "_deduplicate", "deduplicate-state",
        {
            "key": "rowdata {product: string_data}",
            "value": "rowdata {order_id: long, user: string_data, product: string_data, order_time: long,"
            " event_time: timestamp(3)}",
        },
    ),
    (
        "stream-exec-join_1/join-anti-join", "_join", "left-records",
        {"map_key": "rowdata {deptno: int, name: string_data}", "value": "tuple<int, int>"},
    ),
    (
        "stream-exec-join_1/join-inner-join-with-equal-pk", "_join", "right-records",
        {"key": "rowdata {deptno: int}", "value": "rowdata {department_num: int}"},
    ),
    (
        "stream-exec-group-aggregate_1/group-aggregate-distinct-mini-batch", "_global-group-aggregate", "accState",
        {
            "key": "rowdata {e: long}",
            "value": "rowdata {cnt_a1: long, cnt_a2: long, sum_a: int, sum_b: long, avg_b_sum: long,"
            " avg_b_count: long, concat_d: long, distinct_0: raw<void>, distinct_1: raw<void>, distinct_2: raw<void>}",
        },
    ),
    (
        "stream-exec-window-aggregate_1/window-aggregate-tumble-event-time-two-phase-distinct-split",
        "24_global-window-aggregate", "window-aggs",
        {"value": "rowdata {$f2: long, $f3: int, $f4: long, distinct_0: raw<void>}"},
    ),
    (
        "stream-exec-over-aggregate_1/over-aggregate-bounded-non-partitioned-rows", "_over-aggregate", "accState",
        {"key": "rowdata {}", "value": "rowdata {w0$o0: rowdata {f0: long}, w0$o1: long, w0$o2: long, count1: long}"},
    ),
    (
        "stream-exec-interval-join_1/interval-join-event-time", "_interval-join", "IntervalJoinRightCache",
        {
            "map_key": "long",
            "value": "list<tuple<rowdata {order_id: int, shipment_ts_str: string_data, shipment_ts: timestamp(3)},"
            " boolean>>",
        },
    ),
    (
        "stream-exec-rank_1/rank-test-update-fast-strategy", "_rank", "data-state-with-update",
        {
            "key": "rowdata {b: string_data}", "map_key": "rowdata {a: int, b: string_data}",
            "value": "tuple<rowdata {a: int, b: string_data, count_c: long}, int>",
        },
    ),
    (
        "stream-exec-temporal-join_1/temporal-join-table-join-nested-key", "_temporal-join", "right",
        {"value": "rowdata {currency: string_data, rate: long, rowtime: timestamp(3)}"},
    ),
    (
        "stream-exec-match_1/match-complex", "_match", "sharedBuffer-events",
        {
            "value": "tuple Lockable {ref_counter: int, element: rowdata {symbol: string_data, tstamp: long,"
            " price: int, tax: int, proctime: timestamp_ltz(3)}}",
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "operator", "state", "expected"), NAMED, ids=[one[0] for one in NAMED])
def test_columns_are_named_by_the_plan(
    corpus: Path, name: str, operator: str, state: str, expected: dict[str, str]
) -> None:
    snapshot = opened(corpus, name)
    (found,) = [one for one in snapshot.operators if one.uid and one.uid.endswith(operator)]
    types = found.state(state).types
    assert {part: str(types[part]) for part in expected} == expected
    table = found.state(state).to_arrow()
    assert table.num_rows == found.state(state).count()


#: What keeps f0, f1, …, by operator and state: nothing in the plan says what it is, or it has no names for it.
UNNAMED = {
    ("delta-join", "_delta_join_operator_async_wait_state_", "value"),
    ("f", "s1", "value"),
    ("f", "s2", "value"),
    ("lookup-join-materialize", "unique-value", "value"),
    ("multi-join", "multi-join-input-1", "map_key"),
    ("multi-join", "multi-join-input-2", "map_key"),
    ("multi-join", "multi-join-input-3", "map_key"),
    ("over-aggregate", "accMapState", "map_key"),
}


def test_every_plan_of_the_corpus_names_all_but_what_is_listed(corpus: Path) -> None:
    unnamed: set[tuple[str, str, str]] = set()
    counts = {"named": 0, "unnamed": 0}
    for folder in sorted((corpus / "sql-restore").glob("*/*")):
        snapshot = opened(corpus, str(folder.relative_to(corpus / "sql-restore")))
        for operator in snapshot.operators:
            for state in operator.states:
                for part, node in state.types.items():
                    if has_unnamed(node):
                        assert operator.uid is not None, "an operator with state that the plan does not have"
                        unnamed.add((operator.uid.split("_", 1)[-1], state.name, part))
                        counts["unnamed"] += 1
                    elif has_rows(node):
                        counts["named"] += 1
    assert unnamed == UNNAMED
    assert counts["named"] > 8 * counts["unnamed"]


def has_rows(node: t.DataType) -> bool:
    return isinstance(node, t.RowDataType) or any(map(has_rows, node.children()))


def test_a_plan_changes_sql_state_by_the_names_of_its_columns(corpus: Path, tmp_path: Path) -> None:
    savepoint, sql_plan = case(corpus, "stream-exec-group-aggregate_1/group-aggregate-simple")
    before = statelift.open(str(savepoint), sql_plan=str(sql_plan))
    (operator,) = [one for one in before.operators if one.uid and one.uid.endswith("_group-aggregate")]
    columns = [part.name for part in operator.state("accState").types["value"].fields]  # type: ignore[attr-defined]
    assert columns == ["cnt", "avg_a_sum", "avg_a_count", "min_c"]
    change = one_state(str(operator.uid), "accState", set={"value.cnt": "value.cnt + 100"})
    more = {"sql_plan": str(sql_plan), "format": "canonical"}
    plan = plan_of(savepoint, tmp_path / "target", change, **more)
    report = lift(savepoint, tmp_path / "target", change, **more)
    assert [check for check in run_checks(plan, report) if not check.passed] == []
    after = statelift.open(str(tmp_path / "target"))
    rows = {
        str(row["key"]): list(row["value"].values())
        for row in after.state(str(operator.uid), "accState").to_arrow().to_pylist()
    }
    for row in operator.state("accState").to_arrow().to_pylist():
        key, (kind, count, *others) = list(row["key"].values()), row["value"].values()
        assert rows[str({"__kind": key[0], "f0": key[1]})] == [kind, count + 100, *others]


DDL = """
-- what the deduplication keeps
CREATE TABLE "DEDUPLICATE"."deduplicate-state" (
  id BIGINT, who STRING, what VARCHAR(20) NOT NULL COMMENT 'product', at_ms BIGINT,
  event_time TIMESTAMP(3), late AS event_time + INTERVAL '5' SECOND,
  WATERMARK FOR event_time AS event_time - INTERVAL '1' SECOND,
  PRIMARY KEY (what) NOT ENFORCED
) WITH ('connector' = 'x;y');
INSERT INTO somewhere SELECT * FROM elsewhere;
"""


def test_ddl_names_columns_too(corpus: Path, tmp_path: Path) -> None:
    savepoint, _ = case(corpus, "stream-exec-deduplicate_1/deduplicate-desc")
    plain = statelift.open(str(savepoint))
    (operator,) = [one for one in plain.operators if "deduplicate-state" in {s.name for s in one.states}]
    (tmp_path / "ddl.sql").write_text(DDL.replace("DEDUPLICATE", operator.id))
    snapshot = statelift.open(str(savepoint), ddl=str(tmp_path / "ddl.sql"))
    types = snapshot.state(operator.id, "deduplicate-state").types
    assert str(types["key"]) == "rowdata {what: string_data}"
    assert str(types["value"]).startswith(
        "rowdata {id: long, who: string_data, what: string_data, at_ms: long"
    )


def test_names_are_not_given_where_the_types_differ(corpus: Path, tmp_path: Path) -> None:
    savepoint, _ = case(corpus, "stream-exec-deduplicate_1/deduplicate-desc")
    (tmp_path / "ddl.sql").write_text('CREATE TABLE "deduplicate-state" (a INT, b STRING)')
    snapshot = statelift.open(str(savepoint), ddl=str(tmp_path / "ddl.sql"))
    states = [
        state for one in snapshot.operators for state in one.states if state.name == "deduplicate-state"
    ]
    assert [state.has_unnamed_columns for state in states] == [True]


@pytest.mark.parametrize("text", ["", "SELECT 1;", "CREATE TABLE t (a INT", "CREATE TABLE t (a NOTHING)"])
def test_ddl_that_is_none_is_refused_in_a_line(text: str) -> None:
    with pytest.raises(PlanError):
        Ddl.parse(text)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"nodes": [{"id": 1}], "edges": []}', '{"nodes": [{"id": 1, "type": "x"}], "edges": [{}]}',
     '{"nodes": [{"id": 1, "type": "x"}], "edges": [{"source": 1, "target": 1}]}'],
)  # fmt: skip
def test_a_plan_that_is_none_is_refused_in_a_line(text: str) -> None:
    with pytest.raises(PlanError, match="not a compiled plan"):
        CompiledPlan.parse(text)
