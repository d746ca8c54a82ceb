"""Whatever stands in the file, reading gives a snapshot that is written back as it was, or one of our errors."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statelift.schemas.errors import StateliftError
from statelift.schemas.snapshots import build, read_snapshot, write_snapshot
from statelift.schemas.snapshots.java_stream import read_java
from statelift.schemas.snapshots.java_writer import write_java
from statelift.schemas.wire import Reader, Writer

INT, LONG, STRING = build.scalar("Int"), build.scalar("Long"), build.scalar("String")


@cache
def samples() -> list[bytes]:
    """A built snapshot of each kind, and those of the Table runtime that Flink wrote, the longest left out."""
    pojo = build.pojo("a.P", {"id": INT, "tags": build.list_of(STRING)}, registered_subclasses={"a.Q": LONG})
    built = [
        INT,
        build.map_of(STRING, build.tuple_of(LONG, build.row_of(INT, STRING))),
        build.ttl(build.nullable(build.array_of("a.A", pojo), padding=3)),
        build.enum("a.Color", ["RED", "GREEN"]),
        build.kryo("java.util.UUID", registered=["a.B"]),
        build.avro('{"type":"string"}'),
    ]
    found = []
    for snapshot in built:
        writer = Writer()
        write_snapshot(writer, snapshot)
        found.append(writer.getvalue())
    lines = (Path(__file__).parents[1] / "golden" / "table_snapshots.tsv").read_text().splitlines()
    for line in lines:
        _, kind, _, raw = line.split("\t")
        if kind == "snapshot" and len(raw) < 6000:
            found.append(bytes.fromhex(raw))
    return found


def read_or_refuse(data: bytes) -> None:
    reader = Reader(data)
    try:
        snapshot = read_snapshot(reader)
    except StateliftError:
        return
    writer = Writer()
    write_snapshot(writer, snapshot)
    assert writer.getvalue() == data[: reader.pos]


@pytest.mark.parametrize("index", range(len(samples())))
def test_every_truncation_is_an_error(index: int) -> None:
    data = samples()[index]
    for end in range(0, len(data), 1 + len(data) // 400):
        with pytest.raises(StateliftError):
            read_snapshot(Reader(data[:end]))


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_changed_bytes(data: st.DataObject) -> None:
    changed = bytearray(data.draw(st.sampled_from(samples())))
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    read_or_refuse(bytes(changed))


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_piece_of_one_put_into_another(data: st.DataObject) -> None:
    one, other = data.draw(st.sampled_from(samples())), data.draw(st.sampled_from(samples()))
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(other))] * 2)))
    at = data.draw(st.integers(0, len(one)))
    read_or_refuse(one[:at] + other[start:stop] + one[at:])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from([bytes([tag]) for tag in range(0x70, 0x7F)]) | st.binary(max_size=3), max_size=60
    )
)
def test_java_streams_of_any_bytes(pieces: list[bytes]) -> None:
    data = bytes.fromhex("aced0005") + b"".join(pieces)
    reader = Reader(data)
    try:
        content = read_java(reader)
    except StateliftError:
        return
    assert write_java(content) == data[: reader.pos]
