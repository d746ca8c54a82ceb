"""What is particular to S3: what an error says, how little is asked, and a connection that breaks."""

from __future__ import annotations

import http.server
import multiprocessing
import os
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import boto3
import pytest
from statelift.io.stores import Stores, s3, s3_client
from statelift.schemas.errors import StoreError

MIB = 1024 * 1024


@pytest.fixture
def stores(moto_endpoint: str, aws_environment: pytest.MonkeyPatch) -> Stores:
    return Stores(endpoint_url=moto_endpoint)


@pytest.fixture
def base() -> str:
    return f"s3://state/{uuid.uuid4().hex[:8]}"


@pytest.mark.parametrize("kind", ["moto", "seaweed"])
def test_a_missing_bucket_is_named_with_its_endpoint(
    kind: str, request: pytest.FixtureRequest, aws_environment: pytest.MonkeyPatch
) -> None:
    endpoint = request.getfixturevalue(f"{kind}_endpoint")
    stores = Stores(endpoint_url=endpoint)
    url = "s3://no-such-bucket/file"
    for use in (
        stores.size,
        stores.exists,
        stores.read,
        lambda u: stores.read(u, 1, 2),
        lambda u: list(stores.list(u)),
        lambda u: stores.put(u, b"x"),
        lambda u: stores.put(u, bytes(9 * MIB)),
        lambda u: stores.copy(u, "s3://state/x"),
        lambda u: stores.compose(u, []),
        lambda u: stores.delete([u]),
    ):
        with pytest.raises(StoreError) as error:
            use(url)
        text = str(error.value)
        assert text.startswith(f"no such bucket: {url} (bucket 'no-such-bucket' at {endpoint})")
        assert "\n" not in text


def test_every_way_to_write_s3_is_the_same_store(stores: Stores, base: str) -> None:
    stores.put(f"{base}/file", b"x")
    for scheme in ("s3a", "s3n", "s3p"):
        assert stores.read(f"{base}/file".replace("s3", scheme, 1)) == b"x"


def test_the_endpoint_comes_from_the_environment(
    moto_endpoint: str, aws_environment: pytest.MonkeyPatch, base: str
) -> None:
    aws_environment.setenv("AWS_ENDPOINT_URL", moto_endpoint)
    Stores().put(f"{base}/file", b"here")
    assert Stores(endpoint_url=moto_endpoint).read(f"{base}/file") == b"here"


def test_a_store_that_does_not_answer(aws_environment: pytest.MonkeyPatch) -> None:
    aws_environment.setattr(s3_client, "ATTEMPTS", 1)
    stores = Stores(endpoint_url="http://127.0.0.1:9")
    for use in (stores.read, stores.exists, lambda u: stores.put(u, b"x"), lambda u: list(stores.list(u))):
        with pytest.raises(StoreError) as error:
            use("s3://state/file")
        assert "the store does not answer" in str(error.value)
        assert "s3://state/file (bucket 'state' at http://127.0.0.1:9)" in str(error.value)
        assert "AWS_ENDPOINT_URL" in str(error.value)


def test_missing_credentials_say_what_to_set(moto_endpoint: str, aws_environment: pytest.MonkeyPatch) -> None:
    aws_environment.delenv("AWS_ACCESS_KEY_ID")
    aws_environment.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(StoreError, match=r"no usable AWS credentials.*s3://state/file.*AWS_ACCESS_KEY_ID"):
        Stores(endpoint_url=moto_endpoint).read("s3://state/file")


def test_a_profile_that_is_not_there(moto_endpoint: str, aws_environment: pytest.MonkeyPatch) -> None:
    aws_environment.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(StoreError, match=r"no usable AWS credentials.*nobody"):
        Stores(endpoint_url=moto_endpoint).read("s3://state/file")


@pytest.mark.parametrize("endpoint", ["not a url", "localhost:9000", "http://"])
def test_an_endpoint_that_is_no_url(endpoint: str, aws_environment: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError):
        Stores(endpoint_url=endpoint).read("s3://state/file")


