"""What is particular to local files, and to stores whose package is not installed."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from statelift.io.stores import Stores
from statelift.schemas.errors import StoreError, UnexpectedEndError


def test_a_file_is_written_beside_its_target_and_renamed(tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder" / "file"
    writer = Stores().open_write(str(target))
    writer.write(b"data")
    (temporary,) = (tmp_path / "new" / "folder").iterdir()
    assert temporary.name.startswith(".file.")
    inode = temporary.stat().st_ino
    writer.close()
    assert [path.name for path in target.parent.iterdir()] == ["file"]
    assert target.stat().st_ino == inode
    assert target.read_bytes() == b"data"


def test_the_file_is_on_the_disk_before_it_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def fsync(handle: int) -> None:
        done.append("sync folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "sync file")

    replace = os.replace
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", lambda a, b: (done.append("rename"), replace(a, b)))
    Stores().put(str(tmp_path / "file"), b"data")
    assert done == ["sync file", "rename", "sync folder"]


def test_a_close_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=f"no space left on the disk: file://{tmp_path}/file"):
        Stores().put(str(tmp_path / "file"), b"data")
    assert list(tmp_path.iterdir()) == []


def test_new_files_have_the_rights_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    Stores().put(str(tmp_path / "file"), b"")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_path_through_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    for use in (lambda u: Stores().put(u, b"x"), Stores().read):
        with pytest.raises(
            StoreError, match=rf"a part of the path is a file, not a folder: file://{tmp_path}/file/below"
        ):
            use(f"{tmp_path}/file/below")
    assert not Stores().exists(f"{tmp_path}/file/below")


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="a folder, not a file"):
        Stores().put(str(tmp_path / "folder"), b"x")
    with pytest.raises(StoreError, match="a folder, not a file"):
        Stores().read(str(tmp_path / "folder"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_refused_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "file").chmod(0)
    with pytest.raises(StoreError, match=f"access denied: file://{tmp_path}/file"):
        Stores().read(str(tmp_path / "file"))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_damaged_length_takes_no_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100)
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    stores = Stores()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 28), hard))
    try:
        with pytest.raises(UnexpectedEndError, match="the file has 100 bytes"):
            stores.read(str(tmp_path / "file"), 0, 1 << 40)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.mark.parametrize(
    ("url", "module", "package"),
    [
        ("gs://bucket/file", "gcsfs", "gcsfs"),
        ("abfss://box@account.dfs.core.windows.net/file", "adlfs", "adlfs"),
        ("oss://bucket/file", "ossfs", "ossfs"),
    ],
)
def test_a_missing_package_is_named(
    url: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(StoreError, match=f"needs the package {package}; pip install {package}"):
        Stores().read(url)


def test_without_hadoops_library_what_hdfs_needs_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HADOOP_HOME", "ARROW_LIBHDFS_DIR", "CLASSPATH"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(StoreError, match=r"no connection to hdfs://name.*HADOOP_HOME and CLASSPATH"):
        Stores().read("hdfs://name/file")


def test_a_store_that_fails_is_not_a_file_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: MemoryFileSystem, path: str) -> None:
        raise ConnectionError("no route")

    monkeypatch.setattr(MemoryFileSystem, "info", fails)
    with pytest.raises(StoreError, match=r"the store fails \(ConnectionError: no route\)"):
        Stores().exists("memory://box/file")


def test_an_unknown_scheme_is_named() -> None:
    with pytest.raises(StoreError, match="no store for the scheme 'nothing'"):
        Stores().read("nothing://a/b")
