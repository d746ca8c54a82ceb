"""S3 and what speaks like it: ranged reads, copies and concatenation inside the store, deletes in batches."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from typing import Any

import botocore.exceptions as aws

from ...schemas.errors import StoreError
from .base import Bytes, FileInfo, StoreWriter, check_range, ends_early
from .s3_client import ATTEMPTS, connect, place
from .s3_compose import compose
from .s3_errors import TRANSIENT, code, missing_bucket, s3_errors
from .s3_write import PART_BYTES, S3Writer
from .stats import StoreStats
from .urls import parse

COPY_BYTES = 5 * 1024**3
"""The largest object that S3 copies in one request."""

DELETE_BATCH = 1000
"""The most keys that one DeleteObjects takes."""

_NOT_FOUND = ("404", "NoSuchKey", "NoSuchBucket", "NotFound")


class S3Store:
    """Objects of S3 (scheme ``s3``), with the credentials and the region of the usual AWS environment.

    ``pool`` runs the uploads and copies of parts; ``threads`` is the number of its threads.
    """

    def __init__(self, stats: StoreStats, pool: Executor, threads: int, endpoint_url: str | None) -> None:
        self._access = connect(endpoint_url, pool, threads, stats)
        self._client = self._access.client
        self._endpoint = self._access.endpoint
        self._stats = stats
        self._buckets: set[str] = set()

    def size(self, url: str) -> int:
        size = self._head(url)
        if size is None:
            raise StoreError(f"no such file: {url} (at {self._endpoint})", todo="check the path")
        return size

    def exists(self, url: str) -> bool:
        return self._head(url) is not None

    def read(self, url: str, start: int, length: int | None) -> bytes:
        check_range(url, start, length)
        if length == 0:
            return b""
        request: dict[str, str] = {}
        if start or length is not None:
            request["Range"] = f"bytes={start}-{'' if length is None else start + length - 1}"
        try:
            with s3_errors(url, self._endpoint, keep=("InvalidRange", "416")):
                data = self._fetch(url, request, length)
        except aws.ClientError:
            size = self.size(url)
            if length is None and start == size:
                return b""
            raise ends_early(url, start, length, size) from None
        self._stats.add("read", url, len(data))
        if length is not None and len(data) < length:
            raise ends_early(url, start, length, start + len(data))
        return data

    def _fetch(self, url: str, request: dict[str, Any], length: int | None) -> bytes:
        """One GET, again from its start where the connection breaks within the body."""
        bucket, key = place(url)
        attempt = 1
        while True:
            answer = self._client.get_object(Bucket=bucket, Key=key, **request)
            with answer["Body"] as body:
                if length is not None and answer["ContentLength"] > length:
                    raise StoreError(
                        f"the store at {self._endpoint} ignores ranges: {url}", todo="use one that has them"
                    )
                try:
                    data: bytes = body.read()
                    return data
                except TRANSIENT:
                    if attempt == ATTEMPTS:
                        raise
            time.sleep(random.uniform(0, min(0.1 * 2**attempt, 5)))
            attempt += 1

    def list(self, prefix: str) -> Iterator[FileInfo]:
        parsed = parse(prefix)
        key = parsed.key + ("/" if prefix.endswith("/") and parsed.key else "")
        with s3_errors(prefix, self._endpoint):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=parsed.authority, Prefix=key
            )
            for page in pages:
                self._stats.add("list", prefix)
                for item in page.get("Contents", ()):
                    # A key with a slash at its end is how Hadoop and the console mark a folder.
                    if not item["Key"].endswith("/"):
                        yield FileInfo(f"s3://{parsed.authority}/{item['Key']}", item["Size"])

    def put(self, url: str, data: Bytes) -> None:
        size = memoryview(data).nbytes
        if size > PART_BYTES:
            with self.open_write(url) as writer:
                writer.write(data)
            return
        bucket, key = place(url)
        # A bytearray goes as it is, not copied, though the stubs of boto do not say so.
        body: Any = data if isinstance(data, bytearray) else bytes(data)
        with s3_errors(url, self._endpoint):
            self._client.put_object(Bucket=bucket, Key=key, Body=body)
        self._stats.add("write", url, size)

    def open_write(self, url: str, held_bytes: int | None = None) -> StoreWriter:
        place(url)
        return S3Writer(self._access, url, lambda data: self.put(url, data), held_bytes)

    def copy(self, src: str, dst: str) -> None:
        size = self.size(src)
        if src == dst:  # S3 refuses to copy an object to itself
            return
        if size > COPY_BYTES:
            compose(self._access, self, [(src, size)], dst)
            return
        bucket, key = place(src)
        to_bucket, to_key = place(dst)
        with s3_errors(dst, self._endpoint):
            self._client.copy_object(Bucket=to_bucket, Key=to_key, CopySource={"Bucket": bucket, "Key": key})
        self._stats.add("copy", dst)

    def compose(self, target: str, parts: Sequence[str]) -> None:
        place(target)
        sizes = list(self._access.pool.map(self.size, parts))
        filled = [(part, size) for part, size in zip(parts, sizes, strict=True) if size]
        if not filled:
            self.put(target, b"")
        elif len(filled) == 1:
            self.copy(filled[0][0], target)
        else:
            compose(self._access, self, filled, target)

    def delete(self, urls: Sequence[str]) -> None:
        keys: dict[str, list[str]] = {}
        for url in urls:
            bucket, key = place(url)
            keys.setdefault(bucket, []).append(key)
        for bucket, names in keys.items():
            for at in range(0, len(names), DELETE_BATCH):
                self._delete(bucket, names[at : at + DELETE_BATCH])

    def _delete(self, bucket: str, keys: Sequence[str]) -> None:
        url = f"s3://{bucket}/{keys[0]}"
        with s3_errors(url, self._endpoint):
            answer = self._client.delete_objects(
                Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
            )
        self._stats.add("delete", url)
        for failed in answer.get("Errors", ()):
            raise StoreError(
                f"not deleted: s3://{bucket}/{failed.get('Key')} ({failed.get('Code')} at {self._endpoint})",
                todo="check the policy of the bucket",
            )

    def _head(self, url: str) -> int | None:
        """Size of an object, or None where there is none; a missing bucket is an error."""
        bucket, key = place(url)
        self._stats.add("size", url)
        with s3_errors(url, self._endpoint):
            try:
                size = self._client.head_object(Bucket=bucket, Key=key)["ContentLength"]
            except aws.ClientError as error:
                if code(error) not in _NOT_FOUND:
                    raise
                self._require_bucket(url, bucket)
                return None
        self._buckets.add(bucket)
        return size

    def _require_bucket(self, url: str, bucket: str) -> None:
        """A HEAD answers 404 without saying whether the key or the bucket is missing: ask once per bucket."""
        if bucket in self._buckets:
            return
        try:
            self._client.head_bucket(Bucket=bucket)
        except aws.ClientError as error:
            if code(error) in _NOT_FOUND:
                raise missing_bucket(url, self._endpoint) from None
            # Not allowed to look at the bucket, but the key was answered for: the bucket is there.
        self._buckets.add(bucket)
