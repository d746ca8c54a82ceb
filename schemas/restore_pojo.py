"""``PojoSerializerSnapshot``: fields by name, subclasses by class; the order of fields, which Flink does not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .snapshots import PojoSnapshot, SerializerSnapshot
from .snapshots.pojo import PojoField, PojoSubclass
from .verdict import Compatibility, Reason, differs

Inner = Callable[[SerializerSnapshot, SerializerSnapshot, str], Iterator[Reason]]


def pojo_reasons(written: PojoSnapshot, wanted: PojoSnapshot, path: str, inner: Inner) -> Iterator[Reason]:
    if written.pojo_class != wanted.pojo_class:
        yield differs(path, f"the class {written.pojo_class} is now {wanted.pojo_class}")
        return
    yield from _fields(written, wanted, path, inner)
    yield from _subclasses(written, wanted, path, inner)


def _fields(written: PojoSnapshot, wanted: PojoSnapshot, path: str, inner: Inner) -> Iterator[Reason]:
    now = {part.field_name: part for part in wanted.fields}
    kept: list[str] = []
    for part in written.fields:
        new = now.get(part.field_name)
        place = f"{path}.{part.field_name or part.key_name}"
        if part.field_name is None or new is None:
            yield differs(place, "the field is gone, and its values with it", Compatibility.AFTER_MIGRATION)
        elif _moved_down(part, new, wanted):
            yield differs(
                place,
                f"the field moved from {part.declaring_class} to {new.declaring_class}, its values are lost",
                Compatibility.AFTER_MIGRATION,
            )
            kept.append(part.field_name)
        else:
            kept.append(part.field_name)
            if part.snapshot is not None and new.snapshot is not None:
                yield from inner(part.snapshot, new.snapshot, place)
    names = set(kept)
    for part in wanted.fields:
        if part.field_name not in names:
            yield differs(f"{path}.{part.field_name}", "the field is new", Compatibility.AFTER_MIGRATION)
    order = [part.field_name for part in wanted.fields if part.field_name in names]
    if kept != order:
        yield Reason(
            path=path,
            what=f"the fields stand as {', '.join(kept)} and are read as {', '.join(map(str, order))}",
            flink_says=Compatibility.AS_IS,
            safe=Compatibility.INCOMPATIBLE,
            healed=True,
        )


def _moved_down(old: PojoField, new: PojoField, wanted: PojoSnapshot) -> bool:
    """Whether the field is now declared below the class it was found in: Flink looks there and above."""
    return old.declaring_class != new.declaring_class and new.declaring_class == wanted.pojo_class


def _subclasses(written: PojoSnapshot, wanted: PojoSnapshot, path: str, inner: Inner) -> Iterator[Reason]:
    for part in (*written.registered_subclasses, *written.non_registered_subclasses):
        if not part.resolved or part.snapshot is None:
            yield differs(f"{path}<{part.subclass}>", "the subclass was missing when it was written")
    old = {part.subclass: part for part in written.registered_subclasses}
    new = {part.subclass: part for part in wanted.registered_subclasses}
    for name in old.keys() & new.keys():
        yield from _subclass(old[name], new[name], f"{path}<{name}>", inner)
    registered = Compatibility.AFTER_RECONFIGURATION
    if list(new)[: len(old)] != list(old):
        yield differs(path, "the registered subclasses are not those of before, and more", registered)
    for part in written.non_registered_subclasses:
        yield differs(f"{path}<{part.subclass}>", "values of a subclass that is not registered", registered)


def _subclass(old: PojoSubclass, new: PojoSubclass, path: str, inner: Inner) -> Iterator[Reason]:
    if old.snapshot is not None and new.snapshot is not None:
        yield from inner(old.snapshot, new.snapshot, path)
