"""The type of the keys of a changelog that nothing names (spec 12: a change holds the bytes of its key alone).

Each change says its key group, which Flink computed from the key's hash code. So a type under which every key
decodes, is followed by a namespace and hashes to its key group is the key's type, or one laid out and hashed alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from ...schemas import types as t
from ...schemas.codec.codec import Codec, DecodeError
from ...schemas.codec.shapes import compile_type
from ...schemas.errors import UnsupportedVersionError
from ...schemas.from_snapshot import type_of
from ...schemas.hashing import java_hash, key_groups
from ...schemas.snapshots import SerializerSnapshot, build
from .changelog_read import CLEAR, Changes
from .meta_info import BackendStateType, StateMetaInfo
from .state_types import keyed_state_type

#: In the order in which jobs have them: of types that cannot be told apart (Long, Double, Date) the first is taken.
_SCALARS = (
    "String", "Long", "Int", "Short", "Byte", "Boolean", "Char", "Double", "Float", "Date", "SqlDate", "SqlTime",
    "SqlTimestamp", "Instant", "LocalDate", "LocalTime", "LocalDateTime", "BigInt", "BigDec",
)  # fmt: skip
_FIELDS = ("String", "Long", "Int", "Boolean")
_MOST_ROWS = 4096


def infer_key(
    states: Sequence[StateMetaInfo],
    changes: Sequence[Changes],
    ids: Sequence[npt.NDArray[np.int32]],
    max_parallelism: int,
) -> tuple[SerializerSnapshot, str]:
    """The key's serializer and a sentence that says how it was found.

    ``ids`` are the states (indices) of the changes. Raises UnsupportedVersionError where no simple type fits.
    """
    samples = list(_samples(states, changes, ids))
    found = [
        snapshot
        for snapshot in _candidates()
        if samples and all(sample.fits(type_of(snapshot), max_parallelism) for sample in samples)
    ]
    if not found:
        raise UnsupportedVersionError(
            "a changelog without a materialized part names no key serializer, and no simple type fits its keys",
            todo="take a savepoint, or a checkpoint after the changelog was materialized",
        )
    names = [str(type_of(snapshot)) for snapshot in found]
    also = f"; so would {', '.join(names[1:])}" if len(names) > 1 else ""
    return found[0], f"the changelog names no key type: by the key groups of its keys it is {names[0]}{also}"


def _candidates() -> Iterator[SerializerSnapshot]:
    yield from (build.scalar(name) for name in _SCALARS)
    for length in (1, 2, 3):
        for fields in product(_FIELDS, repeat=length):
            yield build.tuple_of(*(build.scalar(name) for name in fields))


class _Sample:
    """Some changes of one state; the operation says whether anything follows the namespace."""

    def __init__(self, namespace: t.DataType, changes: Changes, rows: npt.NDArray[np.int64]) -> None:
        self.namespace = namespace
        self.data = changes.data
        self.starts, self.ends = changes.starts[rows] + 3, changes.ends[rows]
        self.cleared = self.data[changes.starts[rows]] == CLEAR
        self.groups = changes.key_groups[rows]

    def fits(self, key: t.DataType, max_parallelism: int) -> bool:
        try:
            keys, stops = Codec(compile_type(key)).decode(self.data, self.starts, self.ends, exact=False)
            _, stops = Codec(compile_type(self.namespace)).decode(self.data, stops, self.ends, exact=False)
        except DecodeError:
            return False
        hashes = java_hash(keys, key)
        if hashes is None or not np.array_equal(stops == self.ends, self.cleared):
            return False
        return np.array_equal(key_groups(hashes, max_parallelism), self.groups)


def _samples(
    states: Sequence[StateMetaInfo], changes: Sequence[Changes], ids: Sequence[npt.NDArray[np.int32]]
) -> Iterator[_Sample]:
    left = _MOST_ROWS
    for change_set, numbers in zip(changes, ids, strict=True):
        for number, meta in enumerate(states):
            rows = np.flatnonzero(numbers == number)[:left]
            if not len(rows) or meta.backend_state_type is not BackendStateType.KEY_VALUE:
                continue
            namespace = keyed_state_type(meta, t.scalar("void")).namespace
            if not t.opaque_in(namespace):
                yield _Sample(namespace, change_set, rows)
                left -= len(rows)
