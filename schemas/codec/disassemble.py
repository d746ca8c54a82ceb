"""Arrow arrays to filled slots, checked and cast to what the program writes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import EncodeError, NameNotFoundError
from .arena import Arena
from .kryo_codec import plain_to_kryo
from .program import (
    EnumShape,
    FixedShape,
    FlagShape,
    KryoShape,
    ListShape,
    MapShape,
    NullShape,
    Program,
    Shape,
    StructShape,
    UnionShape,
    VarShape,
)
from .run import run_encode

_Flags = npt.NDArray[np.bool_]


def disassemble(program: Program, array: pa.Array, path: str) -> Arena:
    """An arena that holds ``array`` as the slots of ``program``. Raises EncodeError where it does not fit."""
    planner = _Planner(values={})
    planner.visit(program.shape, array, None, path)
    sizes = [0] * len(program.slots)
    for slot, values in planner.values.items():
        sizes[slot] = values.nbytes // program.slots[slot].width
    arena = Arena.of(program.slots, [size + 1 for size in sizes])
    for slot, values in planner.values.items():
        arena.fill(slot, values)
    return arena


@dataclass(slots=True)
class _Planner:
    """Collects what each slot is to hold, so that the arena can be made in the right size."""

    values: dict[int, npt.NDArray[np.generic]]

    def visit(self, shape: Shape, array: pa.Array, present: _Flags | None, path: str) -> None:
        """Take in ``array`` for ``shape``; rows where ``present`` is False lie below a null and are placeholders."""
        if isinstance(shape, NullShape):
            if shape.valid >= 0:
                self.values[shape.valid] = np.full(len(array), shape.present, np.uint8)
            return
        if isinstance(shape, FlagShape):
            flags = np.ones(len(array), np.bool_) if shape.always else _flags(array)
            self.values[shape.valid] = flags.view(np.uint8)
            self.visit(shape.inner, array, present, path)
            return
        valid = _flags(array)
        if shape.valid >= 0:
            self.values[shape.valid] = valid.view(np.uint8)
        else:
            _refuse(
                ~valid if present is None else ~valid & present,
                path,
                "is null and its serializer holds no null",
            )
        below = valid if present is None else valid & present
        match shape:
            case FixedShape():
                self._fixed(shape, _cast(array, shape.arrow_type, path))
            case EnumShape():
                self._enum(shape, array, below, path)
            case KryoShape():
                self._kryo(shape, array, path)
            case VarShape():
                self._variable(shape, _cast(array, shape.arrow_type, path))
            case UnionShape():
                self._union(shape, array, below, path)
            case StructShape():
                _check_struct(shape.names, array, path)
                for name, child in zip(shape.names, shape.children, strict=True):
                    self.visit(child, _field(array, name), below, f"{path}.{name}")
            case ListShape():
                child_array = self._elements(shape.offsets, array, below, path)
                self.visit(shape.child, child_array, None, f"{path}[]")
            case MapShape():
                if not pa.types.is_map(array.type):
                    raise EncodeError(f"{path} is {array.type} and has to be a map")
                entries = self._elements(shape.offsets, _as_list(array), below, path)
                self.visit(shape.key, entries.field(0), None, f"{path}.key")
                self.visit(shape.value, entries.field(1), None, f"{path}.value")

    def _fixed(self, shape: FixedShape, array: pa.Array) -> None:
        if pa.types.is_boolean(array.type):
            array = array.cast(pa.uint8())
        width = array.type.bit_width // 8
        buffer = array.buffers()[1]
        whole = np.frombuffer(buffer, np.uint8) if buffer is not None else np.empty(0, np.uint8)
        self.values[shape.slot] = whole[array.offset * width : (array.offset + len(array)) * width]

    def _enum(self, shape: EnumShape, array: pa.Array, present: _Flags, path: str) -> None:
        text = _cast(array, pa.string(), path)
        indices = pc.index_in(text, pa.array(shape.constants, pa.string()))
        unknown = present & ~_flags(indices)
        if unknown.any():
            row = int(np.flatnonzero(unknown)[0])
            raise NameNotFoundError(f"constant of the enum {path}", str(text[row]), shape.constants)
        self.values[shape.slot] = indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint32)

    def _variable(self, shape: VarShape, array: pa.Array) -> None:
        _, offsets, data = array.buffers()
        if offsets is None or not len(array):
            bounds = np.zeros(len(array) + 1, np.int32)
        else:
            bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
        body = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        self.values[shape.data] = body[bounds[0] : bounds[-1]]
        self.values[shape.offsets] = (bounds - bounds[0]).astype(np.uint32)

    def _kryo(self, shape: KryoShape, array: pa.Array, path: str) -> None:
        there = array.drop_null()
        plain = run_encode(shape.plain, disassemble(shape.plain, there, path), len(there), path)
        raw = plain_to_kryo(shape.rows, plain, path).cast(pa.binary())
        if len(there) < len(array):
            places = np.cumsum(_flags(array)) - 1
            raw = raw.take(pa.array(places, mask=~_flags(array)))
        self._variable(shape, raw)

    def _union(self, shape: UnionShape, array: pa.Array, present: _Flags, path: str) -> None:
        _check_struct((*(["__tag"] if shape.tagged else []), *shape.names), array, path)
        children = [_field(array, name) for name in shape.names]
        if shape.tagged:
            column = _cast(_field(array, "__tag"), pa.int8(), path)
            tags = column.fill_null(-1).to_numpy(zero_copy_only=False)
            _refuse(present & ((tags < 0) | (tags >= shape.alternatives)), path, "has no such __tag")
        else:
            tags = np.full(len(array), shape.null_alternative, np.int8)
            several = np.zeros(len(array), np.bool_)
            for number, child in zip(shape.of_child, children, strict=True):
                there = _flags(child)
                several |= there & (tags != shape.null_alternative)
                tags = np.where(there, np.int8(number), tags)
            _refuse(present & several, path, f"has more than one of {', '.join(shape.names)}")
            _refuse(present & (tags < 0), path, f"has none of {', '.join(shape.names)}")
        self.values[shape.tag] = tags.view(np.uint8)
        for number, name, part, child in zip(
            shape.of_child, shape.names, shape.children, children, strict=True
        ):
            self.visit(part, child, present & (tags == number), f"{path}.{name}")

    def _elements(self, slot: int, array: pa.Array, present: _Flags, path: str) -> pa.Array:
        """Take in the lengths of lists and return their elements, those below a null left out."""
        kind = array.type
        if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
            raise EncodeError(f"{path} is {kind} and has to be a list")
        lengths = pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
        hidden = ~present & (lengths > 0)
        if hidden.any():
            lengths = np.where(present, lengths, 0)
            array = array.filter(pa.array(present))
        self.values[slot] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)
        return array.flatten()


def _check_struct(wanted: tuple[str, ...], array: pa.Array, path: str) -> None:
    if not pa.types.is_struct(array.type):
        raise EncodeError(f"{path} is {array.type} and has to be a struct of {', '.join(wanted)}")
    names = [array.type.field(i).name for i in range(array.type.num_fields)]
    extra = [name for name in names if name not in wanted]
    if extra:
        raise NameNotFoundError(f"field of {path}", extra[0], wanted)
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise EncodeError(f"{path} lacks the field {lacking[0]!r}")


def _field(array: pa.StructArray, name: str) -> pa.Array:
    return array.field(array.type.get_field_index(name))


def _refuse(rows: _Flags, path: str, what: str) -> None:
    if rows.any():
        raise EncodeError(f"{path} {what}, at row {int(np.flatnonzero(rows)[0])}")


def _as_list(array: pa.MapArray) -> pa.Array:
    """A map as a list of structs of key and value."""
    kind = array.type
    entry = pa.struct([pa.field("key", kind.key_type), pa.field("value", kind.item_type)])
    return array.cast(pa.list_(entry))


def _flags(array: pa.Array) -> _Flags:
    if array.null_count == 0:
        return np.ones(len(array), np.bool_)
    flags: _Flags = array.is_valid().to_numpy(zero_copy_only=False)
    return flags


def _cast(array: pa.Array, kind: pa.DataType, path: str) -> pa.Array:
    """``array`` as ``kind``; a value that does not fit is an error, never cut."""
    if array.type == kind:
        return array
    try:
        return array.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise EncodeError(f"{path} is {array.type} and cannot be written as {kind}: {error}") from None
