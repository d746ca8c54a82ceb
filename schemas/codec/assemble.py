"""Filled slots to Arrow arrays: buffers are the arena's own memory where they can be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .arena import Arena
from .program import (
    EnumShape,
    FixedShape,
    ListShape,
    MapShape,
    NullShape,
    Shape,
    StructShape,
    UnionShape,
    VarShape,
)


def assemble(arena: Arena, shape: Shape, length: int) -> pa.Array:
    """The Arrow array of ``shape`` over a filled arena."""
    if isinstance(shape, NullShape):
        return pa.nulls(length)
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
        case VarShape():
            offsets = arena.array(shape.offsets, length + 1)
            buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(arena.filled(shape.data))]
            return pa.Array.from_buffers(shape.arrow_type, length, buffers, nulls)
        case StructShape():
            children = [assemble(arena, child, length) for child in shape.children]
            if isinstance(shape, UnionShape) and shape.tagged:
                tag = pa.Array.from_buffers(
                    pa.int8(), length, [None, pa.py_buffer(arena.array(shape.tag, length))]
                )
                children.insert(0, tag)
            return pa.Array.from_buffers(shape.arrow_type, length, [validity], nulls, children=children)
        case ListShape():
            child = assemble(arena, shape.child, _last(arena, shape.offsets, length))
            buffers = [validity, pa.py_buffer(arena.array(shape.offsets, length + 1))]
            return pa.Array.from_buffers(shape.arrow_type, length, buffers, nulls, children=[child])
        case MapShape():
            entries = _last(arena, shape.offsets, length)
            parts = [assemble(arena, part, entries) for part in (shape.key, shape.value)]
            items = pa.StructArray.from_arrays(parts, fields=list(shape.arrow_type.field(0).type))
            buffers = [validity, pa.py_buffer(arena.array(shape.offsets, length + 1))]
            return pa.Array.from_buffers(shape.arrow_type, length, buffers, nulls, children=[items])
    raise AssertionError(shape)


def _last(arena: Arena, offsets: int, length: int) -> int:
    return int(arena.array(offsets, length + 1)[-1])


def _validity(arena: Arena, shape: Shape, length: int) -> tuple[pa.Buffer | None, int]:
    if shape.valid < 0:
        return None, 0
    flags = arena.array(shape.valid, length)
    nulls = length - int(np.count_nonzero(flags))
    return (_bits(flags), nulls) if nulls else (None, 0)


def _bits(flags: npt.NDArray[np.unsignedinteger]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags.view(np.uint8), bitorder="little"))
