"""State tables: the entries of a keyed state as typed Arrow columns, and typed columns as entries.

Columns (all but the value's only where they mean something): ``key``, ``namespace``, ``map_key``, ``value`` (of
timers ``timestamp`` and ``domain``), ``ttl_timestamp``, ``undecoded`` (the bytes of a value that no column holds, the
value being null), ``key_group``. A key (namespace, map key, timer) that no column holds is null.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from ..io.keyed.backend import KeyedStateType
from ..io.keyed.canonical import prefix_bytes
from ..io.keyed.composite import CompositeKeyCodec, KeyColumns
from ..io.keyed.entries import EntryBatch, Spans
from ..schemas import types as t
from ..schemas.codec import ops
from ..schemas.codec.codec import Codec, DecodeError
from ..schemas.codec.program import has_two_nulls
from ..schemas.codec.shapes import compile_delimited, compile_map_value, compile_timer, compile_type
from ..schemas.codec.undecoded import Undecoded
from ..schemas.errors import EncodeError, FormatError, InputError, UnsupportedVersionError, Where
from ..schemas.hashing import SIZE_BYTES, binary_row_hash, java_hash, key_groups, stability
from ..schemas.key_forms import has_two_forms
from ..schemas.subclasses import has_many_forms, may_be_undecoded
from .not_decoded import UNDECODED

_TTL = "ttl_timestamp"
_TIMESTAMP_BYTES = 8
"""Of a timer: its timestamp, in front of its key."""


def timer_domain(state_name: str) -> str:
    """``event`` or ``processing``, from the name of a timer state (spec 8.1)."""
    return "processing" if state_name.startswith("_timer_state/processing_") else "event"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBatch:
    """Rows of a table, and which of their keys and values are not decoded."""

    rows: pa.RecordBatch
    keys: Undecoded
    values: Undecoded


@dataclass(frozen=True)
class KeyedTable:
    """The table of one keyed state. ``decode`` and ``encode`` are each other's inverse, batch by batch.

    ``wide_times`` gives times as structs of their parts, where 64 bits of nanoseconds do not hold them all.
    """

    type: KeyedStateType
    max_parallelism: int
    wide_times: bool = False

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns, without reading anything."""
        empty = np.zeros(0, np.int64)
        spans = Spans(data=np.empty(0, np.uint8), starts=empty, ends=empty)
        return self.decode(EntryBatch(key_groups=np.zeros(0, np.int32), keys=spans, values=spans)).schema

    @cached_property
    def composite(self) -> CompositeKeyCodec:
        return self.type.composite(self.max_parallelism, wide_times=self.wide_times)

    @cached_property
    def has_namespace(self) -> bool:
        space = self.type.namespace
        return not (isinstance(space, t.Scalar) and space.name in ("void", "global_window"))

    @property
    def is_list(self) -> bool:
        """Whether a value is a list. The bytes of a list of one element are those of the element."""
        return self.type.kind == "list" and not self.type.single

    @cached_property
    def has_ttl(self) -> bool:
        return isinstance(self.type.value, t.TtlType)

    @cached_property
    def splits_ttl(self) -> bool:
        """Whether the last access is a column of its own: an opaque value behind it does not hide it, but that of
        a list's elements does, since nothing tells where one ends."""
        value = self.type.value
        if value is None or not self.has_ttl:
            return False
        return self.opaque is None or (not self.is_list and t.opaque_at_end(value))

    @cached_property
    def opaque(self) -> t.OpaqueType | None:
        """What of the value is not decoded, if anything: the value column is binary then."""
        return t.opaque_in(self.type.value) if self.type.value is not None else None

    @cached_property
    def may_be_undecoded(self) -> bool:
        """Whether there is a column of the bytes of values that no column holds."""
        value = self.type.value
        if value is None or self.opaque is not None:
            return False
        return may_be_undecoded(value, wide_times=self.wide_times) or has_two_nulls(
            self.value_codec.program.shape
        )

    @cached_property
    def has_many_forms(self) -> bool:
        """Whether equal values may be stored as different bytes."""
        return self.type.value is not None and has_many_forms(self.type.value)

    @cached_property
    def value_codec(self) -> Codec:
        value = self.type.value
        if value is None:
            return Codec(compile_timer(self.type.key, self.type.namespace, wide_times=self.wide_times))
        if self.is_list:
            return Codec(compile_delimited(value, wide_times=self.wide_times))
        if self.type.kind == "map":
            return Codec(compile_map_value(value, wide_times=self.wide_times))
        return Codec(compile_type(value, alone=True, wide_times=self.wide_times))

    # -- reading -------------------------------------------------------------------------------------------

    def decode(self, batch: EntryBatch) -> pa.RecordBatch:
        """The rows of ``batch``. Raises FormatError naming state and key group where an entry does not decode."""
        return self.read(batch).rows

    def read(self, batch: EntryBatch) -> TableBatch:
        """As :meth:`decode`, and which keys and values are not decoded."""
        try:
            if self.type.kind == "timer":
                columns, keys = self._timers(batch)
                values = Undecoded.none(len(batch))
            else:
                columns, keys, values = self._values(batch)
        except FormatError as error:
            raise error.at(Where(state=self.type.name)) from None
        columns["key_group"] = pa.array(batch.key_groups)
        return TableBatch(rows=pa.RecordBatch.from_pydict(columns), keys=keys, values=values)

    def keys(self, batch: EntryBatch) -> pa.Array:
        """The key of each entry; the values are not looked at. Raises FormatError as ``decode``."""
        return self.known_keys(batch)[0]

    def known_keys(self, batch: EntryBatch) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
        """As :meth:`keys`, and which of them are decoded: those that are not null, and ``scala.None``."""
        try:
            if self.type.kind == "timer":
                columns, undecoded = self._timers(batch)
                keys = columns["key"]
            else:
                parts = self._keys(batch)
                keys, undecoded = parts.key, parts.undecoded
        except FormatError as error:
            raise error.at(Where(state=self.type.name)) from None
        known = np.asarray(keys.is_valid())
        return keys, known | ~undecoded.mask if t.is_option(self.type.key) else known

    def _keys(self, batch: EntryBatch) -> KeyColumns:
        parts = {"key": self.type.key, "namespace": self.type.namespace if self.has_namespace else None,
                 "map_key": self.type.map_key}  # fmt: skip
        kinds = ", ".join(f"{name} {kind}" for name, kind in parts.items() if kind is not None)
        with self._located(batch, f"an entry's key does not decode as {kinds}"):
            return self.composite.decode(batch.keys)

    @contextmanager
    def _located(self, batch: EntryBatch, what: str) -> Iterator[None]:
        """Say of a DecodeError inside ``what`` does not decode, and in which state and key group."""
        try:
            yield
        except DecodeError as error:
            where = Where(state=self.type.name, key_group=int(batch.key_groups[error.row]))
            raised = UnsupportedVersionError if error.reason == ops.SUBCLASS else FormatError
            raise raised(f"{what}: {error.what}", where=where, todo=error.todo) from None

    def _timers(self, batch: EntryBatch) -> tuple[dict[str, pa.Array], Undecoded]:
        keys = batch.keys
        starts = keys.starts + prefix_bytes(self.max_parallelism)
        with self._located(batch, f"a timer does not decode as one of the key {self.type.key}"):
            timers, _, undecoded = self.value_codec.decode_most(keys.data, starts, keys.ends)
        key, namespace, timestamp = (_part(timers, name) for name in ("key", "namespace", "timestamp"))
        columns = {"key": key}
        if self.has_namespace:
            columns["namespace"] = namespace
        columns["timestamp"] = timestamp
        domain = pa.array([timer_domain(self.type.name)], pa.string())
        columns["domain"] = domain.take(pa.array(np.zeros(len(timers), np.int64)))
        return columns, undecoded

    def _values(self, batch: EntryBatch) -> tuple[dict[str, pa.Array], Undecoded, Undecoded]:
        keys = self._keys(batch)
        columns = self.key_columns(keys)
        with self._located(batch, f"an entry does not decode as {self.type.value}"):
            values, undecoded = self._decode_values(batch.values)
        if self.splits_ttl:
            columns["value"], columns[_TTL] = _split_ttl(values)
        else:
            columns["value"] = values
        if self.may_be_undecoded:
            columns[UNDECODED] = batch.values.where(undecoded.mask)
        return columns, keys.undecoded, undecoded

    def _decode_values(self, spans: Spans) -> tuple[pa.Array, Undecoded]:
        """The values, and which of them are not decoded (and null)."""
        exact = self.type.kind != "map"
        data, starts, ends = spans.data, spans.starts, spans.ends
        if self.may_be_undecoded:
            values, stops, undecoded = self.value_codec.decode_most(data, starts, ends, exact=exact)
        else:
            values, stops = self.value_codec.decode(data, starts, ends, exact=exact)
            undecoded = Undecoded.none(len(spans))
        if not exact:
            # Behind the flag of a null map value the heap backend leaves what its serializer makes of a null.
            longer = np.flatnonzero((stops != spans.ends) & np.asarray(values.is_valid()))
            if len(longer):
                row = int(longer[0])
                raise DecodeError(ops.TRAILING, row, int(stops[row] - spans.starts[row]))
        return values, undecoded

    def key_columns(self, keys: KeyColumns) -> dict[str, pa.Array]:
        columns = {"key": keys.key}
        if self.has_namespace:
            columns["namespace"] = keys.namespace
        if keys.map_key is not None:
            columns["map_key"] = keys.map_key
        return columns

    # -- writing -------------------------------------------------------------------------------------------

    def encode(self, table: pa.RecordBatch, groups: npt.NDArray[np.int32] | None = None) -> EntryBatch:
        """The entries of typed rows, sorted by key group, which is computed from the key unless given.

        Raises EncodeError naming the column and the row.
        """
        return self.encode_sorted(table, groups)[1]

    def encode_sorted(
        self, table: pa.RecordBatch, groups: npt.NDArray[np.int32] | None = None
    ) -> tuple[pa.RecordBatch, EntryBatch]:
        """As :meth:`encode`, with the rows in the order of the entries."""
        try:
            key = self._column(table, "key")
            if key.null_count and not t.is_option(self.type.key):
                row = key.is_null().index(True).as_py()
                raise EncodeError(
                    f"the key of row {row} is null (or is not decoded), and Flink has no null keys"
                )
            if groups is None:
                groups = self.key_groups(key)
            order = np.argsort(groups, kind="stable")
            table = table.take(pa.array(order))
            return table, self.encode_in(table, groups[order])
        except InputError as error:
            raise error.at(Where(state=self.type.name)) from None

    def key_groups(self, keys: pa.Array) -> npt.NDArray[np.int32]:
        """Flink's key group of each key. Raises EncodeError for key types whose hash only the job knows."""
        codec = Codec(compile_type(self.type.key, wide_times=self.wide_times))
        if keys.type != codec.program.shape.arrow_type:
            # SQL gives other types, as microseconds for a Date's milliseconds: what is written is hashed.
            keys = codec.decode_column(codec.encode(keys, "key"))
        hashes = java_hash(keys, self.type.key) if stability(self.type.key) is None else None
        if hashes is None:
            reason = stability(self.type.key)
            raise EncodeError(f"the key group of a {self.type.key} cannot be computed: {reason}")
        return key_groups(hashes, self.max_parallelism)

    def stored_key_groups(self, batch: EntryBatch, keys: pa.Array) -> npt.NDArray[np.int32]:
        """As :meth:`key_groups`, of entries and their ``keys``: SQL rows by their very bytes, which may be of a form
        that is not the one they would be written in."""
        if not isinstance(self.type.key, t.RowDataType):
            return self.key_groups(keys)
        data, starts = batch.keys.data, batch.keys.starts + prefix_bytes(self.max_parallelism)
        if self.type.kind == "timer":
            starts = starts + _TIMESTAMP_BYTES
        sizes = np.zeros(len(batch), np.int64)
        for byte in range(SIZE_BYTES):
            sizes = sizes << 8 | data[starts + byte]
        ends = np.minimum(starts + SIZE_BYTES + sizes, batch.keys.ends)
        return key_groups(binary_row_hash(data, starts + SIZE_BYTES, ends), self.max_parallelism)

    def key_parts(self) -> Iterator[tuple[str, t.DataType]]:
        """The columns that make the entry's key, and their types."""
        yield "key", self.type.key
        if self.has_namespace and self.type.namespace is not None:
            yield "namespace", self.type.namespace
        if self.type.kind == "map" and self.type.map_key is not None:
            yield "map_key", self.type.map_key

    def has_two_forms(self, rows: pa.RecordBatch) -> npt.NDArray[np.bool_]:
        """Which rows have a part in their key that may stand there in two forms."""
        found = np.zeros(len(rows), np.bool_)
        for name, node in self.key_parts():
            found |= has_two_forms(self._column(rows, name), node)
        return found

    def at_times(self, timers: EntryBatch, rows: pa.RecordBatch) -> EntryBatch:
        """The timers at the ``timestamp`` of ``rows``; their keys and namespaces keep their very bytes."""
        codec = Codec(compile_type(t.scalar("flipped_long")))
        times = Spans.of(codec.encode(self._column(rows, "timestamp"), "timestamp"))
        keys = Spans.of(timers.keys.to_arrow(clear_flag=True))
        data = keys.data.copy()
        at = (keys.starts + prefix_bytes(self.max_parallelism))[:, None] + np.arange(_TIMESTAMP_BYTES)
        data[at] = times.data[times.starts[:, None] + np.arange(_TIMESTAMP_BYTES)]
        keys = Spans(data=data, starts=keys.starts, ends=keys.ends)
        return EntryBatch(key_groups=timers.key_groups, keys=keys, values=timers.values)

    def encode_in(self, table: pa.RecordBatch, groups: npt.NDArray[np.int32]) -> EntryBatch:
        """The entries of rows in their order, in the key groups given."""
        key = self._column(table, "key")
        space = self._column(table, "namespace") if self.has_namespace else pa.nulls(len(table))
        if self.type.kind == "timer":
            timer = pa.StructArray.from_arrays(
                [self._column(table, "timestamp"), key, space], ["timestamp", "key", "namespace"]
            )
            elements = Spans.of(self.value_codec.encode(timer, "timer"))
            none = Spans(data=elements.data, starts=elements.ends, ends=elements.ends)
            keys = self.composite.timers(groups, elements)
            return EntryBatch(key_groups=groups, keys=Spans.of(keys), values=none)
        map_key = self._column(table, "map_key") if self.type.kind == "map" else None
        keys = self.composite.encode(groups, key, space, map_key)
        return EntryBatch.of(groups, keys, self.encode_values(table))

    def encode_values(self, table: pa.RecordBatch) -> pa.Array:
        """The value bytes (large_binary) of ``value`` and, with TTL, ``ttl_timestamp``; where the value is null
        and was not decoded, the bytes it had."""
        value = self._column(table, "value")
        there = np.asarray(value.is_valid())
        if self.splits_ttl:
            value = _join_ttl(value, self._column(table, _TTL))
        if self.may_be_undecoded and UNDECODED in table.schema.names:
            return self.value_codec.encode_most(value, self._column(table, UNDECODED), there)
        return self.value_codec.encode(value)

    def _column(self, table: pa.RecordBatch, name: str) -> pa.Array:
        index = table.schema.get_field_index(name)
        if index < 0:
            raise EncodeError(f"the column {name!r} is missing", where=Where(state=self.type.name))
        return table.column(index)


