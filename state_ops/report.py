"""What a job did, for people and machines: every operator and state, what was changed, what was carried over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from ..io.metadata import Metadata
from .carry import Carried
from .job import Job, managed_states
from .plan import StatePlan
from .results import ShardResult, StateResult
from .snapshot import Operator
from .states import KeyedState, State


class StateReport(StateResult):
    """A state of a rewritten operator, summed over all shards. Digests are of the entries (see digest.py)."""

    operator: str
    name: str
    kind: str
    types: dict[str, str]
    operation: str


class OperatorReport(BaseModel):
    """One operator of the snapshot: how its keyed state was written, or that it was carried over."""

    operator: str
    id: str
    parallelism: int
    max_parallelism: int
    action: str
    source_format: str | None = None
    target_format: str | None = None


class CarriedFile(BaseModel):
    """A file copied byte for byte: ``length`` bytes from ``start`` of ``source``."""

    source: str
    start: int
    length: int
    name: str


class Report(BaseModel):
    """The whole run."""

    source: str
    target: str
    checkpoint_id: int
    metadata_version: int
    shards: int
    resumed_shards: int
    operators: list[OperatorReport]
    states: list[StateReport]
    carried: list[CarriedFile]

    @property
    def changed(self) -> int:
        return sum(state.changed + state.deleted + state.added for state in self.states)

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values that were written."""
        return sum(state.nbytes for state in self.states)


def make_report(
    job: Job,
    results: Sequence[ShardResult],
    elements: Mapping[tuple[str, str], StateResult],
    carried: Sequence[Carried],
    metadata: Metadata,
) -> Report:
    return Report(
        source=job.snapshot.url,
        target=job.target,
        checkpoint_id=metadata.checkpoint_id,
        metadata_version=metadata.version,
        shards=len(results),
        resumed_shards=sum(result.resumed for result in results),
        operators=operator_reports(job),
        states=_states(job, results, elements),
        carried=[
            CarriedFile(source=file.source, start=file.start, length=file.length, name=file.name)
            for file in carried
        ],
    )


def operator_reports(job: Job) -> list[OperatorReport]:
    """What becomes of each operator: known before anything is written."""
    reports = []
    for operator in job.snapshot.operators:
        formats = sorted({backend.format for backend in operator.keyed_backends.values()})
        source = "+".join(formats) or None
        work = job.work.get(operator.id)
        if work is not None and source != work.format:
            action = "converted"
        elif work is not None or operator.id in job.elements:
            action = "rewritten"
        else:
            action = "carried over"
        reports.append(
            OperatorReport(
                operator=operator.label, id=operator.id, parallelism=operator.parallelism,
                max_parallelism=operator.max_parallelism, action=action, source_format=source,
                target_format=work.format if work else source,
            )
        )  # fmt: skip
    return reports


def _states(
    job: Job, results: Sequence[ShardResult], elements: Mapping[tuple[str, str], StateResult]
) -> list[StateReport]:
    totals: dict[tuple[str, str], StateResult] = dict(elements)
    for result in results:
        for unit in result.units:
            for name, part in unit.states.items():
                place = (unit.operator, name)
                totals[place] = totals.get(place, StateResult()).add(part)
    reports = []
    for operator in job.snapshot.operators:
        work = job.work.get(operator.id)
        plans = {**(work.plans if work else {}), **job.elements.get(operator.id, {})}
        for state in operator.states:
            keyed = (
                work is not None and isinstance(state, KeyedState) and state.name in managed_states(operator)
            )
            if keyed or state.name in plans:
                total = totals.get((operator.id, state.name), StateResult())
                reports.append(_state(operator, state, plans.get(state.name), total))
    return reports


def _state(operator: Operator, state: State, plan: StatePlan | None, total: StateResult) -> StateReport:
    operation = "kept" if plan is None else "set" if plan.set else "delete" if plan.delete else "select"
    types = {name: str(kind) for name, kind in state.types.items()}
    return StateReport(
        **total.model_dump(),
        operator=operator.label,
        name=state.name,
        kind=state.kind,
        types=types,
        operation=operation,
    )
