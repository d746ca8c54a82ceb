"""A plan made ready: the source opened, every name and expression checked, the work cut into shards."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from ..io.keyed.backend import KeyedBackend
from ..io.keyed.header import KeyedBackendHeader
from ..io.memory import Memory
from ..io.metadata import RelativeFileStateHandle, read_metadata, streams, write_metadata
from ..io.stores import Stores, join, normalize
from ..schemas.errors import FormatError, NameNotFoundError, PlanError, TargetExistsError, Where
from .elements import ElementTransform, element_transform
from .plan import FormatName, Plan, StatePlan
from .snapshot import Operator, Snapshot, metadata_url, open_snapshot
from .states import BroadcastState, KeyedState, OperatorListState
from .transform import Transform, transform_of

#: A shard is to have about this many bytes of stored state.
SHARD_BYTES = 256 << 20


class Unit(BaseModel):
    """A run of key groups of one subtask. ``pieces`` is how many units the subtask is cut into."""

    model_config = ConfigDict(frozen=True)

    operator: str
    subtask: int
    key_group_start: int
    key_groups: int
    piece: int
    pieces: int
    nbytes: int


class Shard(BaseModel):
    """What one worker does: some units."""

    model_config = ConfigDict(frozen=True)

    number: int
    units: tuple[Unit, ...]

    @property
    def nbytes(self) -> int:
        return sum(unit.nbytes for unit in self.units)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorWork:
    """An operator whose keyed state is written anew, in ``format``. ``plans`` by state name."""

    operator: Operator
    format: FormatName
    plans: Mapping[str, StatePlan]
    #: States whose query looks beyond the row: it is run once, over the whole snapshot.
    whole: frozenset[str]

    def transforms(self) -> dict[str, Transform]:
        """Fresh transforms (they count what they do) of the states that are changed row by row."""
        made: dict[str, Transform] = {}
        for name, plan in self.plans.items():
            if name not in self.whole:
                made[name] = _transform(self.operator, name, plan) or _never(name)
        return made


def _never(name: str) -> Transform:
    raise AssertionError(f"{name} was checked to have a transform")


@dataclass(slots=True)
class Job:
    """A plan that can be run. ``work`` holds the operators whose keyed state is rewritten, by operator id;
    ``elements`` what is done to operator and broadcast states, by operator id and state name.

    ``digest`` identifies plan, source and what is replaced: it is part of every new file's name, so that what is
    left of another run is never taken for this one's. ``replaces`` are the files of the snapshot that stands at
    the target; they stay as they are until the new snapshot is there.
    """

    plan: Plan
    snapshot: Snapshot
    target: str
    stores: Stores
    work: dict[str, OperatorWork]
    elements: dict[str, dict[str, StatePlan]]
    digest: str
    replaces: frozenset[str]
    written: set[str] = field(default_factory=set)

    @property
    def memory(self) -> Memory:
        return self.snapshot.memory

    def file(self, name: str) -> str:
        """The URL of a file of the target."""
        return join(self.target + "/", name)


def opened_for(plan: Plan, url: str, stores: Stores, *, path_map: Sequence[tuple[str, str]] = ()) -> Snapshot:
    """A snapshot opened as the plan reads and writes it: its source, or the target."""
    return open_snapshot(
        url,
        stores=stores,
        uids=plan.uids,
        path_map=path_map,
        types=plan.types,
        wide_times=plan.wide_times,
        sql_plan=plan.sql_plan,
        ddl=plan.ddl,
        python_types=plan.python_types or None,
        memory_limit=plan.memory_limit,
    )


def prepare(plan: Plan, stores: Stores | None = None, *, path_map: Sequence[tuple[str, str]] = ()) -> Job:
    """Open the source and check the plan against it; nothing is written.

    Raises StoreError, NameNotFoundError, PlanError, SqlError, and TargetExistsError where a snapshot stands at
    the target and the plan does not say overwrite.
    """
    stores = stores or Stores()
    snapshot = opened_for(plan, plan.source, stores, path_map=path_map)
    target = normalize(plan.target).rstrip("/")
    standing = _standing(plan, target, stores)
    _check_in_flight(snapshot)
    named = {snapshot.operator(name).id: part for name, part in plan.operators.items()}
    work, elements = {}, {}
    for operator in snapshot.operators:
        states = named[operator.id].states if operator.id in named else {}
        keyed = {name: part for name, part in states.items() if isinstance(operator.state(name), KeyedState)}
        made = _operator_work(operator, keyed, plan.format)
        if made is not None:
            work[operator.id] = made
        others = {name: part for name, part in states.items() if name not in keyed}
        if others:
            element_transforms(operator, others)
            elements[operator.id] = others
    content = plan.digest.encode() + hashlib.sha256(write_metadata(snapshot.metadata)).digest() + standing
    digest = hashlib.sha256(content).hexdigest()[:16]
    return Job(plan, snapshot, target, stores, work, elements, digest, _files_of(standing))


def _standing(plan: Plan, target: str, stores: Stores) -> bytes:
    """The ``_metadata`` that stands at the target and is to be replaced; nothing where there is none."""
    at = metadata_url(target)
    if not stores.exists(at):
        return b""
    if not plan.overwrite:
        raise TargetExistsError(
            f"a snapshot stands at {target}", todo="choose another target, or set overwrite: true"
        )
    return stores.read(at)


def _files_of(metadata: bytes) -> frozenset[str]:
    """The names of the files that a snapshot has in its own folder; none where it cannot be read."""
    try:
        uses = list(streams(read_metadata(metadata))) if metadata else []
    except FormatError:
        return frozenset()
    return frozenset(
        use.handle.relative_path for use in uses if isinstance(use.handle, RelativeFileStateHandle)
    )


def managed_states(operator: Operator) -> set[str]:
    """The names of the states in the operator's keyed backends: those that are written anew with it."""
    return {state.name for backend in operator.keyed_backends.values() for state in backend.states}


