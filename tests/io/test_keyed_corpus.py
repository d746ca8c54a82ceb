"""The keyed state of every snapshot of the corpus, entry by entry, in all formats."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from statelift.io.keyed.backend import KeyedBackend
from statelift.io.keyed.canonical import CanonicalWriter
from statelift.io.metadata import KeyGroupsSavepointStateHandle
from statelift.schemas import types as t
from statelift.schemas.errors import StateliftError
from statelift.schemas.operator_id import operator_id_of_uid

from .keyed_snapshots import Entries, Keyed, Memory, by_name, entries, inline, keyed, known, snapshots

pytestmark = pytest.mark.corpus


def test_every_keyed_state_yields_its_entries_or_says_why_not(
    corpus: Path, summary: Callable[[str], None]
) -> None:
    read: Counter[tuple[str, int]] = Counter()
    rows: Counter[tuple[str, int]] = Counter()
    refused: Counter[tuple[str, int, str]] = Counter()
    for snapshot in snapshots(corpus):
        for one in keyed(snapshot):
            try:
                backend = one.open()
                found = entries(backend.windows())
            except StateliftError as error:
                refused[type(one.handle).__name__, one.version, error.what] += 1
                continue
            read[backend.format, one.version] += 1
            rows[backend.format, one.version] += sum(map(len, found.values()))
    lines = ["keyed handles of the corpus", "format     metadata  handles  entries"]
    lines += [f"{kind:10} {v:8} {count:8} {rows[kind, v]:8}" for (kind, v), count in sorted(read.items())]
    lines += [
        f"not read: {count} {kind} of metadata version {v}: {what}"
        for (kind, v, what), count in sorted(refused.items())
    ]
    summary("\n".join(lines))
    assert {kind for kind, _ in read} == {"canonical", "hashmap", "rocksdb", "changelog", "timers"}
    # What is not read is named: values of the heap format that only the user's code can step over, Flink 1.6.
    allowed = ("cannot be stepped over in the hashmap format", "of Flink 1.7 or earlier, is not supported")
    assert all(any(reason in what for reason in allowed) for *_, what in refused), refused


def test_the_entries_are_those_that_the_job_put_there(corpus: Path) -> None:
    for snapshot, expected in known(corpus):
        found: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        for one in keyed(snapshot):
            for name, held in by_name(one.open()).items():
                found[one.operator.uid_hash, name].update(group for group, _ in held)
        for uid, sections in expected["operators"].items():
            for name, groups in expected_key_groups(sections).items():
                assert found_in(found, uid, name) == groups, f"{snapshot}: {uid} {name}"


def expected_key_groups(sections: dict[str, Any]) -> dict[str, Counter[int]]:
    """How many entries each state has in each key group; a map has one for each of its entries."""
    counts = {}
    for name, state in sections.get("keyed", {}).items():
        counts[name] = Counter[int]()
        for entry in state["entries"]:
            counts[name][entry["kg"]] += len(entry["value"]["$map"]) if state["kind"] == "map" else 1
    for name, state in sections.get("timers", {}).items():
        service, domain = name.rsplit("/", 1)
        counts[f"_timer_state/{domain}_{service}"] = Counter(entry["kg"] for entry in state["entries"])
    return {name: +count for name, count in counts.items()}


def found_in(found: dict[tuple[str, str], Counter[int]], uid: str, name: str) -> Counter[int]:
    """By the uid; SQL jobs know their operators by number only, and there one alone has the state."""
    own = found.get((operator_id_of_uid(uid).hex(), name))
    if own is not None:
        return +own
    with_it = [count for (_, state), count in found.items() if state == name and count]
    assert len(with_it) <= 1, (uid, name)
    return +with_it[0] if with_it else Counter()


@pytest.mark.parametrize("batch_bytes", [16 << 20, 300])
def test_a_canonical_stream_is_written_again_byte_for_byte(corpus: Path, batch_bytes: int) -> None:
    """RocksDB writes the entries in the order in which they are read and written here, the heap in another one."""
    identical = 0
    for snapshot in snapshots(corpus):
        for one in keyed(snapshot):
            if not isinstance(one.handle, KeyGroupsSavepointStateHandle) or _is_old(one):
                continue
            backend = one.open()
            written, offsets = rewritten(backend, batch_bytes)
            again = replace(
                backend, stream=inline(written), offsets=[offsets.get(kg, 0) for kg in backend.key_groups]
            )
            again.header = replace(backend.header, compressed=False)
            assert entries(again.windows(batch_bytes=batch_bytes)) == entries(backend.windows())
            if "rocksdb" in str(snapshot) and not backend.header.compressed and backend.stream is not None:
                first = min((offset for offset in backend.offsets if offset > 0), default=backend.stream.size)
                assert written[first:] == backend.stream.read(first, backend.stream.size - first), snapshot
                assert list(again.offsets) == list(backend.offsets)
                identical += 1
    assert identical > 300


def rewritten(backend: KeyedBackend, batch_bytes: int) -> tuple[bytes, dict[int, int]]:
    """The stream that our writer makes of a backend's entries, with zeros for the header, and its offsets."""
    assert backend.stream is not None
    base = min((offset for offset in backend.offsets if offset > 0), default=backend.stream.size)
    out = Memory()
    writer = CanonicalWriter(out=out, base=base)
    for window in backend.windows(batch_bytes=batch_bytes):
        writer.write(window)
    writer.finish()
    return bytes(base) + bytes(out.data), writer.offsets


def _is_old(one: Keyed) -> bool:
    return one.snapshot.name == "state-evolution-1.6"


def test_formats_of_one_job_hold_the_same_entries(corpus: Path) -> None:
    """Heap and RocksDB, canonical and native, changelog or not: the same keys with the same values, byte for byte."""
    jobs: defaultdict[tuple[str, ...], list[tuple[str, dict[tuple[str, str], Entries]]]] = defaultdict(list)
    for snapshot, expected in known(corpus):
        entry = next(path for path in snapshot.parents if (path / "expected.json").exists())
        job = (
            entry.parent.name,
            *(str(expected.get(k)) for k in ("family", "max_parallelism", "keys", "rounds")),
        )
        jobs[job].append((entry.name, dict(comparable(snapshot, expected["family"]))))
    compared = 0
    for (first, states), *others in jobs.values():
        for other, its_states in others:
            for state in states.keys() & its_states.keys():
                assert states[state] == its_states[state], f"{state} of {first} and {other}"
                compared += 1
    assert compared > 900


def comparable(snapshot: Path, family: str) -> Iterator[tuple[tuple[str, str], Entries]]:
    """The entries by operator and state, with empty values where the bytes differ from run to run and by backend.

    These are: stored times; the byte behind the null flag of a map's value, which Flink writes or not; rows of SQL
    deduplication, whose kind is +U on the heap and +I in RocksDB.
    """
    states: defaultdict[tuple[str, str], Entries] = defaultdict(dict)
    for one in keyed(snapshot):
        backend = one.open()
        kinds = {state.name: state for state in backend.states}
        for name, held in by_name(backend).items():
            value = kinds[name].value
            varies = (value is not None and has_ttl(value)) or name == "map-null" or family == "sql-dedup"
            states[one.operator.uid_hash, name].update(dict.fromkeys(held, b"") if varies else held)
    yield from states.items()


def has_ttl(node: t.DataType) -> bool:
    return isinstance(node, t.TtlType) or any(map(has_ttl, node.children()))
