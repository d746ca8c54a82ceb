"""SQL over a snapshot: an operator is a schema, a state is a table."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import statelift
from statelift.io.memory import Memory
from statelift.schemas.errors import FormatError, InputError, NameNotFoundError, SqlError, StoreError
from statelift.state_ops.duckdb_types import to_duckdb, to_duckdb_schema
from statelift.state_ops.snapshot import Snapshot
from statelift.state_ops.sql import describe, run_sql
from statelift.state_ops.states import KeyedState

from ..golden_savepoints import ALL, copied, expected, opened, plain

SOME = "2.3.0/rocksdb-native"


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return opened(SOME)


def rows(snapshot: Snapshot, query: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = run_sql(snapshot, query).read_all().to_pylist()
    return found


@pytest.mark.parametrize("name", ALL)
def test_a_field_of_a_pojo_is_reached_by_its_name(name: str) -> None:
    query = """SELECT key FROM "session-tracker"."user-state" WHERE value.lastSeenTimestamp < 0"""
    entries = expected(name, "session-tracker", "keyed", "user-state")
    negative = {e["key"] for e in entries if plain(e["value"])["lastSeenTimestamp"] < 0}
    assert negative
    assert {row["key"] for row in rows(opened(name), query)} == negative


@pytest.mark.parametrize("name", ALL)
def test_every_kind_of_state_is_a_table(name: str) -> None:
    snapshot = opened(name)
    scores = {
        (e["key"], map_key): value
        for e in expected(name, "fraud-detector", "keyed", "fraud-scores")
        for map_key, value in plain(e["value"]).items()
    }
    found = rows(snapshot, 'SELECT key, map_key, value FROM "fraud-detector"."fraud-scores"')
    assert {(r["key"], r["map_key"]): r["value"] for r in found} == scores
    lists = {e["key"]: e["value"] for e in expected(name, "session-tracker", "keyed", "recent")}
    assert {r["key"]: r["value"] for r in rows(snapshot, "SELECT key, value FROM recent")} == lists
    rules = {e["key"]: plain(e["value"]) for e in expected(name, "rules", "broadcast", "rules")}
    assert {r["map_key"]: r["value"] for r in rows(snapshot, 'FROM "rules"."rules"')} == rules
    elements = expected(name, "buffering-sink", "operator", "buffered-elements")
    in_order = [(e["subtask"], e["pos"], plain(e["value"])) for e in elements]
    found = rows(snapshot, 'FROM "buffered-elements" ORDER BY subtask, "index"')
    assert [(r["subtask"], r["index"], r["value"]) for r in found] == in_order


def test_an_operator_goes_by_its_uid_and_its_id_and_names_ignore_case(snapshot: Snapshot) -> None:
    by_id = snapshot.operator("session-tracker").id
    for schema in ("session-tracker", "Session-Tracker", by_id):
        assert rows(snapshot, f'SELECT count(*) AS n FROM "{schema}".RECENT') == [{"n": 60}]


def test_a_name_that_several_operators_have_is_not_guessed_at(snapshot: Snapshot) -> None:
    with pytest.raises(InputError, match="name one as session-tracker or fraud-detector"):
        rows(snapshot, 'FROM "KeyedProcess".recent')
    assert rows(snapshot, 'SELECT count(*) AS n FROM "Process"."buffered-elements"') == [{"n": 60}]


def test_an_operator_whose_uid_is_not_known_goes_by_the_hash_of_it() -> None:
    unresolved = statelift.open(opened("1.20.5/hashmap-native").url)
    assert rows(unresolved, 'SELECT count(*) AS n FROM "session-tracker".recent') == [{"n": 60}]


# -- reading ---------------------------------------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the states that are read, once for each time."""
    seen: list[str] = []
    real = KeyedState.batches

    def batches(self: KeyedState, *args: object) -> object:
        seen.append(self.name)
        return real(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(KeyedState, "batches", batches)
    return seen


def test_only_states_that_are_named_are_read(snapshot: Snapshot, reads: list[str]) -> None:
    assert rows(snapshot, "SELECT count(*) AS n FROM recent") == [{"n": 60}]
    assert reads == ["recent"]


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ("SELECT count(*) AS n FROM recent a JOIN recent b USING (key)", 60),
        ("WITH r AS (FROM recent) SELECT count(*) AS n FROM r a, r b", 3600),
        ("SELECT count(*) AS n FROM recent WHERE key IN (SELECT key FROM recent)", 60),
        ("SELECT count(*) AS n FROM (FROM recent UNION ALL FROM recent)", 120),
    ],
)
def test_a_state_named_several_times_is_read_once_and_is_whole_each_time(
    snapshot: Snapshot, reads: list[str], query: str, n: int
) -> None:
    assert rows(snapshot, query) == [{"n": n}]
    assert reads == ["recent"]


