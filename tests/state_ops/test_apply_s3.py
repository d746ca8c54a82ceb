"""Plans between the local disk and S3, or a store of fsspec's."""

from __future__ import annotations

from pathlib import Path

import pytest
from statelift.io.stores import Stores
from statelift.state_ops.checks import run_checks

from .lifting import REPAIR, TARGETS, entries, golden, lift, opened, plan_of


@pytest.fixture
def stores(aws_environment: pytest.MonkeyPatch, moto_endpoint: str) -> Stores:
    return Stores(endpoint_url=moto_endpoint)


def upload(stores: Stores, folder: Path, url: str) -> None:
    for path in folder.iterdir():
        stores.put(f"{url}/{path.name}", path.read_bytes())


@pytest.mark.parametrize("format", TARGETS)
@pytest.mark.parametrize(
    ("source", "far"),
    [
        ("hashmap-canonical", "s3://state"),
        ("rocksdb-native", "s3://state"),
        ("hashmap-native", "memory://state"),
        ("rocksdb-native", "memory://state"),
    ],
)
def test_between_any_two_stores_the_result_is_the_same(
    stores: Stores, tmp_path: Path, source: str, far: str, format: str
) -> None:
    base = f"{far}/{tmp_path.name}"
    here, there = golden(source), f"{base}/source"
    upload(stores, here, there)
    lift(here, tmp_path / "out", REPAIR, format=format, workers=3)
    expected = entries(opened(tmp_path / "out"))
    for name, (one, other) in {
        "far-far": (there, f"{base}/out"),
        "local-far": (here, f"{base}/up"),
        "far-local": (there, tmp_path / "down"),
    }.items():
        report = lift(one, other, REPAIR, format=format, workers=3, stores=stores)
        assert entries(opened(other, stores)) == expected, name
        assert not [f.url for f in stores.list(f"{other}/") if ".statelift" in f.url or ".part" in f.url]
        checks = run_checks(plan_of(one, other, REPAIR, format=format), report, stores)
        assert all(check.passed for check in checks), (name, checks)


def test_overwriting_on_s3_leaves_foreign_files(stores: Stores, tmp_path: Path) -> None:
    target = f"s3://state/{tmp_path.name}/out"
    lift(golden("hashmap-canonical"), target, stores=stores, format="rocksdb")
    stores.put(f"{target}/foreign", b"mine")
    before = {file.url for file in stores.list(f"{target}/")}
    lift(golden("rocksdb-native"), target, REPAIR, stores=stores, format="canonical", overwrite=True)
    after = {file.url for file in stores.list(f"{target}/")}
    assert before & after == {f"{target}/foreign", f"{target}/_metadata"}
    lift(golden("rocksdb-native"), tmp_path / "good", REPAIR, format="canonical")
    assert entries(opened(target, stores)) == entries(opened(tmp_path / "good"))