def test_a_name_that_no_bucket_has(stores: Stores) -> None:
    with pytest.raises(StoreError, match="not an S3 URL"):
        stores.read("s3://Not_A Bucket!/file")


def test_small_files_take_one_request(stores: Stores, base: str) -> None:
    with stores.open_write(f"{base}/file") as writer:
        for _ in range(8):
            writer.write(bytes(MIB))
    assert stores.stats.requests() == stores.stats.requests("write") == 1


def test_an_aborted_multipart_upload_leaves_no_parts(stores: Stores, base: str, moto_endpoint: str) -> None:
    writer = stores.open_write(f"{base}/file")
    writer.write(bytes(30 * MIB))
    client = boto3.client("s3", endpoint_url=moto_endpoint)
    assert [u["Key"] for u in client.list_multipart_uploads(Bucket="state")["Uploads"]]
    writer.abort()
    assert "Uploads" not in client.list_multipart_uploads(Bucket="state")


def test_copies_and_large_parts_do_not_pass_through_here(stores: Stores, base: str) -> None:
    for name in ("a", "b"):
        stores.put(f"{base}/{name}", bytes(6 * MIB))
    stores.put(f"{base}/c", b"the end")
    stores.stats.reset()
    stores.copy(f"{base}/a", f"{base}/copy")
    stores.compose(f"{base}/whole", [f"{base}/{name}" for name in "abc"])
    assert stores.stats.bytes_read() == stores.stats.bytes_written() == 0
    assert stores.stats.requests("copy") == 1 + 3


def test_a_small_part_costs_no_more_than_one_part_to_read(stores: Stores, base: str) -> None:
    stores.put(f"{base}/small", bytes(10))
    stores.put(f"{base}/large", bytes(20 * MIB))
    stores.stats.reset()
    stores.compose(f"{base}/whole", [f"{base}/small", f"{base}/large"])
    assert stores.stats.bytes_read() == 5 * MIB
    assert stores.size(f"{base}/whole") == 20 * MIB + 10


