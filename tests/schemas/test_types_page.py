"""docs/types.md says what the code does, of every type that there is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from statelift.schemas import types as t
from statelift.schemas.type_syntax import parse_type

from .types_page import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "types.md"
#: Not types of a state: classes that are declared elsewhere, and what stands in Kryo's declared shapes alone.
NAMES = {t.NamedType, t.ClassType, t.JavaType}


def subclasses(kind: type[t.DataType]) -> Iterator[type[t.DataType]]:
    for one in kind.__subclasses__():
        yield one
        yield from subclasses(one)


def test_the_page_is_as_the_code_says() -> None:
    assert page() == PAGE.read_text(), "run: python tests/schemas/types_page.py > docs/types.md"


def test_every_type_is_on_the_page() -> None:
    nodes: set[type[t.DataType]] = set()
    scalars: set[str] = set()

    def visit(node: t.DataType) -> None:
        nodes.add(type(node))
        if isinstance(node, t.Scalar):
            scalars.add(node.name)
        for child in node.children():
            visit(child)

    for line in page().splitlines():
        if line.startswith("| ") and line.count(" | ") == 4 and "`" in line:
            visit(parse_type(line.split(" | ")[1].strip("`").replace("\\|", "|")))
    assert nodes >= set(subclasses(t.DataType)) - NAMES
    missing = set(get_args(t.ScalarName)) - scalars
    assert missing == {name for name in missing if name.startswith(("timestamp_", "micros_"))}
