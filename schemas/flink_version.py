"""Flink's releases, and what changed with them in the serializer snapshots that they write."""

from __future__ import annotations

import re
from typing import TypeVar

from .errors import PlanError
from .snapshots.names import B, R, T, inner

Version = tuple[int, int]
X = TypeVar("X")

FIRST: Version = (1, 8)
ROW = R + "RowSerializer$RowSerializerSnapshot"
LINKED_LIST = T + "LinkedListSerializer$LinkedListSerializerSnapshot"
TWO_PHASE_COMMIT = "TwoPhaseCommitSinkFunction$StateSerializerSnapshot"

#: The outer version that composites write, by the first release that writes it; the others never changed.
#: Where a change fell between two releases that are known, it is put to the later one: what the older
#: wrote every newer release reads.
OUTER_VERSIONS: dict[str, dict[Version, int]] = {
    ROW: {(1, 8): 2, (1, 11): 3, (1, 15): 4},
    LINKED_LIST: {(1, 13): 1, (1, 15): 3},
    TWO_PHASE_COMMIT: {(1, 8): 2, (1, 15): 4},
}

#: Serializers that came later than 1.8.
SINCE: dict[str, Version] = {
    B + "SetSerializerSnapshot": (2, 0),
    inner(B + "VariantSerializer"): (2, 1),
    inner(B + "BitmapSerializer"): (2, 3),
    T + "RowDataSerializer$RowDataSerializerSnapshot": (1, 11),
    T + "DecimalDataSerializer$DecimalSerializerSnapshot": (1, 11),
    T + "TimestampDataSerializer$TimestampDataSerializerSnapshot": (1, 11),
    inner(T + "StringDataSerializer"): (1, 11),
    LINKED_LIST: (1, 13),
}
#: Since then the Scala API is gone, but for a copy of its serializers in flink-table-api-scala.
WITHOUT_SCALA: Version = (2, 0)
#: Since then the new serializer's snapshot judges the written one (FLINK-30613), and outer classes are not compared.
NEW_JUDGES_OLD: Version = (1, 19)
#: Since then TTL can be turned on and off for state that exists (FLINK-32955).
TTL_AWARE: Version = (2, 2)


def parse_version(text: str) -> Version:
    """``1.20``, ``1.20.5``, ``2.3`` as (major, minor); PlanError where it is no release from 1.8 on."""
    match = re.fullmatch(r"(\d{1,3})\.(\d{1,3})(\.\d+)?", text)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    if version < FIRST:
        raise PlanError(f"{text!r} is no release of Flink from 1.8 on", todo="write it as 1.20 or 2.3")
    return version


def at_version(changes: dict[Version, X], version: Version) -> X | None:
    """What holds in ``version``: the value of the last change up to it, or None before the first."""
    return changes.get(max((since for since in changes if since <= version), default=(0, 0)))
