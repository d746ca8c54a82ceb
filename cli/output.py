"""Where rows go: JSON lines on stdout, or a file in a store that appears when it is whole."""

from __future__ import annotations

import csv
import io
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa

from ..schemas.errors import TargetExistsError
from ..state_ops.values import rows, to_json, values

if TYPE_CHECKING:
    from ..io.stores import Stores, StoreWriter

_ROWS = 4096
SUFFIXES = (".parquet", ".csv", ".jsonl")

output_option = click.option(
    "--output", "-o", metavar="FILE",
    help="Write to FILE, a path or s3:// URL ending in .parquet, .csv or .jsonl; - is JSON lines on stdout.",
)  # fmt: skip


def check_output(output: str | None) -> str | None:
    """The file to write, None for stdout; refused before anything is read where its kind is not known."""
    if output is None or output == "-":
        return None
    if not output.endswith(SUFFIXES):
        if "." not in output.rpartition("/")[2]:
            raise click.UsageError(
                f"what to write to {output!r} is told by its ending: {', '.join(SUFFIXES)}"
            )
        raise click.UsageError(f"{output!r} ends in none of {', '.join(SUFFIXES)}")
    return output


def write(batches: pa.RecordBatchReader, output: str | None, stores: Stores) -> int:
    """Write all rows; returns how many. Raises TargetExistsError for a file that is there."""
    if output is None:
        return _write_lines(batches)
    if stores.exists(output):
        raise TargetExistsError(f"{output} exists", todo="remove it or give another name")
    kinds: dict[str, type[_Sink]] = {".parquet": _Parquet, ".csv": _Csv, ".jsonl": _JsonLines}
    make = kinds["." + output.rpartition(".")[2]]
    count = 0
    with ExitStack() as stack:
        file = stack.enter_context(stores.open_write(output))
        sink = make(file, batches.schema)
        try:
            for batch in batches:
                sink.add(batch)
                count += len(batch)
            sink.end()
        except BaseException:
            sink.give_up()
            raise
    return count


def _write_lines(batches: Iterable[pa.RecordBatch]) -> int:
    count = 0
    for batch in batches:
        for part in _parts(batch):
            sys.stdout.write("".join(to_json(row) + "\n" for row in rows(part)))
        count += len(batch)
    return count


def _parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Slices that are small enough for their rows to become Python objects at once."""
    for start in range(0, len(batch), _ROWS):
        yield batch.slice(start, _ROWS)


class _Sink(ABC):
    def __init__(self, file: StoreWriter, schema: pa.Schema) -> None:
        self.file = file

    @abstractmethod
    def add(self, batch: pa.RecordBatch) -> None: ...

    def end(self) -> None:  # noqa: B027 - nothing, unless a format has an end
        """Write what stands at the end; the file itself is closed by the caller."""

    def give_up(self) -> None:  # noqa: B027 - nothing, unless a writer has to be closed
        """Write no more: the file is thrown away."""


class _JsonLines(_Sink):
    def add(self, batch: pa.RecordBatch) -> None:
        for part in _parts(batch):
            self.file.write("".join(to_json(row) + "\n" for row in rows(part)).encode())


class _Csv(_Sink):
    """Nested values are JSON text in one field, null is an empty one."""

    def __init__(self, file: StoreWriter, schema: pa.Schema) -> None:
        super().__init__(file, schema)
        self._write([schema.names])

    def add(self, batch: pa.RecordBatch) -> None:
        for part in _parts(batch):
            columns = [[_csv_field(value) for value in values(column)] for column in part.columns]
            self._write(zip(*columns, strict=True))

    def _write(self, lines: Iterable[Iterable[Any]]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        self.file.write(text.getvalue().encode())


def _csv_field(value: Any) -> Any:
    if isinstance(value, dict | list):
        return to_json(value)
    return str(value).lower() if isinstance(value, bool) else value


class _Parquet(_Sink):
    def __init__(self, file: StoreWriter, schema: pa.Schema) -> None:
        import pyarrow.parquet as pq

        super().__init__(file, schema)
        self.schema = pa.schema([pa.field(field.name, _storable(field.type)) for field in schema])
        self.sized = _Sized(file)
        self.writer = pq.ParquetWriter(self.sized, self.schema, compression="zstd")

    def add(self, batch: pa.RecordBatch) -> None:
        self.writer.write_table(pa.Table.from_batches([batch]).cast(self.schema))

    def end(self) -> None:
        self.writer.close()

    def give_up(self) -> None:
        self.sized.is_given_up = True
        self.writer.close()  # else it is when nobody looks, and complains


def _storable(kind: pa.DataType) -> pa.DataType:
    """Enums as strings: a Parquet file has one dictionary for a column, snapshots one for each batch."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


class _Sized(io.RawIOBase):
    """A store's file as Parquet's writer wants one: it asks for the position. Closing is the caller's."""

    def __init__(self, file: StoreWriter) -> None:
        self.file = file
        self.position = 0
        self.is_given_up = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raw = bytes(data)
        if not self.is_given_up:
            self.file.write(raw)
        self.position += len(raw)
        return len(raw)

    def tell(self) -> int:
        return self.position
