"""Composite keys (spec 5.3): key group, key, namespace and user key joined to one byte string, and cut again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...schemas import types as t
from ...schemas.codec.codec import Codec
from ...schemas.codec.columns import binary_column
from ...schemas.codec.shapes import Builder, compile_type
from ...schemas.codec.undecoded import Undecoded
from ...schemas.errors import FormatError
from . import entry_kernels as kernels
from .entries import Positions, Spans


def is_ambiguous(key: t.DataType, namespace: t.DataType) -> bool:
    """Whether lengths stand behind key and namespace: where neither serializer has a fixed length."""
    return t.serializer_length(key) < 0 and t.serializer_length(namespace) < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyColumns:
    """The parts of composite keys as Arrow arrays; ``map_key`` only for map states. Parts that no column holds are
    null, and their rows in ``undecoded``."""

    key: pa.Array
    namespace: pa.Array
    map_key: pa.Array | None
    undecoded: Undecoded


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeKeyCodec:
    """Cuts and joins the composite keys of one state. ``prefix`` is 1 or 2 bytes; ``wide_times`` as in
    ``compile_type``."""

    prefix: int
    key: t.DataType
    namespace: t.DataType
    map_key: t.DataType | None = None
    wide_times: bool = False

    def decode(self, keys: Spans) -> KeyColumns:
        """The typed parts. An opaque key is binary, and everything but the namespace's known length is its."""
        starts = keys.starts + self.prefix
        if t.opaque_in(self.key):
            return self._opaque(keys, starts)
        codec = self._codec(self.key)
        key, stops, undecoded = codec.decode_most(keys.data, starts, keys.ends, exact=False, last=False)
        stops = self._lengths(keys, starts, stops)
        last = self.map_key is None
        codec = self._codec(self.namespace)
        ambiguous = is_ambiguous(self.key, self.namespace)
        exact = last and not ambiguous
        namespace, ends, left_out = codec.decode_most(keys.data, stops, keys.ends, exact=exact, last=False)
        undecoded = undecoded.beside(left_out)
        ends = self._lengths(keys, stops, ends)
        if self.map_key is None:
            if ambiguous and not np.array_equal(ends, keys.ends):
                raise FormatError("bytes follow the namespace of a composite key")
            return KeyColumns(key=key, namespace=namespace, map_key=None, undecoded=undecoded)
        map_key, _, left_out = self._codec(self.map_key).decode_most(keys.data, ends, keys.ends)
        undecoded = undecoded.beside(left_out)
        return KeyColumns(key=key, namespace=namespace, map_key=map_key, undecoded=undecoded)

    def _codec(self, part: t.DataType) -> Codec:
        return Codec(compile_type(part, wide_times=self.wide_times))

    def _lengths(self, keys: Spans, starts: Positions, stops: Positions) -> Positions:
        if not is_ambiguous(self.key, self.namespace):
            return stops
        bad = kernels.step_over_lengths(keys.data, stops, starts, keys.ends)
        if bad >= 0:
            raise FormatError(f"the length behind a key or namespace is wrong, at row {bad}")
        return stops

    def _opaque(self, keys: Spans, starts: Positions) -> KeyColumns:
        """Where the key has no codec and the namespace one byte (void), the rest is key (with any user key)."""
        builder = Builder()
        program = builder.finish(builder.rest(keep=1 if self.map_key is None else 0))
        raw, _ = Codec(program).decode(keys.data, starts, keys.ends, exact=False)
        map_key = pa.array([b""] * len(raw), pa.binary()) if self.map_key is not None else None
        undecoded = Undecoded.none(len(raw))
        return KeyColumns(key=raw, namespace=pa.nulls(len(raw)), map_key=map_key, undecoded=undecoded)

    def join(
        self, groups: npt.NDArray[np.int32], key: Spans, namespace: Spans, map_key: Spans | None
    ) -> pa.Array:
        """Composite keys (large_binary) of encoded parts."""
        return self._compose(groups, key, namespace, map_key, is_ambiguous(self.key, self.namespace))

    def timers(self, groups: npt.NDArray[np.int32], timers: Spans) -> pa.Array:
        """The keys (large_binary) that are a timer each: no length stands between its key and namespace."""
        none = Spans(data=timers.data, starts=timers.ends, ends=timers.ends)
        return self._compose(groups, timers, none, None, False)

    def _compose(
        self,
        groups: npt.NDArray[np.int32],
        key: Spans,
        namespace: Spans,
        map_key: Spans | None,
        ambiguous: bool,
    ) -> pa.Array:
        zeros = np.zeros(len(groups), np.int64)
        user = map_key or Spans(data=np.empty(0, np.uint8), starts=zeros, ends=zeros)
        lengths = key.lengths + namespace.lengths + user.lengths + self.prefix
        if ambiguous:
            lengths += _var_lengths(key.lengths) + _var_lengths(namespace.lengths)
        offsets = np.zeros(len(groups) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        out = np.empty(int(offsets[-1]), np.uint8)
        kernels.compose(
            key.data, groups, self.prefix, ambiguous, key.starts, key.ends,
            namespace.data, namespace.starts, namespace.ends, user.data, user.starts, user.ends, offsets, out,
        )  # fmt: skip
        return binary_column(out, offsets)

    def encode(
        self, groups: npt.NDArray[np.int32], key: pa.Array, namespace: pa.Array, map_key: pa.Array | None
    ) -> pa.Array:
        """Composite keys (large_binary) of typed columns. Raises EncodeError naming column and row."""
        parts = [
            Spans.of(self._codec(self.key).encode(key, "key")),
            Spans.of(self._codec(self.namespace).encode(namespace, "namespace")),
        ]
        user = None
        if self.map_key is not None:
            user = Spans.of(self._codec(self.map_key).encode(map_key, "map_key"))
        return self.join(groups, parts[0], parts[1], user)


def _var_lengths(n: Positions) -> Positions:
    """Bytes that ``varLen(n)`` takes."""
    return 1 + (n > 0xFF).astype(np.int64) + (n > 0xFFFF) + (n > 0xFFFFFF)
