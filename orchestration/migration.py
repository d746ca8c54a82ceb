"""A plan as Dagster knows it: under a name, with three assets, and for one snapshot or for each of many."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import dagster as dg

from ..schemas.errors import PlanError
from ..state_ops.plan import Plan

Role = Literal["source_savepoint", "audit", "new_savepoint"]

#: Where it stands in a plan's source and target, the plan is for every snapshot of that place: one partition each.
PLACEHOLDER = "{snapshot}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """``name`` is a Dagster name (letters, digits, underscores): the group, and the first part of the keys."""

    name: str
    plan: Plan

    def __post_init__(self) -> None:
        places = {place: PLACEHOLDER in place for place in (self.plan.source, self.plan.target)}
        if len(set(places.values())) > 1:
            raise PlanError(f"{self.name}: {PLACEHOLDER} stands in both source and target, or in neither")

    def key(self, role: Role) -> dg.AssetKey:
        return dg.AssetKey([self.name, role])

    @property
    def job_name(self) -> str:
        return f"{self.name}_migration"

    @property
    def partitions(self) -> dg.DynamicPartitionsDefinition | None:
        """A partition for each snapshot, if the plan is for many."""
        if PLACEHOLDER not in self.plan.source:
            return None
        return dg.DynamicPartitionsDefinition(name=f"{self.name}_snapshots")

    def plan_for(self, snapshot: str | None) -> Plan:
        """The plan for one partition."""
        if snapshot is None:
            return self.plan
        places = {
            "source": self.plan.source.replace(PLACEHOLDER, snapshot),
            "target": self.plan.target.replace(PLACEHOLDER, snapshot),
        }
        return Plan.of({**self.plan.model_dump(), **places})


def dagster_name(text: str) -> str:
    """``text`` with all that Dagster allows in no name as underscores."""
    return re.sub(r"\W", "_", text, flags=re.ASCII)
