"""Headers with serializers that are not known: as much of them as can be told for certain.

A serializer snapshot has no length, so an unknown one hides where the next thing starts (spec section 15, 23).
The end of the header is known, though: the first offset of the data. So its end is looked for: at every place
where what has to come next may stand, the rest is read, and where exactly one reading of the whole header ends
at its end, that is it, with the unknown snapshots as :class:`OpaqueSnapshot`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from ...schemas.errors import FormatError, UnknownSerializerError, UnsupportedVersionError
from ...schemas.snapshots import OpaqueSnapshot, SerializerSnapshot, read_proxy
from ...schemas.wire import Reader
from .header import KEYED_VERSION, KeyedBackendHeader, read_keyed_header
from .meta_info import SnapshotReader, StateMetaInfo, read_state_meta_info

H = TypeVar("H")

_TRIES = 500
_LONGEST_NAME = 1024
_LONGEST_OPTIONS = 128
_SERIALIZER = re.compile(rb"\x00.(?:KEY|VALUE|NAMESPACE|USER_KEY)_SERIALIZER\x00\x00\x00\x02\x00", re.DOTALL)
_AFTER_NAME = re.compile(
    rb"\x00\x00\x00[\x00-\x04]"
    rb"(?:\x00{4}|\x00{3}\x01\x00.(?:KEYED_STATE_TYPE|OPERATOR_STATE_DISTRIBUTION_MODE)\x00.[A-Z_]+)"
    rb"\x00\x00\x00[\x01-\x03]",
    re.DOTALL,
)
"""Type, options and serializer count: what stands between a state's name and its first serializer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawKeyedHeader:
    """A header that cannot be read to its end: all its bytes, and what stands before the unknown serializer.

    ``key_serializer`` is ``None`` and ``state_count`` 0 where the unknown one is the key's; ``states`` are the
    whole ones before it, so state ids from ``len(states)`` on have no known type.
    """

    version: int
    compressed: bool
    raw: bytes
    key_serializer: SerializerSnapshot | None = None
    state_count: int = 0
    states: tuple[StateMetaInfo, ...] = ()
    reason: FormatError


def read_keyed_header_lenient(reader: Reader, end: int) -> KeyedBackendHeader | RawKeyedHeader:
    """Read a header that ends at ``end`` (see ``header_end``) and leave ``reader`` there.

    An unknown serializer is stepped over where that can be done in one way only, and else gives a
    RawKeyedHeader. Raises as ``read_keyed_header`` for everything else.
    """
    start = reader.pos
    try:
        return read_keyed_header(reader)
    except (UnknownSerializerError, UnsupportedVersionError) as error:
        reason: FormatError = error
        reader.pos = start
        if reader.i4() != KEYED_VERSION:
            raise
    header = step_over_unknown(reader, start, end, read_keyed_header)
    result = _read_raw(reader, start, end, reason) if header is None else header
    reader.pos = end
    return result


def step_over_unknown(
    reader: Reader, start: int, end: int, read: Callable[[Reader, SnapshotReader], H]
) -> H | None:
    """The one header from ``start`` to ``end`` that ``read`` finds with unknown serializers stepped over, if any."""
    data = reader.data[:end]
    tries = 0
    found: list[H] = []
    waiting: list[dict[int, int]] = [{}]
    while waiting and len(found) < 2:
        ends = waiting.pop()
        tries += 1
        if tries > _TRIES:
            return None
        attempt = Reader(data, start, reader.file)
        try:
            header = read(attempt, _Stepper(ends).read)
        except _OpenEndError as open_end:
            waiting += [
                ends | {open_end.at: stop} for stop in set(_possible_ends(bytes(data), open_end.payload))
            ]
        except FormatError:
            continue
        else:
            if attempt.pos == end:
                found.append(header)
    return found[0] if len(found) == 1 else None


class _OpenEndError(Exception):
    """An unknown snapshot at ``at``, its payload from ``payload`` on, whose end has not been chosen."""

    def __init__(self, at: int, payload: int) -> None:
        self.at = at
        self.payload = payload


@dataclass(frozen=True, slots=True)
class _Stepper:
    """Reads snapshots, and unknown ones up to the ends chosen for them, by where they start."""

    ends: dict[int, int]

    def read(self, reader: Reader) -> SerializerSnapshot:
        at = reader.pos
        try:
            return read_proxy(reader)
        except (UnknownSerializerError, UnsupportedVersionError) as error:
            reader.pos = at
            return self._step(reader, error)

    def _step(self, reader: Reader, error: FormatError) -> SerializerSnapshot:
        at = reader.pos
        proxy_version = reader.i4("serializer snapshot proxy version")
        if proxy_version != 2:
            raise error
        class_name, version = reader.utf("snapshot class name"), reader.i4("snapshot version")
        if at not in self.ends:
            raise _OpenEndError(at, reader.pos)
        raw = reader.bytes(self.ends[at] - reader.pos, "snapshot payload")
        unknown = error.class_name if isinstance(error, UnknownSerializerError) else class_name
        return OpaqueSnapshot(class_name=class_name, version=version, raw=raw, unknown_class=unknown)


def _possible_ends(data: bytes, start: int) -> Iterator[int]:
    """Where a snapshot's payload from ``start`` on may end: before what leads to the next snapshot of a state.

    That is the key of a serializer; or the name of the next state, or a count of states and then the name; or,
    with no more snapshots, the header's end. Nested snapshots have no proxy version before them, so a payload
    cannot hold what is looked for.
    """
    following = _SERIALIZER.search(data, start)
    if following is None:
        yield from (end for end in (len(data), len(data) - 2) if end >= start)
        return
    yield following.start()
    for type_at in range(max(start, following.start() - _LONGEST_OPTIONS), following.start() - 11):
        if not _AFTER_NAME.fullmatch(data, type_at, following.start()):
            continue
        for name_at in range(max(start, type_at - 2 - _LONGEST_NAME), type_at - 1):
            if int.from_bytes(data[name_at : name_at + 2], "big") == type_at - name_at - 2:
                yield name_at
                if name_at - 2 >= start:
                    yield name_at - 2


def _read_raw(reader: Reader, start: int, end: int, reason: FormatError) -> RawKeyedHeader:
    reader.pos = start
    version, compressed = reader.i4(), reader.bool_()
    key_serializer = None
    state_count = 0
    states: list[StateMetaInfo] = []
    try:
        key_serializer = read_proxy(reader)
        state_count = reader.i2()
        for _ in range(state_count):
            states.append(read_state_meta_info(reader))
    except FormatError:
        pass
    return RawKeyedHeader(
        version=version,
        compressed=compressed,
        raw=bytes(reader.data[start:end]),
        key_serializer=key_serializer,
        state_count=state_count,
        states=tuple(states),
        reason=reason,
    )
