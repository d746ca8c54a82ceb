"""State of every type: what Flink writes reads as the job's own model says; what we encode, Flink restores as is.

The job (TypesJob) has value, list, map, operator and broadcast states of every type that Flink's Java API makes, some
with TTL, and operators keyed by every type that can be a key, with timers and session windows.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest
import statelift
from statelift.schemas.hashing import java_hash, key_groups, stability
from statelift.state_ops.inventory import inventory
from statelift.state_ops.states import KeyedState

from ..state_ops.sections import compare, keyed_tables
from .flink import FlinkHarness, Written
from .of_types import PlanOf, TypesFamily

pytestmark = pytest.mark.flink

#: What the snapshots do not say: a subclass that the job met only while it wrote, the fields of a class of Kryo's.
TYPES = {
    "org.example.lab.T$Unregistered": {"extends": "org.example.lab.T$Base", "fields": {"more": "long"}},
    "org.example.lab.T$Opaque": {"fields": {"left": "string", "right": "int"}},
    "org.example.lab.T$Status": {"enum": ["OPEN", "PAID"]},
    "org.example.lab.T$Line": {"fields": {"article": "string", "price": "double"}},
    "org.example.lab.T$Order": {
        "fields": {
            "id": "long",
            "count": "nullable<int>",
            "note": "string",
            "status": "org.example.lab.T$Status",
            "tags": "list<string>",
            "weights": "map<string, double>",
            "sizes": "array<int>",
            "total": "big_decimal",
            "placed": "instant",
            "first": "org.example.lab.T$Line",
            "lines": "list<org.example.lab.T$Line>",
            "any": "object",
        }
    },
    "org.example.lab.T$BigOrder": {"extends": "org.example.lab.T$Order", "fields": {"approvedBy": "string"}},
}
#: Keys whose hash is made by a class of the user.
UNSTABLE_KEYS = {"by-pojo", "by-record", "by-avro"}
#: The operator whose values no Arrow column holds without wide times, and those that none holds with them.
UNHELD, HALVES = "unheld", {f"{kind}-halves" for kind in "vlm"}
#: Types with big numbers, of which 0, 1 and 10 have two forms.
TWO_FORMS = {"big_integer", "big_decimal", "pojo"}
#: Flink lists the subclasses that a serializer met as not registered, and then reconfigures it.
RECONFIGURED = ("registered_subclass", "other_subclass")


FAMILY = TypesFamily(name="TypesJob", declared=TYPES, unstable=frozenset(UNSTABLE_KEYS))


@pytest.fixture(scope="module")
def canonical(flink: FlinkHarness, tmp_path_factory: pytest.TempPathFactory) -> Written:
    return FAMILY.write(flink, tmp_path_factory.mktemp("types"), "hashmap", "canonical")


@pytest.fixture(scope="module")
def heap(flink: FlinkHarness, tmp_path_factory: pytest.TempPathFactory) -> Written:
    return FAMILY.write(flink, tmp_path_factory.mktemp("types"), "hashmap", "native")


def assert_reads_equal(written: Written) -> None:
    expected = written.expected
    del expected["operators"][UNHELD]
    assert FAMILY.differences(written, expected) == ([], set())


# -- read --------------------------------------------------------------------------------------------------------


def test_every_type_reads_equal(canonical: Written) -> None:
    assert_reads_equal(canonical)


def test_every_type_reads_equal_from_rocksdb(flink: FlinkHarness, tmp_path: Path) -> None:
    assert_reads_equal(FAMILY.write(flink, tmp_path, "rocksdb", "native"))


def test_every_type_reads_equal_from_the_heap(heap: Written) -> None:
    assert_reads_equal(heap)


def test_what_no_column_holds_is_read_with_wide_times_or_kept_as_bytes(
    canonical: Written, heap: Written
) -> None:
    for written in (canonical, heap):
        states = written.expected["operators"][UNHELD]["keyed"]
        usual, wide = (FAMILY.opened(written, wide_times=wide).operator(UNHELD) for wide in (False, True))
        tables, opaque = keyed_tables(wide), set[str]()
        for name, wanted in states.items():
            rows = usual.state(name).to_arrow()
            kept = rows.filter(pc.is_valid(rows.column("undecoded")))
            assert 0 < len(kept) < len(rows) or name.startswith("l-"), name
            assert kept.column("value").null_count == len(kept)
            if name in HALVES:
                assert wide.state(name).to_arrow().equals(rows)
            else:
                assert compare(wide, tables, "keyed", name, wanted, opaque) == []
        assert opaque == set()
        assert len(states) == 21


def test_what_is_not_declared_hides_no_more_of_the_heap_than_it_has_to(heap: Written) -> None:
    """Nothing says how long values are there: what is behind one of an unknown class in its key group is not read."""
    uids = heap.expected["operators"]
    bare = inventory(statelift.open(str(heap.path), uids=uids))
    whole, found = (
        {(operator.operator, state.name): state.entries for operator in read for state in operator.states}
        for read in (inventory(FAMILY.opened(heap)), bare)
    )
    lost = {at for at, entries in found.items() if entries is None}
    assert {name for _, name in lost if not name.startswith("_timer_state")} <= {
        f"{kind}-{name}" for kind in "vlm" for name in ("kryo_class", "kryo_order", "other_subclass")
    }
    assert {at: n for at, n in found.items() if n is not None} == {
        at: n for at, n in whole.items() if at not in lost
    }
    problems = [problem for operator in bare for problem in operator.problems]
    assert problems
    named = re.compile(
        r"org\.example\.lab\.T\$(Opaque|Order|Unregistered).* state .*, key group \d+, offset \d+"
    )
    assert all(map(named.search, problems))


def test_key_groups_are_those_that_flink_computes(canonical: Written) -> None:
    snapshot, unstable = FAMILY.opened(canonical), set()
    uids = [uid for uid in canonical.expected["operators"] if uid.startswith("by-")]
    for uid in uids:
        operator = snapshot.operator(uid)
        state = operator.state("count")
        assert isinstance(state, KeyedState)
        table, kind = state.to_arrow().combine_chunks(), state.types["key"]
        if stability(kind) is not None:
            unstable.add(uid)
            continue
        hashes = java_hash(table.column("key").combine_chunks(), kind)
        assert hashes is not None
        groups = key_groups(hashes, operator.max_parallelism)
        assert np.array_equal(groups, table.column("key_group").to_numpy()), uid
    assert len(uids) == 30
    assert unstable == UNSTABLE_KEYS


# -- written -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "backend", "plan_of", "wide_times"),
    [("canonical", "hashmap", FAMILY.select, False), ("rocksdb", "rocksdb", FAMILY.set_or_select, True)],
)
def test_what_is_encoded_anew_is_the_same_bytes_and_flink_restores_it_as_is(
    flink: FlinkHarness,
    tmp_path: Path,
    canonical: Written,
    format: str,
    backend: str,
    plan_of: PlanOf,
    wide_times: bool,
) -> None:
    """But for null values of maps: behind their flag the heap writes what the user's serializer makes of a null.

    Values of types that Flink writes in two forms keep their bytes where they are as they were, the nulls too.
    """
    report = FAMILY.encode_all(canonical, tmp_path / "out", format, plan_of, wide_times=wide_times)
    nulls = {
        (uid, name)
        for uid in ("maps", UNHELD)
        for name, state in canonical.expected["operators"][uid]["keyed"].items()
        if state["kind"] == "map"
        for entry in state["entries"]
        if ["null", None] in entry["value"]["$map"] and name not in TWO_FORMS
    }
    different = {(state.operator, state.name) for state in report.states if state.read != state.written}
    assert different == nulls
    assert len(nulls) == 9 + 3
    verdicts = FAMILY.restored(flink, canonical.expected, tmp_path / "out", backend)
    assert len(verdicts) > 500
    others = {state for state, verdict in verdicts.items() if verdict != "as is"}
    assert [state for state in sorted(others) if not state.endswith(RECONFIGURED)] == []
