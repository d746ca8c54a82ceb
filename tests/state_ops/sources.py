"""Splits and enumerator state of the sources that the known snapshots have, in the form of ``expected.json``.

Sources write them with serializers of their own (``SimpleVersionedSerializer``), so that to statelift they are bytes.
"""

from __future__ import annotations

from io import BytesIO
from struct import unpack
from typing import Any


def split(source: str, element: bytes) -> Any:
    """An element of ``SourceReaderState``: version, length, what the split's serializer wrote."""
    version, length = unpack(">ii", element[:8])
    body = element[8:]
    assert (version, length) == (1, len(body))
    return _SPLITS[source](body)


def enumerator(source: str, coordinator: bytes) -> Any:
    """The state of a ``SourceCoordinator``: its version, the serializer's version, length, what that wrote."""
    coordinator_version, version, length = unpack(">iii", coordinator[:12])
    body = coordinator[12:]
    assert (coordinator_version, version, length) == (1, 1, len(body))
    return _ENUMERATORS[source](body)


def _number_split(body: bytes) -> Any:
    """``NumberSequenceSource``: id, from, to."""
    data = BytesIO(body)
    return {"id": _utf(data), **dict(zip(("from", "to"), unpack(">qq", data.read()), strict=True))}


def _numbers_left(body: bytes) -> Any:
    """``IteratorSourceEnumerator``: a count of splits, then those."""
    assert body == bytes(4)
    return []


def _file_split(body: bytes) -> Any:
    """``FileSourceSplitSerializer``: id, path, offset, length, modification time, size, hosts, reader's position."""
    data = BytesIO(body)
    _utf(data)
    path = _path(data)
    data.read(32)
    for _ in range(*unpack(">i", data.read(4))):
        _utf(data)
    (positioned,) = data.read(1)
    offset, read = unpack(">qq", data.read()) if positioned else (-1, 0)
    assert offset == -1
    return {"path": path, "read": read}


def _pending_splits(body: bytes) -> Any:
    """``PendingSplitsCheckpointSerializer``, little endian: magic, version, counts, splits, paths."""
    data = BytesIO(body)
    magic, version, splits, paths = unpack("<Iiii", data.read(16))
    assert (magic, version) == (0xDEADBEEF, 1)
    pending = [_file_split(_framed(data))["path"] for _ in range(splits)]
    processed = [_framed(data).decode() for _ in range(paths)]
    assert not data.read()
    return {"pending": sorted(pending), "processed": sorted(processed)}


def _framed(data: BytesIO) -> bytes:
    return data.read(*unpack("<i", data.read(4)))


def _path(data: BytesIO) -> str:
    """``Path.write``: whether there is a URI, then scheme, user, host, port, path, query, fragment."""
    assert data.read(1) == b"\1"
    scheme, user, host = _string(data), _string(data), _string(data)
    (port,) = unpack(">i", data.read(4))
    path, query, fragment = _string(data), _string(data), _string(data)
    assert (user, host, port, query, fragment) == (None, None, -1, None, None)
    return f"{scheme}:{path}"


def _string(data: BytesIO) -> str | None:
    """``StringUtils.writeNullableString`` of short ASCII: a flag, the length and one, characters."""
    if data.read(1) == b"\0":
        return None
    return data.read(data.read(1)[0] - 1).decode("ascii")


def _utf(data: BytesIO) -> str:
    return data.read(*unpack(">H", data.read(2))).decode()


def _script_split(body: bytes) -> Any:
    return {"id": "script", "rounds": int(body.decode())}


_SPLITS = {"numbers": _number_split, "files": _file_split, "gen-source": _script_split}
_ENUMERATORS = {"numbers": _numbers_left, "files": _pending_splits, "gen-source": bytes.decode}
