"""The plan: what is to be done to a snapshot, written down. One model for the command line, Python and Dagster."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ..io.stores import Stores, normalize
from ..schemas.errors import PlanError, Where
from .class_types import ClassTypes
from .yaml_file import read_yaml

FormatName = Literal["canonical", "rocksdb"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Delete(_Model):
    """``DELETE FROM state WHERE …``."""

    where: str = Field(description="SQL over the state's columns; the rows it holds for are deleted")


class StatePlan(_Model):
    """What is done to one state: ``set``/``where`` (an UPDATE), ``delete``, or a whole ``select``."""

    set: dict[str, str] = Field(
        default_factory=dict,
        description="SQL expressions by column or field, as value.lastSeenTimestamp: '0'",
    )
    where: str | None = Field(default=None, description="which rows ``set`` changes; all if left out")
    delete: Delete | None = None
    select: str | None = Field(
        default=None,
        description="a query whose rows become the state: columns key, [namespace], [map_key], value",
    )

    @model_validator(mode="after")
    def _one_form(self) -> StatePlan:
        forms = [name for name in ("set", "delete", "select") if getattr(self, name)]
        if len(forms) != 1:
            raise ValueError(f"give one of set, delete, select; here: {', '.join(forms) or 'none'}")
        if self.where is not None and not self.set:
            raise ValueError("where goes with set")
        return self


class OperatorPlan(_Model):
    """What is done to one operator's states, by their names."""

    states: dict[str, StatePlan] = Field(default_factory=dict)


class Plan(_Model):
    """A plan. What it does not name is carried over byte for byte."""

    source: str = Field(description="the snapshot to read: a folder or its _metadata, a path or a URL")
    target: str = Field(description="the folder of the snapshot to write")
    format: FormatName | None = Field(
        default=None, description="of all keyed state in the target; left out: as in the source"
    )
    types: dict[str, ClassTypes] = Field(
        default_factory=dict, description="fields of classes that the snapshot does not say, by class name"
    )
    operators: dict[str, OperatorPlan] = Field(
        default_factory=dict, description="by uid or by operator id (32 hex digits)"
    )
    checks: dict[str, str] = Field(
        default_factory=dict, description="SQL on the new snapshot; each row it returns breaks the check"
    )
    wide_times: bool = Field(
        default=False,
        description="times of Java (Instant, LocalDate, …) as structs of their parts, which hold all that there are",
    )
    sql_plan: str | None = Field(
        default=None, description="a compiled plan of Flink SQL, which names the columns of SQL rows"
    )
    ddl: str | None = Field(
        default=None, description='a file of CREATE TABLE "operator"."state" (…), which names them too'
    )
    python_types: dict[str, dict[str, str]] = Field(
        default_factory=dict,
        description="PyFlink's state descriptors by uid and state, as in the job: process mode does not store types",
    )
    overwrite: bool = Field(default=False, description="replace a snapshot that stands at the target")
    memory_limit: str | None = Field(
        default=None, description="of the process that carries it out, as 512MB; left out: none"
    )

    @model_validator(mode="after")
    def _two_places(self) -> Plan:
        source, target = (
            normalize(url).removesuffix("/_metadata").rstrip("/") for url in (self.source, self.target)
        )
        if source == target:
            raise ValueError("source and target are the same place")
        return self

    @property
    def uids(self) -> list[str]:
        """The operators that the plan names, to be tried as uids."""
        return list(self.operators)

    @property
    def digest(self) -> str:
        """Identifies what the plan does: 16 hex digits."""
        text = json.dumps(self.model_dump(mode="json", exclude={"memory_limit"}), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @staticmethod
    def of(data: Mapping[str, Any], file: str | None = None) -> Plan:
        """A plan from plain data. Raises PlanError, one line for the first thing wrong."""
        try:
            return Plan.model_validate(data)
        except ValidationError as error:
            raise _plan_error(error, file) from None

    @staticmethod
    def load(path: str, overrides: Mapping[str, str] | None = None, stores: Stores | None = None) -> Plan:
        """Read a YAML plan from a path or URL, with top-level values replaced by ``overrides``."""
        data = read_yaml(path, stores or Stores())
        if not isinstance(data, dict):
            raise PlanError("a plan is a mapping with source, target, …", where=Where(file=path))
        return Plan.of({**data, **(overrides or {})}, path)


def _plan_error(error: ValidationError, file: str | None) -> PlanError:
    # A word that is not known comes first: what is missing is often missing because of it.
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    place = ".".join(str(part) for part in first["loc"])
    what = f"{place or 'plan'}: {first['msg'].removeprefix('Value error, ')}"
    todo = None
    if first["type"] == "extra_forbidden":
        model = _model_at(first["loc"][:-1])
        near = difflib.get_close_matches(str(first["loc"][-1]), model.model_fields, n=2)
        todo = f"known here: {', '.join(near or model.model_fields)}"
        what = f"{place}: there is no such entry in a plan"
    return PlanError(what, where=Where(file=file), todo=todo)


def _model_at(loc: tuple[Any, ...]) -> type[BaseModel]:
    if not loc:
        return Plan
    if loc[0] == "types":
        return ClassTypes
    if "delete" in loc[3:]:
        return Delete
    return StatePlan if len(loc) >= 4 else OperatorPlan
