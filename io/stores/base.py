"""What a store is: the few operations each kind of store implements, and what they exchange."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from ...schemas.errors import FormatError, StoreError, UnexpectedEndError, Where
from .urls import parse

Bytes = bytes | bytearray | memoryview

TEMPORARY_SUFFIX = ".statelift-tmp"
"""The end of the name of a file that is being written; such files are never listed."""


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file of a store: its URL in normal form and its size in bytes."""

    url: str
    size: int


class StoreWriter(abc.ABC):
    """Writes one file, front to back; nothing is visible under its URL until ``close`` returns.

    As a context manager it closes at the end and aborts on an exception. ``abort`` leaves nothing behind, and
    does nothing once the file is closed.
    """

    @abc.abstractmethod
    def write(self, data: Bytes) -> None:
        """Append ``data``; it may be reused by the caller afterwards. Raises StoreError."""

    @abc.abstractmethod
    def close(self) -> None:
        """Make the file appear, whole; a second close does nothing. Where it fails it aborts: StoreError."""

    @abc.abstractmethod
    def abort(self) -> None:
        """Forget what was written."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


class Store(Protocol):
    """One kind of store. URLs are in normal form (urls.py), and name files of this store.

    Every method raises StoreError, a line that names the URL, where the store is missing, refuses or fails.
    """

    def size(self, url: str) -> int:
        """Size of a file in bytes."""

    def exists(self, url: str) -> bool:
        """Whether there is a file (not a folder) at ``url``."""

    def read(self, url: str, start: int, length: int | None) -> bytes:
        """``length`` bytes from ``start``, or all from there; UnexpectedEndError where it ends early."""

    def list(self, prefix: str) -> Iterator[FileInfo]:
        """The files whose URL starts with ``prefix``, at any depth."""

    def put(self, url: str, data: Bytes) -> None:
        """Write a whole file; it appears at once or not at all."""

    def open_write(self, url: str, held_bytes: int | None = None) -> StoreWriter:
        """A writer that replaces the file at ``url`` when it is closed, and holds about ``held_bytes`` if it can."""

    def copy(self, src: str, dst: str) -> None:
        """Copy a file inside the store."""

    def compose(self, target: str, parts: Sequence[str]) -> None:
        """Write ``target`` as the concatenation of the files ``parts``, inside the store where it can."""

    def delete(self, urls: Sequence[str]) -> None:
        """Delete files; those that are not there are not missed."""


def require_file_url(url: str) -> str:
    """``url``, if it names something below the root of its store; else StoreError."""
    if not parse(url).path:
        raise StoreError(f"{url} names no file", todo="give the path as well")
    return url


def check_range(url: str, start: int, length: int | None) -> None:
    """Raise FormatError for a range that no file can have: such numbers come from broken metadata."""
    if start < 0 or (length is not None and length < 0):
        raise FormatError(f"negative range: {length} bytes at {start}", where=Where(file=url, offset=start))


def ends_early(url: str, start: int, length: int | None, size: int) -> UnexpectedEndError:
    """The error of a file of ``size`` bytes that does not have ``length`` bytes from ``start``."""
    wanted = f"expected {length} bytes" if length is not None else "expected to read on"
    return UnexpectedEndError(
        f"the file ends early: {wanted} from offset {start}, got {max(0, size - start)}",
        where=Where(file=url, offset=start),
        todo=f"the file has {size} bytes; it may be cut short, or what refers to it is damaged",
    )
