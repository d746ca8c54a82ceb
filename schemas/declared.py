"""Classes that the user declares: what the snapshot does not say of them.

A declared class stands for a POJO where Flink's ``PojoSerializer`` wrote it and for the fields of Kryo's
``FieldSerializer`` where Kryo did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from . import types as t
from .errors import PlanError
from .tree import rebuilt
from .type_syntax import parse_type
from .wire import text_to_units


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredClass:
    """A class: its own ``fields``, those of the class that it ``extends`` come with it; or the constants of an enum;
    or one of which no more is known, ``opaque``: a value that holds an object of it is not decoded."""

    class_name: str
    fields: Mapping[str, str] = field(default_factory=dict)
    extends: str | None = None
    final: bool = False
    opaque: bool = False
    constants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """Declared classes by name. Their fields' types may name each other, but not in a circle."""

    classes: Mapping[str, DeclaredClass] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for one in self.classes.values():
            self._check(one)

    def _check(self, one: DeclaredClass) -> None:
        for name in one.fields:
            self._field(one, name)
        _refuse_circles(one.class_name, self._above)
        _refuse_circles(one.class_name, self._inside)

    def _above(self, class_name: str) -> Iterator[str]:
        extends = self.classes[class_name].extends
        if extends in self.classes:
            yield str(extends)

    def _inside(self, class_name: str) -> Iterator[str]:
        """The classes that a value may hold, each with those that may stand for it."""
        for node in self.fields_of(class_name).values():
            for name in _names(node):
                yield name
                yield from self.subclasses(name)
        yield from self.subclasses(class_name)

    def _field(self, one: DeclaredClass, name: str) -> t.DataType:
        try:
            return parse_type(one.fields[name], self.classes)
        except PlanError as error:
            raise PlanError(f"class {one.class_name}, field {name}: {error}") from None

    def field(self, class_name: str, name: str) -> t.DataType | None:
        """The type that is declared of a field of a class, with names of classes in it."""
        one = self.classes.get(class_name)
        return self._field(one, name) if one is not None and name in one.fields else None

    def subclasses(self, class_name: str) -> list[str]:
        """The classes that extend this one, and those that extend them."""
        found: list[str] = []
        for one in self.classes.values():
            if one.extends == class_name:
                found += [one.class_name, *self.subclasses(one.class_name)]
        return found

    def fields_of(self, class_name: str, until: str | None = None) -> dict[str, t.DataType]:
        """Own and inherited fields, as they are declared; those of ``until`` and above it left out."""
        one = self.classes.get(class_name)
        if one is None or class_name == until:
            return {}
        above = self.fields_of(one.extends, until) if one.extends else {}
        return {**above, **{name: self._field(one, name) for name in one.fields}}

    # -- as what wrote it --------------------------------------------------------------------------------------

    def pojo(self, class_name: str, base: t.PojoType | None = None) -> t.DataType:
        """A declared class as a POJO (or an enum); one below ``base`` has its fields too."""
        one = self.classes[class_name]
        if one.opaque:
            return t.OpaqueType(class_name=class_name, reason="declared opaque")
        if one.constants:
            return t.EnumType(class_name=class_name, constants=one.constants)
        known = {part.name: part.type for part in base.fields} if base else {}
        own = self.fields_of(class_name, base.class_name if base else None)
        known |= {name: _without_flag(_resolved(node, self.pojo)) for name, node in own.items()}
        others = [] if base else self.subclasses(class_name)
        made = t.PojoType(class_name=class_name, fields=in_order(known))
        below = tuple(t.Field(name=other, type=self.pojo(other, made)) for other in others)
        return replace(made, non_registered=below)

    def kryo(self, class_name: str) -> t.DataType:
        """A declared class as Kryo's FieldSerializer writes it, or an enum. Raises PlanError for an opaque one."""
        one = self.classes[class_name]
        if one.opaque:
            raise PlanError(
                f"class {class_name} is declared opaque, and stands where Kryo's objects have a shape"
            )
        if one.constants:
            return t.EnumType(class_name=class_name, constants=one.constants)
        own = {name: self.as_kryo(node) for name, node in self.fields_of(class_name).items()}
        extending = (c for c in self.classes.values() if c.extends == class_name and not c.opaque)
        below = tuple(self.kryo(c.class_name) for c in extending)
        return t.ClassType(class_name=class_name, fields=in_order(own), final=one.final, subclasses=below)

    def as_kryo(self, node: t.DataType) -> t.DataType:
        """``node`` with the classes that it names as Kryo writes them."""
        return _resolved(node, self.kryo)


NOTHING_DECLARED = Declared()


def in_order(types: Mapping[str, t.DataType]) -> tuple[t.Field, ...]:
    """Fields in Java's order of their names."""
    return tuple(t.Field(name=name, type=types[name]) for name in sorted(types, key=text_to_units))


def _without_flag(node: t.DataType) -> t.DataType:
    """The type of a POJO's field: it has null flags of its own, and NullableSerializer is only around collections."""
    collection = isinstance(node, t.NullableType) and isinstance(node.inner, t.ListType | t.MapType)
    return node.inner if isinstance(node, t.NullableType) and not collection else node


def _names(node: t.DataType) -> Iterator[str]:
    if isinstance(node, t.NamedType):
        yield node.class_name
    for child in node.children():
        yield from _names(child)


def _refuse_circles(start: str, follow: Callable[[str], Iterable[str]]) -> None:
    seen: list[str] = []

    def visit(name: str) -> None:
        if name in seen:
            raise PlanError(
                f"class {start} holds itself ({' > '.join([*seen, name])}): such shapes are not read"
            )
        seen.append(name)
        for other in follow(name):
            visit(other)
        seen.pop()

    visit(start)


def _resolved(node: t.DataType, resolve: Callable[[str], t.DataType]) -> t.DataType:
    """``node`` with each NamedType in it replaced."""
    return rebuilt(node, lambda one: resolve(one.class_name) if isinstance(one, t.NamedType) else one)
