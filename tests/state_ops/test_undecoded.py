"""Values that hold objects of unknown classes: null, with their bytes beside them, in tables of every kind."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from statelift.io.keyed.entries import EntryBatch
from statelift.io.keyed.state_types import KeyedStateType
from statelift.schemas import types as t
from statelift.schemas.type_syntax import parse_type
from statelift.state_ops.tables import KeyedTable

BASE = "pojo Base {b: int} registered {Sub: pojo Sub {b: int, c: int}}"
STAMP = bytes(7) + b"\5"
KNOWN = STAMP + bytes.fromhex("02 00 00000007")
SUB = STAMP + bytes.fromhex("08 00 02 00 00000001 00 00000002")
UNKNOWN = STAMP + bytes.fromhex("04 0001 58 02 00 00000007 00 01")
ROWS = {
    "value": [KNOWN, UNKNOWN, SUB],
    "list": [KNOWN + b"," + SUB, KNOWN + b"," + UNKNOWN, b""],
    "map": [b"\0" + KNOWN, b"\0" + UNKNOWN, b"\0" + SUB],
}


def table_of(kind: str, value: str) -> KeyedTable:
    return KeyedTable(
        KeyedStateType(
            name="s",
            kind=kind,
            key=t.scalar("string"),
            namespace=t.scalar("void"),
            map_key=t.scalar("int") if kind == "map" else None,
            value=parse_type(value),
        ),
        128,
    )


@pytest.mark.parametrize("kind", ["value", "list", "map"])
def test_only_the_rows_of_unknown_classes_are_bytes(kind: str) -> None:
    table = table_of(kind, f"ttl<{BASE}>")
    keys = [b"\0\2" + letter + b"\0" + (bytes(4) if kind == "map" else b"") for letter in (b"a", b"b", b"c")]
    columns = [pa.array(rows, pa.large_binary()) for rows in (keys, ROWS[kind])]
    rows = table.decode(EntryBatch.of(np.zeros(3, np.int32), *columns))
    assert rows.schema == table.schema
    assert rows["undecoded"].to_pylist() == [None, ROWS[kind][1], None]
    assert rows["value"].is_valid().to_pylist() == [True, False, True]
    assert rows["ttl_timestamp"].is_valid().to_pylist() == [True, False, True]
    assert table.encode_values(rows).equals(columns[1])

    # A row that is given a value is written as that value.
    value = pa.concat_arrays([rows["value"].slice(0, 1)] * 3)
    stamp = pa.concat_arrays([rows["ttl_timestamp"].slice(0, 1)] * 3)
    rows = rows.set_column(rows.schema.get_field_index("value"), "value", value)
    rows = rows.set_column(rows.schema.get_field_index("ttl_timestamp"), "ttl_timestamp", stamp)
    assert table.encode_values(rows).to_pylist() == [ROWS[kind][0]] * 3


def test_a_column_of_nothing_but_them_is_one_that_arrow_can_read() -> None:
    """The column of the class has a dictionary, inside of the struct of an Either here."""
    table = table_of("value", f"ttl<either<{BASE}, long>>")
    left = STAMP + b"\1" + UNKNOWN[len(STAMP) :]
    columns = [pa.array([raw], pa.large_binary()) for raw in (b"\0\2a\0", left)]
    rows = table.decode(EntryBatch.of(np.zeros(1, np.int32), *columns))
    rows.validate(full=True)
    assert (rows["value"].to_pylist(), rows["undecoded"].to_pylist()) == ([None], [left])