def test_a_recursive_query_sees_the_state_in_each_round(snapshot: Snapshot) -> None:
    query = """WITH RECURSIVE r(n, rows) AS (
                   SELECT 0, 0::BIGINT
                   UNION ALL SELECT n + 1, (SELECT count(*) FROM recent) FROM r WHERE n < 3)
               SELECT n, rows FROM r WHERE n > 0 ORDER BY n"""
    assert rows(snapshot, query) == [{"n": n, "rows": 60} for n in (1, 2, 3)]


def test_a_common_table_expression_may_be_called_as_a_state(snapshot: Snapshot) -> None:
    assert rows(snapshot, "WITH recent AS (SELECT 1 AS one) FROM recent") == [{"one": 1}]


def test_a_state_is_joined_with_a_parquet_file(snapshot: Snapshot, tmp_path: Path) -> None:
    pq.write_table(pa.table({"user_id": ["user-1", "user-2", "nobody"]}), tmp_path / "users.parquet")
    query = f"SELECT key FROM recent JOIN '{tmp_path}/users.parquet' ON key = user_id ORDER BY key"
    assert rows(snapshot, query) == [{"key": "user-1"}, {"key": "user-2"}]


def test_more_than_the_memory_limit_is_spilled(snapshot: Snapshot) -> None:
    query = "SELECT count(*) AS n FROM (SELECT a.key FROM recent a, recent b, range(2500) ORDER BY ALL)"
    reader = run_sql(snapshot, query, memory=Memory.of("420MB"))  # 75 MB of them for DuckDB
    assert reader.read_all().to_pylist() == [{"n": 9_000_000}]


def test_what_cannot_be_spilled_is_refused_in_a_line(snapshot: Snapshot) -> None:
    query = "SELECT len(string_agg(key || repeat('x', 1000))) AS n FROM recent, range(2000)"
    with pytest.raises(SqlError, match=r"needs more memory than there is: .*; give a larger memory limit"):
        run_sql(snapshot, query, memory=Memory.of("410MB")).read_all()


def test_show_tables_lists_the_states_without_reading_them(snapshot: Snapshot, reads: list[str]) -> None:
    listed = {(r["operator"], r["state"]): r for r in rows(snapshot, "show tables;")}
    assert listed == {(r["operator"], r["state"]): r for r in describe(snapshot).to_pylist()}
    assert listed["fraud-detector", "last-tx-timestamp"]["columns"] == (
        '"key" string, "value" int64, "key_group" int32'
    )
    assert reads == []


# -- errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "error", "says"),
    [
        (
            "SELECT nope FROM recent",
            SqlError,
            ('"nope"', "columns of", "key string, value list<item: int64>"),
        ),
        ("SELEC 1", SqlError, ("syntax error",)),
        ("SELECT 1; SELECT 2", SqlError, ("2 statements",)),
        ("DROP TABLE recent", SqlError, ("only queries",)),
        ("SELECT key::INT FROM recent", SqlError, ("Conversion Error",)),
        ("FROM recen", NameNotFoundError, ("'recen'", "recent")),
        ('FROM "session-traker"."recent"', NameNotFoundError, ("'session-traker'", "session-tracker")),
        ('FROM "session-tracker"."user-stat"', NameNotFoundError, ("'user-stat'", "user-state")),
        ('FROM "_timer_state/event_user-timers"', SqlError, ('"rules"."_timer_state/event_user-timers"',)),
        ("FROM '/no/such.parquet'", SqlError, ("No files found",)),
        ("FROM snapshot", NameNotFoundError, ("'snapshot'",)),
    ],
)
def test_an_error_is_one_line_and_says_what_there_is(
    snapshot: Snapshot, query: str, error: type[Exception], says: tuple[str, ...]
) -> None:
    with pytest.raises(error) as raised:
        rows(snapshot, query)
    assert "\n" not in str(raised.value)
    for text in says:
        assert text in str(raised.value)


def test_damage_that_a_query_meets_is_raised_as_such(tmp_path: Path) -> None:
    damaged = copied("1.20.5/hashmap-canonical", tmp_path)
    for file in damaged.iterdir():
        if file.name != "_metadata":
            file.write_bytes(file.read_bytes()[:-10])
    snapshot = statelift.open(str(damaged), uids=["session-tracker"])
    with pytest.raises(FormatError, match="session-tracker"):
        rows(snapshot, 'SELECT count(*) FROM "session-tracker"."user-state"')


