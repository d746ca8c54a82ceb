"""Blocks decoded into columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...schemas.errors import FormatError, UnsupportedVersionError, Where
from .arrays import Bytes, Ints, Tags
from .decode_kernels import KEEP_SEQUENCE, MESSAGES, OK, UNREAD_TYPE, decode_blocks, measure_blocks
from .format import INTERNAL_KEY_SUFFIX, ValueType
from .runs import MAX_DECODED_BYTES, BlockFormat, UnpackedRun


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Decoded entries: key ``i`` is ``keys[key_offsets[i]:key_offsets[i + 1]]``, its value
    ``data[value_starts[i]:][:value_lengths[i]]``; ``tags`` are ``sequence << 8 | value type``."""

    data: Bytes
    keys: Bytes
    key_offsets: Ints
    tags: Tags
    value_starts: Ints
    value_lengths: Ints

    def __len__(self) -> int:
        return len(self.tags)

    @property
    def nbytes(self) -> int:
        arrays = (self.data, self.keys, self.key_offsets, self.tags, self.value_starts, self.value_lengths)
        return sum(array.nbytes for array in arrays)

    def key(self, i: int) -> bytes:
        return self.keys[self.key_offsets[i] : self.key_offsets[i + 1]].tobytes()

    def value(self, i: int) -> bytes:
        return self.data[self.value_starts[i] :][: self.value_lengths[i]].tobytes()


def decode(
    form: BlockFormat,
    run: UnpackedRun,
    *,
    internal_keys: bool = True,
    ordered: bool = True,
    sequence: int | None = None,
    types: frozenset[ValueType] = frozenset(),
) -> Columns:
    """The entries of a run; ``sequence`` stands in for every entry's own sequence number.

    Internal keys of a type that is not among ``types`` are refused by name.
    """
    suffix = INTERNAL_KEY_SUFFIX if internal_keys else 0
    limits = np.empty(len(run.starts), dtype=np.int64)
    code, block, position, n, key_bytes = measure_blocks(run.data, run.starts, run.ends, suffix, limits)
    if code == OK and key_bytes > MAX_DECODED_BYTES:
        raise FormatError(f"{n} keys add up to {key_bytes} bytes", where=form.where(int(run.offsets[0])))
    if code == OK:
        columns = Columns(
            data=run.data,
            keys=np.empty(key_bytes, dtype=np.uint8),
            key_offsets=np.empty(n + 1, dtype=np.int64),
            tags=np.empty(n, dtype=np.uint64),
            value_starts=np.empty(n, dtype=np.int64),
            value_lengths=np.empty(n, dtype=np.int64),
        )
        code, block, position = decode_blocks(
            run.data,
            run.starts,
            limits,
            suffix,
            KEEP_SEQUENCE if sequence is None else np.uint64(sequence),
            np.uint64(sum(1 << kind for kind in types)),
            ordered,
            columns.keys,
            columns.key_offsets,
            columns.tags,
            columns.value_starts,
            columns.value_lengths,
        )
        if code == OK:
            return columns
    if code >= UNREAD_TYPE:
        raise _unread_type(code - UNREAD_TYPE, form.where(int(run.offsets[block])))
    raise FormatError(
        f"{MESSAGES[code]} (at byte {position - int(run.starts[block])} of the decompressed block)",
        where=form.where(int(run.offsets[block])),
    )


def _unread_type(number: int, where: Where) -> FormatError:
    try:
        return UnsupportedVersionError(f"entries of type {ValueType(number).name} are not read", where=where)
    except ValueError:
        return FormatError(f"entry is of type {number}, which is not known", where=where)


def as_mapping(columns: Columns) -> dict[bytes, bytes]:
    """The entries of a small block: metaindex, properties."""
    return {columns.key(i): columns.value(i) for i in range(len(columns))}
