"""The connection to S3 that reading, writing and composing share."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from ...schemas.errors import StoreError
from .base import require_file_url
from .s3_errors import s3_errors
from .stats import StoreStats
from .urls import parse

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

ATTEMPTS = 5
"""How often a request is tried in all, with growing waits between."""

Place = tuple[str, str]
"""(bucket, key)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Access:
    """``pool`` has ``threads`` threads; its tasks never wait for each other."""

    client: S3Client
    endpoint: str
    pool: Executor
    threads: int
    stats: StoreStats


def connect(endpoint_url: str | None, pool: Executor, threads: int, stats: StoreStats) -> S3Access:
    """A client with the credentials, region and endpoint of the usual AWS environment; makes no request."""
    config = Config(
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        # The pool's threads, and as many callers that read or write by themselves.
        max_pool_connections=2 * threads,
        connect_timeout=10,
        read_timeout=60,
        # Stores that only speak like S3 often refuse the checksums that newer clients add unasked.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    with s3_errors("s3://", endpoint_url):
        try:
            client = boto3.session.Session().client("s3", endpoint_url=endpoint_url, config=config)
        except ValueError as error:
            raise StoreError(
                str(error), todo="an endpoint is an http:// or https:// URL (AWS_ENDPOINT_URL or the option)"
            ) from error
    return S3Access(client=client, endpoint=client.meta.endpoint_url, pool=pool, threads=threads, stats=stats)


def place(url: str) -> Place:
    """Bucket and key of a URL; StoreError where it has no key."""
    parsed = parse(require_file_url(url))
    if not parsed.authority:
        raise StoreError(f"{url} names no bucket", todo="write s3://bucket/path")
    return parsed.authority, parsed.key
