"""URLs: the normal form is the one Flink's Path gives them, whatever way they are written."""

from __future__ import annotations

import os

import pytest
from statelift.io.stores import is_absolute, join, normalize, parent
from statelift.io.stores.urls import normalize_prefix
from statelift.schemas.errors import StoreError


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("s3://bucket/a/b", "s3://bucket/a/b"),
        ("s3a://bucket/a", "s3://bucket/a"),
        ("s3n://bucket/a", "s3://bucket/a"),
        ("S3P://bucket//a///b/", "s3://bucket/a/b"),
        ("s3://bucket/", "s3://bucket"),
        ("s3://bucket/a/./b/../c", "s3://bucket/a/c"),
        ("s3://bucket/a%20b c", "s3://bucket/a%20b c"),
        ("/tmp/x", "file:///tmp/x"),
        ("file:/tmp/x", "file:///tmp/x"),
        ("file:///tmp//x/", "file:///tmp/x"),
        ("file://localhost/tmp/x", "file:///tmp/x"),
        ("/", "file:///"),
        ("hdfs:/a/b", "hdfs:///a/b"),
        ("hdfs://name:8020/a", "hdfs://name:8020/a"),
        ("abfss://box@account.dfs.core.windows.net/a", "abfss://box@account.dfs.core.windows.net/a"),
    ],
)
def test_normal_form(url: str, normal: str) -> None:
    assert normalize(url) == normal
    assert normalize(normal) == normal


@pytest.mark.parametrize("name", ["sub/file", "a:b", "chk-1:x/y"])
def test_a_plain_relative_path_is_taken_from_the_working_directory(name: str) -> None:
    assert normalize(name) == f"file://{os.getcwd()}/{name}"


@pytest.mark.parametrize(
    "url", ["s3://bucket/../other", "file:///../x", "file://host/share/x", "/tmp/zero\0byte", "s3://b/\0"]
)
def test_what_names_nothing_is_refused(url: str) -> None:
    with pytest.raises(StoreError):
        normalize(url)


def test_a_prefix_keeps_its_slash() -> None:
    assert normalize_prefix("s3a://bucket/dir//") == "s3://bucket/dir/"
    assert normalize_prefix("s3://bucket/dir") == "s3://bucket/dir"
    assert normalize_prefix("s3://bucket/") == "s3://bucket/"
    assert normalize_prefix("/") == "file:///"


@pytest.mark.parametrize(
    ("base", "name", "joined"),
    [
        ("s3a://bucket/sav/", "_metadata", "s3://bucket/sav/_metadata"),
        ("s3://bucket", "a/b", "s3://bucket/a/b"),
        ("s3://bucket/a/chk-1", "../shared/x", "s3://bucket/a/shared/x"),
        ("/data", "a:b", "file:///data/a:b"),
        ("s3://bucket/a", "s3a://other/x", "s3://other/x"),
        ("s3://bucket/a", "/data/x", "file:///data/x"),
        ("/", "x", "file:///x"),
    ],
)
def test_join(base: str, name: str, joined: str) -> None:
    assert join(base, name) == joined


def test_join_does_not_climb_out_of_the_store() -> None:
    with pytest.raises(StoreError, match="climbs above its root"):
        join("s3://bucket/a", "../../other-bucket/x")


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("s3://bucket/a/b", "s3://bucket/a"),
        ("s3://bucket/a/b/", "s3://bucket/a"),
        ("s3://bucket/a", "s3://bucket"),
        ("s3://bucket", "s3://bucket"),
        ("/tmp/x", "file:///tmp"),
        ("/tmp", "file:///"),
        ("/", "file:///"),
    ],
)
def test_parent(url: str, folder: str) -> None:
    assert parent(url) == folder


@pytest.mark.parametrize("url", ["s3://b/k", "file:/x", "/x", "memory://a/b"])
def test_absolute(url: str) -> None:
    assert is_absolute(url)


@pytest.mark.parametrize("url", ["x", "a/b", "../x", "a:b", "", "chk-1/s3://x"])
def test_relative(url: str) -> None:
    assert not is_absolute(url)
