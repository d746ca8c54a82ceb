"""``_metadata`` as a whole: bytes to :class:`Metadata` and back (Flink's Checkpoints)."""

from __future__ import annotations

from dataclasses import replace

from ...schemas.errors import FormatError, UnsupportedVersionError
from ...schemas.wire import Reader, Writer
from .model import Metadata
from .versions import FORMATS, NULL_PROPERTIES

MAGIC = 0x4960672D
_HEAD_SIZE = 8


def read_metadata(data: bytes, file: str | None = None) -> Metadata:
    """The contents of a ``_metadata`` file of version 2 to 7.

    Raises UnsupportedVersionError for any other version, FormatError (with operator, subtask and offset in
    ``file``) for what is no such file. ``write_metadata`` gives the same bytes back.
    """
    reader = Reader(data, file=file)
    if reader.remaining < _HEAD_SIZE or reader.u4("magic number") != MAGIC:
        raise FormatError(
            "not a _metadata file: it does not begin with Flink's magic number 4960672d",
            where=reader.where(0),
            todo="give the folder or _metadata file of a savepoint or checkpoint",
        )
    version = reader.i4("version")
    if version not in FORMATS:
        raise _unsupported(version, reader)
    metadata = FORMATS[version].read(reader, "metadata")
    reader.expect_end("the metadata")
    return metadata


def write_metadata(metadata: Metadata) -> bytes:
    """The bytes of a ``_metadata`` file in the version that ``metadata`` names.

    Raises FormatError when that version has no place for something in it; see :func:`at_version`.
    """
    if metadata.version not in FORMATS:
        raise UnsupportedVersionError(f"metadata version {metadata.version} cannot be written")
    writer = Writer()
    writer.u4(MAGIC)
    writer.i4(metadata.version)
    FORMATS[metadata.version].write(writer, metadata)
    return writer.getvalue()


def at_version(metadata: Metadata, version: int) -> Metadata:
    """The same contents for another version (3 or later), as far as writing goes.

    Properties, operator names and uids are left out where the version has none, and properties of ``null``
    are put in where it wants some. What else has no place there is refused by ``write_metadata``.
    """
    operators = tuple(replace(operator, chain_length=1) for operator in metadata.operator_states)
    if version < 5:
        operators = tuple(replace(o, operator_name=None, operator_uid=None) for o in operators)
    properties = b"" if version < 4 else metadata.properties or NULL_PROPERTIES
    return replace(metadata, version=version, operator_states=operators, properties=properties)


def _unsupported(version: int, reader: Reader) -> UnsupportedVersionError:
    if version == 1:
        what, todo = "metadata version 1, of Flink 1.1 and 1.2", "restore and save it with Flink 1.3 to 1.10"
    else:
        what, todo = f"metadata version {version}", f"versions {min(FORMATS)} to {max(FORMATS)} are read"
    return UnsupportedVersionError(f"{what} is not supported", where=reader.where(4), todo=todo)
