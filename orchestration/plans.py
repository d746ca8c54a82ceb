"""The plans of a code location: files named by the environment, or the demo's."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ..schemas.errors import PlanError, Where
from ..state_ops.plan import Plan
from .demo_plan import DEMO_NAME, demo_plan, demo_savepoint

#: A plan or a folder of plans (``*.yaml``).
VARIABLE = "STATELIFT_PLANS"


def plans_of_environment() -> dict[str, Plan]:
    """Plans by the names of their files. Raises PlanError for a plan that is wrong, or a place without any."""
    place = os.environ.get(VARIABLE)
    if place is None:
        target = Path(tempfile.gettempdir()) / "statelift" / "fraud-on-rocksdb"
        return {DEMO_NAME: demo_plan(str(demo_savepoint()), str(target))}
    path = Path(place)
    files = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    if not files:
        raise PlanError("there is no *.yaml", where=Where(file=place), todo=f"name a plan in {VARIABLE}")
    return {file.stem: Plan.load(str(file)) for file in files}
