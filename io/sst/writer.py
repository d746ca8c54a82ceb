"""Writes one SST file of RocksDB: sorted Arrow arrays in, a block-based table out, nothing in between.

The table is what RocksDB 6.20 (Flink 1.14 to 1.20) and 8.10 (Flink 2.x) both read: format version 5, CRC32c,
binary-search index over user keys with delta-encoded handles (spec section 7.3). All entries are PUTs of
sequence number 0, as in a file that was compacted to the bottommost level or ingested into an empty database.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

import cramjam
import numpy as np
import pyarrow as pa

from ...schemas.errors import EncodeError, Where
from . import write_kernels as kernels
from .checksums import block_checksum
from .format import BLOCK_TRAILER_SIZE, INTERNAL_KEY_SUFFIX, BlockHandle, Checksum, Compression
from .meta_blocks import IndexBuilder, NewTableProperties, footer, metaindex_block, properties_block
from .sst_file import ColumnFamily, SstFileInfo, sst_name

CompressionName = Literal["snappy", "none"]
COMPRESSIONS: dict[CompressionName, Compression] = {"snappy": Compression.SNAPPY, "none": Compression.NONE}

DEFAULT_BLOCK_SIZE = 16 * 1024
BUFFER_BYTES = 1 << 20
_SNAPPY_OVERHEAD = 32
"""Snappy's bound of n bytes is ``32 + n + n / 6``."""
_BLOCKS_PER_DRAIN = 1024

Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
Offsets: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_NO_BYTES: Bytes = np.zeros(0, dtype=np.uint8)
_NO_OFFSETS: Offsets = np.zeros(0, dtype=np.int64)


class ByteSink(Protocol):
    """What takes the file's bytes in order, and keeps no reference to them; a ``StoreWriter`` is one."""

    def write(self, data: bytes | memoryview, /) -> Any: ...