def test_a_state_without_one_of_its_files_is_not_taken_for_whole(tmp_path: Path) -> None:
    damaged = copied("1.20.5/hashmap-canonical", tmp_path)
    lost = str(opened("1.20.5/hashmap-canonical").operator("session-tracker").keyed_backends[0].stream)
    for file in damaged.iterdir():
        if file.name in lost:
            file.unlink()
    snapshot = statelift.open(str(damaged), uids=["session-tracker"])
    with pytest.raises(StoreError, match="subtask 0"):
        rows(snapshot, "SELECT count(*) FROM recent")
    left = run_sql(snapshot, "SELECT count(*) AS n FROM recent", partial=True).read_all().to_pylist()
    here = [
        e for e in expected("1.20.5/hashmap-canonical", "session-tracker", "keyed", "recent") if e["kg"] >= 64
    ]
    assert left == [{"n": len(here)}]


# -- types -----------------------------------------------------------------------------------------------------

_UTC = datetime.UTC
_MILLIS = pa.timestamp("ms", "UTC")


def through_duckdb(array: pa.Array) -> pa.Array:
    import duckdb

    batch = pa.record_batch({"v": array})
    batch = to_duckdb(batch, to_duckdb_schema(batch.schema))
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'").fetchall()
    connection.register("t", pa.Table.from_batches([batch]))
    relation = connection.sql("SELECT v FROM t")
    return relation.to_arrow_reader(1000).read_all()["v"].combine_chunks()


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, None], pa.int8()),
        pa.array([65535, None], pa.uint16()),
        pa.array([1.5, None, float("inf")], pa.float32()),
        pa.array([b"a\0\xff", None], pa.binary()),
        pa.array(["a", None, ""], pa.string()),
        pa.array([[1, None], None, []], pa.list_(pa.int64())),
        pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        pa.array([{"x": 1, "y": "a"}, None], pa.struct([("x", pa.int64()), ("y", pa.string())])),
        pa.nulls(2),
        pa.array([{"x": None}, None], pa.struct([("x", pa.null())])),
        pa.array(["1.23", None]).cast(pa.decimal128(38, 2)),
        pa.array([19000, None], pa.date32()),
    ],
    ids=lambda array: str(array.type),
)
def test_values_come_through_duckdb_unchanged(array: pa.Array) -> None:
    assert through_duckdb(array).to_pylist() == array.to_pylist()


def test_an_enum_comes_as_its_constants() -> None:
    enum = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int32()), pa.array(["RED", "BLUE"]))
    assert through_duckdb(enum).to_pylist() == ["BLUE", "RED", None]
    inside = pa.StructArray.from_arrays([enum], ["color"])
    assert through_duckdb(inside).to_pylist() == [{"color": "BLUE"}, {"color": "RED"}, {"color": None}]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_nanoseconds_are_kept(zone: str | None) -> None:
    stamps = pa.array([1_700_000_000_123_456_789, -1, None], pa.timestamp("ns", zone))
    assert through_duckdb(stamps).cast(pa.int64()).to_pylist() == [1_700_000_000_123_456_789, -1, None]


def test_an_interval_becomes_its_milliseconds_however_long() -> None:
    """Not an INTERVAL of DuckDB, which comes back as nanoseconds of 64 bits."""
    longest = pa.array([2**63 - 1, -1, None], pa.duration("ms"))
    assert through_duckdb(longest).to_pylist() == [2**63 - 1, -1, None]
    nested = pa.array([[2**50, None]], pa.list_(pa.duration("ms")))
    assert through_duckdb(nested).to_pylist() == [[2**50, None]]


def test_a_moment_in_milliseconds_becomes_one_in_microseconds_wherever_it_is() -> None:
    millis = pa.array([1_700_000_000_123, -1, None], _MILLIS)
    micros = [1_700_000_000_123_000, -1000, None]
    assert through_duckdb(millis).cast(pa.int64()).to_pylist() == micros
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 1, 3], pa.int32()), millis)
    assert [len(part) for part in through_duckdb(lists).to_pylist()] == [1, 0, 2]
    first = datetime.datetime(2023, 11, 14, 22, 13, 20, 123000, _UTC)
    structs = pa.StructArray.from_arrays([millis], ["at"], mask=pa.array([False, True, False]))
    assert through_duckdb(structs).to_pylist() == [{"at": first}, None, {"at": None}]
    maps = pa.MapArray.from_arrays(pa.array([0, 1, 3], pa.int32()), pa.array(["a", "b", "c"]), millis)
    assert through_duckdb(maps).to_pylist()[0] == [("a", first)]
    sliced = pa.concat_arrays([lists, lists]).slice(2, 2)
    assert [len(part) for part in through_duckdb(sliced).to_pylist()] == [2, 1]


def test_moments_beyond_duckdbs_range_are_infinite_and_do_not_fail_the_query() -> None:
    latest = (1 << 63) - 1
    extremes = pa.array([latest, -latest, None], _MILLIS)
    assert through_duckdb(extremes).cast(pa.int64()).to_pylist() == [latest, -latest, None]
