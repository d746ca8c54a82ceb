"""Slots to Arrow arrays and back: the typed face of what the kernels fill and read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import EncodeError, NameNotFoundError
from .arena import Arena
from .shapes import (
    EnumShape,
    FixedShape,
    ListShape,
    MapShape,
    NullShape,
    Program,
    Shape,
    StructShape,
    VarShape,
)

_Bytes = npt.NDArray[np.uint8]


def assemble(arena: Arena, shape: Shape, length: int) -> pa.Array:
    """The Arrow array of ``shape`` over a filled arena; buffers are the arena's own memory where they can be."""
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
            buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(arena.array(shape.data))]
            return pa.Array.from_buffers(shape.arrow_type, length, buffers, nulls)
        case StructShape():
            children = [assemble(arena, child, length) for child in shape.children]
            return pa.Array.from_buffers(shape.arrow_type, length, [validity], nulls, children=children)
        case ListShape():
            offsets = arena.array(shape.offsets, length + 1)
            child = assemble(arena, shape.child, int(offsets[-1]))
            buffers = [validity, pa.py_buffer(offsets)]
            return pa.Array.from_buffers(shape.arrow_type, length, buffers, nulls, children=[child])
        case MapShape():
            offsets = arena.array(shape.offsets, length + 1)
            entries = int(offsets[-1])
            parts = [assemble(arena, part, entries) for part in (shape.key, shape.value)]
            items = pa.StructArray.from_arrays(parts, fields=list(shape.arrow_type.field(0).type))
            buffers = [validity, pa.py_buffer(offsets)]
            return pa.Array.from_buffers(shape.arrow_type, length, buffers, nulls, children=[items])
    raise AssertionError(shape)


def _validity(arena: Arena, shape: Shape, length: int) -> tuple[pa.Buffer | None, int]:
    if shape.valid < 0:
        return None, 0
    flags = arena.array(shape.valid, length)
    nulls = length - int(np.count_nonzero(flags))
    return (_bits(flags), nulls) if nulls else (None, 0)


def _bits(flags: npt.NDArray[np.unsignedinteger]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags.view(np.uint8), bitorder="little"))