def _split_ttl(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Values and their last-access times; of lists both are lists with the same offsets."""
    if pa.types.is_list(values.type):
        mask = values.is_null() if values.null_count else None
        parts = [
            pa.ListArray.from_arrays(values.offsets, values.values.field(name), mask=mask)
            for name in ("value", _TTL)
        ]
        return parts[0], parts[1]
    return _part(values, "value"), _part(values, _TTL)


def _part(structs: pa.StructArray, name: str) -> pa.Array:
    """A field, null where the struct is. (``if_else`` would lose the dictionaries of structs that are all null.)"""
    return structs.flatten()[structs.type.get_field_index(name)]


def _join_ttl(value: pa.Array, stamp: pa.Array) -> pa.Array:
    if pa.types.is_list(value.type) and pa.types.is_list(stamp.type):
        if not np.array_equal(_lengths(value), _lengths(stamp)):
            raise EncodeError(f"value and {_TTL} are lists of different lengths")
        pairs = pa.StructArray.from_arrays([stamp.flatten(), value.flatten()], [_TTL, "value"])
        offsets = np.concatenate([[0], np.cumsum(_lengths(value))]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pairs)
    return pa.StructArray.from_arrays([stamp, value], [_TTL, "value"])


def _lengths(lists: pa.Array) -> npt.NDArray[np.int64]:
    lengths: npt.NDArray[np.int64] = np.diff(np.asarray(lists.offsets))
    return lengths
