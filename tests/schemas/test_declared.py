"""Classes that the user declares: as POJOs and as Kryo's classes, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from statelift.schemas import types as t
from statelift.schemas.codec.codec import Codec, DecodeError
from statelift.schemas.codec.shapes import compile_type
from statelift.schemas.declared import Declared, DeclaredClass
from statelift.schemas.errors import PlanError
from statelift.schemas.from_snapshot import TypeRules
from statelift.schemas.snapshots import build
from statelift.schemas.subclasses import may_be_undecoded, subclasses_of, told
from statelift.schemas.type_syntax import parse_type


def declared(**classes: dict[str, Any]) -> Declared:
    return Declared(classes={name: DeclaredClass(class_name=name, **one) for name, one in classes.items()})


FAMILY = declared(
    Base={"fields": {"b": "int", "a": "string"}},
    Sub={"extends": "Base", "fields": {"more": "long"}},
    Leaf={"extends": "Sub", "fields": {"aa": "Color"}},
    Color={"constants": ("RED", "GREEN")},
)


def test_fields_that_a_class_inherits_come_with_it_in_the_order_of_their_names() -> None:
    assert str(FAMILY.kryo("Leaf")) == (
        "class Leaf {a: string, aa: enum Color {RED, GREEN}, b: int, more: long}"
    )


def test_a_class_of_kryos_knows_its_subclasses() -> None:
    node = FAMILY.kryo("Base")
    assert isinstance(node, t.ClassType)
    (sub,) = node.subclasses
    assert isinstance(sub, t.ClassType)
    assert sub.class_name == "Sub"
    assert [str(one) for one in sub.subclasses] == [str(FAMILY.kryo("Leaf"))]


def test_a_declared_subclass_of_a_pojo_has_the_fields_that_the_snapshot_says() -> None:
    snapshot = build.pojo("Base", {"b": build.scalar("Int")})
    node = TypeRules(declared=FAMILY).type_of(snapshot)
    assert isinstance(node, t.PojoType)
    assert {part.name: str(part.type) for part in node.non_registered} == {
        "Sub": "pojo Sub {b: int, more: long}",
        "Leaf": "pojo Leaf {aa: enum Color {RED, GREEN}, b: int, more: long}",
    }


def test_a_field_that_may_be_null_has_the_flag_of_its_pojo_only() -> None:
    classes = declared(
        Sub={"extends": "Base", "fields": {"n": "nullable<int>", "tags": "nullable<list<string>>"}}
    )
    node = TypeRules(declared=classes).type_of(build.pojo("Base", {}))
    assert isinstance(node, t.PojoType)
    assert str(node.non_registered[0].type) == "pojo Sub {n: int, tags: nullable<list<string>>}"


def test_what_a_snapshot_names_is_not_replaced() -> None:
    sub = build.pojo("Sub", {"b": build.scalar("Int")})
    snapshot = build.pojo("Base", {"b": build.scalar("Int")}, registered_subclasses={"Sub": sub})
    node = TypeRules(declared=FAMILY).type_of(snapshot)
    assert isinstance(node, t.PojoType)
    assert isinstance(node.registered[0].type, t.PojoType)
    assert [part.name for part in node.registered[0].type.fields] == ["b"]
    assert [part.name for part in node.non_registered] == ["Leaf"]


def test_a_kryo_field_of_a_pojo_is_what_is_declared_of_it() -> None:
    snapshot = build.pojo("P", {"tags": build.kryo("java.util.List"), "n": build.scalar("Int")})
    rules = TypeRules(kryo=2, declared=declared(P={"fields": {"tags": "list<string>"}}))
    node = rules.type_of(snapshot)
    assert isinstance(node, t.PojoType)
    kryo = node.fields[1].type
    assert isinstance(kryo, t.KryoType)
    assert kryo.shape == parse_type("list<string>")


def test_another_state_names_the_subclass() -> None:
    knows = parse_type("pojo Base {b: int} non_registered {Sub: pojo Sub {b: int, c: int}}")
    lacks = parse_type("list<pojo Base {b: int}>")
    assert told(lacks, subclasses_of([knows])) == t.ListType(element=knows)
    assert told(knows, subclasses_of([lacks])) == knows


def test_an_opaque_subclass_is_one_whose_rows_are_not_decoded() -> None:
    rules = TypeRules(kryo=2, declared=declared(Sub={"extends": "Base", "opaque": True}))
    node = rules.type_of(build.pojo("Base", {"b": build.scalar("Int")}))
    assert may_be_undecoded(node, wide_times=True)
    codec = Codec(compile_type(node))
    base, sub = bytes.fromhex("02 00 00000007"), bytes.fromhex("04 0003 537562 02 00 00000007 00 01")
    data, ends = np.frombuffer(base + sub, np.uint8), np.array([6, 6 + len(sub)])
    decoded, _, undecoded = codec.decode_most(data, np.array([0, 6]), ends)
    assert decoded.to_pylist() == [{"b": 7}, None]
    assert undecoded.mask.tolist() == [False, True]
    with pytest.raises(DecodeError, match="not in the snapshot: Sub, at byte 1 of row 1; declare"):
        codec.decode(data, np.array([0, 6]), ends)
    with pytest.raises(PlanError, match="declared opaque"):
        rules.declared.kryo("Sub")


@pytest.mark.parametrize(
    ("classes", "what"),
    [
        ({"A": {"fields": {"a": "strin"}}}, "class A, field a: type 'strin', position 1: expected a type"),
        ({"A": {"fields": {"a": "list<A>"}}}, "holds itself"),
        ({"A": {"extends": "B"}, "B": {"extends": "A"}}, "holds itself"),
        ({"A": {"fields": {"b": "B"}}, "B": {"extends": "A"}}, "holds itself"),
    ],
)
def test_what_cannot_be_read_is_refused(classes: dict[str, dict[str, Any]], what: str) -> None:
    with pytest.raises(PlanError, match=what):
        declared(**classes)


@pytest.mark.parametrize("text", ["A", "list<A>", "class[final=true] A {a: uuid} subclasses<class B {}>"])
def test_names_of_classes_and_javas_types_are_read_back(text: str) -> None:
    assert str(parse_type(text, {"A"})) == text
