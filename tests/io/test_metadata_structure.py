"""``_metadata`` and headers as Flink itself read them: the ``structure.json`` of every known snapshot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from statelift.io.keyed.header import header_end
from statelift.io.keyed.lenient import read_keyed_header_lenient
from statelift.io.keyed.meta_info import StateMetaInfo
from statelift.io.metadata import (
    ByteStreamStateHandle,
    ChangelogStateBackendHandle,
    ChangelogStateHandleStreamImpl,
    EmptySegmentFileStateHandle,
    FileMergingOperatorStreamStateHandle,
    FileRange,
    FileStateHandle,
    IncrementalRemoteKeyedStateHandle,
    KeyGroupsSavepointStateHandle,
    KeyGroupsStateHandle,
    RelativeFileStateHandle,
    SegmentFileStateHandle,
    SubtaskState,
    read_metadata,
    resolve,
    snapshot_type,
)
from statelift.io.operator_state_header import read_operator_header_lenient
from statelift.schemas.wire import Reader

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ROOT.parent / "shared" / "corpus" / "known"
ENTRIES = sorted(path.parent.relative_to(KNOWN).as_posix() for path in KNOWN.glob("*/*/structure.json"))

pytestmark = pytest.mark.corpus


@pytest.fixture(params=ENTRIES)
def entry(request: pytest.FixtureRequest, corpus: Path) -> Path:
    return corpus / "known" / str(request.param)


def test_we_read_what_flink_read(entry: Path) -> None:
    (path,) = entry.rglob("_metadata")
    expected = json.loads((entry / "structure.json").read_text())
    found = read_metadata(path.read_bytes(), str(path))
    assert (found.version, found.checkpoint_id) == (expected["metadata_version"], expected["checkpoint_id"])
    assert len(found.master_states) == expected["master_states"]
    operators = {operator.uid_hash: operator for operator in found.operator_states}
    assert set(operators) == {operator["id"] for operator in expected["operators"]}
    for wanted in expected["operators"]:
        operator = operators[wanted["id"]]
        assert operator.parallelism == wanted["parallelism"]
        assert operator.max_parallelism == wanted["max_parallelism"]
        assert (operator.operator_name, operator.operator_uid) == (wanted.get("name"), wanted.get("uid"))
        assert operator.fully_finished == (wanted["class"] == "FullyFinishedOperatorState")
        coordinator = operator.coordinator_state
        assert (coordinator and coordinator.data.hex()) == wanted.get("coordinator")
        subtasks = {subtask.subtask_index: subtask for subtask in operator.subtask_states}
        assert set(subtasks) == {subtask["index"] for subtask in wanted["subtasks"]}
        for subtask in wanted["subtasks"]:
            View(path).check_subtask(subtasks[subtask["index"]], subtask)


def test_the_kind_of_snapshot_is_what_flink_says(entry: Path) -> None:
    (path,) = entry.rglob("_metadata")
    properties = json.loads(json.loads((entry / "structure.json").read_text())["properties"])
    wanted = properties["fields"]["checkpointType"]
    found = snapshot_type(read_metadata(path.read_bytes()))
    assert found.kind == wanted["$object"].rsplit(".", 1)[1].removesuffix("Type").lower()
    assert found.name == wanted["fields"]["name"]
    assert found.format_type == wanted["fields"].get("formatType", {}).get("$enum")


class View:
    """Compares the handles of one snapshot with Flink's reading of them."""

    def __init__(self, metadata: Path) -> None:
        self.base = metadata.parent.as_uri()

    def check_subtask(self, found: SubtaskState, wanted: dict[str, Any]) -> None:
        for handle, one in (
            (found.managed_operator_state, wanted["managed_operator"]),
            (found.raw_operator_state, wanted["raw_operator"]),
        ):
            assert (handle is not None) == bool(one)
            if handle is not None:
                self.check_operator_state(handle, one[0])
        for keyed, one in (
            (found.managed_keyed_state, wanted["managed_keyed"]),
            (found.raw_keyed_state, wanted["raw_keyed"]),
        ):
            assert (keyed is not None) == bool(one)
            if keyed is not None:
                self.check_keyed(keyed, one[0])
        assert len(found.input_channel_state) == wanted["input_channel"]
        assert len(found.result_subpartition_state) == wanted["result_subpartition"]

    def check_stream(self, found: Any, wanted: dict[str, Any]) -> None:
        assert type(found).__name__ == wanted["class"]
        match found:
            case ByteStreamStateHandle():
                assert len(found.data) == wanted["size"]
            case RelativeFileStateHandle():
                assert (found.state_size, found.relative_path) == (wanted["size"], wanted["path"])
            case FileStateHandle():
                assert (found.state_size, found.file_path) == (wanted["size"], wanted["path"])
            case SegmentFileStateHandle():
                assert (found.start_pos, found.state_size) == (wanted["start"], wanted["size"])
                assert found.file_path == wanted["path"]
            case EmptySegmentFileStateHandle():
                assert wanted["size"] == 0

    def check_operator_state(self, found: Any, wanted: dict[str, Any]) -> None:
        empty = isinstance(found, FileMergingOperatorStreamStateHandle) and found.is_empty
        assert ("Empty" if empty else "") + type(found).__name__ == wanted["class"]
        self.check_stream(found.stream, wanted["stream"])
        partitions = {one.state_name: one for one in found.state_name_to_partition_offsets}
        assert {
            name: {"mode": one.distribution_mode.name, "offsets": list(one.offsets)}
            for name, one in partitions.items()
        } == wanted.get("partitions", {})
        if "proxy_version" in wanted:
            data = self.bytes_of(found.stream)
            first = header_end([o for one in partitions.values() for o in one.offsets], len(data))
            header = read_operator_header_lenient(Reader(data), first)
            assert header.version == wanted["proxy_version"]
            check_states(header.operator_states, wanted["list_states"])
            check_states(header.broadcast_states, wanted["broadcast_states"])

    def check_keyed(self, found: Any, wanted: dict[str, Any]) -> None:
        name = "ChangelogStateBackendHandleImpl"
        assert (name if isinstance(found, ChangelogStateBackendHandle) else type(found).__name__) == wanted[
            "class"
        ]
        if "key_groups" in wanted:
            assert [found.key_group_range.start, found.key_group_range.end] == wanted["key_groups"]
        match found:
            case KeyGroupsStateHandle() | KeyGroupsSavepointStateHandle():
                self.check_stream(found.stream, wanted["stream"])
                pairs = zip(found.key_group_range, found.offsets, strict=True)
                assert [list(pair) for pair in pairs] == wanted["offsets"]
                self.check_keyed_header(found.stream, found.offsets, wanted)
            case IncrementalRemoteKeyedStateHandle():
                self.check_stream(found.meta_state_handle, wanted["stream"])
                for files, key in ((found.shared_state, "shared"), (found.private_state, "private")):
                    assert [file.local_path for file in files] == [name for name, _ in wanted[key]]
                    for file, (_, stream) in zip(files, wanted[key], strict=True):
                        self.check_stream(file.handle, stream)
                self.check_keyed_header(found.meta_state_handle, (), wanted)
            case ChangelogStateBackendHandle():
                for handles, key in (
                    (found.materialized, "MaterializedStateHandles"),
                    (found.non_materialized, "NonMaterializedStateHandles"),
                ):
                    for handle, one in zip(handles, wanted[key], strict=True):
                        self.check_keyed(handle, one)
            case ChangelogStateHandleStreamImpl():
                for change, (stream, offset) in zip(
                    found.handles_and_offsets, wanted["changes"], strict=True
                ):
                    assert change.offset == offset
                    self.check_stream(change.stream, stream)

    def check_keyed_header(self, stream: Any, offsets: tuple[int, ...], wanted: dict[str, Any]) -> None:
        if "proxy_version" not in wanted:
            return
        data = self.bytes_of(stream)
        header = read_keyed_header_lenient(Reader(data), header_end(offsets, len(data)))
        assert header.version == wanted["proxy_version"]
        assert header.compressed == wanted["compressed"]
        assert header.key_serializer is not None
        assert header.key_serializer.class_name == wanted["key_snapshot"].split(" v")[0]
        check_states(header.states, wanted["states"])

    def bytes_of(self, stream: Any) -> bytes:
        location = resolve(stream, self.base, exists=lambda url: local(url).is_file())
        if not isinstance(location, FileRange):
            return location.data
        assert location.length is not None
        return local(location.url).read_bytes()[location.start : location.start + location.length]


def check_states(found: tuple[StateMetaInfo, ...], wanted: list[dict[str, Any]]) -> None:
    assert [
        {
            "name": state.name,
            "type": state.backend_state_type.name,
            "options": dict(state.options),
            "serializers": {key: f"{one.class_name} v{one.version}" for key, one in state.serializers},
        }
        for state in found
    ] == wanted


def local(url: str) -> Path:
    return Path(url.removeprefix("file://").removeprefix("file:"))
