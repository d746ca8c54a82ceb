"""Classes that the user declares in YAML: a file of their own, or ``types:`` of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ..io.stores import Stores
from ..schemas.declared import Declared, DeclaredClass
from ..schemas.errors import PlanError, Where
from .yaml_file import read_yaml


class ClassTypes(BaseModel):
    """What a Java class is made of. Types are written as everywhere: ``map<string, nullable<int>>``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fields: dict[str, str] = Field(
        default_factory=dict,
        description="types by field name; those of the class that it extends come with it",
    )
    extends: str | None = Field(default=None, description="the class that this one is a subclass of")
    final: bool = Field(
        default=False, description="whether Java's class is final (Kryo writes it without its name)"
    )
    opaque: bool = Field(
        default=False, description="whether values that hold an object of the class are left undecoded"
    )
    enum: tuple[str, ...] = Field(default=(), description="the constants of an enum, in their order")


Types = Mapping[str, ClassTypes | Mapping[str, Any]]
_CLASSES = TypeAdapter(dict[str, ClassTypes])


def declared(types: Types | str | None, stores: Stores) -> Declared:
    """Classes by name, or the path or URL of a YAML file of them. Raises PlanError for what is not understood."""
    if types is None:
        return Declared()
    file = types if isinstance(types, str) else None
    try:
        classes = _CLASSES.validate_python(
            (read_yaml(types, stores) or {}) if isinstance(types, str) else types
        )
        return Declared(
            classes={
                name: DeclaredClass(
                    class_name=name,
                    fields=one.fields,
                    extends=one.extends,
                    final=one.final,
                    opaque=one.opaque,
                    constants=one.enum,
                )
                for name, one in classes.items()
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = " ".join(str(part) for part in first["loc"])
        raise PlanError(f"types: {place}: {first['msg']}", where=Where(file=file)) from None
    except PlanError as error:
        raise error.at(Where(file=file)) from None
