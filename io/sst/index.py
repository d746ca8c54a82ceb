"""The index of a table: which block holds a key (``table/block_based/index_reader_common.cc``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...schemas.errors import FormatError
from .arrays import Bytes, Ints
from .decode_kernels import MESSAGES, OK
from .format import BLOCK_TRAILER_SIZE, INTERNAL_KEY_SUFFIX, IndexType
from .index_kernels import decode_index
from .merge_kernels import lower_bound
from .properties import TableProperties
from .runs import BlockFormat, UnpackedRun

MAX_INDEX_KEY_BYTES = 1 << 30
"""More than this is not an index that RocksDB wrote: it holds one short key for each data block."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockIndex:
    """Blocks in key order: no key of block ``i`` is above ``keys[key_offsets[i]:key_offsets[i + 1]]``, and none of
    block ``i + 1`` below it; user keys. ``offsets`` ascend and lie in the file with their trailers."""

    keys: Bytes
    key_offsets: Ints
    offsets: Ints
    sizes: Ints

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def end(self) -> int:
        """The first byte of the file behind the last block."""
        return int(self.offsets[-1] + self.sizes[-1]) + BLOCK_TRAILER_SIZE if len(self) else 0

    @classmethod
    def join(cls, parts: list[BlockIndex]) -> BlockIndex:
        """The blocks of ``parts``, one part behind the other."""
        lengths = [np.diff(part.key_offsets) for part in parts]
        empty = np.zeros(0, dtype=np.int64)
        return cls(
            keys=np.concatenate([np.zeros(0, dtype=np.uint8), *(part.keys for part in parts)]),
            key_offsets=np.concatenate(
                [np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate([empty, *lengths]))]
            ),
            offsets=np.concatenate([empty, *(part.offsets for part in parts)]),
            sizes=np.concatenate([empty, *(part.sizes for part in parts)]),
        )

    def part(self, blocks: range) -> BlockIndex:
        """The index of some of the blocks; the arrays are views."""
        key_offsets = self.key_offsets[blocks.start : blocks.stop + 1]
        return BlockIndex(
            keys=self.keys[key_offsets[0] : key_offsets[-1]],
            key_offsets=key_offsets - key_offsets[0],
            offsets=self.offsets[blocks.start : blocks.stop],
            sizes=self.sizes[blocks.start : blocks.stop],
        )

    def first_reaching(self, key: bytes) -> int:
        """The first block that can hold ``key`` or one above it; ``len(self)`` where none can."""
        wanted = np.frombuffer(key, dtype=np.uint8)
        return int(lower_bound(self.keys, self.key_offsets, 0, len(self), wanted))

    def blocks(self, lower: bytes | None, upper: bytes | None) -> range:
        """The blocks that can hold keys in [lower, upper)."""
        first = 0 if lower is None else self.first_reaching(lower)
        last = len(self) if upper is None else min(self.first_reaching(upper) + 1, len(self))
        return range(first, max(first, last))


def read_index(
    form: BlockFormat, run: UnpackedRun, block: int, properties: TableProperties, *, top: bool
) -> BlockIndex:
    """The index in one block of an unpacked run; ``top`` = the upper level of a partitioned index."""
    suffix = 0 if properties.index_key_is_user_key else INTERNAL_KEY_SUFFIX
    first_key = not top and properties.index_type is IndexType.BINARY_SEARCH_WITH_FIRST_KEY
    start, end = int(run.starts[block]), int(run.ends[block])
    n = key_bytes = 0
    for fill in (False, True):
        if key_bytes > MAX_INDEX_KEY_BYTES:
            raise FormatError(
                f"{n} index keys add up to {key_bytes} bytes", where=form.where(int(run.offsets[block]))
            )
        index = BlockIndex(
            keys=np.empty(key_bytes, dtype=np.uint8),
            key_offsets=np.zeros(n + 1, dtype=np.int64),
            offsets=np.empty(n, dtype=np.int64),
            sizes=np.empty(n, dtype=np.int64),
        )
        code, position, n, key_bytes = decode_index(
            run.data,
            suffix,
            start,
            end,
            properties.index_value_is_delta_encoded,
            first_key,
            form.file_size,
            fill,
            index.keys,
            index.key_offsets,
            index.offsets,
            index.sizes,
        )
        if code != OK:
            raise FormatError(
                f"index: {MESSAGES[code]} (at byte {position - start} of the decompressed block)",
                where=form.where(int(run.offsets[block])),
            )
    return index
