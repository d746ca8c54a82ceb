"""``statelift demo`` on an S3 in this process."""

from __future__ import annotations

import io
import os

import pytest
from rich.console import Console
from statelift.io.stores import Stores
from statelift.orchestration import demo
from statelift.orchestration.demo import run_demo
from statelift.orchestration.embedded_s3 import embedded_s3


def test_the_demo_repairs_converts_and_verifies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "of-somebody")
    out = io.StringIO()
    assert run_demo(console=Console(file=out, width=160)) == 0
    text = out.getvalue()
    assert "-1700000000000" in text
    assert "from hashmap to rocksdb" in text
    assert "s3://state/savepoints/fraud-on-rocksdb" in text
    assert text.count("passed") == 6
    assert "FAILED" not in text
    assert os.environ["AWS_PROFILE"] == "of-somebody"


def test_a_run_that_fails_is_told_and_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    make = demo.demo_plan
    states = {"user-stat": {"delete": {"where": "true"}}}
    wrong = {"operators": {"session-tracker": {"states": states}}}
    monkeypatch.setattr(
        demo, "demo_plan", lambda *places: type(make(*places)).of({**make(*places).model_dump(), **wrong})
    )
    out = io.StringIO()
    assert run_demo(console=Console(file=out, width=160)) == 1
    assert "user-stat" in out.getvalue()


def test_the_embedded_s3_is_gone_afterwards() -> None:
    with embedded_s3("one") as endpoint:
        Stores(endpoint).put("s3://one/file", b"content")
        assert Stores().read("s3://one/file") == b"content"
        assert os.environ["AWS_ENDPOINT_URL_S3"] == endpoint
    assert os.environ.get("AWS_ENDPOINT_URL_S3") != endpoint
