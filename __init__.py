"""Apache Flink state as data: open a snapshot that Flink wrote, read it as tables, write one Flink restores.

    >>> snapshot = statelift.open("s3://state/savepoints/savepoint-5c1a2b-0f3e9d")
    >>> snapshot.state("session-tracker", "user-state").to_arrow()
    >>> snapshot.sql('SELECT key FROM "session-tracker"."user-state" WHERE value.lastSeenTimestamp < 0')
"""

from .schemas.errors import StateliftError
from .state_ops.apply import apply
from .state_ops.plan import Plan
from .state_ops.snapshot import Operator, Snapshot, State
from .state_ops.snapshot import open_snapshot as open

__all__ = ["Operator", "Plan", "Snapshot", "State", "StateliftError", "apply", "open"]
