"""URLs of stores as plain strings: normalise, join, take the parent. Nothing here opens anything.

A URL has the normal form ``scheme://authority/path``: the scheme in lower case, every way to write S3 as
``s3``, the path without empty, ``.`` or ``..`` segments and without a slash at its end, as Flink's ``Path``
keeps it (org.apache.flink.core.fs.Path). Like there, percent signs mean themselves.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ...schemas.errors import StoreError

_ABSOLUTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(/.*)", re.DOTALL)
_SAME_SCHEME = {"s3a": "s3", "s3n": "s3", "s3p": "s3"}


@dataclass(frozen=True, slots=True)
class ParsedUrl:
    """``path`` starts with a slash, or is empty for the root of the store (a bucket, the file system)."""

    scheme: str
    authority: str
    path: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path or ('' if self.authority else '/')}"

    @property
    def key(self) -> str:
        """The path as an object key: without the slash in front."""
        return self.path[1:]


def parse(url: str) -> ParsedUrl:
    """The normal form of ``url`` in its parts; a relative plain path is taken from the working directory.

    Raises StoreError for a ``file:`` URL of another host and a path that climbs above its root or is no path.
    """
    if "\0" in url:
        raise StoreError(f"{url!r} has a zero byte in it", todo="check the path")
    match = _ABSOLUTE.fullmatch(url)
    if match is None:
        return ParsedUrl("file", "", _clean(os.path.join(os.getcwd(), url), url))
    scheme, rest = match[1].lower(), match[2]
    scheme = _SAME_SCHEME.get(scheme, scheme)
    authority, path = "", rest
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
    if scheme == "file":
        if authority not in ("", "localhost"):
            raise StoreError(
                f"{url} names a file of the host {authority!r}", todo="a local file is file:///path"
            )
        authority = ""
    return ParsedUrl(scheme, authority, _clean(path, url))


def _clean(path: str, url: str) -> str:
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            if not names:
                raise StoreError(f"{url} climbs above its root", todo="check the path")
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return "".join("/" + name for name in names)


def normalize(url: str) -> str:
    """The normal form of ``url``: ``s3a://b//k/`` is ``s3://b/k``, ``/tmp/x`` and ``file:/tmp/x`` are ``file:///tmp/x``."""
    return str(parse(url))


def normalize_prefix(url: str) -> str:
    """As ``normalize``, but a slash at the end is kept: ``s3://b/dir/`` does not mean ``s3://b/dir-2/x``."""
    normal = normalize(url)
    return normal + "/" if url.endswith("/") and not normal.endswith("/") else normal


def is_absolute(url: str) -> bool:
    """Whether ``url`` stands by itself: it has a scheme, or is a plain path from the root."""
    return url.startswith("/") or _ABSOLUTE.fullmatch(url) is not None


def join(base: str, name: str) -> str:
    """``name`` under the folder ``base``; an absolute one stands by itself; ``..`` climbs, as in Flink."""
    if is_absolute(name):
        return normalize(name)
    parsed = parse(base)
    path = _clean(f"{parsed.path}/{name}", f"{base}/{name}")
    return str(ParsedUrl(parsed.scheme, parsed.authority, path))


def parent(url: str) -> str:
    """The folder that holds ``url``; the root is its own parent."""
    parsed = parse(url)
    return str(ParsedUrl(parsed.scheme, parsed.authority, parsed.path.rpartition("/")[0]))


def local_path(url: str) -> str:
    """The path of a ``file`` URL in normal form."""
    return parse(url).path or "/"
