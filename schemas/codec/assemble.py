"""Filled slots to Arrow arrays: buffers are the arena's own memory where they can be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from . import ops
from .arena import Arena
from .columns import Positions
from .kryo_codec import kryo_to_plain
from .program import (
    EnumShape,
    FixedShape,
    FlagShape,
    KryoShape,
    ListShape,
    MapShape,
    NullShape,
    Shape,
    StructShape,
    UnionShape,
    VarShape,
)
from .run import run_decode
from .undecoded import Gap, is_behind


def assemble(
    arena: Arena, shape: Shape, length: int, unread: list[Gap], owners: Positions | None = None
) -> pa.Array:
    """The Arrow array of ``shape`` over a filled arena.

    ``unread`` gets the rows whose Kryo values are not decoded; ``owners`` is the row of each element where that is
    not its own number.
    """
    if isinstance(shape, NullShape):
        return pa.nulls(length)
    if isinstance(shape, FlagShape):
        return _flagged(arena, shape, length, unread, owners)
    validity, nulls = _validity(arena, shape, length)
    match shape:
        case FixedShape():
            raw = arena.array(shape.slot, length)
            data = _bits(raw) if pa.types.is_boolean(shape.arrow_type) else pa.py_buffer(raw)
            return pa.Array.from_buffers(shape.arrow_type, length, [validity, data], nulls)
        case EnumShape():
            indices = pa.Array.from_buffers(
                pa.int32(), length, [validity, pa.py_buffer(arena.array(shape.slot, length))], nulls
            )
            return pa.DictionaryArray.from_arrays(indices, pa.array(shape.constants, pa.string()))
        case KryoShape():
            array, gap = _kryo(arena, shape, length)
            if len(gap.rows):
                unread.append(gap if owners is None else replace(gap, rows=owners[gap.rows]))
            return array
        case VarShape():
            buffers = [
                validity,
                pa.py_buffer(arena.array(shape.offsets, length + 1)),
                pa.py_buffer(arena.filled(shape.data)),
            ]
            return pa.Array.from_buffers(shape.arrow_type, length, buffers, nulls)
        case StructShape():
            children = [assemble(arena, child, length, unread, owners) for child in shape.children]
            if isinstance(shape, UnionShape) and shape.tagged:
                tag = pa.Array.from_buffers(
                    pa.int8(), length, [None, pa.py_buffer(arena.array(shape.tag, length))]
                )
                children.insert(0, tag)
            return pa.Array.from_buffers(shape.arrow_type, length, [validity], nulls, children=children)
        case ListShape():
            own = _owners(arena, shape.offsets, length, owners)
            child = assemble(arena, shape.child, len(own), unread, own)
            buffers = [validity, pa.py_buffer(arena.array(shape.offsets, length + 1))]
            return pa.Array.from_buffers(shape.arrow_type, length, buffers, nulls, children=[child])
        case MapShape():
            own = _owners(arena, shape.offsets, length, owners)
            key, value = (assemble(arena, part, len(own), unread, own) for part in (shape.key, shape.value))
            offsets = arena.array(shape.offsets, length + 1).view(np.int32)
            if key.null_count:
                missing = np.flatnonzero(key.is_null())
                unread.append(Gap.all(np.unique(own[missing]), ops.NULL_KEY))
                key, value, offsets = _without_null_keys(key, value, offsets)
            items = pa.StructArray.from_arrays([key, value], fields=list(shape.arrow_type.field(0).type))
            buffers = [validity, pa.py_buffer(offsets)]
            return pa.Array.from_buffers(shape.arrow_type, length, buffers, nulls, children=[items])
    raise AssertionError(shape)


def _flagged(
    arena: Arena, shape: FlagShape, length: int, unread: list[Gap], owners: Positions | None
) -> pa.Array:
    """What is behind the flags; ``unread`` gets the rows with the null that is not the column's."""
    array = assemble(arena, shape.inner, length, unread, owners)
    there = arena.array(shape.valid, length).astype(np.bool_)
    other = np.flatnonzero(~there if shape.always else there & np.asarray(array.is_null()))
    if len(other):
        unread.append(Gap.all(other if owners is None else np.unique(owners[other]), ops.OTHER_NULL))
    return array


def _without_null_keys(
    key: pa.Array, value: pa.Array, offsets: npt.NDArray[np.int32]
) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int32]]:
    """Keys, values and offsets of maps less the entries of null keys, which end the process inside of Arrow."""
    there = np.asarray(key.is_valid())
    before = np.concatenate([np.zeros(1, np.int32), np.cumsum(there, dtype=np.int32)])
    return key.filter(pa.array(there)), value.filter(pa.array(there)), before[offsets]


def _owners(arena: Arena, offsets: int, length: int, owners: Positions | None) -> Positions:
    """The row that each element of lists with these offsets belongs to."""
    bounds = arena.array(offsets, length + 1).astype(np.int64)
    lengths = bounds[1:] - bounds[:-1]
    return np.repeat(np.arange(length) if owners is None else owners, lengths)


def _kryo(arena: Arena, shape: KryoShape, length: int) -> tuple[pa.Array, Gap]:
    """Kryo values, null where they are not valid, and those that are not decoded."""
    data, offsets = arena.filled(shape.data), arena.array(shape.offsets, length + 1).astype(np.int64)
    there = np.arange(length)
    if shape.valid >= 0:
        there = np.flatnonzero(arena.array(shape.valid, length))
    out, ends, reasons = kryo_to_plain(shape.rows, data, offsets[:-1][there], offsets[1:][there])
    read = np.flatnonzero(reasons == ops.OK)
    stops = ends[read]
    starts = np.concatenate([np.zeros(1, np.int64), stops])[: len(stops)]
    total = int(stops[-1]) if len(stops) else 0
    run = run_decode(shape.plain, out, starts, stops, ops.EXACT | ops.SKIP_ALL, len(stops), total)
    # What plain bytes are wrong in is not what Kryo writes of the shape, but for texts and times.
    reasons[read] = np.where(is_behind(run.reasons), run.reasons, (run.reasons != ops.OK) * ops.KRYO_SHAPE)
    ends[read] = -1
    whole = np.flatnonzero(reasons == ops.OK)
    good = there[whole]
    inside: list[Gap] = []
    array = assemble(run.arena, shape.plain.shape, len(good), inside)
    missing = np.ones(length, np.bool_)
    missing[good] = False
    for found in inside:
        reasons[whole[found.rows]] = found.reasons
        missing[good[found.rows]] = True
    gap = Gap.of(data, ends, reasons)
    gap = replace(gap, rows=there[gap.rows])
    if not missing.any():
        return array, gap
    places = np.zeros(length, np.int64)
    places[good] = np.arange(len(good))
    return array.take(pa.array(places, mask=missing)), gap


def _validity(arena: Arena, shape: Shape, length: int) -> tuple[pa.Buffer | None, int]:
    if shape.valid < 0:
        return None, 0
    flags = arena.array(shape.valid, length)
    nulls = length - int(np.count_nonzero(flags))
    return (_bits(flags), nulls) if nulls else (None, 0)


def _bits(flags: npt.NDArray[np.unsignedinteger]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags.view(np.uint8), bitorder="little"))
