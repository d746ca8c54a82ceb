"""Writing one S3 object: parts go up in the background while the next is filled; a small one in one go."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any

from .base import Bytes, StoreWriter
from .s3_client import S3Access, place
from .s3_errors import s3_errors

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef

PART_BYTES = 8 * 1024 * 1024
"""Size of the first parts, and the largest object that is written in one request."""

MIN_PART_BYTES = 5 * 1024 * 1024
"""The least that S3 takes as a part, but for the last; also what an object must exceed for a range of it to be copied.
"""

IN_FLIGHT = 2
"""Parts of one object that go up while the next is filled: more would only hold memory, since nothing here makes
bytes faster than two connections take them."""

PARTS_PER_SIZE = 1000
"""After so many parts they double in size: 10 000 parts are all that S3 takes, and hold 8 TB so."""


class Upload:
    """A multipart upload: parts in, one object out at ``complete``, nothing left after ``abort``."""

    def __init__(self, access: S3Access, url: str) -> None:
        self._access = access
        self._url = url
        self._bucket, self._key = place(url)
        with s3_errors(url, access.endpoint):
            answer = access.client.create_multipart_upload(Bucket=self._bucket, Key=self._key)
        access.stats.add("write", url)
        self._id = answer["UploadId"]

    def send(self, number: int, data: bytearray) -> CompletedPartTypeDef:
        """Upload part ``number`` (from 1)."""
        body: Any = data  # not copied, though the stubs of boto know of no bytearray
        with s3_errors(self._url, self._access.endpoint):
            answer = self._access.client.upload_part(
                Bucket=self._bucket,
                Key=self._key,
                UploadId=self._id,
                PartNumber=number,
                Body=body,
            )
        self._access.stats.add("write", self._url, len(data))
        return {"PartNumber": number, "ETag": answer["ETag"]}

    def copy(self, number: int, source: str, span: tuple[int, int] | None) -> CompletedPartTypeDef:
        """Take part ``number`` from another object, or from its range (start, length), inside the store."""
        bucket, key = place(source)
        extra: dict[str, Any] = (
            {} if span is None else {"CopySourceRange": f"bytes={span[0]}-{sum(span) - 1}"}
        )
        with s3_errors(self._url, self._access.endpoint):
            answer = self._access.client.upload_part_copy(
                Bucket=self._bucket,
                Key=self._key,
                UploadId=self._id,
                PartNumber=number,
                CopySource={"Bucket": bucket, "Key": key},
                **extra,
            )
        self._access.stats.add("copy", self._url)
        return {"PartNumber": number, "ETag": answer["CopyPartResult"]["ETag"]}

    def complete(self, parts: Sequence[CompletedPartTypeDef]) -> None:
        """Make the object appear."""
        with s3_errors(self._url, self._access.endpoint):
            self._access.client.complete_multipart_upload(
                Bucket=self._bucket, Key=self._key, UploadId=self._id, MultipartUpload={"Parts": parts}
            )
        self._access.stats.add("write", self._url)

    def abort(self, running: Sequence[Future[CompletedPartTypeDef]]) -> None:
        """Forget the parts. Those ``running`` are waited for, since a late one would stay and be paid for.

        A failure here is not raised: it would hide what went wrong before.
        """
        for future in running:
            future.cancel()
        wait(running)
        with contextlib.suppress(Exception):
            self._access.client.abort_multipart_upload(Bucket=self._bucket, Key=self._key, UploadId=self._id)


class S3Writer(StoreWriter):
    """Holds the part being filled and those in flight; ``put`` writes a small object."""

    def __init__(
        self, access: S3Access, url: str, put: Callable[[Bytes], None], held_bytes: int | None
    ) -> None:
        self._access = access
        self._url = url
        self._put = put
        self._buffer = bytearray()
        self._upload: Upload | None = None
        self._running: deque[Future[CompletedPartTypeDef]] = deque()
        self._done: list[CompletedPartTypeDef] = []
        self._open = True
        self._first_part, self._in_flight = PART_BYTES, IN_FLIGHT
        if held_bytes is not None and held_bytes < PART_BYTES * (1 + IN_FLIGHT):
            self._first_part = MIN_PART_BYTES
            self._in_flight = max(0, min(IN_FLIGHT, held_bytes // MIN_PART_BYTES - 1))

    def write(self, data: Bytes) -> None:
        if not self._open:
            raise ValueError(f"write to a closed file: {self._url}")
        rest = memoryview(data).cast("B")
        while rest:
            # A full buffer goes up only when more comes, so that one part's worth is still a single request.
            if len(self._buffer) == self._part_bytes():
                self._send()
            room = self._part_bytes() - len(self._buffer)
            self._buffer += rest[:room]
            rest = rest[room:]

    def close(self) -> None:
        if not self._open:
            return
        try:
            if self._upload is None:
                self._put(self._buffer)
            else:
                self._send()
                while self._running:
                    self._done.append(self._running.popleft().result())
                self._upload.complete(self._done)
        except BaseException:
            self.abort()
            raise
        self._open = False

    def abort(self) -> None:
        if self._open and self._upload is not None:
            self._upload.abort(self._running)
        self._open = False
        self._buffer = bytearray()

    def _part_bytes(self) -> int:
        return self._first_part << (len(self._done) + len(self._running)) // PARTS_PER_SIZE

    def _send(self) -> None:
        if self._upload is None:
            self._upload = Upload(self._access, self._url)
        while len(self._running) > max(0, self._in_flight - 1):
            self._done.append(self._running.popleft().result())
        number = len(self._done) + len(self._running) + 1
        self._running.append(self._access.pool.submit(self._upload.send, number, self._buffer))
        self._buffer = bytearray()
        if not self._in_flight:
            self._done.append(self._running.popleft().result())
