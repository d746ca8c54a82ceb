"""Every other store (``gs``, ``abfss``, ``hdfs``, ``oss``, ``memory``, …) through fsspec and its packages."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import fsspec

from ...schemas.errors import InputError, StoreError
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
from .urls import parse

_PACKAGES = {
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
    "gcs": "gcsfs",
    "gs": "gcsfs",
    "hdfs": "pyarrow",
    "oci": "ocifs",
    "oss": "ossfs",
    "sftp": "paramiko",
    "ssh": "paramiko",
}
_NEEDS = {
    "hdfs": "install Hadoop's client, and set HADOOP_HOME and CLASSPATH so that its libhdfs is found, or use webhdfs"
}
"""What a scheme needs besides a package."""
_COPY_BYTES = 8 * 1024 * 1024


@contextlib.contextmanager
def _errors(url: str) -> Iterator[None]:
    """Turn whatever a file system raises into a StoreError that names ``url``."""
    try:
        yield
    except (InputError, GeneratorExit):
        raise
    except FileNotFoundError as error:
        raise StoreError(f"no such file: {url}", todo="check the path") from error
    except IsADirectoryError as error:
        raise StoreError(f"a folder, not a file: {url}", todo="name a file in it") from error
    except PermissionError as error:
        raise StoreError(f"access denied: {url}", todo="check the credentials and the permissions") from error
    except Exception as error:
        # Each package has exceptions of its own that share no base.
        raise StoreError(
            f"the store fails ({type(error).__name__}: {error}): {url}",
            todo="check the URL and the credentials",
        ) from error


def _connect(root: str, scheme: str) -> Any:
    """The file system behind ``root``; StoreError names the package that is missing for it."""
    try:
        return fsspec.core.url_to_fs(root + "/", use_listings_cache=False)[0]
    except (ImportError, ValueError) as error:
        package = _PACKAGES.get(scheme)
        if package is not None:
            raise StoreError(f"{root} needs the package {package}", todo=f"pip install {package}") from error
        raise StoreError(
            f"no store for the scheme {scheme!r} of {root} ({_short(error)})", todo="check the URL"
        ) from error
    except Exception as error:
        raise StoreError(
            f"no connection to {root} ({_short(error)})",
            todo=_NEEDS.get(scheme, "check the URL and the credentials"),
        ) from error


def _short(error: Exception) -> str:
    text = f"{type(error).__name__}: {error}"
    return text if len(text) <= 200 else text[:200] + " …"


class FsspecStore:
    """Files of one fsspec file system: of one scheme and authority, such as one ``gs`` bucket."""

    def __init__(self, stats: StoreStats, url: str) -> None:
        self._stats = stats
        parsed = parse(url)
        self._root = f"{parsed.scheme}://{parsed.authority}"
        self._fs: Any = _connect(self._root, parsed.scheme)
        self._stripped_root = self._strip(self._root).rstrip("/")

    def size(self, url: str) -> int:
        self._stats.add("size", url)
        with _errors(url):
            return self._size(url)

    def exists(self, url: str) -> bool:
        self._stats.add("size", url)
        with _errors(url):
            try:  # fsspec's own ``isfile`` says False of a store that fails
                return bool(self._fs.info(self._strip(url))["type"] == "file")
            except (FileNotFoundError, NotADirectoryError):
                return False

    def read(self, url: str, start: int, length: int | None) -> bytes:
        check_range(url, start, length)
        with _errors(url):
            size = self._size(url)
            end = size if length is None else start + length
            if start > end or end > size:
                raise ends_early(url, start, length, size)
            data = bytes(self._fs.cat_file(self._strip(url), start=start, end=end)) if end > start else b""
            if len(data) < end - start:
                raise ends_early(url, start, length, start + len(data))
        self._stats.add("read", url, len(data))
        return data

    def list(self, prefix: str) -> Iterator[FileInfo]:
        self._stats.add("list", prefix)
        folder = self._strip(prefix.rpartition("/")[0] + "/")
        with _errors(prefix):
            try:
                found = self._fs.find(folder, detail=True)
            except (FileNotFoundError, NotADirectoryError):
                return
        files = []
        for path, info in found.items():
            url = self._root + "/" + path[len(self._stripped_root) :].lstrip("/")
            if url.startswith(prefix) and not url.endswith(TEMPORARY_SUFFIX):
                files.append(FileInfo(url, int(info["size"])))
        yield from sorted(files, key=lambda file: file.url)

    def put(self, url: str, data: Bytes) -> None:
        with self.open_write(url) as writer:
            writer.write(data)

    def open_write(self, url: str, held_bytes: int | None = None) -> StoreWriter:
        return _FsspecWriter(self._fs, require_file_url(url), self._strip(url), self._stats)

    def copy(self, src: str, dst: str) -> None:
        require_file_url(dst)
        self._stats.add("copy", dst)
        with _errors(src):
            self._size(src)
            self._make_folder(dst)
            self._fs.cp_file(self._strip(src), self._strip(dst))

    def compose(self, target: str, parts: Sequence[str]) -> None:
        sizes = [self.size(part) for part in parts]
        with self.open_write(target) as writer:
            for part, size in zip(parts, sizes, strict=True):
                for start in range(0, size, _COPY_BYTES):
                    writer.write(self.read(part, start, min(_COPY_BYTES, size - start)))

    def delete(self, urls: Sequence[str]) -> None:
        for url in urls:
            self._stats.add("delete", url)
            with _errors(url), contextlib.suppress(FileNotFoundError):
                self._fs.rm_file(self._strip(require_file_url(url)))

    def _strip(self, url: str) -> str:
        return str(self._fs._strip_protocol(url))

    def _size(self, url: str) -> int:
        info = self._fs.info(self._strip(url))
        if info["type"] == "directory":
            raise IsADirectoryError(url)
        return int(info["size"])

    def _make_folder(self, url: str) -> None:
        _make_folder(self._fs, self._strip(url))


class _FsspecWriter(StoreWriter):
    """Writes beside the target under a name of its own and moves it at the end: not all wait for close."""

    def __init__(self, fs: Any, url: str, path: str, stats: StoreStats) -> None:
        self._fs = fs
        self._url = url
        self._path = path
        self._stats = stats
        folder, _, name = path.rpartition("/")
        self._temporary = f"{folder}/.{name[:200]}.{secrets.token_hex(6)}{TEMPORARY_SUFFIX}"
        self._open = True
        with _errors(url):
            if fs.isdir(path):
                raise IsADirectoryError(url)
            _make_folder(fs, path)
            self._file = fs.open(self._temporary, "wb")

    def write(self, data: Bytes) -> None:
        if not self._open:
            raise ValueError(f"write to a closed file: {self._url}")
        with _errors(self._url):
            self._file.write(data)
        self._stats.add("write", self._url, memoryview(data).nbytes)

    def close(self) -> None:
        if not self._open:
            return
        try:
            with _errors(self._url):
                self._file.close()
                _move(self._fs, self._temporary, self._path)
        except BaseException:
            self.abort()
            raise
        self._open = False

    def abort(self) -> None:
        if not self._open:
            return
        self._open = False
        with contextlib.suppress(Exception):
            self._file.close()
        with contextlib.suppress(Exception):
            self._fs.rm_file(self._temporary)


def _move(fs: Any, source: str, target: str) -> None:
    """Rename where the file system can; fsspec's own ``mv`` copies, and takes ``*``, ``?`` and ``[`` for patterns."""
    if type(fs).mv is not fsspec.AbstractFileSystem.mv:
        fs.mv(source, target)
    else:
        fs.cp_file(source, target)
        fs.rm_file(source)


def _make_folder(fs: Any, path: str) -> None:
    """Create the folder of ``path`` where there are folders; object stores may refuse, and do not need it."""
    with contextlib.suppress(Exception):
        fs.makedirs(path.rpartition("/")[0], exist_ok=True)
