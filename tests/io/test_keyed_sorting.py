"""Rows of bytes in RocksDB's order, against Python's sorted; Snappy's frames, against cramjam's."""

from __future__ import annotations

import cramjam
import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from statelift.io.keyed.entries import Spans
from statelift.io.keyed.snappy_frames import decompress
from statelift.io.keyed.sorting import first_duplicate, sorted_order

#: Rows with long common prefixes, and such as end where others go on.
rows_of_bytes = st.lists(
    st.binary(max_size=4)
    | st.builds(lambda n, tail: b"p" * n + tail, st.integers(0, 40), st.binary(max_size=3)),
    max_size=30,
)


def spans(rows: list[bytes]) -> Spans:
    return Spans.of(pa.array([b"before", *rows, b"after"], pa.large_binary())[1:-1])


@given(rows_of_bytes)
def test_the_order_is_that_of_the_bytes_and_stable(rows: list[bytes]) -> None:
    order = sorted_order(spans(rows))
    if order is None:
        assert rows == sorted(rows)
    else:
        assert order.tolist() == sorted(range(len(rows)), key=lambda i: rows[i])


@given(rows_of_bytes)
def test_duplicates_of_sorted_rows_are_found(rows: list[bytes]) -> None:
    rows = sorted(rows)
    twice = [i for i in range(1, len(rows)) if rows[i] == rows[i - 1]]
    assert first_duplicate(spans(rows)) == (twice[0] if twice else -1)


@given(rows_of_bytes, st.data())
def test_rows_are_gathered_in_any_order(rows: list[bytes], data: st.DataObject) -> None:
    order = data.draw(st.lists(st.integers(0, max(0, len(rows) - 1)), max_size=20)) if rows else []
    taken = spans(rows).take(np.array(order, np.int64))
    assert taken.to_arrow().to_pylist() == [rows[i] for i in order]


@given(
    st.lists(st.binary(max_size=200) | st.integers(0, 150_000).map(bytes), max_size=3), st.integers(1, 70_000)
)
def test_frames_come_undone_however_they_are_cut(parts: list[bytes], size: int) -> None:
    """Frames one behind the other are one stream, as the heap's native format has them."""
    framed = b"".join(bytes(cramjam.snappy.compress(part)) for part in parts)
    chunks = iter([framed[at : at + size] for at in range(0, len(framed), size)])
    assert b"".join(decompress(chunks, "file", 0)) == b"".join(parts)
