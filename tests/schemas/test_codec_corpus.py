"""Values that Flink 1.11 to 2.2 wrote: decoded to their last byte and encoded to the same bytes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from statelift.schemas import types as t
from statelift.schemas.codec.codec import Codec
from statelift.schemas.codec.shapes import compile_type
from statelift.schemas.declared import Declared, DeclaredClass
from statelift.schemas.from_snapshot import TypeRules
from statelift.schemas.snapshots import SerializerSnapshot, read_proxy
from statelift.schemas.wire import Reader

pytestmark = pytest.mark.corpus

#: Serializers of the corpus whose values are classes that only their own code can read.
USER_CLASSES = {
    "copyable-value-serializer", "java-serializer", "kryo-custom-type-serializer-changed-registration-order",
    "scala-try-serializer", "value-serializer", "writeable-serializer",
}  # fmt: skip
_ANIMALS = "org.apache.flink.api.java.typeutils.runtime.kryo.KryoPojosForMigrationTests$"
DECLARED = Declared(
    classes={
        _ANIMALS + "Animal": DeclaredClass(class_name=_ANIMALS + "Animal"),
        _ANIMALS + "Dog": DeclaredClass(
            class_name=_ANIMALS + "Dog", extends=_ANIMALS + "Animal", fields={"name": "string"}
        ),
    }
)


def kryo_of(folder: Path) -> int:
    return 5 if re.search(r"-2\.\d$", folder.name) else 2


def type_in(folder: Path, snapshot: SerializerSnapshot) -> t.DataType:
    """The type of a snapshot. These were written by flink-core alone, where Kryo's own classes are registered and
    chill's are not; in Kryo 2 ``void`` is one more."""
    kryo = kryo_of(folder)
    node = TypeRules(kryo=kryo, declared=DECLARED).type_of(snapshot)  # type: ignore[arg-type]
    if isinstance(node, t.KryoType):
        return replace(node, first_id=9 if kryo == 5 else 10)
    return node


def test_every_serializer_of_the_corpus(corpus: Path, summary: Callable[[str], None]) -> None:
    opaque, decoded = set(), defaultdict(int)
    reasons: Counter[str] = Counter()
    for folder in sorted((corpus / "serializers").iterdir()):
        name = re.sub(r"-[\d.]+$", "", folder.name)
        snapshot = read_proxy(Reader((folder / "serializer-snapshot").read_bytes()))
        node = type_in(folder, snapshot)
        carried = t.opaque_in(node)
        if name.startswith("kryo-custom"):
            carried = t.OpaqueType(class_name=_ANIMALS + "Dog", reason="Kryo with a serializer of its own")
        if carried is not None:
            opaque.add(name)
            reasons[f"{carried.class_name}: {carried.reason}"] += 1
            continue
        data = np.frombuffer((folder / "test-data").read_bytes(), np.uint8)
        codec = Codec(compile_type(node))
        pos = 0
        while pos < len(data):
            array, stops = codec.decode(data, np.array([pos]), np.array([len(data)]), exact=False)
            array.validate(full=True)
            end = int(stops[0])
            assert codec.encode(array)[0].as_py() == data[pos:end].tobytes(), folder.name
            pos = end
        decoded[name] += 1
    lines = ["pairs of serializer snapshot and data in the corpus"]
    lines += [f"{sum(decoded.values()):4} decoded and written back the same"]
    lines += [f"{count:4} carried as bytes: {reason}" for reason, count in sorted(reasons.items())]
    summary("\n".join(lines))
    assert opaque == USER_CLASSES
    assert sum(decoded.values()) == 651
