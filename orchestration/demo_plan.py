"""The demo's plan: repair the corrupt users of a savepoint that Flink wrote, and take it from heap to RocksDB."""

from __future__ import annotations

from pathlib import Path

from ..state_ops.plan import Plan

DEMO_NAME = "fraud_repair"


def demo_savepoint() -> Path:
    """The folder of the savepoint: in an installed package beside this file, in a checkout with the golden data."""
    packaged = Path(__file__).parent / "demo_data" / "savepoint"
    if packaged.is_dir():
        return packaged
    return Path(__file__).parents[1] / "tests" / "golden" / "2.3.0" / "hashmap-native" / "savepoint"


def demo_plan(source: str, target: str) -> Plan:
    """Every tenth user of ``session-tracker`` has a negative timestamp."""
    repair = {
        "set": {"value.lastSeenTimestamp": "0", "value.fixed": "true"},
        "where": "value.lastSeenTimestamp < 0",
    }
    users = '"session-tracker"."user-state"'
    return Plan.of(
        {
            "source": source,
            "target": target,
            "format": "rocksdb",
            "operators": {"session-tracker": {"states": {"user-state": repair}}},
            "checks": {
                "no-negative-timestamps": f"SELECT key, value FROM {users} WHERE value.lastSeenTimestamp < 0",
                "all-users-are-there": f"SELECT count(*) AS users FROM {users} HAVING count(*) <> 60",
            },
            "overwrite": True,
        }
    )
