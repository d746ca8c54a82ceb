"""The one face of all stores: give it a URL of any scheme."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from ...schemas.errors import UnexpectedEndError
from .base import Bytes, FileInfo, Store, StoreWriter, check_range, ends_early
from .fsspec_store import FsspecStore
from .local import LocalStore
from .ranges import PIECE_BYTES, Range, cut, plan, split
from .s3 import S3Store
from .s3_write import MIN_PART_BYTES
from .stats import StoreStats
from .urls import normalize, normalize_prefix, parse


class Stores:
    """Reads and writes files by URL; safe to use from many threads, and picklable (the clients stay behind).

    ``endpoint_url`` is the S3 endpoint; by default AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or AWS itself.
    ``threads`` is the number of requests in flight of this object. ``stats`` counts requests and bytes; a
    copy in another process counts its own.

    Sizes, offsets and lengths are in bytes. StoreError is raised where a store is missing, refuses or fails.
    """

    def __init__(self, endpoint_url: str | None = None, threads: int = 8) -> None:
        self._endpoint_url = endpoint_url
        self._threads = threads
        self.stats = StoreStats()
        self._lock = threading.Lock()
        self._connect()

    def __reduce__(self) -> tuple[type[Stores], tuple[str | None, int]]:
        return Stores, (self._endpoint_url, self._threads)

    def size(self, url: str) -> int:
        """Size of a file in bytes."""
        url = normalize(url)
        return self._store(url).size(url)

    def exists(self, url: str) -> bool:
        """Whether there is a file (not a folder) at ``url``. A missing bucket is an error all the same."""
        url = normalize(url)
        return self._store(url).exists(url)

    def read(self, url: str, start: int = 0, length: int | None = None) -> bytes:
        """``length`` bytes from ``start``, or all from there.

        Raises UnexpectedEndError where the file ends before, FormatError for a negative start or length.
        """
        if length is not None:
            return self.read_ranges(url, [(start, length)])[0]
        url = normalize(url)
        return self._store(url).read(url, start, None)

    def read_ranges(self, url: str, ranges: Sequence[Range]) -> list[bytes]:
        """The bytes of each (start, length) of one file, in the order asked; near ranges share a request.

        Raises as ``read``, for the first range that does not fit.
        """
        url = normalize(url)
        for start, length in ranges:
            check_range(url, start, length)
        store = self._store(url)
        if any(length > PIECE_BYTES for _, length in ranges):
            # A length may be a damaged number: hold it against the file before making requests of it.
            _check_end(url, ranges, store.size(url))
        pieces = plan(ranges)
        try:
            data = self._read_pieces(store, url, pieces)
        except UnexpectedEndError:
            _check_end(url, ranges, store.size(url))
            raise
        return [cut(wanted, pieces, data) for wanted in ranges]

    def iter_chunks(
        self, url: str, start: int = 0, length: int | None = None, chunk_bytes: int = PIECE_BYTES
    ) -> Iterator[bytes]:
        """The bytes of a range in chunks of ``chunk_bytes`` (the last may be shorter).

        The next chunk is read while one is used; with the one being put together, up to three are in memory.
        Raises as ``read``; chunks before the failure have been given out by then.
        """
        if chunk_bytes < 1:
            raise ValueError(f"chunk_bytes is {chunk_bytes}, and must be 1 at least")
        url = normalize(url)
        check_range(url, start, length)
        store = self._store(url)
        if length is None:
            size = store.size(url)
            if start > size:
                raise ends_early(url, start, None, size)
            length = size - start
        return self._chunks(store, url, start, length, chunk_bytes)

    def list(self, url_prefix: str) -> Iterator[FileInfo]:
        """The files whose URL starts with ``url_prefix``, at any depth.

        They come in the order of their URLs from the local disk and from S3 itself; SeaweedFS has its own.
        ``…/savepoint-1`` also means ``…/savepoint-10/x``: end a folder with a slash. Files still being
        written are not listed; a folder that is not there has no files.
        """
        prefix = normalize_prefix(url_prefix)
        return self._store(prefix).list(prefix)

    def put(self, url: str, data: Bytes) -> None:
        """Write a whole file, replacing what is there; it appears at once or not at all."""
        url = normalize(url)
        self._store(url).put(url, data)

    def open_write(self, url: str, held_bytes: int | None = None) -> StoreWriter:
        """A writer that replaces the file at ``url`` when it is closed; until then nothing is visible.

        A writer to S3 holds parts of the file in memory: three of 8 MiB, or what ``held_bytes`` has room for, which is
        one of 5 MiB at least. Others hold little, or what their package holds.
        """
        url = normalize(url)
        return self._store(url).open_write(url, held_bytes)

    def least_held(self, url: str) -> int:
        """What a writer to ``url`` may hold however little it is given: on S3 a part."""
        return MIN_PART_BYTES if parse(url).scheme == "s3" else 0

    def copy(self, src: str, dst: str) -> None:
        """Copy a file, inside the store where both are in the same one."""
        self._combine(
            [normalize(src)], normalize(dst), lambda store, parts, target: store.copy(parts[0], target)
        )

    def compose(self, target: str, parts: Sequence[str]) -> None:
        """Write ``target`` as the concatenation of the files ``parts``, inside the store where it can."""
        self._combine(
            [normalize(part) for part in parts],
            normalize(target),
            lambda store, parts, target: store.compose(target, parts),
        )

    def delete(self, urls: Iterable[str]) -> None:
        """Delete files; those that are not there are not missed. Folders of the local file system stay."""
        by_store: dict[int, tuple[Store, list[str]]] = {}
        for url in map(normalize, urls):
            store = self._store(url)
            by_store.setdefault(id(store), (store, []))[1].append(url)
        for store, of_store in by_store.values():
            store.delete(of_store)

    def _combine(
        self, parts: Sequence[str], target: str, inside: Callable[[Store, Sequence[str], str], None]
    ) -> None:
        store = self._store(target)
        if all(self._store(part) is store for part in parts):
            inside(store, parts, target)
            return
        with store.open_write(target) as writer:
            for part in parts:
                for chunk in self.iter_chunks(part):
                    writer.write(chunk)

    def _chunks(self, store: Store, url: str, start: int, length: int, chunk_bytes: int) -> Iterator[bytes]:
        end = start + length

        def begin(at: int) -> list[Future[bytes]]:
            size = max(0, min(chunk_bytes, end - at))
            return [self._pool.submit(store.read, url, *piece) for piece in split(at, size)]

        current: list[Future[bytes]] = []
        ahead = begin(start)
        try:
            for at in range(start, end, chunk_bytes):
                current, ahead = ahead, begin(at + chunk_bytes)
                data = [future.result() for future in current]
                current = []
                yield data[0] if len(data) == 1 else b"".join(data)
        except UnexpectedEndError:
            _check_end(url, [(start, length)], store.size(url))
            raise
        finally:
            for future in current + ahead:
                future.cancel()

    def _read_pieces(self, store: Store, url: str, pieces: Sequence[Range]) -> Sequence[bytes]:
        """Each piece by a request of its own, in parallel; the first failure drops those that have not begun."""
        if len(pieces) == 1:
            return [store.read(url, *pieces[0])]
        futures = [self._pool.submit(store.read, url, *piece) for piece in pieces]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()

    def _store(self, url: str) -> Store:
        if self._pid != os.getpid():
            # After a fork the threads are gone and the sockets are shared with the parent.
            self._lock = threading.Lock()
            self._connect()
        parsed = parse(url)
        name = parsed.scheme if parsed.scheme in ("file", "s3") else f"{parsed.scheme}://{parsed.authority}"
        with self._lock:
            store = self._opened.get(name)
            if store is None:
                store = self._opened[name] = self._open(parsed.scheme, url)
            return store

    def _open(self, scheme: str, url: str) -> Store:
        if scheme == "file":
            return LocalStore(self.stats)
        if scheme == "s3":
            return S3Store(self.stats, self._pool, self._threads, self._endpoint_url)
        return FsspecStore(self.stats, url)

    def _connect(self) -> None:
        self._pid = os.getpid()
        self._opened: dict[str, Store] = {}
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="statelift-store")


def _check_end(url: str, ranges: Sequence[Range], size: int) -> None:
    for start, length in ranges:
        if start + length > size:
            raise ends_early(url, start, length, size)
