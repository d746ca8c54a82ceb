"""The operator id of a uid: murmur3_x64_128 of its UTF-8 (StreamGraphHasherV2; spec section 3.1)."""

from __future__ import annotations

_MASK = 0xFFFF_FFFF_FFFF_FFFF
_C1, _C2 = 0x87C3_7B91_1142_53D5, 0x4CF5_AD43_2745_937F


def operator_id_of_uid(uid: str) -> bytes:
    """The 16 bytes by which ``_metadata`` knows the operator with ``uid("…")``.

    A lone surrogate counts as ``?``, as in Java's UTF-8 encoder.
    """
    return _murmur3_x64_128(uid.encode("utf-8", "replace"))


def _murmur3_x64_128(data: bytes) -> bytes:
    h1 = h2 = 0
    tail = len(data) & ~15
    for pos in range(0, tail, 16):
        h1 ^= _mix1(int.from_bytes(data[pos : pos + 8], "little"))
        h1 = (_rotate(h1, 27) + h2) * 5 + 0x52DC_E729 & _MASK
        h2 ^= _mix2(int.from_bytes(data[pos + 8 : pos + 16], "little"))
        h2 = (_rotate(h2, 31) + h1) * 5 + 0x3849_5AB5 & _MASK
    h1 ^= _mix1(int.from_bytes(data[tail : tail + 8], "little"))
    h2 ^= _mix2(int.from_bytes(data[tail + 8 :], "little"))
    h1 ^= len(data)
    h2 ^= len(data)
    h1 = h1 + h2 & _MASK
    h2 = h2 + h1 & _MASK
    h1, h2 = _final(h1), _final(h2)
    h1 = h1 + h2 & _MASK
    h2 = h2 + h1 & _MASK
    return h1.to_bytes(8, "little") + h2.to_bytes(8, "little")


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK


def _mix1(k: int) -> int:
    return _rotate(k * _C1 & _MASK, 31) * _C2 & _MASK


def _mix2(k: int) -> int:
    return _rotate(k * _C2 & _MASK, 33) * _C1 & _MASK


def _final(k: int) -> int:
    k = (k ^ k >> 33) * 0xFF51_AFD7_ED55_8CCD & _MASK
    k = (k ^ k >> 33) * 0xC4CE_B9FE_1A85_EC53 & _MASK
    return k ^ k >> 33
