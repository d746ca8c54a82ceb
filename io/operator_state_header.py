"""The header of operator state (Flink's OperatorBackendSerializationProxy; spec section 9.1)."""

from __future__ import annotations

from dataclasses import dataclass

from ..schemas.errors import FormatError, UnknownSerializerError, UnsupportedVersionError
from ..schemas.snapshots import read_proxy
from ..schemas.wire import Reader, Writer
from .keyed.lenient import step_over_unknown
from .keyed.meta_info import SnapshotReader, StateMetaInfo, read_states, write_states

OPERATOR_VERSIONS = {5: False, 6: True}
"""Version to whether it says that the data is compressed: 5 is Flink 1.8 to 1.17, 6 from 1.18 on."""
_SNAPPY_STREAM_ID_SIZE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorBackendHeader:
    """List (split and union) states and broadcast states; ``compressed`` says that the data is Snappy-framed.

    Every Flink that is supported reads version 5, so that is what is written unless something is compressed.
    """

    version: int = 5
    compressed: bool = False
    operator_states: tuple[StateMetaInfo, ...] = ()
    broadcast_states: tuple[StateMetaInfo, ...] = ()


def read_operator_header(
    reader: Reader, read_serializer: SnapshotReader = read_proxy
) -> OperatorBackendHeader:
    """Read a header and leave ``reader`` behind it.

    Raises UnsupportedVersionError for the versions before Flink 1.8, UnknownSerializerError for a serializer
    snapshot that cannot be stepped over, FormatError for anything else that is no header.
    """
    version = _read_version(reader)
    return OperatorBackendHeader(
        version=version,
        compressed=OPERATOR_VERSIONS[version] and reader.bool_("compressed"),
        operator_states=read_states(reader, read_serializer),
        broadcast_states=read_states(reader, read_serializer),
    )


def read_operator_header_lenient(reader: Reader, first_offset: int) -> OperatorBackendHeader:
    """As :func:`read_operator_header`, stepping over unknown serializers where that can be done in one way only.

    ``first_offset`` is that of the data, or the size of a stream without data: where the header ends, or, of
    compressed data, the ten bytes that open a Snappy stream behind it.
    """
    start = reader.pos
    try:
        return read_operator_header(reader)
    except (UnknownSerializerError, UnsupportedVersionError):
        reader.pos = start
        version = _read_version(reader)
        compressed = OPERATOR_VERSIONS[version] and reader.bool_("compressed")
        end = first_offset - _SNAPPY_STREAM_ID_SIZE if compressed else first_offset
        header = step_over_unknown(reader, start, end, read_operator_header)
        if header is None:
            raise
    reader.pos = end
    return header


def write_operator_header(writer: Writer, header: OperatorBackendHeader) -> None:
    """Write a header; one that was read is written byte for byte."""
    if header.version not in OPERATOR_VERSIONS:
        raise UnsupportedVersionError(f"operator state header version {header.version} cannot be written")
    writer.i4(header.version)
    if OPERATOR_VERSIONS[header.version]:
        writer.bool_(header.compressed)
    elif header.compressed:
        raise FormatError("operator state header version 5 cannot say that the data is compressed")
    write_states(writer, header.operator_states)
    write_states(writer, header.broadcast_states)


def _read_version(reader: Reader) -> int:
    at = reader.pos
    version = reader.i4("operator state header version")
    if 1 <= version < min(OPERATOR_VERSIONS):
        raise UnsupportedVersionError(
            f"operator state header version {version}, of Flink 1.7 or earlier, is not supported",
            where=reader.where(at),
            todo="restore and save it with Flink 1.8 to 1.16",
        )
    if version not in OPERATOR_VERSIONS:
        raise reader.error(f"operator state header version {version} is unknown", at)
    return version
