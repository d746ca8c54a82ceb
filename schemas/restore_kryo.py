"""``KryoSerializerSnapshot``: the type, and registrations whose order is the class tags in values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .snapshots import Entry, KryoSnapshot
from .verdict import Compatibility, Reason, differs

Entries = tuple[Entry[str, Any], ...]


def kryo_reasons(written: KryoSnapshot, wanted: KryoSnapshot, path: str) -> Iterator[Reason]:
    if written.type_class != wanted.type_class:
        yield differs(path, f"the class {written.type_class} is now {wanted.type_class}")
        return
    maps: dict[str, tuple[Entries, Entries]] = {
        "registrations": (written.kryo_registrations, wanted.kryo_registrations),
        "default serializers": (written.default_serializers, wanted.default_serializers),
        "default serializer classes": (
            written.default_serializer_classes,
            wanted.default_serializer_classes,
        ),
    }
    for what, (old, new) in maps.items():
        yield from _merged(old, new, f"Kryo's {what}", path)


def _merged(old: Entries, new: Entries, what: str, path: str) -> Iterator[Reason]:
    """``LinkedOptionalMap.mergeRightIntoLeft``: as is where the old entries begin the new ones."""
    now = {entry.key_name: entry for entry in new}
    for entry in old:
        known = now.get(entry.key_name, entry)
        if (entry.key is None or entry.value is None) and (known.key is None or known.value is None):
            yield differs(path, f"{what} name {entry.key_name}, which cannot be loaded")
    names = [entry.key_name for entry in old]
    if [entry.key_name for entry in new][: len(names)] != names:
        yield differs(path, f"{what} are not those of before, and more", Compatibility.AFTER_RECONFIGURATION)
