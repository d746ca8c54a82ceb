"""docs/types.md says what the code does, of every type that there is."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from statelift.schemas import types as t
from statelift.schemas.type_syntax import parse_type

from .types_page import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "types.md"
#: Not types of a state: classes that are declared elsewhere, and what stands in Kryo's declared shapes alone.
NO_STATE = {"NamedType", "ClassType", "JavaType"}


def test_the_page_is_as_the_code_says() -> None:
    assert page() == PAGE.read_text(), "run: python tests/schemas/types_page.py > docs/types.md"


def test_every_type_is_on_the_page() -> None:
    nodes: set[str] = set()
    scalars: set[str] = set()

    def visit(node: t.DataType) -> None:
        nodes.add(type(node).__name__)
        if isinstance(node, t.Scalar):
            scalars.add(node.name)
        for child in node.children():
            visit(child)

    for line in page().splitlines():
        if line.startswith("| ") and line.count(" | ") == 4 and "`" in line:
            visit(parse_type(line.split(" | ")[1].strip("`").replace("\\|", "|")))
    assert nodes >= {kind.__name__ for kind in t.DataType.__subclasses__()} - NO_STATE
    missing = set(get_args(t.ScalarName)) - scalars
    assert missing == {name for name in missing if name.startswith(("timestamp_", "micros_"))}
