"""State of Flink's Scala API: what Flink writes reads as the job's own model says; what we encode, Flink restores.

The job (ScalaTypesJob) has value, list, map, operator and broadcast states of case classes, tuples, Option, Either,
Try, Unit, Enumeration and Scala's collections, some with TTL, and operators keyed by such types, with timers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from statelift.schemas.errors import EncodeError
from statelift.schemas.to_snapshot import snapshot_of
from statelift.state_ops.inventory import inventory
from statelift.state_ops.states import KeyedState

from .flink import Contents, FlinkHarness, Written
from .of_types import PlanOf, TypesFamily

pytestmark = pytest.mark.flink

SCALA = "2.12.20"
#: The newest of Flink's Scala API that the registry has, the Kryo serializers that come with it, and the compiler,
#: which its serializer of collections runs.
ARTIFACTS = [
    "org.apache.flink:flink-scala_2.12:1.20.4",
    "com.twitter:chill_2.12:0.7.6",
    "com.twitter:chill-java:0.7.6",
    *(f"org.scala-lang:scala-{part}:{SCALA}" for part in ("compiler", "library", "reflect")),
]
SOURCES = sorted((Path(__file__).parent / "extra" / "scala").glob("*.scala"))
#: What Kryo writes: of which class, by state of the operator `unnamed`.
OPAQUE = {
    "sealed_trait": "org.example.shop.Payment",
    "holds_sealed_trait": "org.example.shop.Payment",
    "try": "java.lang.Throwable",
    "big_decimal": "scala.math.BigDecimal",
    "sorted_set": "scala.collection.immutable.SortedSet",
    "sorted_map": "scala.collection.immutable.SortedMap",
}
#: Keys whose hash is made by Scala.
UNSTABLE_KEYS = frozenset(
    f"by-{name}" for name in ("item", "pair", "pair_of_numbers", "nested", "option", "list")
)
FAMILY = TypesFamily(name="ScalaTypesJob", unstable=UNSTABLE_KEYS)


@pytest.fixture(scope="module")
def flink() -> Iterator[FlinkHarness]:
    with FlinkHarness("1.20.5", SOURCES, ARTIFACTS) as harness:
        yield harness


@pytest.fixture(scope="module")
def canonical(flink: FlinkHarness, tmp_path_factory: pytest.TempPathFactory) -> Written:
    return FAMILY.write(flink, tmp_path_factory.mktemp("scala"), "hashmap", "canonical")


def as_read(expected: Contents) -> Contents:
    """Values with a ``Some(null)`` are left undecoded: a list as a whole, of a map the one entry."""
    read = deepcopy(expected)
    for operator in read["operators"].values():
        for states in operator.values():
            for state in states.values():
                for entry in state["entries"]:
                    if state.get("kind") == "map":
                        pairs = entry["value"]["$map"]
                        entry["value"] = {"$map": [[key, without_some_null(value)] for key, value in pairs]}
                    elif "value" in entry:
                        entry["value"] = without_some_null(entry["value"])
    return read


def without_some_null(value: Any) -> Any:
    return None if "{'$some': None}" in str(value) else value


def test_every_type_reads_equal(canonical: Written) -> None:
    different, opaque = FAMILY.differences(canonical, as_read(canonical.expected))
    assert different == []
    assert opaque == {
        f"{kind}-{state} {name}: Kryo without a declared shape"
        for state, name in OPAQUE.items()
        for kind in "vlm"
    }


def test_every_type_reads_equal_from_rocksdb(flink: FlinkHarness, tmp_path: Path) -> None:
    written = FAMILY.write(flink, tmp_path, "rocksdb", "native")
    different, opaque = FAMILY.differences(written, as_read(written.expected))
    assert different == []
    assert len(opaque) == 3 * len(OPAQUE)


def test_every_type_reads_equal_from_the_heap(flink: FlinkHarness, tmp_path: Path) -> None:
    """What Kryo writes there hides what is behind it in its key group, and no more than that."""
    written = FAMILY.write(flink, tmp_path, "hashmap", "native")
    expected = as_read(written.expected)
    del expected["operators"]["unnamed"]
    assert FAMILY.differences(written, expected) == ([], set())
    problems = [problem for operator in inventory(FAMILY.opened(written)) for problem in operator.problems]
    assert problems
    named = re.compile(f"({'|'.join(map(re.escape, OPAQUE.values()))}) .*operator unnamed, state ")
    assert [one for one in problems if not named.search(one)] == []


def test_some_of_null_is_told_from_none(canonical: Written) -> None:
    table = FAMILY.opened(canonical).state("values", "option_of_null").to_arrow()
    found = {row["key"]: (row["value"], row["undecoded"]) for row in table.to_pylist()}
    assert found == {"k0": ("s", None), "k1": (None, b"\1\0"), "k2": (None, None)}


def test_snapshots_by_hand_are_those_of_flink(canonical: Written) -> None:
    """All but those of Scala's collections, which hold the job's code."""
    made, refused = 0, set()
    for state in FAMILY.opened(canonical).operator("values").states:
        if not isinstance(state, KeyedState) or state.kind == "timer":
            continue
        try:
            by_hand = snapshot_of(state.types["value"], "1.20")
        except EncodeError as error:
            assert "the snapshot of a Scala collection holds the job's Scala code" in str(error)  # noqa: PT017
            refused.add(state.name)
            continue
        made += 1
        backend, number = state.parts[0]
        assert by_hand == backend.header.states[number].value_serializer, state.name
    assert made > 25
    assert "list" in refused


@pytest.mark.parametrize(
    ("format", "backend", "plan_of"),
    [("canonical", "hashmap", FAMILY.select), ("rocksdb", "rocksdb", FAMILY.set_or_select)],
)
def test_what_is_encoded_anew_is_the_same_bytes_and_flink_restores_it_as_is(
    flink: FlinkHarness, tmp_path: Path, canonical: Written, format: str, backend: str, plan_of: PlanOf
) -> None:
    report = FAMILY.encode_all(canonical, tmp_path / "out", format, plan_of, opaque=True)
    assert [state.name for state in report.states if state.read != state.written] == []
    assert len(report.states) > 250
    verdicts = FAMILY.restored(flink, canonical.expected, tmp_path / "out", backend)
    assert len(verdicts) > 300
    assert {state: verdict for state, verdict in verdicts.items() if verdict != "as is"} == {}
