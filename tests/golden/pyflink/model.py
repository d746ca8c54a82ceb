"""What the job of `job.py` keeps: the types of its states and their values, and what JSON has of both."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import cloudpickle
from pyflink.common import Row, Types
from pyflink.common.time import Instant
from pyflink.common.typeinfo import PickledBytesTypeInfo, RowTypeInfo, TupleTypeInfo

KEYS = 3
ROUNDS = 3
MAX_PARALLELISM = 32
START = 1_700_000_000_000  # when the records are, a second for each key, milliseconds since the epoch
FAR = 4_102_444_800_000  # in 2100: when the timers are
DAY = 86_400_000
WINDOW = 10_000 * DAY

#: In thread mode PyFlink hands values of these to Java as something else: a ClassCastException when they are written.
NOT_IN_THREAD_MODE = {
    "big_int", "date", "time", "timestamp", "instant", "bytes", "ints", "strings", "objects", "list",
}  # fmt: skip


def named() -> Any:
    return Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()])


def pair() -> Any:
    return Types.TUPLE([Types.STRING(), Types.INT()])


def moment(i: int) -> datetime:
    return datetime(2024, 2, 29, 1, 2, 3, 4000 + 1000 * i)


def of_each_type(mode: str) -> dict[str, tuple[Any, Callable[[int], Any]]]:
    """By the name of a value state its type and its value for key number i."""
    every = {
        "long": (Types.LONG(), lambda i: -(2**40) * i),
        "int": (Types.INT(), lambda i: i - 2),
        "short": (Types.SHORT(), lambda i: i - 2),
        "byte": (Types.BYTE(), lambda i: i - 2),
        "boolean": (Types.BOOLEAN(), lambda i: i % 2 == 1),
        "float": (Types.FLOAT(), lambda i: i + 0.5),
        "double": (Types.DOUBLE(), lambda i: i / 3),
        "string": (Types.STRING(), lambda i: f"é😀{i}"),
        "char": (Types.CHAR(), lambda i: "äb"[i % 2]),
        "big_int": (Types.BIG_INT(), lambda i: 10**15 * i),
        "big_dec": (Types.BIG_DEC(), lambda i: Decimal(f"-12.34{i}")),
        "date": (Types.SQL_DATE(), lambda i: date(2024, 2, 28 + i % 2)),
        "time": (Types.SQL_TIME(), lambda i: moment(i).time()),
        "timestamp": (Types.SQL_TIMESTAMP(), moment),
        "instant": (Types.INSTANT(), lambda i: Instant(1_700_000_000 + i, 1_000_001 * i)),
        "pickled": (Types.PICKLED_BYTE_ARRAY(), lambda i: {"i": i, "of": (i, None)}),
        "bytes": (Types.PRIMITIVE_ARRAY(Types.BYTE()), lambda i: bytes([i, 255])),
        "ints": (Types.PRIMITIVE_ARRAY(Types.INT()), lambda i: list(range(i))),
        "strings": (Types.BASIC_ARRAY(Types.STRING()), lambda i: ["a", None, str(i)]),
        "objects": (Types.OBJECT_ARRAY(Types.STRING()), lambda i: ["a", str(i)]),
        "list": (Types.LIST(Types.INT()), lambda i: [i, None]),
        "map": (Types.MAP(Types.STRING(), Types.LONG()), lambda i: {"a": i, "b": None}),
        "tuple": (pair(), lambda i: (f"t{i}", i)),
        "row": (Types.ROW([Types.STRING(), Types.INT()]), lambda i: Row(f"r{i}", None if i == 1 else i)),
        "named": (named(), lambda i: Row(name=f"n{i}", n=i)),
        "nested": (
            Types.ROW_NAMED(
                ["at", "rows", "by"],
                [Types.SQL_TIMESTAMP(), Types.OBJECT_ARRAY(named()), Types.MAP(Types.STRING(), named())],
            ),
            lambda i: Row(at=moment(i), rows=[Row(name="x", n=i), None], by={"k": Row(name="y", n=None)}),
        ),
    }
    if mode == "process":
        return every
    return {name: one for name, one in every.items() if name not in NOT_IN_THREAD_MODE}


#: The keys of the operators: a type, None for pickles, and the key of key number i.
KEY_TYPES: dict[str, tuple[Callable[[], Any] | None, Callable[[int], Any]]] = {
    "types": (Types.STRING, lambda i: f"key-{i}"),
    "kinds": (Types.LONG, lambda i: -i),
    "by-tuple": (pair, lambda i: (f"é{i}", i)),
    "by-row": (named, lambda i: Row(name=f"n{i}", n=i)),
    "by-pickle": (None, lambda i: (f"key-{i}", i)),
    "ruled": (Types.STRING, lambda i: f"key-{i}"),
    "windowed": (Types.STRING, lambda i: f"key-{i}"),
    "sessions": (Types.STRING, lambda i: f"key-{i}"),
}


def expected(mode: str, uids: list[str], group_of: Callable[[Any], int]) -> dict[str, Any]:
    """What is in the savepoints of a mode; `group_of` gives Flink's key group of a key."""
    prefix = "python-state-" if mode == "process" else ""

    def place(uid: str, i: int) -> dict[str, Any]:
        kind, of = KEY_TYPES[uid]
        key = of(i)
        if kind is None:
            # The worker of process mode uses cloudpickle, whose protocol is the newest one; thread mode has pickle's.
            raw = cloudpickle.dumps(key) if mode == "process" else pickle.dumps(key)
            return {"key": row({"$bytes": raw.hex()}), "ns": None, "kg": group_of(raw)}
        # A key has its type in Java too, where tuples and rows are no pickles.
        return {"key": row(stored("process", kind(), key)), "ns": None, "kg": group_of(key)}

    def keyed(uid: str, states: dict[str, tuple[str, Any, Callable[[int], Any]]]) -> dict[str, Any]:
        return {
            prefix + name: {
                "kind": kind,
                "entries": [{**place(uid, i), "value": held(mode, kind, types, of(i))} for i in range(KEYS)],
            }
            for name, (kind, types, of) in states.items()
        }

    def in_window(start: Callable[[int], int], end: Callable[[int], int], states: dict[str, Any]) -> Any:
        for state in states.values():
            for i, entry in enumerate(state["entries"]):
                entry["ns"] = {"$window": [start(i), end(i)]}
        return states

    def timers(uid: str, at: Callable[[int], int], service: str = "user-timers") -> dict[str, Any]:
        entries = [{**place(uid, i), "ts": at(i)} for i in range(KEYS)]
        return {f"{service}/event": {"kind": "timer", "entries": entries}}

    def at(i: int) -> int:
        return START + 1000 * i

    def merged(i: int) -> dict[bytes, bytes]:
        session, first = (at(i), at(i) + DAY + ROUNDS - 1), (at(i), at(i) + DAY)
        return {struct.pack(">qq", *session): struct.pack(">qq", *first)}

    raw = Types.PRIMITIVE_ARRAY(Types.BYTE())
    record = Types.TUPLE([Types.INT(), Types.INT()])
    arrived = {"window-contents": ("list", record, lambda i: [(i, round) for round in range(ROUNDS)])}
    window_timers = "user-timers" if mode == "process" else "window-timers"
    first = START // WINDOW * WINDOW
    every = {
        "types": {
            "keyed": keyed("types", {n: ("value", *one) for n, one in of_each_type(mode).items()}),
        },
        "kinds": {
            "keyed": keyed(
                "kinds",
                {
                    "seen": ("list", Types.LONG(), lambda i: [100 * i + r for r in range(ROUNDS)]),
                    "pairs": ("list", named(), lambda i: [Row(name=n, n=r) for r in range(ROUNDS) for n in "ab"]),
                    "by": ("map", (Types.STRING(), Types.LONG()), lambda i: {"k1": i, "k2": i, "none": None}),
                    "rows-by": (
                        "map",
                        (Types.INT(), named()),
                        lambda i: {r: Row(name=f"{i}", n=None) for r in range(ROUNDS)},
                    ),
                    "pickles": (
                        "map",
                        (Types.PICKLED_BYTE_ARRAY(), Types.PICKLED_BYTE_ARRAY()),
                        lambda i: {(i, r): {"i": i} for r in range(ROUNDS)},
                    ),
                    "sum": ("value", Types.LONG(), lambda i: 3 * i + 3),
                    "mean": ("value", Types.TUPLE([Types.INT(), Types.LONG()]), lambda i: (3, 30 * i + 3)),
                    "ttl": ("value", Types.LONG(), lambda i: i),
                    "ttl-by": ("map", (Types.STRING(), named()), lambda i: {"k": Row(name="ttl", n=i)}),
                    "ttl-seen": ("list", Types.INT(), lambda i: list(range(ROUNDS))),
                },
            ),
            "timers": timers("kinds", lambda i: FAR + i)
            | {"user-timers/processing": {"kind": "timer", "entries": [{**place("kinds", 2), "ts": FAR + 12}]}},
        },
        **{
            uid: {
                "keyed": keyed(uid, {"count": ("value", Types.INT(), lambda i: 3 * i + 3)}),
                "timers": timers(uid, lambda i: FAR + i),
            }
            for uid in ("by-tuple", "by-row", "by-pickle")
        },
        "ruled": {
            "keyed": keyed("ruled", {"last": ("value", Types.LONG(), lambda i: i)}),
            "broadcast": {
                f"{prefix}rules": {
                    "kind": "broadcast",
                    "entries": [
                        {"subtask": s, "key": f"rule {i}", "value": stored(mode, named(), Row(name="rule", n=i))}
                        for s in range(2)
                        for i in range(KEYS)
                    ],
                }
            },
        },
        "windowed": {
            "keyed": in_window(lambda i: first, lambda i: first + WINDOW, keyed("windowed", arrived)),
            "timers": in_window(
                lambda i: first, lambda i: first + WINDOW,
                timers("windowed", lambda i: first + WINDOW - 1, window_timers),
            ),
        },
        # The state stays in the window of the first record; the session has grown with the two others.
        "sessions": {
            "keyed": in_window(at, lambda i: at(i) + DAY, keyed("sessions", arrived))
            | keyed("sessions", {"merging-window-set": ("map", (raw, raw), merged)}),
            "timers": in_window(
                at, lambda i: at(i) + DAY + ROUNDS - 1,
                timers("sessions", lambda i: at(i) + DAY + ROUNDS - 2, window_timers),
            ),
        },
    }  # fmt: skip
    return {"operators": {uid: every[uid] for uid in uids}}