@dataclass(slots=True)
class _Planner:
    """Collects what each slot is to hold, so that the arena can be made in the right size."""

    values: dict[int, npt.NDArray[np.generic]]

    def put(self, slot: int, values: npt.NDArray[np.generic]) -> None:
        self.values[slot] = values

    def visit(self, shape: Shape, array: pa.Array, present: npt.NDArray[np.bool_] | None, path: str) -> None:
        """Take in ``array`` for ``shape``; rows where ``present`` is False lie below a null and are placeholders."""
        if isinstance(shape, NullShape):
            if shape.valid >= 0:
                self.put(shape.valid, np.zeros(len(array), np.uint8))
            return
        valid = _flags(array)
        if shape.valid >= 0:
            self.put(shape.valid, valid.view(np.uint8))
        else:
            missing = ~valid if present is None else ~valid & present
            if missing.any():
                row = int(np.flatnonzero(missing)[0])
                raise EncodeError(f"{path} is null at row {row} and its serializer holds no null")
        match shape:
            case FixedShape():
                self._fixed(shape, _cast(array, shape.arrow_type, path))
            case EnumShape():
                self._enum(shape, array, valid, path)
            case VarShape():
                self._variable(shape, _cast(array, shape.arrow_type, path))
            case StructShape():
                self._struct(shape, array, valid, present, path)
            case ListShape():
                child = self._offsets(shape.offsets, array, path)
                self.visit(shape.child, child, None, f"{path}[]")
            case MapShape():
                entries = self._offsets(shape.offsets, _cast_map(array, path), path)
                self.visit(shape.key, entries.field(0), None, f"{path}.key")
                self.visit(shape.value, entries.field(1), None, f"{path}.value")

    def _fixed(self, shape: FixedShape, array: pa.Array) -> None:
        if pa.types.is_boolean(array.type):
            array = array.cast(pa.uint8())
        width = array.type.bit_width // 8
        dtype = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[width]
        buffer = array.buffers()[1]
        whole = np.frombuffer(buffer, dtype) if buffer is not None else np.empty(0, dtype)
        self.put(shape.slot, whole[array.offset : array.offset + len(array)])

    def _enum(self, shape: EnumShape, array: pa.Array, valid: npt.NDArray[np.bool_], path: str) -> None:
        text = _cast(array, pa.string(), path)
        indices = pc.index_in(text, pa.array(shape.constants, pa.string()))
        unknown = valid & ~_flags(indices)
        if unknown.any():
            row = int(np.flatnonzero(unknown)[0])
            raise NameNotFoundError(f"constant of the enum {path}", str(text[row]), shape.constants)
        self.put(shape.slot, indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint32))

    def _variable(self, shape: VarShape, array: pa.Array) -> None:
        _, offsets, data = array.buffers()
        bounds = (
            np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
            if offsets
            else None
        )
        if bounds is None or not len(bounds):
            bounds = np.zeros(len(array) + 1, np.int32)
        body = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        self.put(shape.data, body[bounds[0] : bounds[-1]])
        self.put(shape.offsets, (bounds - bounds[0]).astype(np.uint32))

    def _struct(
        self,
        shape: StructShape,
        array: pa.Array,
        valid: npt.NDArray[np.bool_],
        present: npt.NDArray[np.bool_] | None,
        path: str,
    ) -> None:
        if not pa.types.is_struct(array.type):
            raise EncodeError(f"{path} is {array.type} and has to be a struct of {', '.join(shape.names)}")
        names = [array.type.field(i).name for i in range(array.type.num_fields)]
        extra = [name for name in names if name not in shape.names]
        if extra:
            raise NameNotFoundError(f"field of {path}", extra[0], shape.names)
        below = valid if present is None else valid & present
        for name, child in zip(shape.names, shape.children, strict=True):
            if name not in names:
                raise EncodeError(f"{path} lacks the field {name!r}")
            self.visit(child, array.field(names.index(name)), below, f"{path}.{name}")

    def _offsets(self, slot: int, array: pa.Array, path: str) -> pa.Array:
        """Take in the lengths of lists and return their elements, those of null lists left out."""
        kind = array.type
        if pa.types.is_map(kind):
            lengths = np.diff(np.asarray(array.offsets))
            lengths = np.where(_flags(array), lengths, 0)
            child = _map_entries(array)
        elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
            lengths = pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
            child = array.flatten()
        else:
            raise EncodeError(f"{path} is {kind} and has to be a list")
        self.put(slot, np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32))
        return child


def _map_entries(array: pa.MapArray) -> pa.StructArray:
    kind = pa.list_(
        pa.struct([pa.field("key", array.type.key_type), pa.field("value", array.type.item_type)])
    )
    return array.cast(kind).flatten()


def _cast_map(array: pa.Array, path: str) -> pa.Array:
    if not pa.types.is_map(array.type):
        raise EncodeError(f"{path} is {array.type} and has to be a map")
    return array


def _flags(array: pa.Array) -> npt.NDArray[np.bool_]:
    if array.null_count == 0:
        return np.ones(len(array), np.bool_)
    flags: npt.NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    return flags


def _cast(array: pa.Array, kind: pa.DataType, path: str) -> pa.Array:
    """``array`` as ``kind``; a value that does not fit is an error, never cut."""
    if array.type == kind:
        return array
    try:
        return array.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise EncodeError(f"{path} is {array.type} and cannot be written as {kind}: {error}") from None


def disassemble(program: Program, array: pa.Array, path: str) -> Arena:
    """An arena that holds ``array`` as the slots of ``program``. Raises EncodeError where it does not fit."""
    planner = _Planner(values={})
    planner.visit(program.shape, array, None, path)
    capacities = [len(planner.values[i]) if i in planner.values else 0 for i in range(len(program.slots))]
    arena = Arena.of(program.slots, [capacity + 1 for capacity in capacities])
    for slot, values in planner.values.items():
        arena.fill(slot, np.ascontiguousarray(values))
    arena.capacity[:] = capacities
    return arena