def test_an_object_too_large_for_one_copy_goes_in_parts(
    stores: Stores, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = os.urandom(16 * MIB)
    stores.put(f"{base}/file", data)
    monkeypatch.setattr(s3, "COPY_BYTES", 10 * MIB)
    monkeypatch.setattr("statelift.io.stores.s3_compose.COPY_PART_BYTES", 6 * MIB)
    stores.copy(f"{base}/file", f"{base}/copy")
    assert stores.stats.requests("copy") == 3
    assert stores.stats.bytes_read() == 0
    assert stores.read(f"{base}/copy") == data


def test_deletes_go_in_batches(stores: Stores, base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3, "DELETE_BATCH", 2)
    urls = [f"{base}/{i}" for i in range(5)]
    for url in urls:
        stores.put(url, b"x")
    stores.delete(urls)
    assert stores.stats.requests("delete") == 3
    assert list(stores.list(base)) == []


def test_folder_markers_are_not_files(stores: Stores, base: str, moto_endpoint: str) -> None:
    key = base.removeprefix("s3://state/")
    boto3.client("s3", endpoint_url=moto_endpoint).put_object(Bucket="state", Key=f"{key}/folder/", Body=b"")
    stores.put(f"{base}/folder/file", b"x")
    assert [info.url for info in stores.list(base)] == [f"{base}/folder/file"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_another_process_makes_its_own_clients(stores: Stores, base: str, method: str) -> None:
    stores.put(f"{base}/file", b"a" + bytes(MIB - 1) + b"b")
    ranges = [(0, 1), (MIB, 1)]
    assert stores.read_ranges(f"{base}/file", ranges) == [b"a", b"b"]
    with ProcessPoolExecutor(1, multiprocessing.get_context(method)) as pool:
        assert pool.submit(stores.read_ranges, f"{base}/file", ranges).result() == [b"a", b"b"]


class Canned(http.server.BaseHTTPRequestHandler):
    """Answers as the test says: a list of (status, claimed length or None, body); the last one stays."""

    protocol_version = "HTTP/1.1"
    answers: list[tuple[int, int | None, bytes]]
    asked: list[str]

    def do_GET(self) -> None:
        status, length, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.asked.append(f"{self.command} {self.path} {self.headers.get('Range')}")
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.close_connection = True

    do_HEAD = do_PUT = do_POST = do_GET

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def canned(aws_environment: pytest.MonkeyPatch) -> Iterator[tuple[Stores, type[Canned]]]:
    handler = type("Handler", (Canned,), {"answers": [], "asked": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield Stores(endpoint_url=f"http://127.0.0.1:{server.server_port}"), handler
    server.shutdown()
    server.server_close()
    thread.join()


def _error(code: str) -> bytes:
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>because</Message></Error>".encode()


@pytest.mark.parametrize(
    ("status", "code", "text"),
    [
        (403, "AccessDenied", "access denied: s3://state/file"),
        (403, "InvalidAccessKeyId", "the access key is not known: s3://state/file"),
        (403, "SignatureDoesNotMatch", "the secret key is wrong: s3://state/file"),
        (400, "ExpiredToken", "the credentials have expired: s3://state/file"),
        (400, "Strange", "S3 refuses with Strange: because: s3://state/file"),
    ],
)
def test_a_refusal_is_one_line(
    canned: tuple[Stores, type[Canned]], status: int, code: str, text: str
) -> None:
    stores, server = canned
    server.answers = [(status, None, _error(code))]
    with pytest.raises(StoreError) as error:
        stores.read("s3://state/file")
    assert str(error.value).startswith(text)
    assert "bucket 'state' at http://127.0.0.1" in str(error.value)


def test_a_refused_head_is_not_taken_for_a_missing_file(canned: tuple[Stores, type[Canned]]) -> None:
    stores, server = canned
    server.answers = [(403, None, b"")]
    with pytest.raises(StoreError, match="access denied: s3://state/file"):
        stores.exists("s3://state/file")


def test_a_refused_delete_is_an_error(canned: tuple[Stores, type[Canned]]) -> None:
    stores, server = canned
    body = b"<DeleteResult><Error><Key>file</Key><Code>AccessDenied</Code></Error></DeleteResult>"
    server.answers = [(200, None, body)]
    with pytest.raises(StoreError, match=r"not deleted: s3://state/file \(AccessDenied"):
        stores.delete(["s3://state/file"])


def test_a_body_that_breaks_off_is_read_again(canned: tuple[Stores, type[Canned]]) -> None:
    stores, server = canned
    server.answers = [(206, 10, b"0123"), (206, None, b"0123456789")]
    assert stores.read("s3://state/file", 0, 10) == b"0123456789"
    assert server.asked == ["GET /state/file bytes=0-9"] * 2


def test_a_body_that_always_breaks_off_is_an_error(
    canned: tuple[Stores, type[Canned]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stores, server = canned
    monkeypatch.setattr(s3, "ATTEMPTS", 2)
    server.answers = [(206, 10, b"0123")]
    with pytest.raises(StoreError, match="the store does not answer"):
        stores.read("s3://state/file", 0, 10)
    assert len(server.asked) == 2


def test_a_busy_store_is_asked_again(canned: tuple[Stores, type[Canned]]) -> None:
    stores, server = canned
    server.answers = [(503, None, _error("SlowDown")), (200, None, b"data")]
    assert stores.read("s3://state/file") == b"data"


def test_a_store_without_ranges_is_refused(canned: tuple[Stores, type[Canned]]) -> None:
    stores, server = canned
    server.answers = [(200, None, b"the whole file")]
    with pytest.raises(StoreError, match="ignores ranges"):
        stores.read("s3://state/file", 0, 3)
