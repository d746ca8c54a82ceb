"""The header of keyed state: of canonical and hashmap streams, and all of a RocksDB meta file.

Flink's KeyedBackendSerializationProxy; spec section 5.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...schemas.errors import UnsupportedVersionError
from ...schemas.snapshots import SerializerSnapshot, read_proxy, write_proxy
from ...schemas.wire import Reader, Writer
from .meta_info import (
    BackendStateType,
    SnapshotReader,
    StateMetaInfo,
    read_state_meta_info,
    read_states,
    write_state_meta_info,
    write_states,
)

__all__ = [
    "KEYED_VERSION",
    "BackendStateType",
    "KeyedBackendHeader",
    "StateMetaInfo",
    "header_end",
    "read_keyed_header",
    "read_state_meta_info",
    "write_keyed_header",
    "write_state_meta_info",
]

KEYED_VERSION = 6
"""The only version since Flink 1.8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedBackendHeader:
    """The key's type and the states; ``compressed`` says that each key group is Snappy-framed."""

    version: int = KEYED_VERSION
    compressed: bool = False
    key_serializer: SerializerSnapshot
    states: tuple[StateMetaInfo, ...]


def read_keyed_header(reader: Reader, read_serializer: SnapshotReader = read_proxy) -> KeyedBackendHeader:
    """Read a header and leave ``reader`` behind it.

    Raises UnsupportedVersionError for the versions before Flink 1.8, UnknownSerializerError for a serializer
    snapshot that cannot be stepped over (see ``read_keyed_header_lenient``), FormatError for anything else
    that is no header.
    """
    version = _read_version(reader)
    return KeyedBackendHeader(
        version=version,
        compressed=reader.bool_("compressed"),
        key_serializer=read_serializer(reader),
        states=read_states(reader, read_serializer),
    )


def write_keyed_header(writer: Writer, header: KeyedBackendHeader) -> None:
    """Write a header; one that was read is written byte for byte."""
    if header.version != KEYED_VERSION:
        raise UnsupportedVersionError(f"keyed state header version {header.version} cannot be written")
    writer.i4(header.version)
    writer.bool_(header.compressed)
    write_proxy(writer, header.key_serializer)
    write_states(writer, header.states)


def header_end(offsets: Iterable[int], size: int) -> int:
    """Where the header of a stream of ``size`` bytes ends: at the first key group, else with the stream.

    An offset of 0 or -1 is a key group without data.
    """
    return min((offset for offset in offsets if offset > 0), default=size)


def _read_version(reader: Reader) -> int:
    at = reader.pos
    version = reader.i4("keyed state header version")
    if 1 <= version < KEYED_VERSION:
        raise UnsupportedVersionError(
            f"keyed state header version {version}, of Flink 1.7 or earlier, is not supported",
            where=reader.where(at),
            todo="restore and save it with Flink 1.8 to 1.16",
        )
    if version != KEYED_VERSION:
        raise reader.error(f"keyed state header version {version} is unknown", at)
    return version
