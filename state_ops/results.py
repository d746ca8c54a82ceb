"""What a shard reports of its work: plain data, so that it crosses processes and is kept beside the files."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from ..io.sst.sst_file import SstFileInfo
from .digest import Digest
from .transform import Changes


class StateResult(BaseModel):
    """One state in one unit, or summed over them: what was read and what was written."""

    read: tuple[int, int, int] = (0, 0, 0)
    written: tuple[int, int, int] = (0, 0, 0)
    nbytes: int = 0
    changed: int = 0
    deleted: int = 0
    added: int = 0
    samples: list[tuple[dict[str, Any] | None, dict[str, Any] | None]] = []

    @property
    def read_digest(self) -> Digest:
        return Digest(*self.read)

    @property
    def written_digest(self) -> Digest:
        return Digest(*self.written)

    def add(self, other: StateResult) -> StateResult:
        """The sum of the two, samples of both up to the usual number."""
        read, written = self.read_digest + other.read_digest, self.written_digest + other.written_digest
        return StateResult(
            read=(read.entries, read.low, read.high),
            written=(written.entries, written.low, written.high),
            nbytes=self.nbytes + other.nbytes,
            changed=self.changed + other.changed,
            deleted=self.deleted + other.deleted,
            added=self.added + other.added,
            samples=[*self.samples, *other.samples][:5],
        )

    def count(self, changes: Changes) -> None:
        self.changed += changes.changed
        self.deleted += changes.deleted
        self.added += changes.added
        self.samples = changes.samples


class SstFile(BaseModel):
    """``SstFileInfo`` as JSON holds it, keys as hex."""

    model_config = ConfigDict(frozen=True)

    file_number: int
    column_family_id: int
    size: int
    num_entries: int
    num_data_blocks: int
    raw_key_size: int
    raw_value_size: int
    smallest_key: str
    largest_key: str

    @staticmethod
    def of(info: SstFileInfo) -> SstFile:
        fields = {name: getattr(info, name) for name in SstFile.model_fields}
        return SstFile.model_validate({k: v.hex() if isinstance(v, bytes) else v for k, v in fields.items()})

    def info(self) -> SstFileInfo:
        fields = self.model_dump()
        for name in ("smallest_key", "largest_key"):
            fields[name] = bytes.fromhex(fields[name])
        return SstFileInfo(**fields)


class UnitResult(BaseModel):
    """A unit's files: a part of a canonical stream with the offsets in it, or SST files.

    ``name`` is the stream's file in the target, or what the names of the SST files begin with.
    """

    operator: str
    subtask: int
    piece: int
    name: str
    states: dict[str, StateResult]
    stream: bool = False
    size: int = 0
    offsets: dict[int, int] = {}
    sst_files: list[SstFile] = []

    def sst_name(self, file: SstFile) -> str:
        """The file of the target that holds an SST file."""
        return f"{self.name}-{file.info().name}"

    def files(self) -> dict[str, int]:
        """The unit's files in the target and their sizes in bytes."""
        streams = {self.name: self.size} if self.stream else {}
        return streams | {self.sst_name(file): file.size for file in self.sst_files}


class ShardResult(BaseModel):
    """All units of one shard. ``resumed`` is True where an earlier run had done it."""

    number: int
    units: list[UnitResult]
    resumed: bool = False