def row(value: Any) -> dict[str, Any]:
    return {"$row": [value], "kind": "+I"}


def held(mode: str, kind: str, types: Any, value: Any) -> Any:
    """What a state of this kind holds. Of a map `types` are those of its keys and values."""
    if kind == "list":
        return [stored(mode, types, one) for one in value]
    if kind == "map":
        keys, values = types
        return in_order([[stored(mode, keys, k), stored(mode, values, v, True)] for k, v in value.items()])
    return stored(mode, types, value)


def stored(mode: str, types: Any, value: Any, may_be_none: bool = False) -> Any:
    """A value as the JSON has it: plain where that is exact, else in an object of one tag."""
    if value is None and may_be_none:
        return None
    pickled = (
        (PickledBytesTypeInfo,) if mode == "process" else (PickledBytesTypeInfo, TupleTypeInfo, RowTypeInfo)
    )
    if isinstance(types, pickled):
        return {"$bytes": pickle.dumps(value).hex()}
    return plain(mode, value)


def plain(mode: str, value: Any) -> Any:
    match value:
        case bytes():
            return {"$bytes": value.hex()}
        case Decimal() if mode == "process":
            return str(value)
        case Decimal():
            sign, digits, exponent = value.as_tuple()
            return {"$decimal": ["-" * sign + "".join(map(str, digits)), -int(exponent)]}
        case datetime():
            return round((value - datetime(1970, 1, 1)).total_seconds() * 1000)
        case date():
            return (value - date(1970, 1, 1)).days
        case time():
            return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
        case Instant():
            return {"$instant": [value.seconds, value.nanos]}
        case Row():
            return {"$row": [plain(mode, one) for one in value], "kind": "+I"}
        case tuple():
            return {"$tuple": [plain(mode, one) for one in value]}
        case dict():
            return in_order([[plain(mode, k), plain(mode, v)] for k, v in value.items()])
        case list():
            return [plain(mode, one) for one in value]
    return value


def in_order(pairs: list[list[Any]]) -> dict[str, Any]:
    return {"$map": sorted(pairs, key=lambda one: json.dumps(one, sort_keys=True))}
