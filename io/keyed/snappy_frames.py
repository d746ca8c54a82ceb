"""Snappy's framing format, as Flink compresses key groups and operator state (spec 5.6).

Chunks are at most 64 KiB, so a stream of any length is undone in bounded memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import cramjam

from ...schemas.errors import FormatError, Where
from ..sst.checksums import crc32c, mask_crc32c

_COMPRESSED, _RAW, _STREAM_ID = 0x00, 0x01, 0xFF
_MOST_CHUNK = 1 << 20


def decompress(chunks: Iterator[bytes], file: str, offset: int) -> Iterator[bytes]:
    """The plain bytes of framed ``chunks`` (cut anywhere). Raises FormatError for what is no Snappy frame."""
    buffer = bytearray()
    for chunk in chunks:
        buffer += chunk
        done = 0
        while len(buffer) - done >= 4:
            length = int.from_bytes(buffer[done + 1 : done + 4], "little")
            if length > _MOST_CHUNK:
                raise FormatError(
                    f"Snappy chunk of {length} bytes", where=Where(file=file, offset=offset + done)
                )
            if len(buffer) - done < 4 + length:
                break
            yield from _chunk(buffer[done], bytes(buffer[done + 4 : done + 4 + length]), file, offset + done)
            done += 4 + length
        del buffer[:done]
        offset += done
    if buffer:
        raise FormatError(
            "the data ends inside a Snappy chunk", where=Where(file=file, offset=offset + len(buffer))
        )


def _chunk(kind: int, body: bytes, file: str, offset: int) -> Iterator[bytes]:
    where = Where(file=file, offset=offset)
    if kind == _STREAM_ID or 0x80 <= kind <= 0xFE:
        return
    if kind not in (_COMPRESSED, _RAW) or len(body) < 4:
        raise FormatError(f"no Snappy chunk: type {kind:#04x}", where=where)
    try:
        data = body[4:] if kind == _RAW else bytes(cramjam.snappy.decompress_raw(body[4:]))
    except cramjam.DecompressionError as error:
        raise FormatError(f"damaged Snappy chunk: {error}", where=where) from None
    if mask_crc32c(crc32c(data)) != int.from_bytes(body[:4], "little"):
        raise FormatError("the checksum of a Snappy chunk is wrong", where=where)
    yield data
