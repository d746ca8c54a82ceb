"""Times that 64 bits of nanoseconds do not hold: a date of "never" is common, and may not hide its table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import statelift
from statelift.schemas.snapshots import build
from statelift.state_ops.checks import run_checks
from statelift.state_ops.values import json_rows
from statelift.state_ops.verify import verify

from .lifting import entries, lift, one_state, plan_of
from .making import UID, Made, savepoint

LONG = build.scalar("Long")
KEYS = [i.to_bytes(8, "big") for i in (1, 2, 3)]
#: Bytes of spec 2.2 for: an ordinary time, 9999-12-31 or the like, null.
TIMES = {
    "Instant": ("0000000065e0a5c0 00000007", "0000003afff2f000 00000000", "8000000000000000 80000000"),
    "SqlTimestamp": ("00000000000005dc 1dcd6507", "0000e677d21fdbff 3b8b87c0", "8000000000000000 00000000"),
    "LocalDate": ("000007e8 02 1d", "3b9ac9ff 0c 1f", "80000000 8000"),
    "LocalDateTime": (
        "000007e8 02 1d 010203 00000004", "0000270f 0c 1f 17 3b 3b 3b9ac9ff", "80000000 8000 808000 80000000",
    ),
}  # fmt: skip
FAR = {
    "Instant": {"seconds": 253402214400, "nanos": 0},
    "SqlTimestamp": {"millis": 253402300799999, "nanos": 999_000_000},
    "LocalDate": {"year": 999_999_999, "month": 12, "day": 31},
    "LocalDateTime": {"year": 9999, "month": 12, "day": 31, "nano_of_day": 86_400 * 10**9 - 1},
}


def times(folder: Path) -> Path:
    """A state of each type: of three keys one has a time of today, one "never", one null."""
    states = [
        Made(
            name=name,
            value=build.scalar(name),
            entries=dict(zip(KEYS, map(bytes.fromhex, raw), strict=True)),
        )
        for name, raw in TIMES.items()
    ]
    return savepoint(folder, LONG, *states)


def values(snapshot: statelift.Snapshot, name: str) -> dict[int, Any]:
    table = snapshot.state(UID, name).to_arrow()
    return dict(zip(table["key"].to_pylist(), table["value"].to_pylist(), strict=True))


@pytest.mark.parametrize("name", TIMES)
def test_without_them_only_the_far_time_is_bytes(tmp_path: Path, name: str) -> None:
    snapshot = statelift.open(str(times(tmp_path)), uids=[UID])
    rows = {row["key"]: row for batch in snapshot.state(UID, name).batches() for row in json_rows(batch)}
    assert {key: row["value"] is not None for key, row in rows.items()} == {1: True, 2: False, 3: False}
    far = TIMES[name][1].replace(" ", "")
    assert {key: row.get("undecoded") for key, row in rows.items()} == {1: None, 2: far, 3: None}


@pytest.mark.parametrize("name", TIMES)
def test_wide_times_are_structs_of_their_parts(tmp_path: Path, name: str) -> None:
    snapshot = statelift.open(str(times(tmp_path)), uids=[UID], wide_times=True)
    found = values(snapshot, name)
    assert found[2] == FAR[name]
    assert found[3] is None
    assert found[1] is not None
    (count,) = snapshot.sql(f'SELECT count(value) AS n FROM "{UID}"."{name}"').read_all()["n"].to_pylist()
    assert count == 2


def test_a_sound_snapshot_with_such_times_is_verified_without_a_fault(tmp_path: Path) -> None:
    assert list(verify(statelift.open(str(times(tmp_path)), uids=[UID]))) == []


@pytest.mark.parametrize("target", ["canonical", "rocksdb"])
def test_a_plan_changes_them_and_keeps_the_bytes_of_the_others(tmp_path: Path, target: str) -> None:
    source = times(tmp_path / "source")
    change = one_state(
        UID,
        "Instant",
        set={"value": "{'seconds': 253402300799::BIGINT, 'nanos': 0::INTEGER}"},
        where="value.seconds = 253402214400",
    )
    plan = plan_of(source, tmp_path / "target", change, format=target, wide_times=True)
    report = lift(source, tmp_path / "target", change, format=target, wide_times=True)
    assert [check for check in run_checks(plan, report) if not check.passed] == []
    before, after = (entries(statelift.open(str(url))) for url in (source, tmp_path / "target"))
    changed = {
        place: (held[key], after[place][key])
        for place, held in before.items()
        for key in held
        if held[key] != after[place][key]
    }
    far = bytes.fromhex(TIMES["Instant"][1].replace(" ", ""))
    assert list(changed.values()) == [(far, (253402300799).to_bytes(8, "big") + bytes(4))]


def test_a_plan_that_does_not_touch_them_needs_no_option(tmp_path: Path) -> None:
    source = times(tmp_path / "source")
    plan = plan_of(source, tmp_path / "target", format="rocksdb")
    report = lift(source, tmp_path / "target", format="rocksdb")
    assert [check for check in run_checks(plan, report) if not check.passed] == []


@pytest.mark.parametrize("name", ["Instant", "LocalDate"])
def test_far_times_are_keys_too(tmp_path: Path, name: str) -> None:
    """Key groups by Java's ``Instant.hashCode`` and ``LocalDate.hashCode``."""
    raw = bytes.fromhex(TIMES[name][1].replace(" ", ""))
    source = savepoint(tmp_path, build.scalar(name), Made(name="v", value=LONG, entries={raw: bytes(8)}))
    snapshot = statelift.open(str(source), uids=[UID], wide_times=True)
    [row] = snapshot.state(UID, "v").to_arrow().to_pylist()
    assert row["key"] == FAR[name]
    assert list(verify(snapshot)) == []
