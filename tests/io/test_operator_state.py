"""Operator state with values that no column holds: in lists each is bytes, in a broadcast state too if its end is
known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from statelift.io.keyed.entries import Spans
from statelift.io.operator_state import OperatorBackend, OperatorStateType, OperatorStateWriter
from statelift.io.operator_state_header import OperatorBackendHeader
from statelift.schemas import types as t
from statelift.schemas.codec import ops
from statelift.schemas.errors import UnsupportedVersionError
from statelift.schemas.type_syntax import parse_type

from .keyed_snapshots import inline

STRING, LONG = t.scalar("string"), t.scalar("long")
#: "ab"; "a", U+D83D, "z".
AB, ODD = bytes.fromhex("036162"), bytes.fromhex("0461bdb0037a")
BASE = parse_type("pojo Base {b: int} registered {Sub: pojo Sub {b: int, c: int}}")
KNOWN, UNKNOWN = bytes.fromhex("02 00 00000007"), bytes.fromhex("04 0003 612e58 02 00 00000007 00 01")
HEADER = OperatorBackendHeader(operator_states=(), broadcast_states=())
NO_TEXT = {(ops.NO_TEXT, None): 1}


def backend(state: OperatorStateType, rows: list[bytes]) -> OperatorBackend:
    writer = OperatorStateWriter(HEADER)
    writer.add(state, Spans.of(pa.array(rows, pa.large_binary())))
    return OperatorBackend(
        header=HEADER, states=[state], stream=inline(writer.getvalue()), offsets=writer.offsets
    )


@pytest.mark.parametrize(
    ("value", "good", "bad", "why"),
    [
        (STRING, AB, ODD, (ops.NO_TEXT, None)),
        (BASE, KNOWN, UNKNOWN, (ops.SUBCLASS, "a.X")),
        (t.scalar("local_date"), b"\0\0\x07\xe8\2\x1d", b"\x3b\x9a\xc9\xff\x0c\x1f", (ops.FAR_TIME, None)),
    ],
)
def test_an_element_of_a_list_is_bytes_by_itself(
    value: t.DataType, good: bytes, bad: bytes, why: tuple[int, str | None]
) -> None:
    state = OperatorStateType(name="s", kind="split", value=value)
    opened = backend(state, [good, bad, good])
    rows = opened.read(state)
    assert {name: column.type for name, column in rows.columns.items()} == opened.columns(state)
    assert rows.columns["value"].is_valid().to_pylist() == [True, False, True]
    assert rows.columns["undecoded"].to_pylist() == [None, bad, None]
    assert rows.undecoded[0].why() == {why: 1}
    assert opened.raw_rows(state).to_arrow().to_pylist() == [good, bad, good]
    written = opened.encode(state, None, rows.columns["value"], rows.columns["undecoded"])
    assert written.to_pylist() == [good, bad, good]


def test_a_broadcast_state_is_cut_behind_them() -> None:
    state = OperatorStateType(name="s", kind="broadcast", value=STRING, map_key=STRING)
    entries = [AB + ODD, ODD + AB, b"\0" + AB]
    opened = backend(state, entries)
    rows = opened.read(state)
    assert {name: column.type for name, column in rows.columns.items()} == opened.columns(state)
    assert rows.columns["map_key"].to_pylist() == ["ab", None, None]
    assert rows.columns["value"].to_pylist() == [None, "ab", "ab"]
    assert rows.columns["undecoded"].to_pylist() == [ODD, None, None]
    values, keys = rows.undecoded
    assert (values.why(), keys.why()) == (NO_TEXT, NO_TEXT)
    assert keys.mask.tolist() == [False, True, False]
    raw = opened.raw_keys(state)
    assert raw is not None
    written = opened.encode(state, raw, rows.columns["value"], rows.columns["undecoded"])
    assert written.to_pylist() == opened.raw_rows(state).to_arrow().to_pylist() == entries


def test_an_unknown_class_in_a_broadcast_state_is_named_with_its_entry() -> None:
    """Nothing says where it ends."""
    state = OperatorStateType(name="s", kind="broadcast", value=BASE, map_key=LONG)
    opened = backend(state, [bytes(8) + KNOWN, bytes(8) + UNKNOWN, bytes(8) + KNOWN])
    with pytest.raises(
        UnsupportedVersionError, match=r"entry 1 of 3 .* not in the snapshot: a\.X.*declare"
    ) as e:
        opened.read(state)
    assert e.value.where.state == "s"
    assert e.value.where.offset is not None


def test_a_broadcast_state_of_an_unknown_class_is_not_damaged() -> None:
    """Nobody can say where one of its entries ends."""
    opaque = t.OpaqueType(class_name="a.X", reason="Kryo without a declared shape")
    state = OperatorStateType(name="s", kind="broadcast", value=opaque, map_key=LONG)
    with pytest.raises(
        UnsupportedVersionError, match=r"of a\.X cannot be cut into entries: Kryo.*state s.*declare"
    ):
        backend(state, [bytes(8) + b"\1"]).read(state)


def test_a_broadcast_state_without_entries() -> None:
    state = OperatorStateType(name="s", kind="broadcast", value=STRING, map_key=LONG)
    opened = backend(state, [])
    assert len(opened.read(state)) == 0
    assert np.array_equal(opened.raw_rows(state).starts, [])
