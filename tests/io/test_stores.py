"""What every store does alike: the local files, S3 (moto and SeaweedFS) and those behind fsspec."""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import random
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from statelift.io.stores import FileInfo, Stores
from statelift.schemas.errors import FormatError, StoreError, UnexpectedEndError

MIB = 1024 * 1024
DATA = random.Random(1).randbytes(20 * MIB + 12345)


@dataclass
class Place:
    """A store and an empty folder in it."""

    stores: Stores
    base: str

    def url(self, name: str) -> str:
        return f"{self.base}/{name}"

    def names(self) -> list[str]:
        return [info.url.removeprefix(self.base + "/") for info in self.stores.list(self.base + "/")]


_CLIENTS: dict[str, Stores] = {}
"""One for each server: a client takes longer to make than a test."""


@pytest.fixture(params=["local", "moto", "seaweed", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path, aws_environment: pytest.MonkeyPatch) -> Place:
    name = uuid.uuid4().hex[:8]
    if request.param == "local":
        return Place(Stores(), f"file://{tmp_path}/{name}")
    if request.param == "memory":
        return Place(Stores(), f"memory://{name}")
    endpoint = request.getfixturevalue(f"{request.param}_endpoint")
    stores = _CLIENTS.setdefault(endpoint, Stores(endpoint_url=endpoint))
    stores.stats.reset()
    return Place(stores, f"s3://state/{name}")


def test_a_file_that_was_put_is_read_whole_and_in_ranges(place: Place) -> None:
    url = place.url("a/b/file")
    place.stores.put(url, b"0123456789")
    assert place.stores.size(url) == 10
    assert place.stores.exists(url)
    assert place.stores.read(url) == b"0123456789"
    assert place.stores.read(url, 3) == b"3456789"
    assert place.stores.read(url, 3, 4) == b"3456"
    assert place.stores.read(url, 9, 1) == b"9"
    assert place.stores.read(url, 10) == b""
    assert place.stores.read(url, 10, 0) == b""


def test_a_put_replaces_what_was_there(place: Place) -> None:
    place.stores.put(place.url("file"), b"old and long")
    place.stores.put(place.url("file"), memoryview(bytearray(b"new")))
    assert place.stores.read(place.url("file")) == b"new"


def test_an_empty_file_is_a_file(place: Place) -> None:
    place.stores.put(place.url("empty"), b"")
    with place.stores.open_write(place.url("empty-2")):
        pass
    for name in ("empty", "empty-2"):
        assert place.stores.exists(place.url(name))
        assert place.stores.size(place.url(name)) == 0
        assert place.stores.read(place.url(name)) == b""
        assert list(place.stores.iter_chunks(place.url(name))) == []


@pytest.mark.parametrize(
    ("start", "length", "expected", "actual"),
    [(3, 8, "8 bytes", 7), (10, 1, "1 bytes", 0), (11, 5, "5 bytes", 0), (2, 1 << 62, f"{1 << 62} bytes", 8)],
)
def test_a_range_beyond_the_end_names_file_offset_expected_and_actual(
    place: Place, start: int, length: int, expected: str, actual: int
) -> None:
    url = place.url("file")
    place.stores.put(url, b"0123456789")
    with pytest.raises(UnexpectedEndError) as error:
        place.stores.read(url, start, length)
    assert (error.value.where.file, error.value.where.offset) == (url, start)
    assert f"expected {expected} from offset {start}, got {actual}" in str(error.value)


def test_the_rest_from_beyond_the_end_is_an_error(place: Place) -> None:
    place.stores.put(place.url("file"), b"0123456789")
    with pytest.raises(UnexpectedEndError, match="from offset 11, got 0"):
        place.stores.read(place.url("file"), 11)
    with pytest.raises(UnexpectedEndError, match="from offset 11, got 0"):
        place.stores.iter_chunks(place.url("file"), 11)


@pytest.mark.parametrize(("start", "length"), [(-1, 5), (5, -1), (-1, None)])
def test_a_negative_range_is_an_error_of_the_format(place: Place, start: int, length: int | None) -> None:
    place.stores.put(place.url("file"), b"0123456789")
    with pytest.raises(FormatError, match="negative range"):
        place.stores.read(place.url("file"), start, length)


def test_a_missing_file_is_named(place: Place) -> None:
    url = place.url("no/such")
    assert not place.stores.exists(url)
    for use in (
        place.stores.size,
        place.stores.read,
        lambda u: place.stores.read(u, 1, 2),
        lambda u: place.stores.read_ranges(u, [(0, 1), (MIB, 1)]),
        lambda u: list(place.stores.iter_chunks(u)),
        lambda u: place.stores.copy(u, place.url("copy")),
        lambda u: place.stores.compose(place.url("composed"), [u]),
    ):
        with pytest.raises(StoreError) as error:
            use(url)
        assert f"no such file: {url}" in str(error.value)
    assert place.names() == []


def test_a_folder_is_not_a_file(place: Place) -> None:
    place.stores.put(place.url("folder/file"), b"x")
    assert not place.stores.exists(place.url("folder"))
    with pytest.raises(StoreError):
        place.stores.read(place.url("folder"))


def test_files_are_listed_by_prefix_in_the_order_of_their_urls(
    place: Place, request: pytest.FixtureRequest
) -> None:
    for name in ("sav-1/_metadata", "sav-1/shared/x", "sav-1/a.b", "sav-1/a/b", "sav-10/_metadata", "other"):
        place.stores.put(place.url(name), name.encode())
    names = place.names() if request.node.callspec.params["place"] != "seaweed" else sorted(place.names())
    assert names == [
        "other",
        "sav-1/_metadata",
        "sav-1/a.b",
        "sav-1/a/b",
        "sav-1/shared/x",
        "sav-10/_metadata",
    ]
    assert list(place.stores.list(place.url("sav-10/"))) == [FileInfo(place.url("sav-10/_metadata"), 16)]
    assert len(list(place.stores.list(place.url("sav-1/")))) == 4
    assert len(list(place.stores.list(place.url("sav-1")))) == 5
    assert list(place.stores.list(place.url("none/"))) == []


@pytest.mark.parametrize(
    "name", ["a b", "per%20cent", "plus+", "hash#x", "question?x=1", "späß-日本", "a=b&c"]
)
def test_names_mean_themselves(place: Place, name: str) -> None:
    place.stores.put(place.url(name), b"here")
    assert place.names() == [name]
    place.stores.copy(place.url(name), place.url("copied"))
    assert place.stores.read(place.url("copied")) == b"here"
    place.stores.delete([place.url(name)])
    assert place.names() == ["copied"]


def test_nothing_is_visible_before_close(place: Place) -> None:
    url = place.url("folder/file")
    writer = place.stores.open_write(url)
    writer.write(DATA)
    assert not place.stores.exists(url)
    assert place.names() == []
    writer.write(b"end")
    writer.close()
    writer.close()
    assert place.names() == ["folder/file"]
    assert place.stores.read(url) == DATA + b"end"


def test_what_was_there_stays_until_close_and_after_an_abort(place: Place) -> None:
    url = place.url("file")
    place.stores.put(url, b"old")
    writer = place.stores.open_write(url)
    writer.write(b"new")
    assert place.stores.read(url) == b"old"
    writer.abort()
    assert place.stores.read(url) == b"old"


@pytest.mark.parametrize("size", [0, 10, len(DATA)])
def test_an_abort_leaves_nothing(place: Place, size: int, tmp_path: Path) -> None:
    writer = place.stores.open_write(place.url("file"))
    writer.write(DATA[:size])
    writer.abort()
    writer.abort()
    with contextlib.suppress(RuntimeError), place.stores.open_write(place.url("file")) as writer:
        writer.write(DATA[:size])
        raise RuntimeError("the block fails")
    assert place.names() == []
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_buffer_may_be_reused_after_write(place: Place) -> None:
    buffer = bytearray(3 * MIB)
    digest = hashlib.sha256()
    with place.stores.open_write(place.url("file")) as writer:
        for i in range(7):
            buffer[:] = bytes([i]) * len(buffer)
            digest.update(buffer)
            writer.write(memoryview(buffer))
    assert hashlib.sha256(place.stores.read(place.url("file"))).digest() == digest.digest()


def test_a_copy_is_the_same_bytes(place: Place) -> None:
    place.stores.put(place.url("file"), DATA)
    place.stores.put(place.url("copies/copy"), b"old")
    place.stores.copy(place.url("file"), place.url("copies/copy"))
    assert place.stores.read(place.url("copies/copy")) == DATA
    assert place.stores.read(place.url("file")) == DATA


@pytest.mark.parametrize(
    "sizes",
    [
        [],
        [0, 0],
        [10],
        [3, 0, 4],
        [6 * MIB, 6 * MIB, 1],
        [10, 6 * MIB, 7, 8 * MIB, 5 * MIB - 1],
        [5 * MIB, 3 * MIB],
        [MIB, 4 * MIB + 1, MIB],
        [2 * MIB] * 6,
    ],
    ids=lambda sizes: "+".join(map(str, sizes)) or "none",
)
def test_compose_concatenates(place: Place, sizes: list[int]) -> None:
    at, parts = 0, []
    for i, size in enumerate(sizes):
        parts.append(place.url(f"part-{i}"))
        place.stores.put(parts[-1], DATA[at : at + size])
        at += size
    place.stores.compose(place.url("whole"), parts)
    assert place.stores.read(place.url("whole")) == DATA[:at]


def test_compose_may_take_its_target_as_a_part(place: Place) -> None:
    place.stores.put(place.url("a"), b"a")
    place.stores.put(place.url("b"), b"b")
    place.stores.compose(place.url("a"), [place.url("a"), place.url("b"), place.url("a")])
    assert place.stores.read(place.url("a")) == b"aba"


def test_a_copy_onto_itself_changes_nothing(place: Place) -> None:
    place.stores.put(place.url("a"), b"a")
    place.stores.copy(place.url("a"), place.url("a"))
    place.stores.compose(place.url("a"), [place.url("a")])
    assert place.stores.read(place.url("a")) == b"a"
    assert place.names() == ["a"]


def test_delete_does_not_miss_what_is_not_there(place: Place) -> None:
    for i in range(3):
        place.stores.put(place.url(f"file-{i}"), b"x")
    place.stores.delete(place.url(f"file-{i}") for i in (0, 2, 9))
    place.stores.delete([])
    assert place.names() == ["file-1"]


def test_ranges_come_back_in_the_order_asked(place: Place) -> None:
    place.stores.put(place.url("file"), DATA)
    rng = random.Random(2)
    ranges = [(rng.randrange(len(DATA) - 5000), rng.randrange(5000)) for _ in range(30)]
    ranges += [(5 * MIB, 9 * MIB), (0, len(DATA)), (len(DATA), 0), (100, 0)]
    rng.shuffle(ranges)
    assert place.stores.read_ranges(place.url("file"), ranges) == [DATA[s : s + n] for s, n in ranges]
    assert place.stores.read_ranges(place.url("file"), []) == []


def test_the_first_range_that_does_not_fit_is_named(place: Place) -> None:
    place.stores.put(place.url("file"), b"x" * 100)
    with pytest.raises(UnexpectedEndError, match="expected 30 bytes from offset 80, got 20"):
        place.stores.read_ranges(place.url("file"), [(0, 10), (80, 30), (300_000, 1)])


def test_many_threads_read_at_once(place: Place) -> None:
    place.stores.put(place.url("file"), DATA)

    def read(i: int) -> bool:
        ranges = [(i * MIB, 1000), (i * MIB + 500_000, 100_000)]
        return place.stores.read_ranges(place.url("file"), ranges) == [DATA[s : s + n] for s, n in ranges]

    with ThreadPoolExecutor(12) as pool:
        assert all(pool.map(read, list(range(20)) * 2))


@pytest.mark.parametrize("chunk_bytes", [1000, MIB, 9 * MIB, 64 * MIB])
def test_chunks_stream_a_range(place: Place, chunk_bytes: int) -> None:
    data = DATA if chunk_bytes >= MIB else DATA[:10_500]
    place.stores.put(place.url("file"), data)
    chunks = list(place.stores.iter_chunks(place.url("file"), 100, len(data) - 300, chunk_bytes))
    assert b"".join(chunks) == data[100:-200]
    assert {len(chunk) for chunk in chunks[:-1]} <= {chunk_bytes}
    assert b"".join(place.stores.iter_chunks(place.url("file"), chunk_bytes=chunk_bytes)) == data


def test_chunks_of_a_range_beyond_the_end_fail_when_they_get_there(place: Place) -> None:
    place.stores.put(place.url("file"), b"x" * 2500)
    chunks = place.stores.iter_chunks(place.url("file"), 100, 1 << 62, 1000)
    assert [len(next(chunks)), len(next(chunks))] == [1000, 1000]
    with pytest.raises(UnexpectedEndError, match=f"expected {1 << 62} bytes from offset 100, got 2400"):
        next(chunks)


def test_chunks_may_be_left_in_the_middle(place: Place) -> None:
    place.stores.put(place.url("file"), DATA)
    chunks = place.stores.iter_chunks(place.url("file"), chunk_bytes=MIB)
    assert next(chunks) == DATA[:MIB]
    chunks.close()  # type: ignore[attr-defined]
    assert place.stores.read(place.url("file"), 5, 5) == DATA[5:10]


def test_a_pickled_copy_reads_and_writes_the_same_store(place: Place) -> None:
    place.stores.put(place.url("file"), b"0123456789")
    again = pickle.loads(pickle.dumps(place.stores))
    assert again.read(place.url("file"), 2, 3) == b"234"
    assert again.stats.requests() == 1


def test_the_root_of_a_store_is_no_file(place: Place) -> None:
    root = "s3://state" if place.base.startswith("s3") else place.base.partition("://")[0] + ":///"
    for use in (lambda: place.stores.put(root, b"x"), lambda: place.stores.delete([root])):
        with pytest.raises(StoreError, match="names no file"):
            use()


def test_stats_count_requests_and_bytes(place: Place) -> None:
    url, stats = place.url("file"), place.stores.stats
    place.stores.put(url, bytes(MIB))
    assert (stats.requests("write"), stats.bytes_written(url)) == (1, MIB)
    stats.reset()
    place.stores.read_ranges(url, [(0, 10), (1000, 20), (500_000, 5)])
    assert stats.requests("read", url) == stats.requests() == 2
    assert stats.bytes_read() == stats.bytes_read(url) == 1020 + 5
    assert stats.bytes_read("file:///else") == 0


def test_files_go_between_stores(place: Place, tmp_path: Path) -> None:
    here = str(tmp_path / "here" / "file")
    place.stores.put(here, DATA)
    place.stores.copy(here, place.url("there"))
    assert place.stores.read(place.url("there")) == DATA
    place.stores.compose(place.url("both"), [here, place.url("there")])
    assert place.stores.read(place.url("both")) == DATA + DATA
    place.stores.copy(place.url("both"), here)
    assert place.stores.read(here) == DATA + DATA
