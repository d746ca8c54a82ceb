"""Where the bytes behind a stream handle are now: in ``_metadata`` itself, or in a range of a file.

Checkpoints name their files by absolute path. One that was moved is found by the prefixes the user gives, or,
with an ``exists`` to ask, by the folder layout that Flink keeps around ``_metadata`` (spec section 1.2).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...schemas.errors import FormatError, StoreError, Where
from .handles import (
    ByteStreamStateHandle,
    EmptySegmentFileStateHandle,
    FileStateHandle,
    KeyGroupsStateHandle,
    RelativeFileStateHandle,
    SegmentFileStateHandle,
    StreamStateHandle,
)

PathMap: TypeAlias = Sequence[tuple[str, str]]
Exists: TypeAlias = Callable[[str], bool]

_JOB_FOLDER = re.compile(r"shared|taskowned|dstl|chk-\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRange:
    """``length`` bytes from ``start`` of the file at ``url``; ``length`` is ``None`` up to the file's end."""

    url: str
    start: int = 0
    length: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inline:
    """Bytes that stand in ``_metadata``."""

    data: bytes


Location: TypeAlias = FileRange | Inline


def parse_path_map(text: str) -> tuple[str, str]:
    """``OLD=NEW`` as a pair of prefixes. Raises StoreError on anything else."""
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise StoreError(
            f"path map {text!r} is not OLD=NEW", todo="give two path prefixes with = between them"
        )
    return old, new


def resolve(
    handle: StreamStateHandle, base_url: str, path_map: PathMap = (), exists: Exists | None = None
) -> Location:
    """The location of one stream of the snapshot whose ``_metadata`` lies in the folder ``base_url``.

    Relative paths are taken from ``base_url``. Absolute ones are taken through the longest matching prefix of
    ``path_map``; else as they stand. With ``exists``, a file that is not there is looked for around
    ``base_url``, and StoreError is raised when it is nowhere. FormatError: a range that cannot be.
    """
    match handle:
        case ByteStreamStateHandle():
            return Inline(data=handle.data)
        case EmptySegmentFileStateHandle():
            return Inline(data=b"")
        case KeyGroupsStateHandle():
            return resolve(handle.stream, base_url, path_map, exists)
        case RelativeFileStateHandle():
            url = _join(base_url, handle.relative_path)
            return _range(url, 0, handle.state_size)
        case FileStateHandle():
            return _range(_locate(handle.file_path, base_url, path_map, exists), 0, handle.state_size)
        case SegmentFileStateHandle():
            url = _locate(handle.file_path, base_url, path_map, exists)
            if handle.state_size < 0:
                raise FormatError(f"segment of {handle.state_size} bytes", where=Where(file=url))
            return _range(url, handle.start_pos, handle.state_size)


def _range(url: str, start: int, size: int) -> FileRange:
    if start < 0 or size < -1:
        raise FormatError(f"{size} bytes from {start} are no range of a file", where=Where(file=url))
    return FileRange(url=url, start=start, length=None if size == -1 else size)


def _locate(path: str, base_url: str, path_map: PathMap, exists: Exists | None) -> str:
    mapped = _mapped(path, path_map)
    url = path if mapped is None else mapped
    if exists is None or exists(url):
        return url
    if mapped is None:
        for candidate in dict.fromkeys(_around(path, base_url)):
            if exists(candidate):
                return candidate
    raise StoreError(
        f"{url} is missing, and not around {base_url} either" if mapped is None else f"{url} is missing",
        todo="say where its folder is now with --path-map OLD=NEW",
    )


def _mapped(path: str, path_map: PathMap) -> str | None:
    """``path`` with the longest prefix of whole folders replaced; ``file:/x`` and ``/x`` are one, and so are S3's
    schemes."""
    plain = _plain(path)
    matches = [(_plain(old), new) for old, new in path_map]
    matches = [(old, new) for old, new in matches if plain == old or plain.startswith(old.rstrip("/") + "/")]
    if not matches:
        return None
    old, new = max(matches, key=lambda match: len(match[0]))
    return _join(new, plain[len(old) :])


def _plain(path: str) -> str:
    """A local path without its scheme and doubled slashes; the path of another scheme as it stands, S3's as ``s3``."""
    local = re.fullmatch(r"(?:file:)?(?://(?=/))?(/.*)", path, re.DOTALL)
    if local:
        return re.sub("/+", "/", local[1]).rstrip("/") or "/"
    return re.sub("^s3[anp]://", "s3://", path).rstrip("/")


def _around(path: str, base_url: str) -> Iterator[str]:
    """Where Flink's layout would have the file: under the job's folder, under that of the job its path names
    (whose files a restored job goes on to use), and beside ``_metadata``. Changelog files have a base path of
    their own; a folder ``dstl`` beside that of the checkpoints is where a copy may keep it.
    """
    parts = [part for part in path.split("/") if part]
    job = posixpath.dirname(base_url.rstrip("/"))
    for i in range(len(parts) - 2, 0, -1):
        if _JOB_FOLDER.fullmatch(parts[i]):
            yield _join(job, "/".join(parts[i:]))
            of_its_job = "/".join(parts[i - 1 :])
            yield _join(posixpath.dirname(job), of_its_job)
            if parts[i] == "dstl":
                yield _join(posixpath.dirname(posixpath.dirname(job)), "dstl/" + of_its_job)
    if parts:
        yield _join(base_url, parts[-1])


def _join(folder: str, name: str) -> str:
    return folder.rstrip("/") + "/" + name.lstrip("/")
