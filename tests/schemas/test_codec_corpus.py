"""Values that Flink 1.11 to 2.2 wrote: decoded to their last byte and encoded to the same bytes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from statelift.schemas import types as t
from statelift.schemas.codec.codec import Codec
from statelift.schemas.codec.shapes import compile_type
from statelift.schemas.from_snapshot import type_of
from statelift.schemas.snapshots import read_proxy
from statelift.schemas.wire import Reader

pytestmark = pytest.mark.corpus

#: Serializers of the corpus whose values are classes that only their own code can read.
USER_CLASSES = {
    "copyable-value-serializer", "java-serializer", "kryo-custom-type-serializer-changed-registration-order",
    "kryo-type-serializer-changed-registration-order", "kryo-type-serializer-empty-config",
    "kryo-type-serializer-unrelated-config-after-restore", "scala-try-serializer", "value-serializer",
    "writeable-serializer",
}  # fmt: skip


def kryo_of(folder: Path) -> int:
    return 5 if re.search(r"-2\.\d$", folder.name) else 2


def test_every_serializer_of_the_corpus(corpus: Path, summary: Callable[[str], None]) -> None:
    opaque, decoded = set(), defaultdict(int)
    reasons: Counter[str] = Counter()
    for folder in sorted((corpus / "serializers").iterdir()):
        name = re.sub(r"-[\d.]+$", "", folder.name)
        snapshot = read_proxy(Reader((folder / "serializer-snapshot").read_bytes()))
        node = type_of(snapshot, kryo=kryo_of(folder))  # type: ignore[arg-type]
        carried = t.opaque_in(node)
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
    assert sum(decoded.values()) == 627
