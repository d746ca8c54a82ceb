"""Verification of what ``_metadata`` says: that its files are there and whole, that key groups are covered once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from ..io.metadata import (
    EmptySegmentFileStateHandle,
    FileRange,
    KeyedStateHandle,
    KeyGroupRange,
    StreamKind,
    StreamUse,
    streams,
)
from ..schemas.errors import StateliftError, StoreError, Where
from .findings import Finding, fault, key_groups_text, of_error, unchecked
from .snapshot import Operator, Snapshot

_THREADS = 8


def check_files(snapshot: Snapshot) -> Iterator[tuple[StreamUse, Finding]]:
    """The files that are missing or have another size than ``_metadata`` says, with the stream each one held."""
    uses = list(streams(snapshot.metadata))
    labels = {id(operator.meta): operator.label for operator in snapshot.operators}
    with ThreadPoolExecutor(_THREADS) as executor:
        found = executor.map(lambda use: _check_file(snapshot, use, labels[id(use.operator)]), uses)
        for use, finding in zip(uses, found, strict=True):
            if finding is not None:
                yield use, finding


def _check_file(snapshot: Snapshot, use: StreamUse, label: str) -> Finding | None:
    where = Where(operator=label, subtask=use.subtask_index)
    what = _content(use)
    try:
        place = snapshot.opener.open(use.handle, what).location
        if not isinstance(place, FileRange):
            return None
        where = where.within(Where(file=place.url))
        size = snapshot.opener.stores.size(place.url)
    except StoreError as error:
        lost = _recorded(use)
        loss = f"{lost:,} bytes" if lost is not None else "all"
        reason = "the file is missing" if _is_missing(snapshot, where.file) else error.what
        return fault(f"{reason}: {loss} of {what} lost", where.within(error.where))
    except StateliftError as error:
        return of_error(error, where)
    if place.length is None:
        return None
    missing = place.start + place.length - size
    if missing > 0:
        whole = place.start + place.length
        return fault(f"the file is short by {missing:,} bytes of {whole:,}: {what} is cut off", where)
    if missing < 0 and not hasattr(use.handle, "start_pos") and not _is_changelog(use):
        return fault(f"the file has {-missing:,} bytes more than _metadata says: {what}", where)
    return None


def _is_missing(snapshot: Snapshot, url: str | None) -> bool:
    try:
        return url is not None and not snapshot.opener.stores.exists(url)
    except StoreError:
        return False


def _is_changelog(use: StreamUse) -> bool:
    """Changelog files are shared by checkpoints: a handle counts the bytes of its own changes."""
    return use.name is not None and use.name.startswith("changes ")


def _recorded(use: StreamUse) -> int | None:
    if isinstance(use.handle, EmptySegmentFileStateHandle):
        return 0
    size = getattr(use.handle, "state_size", -1)
    return size if size >= 0 else None


def _content(use: StreamUse) -> str:
    """What a stream holds: ``managed keyed state of key groups 64-127, 000012.sst``."""
    text = f"{use.kind} state"
    groups = _key_groups(use)
    if groups is not None:
        text += f" of {key_groups_text(list(groups))}"
    return f"{text}, {use.name}" if use.name else text


def _key_groups(use: StreamUse) -> KeyGroupRange | None:
    for subtask in use.operator.subtask_states:
        if subtask.subtask_index == use.subtask_index:
            managed = use.kind is StreamKind.MANAGED_KEYED
            handle = subtask.managed_keyed_state if managed else subtask.raw_keyed_state
            if handle is not None and use.kind in (StreamKind.MANAGED_KEYED, StreamKind.RAW_KEYED):
                return handle.key_group_range
    return None


# -- key groups --------------------------------------------------------------------------------------------


def key_group_range(subtask: int, parallelism: int, max_parallelism: int) -> KeyGroupRange:
    """``KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex``: the key groups of a subtask."""
    start = (subtask * max_parallelism + parallelism - 1) // parallelism
    end = ((subtask + 1) * max_parallelism - 1) // parallelism
    return KeyGroupRange(start, end - start + 1)


def check_key_group_ranges(operator: Operator) -> Iterator[Finding]:
    """Whether the subtasks' keyed handles hold the key groups that Flink assigns to them, each once."""
    handles: dict[int, KeyedStateHandle] = {
        subtask.subtask_index: subtask.managed_keyed_state
        for subtask in operator.meta.subtask_states
        if subtask.managed_keyed_state is not None
    }
    where = Where(operator=operator.label)
    if not handles:
        return
    if not 0 < operator.parallelism <= operator.max_parallelism:
        yield fault(
            f"parallelism {operator.parallelism} does not fit max parallelism {operator.max_parallelism}",
            where,
        )
        return
    owner: dict[int, int] = {}
    for subtask, handle in sorted(handles.items()):
        own = handle.key_group_range
        expected = key_group_range(subtask, operator.parallelism, operator.max_parallelism)
        here = Where(operator=operator.label, subtask=subtask)
        if own != expected:
            yield fault(f"holds key groups {own}, but Flink assigns {expected} to it", here)
        twice = [group for group in own if group in owner]
        if twice:
            others = ", ".join(map(str, sorted({owner[group] for group in twice})))
            yield fault(f"{key_groups_text(twice)} also held by subtask {others}", here)
        owner.update(dict.fromkeys(own, subtask))
    gaps = [group for group in range(operator.max_parallelism) if group not in owner]
    if gaps:
        # Flink writes no handle for a subtask that never registered a state, or that is finished.
        yield unchecked(f"no subtask has keyed state of {key_groups_text(gaps)}", where)
