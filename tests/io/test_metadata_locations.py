"""Where a stream is: inline, beside ``_metadata``, where its path says, or where the snapshot was moved to."""

from __future__ import annotations

from pathlib import Path

import pytest
from statelift.io.metadata import (
    ByteStreamStateHandle,
    CheckpointedStateScope,
    EmptySegmentFileStateHandle,
    FileRange,
    FileStateHandle,
    Inline,
    KeyGroupRange,
    KeyGroupsStateHandle,
    Location,
    RelativeFileStateHandle,
    SegmentFileStateHandle,
    parse_path_map,
    read_metadata,
    resolve,
    streams,
)
from statelift.schemas.errors import FormatError, StoreError

BASE = "s3://state/ckpt/0b/chk-7"


def a_file(path: str, size: int = 5) -> FileStateHandle:
    return FileStateHandle(state_size=size, file_path=path)


def segment(start: int, size: int) -> SegmentFileStateHandle:
    return SegmentFileStateHandle(
        start_pos=start,
        state_size=size,
        scope=CheckpointedStateScope.SHARED,
        file_path="s3://state/ckpt/0b/shared/job/f",
        logical_file_id="l",
    )


def url_of(location: Location) -> str:
    assert isinstance(location, FileRange)
    return location.url


def test_inline_bytes_are_given_as_they_are() -> None:
    assert resolve(ByteStreamStateHandle(handle_name="a", data=b"xyz"), BASE) == Inline(data=b"xyz")
    assert resolve(EmptySegmentFileStateHandle(), BASE) == Inline(data=b"")


@pytest.mark.parametrize("base", [BASE, BASE + "/"])
def test_a_relative_path_starts_at_the_folder_of_metadata(base: str) -> None:
    handle = RelativeFileStateHandle(relative_path="3f-uuid", state_size=5)
    assert resolve(handle, base) == FileRange(url=BASE + "/3f-uuid", length=5)


def test_an_absolute_path_stands_as_it_is() -> None:
    assert resolve(a_file("s3a://other/x"), BASE) == FileRange(url="s3a://other/x", length=5)


def test_a_size_of_minus_one_goes_to_the_end_of_the_file() -> None:
    assert resolve(a_file("s3://b/x", size=-1), BASE) == FileRange(url="s3://b/x", length=None)


def test_a_segment_is_a_range_of_its_file() -> None:
    expected = FileRange(url="s3://state/ckpt/0b/shared/job/f", start=613, length=1863)
    assert resolve(segment(613, 1863), BASE) == expected


@pytest.mark.parametrize(("start", "size"), [(-1, 5), (0, -1), (0, -2)])
def test_a_range_that_cannot_be_is_refused(start: int, size: int) -> None:
    with pytest.raises(FormatError, match="bytes"):
        resolve(segment(start, size), BASE)


def test_a_stream_inside_a_handle_is_the_inner_one() -> None:
    inner = RelativeFileStateHandle(relative_path="f", state_size=1)
    handle = KeyGroupsStateHandle(tag=3, key_group_range=KeyGroupRange(0, 0), offsets=(), stream=inner)
    assert resolve(handle, BASE) == FileRange(url=BASE + "/f", length=1)


@pytest.mark.parametrize(
    "path", ["file:/old/ckpt/shared/f", "file:///old/ckpt/shared/f", "/old/ckpt/shared/f"]
)
@pytest.mark.parametrize("old", ["/old/ckpt", "file:/old/ckpt/", "file:///old/ckpt"])
def test_a_prefix_is_mapped_however_a_local_path_is_written(path: str, old: str) -> None:
    assert url_of(resolve(a_file(path), BASE, [(old, "s3://b/new")])) == "s3://b/new/shared/f"


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n", "s3p"])
@pytest.mark.parametrize("old", ["s3://old/ckpt", "s3a://old/ckpt/"])
def test_a_prefix_is_mapped_whichever_scheme_of_s3_a_path_has(scheme: str, old: str) -> None:
    path = f"{scheme}://old/ckpt/shared/f"
    assert url_of(resolve(a_file(path), BASE, [(old, "/new")])) == "/new/shared/f"


def test_the_longest_prefix_of_whole_folders_counts() -> None:
    path_map = [("s3://a", "s3://short"), ("s3://a/b", "s3://long"), ("s3://a/bc/d", "s3://other")]
    assert url_of(resolve(a_file("s3://a/b/f"), BASE, path_map)) == "s3://long/f"
    assert url_of(resolve(a_file("s3://a/bc/f"), BASE, path_map)) == "s3://short/bc/f"


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("file:/gone/9a/shared/f", "s3://state/ckpt/0b/shared/f"),
        ("file:/gone/9a/shared/job_1_op_2/f", "s3://state/ckpt/0b/shared/job_1_op_2/f"),
        ("file:/gone/9a/shared/f", "s3://state/ckpt/9a/shared/f"),
        ("file:/gone/9a/taskowned/f", "s3://state/ckpt/0b/taskowned/f"),
        ("file:/gone/9a/chk-6/f", "s3://state/ckpt/0b/chk-6/f"),
        ("file:/gone/savepoint-1/f", BASE + "/f"),
        ("file:/dstl-base/9a/dstl/f", "s3://state/dstl/9a/dstl/f"),
    ],
)
def test_a_moved_file_is_found_around_metadata(path: str, there: str) -> None:
    assert url_of(resolve(a_file(path), BASE, exists=lambda url: url == there)) == there


def test_a_file_where_its_path_says_is_not_looked_for_elsewhere() -> None:
    assert (
        url_of(resolve(a_file("s3://b/9a/shared/f"), BASE, exists=lambda url: True)) == "s3://b/9a/shared/f"
    )


def test_a_file_that_is_nowhere_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(StoreError, match="--path-map OLD=NEW"):
        resolve(a_file("s3://b/9a/shared/f"), BASE, exists=lambda url: False)
    with pytest.raises(StoreError, match="s3://new/9a/shared/f is missing"):
        resolve(a_file("s3://b/9a/shared/f"), BASE, [("s3://b", "s3://new")], exists=lambda url: False)


def test_a_path_map_is_two_prefixes() -> None:
    assert parse_path_map("/a=s3://b/c") == ("/a", "s3://b/c")
    for text in ("/a", "=b", "a="):
        with pytest.raises(StoreError, match="is not OLD=NEW"):
            parse_path_map(text)


@pytest.mark.corpus
def test_every_file_of_the_moved_snapshots_is_found_and_long_enough(corpus: Path) -> None:
    ranges = 0
    for path in (corpus / "known").rglob("_metadata"):
        base = path.parent.as_uri()
        for use in streams(read_metadata(path.read_bytes(), str(path))):
            location = resolve(use.handle, base, exists=lambda url: local(url).is_file())
            if isinstance(location, FileRange):
                assert location.length is not None
                assert local(location.url).stat().st_size >= location.start + location.length
                ranges += 1
    assert ranges == 300


def local(url: str) -> Path:
    return Path(url.removeprefix("file://").removeprefix("file:"))
