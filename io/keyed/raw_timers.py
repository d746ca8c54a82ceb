"""Raw keyed state: timers that were kept on the heap (spec 8.3), read as the timer states they are elsewhere.

What user operators write as raw keyed state has no form that is known here; it stays bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ...schemas import types as t
from ...schemas.codec import ops
from ...schemas.codec.run import run_decode
from ...schemas.codec.shapes import Builder, NullShape
from ...schemas.errors import FormatError, UnsupportedVersionError, Where
from ...schemas.from_kryo import in_key
from ...schemas.from_snapshot import TypeRules
from ...schemas.snapshots import SerializerSnapshot, build, read_snapshot
from ...schemas.wire import Reader
from ..metadata import KeyedStateHandle, KeyGroupRange, KeyGroupsStateHandle
from ..streams import StateStream, StreamOpener
from .backend import KeyedBackend
from .canonical import prefix_bytes
from .composite import CompositeKeyCodec
from .entries import Bytes, EntryBatch, Positions, Spans, Window
from .header import KEYED_VERSION, KeyedBackendHeader
from .lenient import RawKeyedHeader
from .meta_info import BackendStateType, StateMetaInfo
from .regions import Region
from .state_types import state_types

_MARKER = bytes.fromhex("f1cd859f")
"""PostVersionedIOReadableWritable: a version follows."""
_VERSION = 2
_DOMAINS = ("event", "processing")
_LEAST_SERVICE, _LEAST_TIMER = 14, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class RawKeyedState:
    """Raw keyed state of an unknown form: bytes for each key group."""

    stream: StateStream
    regions: Sequence[Region]

    @property
    def nbytes(self) -> int:
        return sum(region.stop - region.start for region in self.regions)

    def read(self, region: Region) -> bytes:
        return self.stream.read(region.start, region.stop - region.start)


def open_raw_keyed(
    handle: KeyedStateHandle, opener: StreamOpener, max_parallelism: int
) -> KeyedBackend | RawKeyedState:
    """Open a raw keyed handle. Timers become a backend with the states ``_timer_state/event_<service>`` and
    ``_timer_state/processing_<service>``; anything else stays bytes.

    Raises UnsupportedVersionError for timers of Flink 1.7 or earlier, FormatError for damaged ones.
    """
    if not isinstance(handle, KeyGroupsStateHandle):
        raise UnsupportedVersionError(f"raw keyed handles of type {type(handle).__name__} are not read")
    stream = opener.open(handle.stream, "raw keyed state")
    regions = _regions(handle, stream)
    services: list[_Service] = []
    for region in regions:
        if stream.read(region.start, min(4, region.stop - region.start)) != _MARKER:
            return RawKeyedState(stream=stream, regions=regions)
        services = [
            service
            for service, _ in _read(
                stream, region, stream.read(region.start, region.stop - region.start), opener.types
            )
        ]
        if services:
            break
    header = _header(services)
    return KeyedBackend(
        format="timers",
        header=header,
        key_groups=handle.key_group_range,
        max_parallelism=max_parallelism,
        states=state_types(header, opener.types),
        stream=stream,
        offsets=handle.offsets,
        source=RawTimers(stream, regions, services, prefix_bytes(max_parallelism), opener.types),
        batch_bytes=opener.memory.batch_bytes,
    )


def _regions(handle: KeyGroupsStateHandle, stream: StateStream) -> list[Region]:
    """The written key groups; one without data has the offset -1, and the first one may begin at 0."""
    size = stream.size
    starts = sorted({offset for offset in handle.offsets if offset >= 0})
    if starts and starts[-1] > size:
        raise FormatError(
            "a key group begins behind the end", where=Where(file=stream.name, offset=starts[-1])
        )
    stops = dict(zip(starts, [*starts[1:], size], strict=False))
    return [
        Region(key_group=key_group, start=offset, stop=stops[offset])
        for key_group, offset in zip(handle.key_group_range, handle.offsets, strict=True)
        if offset >= 0
    ]


def _header(services: Sequence[_Service]) -> KeyedBackendHeader | RawKeyedHeader:
    if not services:
        return RawKeyedHeader(
            version=KEYED_VERSION, compressed=False, raw=b"", reason=FormatError("there are no timers")
        )
    metas = tuple(
        StateMetaInfo(
            name=f"_timer_state/{domain}_{service.name}",
            backend_state_type=BackendStateType.PRIORITY_QUEUE,
            serializers=(("VALUE_SERIALIZER", build.timer(service.key, service.namespace)),),
        )
        for service in services
        for domain in _DOMAINS
    )
    return KeyedBackendHeader(key_serializer=services[0].key, states=metas)


@dataclass(frozen=True, slots=True)
class RawTimers:
    """The timers of all key groups; state 2 i is service i's event timers, state 2 i + 1 its processing timers."""

    stream: StateStream
    regions: Sequence[Region]
    services: Sequence[_Service]
    prefix: int
    types: TypeRules

    @property
    def nbytes(self) -> int:
        return sum(region.stop - region.start for region in self.regions)

    def windows(
        self, key_groups: KeyGroupRange, wanted: frozenset[int] | None, batch_bytes: int
    ) -> Iterator[Window]:
        """The timers as canonical entries, whole key groups at a time: as the heap that wrote them had them."""
        for run in _runs([region for region in self.regions if region.key_group in key_groups], batch_bytes):
            ranges = [(region.start, region.stop - region.start) for region in run]
            for region, data in zip(run, self.stream.read_ranges(ranges), strict=True):
                window: Window = {}
                for number, (service, timers) in enumerate(_read(self.stream, region, data, self.types)):
                    if number >= len(self.services) or service != self.services[number]:
                        where = Where(file=self.stream.name, key_group=region.key_group, offset=region.start)
                        raise FormatError("the key groups do not have the same timer services", where=where)
                    for domain, spans in enumerate(timers):
                        state = 2 * number + domain
                        if len(spans.stamps) and (wanted is None or state in wanted):
                            window[state] = spans.entries(region.key_group, self.prefix)
                if window:
                    yield window


