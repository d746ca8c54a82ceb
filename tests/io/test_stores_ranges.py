"""Which requests are made: for ranges of a file, and for a concatenation inside S3."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statelift.io.stores import ranges, s3_compose
from statelift.io.stores.ranges import GAP_BYTES, PIECE_BYTES, cut, plan
from statelift.io.stores.s3_compose import MAX_PARTS, MIN_PART_BYTES, Slice, plan_parts

MIB = 1024 * 1024


def test_near_ranges_share_a_request_and_far_ones_do_not() -> None:
    near, far = GAP_BYTES - 1, GAP_BYTES
    assert plan([(0, 10), (10 + near, 5)]) == [(0, 10 + near + 5)]
    assert plan([(0, 10), (10 + far, 5)]) == [(0, 10), (10 + far, 5)]


def test_order_overlap_and_empty_ranges_make_no_more_requests() -> None:
    assert plan([(50, 10), (0, 100), (20, 0), (0, 30), (500_000, 0)]) == [(0, 100)]


def test_a_large_range_is_read_in_pieces() -> None:
    assert plan([(7, 2 * PIECE_BYTES + 1)]) == [
        (7, PIECE_BYTES),
        (7 + PIECE_BYTES, PIECE_BYTES),
        (7 + 2 * PIECE_BYTES, 1),
    ]


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(0, 100)), max_size=20), st.integers(1, 60))
def test_the_pieces_hold_every_range(wanted: list[tuple[int, int]], piece: int) -> None:
    data = bytes(i % 251 for i in range(1000))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "GAP_BYTES", 8)
        patch.setattr(ranges, "PIECE_BYTES", piece)
        pieces = plan(wanted)
    assert all(0 < length <= piece for _, length in pieces)
    assert all(a + n <= b for (a, n), (b, _) in itertools.pairwise(pieces))
    held = [data[start : start + length] for start, length in pieces]
    assert [cut(w, pieces, held) for w in wanted] == [data[s : s + n] for s, n in wanted]


def test_large_sources_are_parts_as_they_are() -> None:
    assert plan_parts([6 * MIB, 5 * MIB, 1]) == [
        [Slice(0, 0, 6 * MIB)],
        [Slice(1, 0, 5 * MIB)],
        [Slice(2, 0, 1)],
    ]


def test_a_small_source_takes_what_it_lacks_from_the_next() -> None:
    assert plan_parts([MIB, 20 * MIB]) == [
        [Slice(0, 0, MIB), Slice(1, 0, 4 * MIB)],
        [Slice(1, 4 * MIB, 16 * MIB)],
    ]


def test_ten_thousand_parts_are_enough() -> None:
    assert len(plan_parts([5 * MIB] * 30_000)) <= MAX_PARTS
    assert len(plan_parts([5 * 1024**4])) <= MAX_PARTS


@given(st.lists(st.integers(0, 100), max_size=30), st.integers(5, 40))
def test_the_parts_are_the_sources_in_order(sizes: list[int], copied: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(s3_compose, "MIN_PART_BYTES", 5)
        patch.setattr(s3_compose, "COPY_PART_BYTES", copied)
        parts = plan_parts(sizes)
    places = [(s.source, at) for part in parts for s in part for at in range(s.start, s.start + s.length)]
    assert places == [(source, at) for source, size in enumerate(sizes) for at in range(size)]
    lengths = [sum(s.length for s in part) for part in parts]
    assert all(length >= 5 for length in lengths[:-1])
    assert all(length <= max(copied, 5) for length in lengths)


def test_the_limits_are_those_of_s3() -> None:
    """https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html"""
    assert (MIN_PART_BYTES, MAX_PARTS) == (5 * MIB, 10_000)
