"""Composite keys (spec 5.3): joined and cut again, with and without lengths behind their parts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statelift.io.keyed.composite import CompositeKeyCodec, is_ambiguous
from statelift.io.keyed.entries import Spans
from statelift.schemas import types as t
from statelift.schemas.errors import FormatError

STRING, LONG, VOID, WINDOW = (t.scalar(name) for name in ("string", "long", "void", "window"))
WINDOWS = pa.struct([pa.field("start", pa.int64()), pa.field("end", pa.int64())])
#: Text that Java holds: no lone surrogates, which Arrow's UTF-8 has no bytes for.
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.sampled_from("ab").map(
    lambda c: c * 300
)
i8 = st.integers(-(2**63), 2**63 - 1)


def codec(
    key: t.DataType, namespace: t.DataType, map_key: t.DataType | None = None, prefix: int = 1
) -> CompositeKeyCodec:
    return CompositeKeyCodec(prefix=prefix, key=key, namespace=namespace, map_key=map_key)


def spans(*rows: bytes) -> Spans:
    return Spans.of(pa.array(rows, pa.large_binary()))


def test_the_ambiguous_form_of_the_format_description() -> None:
    keys = codec(STRING, STRING, STRING)
    made = keys.encode(np.array([5], np.int32), pa.array(["ab"]), pa.array(["n"]), pa.array(["u"]))
    assert made.to_pylist() == [bytes.fromhex("05 036162 03 026e 02 0275")]
    cut = keys.decode(Spans.of(made))
    assert (cut.key.to_pylist(), cut.namespace.to_pylist()) == (["ab"], ["n"])
    assert cut.map_key is not None
    assert cut.map_key.to_pylist() == ["u"]


def test_a_long_key_has_a_length_of_two_bytes() -> None:
    keys = codec(STRING, STRING)
    made = keys.encode(np.array([7], np.int32), pa.array(["k" * 300]), pa.array(["n"]), None)
    key = bytes.fromhex("ad02") + b"k" * 300
    assert made.to_pylist() == [b"\x07" + key + bytes.fromhex("2e01") + bytes.fromhex("026e") + b"\x02"]
    assert keys.decode(Spans.of(made)).key.to_pylist() == ["k" * 300]


def test_no_lengths_where_either_part_is_fixed() -> None:
    """VoidNamespace counts as fixed (length 0) and still has its byte."""
    assert is_ambiguous(STRING, STRING)
    assert not is_ambiguous(STRING, VOID)
    assert not is_ambiguous(STRING, WINDOW)
    assert not is_ambiguous(LONG, STRING)
    made = codec(STRING, VOID).encode(np.array([1], np.int32), pa.array(["a"]), pa.nulls(1), None)
    assert made.to_pylist() == [bytes.fromhex("01 0261 00")]


def test_the_prefix_is_one_byte_or_two() -> None:
    for prefix, head in ((1, "7f"), (2, "007f")):
        made = codec(LONG, VOID, prefix=prefix).encode(
            np.array([127], np.int32), pa.array([1]), pa.nulls(1), None
        )
        assert made.to_pylist() == [bytes.fromhex(head + "0000000000000001" + "00")]
    made = codec(LONG, VOID, prefix=2).encode(np.array([32767], np.int32), pa.array([1]), pa.nulls(1), None)
    assert made.to_pylist() == [bytes.fromhex("7fff" + "0000000000000001" + "00")]


@given(
    st.lists(st.tuples(st.integers(0, 127), text, text, text), min_size=1, max_size=6),
    st.sampled_from([1, 2]),
    st.booleans(),
)
def test_what_was_joined_is_cut_into_the_same_parts(
    rows: list[tuple[int, str, str, str]], prefix: int, with_map_key: bool
) -> None:
    groups, key, namespace, user = zip(*rows, strict=True)
    keys = codec(STRING, STRING, STRING if with_map_key else None, prefix)
    made = keys.encode(
        np.array(groups, np.int32),
        pa.array(key),
        pa.array(namespace),
        pa.array(user) if with_map_key else None,
    )
    cut = keys.decode(Spans.of(made))
    assert cut.key.to_pylist() == list(key)
    assert cut.namespace.to_pylist() == list(namespace)
    assert (cut.map_key.to_pylist() if cut.map_key is not None else None) == (
        list(user) if with_map_key else None
    )
    assert [int.from_bytes(row[:prefix], "big") for row in made.to_pylist()] == list(groups)


@given(st.lists(st.tuples(text, i8, i8), min_size=1, max_size=6))
def test_keys_in_windows(rows: list[tuple[str, int, int]]) -> None:
    key, start, end = zip(*rows, strict=True)
    windows = [{"start": a, "end": b} for a, b in zip(start, end, strict=True)]
    keys = codec(STRING, WINDOW)
    made = keys.encode(np.zeros(len(rows), np.int32), pa.array(key), pa.array(windows, WINDOWS), None)
    cut = keys.decode(Spans.of(made))
    assert cut.key.to_pylist() == list(key)
    assert cut.namespace.to_pylist() == windows


@pytest.mark.parametrize(
    "damaged",
    [
        "05 036162 04 026e 02",  # the key is 3 bytes long, not 4
        "05 036162 03 026e 02 00",  # a byte too many
        "05 036162 03 026e",  # no length behind the namespace
        "05 0361",  # the key ends early
        "05",
    ],
)
def test_a_key_that_is_not_what_was_joined_is_refused(damaged: str) -> None:
    with pytest.raises(FormatError):
        codec(STRING, STRING).decode(spans(bytes.fromhex(damaged)))


def test_the_flag_bit_of_canonical_keys_is_in_nobodys_way() -> None:
    row = bytes.fromhex("d1 0261 00")
    assert codec(STRING, VOID).decode(spans(row)).key.to_pylist() == ["a"]
    assert spans(row).to_arrow(clear_flag=True).to_pylist() == [bytes.fromhex("51 0261 00")]
