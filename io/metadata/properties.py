"""What the checkpoint properties say, found without deserializing them (spec section 2.9)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .model import Metadata

_BOUND = 1 << 16
_PACKAGE = b"org.apache.flink.runtime.checkpoint."
_STRING = re.compile(rb"t\x00(.)", re.DOTALL)
_NAMES = frozenset(
    (
        "Checkpoint",
        "Full Checkpoint",
        "Savepoint",
        "Synchronous Savepoint",
        "Suspend Savepoint",
        "Terminate Savepoint",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotType:
    """``kind`` is ``savepoint`` or ``checkpoint``, a savepoint's ``format_type`` ``CANONICAL`` or ``NATIVE``.

    ``name`` is Flink's own, such as ``Suspend Savepoint``. Each is ``None`` where it cannot be told.
    """

    kind: str | None = None
    format_type: str | None = None
    name: str | None = None


def snapshot_type(metadata: Metadata) -> SnapshotType:
    """Looks for the strings Flink writes in the first 64 KiB of the properties; no Java object is read."""
    raw = metadata.properties[:_BOUND]
    kinds = [kind for kind in ("savepoint", "checkpoint") if _class_name(kind) in raw]
    strings = set(_strings(raw))
    formats = strings & {"CANONICAL", "NATIVE"}
    names = strings & _NAMES
    return SnapshotType(
        kind=kinds[0] if len(kinds) == 1 else None,
        format_type=formats.pop() if len(formats) == 1 else None,
        name=names.pop() if len(names) == 1 else None,
    )


def _class_name(kind: str) -> bytes:
    """The name as a class descriptor has it: u2 length and text, so that no inner class is meant."""
    name = _PACKAGE + f"{kind.capitalize()}Type".encode()
    return len(name).to_bytes(2, "big") + name


def _strings(raw: bytes) -> list[str]:
    """The texts of up to 255 bytes behind a TC_STRING byte; some are none, so only known ones count."""
    found = (raw[m.end() : m.end() + m[1][0]] for m in _STRING.finditer(raw))
    return [text.decode("latin-1") for text in found]
