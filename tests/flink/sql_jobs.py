"""SQL jobs for the tests: their tables and what they ask, one state or more for each of Flink SQL's stateful nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

TABLES = {"a": 400, "b": 200, "u": 150}
"""The sources and how many rows each has in a round; `u` has a key and changes, with deletions."""

STATEMENTS = (
    *(
        f"""CREATE TABLE {name} (n BIGINT, id INT, ts TIMESTAMP(3), p AS PROCTIME(),
            WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
            WITH ('connector' = 'script', 'size' = '{TABLES[name]}', 'ids' = '{ids}')"""
        for name, ids in (("a", 97), ("b", 61))
    ),
    f"""CREATE TABLE u (n BIGINT, id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND,
        PRIMARY KEY (id) NOT ENFORCED)
        WITH ('connector' = 'script', 'size' = '{TABLES["u"]}', 'ids' = '71', 'upsert' = 'true')""",
    """CREATE VIEW v AS SELECT n, id, ts, p,
        CASE WHEN MOD(id, 13) = 0 THEN NULL ELSE 'key ' || CAST(id AS STRING) || ' of Übergröße' END AS s,
        CASE WHEN MOD(id, 5) = 0 THEN NULL
             ELSE CAST(CAST(id AS STRING) || '1234567890123456.12345' AS DECIMAL(30, 5)) END AS d,
        CASE WHEN MOD(id, 7) = 0 THEN NULL
             ELSE CAST('2001-01-01 00:00:' || CAST(10 + MOD(id, 50) AS STRING) || '.123456789' AS TIMESTAMP(9))
        END AS t9,
        CASE WHEN MOD(id, 11) = 0 THEN NULL ELSE TO_TIMESTAMP_LTZ(id * 1000 + 7, 3) END AS ltz,
        CASE WHEN MOD(id, 3) = 0 THEN NULL ELSE ENCODE('b' || CAST(MOD(id, 20) AS STRING), 'UTF-8') END AS bin
        FROM a""",
    "CREATE TEMPORARY SYSTEM FUNCTION viewed AS 'org.statelift.harness.SqlFunctions$ViewedText'",
    "CREATE TEMPORARY SYSTEM FUNCTION raws AS 'org.statelift.harness.SqlFunctions$RawText'",
)

CONFIG = {
    "pipeline.auto-watermark-interval": "0",  # a watermark with each record that raises it, not by the clock
    "table.exec.sink.require-on-conflict": "false",
    "table.generated-code.max-length": "60000",  # no code is split, which takes long
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a sink is given; `key` makes it a sink of upserts, `since` is the Flink it is tried from."""

    sql: str
    key: str | None = None
    since: tuple[int, int] = (1, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlJob:
    """Queries by the names of their sinks, over the tables that the statements make."""

    queries: Mapping[str, Query]
    statements: Sequence[str] = STATEMENTS
    tables: Sequence[str] = tuple(TABLES)
    config: Mapping[str, str] = field(default_factory=lambda: CONFIG)

    def queries_of(self, version: str) -> dict[str, dict[str, str | None]]:
        """Those that this Flink has, as the harness takes them."""
        major, minor = map(int, version.split(".")[:2])
        return {
            name: {"sql": query.sql, "key": query.key}
            for name, query in self.queries.items()
            if (major, minor) >= query.since
        }


def _all(since: tuple[int, int] = (1, 20), /, **queries: str) -> dict[str, Query]:
    return {name: Query(sql=sql, since=since) for name, sql in queries.items()}


_COUNTS = "COUNT(*) AS c, SUM(n) AS total, MAX(n) AS top"
_BY_ID = "(SELECT id, COUNT(*) AS c, SUM(n) AS total, MAX(n) AS top FROM a GROUP BY id)"
_B_BY_ID = "(SELECT id, COUNT(*) AS c, SUM(n) AS total FROM b GROUP BY id)"

AGGREGATES = _all(
    plain="""SELECT id, COUNT(*) AS c, COUNT(s) AS cs, SUM(n) AS total, AVG(CAST(n AS DOUBLE)) AS mean,
        MIN(n) AS least, MAX(s) AS top, SUM(d) AS sum_d, MIN(t9) AS min_t9, MAX(ltz) AS max_ltz FROM v GROUP BY id""",
    retracted=f"""SELECT MOD(id, 10) AS g, COUNT(*) AS c, SUM(total) AS total, AVG(total) AS mean, MIN(top) AS least,
        MAX(top) AS top, LISTAGG(CAST(c AS STRING)) AS texts, FIRST_VALUE(top) AS f, LAST_VALUE(top) AS l,
        COUNT(DISTINCT c) AS dc FROM {_BY_ID} GROUP BY MOD(id, 10)""",
    distinct="""SELECT MOD(id, 10) AS g, COUNT(DISTINCT s) AS ds, COUNT(DISTINCT d) AS dd, COUNT(DISTINCT t9) AS dt,
        SUM(DISTINCT MOD(n, 100)) AS dn, COUNT(DISTINCT s) FILTER (WHERE n > 500) AS df
        FROM v GROUP BY MOD(id, 10)""",
    texts="""SELECT MOD(id, 30) AS g, LISTAGG(s, '|') AS texts, FIRST_VALUE(s) AS f, LAST_VALUE(d) AS l,
        COLLECT(MOD(n, 7)) AS bag, ARRAY_AGG(n) AS ns, ARRAY_AGG(DISTINCT t9) AS ts
        FROM v GROUP BY MOD(id, 30)""",
    json="SELECT MOD(id, 10) AS g, JSON_ARRAYAGG(MOD(n, 50)) AS j FROM v GROUP BY MOD(id, 10)",
    viewed="SELECT MOD(id, 20) AS g, viewed(n, s) AS t FROM v GROUP BY MOD(id, 20)",
    raws="SELECT MOD(id, 20) AS g, raws(n) AS t FROM v GROUP BY MOD(id, 20)",
    sets="""SELECT MOD(id, 10) AS g, n / 300 AS h, COUNT(*) AS c FROM a GROUP BY GROUPING SETS ((MOD(id, 10)),
        (n / 300), ())""",
)
KEYS = {
    f"by_{name}": Query(sql=f"SELECT {name}, {_COUNTS} FROM v GROUP BY {name}")
    for name in ("s", "d", "t9", "ltz", "bin")
} | _all(
    by_all=f"SELECT d, t9, s, ltz, bin, {_COUNTS} FROM v GROUP BY d, t9, s, ltz, bin",
    by_row="SELECT MAX(k) AS k, COUNT(*) AS c FROM (SELECT ROW(id, s) AS r, n AS k FROM v) GROUP BY r",
    by_small="""SELECT id, COUNT(*) AS c FROM (SELECT MOD(id, 2) = 0 AS bo, CAST(MOD(id, 9) AS TINYINT) AS ti,
        CAST(id AS SMALLINT) AS si, CAST(id AS FLOAT) AS fl, CAST(id AS DOUBLE) / 3 AS dbl, CAST(ts AS DATE) AS da,
        CAST(ts AS TIME) AS tm, CAST(id AS DECIMAL(10, 2)) AS sd, CAST(id AS CHAR(3)) AS ch, id FROM a WHERE n < 2000)
        GROUP BY bo, ti, si, fl, dbl, da, sd, ch, id""",
)
OTHERS = _all(
    first_proc="""SELECT id, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY p ASC) AS r FROM v)
        WHERE r = 1""",
    last_proc="""SELECT id, n, s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY s ORDER BY p DESC) AS r FROM v)
        WHERE r = 1""",
    first_row="""SELECT id, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY d ORDER BY ts ASC) AS r FROM v)
        WHERE r = 1""",
    last_row="""SELECT id, n, d FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS r FROM v)
        WHERE r = 1""",
    top_append="""SELECT id, n, s, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY MOD(id, 10)
        ORDER BY MOD(n * 31, 1000) DESC, s) AS r FROM v) WHERE r <= 3""",
    top_update=f"""SELECT id, c, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY MOD(id, 10) ORDER BY c DESC) AS r
        FROM {_BY_ID}) WHERE r <= 3""",
    top_retract=f"""SELECT id, m, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY MOD(id, 10) ORDER BY m DESC, id)
        AS r FROM (SELECT id, MOD(total, 17) AS m FROM {_BY_ID})) WHERE r <= 3""",
    limited="SELECT n, s FROM v ORDER BY MOD(n * 31, 1000) DESC, n LIMIT 5",
    inner_rows="""SELECT a.n, b.n AS m FROM v AS a JOIN b ON a.id = b.id AND MOD(a.n, 4) = 0 AND MOD(b.n, 4) = 0""",
    left_keyed=f"SELECT x.id, x.c, y.total FROM {_BY_ID} AS x LEFT JOIN {_B_BY_ID} AS y ON x.id = y.id",
    left_key_inside=f"""SELECT x.id, x.c, y.id AS o, y.total FROM {_BY_ID} AS x LEFT JOIN {_B_BY_ID} AS y
        ON MOD(x.id, 50) = MOD(y.id, 50)""",
    full_rows="""SELECT a.n, a.s, b.n AS m FROM (SELECT * FROM v WHERE MOD(n, 5) = 0) AS a FULL JOIN (SELECT * FROM b
        WHERE MOD(n, 5) = 0) AS b ON a.id = b.id""",
    semi="SELECT n, s FROM v WHERE id IN (SELECT MOD(id * 3, 90) FROM b)",
    anti="SELECT n, d FROM v WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.id = v.id AND b.n > 100)",
    by_wide_key="""SELECT x.n, y.id AS o FROM (SELECT d, t9, n FROM v WHERE MOD(n, 3) = 0) AS x JOIN (SELECT d, t9, id
        FROM v WHERE n < 300) AS y ON x.d = y.d AND x.t9 = y.t9""",
    intervals="""SELECT a.n, b.n AS m FROM v AS a LEFT JOIN b ON MOD(a.id, 30) = MOD(b.id, 30)
        AND a.ts BETWEEN b.ts - INTERVAL '9' SECOND AND b.ts + INTERVAL '5' SECOND""",
    versions="SELECT a.n, u.n AS m FROM v AS a LEFT JOIN u FOR SYSTEM_TIME AS OF a.ts ON a.id = u.id",
    tumbling="""SELECT window_start, MOD(id, 10) AS g, COUNT(*) AS c, SUM(n) AS total, COUNT(DISTINCT s) AS d FROM
        TABLE(TUMBLE(TABLE v, DESCRIPTOR(ts), INTERVAL '15' SECOND)) GROUP BY window_start, window_end,
        MOD(id, 10)""",
    hopping="""SELECT window_start, s, COUNT(*) AS c, MAX(d) AS top FROM TABLE(HOP(TABLE v, DESCRIPTOR(ts),
        INTERVAL '5' SECOND, INTERVAL '15' SECOND)) GROUP BY window_start, window_end, s""",
    cumulating="""SELECT window_start, window_end, d, COUNT(*) AS c FROM TABLE(CUMULATE(TABLE v, DESCRIPTOR(ts),
        INTERVAL '10' SECOND, INTERVAL '60' SECOND)) GROUP BY window_start, window_end, d""",
    sessions="""SELECT window_start, window_end, id, COUNT(*) AS c, viewed(n, s) AS t FROM TABLE(SESSION(TABLE v
        PARTITION BY id, DESCRIPTOR(ts), INTERVAL '8' SECOND)) GROUP BY window_start, window_end, id""",
    old_tumbling="""SELECT TUMBLE_START(ts, INTERVAL '15' SECOND) AS w, MOD(id, 10) AS g, COUNT(*) AS c, AVG(n) AS m
        FROM v GROUP BY TUMBLE(ts, INTERVAL '15' SECOND), MOD(id, 10)""",
    old_sessions="""SELECT SESSION_START(ts, INTERVAL '8' SECOND) AS w, id, COUNT(*) AS c, viewed(n, s) AS t FROM v
        GROUP BY SESSION(ts, INTERVAL '8' SECOND), id""",
    window_top="""SELECT window_start, n, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end,
        MOD(id, 5) ORDER BY MOD(n * 31, 1000) DESC) AS r FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(ts), INTERVAL
        '15' SECOND))) WHERE r <= 2""",
    window_last="""SELECT window_start, id, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end,
        id ORDER BY ts DESC) AS r FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(ts), INTERVAL '15' SECOND)))
        WHERE r = 1""",
    window_join="""SELECT x.n, y.n AS m, x.window_start FROM (SELECT * FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(ts),
        INTERVAL '15' SECOND))) AS x JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '15'
        SECOND))) AS y ON x.id = y.id AND x.window_start = y.window_start AND x.window_end = y.window_end""",
    over_rows="""SELECT n, SUM(n) OVER (PARTITION BY id ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS
        total FROM v""",
    over_range="""SELECT n, COUNT(*) OVER w AS c, MAX(d) OVER w AS top FROM v WINDOW w AS (PARTITION BY s ORDER BY ts
        RANGE BETWEEN INTERVAL '20' SECOND PRECEDING AND CURRENT ROW)""",
    over_all="""SELECT n, COUNT(DISTINCT s) OVER w AS c, SUM(d) OVER w AS total FROM v WINDOW w AS (PARTITION BY
        MOD(id, 9) ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)""",
    over_proc="""SELECT n, SUM(n) OVER (PARTITION BY id ORDER BY p ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS total
        FROM v""",
    sorted="SELECT n, s, ts FROM v ORDER BY ts, n",
    normalized="SELECT id, n, ts FROM u",
    normalized_sums="SELECT MOD(id, 10) AS g, COUNT(*) AS c, SUM(n) AS total FROM u GROUP BY MOD(id, 10)",
    matched="""SELECT * FROM v MATCH_RECOGNIZE (PARTITION BY id ORDER BY ts
        MEASURES FIRST(X.n) AS f, LAST(Y.n) AS l, COUNT(X.n) AS c
        AFTER MATCH SKIP PAST LAST ROW PATTERN (X{2,4} Y) DEFINE X AS MOD(X.n, 3) <> 0, Y AS MOD(Y.n, 3) = 0)""",
    touched="""SELECT /*+ STATE_TTL('x' = '10d', 'y' = '20d') */ x.id, x.c, y.total
        FROM (SELECT /*+ STATE_TTL('a' = '30d') */ id, COUNT(*) AS c FROM a GROUP BY id) AS x JOIN
             (SELECT id, SUM(n) AS total FROM b GROUP BY id) AS y ON x.id = y.id""",
) | {
    "materialized": Query(
        sql="""SELECT COALESCE(b.n, -1) AS k, x.id, x.c
            FROM b JOIN (SELECT id, COUNT(*) AS c FROM a GROUP BY id) AS x ON b.id = x.id""",
        key="k",
    ),
}

NEW = _all(
    (2, 3),
    percentile="SELECT MOD(id, 10) AS g, PERCENTILE(n, 0.5) AS p FROM v GROUP BY MOD(id, 10)",
    over_value="""SELECT n, SUM(n) OVER (PARTITION BY MOD(id, 10) ORDER BY MOD(n, 50)) AS total FROM v
        WHERE MOD(n, 8) = 0""",
    over_retract="""SELECT id, SUM(c) OVER (PARTITION BY MOD(id, 10) ORDER BY c) AS total
        FROM (SELECT id, COUNT(*) AS c FROM a WHERE MOD(n, 4) = 0 GROUP BY id)""",
)
QUERIES = {**AGGREGATES, **KEYS, **OTHERS, **NEW}
#: One of each kind of what SQL keeps: what CI has time for.
FEW = (
    "retracted", "distinct", "viewed", "raws", "by_s", "by_all", "last_proc", "top_update", "left_keyed", "inner_rows",
    "intervals", "versions", "cumulating", "sessions", "over_range", "matched", "touched", "materialized",
)  # fmt: skip
#: Those whose operators are others, or have other states, in mini-batches.
BATCHABLE = (
    "plain", "retracted", "distinct", "texts", "viewed", "by_d", "by_all", "last_proc", "last_row", "left_keyed",
    "inner_rows", "tumbling", "normalized",
)  # fmt: skip
BATCHED = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 d",  # the checkpoints end the batches
    "table.exec.mini-batch.size": "1000000",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    "table.optimizer.distinct-agg.split.enabled": "true",
    "table.exec.state.ttl": "365 d",
}

JOBS = {
    "few": SqlJob(queries={name: QUERIES[name] for name in FEW}),
    "each": SqlJob(queries=QUERIES),
    "batched": SqlJob(queries={name: QUERIES[name] for name in BATCHABLE}, config={**CONFIG, **BATCHED}),
}
