"""The local file system as a store: atomic writes by rename, flushed to the disk before they appear."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from ...schemas.errors import StoreError
from .base import (
    TEMPORARY_SUFFIX,
    Bytes,
    FileInfo,
    StoreWriter,
    check_range,
    ends_early,
    require_file_url,
)
from .stats import StoreStats
from .urls import local_path

_CAUSES = {
    errno.ENOENT: ("no such file", "check the path"),
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "check the path"),
    errno.EEXIST: ("a part of the path is a file, not a folder", "check the path"),  # os.makedirs
    errno.EISDIR: ("a folder, not a file", "name a file in it"),
    errno.EACCES: ("access denied", "check the permissions of the file and its folders"),
    errno.EPERM: ("access denied", "check the permissions of the file and its folders"),
    errno.ENOSPC: ("no space left on the disk", "make room or write elsewhere"),
    errno.EROFS: ("the file system is read-only", "write elsewhere"),
    errno.ENAMETOOLONG: ("the name is too long", "check the path"),
}


@contextlib.contextmanager
def _errors(url: str) -> Iterator[None]:
    """Turn an OSError into a StoreError that names ``url``."""
    try:
        yield
    except OSError as error:
        cause = _CAUSES.get(error.errno or 0, (error.strerror or str(error), None))
        raise StoreError(f"{cause[0]}: {url}", todo=cause[1]) from error


class LocalStore:
    """Files of this machine (scheme ``file``)."""

    def __init__(self, stats: StoreStats) -> None:
        self._stats = stats

    def size(self, url: str) -> int:
        self._stats.add("size", url)
        with _errors(url), _open(url) as file:
            return os.fstat(file.fileno()).st_size

    def exists(self, url: str) -> bool:
        self._stats.add("size", url)
        with _errors(url):
            return os.path.isfile(local_path(url))

    def read(self, url: str, start: int, length: int | None) -> bytes:
        check_range(url, start, length)
        with _errors(url), _open(url) as file:
            # read() takes the memory it is asked for first, so the length is held against the size before.
            size = os.fstat(file.fileno()).st_size
            wanted = size - start if length is None else length
            if start + wanted > size or wanted < 0:
                raise ends_early(url, start, length, size)
            file.seek(start)
            data = file.read(wanted)
            if len(data) < wanted:
                raise ends_early(url, start, length, start + len(data))
        self._stats.add("read", url, len(data))
        return data

    def list(self, prefix: str) -> Iterator[FileInfo]:
        self._stats.add("list", prefix)
        path = prefix.removeprefix("file://")
        folder, _, name = path.rpartition("/")
        yield from _walk(folder or "/", name)

    def put(self, url: str, data: Bytes) -> None:
        with self.open_write(url) as writer:
            writer.write(data)

    def open_write(self, url: str, held_bytes: int | None = None) -> StoreWriter:
        return _LocalWriter(require_file_url(url), self._stats)

    def copy(self, src: str, dst: str) -> None:
        self.compose(dst, [src])

    def compose(self, target: str, parts: Sequence[str]) -> None:
        self._stats.add("copy", target)
        writer = _LocalWriter(require_file_url(target), None)
        with writer:
            for part in parts:
                with _errors(part), _open(part) as source:
                    writer.append(source)

    def delete(self, urls: Sequence[str]) -> None:
        for url in urls:
            self._stats.add("delete", url)
            with _errors(url), contextlib.suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(local_path(require_file_url(url)))


class _LocalWriter(StoreWriter):
    """Writes beside the target under a name of its own, and renames it at the end."""

    def __init__(self, url: str, stats: StoreStats | None) -> None:
        self._url = url
        self._stats = stats
        self._path = local_path(url)
        self._folder, name = os.path.split(self._path)
        self._temporary = os.path.join(
            self._folder, f".{name[:200]}.{secrets.token_hex(6)}{TEMPORARY_SUFFIX}"
        )
        with _errors(url):
            if os.path.isdir(self._path):
                raise IsADirectoryError(errno.EISDIR, "Is a directory")
            os.makedirs(self._folder, exist_ok=True)
            self._file: BinaryIO = open(self._temporary, "xb")  # noqa: SIM115 - closed by close() or abort()

    def write(self, data: Bytes) -> None:
        with _errors(self._url):
            self._file.write(data)
        if self._stats is not None:
            self._stats.add("write", self._url, memoryview(data).nbytes)

    def append(self, source: BinaryIO) -> None:
        """Append all of another file, without its bytes passing through Python objects of its size."""
        with _errors(self._url):
            shutil.copyfileobj(source, self._file, 1 << 20)

    def close(self) -> None:
        if self._file.closed:
            return
        try:
            with _errors(self._url):
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()
                os.replace(self._temporary, self._path)
                _sync_folder(self._folder)
        except BaseException:
            self._remove()
            raise

    def abort(self) -> None:
        if not self._file.closed:
            self._remove()

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._temporary)


def _open(url: str) -> BinaryIO:
    return open(local_path(url), "rb")


def _sync_folder(folder: str) -> None:
    """Flush the folder too: without it a renamed file can be lost with the power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _walk(folder: str, prefix: str) -> Iterator[FileInfo]:
    """Files below ``folder`` whose path there starts with ``prefix``, in the order of object stores."""
    found: list[tuple[str, os.DirEntry[str]]] = []
    with (
        _errors("file://" + folder),
        contextlib.suppress(FileNotFoundError, NotADirectoryError),
        os.scandir(folder) as entries,
    ):
        for entry in entries:
            if entry.name.startswith(prefix) and not entry.name.endswith(TEMPORARY_SUFFIX):
                # A folder sorts by its name with the slash, as the keys below it do.
                found.append((entry.name + "/" * entry.is_dir(follow_symlinks=False), entry))
    for name, entry in sorted(found, key=lambda item: os.fsencode(item[0])):
        if name.endswith("/"):
            yield from _walk(entry.path, "")
        else:
            with _errors("file://" + entry.path), contextlib.suppress(FileNotFoundError):
                if entry.is_file():
                    yield FileInfo("file://" + entry.path, entry.stat().st_size)