def element_transforms(operator: Operator, plans: Mapping[str, StatePlan]) -> dict[str, ElementTransform]:
    """Fresh transforms of an operator's list and broadcast states. Raises as ``element_transform``."""
    made = {}
    for name, plan in plans.items():
        state = operator.state(name)
        if isinstance(state, (OperatorListState, BroadcastState)):
            made[name] = element_transform(plan, state, operator.label)
    return made


def _check_in_flight(snapshot: Snapshot) -> None:
    for operator in snapshot.operators:
        for subtask in operator.meta.subtask_states:
            if subtask.input_channel_state or subtask.result_subpartition_state:
                raise PlanError(
                    "an unaligned checkpoint with records in flight cannot be rewritten",
                    where=Where(operator=operator.label, subtask=subtask.subtask_index),
                    todo="take a savepoint, or an aligned checkpoint",
                )


def _operator_work(
    operator: Operator, plans: Mapping[str, StatePlan], wanted: FormatName | None
) -> OperatorWork | None:
    backends = operator.keyed_backends
    if operator.problems and (plans or wanted):
        raise operator.problems[0].error
    for name in plans:
        if name not in managed_states(operator):
            raise PlanError(
                "timers in raw keyed state are carried over as they are",
                where=Where(operator=operator.label, state=name),
                todo="restore the job with RocksDB timers, take a savepoint, and change that",
            )
    formats: set[str] = {backend.format for backend in backends.values()}
    if not formats or (not plans and (wanted is None or formats == {wanted})):
        return None
    target = wanted or _same_format(operator, formats)
    for backend in backends.values():
        if not isinstance(backend.header, KeyedBackendHeader):
            raise backend.header.reason.at(Where(operator=operator.label))
    whole = frozenset(name for name, plan in plans.items() if _transform(operator, name, plan) is None)
    return OperatorWork(operator=operator, format=target, plans=plans, whole=whole)


def _same_format(operator: Operator, formats: set[str]) -> FormatName:
    if formats == {"canonical"}:
        return "canonical"
    if formats == {"rocksdb"}:
        return "rocksdb"
    raise PlanError(
        f"state in {' and '.join(sorted(formats))} format is not written back as such",
        where=Where(operator=operator.label),
        todo="add format: canonical (any backend restores it) or format: rocksdb",
    )


