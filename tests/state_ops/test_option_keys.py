"""Keys that are Options: ``None`` is a key, which its column has as null, and is none that is not decoded."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import statelift
from statelift.schemas.errors import EncodeError, PlanError
from statelift.schemas.snapshots import build
from statelift.schemas.to_snapshot import snapshot_of
from statelift.schemas.type_syntax import parse_type
from statelift.state_ops.lookup import look_up
from statelift.state_ops.states import KeyedState

from .lifting import entries, lift, one_state
from .making import UID, Made, savepoint

KEY = snapshot_of(parse_type("nullable[flag=is_present]<string>"), "1.20")
NONE, SOME, SOME_NULL = b"\0", bytes.fromhex("010261"), b"\1\0"
EVERYTHING = f'SELECT * FROM "{UID}"."n"'


def made(folder: Path, *keys: bytes) -> Path:
    held = {key: number.to_bytes(8, "big") for number, key in enumerate(keys, 1)}
    return savepoint(folder, KEY, Made(name="n", value=build.scalar("Long"), entries=held))


def opened(folder: Path) -> statelift.Snapshot:
    return statelift.open(str(folder), uids=[UID])


@pytest.mark.parametrize(("key", "value"), [(None, [2]), ("a", [1]), ("b", [])])
def test_each_is_found(tmp_path: Path, key: str | None, value: list[int]) -> None:
    state = opened(made(tmp_path, SOME, NONE, SOME_NULL)).state(UID, "n")
    assert isinstance(state, KeyedState)
    found = look_up(state.operator, [state], pa.array([key], pa.string()))
    assert found.rows["n"]["value"].to_pylist() == value


@pytest.mark.parametrize("keys", [(SOME, NONE), (SOME, NONE, SOME_NULL)])
def test_a_select_row_by_row_writes_them_as_they_were(tmp_path: Path, keys: tuple[bytes, ...]) -> None:
    source = made(tmp_path / "source", *keys)
    lift(source, tmp_path / "out", one_state(UID, "n", select=EVERYTHING))
    assert entries(opened(tmp_path / "out")) == entries(opened(source))


def test_a_whole_select_does_not_take_some_null_for_none(tmp_path: Path) -> None:
    """Such a key is in no column; and where a key goes is not known."""
    everything = f"{EVERYTHING} UNION ALL ({EVERYTHING} LIMIT 0)"
    for i, keys in enumerate([(SOME, SOME_NULL), (SOME, NONE)]):
        source = made(tmp_path / str(i), *keys)
        with pytest.raises((PlanError, EncodeError), match=r"not decoded: a null that|cannot be computed"):
            lift(source, tmp_path / "out", one_state(UID, "n", select=everything))
