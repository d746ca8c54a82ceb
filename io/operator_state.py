"""Operator state (spec 9): list states by the offsets of their elements, broadcast states as entries.

A subtask's operator state is read whole: Flink itself keeps it in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..schemas import types as t
from ..schemas.codec import ops
from ..schemas.codec.codec import Codec, DecodeError
from ..schemas.codec.columns import binary_parts
from ..schemas.codec.program import NullShape
from ..schemas.codec.run import run_decode
from ..schemas.codec.shapes import Builder, compile_type
from ..schemas.codec.undecoded import KRYO_TODO, TODO, Undecoded, class_at, text
from ..schemas.errors import FormatError, UnexpectedEndError, UnsupportedVersionError, Where
from ..schemas.from_snapshot import TypeRules
from ..schemas.snapshots import SerializerSnapshot
from ..schemas.subclasses import may_be_undecoded
from ..schemas.wire import Reader, Writer
from .keyed.entries import Spans
from .keyed.meta_info import StateMetaInfo
from .keyed.snappy_frames import decompress
from .memory import Held
from .metadata import OperatorStateHandle
from .operator_state_header import OperatorBackendHeader, read_operator_header_lenient, write_operator_header
from .streams import StateStream, StreamOpener

OperatorKind = Literal["split", "union", "broadcast"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorStateType:
    """One state of an operator backend: ``value`` is the element (list) or the value (broadcast)."""

    name: str
    kind: OperatorKind
    value: t.DataType
    map_key: t.DataType | None = None

    def may_be_undecoded(self, *, wide_times: bool) -> bool:
        """Whether there may be values that no column holds."""
        return t.opaque_in(self.value) is None and may_be_undecoded(self.value, wide_times=wide_times)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRows:
    """The rows of a state in one subtask: ``map_key`` (broadcast), ``value`` and, where there may be values that no
    column holds, ``undecoded``, their bytes. The others are what is not decoded of the values and of the keys."""

    columns: dict[str, pa.Array]
    undecoded: tuple[Undecoded, Undecoded]

    def __len__(self) -> int:
        return len(self.columns["value"])


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorBackend:
    """An opened operator handle. ``offsets`` are the positions of each state's elements, by its name; ``wide_times`` as
    in ``compile_type``."""

    header: OperatorBackendHeader
    states: Sequence[OperatorStateType]
    stream: StateStream
    offsets: dict[str, tuple[int, ...]]
    wide_times: bool = False

    @property
    def nbytes(self) -> int:
        return self.stream.size

    def columns(self, state: OperatorStateType) -> dict[str, pa.DataType]:
        """The Arrow types of a row's ``map_key`` (broadcast), ``value`` and ``undecoded``; nothing is read."""
        parts = {"map_key": state.map_key, "value": state.value}
        kinds = {name: self._codec(part).arrow_type for name, part in parts.items() if part is not None}
        return {**kinds, "undecoded": pa.binary()} if self._may_be_undecoded(state) else kinds

    def _may_be_undecoded(self, state: OperatorStateType) -> bool:
        return state.may_be_undecoded(wide_times=self.wide_times)

    def read(self, state: OperatorStateType) -> OperatorRows:
        """The elements of a list state in order, or the entries of a broadcast state.

        FormatError names the state and the place.
        """
        if state.kind == "broadcast":
            return self._entries(state)
        spans = self.raw_elements(state.name)
        return self._rows(state, {}, self._decoded(state, state.value, spans), spans)

    def _decoded(
        self, state: OperatorStateType, node: t.DataType, spans: Spans, *, exact: bool = False
    ) -> tuple[pa.Array, Undecoded]:
        try:
            values, _, undecoded = self._codec(node).decode_most(
                spans.data, spans.starts, spans.ends, exact=exact
            )
        except DecodeError as error:
            raise self._at(error, state, int(spans.starts[error.row]) + error.position) from None
        return values, undecoded

    def _rows(
        self,
        state: OperatorStateType,
        keys: dict[str, tuple[pa.Array, Undecoded]],
        values: tuple[pa.Array, Undecoded],
        spans: Spans,
    ) -> OperatorRows:
        columns = {name: column for name, (column, _) in keys.items()} | {"value": values[0]}
        if self._may_be_undecoded(state):
            columns["undecoded"] = spans.where(values[1].mask)
        none = Undecoded.none(len(spans))
        return OperatorRows(columns=columns, undecoded=(values[1], keys["map_key"][1] if keys else none))

    def _entries(self, state: OperatorStateType) -> OperatorRows:
        key = _key(state)
        opaque = t.opaque_in(key) or t.opaque_in(state.value)
        spans = self.raw_elements(state.name)
        if opaque is not None and len(spans):
            raise UnsupportedVersionError(
                f"a broadcast state of {opaque.class_name} cannot be cut into entries: {opaque.reason}",
                where=self._where(state),
                todo=KRYO_TODO,
            )
        keys, values = self._broadcast_parts(state, spans)
        named = {"map_key": self._decoded(state, key, keys, exact=True)}
        return self._rows(state, named, self._decoded(state, state.value, values, exact=True), values)

    def _codec(self, node: t.DataType) -> Codec:
        return Codec(compile_type(node, wide_times=self.wide_times))

    def raw_elements(self, name: str) -> Spans:
        """The bytes of each element of a list state, or of a whole broadcast state, as they are stored."""
        data, starts, ends = self._spans(name)
        return Spans(data=data, starts=starts, ends=ends)

    def raw_rows(self, state: OperatorStateType) -> Spans:
        """The bytes of each row: an element without what follows it, or key and value of a broadcast entry."""
        spans = self.raw_elements(state.name)
        if state.kind == "broadcast":
            return self._broadcast_rows(state, spans)
        if t.opaque_in(state.value):
            return spans
        codec = Codec(compile_type(state.value, wide_times=True))
        _, stops, _ = codec.decode_most(spans.data, spans.starts, spans.ends, exact=False)
        return Spans(data=spans.data, starts=spans.starts, ends=stops)

    def raw_keys(self, state: OperatorStateType) -> Spans | None:
        """The bytes of the keys of a broadcast state; None for the others."""
        if state.kind != "broadcast":
            return None
        return self._broadcast_parts(state, self.raw_elements(state.name))[0]

    def _broadcast_rows(self, state: OperatorStateType, spans: Spans) -> Spans:
        keys, values = self._broadcast_parts(state, spans)
        return Spans(data=spans.data, starts=keys.starts, ends=values.ends)

    def _broadcast_parts(self, state: OperatorStateType, spans: Spans) -> tuple[Spans, Spans]:
        """Keys and values: ``i4 size, size × (key, value)``, of which nothing says where one ends."""
        none = np.zeros(0, np.int64)
        empty = Spans(data=spans.data, starts=none, ends=none)
        if not len(spans):
            return empty, empty
        if len(spans) != 1:
            raise FormatError("a broadcast state has one offset", where=self._where(state))
        start, end = int(spans.starts[0]), int(spans.ends[0])
        count = Reader(spans.data[:end].tobytes(), start, self.stream.name).count("broadcast entries")
        builder = Builder(wide_times=True)
        builder.node(_key(state))
        seam = builder.slot(8)
        builder.emit(ops.MARK, seam)
        builder.node(state.value)
        program = builder.finish(NullShape(arrow_type=pa.null()))
        first = np.array([start + 4], np.int64)
        lie = ops.CHAINED | ops.STEP
        run = run_decode(program, spans.data, first, spans.ends, lie, count, end - start)
        if run.reason != ops.OK:
            why = text((run.reason, class_at(spans.data, run.position, run.reason, program.kryo_numbers)))
            what = f"entry {run.row} of {count} does not decode, nor what follows it: {why}"
            raised = UnsupportedVersionError if run.reason in ops.UNHELD else FormatError
            raise raised(what, where=self._where(state, run.position), todo=TODO.get(run.reason))
        seams = run.arena.array(seam, count).view(np.int64)
        starts = np.concatenate([first, run.stops])[:count]
        keys = Spans(data=spans.data, starts=starts, ends=seams)
        return keys, Spans(data=spans.data, starts=seams, ends=run.stops)

    def encode(
        self,
        state: OperatorStateType,
        keys: Spans | None,
        values: pa.Array,
        undecoded: pa.Array | None = None,
    ) -> pa.Array:
        """The bytes (large_binary) of elements, or of broadcast entries behind their ``keys``; those in ``undecoded``
        where the value is null.

        Raises EncodeError naming the row.
        """
        codec = self._codec(state.value)
        there = np.asarray(values.is_valid())
        written = codec.encode(values) if undecoded is None else codec.encode_most(values, undecoded, there)
        if keys is None:
            return written
        return pc.binary_join_element_wise(keys.to_arrow(), written, pa.scalar(b"", pa.large_binary()))

    def _spans(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The stream's bytes and where each element of a state begins, and at most ends."""
        offsets = self.offsets.get(name, ())
        size = self.stream.size
        every = sorted({offset for parts in self.offsets.values() for offset in parts})
        if every and (every[0] < 0 or every[-1] > size):
            raise UnexpectedEndError(
                f"an element begins outside of the {size} bytes",
                where=Where(file=self.stream.name, state=name),
            )
        raw = self.stream.read(0, size)
        follow = dict(zip(every, [*every[1:], size], strict=False))
        bounds = [(offset, follow[offset]) for offset in offsets]
        if self.header.compressed:
            parts = [b"".join(decompress(iter((raw[a:b],)), self.stream.name, a)) for a, b in bounds]
            ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
            starts = ends - np.array([len(part) for part in parts], np.int64)
            return np.frombuffer(b"".join(parts), np.uint8), starts, ends
        spans = np.array(bounds, np.int64).reshape(-1, 2)
        return (
            np.frombuffer(raw, np.uint8),
            np.ascontiguousarray(spans[:, 0]),
            np.ascontiguousarray(spans[:, 1]),
        )

    def _where(self, state: OperatorStateType, offset: int | None = None) -> Where:
        return Where(file=self.stream.name, state=state.name, offset=offset)

    def _at(self, error: DecodeError, state: OperatorStateType, offset: int) -> FormatError:
        raised = UnsupportedVersionError if error.reason == ops.SUBCLASS else FormatError
        return raised(error.what, where=self._where(state, offset), todo=error.todo)


def _key(state: OperatorStateType) -> t.DataType:
    return state.map_key or t.OpaqueType(class_name=state.name, reason="no key serializer")


def open_operator(handle: OperatorStateHandle, opener: StreamOpener) -> OperatorBackend | None:
    """Open a managed operator handle by reading its header; None where a subtask has an empty one."""
    stream = opener.open(handle.stream, "operator state")
    offsets = {part.state_name: part.offsets for part in handle.state_name_to_partition_offsets}
    size = stream.size
    if not size:
        return None
    Held(opener.memory, "the operator state of a subtask").add(size)
    every = [offset for parts in offsets.values() for offset in parts]
    first = min(every, default=size)
    header = read_operator_header_lenient(Reader(stream.read(0, size), file=stream.name), first)
    states = [
        *(_list_state(meta, opener.types) for meta in header.operator_states),
        *(_broadcast_state(meta, opener.types) for meta in header.broadcast_states),
    ]
    return OperatorBackend(
        header=header, states=states, stream=stream, offsets=offsets, wide_times=opener.wide_times
    )


def _list_state(meta: StateMetaInfo, types: TypeRules) -> OperatorStateType:
    kind: OperatorKind = "union" if meta.distribution_mode == "UNION" else "split"
    return OperatorStateType(name=meta.name, kind=kind, value=_type(meta.value_serializer, types))


def _broadcast_state(meta: StateMetaInfo, types: TypeRules) -> OperatorStateType:
    return OperatorStateType(
        name=meta.name,
        kind="broadcast",
        value=_type(meta.value_serializer, types),
        map_key=_type(meta.key_serializer, types),
    )


def _type(snapshot: SerializerSnapshot | None, types: TypeRules) -> t.DataType:
    if snapshot is None:
        return t.OpaqueType(class_name="?", reason="no serializer")
    return types.type_of(snapshot)


@dataclass(slots=True)
class OperatorStateWriter:
    """Writes a subtask's operator state, uncompressed: the header first, then the states as they are added."""

    header: OperatorBackendHeader
    offsets: dict[str, tuple[int, ...]] = field(default_factory=dict)
    _out: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        writer = Writer()
        write_operator_header(writer, replace(self.header, compressed=False))
        self._out += writer.out

    def keep(self, name: str, elements: Spans) -> None:
        """Add a state's elements as they are stored."""
        self.offsets[name] = self._append(elements)

    def add(self, state: OperatorStateType, rows: Spans) -> None:
        """Add a state's rows: the elements of a list, or the entries of a broadcast state behind their number."""
        if state.kind != "broadcast":
            self.keep(state.name, rows)
            return
        self.offsets[state.name] = (len(self._out),)
        self._out += len(rows).to_bytes(4, "big")
        self._append(rows)

    def _append(self, rows: Spans) -> tuple[int, ...]:
        column = rows.to_arrow()
        data, offsets = binary_parts(column)
        base = len(self._out)
        self._out += data[: int(offsets[-1])].tobytes()
        return tuple((offsets[:-1] + base).tolist())

    def getvalue(self) -> bytes:
        return bytes(self._out)
