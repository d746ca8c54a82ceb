"""Counts of what was asked of the stores and how many bytes went each way."""

from __future__ import annotations

import threading
from collections import Counter


class StoreStats:
    """Requests and bytes per kind of request and URL; safe to use from many threads.

    The kinds: ``read``, ``size`` (also of ``exists``), ``list``, ``write`` (a file or a step of it),
    ``copy`` (also of a part) and ``delete``. Retries inside a request are not counted.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str]] = Counter()
        self._bytes: Counter[tuple[str, str]] = Counter()

    def add(self, kind: str, url: str, size: int = 0) -> None:
        """Count one request of ``kind`` to ``url`` that moved ``size`` bytes from or to this process."""
        with self._lock:
            self._requests[kind, url] += 1
            self._bytes[kind, url] += size

    def requests(self, kind: str | None = None, url: str | None = None) -> int:
        """Number of requests, of one kind and to one URL (in normal form) where these are given."""
        return self._sum(self._requests, kind, url)

    def bytes_read(self, url: str | None = None) -> int:
        """Bytes received from the stores."""
        return self._sum(self._bytes, "read", url)

    def bytes_written(self, url: str | None = None) -> int:
        """Bytes sent to the stores."""
        return self._sum(self._bytes, "write", url)

    def reset(self) -> None:
        """Start again from zero."""
        with self._lock:
            self._requests.clear()
            self._bytes.clear()

    def _sum(self, counts: Counter[tuple[str, str]], kind: str | None, url: str | None) -> int:
        with self._lock:
            return sum(n for (k, u), n in counts.items() if kind in (None, k) and url in (None, u))
