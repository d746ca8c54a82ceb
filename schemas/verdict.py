"""What is said of restoring state with another serializer: a verdict, and each reason with its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from .snapshots import SerializerSnapshot


class Compatibility(IntEnum):
    """``TypeSerializerSchemaCompatibility``, from the best to the worst; ``str`` is its name in words."""

    AS_IS = 0
    AFTER_RECONFIGURATION = 1
    AFTER_MIGRATION = 2
    INCOMPATIBLE = 3

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One difference: ``path`` is where (``value.address.zip``), ``flink_says`` what Flink makes of it, ``safe`` what
    it is where nothing may be misread. ``healed`` tells that a migration of the whole value makes it harmless."""

    path: str
    what: str
    flink_says: Compatibility
    safe: Compatibility
    healed: bool = False

    def __str__(self) -> str:
        unseen = f", which Flink takes {self.flink_says}" if self.safe > self.flink_says else ""
        return f"{self.path}: {self.what}: {self.safe}{unseen}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What Flink answers, and what is safe: worse than Flink's answer where Flink does not see a difference."""

    flink_says: Compatibility
    safe: Compatibility
    reasons: tuple[Reason, ...]

    def explain(self) -> tuple[str, ...]:
        """One line for each reason, the worst first; a single line where nothing differs."""
        worst_first = sorted(self.reasons, key=lambda reason: -max(reason.safe, reason.flink_says))
        return tuple(map(str, worst_first)) or ("nothing differs: as is",)


def differs(path: str, what: str, verdict: Compatibility = Compatibility.INCOMPATIBLE) -> Reason:
    """A difference that Flink sees as it is."""
    return Reason(path=path, what=what, flink_says=verdict, safe=verdict)


def short(snapshot: SerializerSnapshot) -> str:
    """The serializer of a snapshot in one word: its class without package and ``SerializerSnapshot``."""
    name = snapshot.class_name.rpartition(".")[2]
    outer, _, inner = name.rpartition("$")
    return (inner if outer else name).removesuffix("Snapshot").removesuffix("Serializer") or name


def verdict_of(reasons: Iterable[Reason]) -> Verdict:
    """The verdict of the worst of the reasons; of none, as is."""
    found = tuple(reasons)
    flink_says = max((one.flink_says for one in found), default=Compatibility.AS_IS)
    if flink_says == Compatibility.AFTER_MIGRATION:
        found = tuple(_healed(one) if one.healed else one for one in found)
    safe = max((max(one.safe, one.flink_says) for one in found), default=Compatibility.AS_IS)
    return Verdict(flink_says=flink_says, safe=safe, reasons=found)


def _healed(reason: Reason) -> Reason:
    return Reason(
        path=reason.path,
        what=reason.what,
        flink_says=reason.flink_says,
        safe=Compatibility.AFTER_MIGRATION,
    )
