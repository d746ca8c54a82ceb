"""Operator state (spec 9): list states by the offsets of their elements, broadcast states as entries.

A subtask's operator state is read whole: Flink itself keeps it in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pyarrow as pa

from ..schemas import types as t
from ..schemas.codec import ops
from ..schemas.codec.codec import Codec, DecodeError
from ..schemas.codec.columns import binary_column, binary_parts
from ..schemas.codec.run import run_decode
from ..schemas.codec.shapes import compile_type
from ..schemas.errors import FormatError, UnexpectedEndError, UnsupportedVersionError, Where
from ..schemas.from_snapshot import TypeRules
from ..schemas.snapshots import SerializerSnapshot
from ..schemas.subclasses import may_be_unknown
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

    @property
    def may_be_undecoded(self) -> bool:
        """Whether elements may hold what their type does not know. Entries of a broadcast state may not: nothing
        would tell their end."""
        return self.kind != "broadcast" and t.opaque_in(self.value) is None and may_be_unknown(self.value)


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
        return {**kinds, "undecoded": pa.binary()} if state.may_be_undecoded else kinds

    def elements(self, state: OperatorStateType) -> dict[str, pa.Array]:
        """The elements of a list state, in order: ``value`` and, where an element may hold an object of a class that
        is not known, ``undecoded``, its bytes. FormatError names the state and the element."""
        data, starts, ends = self._spans(state.name)
        codec = self._codec(state.value)
        try:
            if state.may_be_undecoded:
                values, _, undecoded = codec.decode_most(data, starts, ends, exact=False)
                spans = Spans(data=data, starts=starts, ends=ends)
                return {"value": values, "undecoded": spans.where(undecoded)}
            return {"value": codec.decode(data, starts, ends, exact=False)[0]}
        except DecodeError as error:
            raise self._at(error, state, int(starts[error.row]) + error.position) from None

    def entries(self, state: OperatorStateType) -> tuple[pa.Array, pa.Array]:
        """Keys and values of a broadcast state."""
        data, starts, ends = self._spans(state.name)
        if state.map_key is None or not len(starts):
            key = self.columns(state).get("map_key", pa.null())
            return pa.array([], key), pa.array([], self.columns(state)["value"])
        if len(starts) != 1:
            raise FormatError("a broadcast state has one offset", where=self._where(state))
        body = bytes(data[starts[0] : ends[0]])
        try:
            return self._pairs(body, state.map_key, state.value)
        except DecodeError as error:
            raise self._at(error, state, int(starts[0]) + error.position) from None

    def _pairs(self, body: bytes, key: t.DataType, value: t.DataType) -> tuple[pa.Array, pa.Array]:
        """``i4 size, size × (key, value)``: a list of pairs, read as one value."""
        opaque = t.opaque_in(key) or t.opaque_in(value)
        if opaque:
            raise FormatError(
                f"a broadcast state of {opaque.class_name} cannot be cut into entries: {opaque.reason}"
            )
        fields = (t.Field(name="key", type=key), t.Field(name="value", type=value))
        pairs = t.ListType(element=t.TupleType(class_name="", fields=fields))
        data = np.frombuffer(body, np.uint8)
        column = binary_column(data, np.array([0, len(data)], np.int64))
        flat = self._codec(pairs).decode_column(column).flatten()
        return flat.field(0), flat.field(1)

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

    def _broadcast_rows(self, state: OperatorStateType, spans: Spans) -> Spans:
        start, end = int(spans.starts[0]), int(spans.ends[0])
        count = Reader(spans.data[:end].tobytes(), start, self.stream.name).count("broadcast entries")
        first = np.array([start + 4], np.int64)
        run = run_decode(
            compile_type(_pairs(state), wide_times=True),
            spans.data, first, spans.ends, ops.CHAINED, count, end - start,
        )  # fmt: skip
        if run.reason != ops.OK:
            raise FormatError(ops.REASONS[run.reason], where=self._where(state, run.position))
        return Spans(data=spans.data, starts=np.concatenate([first, run.stops])[:count], ends=run.stops)

    def encode(
        self,
        state: OperatorStateType,
        keys: pa.Array | None,
        values: pa.Array,
        undecoded: pa.Array | None = None,
    ) -> pa.Array:
        """The bytes (large_binary) of elements, or of broadcast entries; ``undecoded`` where the value is null.

        Raises EncodeError naming the row.
        """
        if undecoded is not None:
            return self._codec(state.value).encode_most(values, undecoded, np.asarray(values.is_valid()))
        if keys is None:
            return self._codec(state.value).encode(values)
        pairs = pa.StructArray.from_arrays([keys, values], ["key", "value"])
        return self._codec(_pairs(state)).encode(pairs, "entry")

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


def _pairs(state: OperatorStateType) -> t.TupleType:
    """A broadcast entry as one value: the key, then the value."""
    key = state.map_key or t.OpaqueType(class_name=state.name, reason="no key serializer")
    return t.TupleType(
        class_name="", fields=(t.Field(name="key", type=key), t.Field(name="value", type=state.value))
    )


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
