"""The type of the keys of a changelog that nothing names (spec 12: a change holds the bytes of its key alone).

Each change says its key group, which Flink computed from the key's hash code. So a type under which every key
decodes, is followed by a namespace and hashes to its key group is the key's type, or one laid out and hashed alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import log

import numpy as np
import numpy.typing as npt

from ...schemas import types as t
from ...schemas.codec.codec import Codec, DecodeError
from ...schemas.codec.shapes import compile_type
from ...schemas.errors import UnsupportedVersionError
from ...schemas.from_snapshot import SNAPSHOTS_ALONE, TypeRules, type_of
from ...schemas.hashing import java_hash, key_groups
from ...schemas.snapshots import SerializerSnapshot, build
from .changelog_read import CLEAR, SET, SET_INTERNAL, Changes
from .entries import Positions
from .meta_info import StateMetaInfo
from .state_types import KeyedStateType, keyed_state_type

#: In the order in which jobs have them: of types that cannot be told apart (Long, Double, Date) the first is taken.
_SCALARS = (
    "String", "Long", "Int", "Short", "Byte", "Boolean", "Char", "Double", "Float", "Date", "SqlDate", "SqlTime",
    "SqlTimestamp", "Instant", "LocalDate", "LocalTime", "LocalDateTime", "BigInt", "BigDec",
)  # fmt: skip
_FIELDS = ("String", "Long", "Int", "Boolean")
_MOST_ROWS = 4096
_CERTAINTY = 100
"""How many times less than once wrong types may be expected to fit by chance."""


def infer_key(
    states: Sequence[StateMetaInfo],
    changes: Sequence[Changes],
    ids: Sequence[npt.NDArray[np.int32]],
    max_parallelism: int,
    types: TypeRules = SNAPSHOTS_ALONE,
) -> tuple[SerializerSnapshot | None, str | None]:
    """The key's serializer and a sentence that says how it was found; None twice where there are no keys.

    ``ids`` are the states (indices) of the changes, ``types`` what makes their types. Raises
    UnsupportedVersionError where no simple type fits, or some fit that lie differently, or the keys are too few to
    be sure.
    """
    samples = list(_samples(states, changes, ids, types))
    if not samples:
        return None, None
    for candidates in _candidates():
        fits = [(one, _fit(type_of(one), samples, max_parallelism)) for one in candidates]
        found = [(one, fit) for one, fit in fits if fit is not None]
        if found:
            break
    sure = found and all(fit.keys >= log(_CERTAINTY * len(candidates), max_parallelism) for _, fit in found)
    if not sure or any(fit.stops != found[0][1].stops for _, fit in found):
        raise UnsupportedVersionError(
            "a changelog without a materialized part names no key serializer, and its keys do not tell",
            todo="take a savepoint, or a checkpoint after the changelog was materialized",
        )
    names = [str(type_of(one)) for one, _ in found]
    also = f"; so would {', '.join(names[1:])}" if len(names) > 1 else ""
    return found[0][
        0
    ], f"the changelog names no key type: by the key groups of its keys it is {names[0]}{also}"


def _candidates() -> Iterator[list[SerializerSnapshot]]:
    """Types to try, the simple ones first."""
    yield [build.scalar(name) for name in _SCALARS]
    yield [
        build.tuple_of(*(build.scalar(name) for name in fields))
        for length in (1, 2, 3)
        for fields in product(_FIELDS, repeat=length)
    ]


@dataclass(frozen=True, slots=True)
class _Fit:
    """How many keys there are, and where they end."""

    keys: int
    stops: list[list[int]]


def _fit(key: t.DataType, samples: Sequence[_Sample], max_parallelism: int) -> _Fit | None:
    hashes, stops = [], []
    for sample in samples:
        fit = sample.fit(key, max_parallelism)
        if fit is None:
            return None
        hashes.append(fit[0])
        stops.append(fit[1].tolist())
    return _Fit(len(np.unique(np.concatenate(hashes))), stops)


@dataclass(frozen=True, slots=True)
class _Sample:
    """Some changes of one key-value state."""

    state: KeyedStateType
    changes: Changes
    rows: npt.NDArray[np.int64]

    def fit(self, key: t.DataType, max_parallelism: int) -> tuple[npt.NDArray[np.int32], Positions] | None:
        """The hashes of the keys and where they end, if they can be of the type ``key``."""
        data = self.changes.data
        operations = data[self.changes.starts[self.rows]]
        starts, ends = self.changes.starts[self.rows] + 3, self.changes.ends[self.rows]
        try:
            keys, stops = _codec(key).decode(data, starts, ends, exact=False)
            _, spaces = _codec(self.state.namespace).decode(data, stops, ends, exact=False)
            values = (operations == SET) | (operations == SET_INTERNAL)
            if (
                self.state.kind not in ("list", "map")
                and self.state.value
                and not t.opaque_in(self.state.value)
            ):
                _codec(self.state.value).decode_most(data, spaces[values], ends[values])
        except DecodeError:
            return None
        if self.state.namespace == t.scalar("void") and data[stops].any():
            return None
        hashes = java_hash(keys, key)
        if hashes is None or not np.array_equal(spaces == ends, operations == CLEAR):
            return None
        groups = self.changes.key_groups[self.rows]
        return (hashes, stops) if np.array_equal(key_groups(hashes, max_parallelism), groups) else None


def _codec(node: t.DataType) -> Codec:
    return Codec(compile_type(node, wide_times=True))


def _samples(
    states: Sequence[StateMetaInfo],
    changes: Sequence[Changes],
    ids: Sequence[npt.NDArray[np.int32]],
    rules: TypeRules,
) -> Iterator[_Sample]:
    left = _MOST_ROWS
    types = [keyed_state_type(meta, t.scalar("void"), rules) for meta in states]
    for change_set, numbers in zip(changes, ids, strict=True):
        for number, state in enumerate(types):
            rows = np.flatnonzero(numbers == number)[:left]
            if len(rows) and state.kind != "timer" and not t.opaque_in(state.namespace):
                yield _Sample(state, change_set, rows)
                left -= len(rows)