class SstWriter:
    """Writes the entries of one column family in ascending key order as one table to ``out``.

    ``out`` is only written to; opening, closing and aborting it stays with the caller. Memory is about
    twice ``buffer_bytes``, or thrice the largest entry.
    """

    def __init__(
        self,
        out: ByteSink,
        *,
        file_number: int,
        column_family: ColumnFamily,
        compression: CompressionName = "snappy",
        block_size: int = DEFAULT_BLOCK_SIZE,
        buffer_bytes: int = BUFFER_BYTES,
    ) -> None:
        self._out = out
        self._file_number = file_number
        self._family = column_family
        self._compression = COMPRESSIONS[compression]
        self._block_size = block_size
        self._state = np.zeros(kernels.STATE_SIZE, dtype=np.int64)
        self._restarts = np.zeros(block_size // 128 + 2, dtype=np.int64)
        self._blocks = np.zeros((_BLOCKS_PER_DRAIN, 3), dtype=np.int64)
        self._raw = np.zeros(buffer_bytes, dtype=np.uint8)
        self._sealed = np.zeros(0, dtype=np.uint8)
        self._index = IndexBuilder()
        self._written = 0
        self._entries = self._key_bytes = self._value_bytes = 0
        self._smallest: bytes | None = None
        self._last = b""

    @property
    def size(self) -> int:
        """Bytes of the file so far; the open block counts uncompressed."""
        return self._written + int(self._state[kernels.POSITION])

    def add(self, keys: pa.LargeBinaryArray, values: pa.LargeBinaryArray) -> None:
        """Append entries: ``keys`` strictly ascending bytewise, ``values`` as long as ``keys``; no nulls.

        Raises EncodeError, with nothing to be saved of the file, when the keys do not ascend.
        """
        if len(keys) != len(values):
            raise EncodeError(f"{len(keys)} keys come with {len(values)} values", where=self._where())
        if not len(keys):
            return
        key_offsets, key_data = self._buffers(keys)
        value_offsets, value_data = self._buffers(values)
        carried = np.frombuffer(self._last, dtype=np.uint8)
        self._state[kernels.NEXT_ROW] = 0
        while code := kernels.encode_entries(
            key_data,
            key_offsets,
            value_data,
            value_offsets,
            carried,
            self._block_size,
            self._state,
            self._raw,
            self._restarts,
            self._blocks,
        ):
            row = int(self._state[kernels.NEXT_ROW])
            if code != kernels.BUFFER_FULL:
                raise self._refusal(code, row)
            self._drain(key_data, key_offsets)
            self._make_room(
                int(np.diff(key_offsets[row : row + 2])[0] + np.diff(value_offsets[row : row + 2])[0])
            )
        self._drain(key_data, key_offsets)
        if self._smallest is None:
            self._smallest = _row(key_data, key_offsets, 0)
        self._last = _row(key_data, key_offsets, -1)
        self._state[kernels.HAS_PREVIOUS] = 1
        self._entries += len(keys)
        self._key_bytes += int(key_offsets[-1] - key_offsets[0])
        self._value_bytes += int(value_offsets[-1] - value_offsets[0])

    def finish(self) -> SstFileInfo:
        """Write the last block, index, properties and footer; a file without entries is an EncodeError."""
        if self._smallest is None:
            raise EncodeError("an SST file needs an entry", where=self._where(), todo="leave the file out")
        kernels.close_block(self._state, self._raw, self._restarts, self._blocks, -1)
        self._drain(_NO_BYTES, _NO_OFFSETS)
        data_size = self._written
        index = self._index.finish()
        properties = NewTableProperties(
            column_family=self._family,
            file_number=self._file_number,
            compression=self._compression,
            data_size=data_size,
            index_size=len(index) + BLOCK_TRAILER_SIZE,
            num_data_blocks=self._index.entries,
            num_entries=self._entries,
            raw_key_size=self._key_bytes + INTERNAL_KEY_SUFFIX * self._entries,
            raw_value_size=self._value_bytes,
        )
        index_handle = self._write_meta_block(index)
        properties_handle = self._write_meta_block(properties_block(properties))
        metaindex_handle = self._write_meta_block(metaindex_block(properties_handle))
        self._write(footer(metaindex_handle, index_handle))
        return SstFileInfo(
            file_number=self._file_number,
            column_family_id=self._family.id,
            size=self._written,
            num_entries=self._entries,
            num_data_blocks=self._index.entries,
            raw_key_size=self._key_bytes,
            raw_value_size=self._value_bytes,
            smallest_key=self._smallest,
            largest_key=self._last,
        )

    def _drain(self, key_data: Bytes, key_offsets: Offsets) -> None:
        """Compress, seal and write the closed blocks; the open block moves to the start of the buffer."""
        state = self._state
        count = int(state[kernels.BLOCKS])
        if not count:
            return
        blocks = self._blocks[:count]
        sealed = self._sealed_room(blocks)
        end = 0
        for number, (start, stop, row) in enumerate(blocks.tolist()):
            compression, size = self._compress(self._raw[start:stop], sealed[end:])
            blocks[number] = end, end + size, compression
            last_key = self._last if row < 0 else _row(key_data, key_offsets, row)
            self._index.add(last_key, BlockHandle(offset=self._written + end, size=size))
            end += size + BLOCK_TRAILER_SIZE
        kernels.seal_blocks(sealed, self._blocks, count)
        self._write(sealed[:end].data)

        start, stop = int(state[kernels.BLOCK_START]), int(state[kernels.POSITION])
        self._raw[: stop - start] = self._raw[start:stop]
        state[kernels.BLOCK_START], state[kernels.POSITION], state[kernels.BLOCKS] = 0, stop - start, 0

    def _compress(self, block: Bytes, target: Bytes) -> tuple[Compression, int]:
        """Put ``block`` into ``target``, as it is where Snappy saves less than an eighth."""
        if self._compression is Compression.SNAPPY:
            size = int(cramjam.snappy.compress_raw_into(block.data, target.data))
            if size < len(block) - len(block) // 8:
                return Compression.SNAPPY, size
        target[: len(block)] = block
        return Compression.NONE, len(block)

    def _sealed_room(self, blocks: Offsets) -> Bytes:
        """A buffer for the blocks, each as long as Snappy may make it, and their trailers."""
        raw = int((blocks[:, 1] - blocks[:, 0]).sum())
        needed = raw + raw // 6 + len(blocks) * (_SNAPPY_OVERHEAD + BLOCK_TRAILER_SIZE)
        if needed > len(self._sealed):
            self._sealed = np.zeros(needed, dtype=np.uint8)
        return self._sealed

    def _make_room(self, entry_size: int) -> None:
        """Grow the buffer where the open block and the next entry do not fit."""
        restarts = 4 * (int(self._state[kernels.RESTARTS]) + 2)
        needed = int(self._state[kernels.POSITION]) + entry_size + kernels.ENTRY_OVERHEAD + restarts
        if needed > len(self._raw):
            grown = np.zeros(needed, dtype=np.uint8)
            grown[: len(self._raw)] = self._raw
            self._raw = grown

    def _write_meta_block(self, block: bytes) -> BlockHandle:
        """Write an uncompressed block with its trailer; returns where it is."""
        handle = BlockHandle(offset=self._written, size=len(block))
        kind = bytes([Compression.NONE])
        self._write(block + kind + block_checksum(Checksum.CRC32C, block + kind).to_bytes(4, "little"))
        return handle

    def _write(self, data: bytes | memoryview) -> None:
        self._out.write(data)
        self._written += len(data)

    def _buffers(self, array: pa.LargeBinaryArray) -> tuple[Offsets, Bytes]:
        """Offsets (one more than rows) and data of ``array``, without a copy."""
        if array.type != pa.large_binary() or array.null_count:
            what = f"{array.null_count} nulls" if array.null_count else f"the Arrow type {array.type}"
            raise EncodeError(f"entries of {what} are given where large_binary is held", where=self._where())
        _, offsets, data = array.buffers()
        all_offsets = np.frombuffer(offsets, dtype=np.int64)
        own = all_offsets[array.offset : array.offset + len(array) + 1]
        return own, np.frombuffer(data, dtype=np.uint8) if data else _NO_BYTES

    def _refusal(self, code: int, row: int) -> EncodeError:
        entry = self._entries + row
        if code == kernels.NOT_ASCENDING:
            return EncodeError(
                f"the key of entry {entry} is not above the key before it",
                where=self._where(),
                todo="sort the entries by key and keep one of each key",
            )
        return EncodeError(
            f"the Arrow offsets of entry {entry} point outside of its data", where=self._where()
        )

    def _where(self) -> Where:
        return Where(file=sst_name(self._file_number), state=self._family.name)


def _row(data: Bytes, offsets: Offsets, row: int) -> bytes:
    """The bytes of ``row``; the last one for -1."""
    ends = offsets[1:]
    return data[offsets[:-1][row] : ends[row]].tobytes()
