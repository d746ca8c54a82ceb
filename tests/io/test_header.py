"""Headers of keyed and operator state: written back as they were, refused versions, unknown serializers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statelift.io.keyed.header import (
    BackendStateType,
    KeyedBackendHeader,
    StateMetaInfo,
    header_end,
    read_keyed_header,
    write_keyed_header,
)
from statelift.io.keyed.lenient import RawKeyedHeader, read_keyed_header_lenient
from statelift.io.metadata import (
    ChangelogStateBackendHandle,
    FileRange,
    IncrementalRemoteKeyedStateHandle,
    KeyGroupsSavepointStateHandle,
    KeyGroupsStateHandle,
    read_metadata,
    resolve,
)
from statelift.io.operator_state_header import (
    OperatorBackendHeader,
    read_operator_header,
    read_operator_header_lenient,
    write_operator_header,
)
from statelift.schemas.errors import (
    FormatError,
    StateliftError,
    UnknownSerializerError,
    UnsupportedVersionError,
)
from statelift.schemas.snapshots import OpaqueSnapshot, SimpleSnapshot
from statelift.schemas.wire import Reader, Writer

BASE = "org.apache.flink.api.common.typeutils.base."
STRING = SimpleSnapshot(class_name=BASE + "StringSerializer$StringSerializerSnapshot", version=3)
LONG = SimpleSnapshot(class_name=BASE + "LongSerializer$LongSerializerSnapshot", version=3)
VOID = SimpleSnapshot(
    class_name="org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot",
    version=3,
)
UNKNOWN = OpaqueSnapshot(
    class_name="com.acme.ThingSnapshot", version=1, raw=b"\0\0\0\2??", unknown_class="com.acme.ThingSnapshot"
)


def value_state(name: str, value: Any) -> StateMetaInfo:
    return StateMetaInfo(
        name=name,
        backend_state_type=BackendStateType.KEY_VALUE,
        options=(("KEYED_STATE_TYPE", "VALUE"),),
        serializers=(("VALUE_SERIALIZER", value), ("NAMESPACE_SERIALIZER", VOID)),
    )


def timers(element: Any) -> StateMetaInfo:
    return StateMetaInfo(
        name="_timer_state/event_user-timers",
        backend_state_type=BackendStateType.PRIORITY_QUEUE,
        serializers=(("VALUE_SERIALIZER", element),),
    )


def list_state(name: str, element: Any) -> StateMetaInfo:
    return StateMetaInfo(
        name=name,
        backend_state_type=BackendStateType.OPERATOR,
        options=(("OPERATOR_STATE_DISTRIBUTION_MODE", "UNION"),),
        serializers=(("VALUE_SERIALIZER", element),),
    )


def keyed_bytes(header: KeyedBackendHeader) -> bytes:
    writer = Writer()
    write_keyed_header(writer, header)
    return writer.getvalue()


def operator_bytes(header: OperatorBackendHeader) -> bytes:
    writer = Writer()
    write_operator_header(writer, header)
    return writer.getvalue()


# The corpus


Found = tuple[str, bytes, tuple[int, ...]]


def keyed_streams(handle: Any) -> Iterator[tuple[Any, tuple[int, ...]]]:
    match handle:
        case ChangelogStateBackendHandle():
            for inner in handle.materialized:
                yield from keyed_streams(inner)
        case KeyGroupsStateHandle() | KeyGroupsSavepointStateHandle():
            yield handle.stream, handle.offsets
        case IncrementalRemoteKeyedStateHandle():
            yield handle.meta_state_handle, ()


def corpus_headers(corpus: Path) -> Iterator[tuple[str, Found]]:
    """Each keyed and operator state stream of the corpus with its kind, name, bytes and offsets."""
    for path in corpus.rglob("_metadata"):
        for operator in read_metadata(path.read_bytes(), str(path)).operator_states:
            for subtask in operator.subtask_states:
                for stream, offsets in keyed_streams(subtask.managed_keyed_state):
                    yield "keyed", (str(path), content(stream, path), offsets)
                handle = subtask.managed_operator_state
                if handle is not None:
                    partitions = handle.state_name_to_partition_offsets
                    offsets = tuple(offset for one in partitions for offset in one.offsets)
                    data = content(handle.stream, path)
                    if data:
                        yield "operator", (str(path), data, offsets)


def content(stream: Any, metadata: Path) -> bytes:
    location = resolve(stream, metadata.parent.as_uri(), exists=lambda url: local(url).is_file())
    if not isinstance(location, FileRange):
        return location.data
    assert location.length is not None
    return local(location.url).read_bytes()[location.start : location.start + location.length]


def local(url: str) -> Path:
    return Path(url.removeprefix("file://").removeprefix("file:"))


@pytest.mark.corpus
def test_every_header_that_flink_wrote_is_written_back_byte_for_byte(corpus: Path) -> None:
    seen: Counter[str] = Counter()
    for kind, (file, data, offsets) in corpus_headers(corpus):
        reader = Reader(data, file=file)
        end = header_end(offsets, len(data))
        try:
            if kind == "keyed":
                keyed = read_keyed_header_lenient(reader, end)
                assert isinstance(keyed, KeyedBackendHeader), file
                assert reader.pos == end, file
                assert keyed_bytes(keyed) == data[:end], file
            else:
                operator = read_operator_header_lenient(reader, end)
                assert reader.pos == end - 10 * operator.compressed, file
                assert operator_bytes(operator) == data[: reader.pos], file
        except UnsupportedVersionError:
            kind += " refused"
            assert "state-evolution-1.6" in file
        seen[kind] += 1
    assert seen["keyed refused"] == 1
    assert seen["keyed"] >= 1683
    assert seen["operator"] >= 1494


@pytest.mark.corpus
def test_hiding_a_serializer_hides_nothing_else(corpus: Path) -> None:
    """Flink's own headers with the POJO serializer's name changed to one that nobody knows."""
    hidden = 0
    for kind, (file, data, offsets) in corpus_headers(corpus / "known"):
        if kind != "keyed" or b"runtime.PojoSerializerSnapshot" not in data:
            continue
        end = header_end(offsets, len(data))
        whole = read_keyed_header_lenient(Reader(data), end)
        changed = data[:end].replace(b"runtime.PojoSerializerSnapshot", b"runtime.XojoSerializerSnapshot")
        found = read_keyed_header_lenient(Reader(changed), end)
        assert isinstance(found, KeyedBackendHeader), file
        assert isinstance(whole, KeyedBackendHeader)
        assert shape(found) == shape(whole), file
        assert keyed_bytes(found) == changed, file
        hidden += "OpaqueSnapshot" in repr(found)
    assert hidden > 50


def shape(header: KeyedBackendHeader) -> list[Any]:
    return [
        (state.name, state.backend_state_type, state.options, [key for key, _ in state.serializers])
        for state in header.states
    ]


# Layout


def test_a_keyed_header_is_laid_out_as_the_spec_says() -> None:
    header = KeyedBackendHeader(key_serializer=STRING, states=(value_state("v", LONG),))
    data = keyed_bytes(header)
    assert len(data) == 367
    assert data.startswith(bytes.fromhex("00000006 00 00000002 0054") + BASE.encode())
    assert read_keyed_header(Reader(data)) == header


@pytest.mark.parametrize(
    ("header", "start"),
    [
        (OperatorBackendHeader(operator_states=(list_state("s", LONG),)), "00000005 0001 0001 73"),
        (OperatorBackendHeader(version=6, compressed=True), "00000006 01 0000 0000"),
    ],
)
def test_an_operator_header_says_whether_it_is_compressed_from_version_6_on(
    header: OperatorBackendHeader, start: str
) -> None:
    data = operator_bytes(header)
    assert data.startswith(bytes.fromhex(start))
    assert read_operator_header(Reader(data)) == header


def test_version_5_of_an_operator_header_cannot_be_compressed() -> None:
    with pytest.raises(FormatError, match="version 5 cannot say"):
        operator_bytes(OperatorBackendHeader(compressed=True))


def test_a_state_answers_by_flinks_keys() -> None:
    state = value_state("v", LONG)
    assert state.keyed_state_type == "VALUE"
    assert (state.value_serializer, state.namespace_serializer) == (LONG, VOID)
    assert (state.key_serializer, state.user_key_serializer, state.distribution_mode) == (None, None, None)
    assert list_state("s", LONG).distribution_mode == "UNION"


@pytest.mark.parametrize(("offsets", "end"), [((0, 0, 40, 60), 40), ((-1, 25), 25), ((), 99), ((0, 0), 99)])
def test_a_header_ends_at_the_first_offset_or_with_the_stream(offsets: tuple[int, ...], end: int) -> None:
    assert header_end(offsets, 99) == end


# Refused


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_keyed_headers_before_flink_1_8_are_refused_by_name(version: int) -> None:
    data = version.to_bytes(4, "big") + bytes(20)
    for read in (read_keyed_header, lambda reader: read_keyed_header_lenient(reader, 24)):
        with pytest.raises(
            UnsupportedVersionError, match=f"header version {version}, of Flink 1.7 or earlier"
        ):
            read(Reader(data))


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_operator_headers_before_flink_1_8_are_refused_by_name(version: int) -> None:
    with pytest.raises(UnsupportedVersionError, match=f"header version {version}, of Flink 1.7 or earlier"):
        read_operator_header(Reader(version.to_bytes(4, "big") + bytes(20)))


@pytest.mark.parametrize("version", [0, 7, -1])
def test_what_is_no_header_is_refused(version: int) -> None:
    data = version.to_bytes(4, "big", signed=True) + bytes(20)
    for read in (read_keyed_header, read_operator_header):
        with pytest.raises(FormatError, match=f"header version {version} is unknown"):
            read(Reader(data))


def test_an_error_in_a_state_names_it() -> None:
    data = keyed_bytes(KeyedBackendHeader(key_serializer=STRING, states=(value_state("balance", LONG),)))
    with pytest.raises(FormatError) as caught:
        read_keyed_header(Reader(data[:-20], file="f"))
    assert (caught.value.where.file, caught.value.where.state) == ("f", "balance")


# Unknown serializers

snapshots = st.sampled_from([STRING, LONG, UNKNOWN])
names = st.text(min_size=1, max_size=12)
headers = st.builds(
    KeyedBackendHeader,
    compressed=st.booleans(),
    key_serializer=snapshots,
    states=st.lists(st.builds(value_state, names, snapshots) | st.builds(timers, snapshots), max_size=4).map(
        tuple
    ),
)


def test_an_unknown_serializer_is_refused_by_the_strict_reader() -> None:
    data = keyed_bytes(KeyedBackendHeader(key_serializer=STRING, states=(value_state("v", UNKNOWN),)))
    with pytest.raises(UnknownSerializerError, match=re.escape(UNKNOWN.class_name)):
        read_keyed_header(Reader(data))


@given(headers)
def test_unknown_serializers_are_stepped_over(header: KeyedBackendHeader) -> None:
    data = keyed_bytes(header)
    reader = Reader(data + b"data")
    found = read_keyed_header_lenient(reader, len(data))
    assert reader.pos == len(data)
    assert found == header


@pytest.mark.parametrize("states", [(), (value_state("v", UNKNOWN), timers(UNKNOWN), value_state("w", LONG))])
@pytest.mark.parametrize("key", [STRING, UNKNOWN])
def test_several_unknown_serializers_are_stepped_over(key: Any, states: tuple[StateMetaInfo, ...]) -> None:
    header = KeyedBackendHeader(key_serializer=key, states=states)
    data = keyed_bytes(header)
    assert read_keyed_header_lenient(Reader(data), len(data)) == header


def test_a_header_whose_rest_cannot_be_found_is_kept_as_it_is() -> None:
    """A payload that looks like the start of a serializer, which it cannot be."""
    payload = b"\0\x10VALUE_SERIALIZER\0\0\0\2\0\0"
    tricky = OpaqueSnapshot(class_name="com.acme.T", version=1, raw=payload, unknown_class="com.acme.T")
    header = KeyedBackendHeader(
        key_serializer=STRING, states=(value_state("v", LONG), timers(tricky), value_state("w", LONG))
    )
    data = keyed_bytes(header)
    found = read_keyed_header_lenient(Reader(data), len(data))
    assert isinstance(found, RawKeyedHeader)
    assert (found.raw, found.states, found.state_count) == (data, header.states[:1], 3)
    assert isinstance(found.reason, UnknownSerializerError)


@pytest.mark.parametrize("compressed", [False, True])
def test_an_operator_header_steps_over_too(compressed: bool) -> None:
    header = OperatorBackendHeader(
        version=6, compressed=compressed, operator_states=(list_state("a", UNKNOWN), list_state("b", LONG))
    )
    data = operator_bytes(header)
    first_offset = len(data) + 10 * compressed
    assert read_operator_header_lenient(Reader(data + bytes(20)), first_offset) == header


@given(headers, st.data())
def test_damage_gives_a_value_or_an_error_of_ours(header: KeyedBackendHeader, data: st.DataObject) -> None:
    raw = bytearray(keyed_bytes(header))
    for _ in range(data.draw(st.integers(0, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]))
    raw = raw[: data.draw(st.integers(0, len(raw)))]
    end = data.draw(st.integers(0, len(raw) + 5))
    try:
        read_keyed_header_lenient(Reader(bytes(raw)), end)
    except StateliftError:
        return
