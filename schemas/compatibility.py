"""Whether a job restores state with its serializers of today, and whether it would read it right.

>>> verdict = compatibility(written, wanted, flink_version="1.20")
>>> verdict.flink_says, verdict.safe
>>> print(*verdict.explain(), sep="\\n")
value.address.zip: Int is now Long: incompatible
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Literal

from .flink_version import OUTER_VERSIONS, SINCE, TTL_AWARE, WITHOUT_SCALA, Version, at_version, parse_version
from .restore_rules import reasons
from .snapshots import CompositeSnapshot, KryoSnapshot, SerializerSnapshot, TtlAwareSnapshot
from .snapshots.names import FLINK, B, R, S
from .verdict import Compatibility, Reason, Verdict, differs, short, verdict_of

__all__ = ["Compatibility", "Reason", "Role", "Verdict", "compatibility"]

#: What the serializer is for: ``map`` is the ``MapSerializer`` of a map state in RocksDB, which has keys of its own;
#: on the heap it is a ``value`` as any other.
Role = Literal["value", "map", "key", "namespace"]

_LIST, _MAP = B + "ListSerializerSnapshot", B + "MapSerializerSnapshot"
_TTL = S + "ttl.TtlStateFactory$TtlSerializerSnapshot"
#: Where the TTL of a list and of a map stands: the nested serializer and its name in paths.
_TTL_PLACES = {_LIST: (0, "[]"), _MAP: (1, ".value")}
#: Snapshot classes that are gone, and since when.
_GONE: dict[str, Version] = {
    FLINK + "api.scala.": WITHOUT_SCALA,
    FLINK + "streaming.api.functions.sink.TwoPhaseCommitSinkFunction": WITHOUT_SCALA,
    R + "EitherSerializerSnapshot": (2, 0),
}
_KRYO_5: Version = (2, 0)
_MAP_KEY = re.compile(r"value\.key($|[.\[<])")


def compatibility(
    written: SerializerSnapshot,
    wanted: SerializerSnapshot,
    *,
    flink_version: str,
    role: Role = "value",
    written_by: str | None = None,
) -> Verdict:
    """The verdict on state that was ``written`` and is to be restored by a job whose serializer says ``wanted``.

    ``flink_version`` is the release that restores; ``written_by`` the one that wrote, where that is known: Kryo's
    bytes differ between Flink 1.x and 2.x under equal snapshots. PlanError for a version that is none.
    """
    version = parse_version(flink_version)
    path = "value" if role == "map" else role
    found = [*_unreadable(written, version, path), *_with_ttl(written, wanted, path, version)]
    if written_by is not None and parse_version(written_by) < _KRYO_5 <= version:
        found += _kryo_of_1(written, path)
    return verdict_of(_for_role(found, role))


def _for_role(found: list[Reason], role: Role) -> Iterator[Reason]:
    """Keys and namespaces are never migrated. The values of a map state are, but only where its keys stay as is."""
    migrated = max((one.flink_says for one in found), default=Compatibility.AS_IS)
    for reason in found:
        if role in ("key", "namespace") and reason.flink_says == Compatibility.AFTER_MIGRATION:
            yield _never(reason, f"a {role} is not migrated")
        elif (
            role == "map"
            and migrated == Compatibility.AFTER_MIGRATION
            and reason.flink_says > Compatibility.AS_IS
            and _MAP_KEY.match(reason.path)
        ):
            yield _never(reason, "the keys of a map state are not migrated")
        else:
            yield reason


def _never(reason: Reason, why: str) -> Reason:
    return differs(reason.path, f"{reason.what}, and {why}")


def _with_ttl(
    written: SerializerSnapshot, wanted: SerializerSnapshot, path: str, version: Version
) -> Iterator[Reason]:
    """TTL of a value, of a list's elements, of a map's values: since 2.x it can be turned on and off."""
    old, new = _unwrapped(written), _unwrapped(wanted)
    if version < TTL_AWARE:
        yield from reasons(old, new, path, version)
        return
    if _is_ttl(old) != _is_ttl(new):
        turned = "on" if _is_ttl(new) else "off"
        yield differs(path, f"TTL is turned {turned}", Compatibility.AFTER_MIGRATION)
        yield from reasons(_without_ttl(old), _without_ttl(new), path, version)
        return
    place, place_before = _TTL_PLACES.get(new.class_name), _TTL_PLACES.get(old.class_name)
    if place != place_before:
        # What backends put around a value, a list and a map differs, so that here Flink sees the class.
        yield differs(path, f"{short(old)} is now {short(new)}")
        return
    if place is None or not isinstance(old, CompositeSnapshot) or not isinstance(new, CompositeSnapshot):
        yield from reasons(old, new, path, version)
        return
    at, name = place
    if at:
        yield from reasons(old.nested[0], new.nested[0], f"{path}.key", version)
    yield from _with_ttl(old.nested[at], new.nested[at], path + name, version)


def _unwrapped(snapshot: SerializerSnapshot) -> SerializerSnapshot:
    return snapshot.inner if isinstance(snapshot, TtlAwareSnapshot) else snapshot


def _is_ttl(snapshot: SerializerSnapshot) -> bool:
    return snapshot.class_name == _TTL


def _without_ttl(snapshot: SerializerSnapshot) -> SerializerSnapshot:
    if isinstance(snapshot, CompositeSnapshot) and _is_ttl(snapshot) and len(snapshot.nested) == 2:
        return snapshot.nested[1]
    return snapshot


def _unreadable(written: SerializerSnapshot, version: Version, path: str) -> Iterator[Reason]:
    """Classes and versions that Flink ``version`` does not have: it fails before it judges."""
    release = f"{version[0]}.{version[1]}"
    for one in _all_in(written):
        since = SINCE.get(one.class_name)
        if since and version < since:
            yield differs(path, f"Flink {release} has no {short(one)}, which came with {since[0]}.{since[1]}")
        for prefix, gone in _GONE.items():
            if one.class_name.startswith(prefix) and version >= gone:
                yield differs(path, f"Flink {release} has no {one.class_name}, which went with {gone[0]}.0")
        newest = at_version(OUTER_VERSIONS.get(one.class_name, {}), version)
        if newest and isinstance(one, CompositeSnapshot) and one.outer_version > newest:
            yield differs(path, f"{short(one)} is of a newer Flink than {release}")


def _kryo_of_1(written: SerializerSnapshot, path: str) -> Iterator[Reason]:
    for one in _all_in(written):
        if isinstance(one, KryoSnapshot):
            yield Reason(
                path=path,
                what=f"Kryo 2 of Flink 1.x wrote {one.type_class}, and Kryo 5 of Flink 2.x reads other bytes",
                flink_says=Compatibility.AS_IS,
                safe=Compatibility.INCOMPATIBLE,
            )


def _all_in(value: object) -> Iterator[SerializerSnapshot]:
    """A snapshot and all that are nested in it."""
    if isinstance(value, SerializerSnapshot):
        yield value
    if isinstance(value, tuple):
        for one in value:
            yield from _all_in(one)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _all_in(getattr(value, field.name))
