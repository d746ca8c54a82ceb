"""Apache Flink state as data: open a snapshot that Flink wrote, read it as tables, write one Flink restores.

>>> snapshot = statelift.open("s3://state/savepoints/savepoint-5c1a2b-0f3e9d")
>>> snapshot.state("session-tracker", "user-state").to_arrow()
>>> snapshot.sql('SELECT key FROM "session-tracker"."user-state" WHERE value.lastSeenTimestamp < 0')
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .schemas.errors import StateliftError

if TYPE_CHECKING:
    from .state_ops.apply import apply
    from .state_ops.plan import Plan
    from .state_ops.snapshot import Operator, Snapshot
    from .state_ops.snapshot import open_snapshot as open
    from .state_ops.states import State

__all__ = ["Operator", "Plan", "Snapshot", "State", "StateliftError", "apply", "open"]

#: Where the public names are; loaded when they are asked for, so that ``statelift --help`` does not wait for it.
_PLACES = {
    "Operator": (".state_ops.snapshot", "Operator"),
    "Plan": (".state_ops.plan", "Plan"),
    "Snapshot": (".state_ops.snapshot", "Snapshot"),
    "State": (".state_ops.states", "State"),
    "apply": (".state_ops.apply", "apply"),
    "open": (".state_ops.snapshot", "open_snapshot"),
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PLACES[name]
    return getattr(import_module(module, __name__), attribute)
