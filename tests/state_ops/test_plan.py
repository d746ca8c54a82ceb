"""What a plan may say, and the one line that says what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from statelift.schemas.errors import (
    EncodeError,
    NameNotFoundError,
    PlanError,
    SqlError,
    StateliftError,
    StoreError,
    TargetExistsError,
)
from statelift.state_ops.plan import Plan

from .lifting import REPAIR, golden, lift, one_line, one_state, plan_of, prepared

SET = {"value.lastSeenTimestamp": "0"}


def user_state(**plan: Any) -> dict[str, Any]:
    return one_state("session-tracker", "user-state", **plan)


# -- the form -------------------------------------------------------------------------------------------------

FORM: list[tuple[dict[str, Any], str]] = [
    (
        {"operators": {"x": {"stats": {}}}},
        "operators.x.stats: there is no such entry in a plan; known here: states",
    ),
    ({"fromat": "rocksdb"}, "fromat: there is no such entry in a plan; known here: format"),
    ({"operators": user_state(sett=SET)}, "known here: set"),
    ({"operators": user_state(delete={"wehre": "true"})}, "known here: where"),
    (
        {"operators": user_state(set=SET, delete={"where": "true"})},
        "give one of set, delete, select; here: set, delete",
    ),
    ({"operators": user_state()}, "give one of set, delete, select; here: none"),
    ({"operators": user_state(delete={"where": "true"}, where="true")}, "where goes with set"),
    ({"operators": user_state(select="SELECT 1", where="true")}, "where goes with set"),
    ({"format": "hashmap"}, "format: Input should be 'canonical' or 'rocksdb'"),
    ({"target": "s3://b/x/"}, "source and target are the same place"),
    ({"target": "s3://b/x", "source": "s3://b/x/_metadata"}, "source and target are the same place"),
    ({"overwrite": "perhaps"}, "overwrite: Input should be a valid boolean"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), FORM)
def test_a_plan_of_the_wrong_form_is_told_in_a_line(data: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError) as caught:
        Plan.of({"source": "s3://b/x", "target": "s3://b/y", **data})
    assert message in one_line(caught.value)


@pytest.mark.parametrize("missing", ["source", "target"])
def test_source_and_target_must_be_there(missing: str) -> None:
    with pytest.raises(PlanError, match=f"{missing}: Field required"):
        Plan.of({name: "s3://b/x" for name in ("source", "target") if name != missing})


def test_a_plan_is_read_from_yaml_with_its_first_level_replaced(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(
        "source: a\ntarget: b\nformat: rocksdb\noperators: {op: {states: {s: {set: {value: '1'}}}}}"
    )
    plan = Plan.load(str(file), {"target": "c"})
    assert (plan.source, plan.target, plan.format) == ("a", "c", "rocksdb")
    assert plan.operators["op"].states["s"].set == {"value": "1"}
    assert plan.uids == ["op"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source: [", "not YAML"),
        ("- a", "a plan is a mapping"),
        ("source: a\ntarget: b\nformatt: rocksdb", "formatt: there is no such entry"),
    ],
)
def test_a_file_that_is_no_plan_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "plan.yaml").write_text(text)
    with pytest.raises(PlanError, match=message) as caught:
        Plan.load(str(tmp_path / "plan.yaml"))
    assert "plan.yaml" in one_line(caught.value)


def test_a_missing_plan_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere\.yaml"):
        Plan.load(str(tmp_path / "nowhere.yaml"))


def test_the_digest_is_that_of_the_content() -> None:
    one = plan_of("a", "b", REPAIR)
    assert one.digest == plan_of("a", "b", REPAIR).digest
    assert one.digest != plan_of("a", "b", REPAIR, format="rocksdb").digest
    assert one.digest != plan_of("a", "c", REPAIR).digest


# -- against a snapshot, before anything is read or written -------------------------------------------------------

AGAINST: list[tuple[dict[str, Any], type[StateliftError], str]] = [
    ({"sesion-tracker": {"states": {}}}, NameNotFoundError, "no operator 'sesion-tracker'"),
    ({"sesion-tracker": {"states": {}}}, NameNotFoundError, "nearest: session-tracker"),
    (one_state("session-tracker", "user-stat", set=SET), NameNotFoundError, "nearest: user-state"),
    (
        user_state(set={"valu": "0"}),
        NameNotFoundError, "no column 'valu' (operator session-tracker, state user-state); nearest: value",
    ),
    (user_state(set={"value.lastSeen": "0"}), NameNotFoundError, "nearest: lastSeenTimestamp"),
    (
        user_state(set={"value.fixed.really": "true"}),
        PlanError, "value.fixed is bool and has no field 'really'",
    ),
    (user_state(set={"key": "'x'"}), PlanError, "key cannot be set: it places the entry"),
    (user_state(set={"key_group": "1"}), PlanError, "key_group cannot be set"),
    (one_state("fraud-detector", "fraud-scores", set={"map_key": "'x'"}), PlanError, "map_key cannot be set"),
    (user_state(set={"value": "value", "value.fixed": "true"}), PlanError, "value.fixed is a part of value"),
    (
        one_state("session-tracker", "_timer_state/event_user-timers", set={"timestamp": "0"}),
        PlanError, "use select:",
    ),
    (
        user_state(set={"value.fixed": "nothing_there"}),
        SqlError, "the columns are: key string, value struct<",
    ),
    (user_state(set={"value.fixed": "1 +"}), SqlError, "syntax error"),
    (user_state(set=SET, where="value.lastSeenTimestamp <"), SqlError, "syntax error"),
    (user_state(set=SET, where="value.nothing < 0"), SqlError, "the columns are: key string, value struct<"),
    (user_state(delete={"where": "keys = 'x'"}), SqlError, "the columns are: key string"),
    (
        user_state(set={"value.fixed": "(SELECT true)"}),
        PlanError, "a subquery in set or where looks beyond the row",
    ),
    (user_state(set=SET, where="key IN (SELECT key FROM state)"), PlanError, "a subquery"),
    (user_state(set={"value.lastSeenTimestamp": "max(value.lastSeenTimestamp)"}), PlanError, "an aggregate"),
    (user_state(set={"value.lastSeenTimestamp": "count(*)"}), PlanError, "an aggregate"),
    (user_state(set=SET, where="count(DISTINCT key) > 1"), PlanError, "an aggregate"),
    (user_state(set={"value.lastSeenTimestamp": "row_number() OVER ()"}), PlanError, "a window function"),
    (user_state(delete={"where": "lag(key) OVER (ORDER BY key) = key"}), PlanError, "a window function"),
    (user_state(set=SET, where="true) LIMIT (1"), PlanError, "a clause"),
    (user_state(set=SET, where="true) UNION (SELECT 1"), PlanError, "in set or where looks beyond the row"),
    (user_state(select="SELEC 1"), SqlError, "syntax error"),
    (user_state(select='SELECT key FROM "user-state"'), PlanError, "the select gives no column 'value'"),
    (user_state(select='SELECT value FROM "user-state"'), PlanError, "the select gives no column 'key'"),
    (
        user_state(select='SELECT * EXCLUDE (key) FROM "user-state"'),
        PlanError, "the select gives no column 'key'",
    ),
    (user_state(select='SELECT key, value.no AS value FROM "user-state"'), SqlError, "the columns are"),
    (
        one_state("fraud-detector", "fraud-scores", select='SELECT key, value FROM "fraud-scores"'),
        PlanError, "no column 'map_key'",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("operators", "kind", "message"), AGAINST)
def test_a_plan_that_does_not_fit_the_snapshot_is_told_before_anything_is_written(
    tmp_path: Path, operators: dict[str, Any], kind: type[StateliftError], message: str
) -> None:
    with pytest.raises(kind) as caught:
        prepared(golden("hashmap-canonical"), tmp_path / "out", operators)
    assert message in one_line(caught.value)
    assert not (tmp_path / "out").exists()


def test_an_operator_may_be_named_by_its_id(tmp_path: Path) -> None:
    [named] = prepared(golden("hashmap-canonical"), tmp_path / "out", REPAIR).work
    by_id = {named.upper(): REPAIR["session-tracker"]}
    assert list(prepared(golden("hashmap-canonical"), tmp_path / "out", by_id).work) == [named]


def test_state_on_the_native_heap_asks_for_a_format(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="state in hashmap format is not written back as such") as caught:
        prepared(golden("hashmap-native"), tmp_path / "out", REPAIR)
    assert "add format: canonical" in one_line(caught.value)


def test_a_source_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no snapshot at .*/nowhere: it has no _metadata file"):
        prepared(tmp_path / "nowhere", tmp_path / "out")


def test_a_snapshot_at_the_target_is_left_alone(tmp_path: Path) -> None:
    lift(golden("hashmap-canonical"), tmp_path / "out", REPAIR)
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    with pytest.raises(TargetExistsError, match="choose another target, or set overwrite: true"):
        prepared(golden("rocksdb-native"), tmp_path / "out", REPAIR)
    assert {path: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


# -- values that the serializer cannot hold -----------------------------------------------------------------------

VALUES: list[tuple[dict[str, Any], str]] = [
    (one_state("fraud-detector", "last-tx-timestamp", set={"value": "NULL"}), "null"),
    (
        user_state(set={"value.lastSeenTimestamp": "170141183460469231731687303715884105727"}),
        "lastSeenTimestamp",
    ),
    (user_state(set={"value": "NULL"}), "null"),
    (one_state("fraud-detector", "last-tx-timestamp", set={"value": "0.5::DOUBLE + value"}), "value"),
    (user_state(set={"value.lastSeenTimestamp": "'x'"}), "lastSeenTimestamp"),
]  # fmt: skip


@pytest.mark.parametrize(("operators", "message"), VALUES)
def test_a_value_that_the_serializer_cannot_hold_is_refused_and_nothing_is_left(
    tmp_path: Path, operators: dict[str, Any], message: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        lift(golden("hashmap-canonical"), tmp_path / "out", operators)
    text = one_line(caught.value)
    assert message in text
    [(operator, states)] = operators.items()
    assert f"operator {operator}" in text
    assert f"state {next(iter(states['states']))}" in text
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