def _transform(operator: Operator, name: str, plan: StatePlan) -> Transform | None:
    state = operator.state(name)
    if not isinstance(state, KeyedState):
        raise NameNotFoundError("keyed state", name, [s.name for s in operator.states])
    return transform_of(plan, state.table, operator.label)


# -- shards ------------------------------------------------------------------------------------------------


def cut(job: Job, workers: int = 1, shard_bytes: int = SHARD_BYTES) -> list[Shard]:
    """The job's shards: as many as there are workers or as the bytes ask for, never more than key groups.

    Shards are runs of key groups of about the same bytes, cut anywhere between key groups; an operator with a
    query that looks beyond the row stays in one.
    """
    spans = [span for work in job.work.values() for span in _spans(work)]
    total = sum(span.nbytes for span in spans)
    most = max((work.operator.max_parallelism for work in job.work.values()), default=0)
    count = min(most, max(workers, -(-total // shard_bytes)))
    if not spans:
        return []
    goal = max(1, -(-total // max(1, count)))
    bins: list[list[tuple[_Span, int, int]]] = [[]]
    room = goal
    for span in spans:
        for start, number, nbytes in _slices(span, room if room > 0 else goal, goal, count - len(bins)):
            full = room <= 0 or nbytes > room
            if bins[-1] and full and len(bins) < count and not span.joined:
                bins.append([])
                room = goal
            bins[-1].append((span, start, number))
            room -= nbytes
    return _shards(bins)


@dataclass(frozen=True, slots=True)
class _Span:
    """One subtask's key groups and the bytes of each. ``joined``: stays in the shard of the one before it."""

    operator: str
    subtask: int
    key_group_start: int
    sizes: Sequence[int]
    joined: bool
    whole: bool

    @property
    def nbytes(self) -> int:
        return sum(self.sizes)


def _spans(work: OperatorWork) -> list[_Span]:
    spans = []
    for number, (subtask, backend) in enumerate(sorted(work.operator.keyed_backends.items())):
        whole = bool(work.whole)
        spans.append(
            _Span(
                work.operator.id,
                subtask,
                backend.key_groups.start,
                _sizes(backend),
                whole and number > 0,
                whole,
            )
        )
    return spans


def _sizes(backend: KeyedBackend) -> list[int]:
    """Stored bytes of each key group: as they lie in a stream, or an even share of what there is."""
    number = len(backend.key_groups)
    if backend.format not in ("canonical", "hashmap"):
        return [backend.nbytes // max(1, number)] * number
    sizes = {region.key_group: region.stop - region.start for region in backend.regions()}
    return [sizes.get(key_group, 0) for key_group in backend.key_groups]


def _slices(span: _Span, room: int, goal: int, more: int) -> list[tuple[int, int, int]]:
    """(first key group, key groups, bytes) of the slices of a span: the first fills ``room``, the others ``goal``."""
    if span.whole or more <= 0:
        return [(span.key_group_start, len(span.sizes), span.nbytes)]
    slices = []
    start = size = 0
    limit = room
    for i, nbytes in enumerate(span.sizes):
        if size and size + nbytes > limit:
            slices.append((span.key_group_start + start, i - start, size))
            start, size, limit = i, 0, goal
        size += nbytes
    slices.append((span.key_group_start + start, len(span.sizes) - start, size))
    return slices


def _shards(bins: Sequence[Sequence[tuple[_Span, int, int]]]) -> list[Shard]:
    pieces: dict[tuple[str, int], int] = {}
    for part in bins:
        for span, _, _ in part:
            pieces[span.operator, span.subtask] = pieces.get((span.operator, span.subtask), 0) + 1
    seen: dict[tuple[str, int], int] = {}
    shards = []
    for number, part in enumerate(bins):
        units = []
        for span, start, key_groups in part:
            place = (span.operator, span.subtask)
            at = start - span.key_group_start
            units.append(
                Unit(
                    operator=span.operator, subtask=span.subtask, key_group_start=start, key_groups=key_groups,
                    piece=seen.get(place, 0), pieces=pieces[place], nbytes=sum(span.sizes[at : at + key_groups]),
                )
            )  # fmt: skip
            seen[place] = seen.get(place, 0) + 1
        shards.append(Shard(number=number, units=tuple(units)))
    return shards
