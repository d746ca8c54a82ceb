"""Our verdicts on restoring state with other serializers are those of Flink."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from statelift.schemas.compatibility import Compatibility, compatibility
from statelift.schemas.snapshots import SerializerSnapshot, build, read_proxy
from statelift.schemas.wire import Reader

from ..flink import VERSIONS, fetched
from .judge import Pair, flink_verdicts
from .pairs import AVRO_CHANGES, CHANGES, CHANGES_OF_2, ROW_DATA_CHANGES, snapshots

pytestmark = pytest.mark.flink

#: How Flink fails before it judges; a restore fails as well.
REFUSALS = ("Could not find class 'change", "an enum value was removed")
#: Flink with what the harness does not have.
JARS = [
    *(
        f"org.apache.flink:{name}:2.3.0"
        for name in ("flink-avro", "flink-table-common", "flink-table-runtime")
    ),
    "org.apache.flink:flink-table-api-java:2.3.0",
    "org.apache.avro:avro:1.11.4",
    *(f"com.fasterxml.jackson.core:jackson-{name}:2.14.3" for name in ("core", "databind", "annotations")),
]


def differing(version: str, pairs: list[Pair], answers: list[str]) -> list[str]:
    """Where Flink says another thing than we; that a class is missing from this test's class path is no verdict."""
    found = []
    for (written, wanted), answer in zip(pairs, answers, strict=True):
        ours = compatibility(written, wanted, flink_version=version)
        if answer.startswith("throws") and any(reason in answer for reason in REFUSALS):
            answer = str(Compatibility.INCOMPATIBLE)
        if answer != str(ours.flink_says):
            found.append(
                f"Flink: {answer}; ours: {ours.flink_says}, {ours.explain()} of {written} to {wanted}"
            )
        assert ours.safe >= ours.flink_says
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_changes_made_by_hand(version: str, tmp_path: Path) -> None:
    changes = CHANGES + (CHANGES_OF_2 if version.startswith("2") else [])
    pairs = [snapshots(change, i, version) for i, change in enumerate(changes)]
    assert differing(version, pairs, flink_verdicts(version, pairs, tmp_path)) == []


def corpus_serializers(corpus: Path) -> dict[str, dict[str, SerializerSnapshot]]:
    """Every serializer that Flink wrote in its migration tests, by name and release."""
    found: dict[str, dict[str, SerializerSnapshot]] = {}
    for file in (corpus / "serializers").glob("*/serializer-snapshot"):
        name, _, release = file.parent.name.rpartition("-")
        found.setdefault(name, {})[release] = read_proxy(Reader(file.read_bytes()))
    return found


@pytest.mark.corpus
@pytest.mark.parametrize(("version", "newest"), [("1.20.5", "1.20"), ("2.3.0", "2.2")])
def test_each_serializer_of_the_corpus_for_each_other_and_its_own_past(
    version: str, newest: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serializers = corpus_serializers(corpus)
    wanted = [releases[newest] for releases in serializers.values() if newest in releases]
    pairs: list[Pair] = [(one, other) for one in wanted for other in wanted]
    for releases in serializers.values():
        pairs += [(old, releases[newest]) for old in releases.values() if newest in releases]
    answers = flink_verdicts(version, pairs, tmp_path)
    judged = [(pair, answer) for pair, answer in zip(pairs, answers, strict=True) if "throws" not in answer]
    with capsys.disabled():
        print(f"\nFlink {version}:", dict(Counter(answer for _, answer in judged)), "of", len(pairs))
    assert len(judged) > 4000
    assert differing(version, [pair for pair, _ in judged], [answer for _, answer in judged]) == []


@pytest.fixture(scope="module")
def jars() -> list[Path]:
    return [fetched(artifact) for artifact in JARS]


def test_avro_schemas(tmp_path: Path, jars: list[Path]) -> None:
    pairs: list[Pair] = [(build.avro(written), build.avro(wanted)) for written, wanted in AVRO_CHANGES]
    assert differing("2.3.0", pairs, flink_verdicts("2.3.0", pairs, tmp_path, jars)) == []


def test_sql_rows(tmp_path: Path, jars: list[Path]) -> None:
    pairs: list[Pair] = [
        (build.row_data(*written), build.row_data(*wanted)) for written, wanted in ROW_DATA_CHANGES
    ]
    assert differing("2.3.0", pairs, flink_verdicts("2.3.0", pairs, tmp_path, jars)) == []