def _runs(regions: Sequence[Region], batch_bytes: int) -> Iterator[list[Region]]:
    run: list[Region] = []
    for region in regions:
        if run and sum(r.stop - r.start for r in run) + region.stop - region.start > batch_bytes:
            yield run
            run = []
        run.append(region)
    if run:
        yield run


@dataclass(frozen=True, slots=True)
class _Service:
    """A timer service: key and namespace serializers of its timers."""

    name: str
    key: SerializerSnapshot
    namespace: SerializerSnapshot


@dataclass(frozen=True, slots=True)
class _Timers:
    """Timers in the form of raw state: key and namespace are ``data[starts[i]:ends[i]]``, then the timestamp."""

    data: Bytes
    starts: Positions
    ends: Positions
    stamps: Positions

    def entries(self, key_group: int, prefix: int) -> EntryBatch:
        """As canonical timers (spec 8.2): the timestamp first, its sign bit flipped."""
        flipped = (self.stamps.view(np.uint64) ^ np.uint64(1 << 63)).byteswap().view(np.uint8)
        at = np.arange(len(self.stamps), dtype=np.int64) * 8
        groups = np.full(len(self.stamps), key_group, np.int32)
        keys = CompositeKeyCodec(prefix=prefix, key=t.scalar("long"), namespace=t.scalar("null")).join(
            groups,
            Spans(data=flipped, starts=at, ends=at + 8),
            Spans(data=self.data, starts=self.starts, ends=self.ends),
            None,
        )
        none = Spans(data=self.data, starts=self.ends, ends=self.ends)
        return EntryBatch(key_groups=groups, keys=Spans.of(keys), values=none)


def _read(
    stream: StateStream, region: Region, data: bytes, types: TypeRules
) -> Iterator[tuple[_Service, list[_Timers]]]:
    """The services of one key group, each with its event and its processing timers."""
    reader = Reader(data, file=stream.name)
    try:
        if reader.bytes(4, "timer marker") != _MARKER:
            raise reader.error("no timers: another key group has some", 0)
        version = reader.i4("timer version")
        if version != _VERSION:
            raise UnsupportedVersionError(f"timers of version {version} are not read", where=reader.where(4))
        buffer = np.frombuffer(data, np.uint8)
        for _ in range(reader.count("timer services", _LEAST_SERVICE)):
            name = reader.utf("timer service name")
            service = _Service(name, read_snapshot(reader), read_snapshot(reader))
            yield service, [_read_timers(reader, buffer, service, types) for _ in _DOMAINS]
        reader.expect_end("the timers of a key group")
    except FormatError as error:
        offset = region.start + (error.where.offset or 0)
        error.where = Where(file=stream.name, key_group=region.key_group, offset=offset).within(error.where)
        raise


def _read_timers(reader: Reader, buffer: Bytes, service: _Service, types: TypeRules) -> _Timers:
    count = reader.count("timers", _LEAST_TIMER)
    start = reader.pos
    builder = Builder(wide_times=True)
    slots = [builder.slot(8), builder.slot(8)]
    for snapshot in (service.key, service.namespace):
        kind = in_key(types.type_of(snapshot))
        opaque = t.opaque_in(kind)
        if opaque is not None and count:
            raise reader.error(f"a timer of {opaque.class_name} ({opaque.reason}) cannot be stepped over")
        if opaque is None:
            builder.node(kind)
    builder.emit(ops.MARK, slots[0])
    builder.emit(ops.I8, slots[1])
    program = builder.finish(NullShape(arrow_type=pa.null()))
    run = run_decode(
        program, buffer, np.array([start]), np.array([len(buffer)]),
        ops.CHAINED | ops.STEP, count, len(buffer) - start,
    )  # fmt: skip
    if run.reason != ops.OK:
        raise reader.error(f"a timer does not decode: {ops.REASONS[run.reason]}", run.position)
    ends, stamps = (run.arena.array(slot, count).view(np.int64) for slot in slots)
    starts = np.concatenate([[start], run.stops[:-1]])[:count].astype(np.int64)
    reader.pos = int(run.stops[-1]) if count else start
    return _Timers(buffer, starts, ends, stamps)
