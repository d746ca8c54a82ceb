"""Decode and encode speed of whole columns, in values a CPU second: ``python benchmarks/bench_codec.py``."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from statelift.schemas import types as t
from statelift.schemas.codec.codec import Codec
from statelift.schemas.codec.columns import binary_parts
from statelift.schemas.codec.shapes import compile_type
from statelift.schemas.from_avro import type_of_avro

ROWS = 400_000
ROUNDS = 5


def pojo(class_name: str, /, **fields: t.DataType) -> t.PojoType:
    return t.PojoType(class_name=class_name, fields=tuple(t.Field(name=k, type=v) for k, v in fields.items()))


LONG, INT, STRING, DOUBLE = t.scalar("long"), t.scalar("int"), t.scalar("string"), t.scalar("double")
SCORE = pojo("Score", score=DOUBLE, timestamp=LONG)
USER = pojo(
    "User", active=t.scalar("boolean"), age=INT, id=LONG, last=SCORE, name=STRING, visits=t.scalar("short")
)
ROW = t.RowDataType(
    fields=tuple(
        t.Field(name=f"f{i}", type=one) for i, one in enumerate((LONG, t.scalar("string_data"), INT, DOUBLE))
    )
)


AVRO = (
    '{"type": "record", "name": "Visit", "fields": [{"name": "id", "type": "long"}, {"name": "user", "type": "string"},'
    ' {"name": "score", "type": ["null", "double"]}, {"name": "page", "type": "int"}]}'
)


def columns() -> dict[str, tuple[t.DataType, pa.Array]]:
    rng = np.random.default_rng(7)
    numbers = pa.array(rng.integers(-(2**60), 2**60, ROWS))
    names = pa.array([f"user-{i:08d}" for i in range(ROWS)])
    scores = pa.StructArray.from_arrays([pa.array(rng.random(ROWS)), numbers], ["score", "timestamp"])
    users = pa.StructArray.from_arrays(
        [
            pa.array(rng.random(ROWS) < 0.5), pa.array(rng.integers(0, 99, ROWS), pa.int32()), numbers, scores,
            names, pa.array(rng.integers(0, 99, ROWS), pa.int16()),
        ],
        ["active", "age", "id", "last", "name", "visits"],
    )  # fmt: skip
    fours = pa.array(np.arange(0, ROWS + 1, 4, dtype=np.int32))
    rows = pa.StructArray.from_arrays(
        [
            pa.array(np.zeros(ROWS, np.int8)),
            numbers,
            names,
            pa.array(np.arange(ROWS), pa.int32()),
            pa.array(rng.random(ROWS)),
        ],
        ["__kind", "f0", "f1", "f2", "f3"],
    )
    visits = pa.StructArray.from_arrays(
        [numbers, names, pa.array(rng.random(ROWS)), pa.array(np.arange(ROWS), pa.int32())],
        ["id", "user", "score", "page"],
    )
    return {
        "long": (LONG, numbers),
        "string of 13": (STRING, names),
        "pojo of 6 fields, one nested": (USER, users),
        "list of 4 longs": (t.ListType(element=LONG), pa.ListArray.from_arrays(fours, numbers)),
        "map of 4 pojos": (t.MapType(key=STRING, value=SCORE), pa.MapArray.from_arrays(fours, names, scores)),
        "avro record of 4 fields": (type_of_avro(AVRO), visits),
        "rowdata of 4 fields": (ROW, rows),
    }


def best(run: Callable[[], object]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    print(
        f"{'values':32}{'bytes':>8}{'decode M/s':>12}{'encode M/s':>12}{'decode MB/s':>13}{'encode MB/s':>13}"
    )
    for name, (node, array) in columns().items():
        codec = Codec(compile_type(node))
        encoded = codec.encode(array)
        data, offsets = binary_parts(encoded)
        decode = best(lambda c=codec, d=data, o=offsets: c.decode(d, o[:-1], o[1:]))
        encode = best(lambda c=codec, a=array: c.encode(a))
        rows, size = len(array), int(offsets[-1])
        print(
            f"{name:32}{size / rows:8.1f}{rows / decode / 1e6:12.2f}{rows / encode / 1e6:12.2f}"
            f"{size / decode / 1e6:13.0f}{size / encode / 1e6:13.0f}"
        )


if __name__ == "__main__":
    main()
