"""An S3 in this process, for the demo: nothing to install, nothing kept."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import boto3
from moto.server import ThreadedMotoServer


@contextmanager
def embedded_s3(bucket: str) -> Iterator[str]:
    """The endpoint of a server with one bucket; meanwhile this process's AWS settings lead there and nowhere else."""
    # A level would be set back by whoever configures logging next.
    logging.getLogger("werkzeug").addFilter(lambda record: record.levelno >= logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    settings = {
        "AWS_ENDPOINT_URL_S3": endpoint,
        "AWS_ACCESS_KEY_ID": "demo",
        "AWS_SECRET_ACCESS_KEY": "demo",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    try:
        with _environment(settings, without=("AWS_PROFILE", "AWS_SESSION_TOKEN")):
            boto3.client("s3", endpoint_url=endpoint).create_bucket(Bucket=bucket)
            yield endpoint
    finally:
        server.stop()


@contextmanager
def _environment(values: Mapping[str, str], without: tuple[str, ...]) -> Iterator[None]:
    before = dict(os.environ)
    try:
        os.environ.update(values)
        for name in without:
            os.environ.pop(name, None)
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
