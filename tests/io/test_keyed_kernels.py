"""The kernels over keyed entries and changes, each against an obvious twin in Python."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from statelift.io.keyed import changelog_kernels, entry_kernels
from statelift.io.keyed.aligned import Cursor, align
from statelift.io.keyed.entries import Spans, merge_small

from .keyed_snapshots import entries
from .keyed_strategies import Row, row_lists, windows_of


def spans(rows: list[bytes]) -> Spans:
    """The rows of an array that begins and ends elsewhere."""
    return Spans.of(pa.array([b"before", *rows, b"after"], pa.large_binary())[1:-1])


few_bytes = st.binary(max_size=3) | st.binary(min_size=7, max_size=18)


@given(st.lists(few_bytes, max_size=10), st.booleans(), st.data())
def test_gather_copies_each_row_and_nothing_else(rows: list[bytes], clear: bool, data: st.DataObject) -> None:
    gaps = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    expected, offsets = b"", []
    for row, gap in zip(rows, gaps, strict=True):
        expected += b"." * gap
        offsets.append(len(expected))
        expected += bytes([row[0] & 0x7F]) + row[1:] if clear and row else row
    out = np.full(len(expected), ord("."), np.uint8)
    given_rows = spans(rows)
    order = data.draw(st.permutations(range(len(rows))))
    taken = given_rows.take(np.array(order, np.int64))
    entry_kernels.gather(
        taken.data,
        taken.starts,
        taken.ends,
        out,
        np.array(offsets, np.int64)[np.array(order, np.int64)],
        clear,
    )
    assert out.tobytes() == expected


@given(st.lists(st.binary(max_size=3), max_size=10), st.sampled_from([1, 2]))
def test_key_groups_are_the_prefix_without_the_flag(rows: list[bytes], prefix: int) -> None:
    out = np.empty(len(rows), np.int32)
    given_rows = spans(rows)
    entry_kernels.key_groups_of(given_rows.data, given_rows.starts, given_rows.ends, prefix, out)
    assert out.tolist() == [
        -1 if len(row) < prefix else int.from_bytes(bytes([row[0] & 0x7F]) + row[1:prefix], "big")
        for row in rows
    ]


low_bytes = st.lists(st.sampled_from(b"\0\1ab\x7f"), max_size=4).map(bytes)


@given(st.lists(low_bytes, max_size=8), st.sets(low_bytes, max_size=6), st.booleans())
def test_find_says_which_sought_row_each_row_is(rows: list[bytes], sought: set[bytes], flag: bool) -> None:
    """With the flag bit of canonical keys on some rows, too."""
    ordered = sorted(sought)
    flagged = [bytes([row[0] | 0x80]) + row[1:] if flag and row else row for row in rows]
    given_rows, wanted = spans(flagged), spans(ordered)
    found = np.empty(len(rows), np.int64)
    changelog_kernels.find(
        given_rows.data,
        given_rows.starts,
        given_rows.ends,
        wanted.data,
        wanted.starts,
        wanted.ends,
        False,
        found,
    )
    assert found.tolist() == [ordered.index(row) if row in sought else -1 for row in rows]


@given(st.lists(low_bytes, max_size=8), st.sets(low_bytes, max_size=6))
def test_find_says_which_head_each_row_begins_with(rows: list[bytes], sought: set[bytes]) -> None:
    heads = sorted(
        one for one in sought if not any(one.startswith(other) and one != other for other in sought)
    )
    given_rows, wanted = spans(rows), spans(heads)
    found = np.empty(len(rows), np.int64)
    changelog_kernels.find(
        given_rows.data,
        given_rows.starts,
        given_rows.ends,
        wanted.data,
        wanted.starts,
        wanted.ends,
        True,
        found,
    )
    expected = [next((i for i, head in enumerate(heads) if row.startswith(head)), -1) for row in rows]
    assert found.tolist() == expected


changes = st.lists(
    st.tuples(st.integers(-1, 300), st.lists(st.binary(min_size=1, max_size=9), max_size=4)), max_size=5
)


@given(changes, st.integers(0, 12))
def test_a_change_set_is_cut_where_its_counts_say(groups: list[tuple[int, list[bytes]]], cut: int) -> None:
    """Whole, and again from where it stopped when the last bytes were missing."""
    data = len(groups).to_bytes(4, "big")
    for group, texts in groups:
        data += len(texts).to_bytes(4, "big") + group.to_bytes(4, "big", signed=True)
        data += b"".join(len(text).to_bytes(4, "big") + text for text in texts)
    at = np.array([0, -1, 0, -1, 0, changelog_kernels.MORE], np.int64)
    found: list[tuple[int, bytes]] = []
    for part in (data[: max(0, len(data) - cut)], data):
        if at[5] == changelog_kernels.DONE:
            break
        buffer = np.frombuffer(part, np.uint8)
        row_groups, starts, ends = np.empty(50, np.int32), np.empty(50, np.int64), np.empty(50, np.int64)
        changelog_kernels.scan_changes(buffer, row_groups, starts, ends, at)
        rows = range(int(at[4]))
        found += [(int(row_groups[i]), part[starts[i] : ends[i]]) for i in rows]
    assert at[5] == changelog_kernels.DONE
    assert at[0] == len(data)
    assert found == [(group, text) for group, texts in groups for text in texts]


@given(row_lists(4, 5), st.lists(st.lists(st.integers(0, 20), max_size=4), min_size=3, max_size=3))
def test_states_go_forward_together(rows: list[Row], cuts: list[list[int]]) -> None:
    """However the windows are cut, and where some states already come together: ``entries`` checks that no key group
    comes back."""
    cursors = [
        Cursor(iter(windows_of([row for row in rows if row[0] in states], 1, own)))
        for states, own in zip(((0,), (1, 2), (3,)), cuts, strict=True)
    ]
    found = entries(align(cursors))
    expected: dict[int, dict[tuple[int, bytes], bytes]] = {}
    for state, group, key, value in rows:
        expected.setdefault(state, {})[group, bytes([group]) + key] = value
    assert found == expected


@given(row_lists(3, 5), st.lists(st.integers(0, 40), max_size=8), st.sampled_from([1, 100, 1 << 20]))
def test_joined_windows_hold_the_same_entries(rows: list[Row], cuts: list[int], least: int) -> None:
    windows = [window for window in windows_of(rows, 1, cuts) if window]
    assert entries(merge_small(iter(windows), least)) == entries(iter(windows))
