"""What botocore raises, said in one line: what is wrong, with which bucket at which endpoint, what to do."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterator

import botocore.exceptions as aws
import urllib3.exceptions

from ...schemas.errors import StoreError
from .urls import parse

_CHECK_KEYS = "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
_BY_CODE = {
    "NoSuchKey": ("no such file", "check the path"),
    "NoSuchUpload": ("the upload was ended by someone else", "run it again"),
    "404": ("no such file", "check the path"),
    "NotFound": ("no such file", "check the path"),
    "NoSuchBucket": ("no such bucket", "check its name and the endpoint, or create it"),
    "AccessDenied": ("access denied", "check the policy of the bucket and whose credentials are used"),
    "403": ("access denied", "check the credentials and the policy of the bucket"),
    "Forbidden": ("access denied", "check the credentials and the policy of the bucket"),
    "InvalidAccessKeyId": ("the access key is not known", _CHECK_KEYS),
    "SignatureDoesNotMatch": ("the secret key is wrong", _CHECK_KEYS),
    "ExpiredToken": ("the credentials have expired", "get new ones"),
    "InvalidToken": ("the session token is wrong", "check AWS_SESSION_TOKEN"),
    "InvalidBucketName": ("not a bucket name", "check the URL"),
    "SlowDown": ("too many requests", "use fewer threads"),
}
_NO_CREDENTIALS = (
    aws.NoCredentialsError,
    aws.PartialCredentialsError,
    aws.CredentialRetrievalError,
    aws.ProfileNotFound,
    aws.TokenRetrievalError,
    aws.SSOError,
)
_UNREACHABLE = (aws.ConnectionError, aws.HTTPClientError, urllib3.exceptions.HTTPError)

TRANSIENT = (aws.HTTPClientError, aws.IncompleteReadError, urllib3.exceptions.HTTPError)
"""What a broken connection raises while a body is read; botocore retries only up to its start."""


@contextlib.contextmanager
def s3_errors(url: str, endpoint: str | None, *, keep: Container[str] = ()) -> Iterator[None]:
    """Turn what botocore raises, except the codes ``keep``, into a StoreError that names URL and endpoint."""
    try:
        yield
    except (aws.BotoCoreError, aws.ClientError, urllib3.exceptions.HTTPError) as error:
        if isinstance(error, aws.ClientError) and code(error) in keep:
            raise
        raise explain(error, url, endpoint) from error


def code(error: aws.ClientError) -> str:
    """The error code of S3, or the HTTP status of an answer without a body."""
    return str(error.response.get("Error", {}).get("Code", "unknown"))


def missing_bucket(url: str, endpoint: str | None) -> StoreError:
    return _error(*_BY_CODE["NoSuchBucket"], url, endpoint)


def explain(error: Exception, url: str, endpoint: str | None) -> StoreError:
    """The StoreError for an exception of botocore."""
    if isinstance(error, aws.ClientError):
        name = code(error)
        what, todo = _BY_CODE.get(
            name, (f"S3 refuses with {name}: {_message(error)}", "see the store's logs")
        )
        return _error(what, todo, url, endpoint)
    if isinstance(error, _NO_CREDENTIALS):
        todo = (
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, or run where a role is attached"
        )
        return _error(f"no usable AWS credentials ({error})", todo, url, endpoint)
    if isinstance(error, aws.ParamValidationError):
        return _error(f"not an S3 URL ({error})", "check the name of the bucket", url, endpoint)
    if isinstance(error, _UNREACHABLE):
        todo = "check that the store runs, and the endpoint URL (AWS_ENDPOINT_URL or the option)"
        return _error(f"the store does not answer ({type(error).__name__})", todo, url, endpoint)
    return _error(f"S3 fails ({error})", "see the store's logs", url, endpoint)


def _message(error: aws.ClientError) -> str:
    return str(error.response.get("Error", {}).get("Message", "no message"))


def _error(what: str, todo: str, url: str, endpoint: str | None) -> StoreError:
    return StoreError(f"{what}: {url} (bucket {parse(url).authority!r} at {endpoint or 'AWS'})", todo=todo)
