"""A PyFlink job whose state is known, for the golden savepoints and to see PyFlink restore what was made of them.

    python job.py write MODE BACKEND FORMAT FOLDER [UID …]   # leaves a savepoint in FOLDER
    python job.py read MODE BACKEND SAVEPOINT [UID …]        # prints what PyFlink finds in one, a line for each state
    python job.py expected MODE FILE [UID …]                 # what is in the savepoints, by the job's model

MODE is process or thread, BACKEND hashmap or rocksdb, FORMAT CANONICAL or NATIVE. UIDs are those of the operators,
left out: all.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import cloudpickle
import model
from pyflink.common import Configuration, Duration, Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink.datastream.functions import (
    AggregateFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
)
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from pyflink.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from pyflink.fn_execution.coders import from_type_info
from pyflink.java_gateway import get_gateway

cloudpickle.register_pickle_by_value(model)  # the workers have no path to it
PROBE = -1  # in place of a round: what the states of a key hold is sent on, nothing is changed


class Sum(ReduceFunction):  # type: ignore[misc]
    def reduce(self, one: int, other: int) -> int:
        return one + other


class Mean(AggregateFunction):  # type: ignore[misc]
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + 1, accumulator[1] + value

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[1] / accumulator[0]

    def merge(self, one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
        return one[0] + other[0], one[1] + other[1]


def found(uid: str, name: str, key: Any, value: Any) -> str:
    """A line of `read`: values as Python shows them, entries of maps in order."""
    if isinstance(value, dict):
        value = sorted(value.items(), key=repr)
    return json.dumps([uid, name, repr(key), repr(value)], ensure_ascii=False)


class OfEachType(KeyedProcessFunction):  # type: ignore[misc]
    def __init__(self, mode: str) -> None:
        self.mode = mode

    def open(self, context: Any) -> None:
        self.model = model.of_each_type(self.mode)
        self.states = {
            n: context.get_state(ValueStateDescriptor(n, types)) for n, (types, _) in self.model.items()
        }

    def process_element(self, record: Any, context: Any) -> Any:
        i, round = record
        if round == PROBE:
            for name, state in self.states.items():
                yield found("types", name, context.get_current_key(), state.value())
            return
        for name, state in self.states.items():
            state.update(self.model[name][1](i))
        yield "-"


class OfEachKind(KeyedProcessFunction):  # type: ignore[misc]
    def open(self, context: Any) -> None:
        ttl = StateTtlConfig.new_builder(Time.days(10_000)).build()

        def kept(descriptor: Any) -> Any:
            descriptor.enable_time_to_live(ttl)
            return descriptor

        self.seen = context.get_list_state(ListStateDescriptor("seen", Types.LONG()))
        self.pairs = context.get_list_state(ListStateDescriptor("pairs", model.named()))
        self.by = context.get_map_state(MapStateDescriptor("by", Types.STRING(), Types.LONG()))
        self.rows_by = context.get_map_state(MapStateDescriptor("rows-by", Types.INT(), model.named()))
        self.pickles = context.get_map_state(
            MapStateDescriptor("pickles", Types.PICKLED_BYTE_ARRAY(), Types.PICKLED_BYTE_ARRAY())
        )
        self.sum = context.get_reducing_state(ReducingStateDescriptor("sum", Sum(), Types.LONG()))
        self.mean = context.get_aggregating_state(
            AggregatingStateDescriptor("mean", Mean(), Types.TUPLE([Types.INT(), Types.LONG()]))
        )
        self.ttl = context.get_state(kept(ValueStateDescriptor("ttl", Types.LONG())))
        self.ttl_by = context.get_map_state(kept(MapStateDescriptor("ttl-by", Types.STRING(), model.named())))
        self.ttl_seen = context.get_list_state(kept(ListStateDescriptor("ttl-seen", Types.INT())))

    def process_element(self, record: Any, context: Any) -> Any:
        i, round = record
        if round == PROBE:
            yield from self.found(context.get_current_key())
            return
        self.seen.add(100 * i + round)
        self.pairs.add_all([Row(name="a", n=round), Row(name="b", n=round)])
        self.by.put(f"k{round}", i)
        self.by.put("none", None)
        if round > 0:
            self.by.remove("k0")
        self.rows_by.put(round, Row(name=f"{i}", n=None))
        self.pickles.put((i, round), {"i": i})
        self.sum.add(i + round)
        self.mean.add(10 * i + round)
        self.ttl.update(i)
        self.ttl_by.put("k", Row(name="ttl", n=i))
        self.ttl_seen.add(round)
        context.timer_service().register_event_time_timer(model.FAR + i)
        if i == 2:
            context.timer_service().register_processing_time_timer(model.FAR + 10 + i)
        yield "-"

    def found(self, key: Any) -> Any:
        for name, value in {
            "seen": list(self.seen.get()), "pairs": list(self.pairs.get()), "by": dict(self.by.items()),
            "rows-by": dict(self.rows_by.items()), "pickles": dict(self.pickles.items()), "sum": self.sum.get(),
            "mean": self.mean.get(), "ttl": self.ttl.value(), "ttl-by": dict(self.ttl_by.items()),
            "ttl-seen": list(self.ttl_seen.get()),
        }.items():  # fmt: skip
            yield found("kinds", name, key, value)

    def on_timer(self, timestamp: int, context: Any) -> Any:
        yield found("kinds", "timer", context.get_current_key(), timestamp)


class Counted(KeyedProcessFunction):  # type: ignore[misc]
    """A count for each key, of whatever type the key is."""

    def __init__(self, uid: str) -> None:
        self.uid = uid

    def open(self, context: Any) -> None:
        self.count = context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, record: Any, context: Any) -> Any:
        i, round = record
        if round == PROBE:
            yield found(self.uid, "count", context.get_current_key(), self.count.value())
            return
        self.count.update((self.count.value() or 0) + 1 + i)
        context.timer_service().register_event_time_timer(model.FAR + i)
        yield "-"

    def on_timer(self, timestamp: int, context: Any) -> Any:
        yield found(self.uid, "timer", context.get_current_key(), timestamp)


def rules() -> Any:
    return MapStateDescriptor("rules", Types.STRING(), model.named())


class Ruled(KeyedBroadcastProcessFunction):  # type: ignore[misc]
    def open(self, context: Any) -> None:
        self.last = context.get_state(ValueStateDescriptor("last", Types.LONG()))

    def process_element(self, record: Any, context: Any) -> Any:
        i, round = record
        if round == PROBE:
            yield found("ruled", "last", context.get_current_key(), self.last.value())
            yield found("ruled", "rules", None, dict(context.get_broadcast_state(rules()).items()))
            return
        self.last.update(i)
        yield "-"

    def process_broadcast_element(self, record: Any, context: Any) -> Any:
        i, round = record
        if round != PROBE:
            context.get_broadcast_state(rules()).put(f"rule {i}", Row(name="rule", n=i))
            yield "-"


class Windowed(ProcessWindowFunction):  # type: ignore[misc]
    def __init__(self, uid: str) -> None:
        self.uid = uid

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        window = context.window()
        yield found(self.uid, f"{window.start} to {window.end}", key, list(elements))


class At(TimestampAssigner):  # type: ignore[misc]
    """Probes come after the ends of all windows and timers, which fire then."""

    def extract_timestamp(self, record: Any, record_timestamp: int) -> int:
        i, round = record
        return model.FAR + 100 if round == PROBE else model.START + 1000 * i + round


def environment(mode: str, backend: str, **options: str) -> StreamExecutionEnvironment:
    config = Configuration()
    for name, value in {
        "python.execution-mode": mode,
        "python.executable": sys.executable,
        "python.client.executable": sys.executable,
        # A bundle for each round: what is added to a list in two rounds is in two byte arrays.
        "python.fn-execution.bundle.time": "200",
        "state.backend.type": backend,
        "state.storage.fs.memory-threshold": "1 mb",  # of 1.20; all of a canonical savepoint is in _metadata
        "execution.checkpointing.data-inline-threshold": "1 mb",
        "restart-strategy.type": "none",
        "parallelism.default": "1",
        "pipeline.max-parallelism": str(model.MAX_PARALLELISM),
        **options,
    }.items():
        config.set_string(name, value)
    return StreamExecutionEnvironment.get_execution_environment(config)


def build(env: StreamExecutionEnvironment, mode: str, uids: list[str], folder: Path) -> None:
    """The job: the files of `in` are its records, one pair of key number and round a line; results go to `out`."""
    (folder / "in").mkdir(parents=True)
    lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder / "in"))
    source = lines.monitor_continuously(Duration.of_millis(200)).build()
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(At())
    records = (
        env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").uid("lines")
        .map(lambda line: tuple(json.loads(line)), Types.TUPLE([Types.INT(), Types.INT()]))
        .uid("records")
        .assign_timestamps_and_watermarks(times).uid("times")
    )  # fmt: skip
    results = [records.map(lambda record: "-", Types.STRING()).uid("passed")]
    for uid in uids:
        kind, of = model.KEY_TYPES[uid]
        keyed = records.key_by(lambda record, of=of: of(record[0]), *([kind()] if kind else []))
        match uid:
            case "types":
                result = keyed.process(OfEachType(mode), Types.STRING())
            case "kinds":
                result = keyed.process(OfEachKind(), Types.STRING()).set_parallelism(2)
            case "ruled":
                connected = keyed.connect(records.broadcast(rules()))
                result = connected.process(Ruled(), Types.STRING()).set_parallelism(2)
            case "windowed":
                windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(model.WINDOW)))
                result = windows.process(Windowed(uid), Types.STRING())
            case "sessions":
                windows = keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(model.DAY)))
                result = windows.process(Windowed(uid), Types.STRING())
            case _:
                result = keyed.process(Counted(uid), Types.STRING())
        results.append(result.uid(uid))
    out = str(folder / "out")

    def kept(line: str) -> str:
        with Path(out).open("a") as file:
            file.write(line + "\n")
        return line

    results[0].union(*results[1:]).map(kept, Types.STRING()).uid("kept").filter(lambda line: False).print()


def feed(folder: Path, job: Any, round: int, lines: int) -> list[str]:
    """Sends a record for each key and waits until `lines` results are there."""
    hidden = folder / f".{round}"
    hidden.write_text("".join(json.dumps([i, round]) + "\n" for i in range(model.KEYS)))
    hidden.rename(folder / "in" / f"round{round}")
    out = folder / "out"
    limit = time.monotonic() + 240
    while time.monotonic() < limit:
        got = out.read_text().splitlines() if out.exists() else []
        if len(got) >= lines:
            return got
        if job.get_job_status().result().name in ("FAILED", "FAILING", "CANCELED"):
            job.get_job_execution_result().result()
        time.sleep(0.3)
    job.cancel().result()
    raise TimeoutError(f"{len(got)} results of {lines}")


def write(mode: str, backend: str, format: str, folder: Path, uids: list[str]) -> None:
    with tempfile.TemporaryDirectory() as work:
        build(env := environment(mode, backend), mode, uids, Path(work))
        job = env.execute_async("statelift")
        # A result of each operator for each key and its record; the rules come to both subtasks, windows do not fire.
        each = 1 + sum({"ruled": 3, "windowed": 0, "sessions": 0}.get(uid, 1) for uid in uids)
        for round in range(model.ROUNDS):
            feed(Path(work), job, round, model.KEYS * each * (round + 1))
            time.sleep(1)  # the windows, which say nothing, have their records
        formats = get_gateway().jvm.org.apache.flink.core.execution.SavepointFormatType
        url = job._j_job_client.stopWithSavepoint(False, f"{work}/savepoints", getattr(formats, format)).get()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(urlparse(url).path, folder)


def read(mode: str, backend: str, savepoint: Path, uids: list[str]) -> None:
    with tempfile.TemporaryDirectory() as work:
        # The first is the name in 2.x, the second that in 1.20.
        of = {"execution.state-recovery.path": str(savepoint), "execution.savepoint.path": str(savepoint)}
        env = environment(mode, backend, **of)
        build(env, mode, uids, Path(work))
        job = env.execute_async("statelift")
        results = {
            "types": len(model.of_each_type(mode)),
            "kinds": 11,
            "ruled": 2,
            "windowed": 1,
            "sessions": 1,
        }
        each = 1 + sum(results.get(uid, 2) for uid in uids)
        got = feed(Path(work), job, PROBE, model.KEYS * each)
        job.cancel().result()
    print("\n".join(sorted({line for line in got if line != "-"})))


def group_of(key: Any) -> int:
    """Flink's own key group of a key: in Java it is a row of one field."""
    jvm = get_gateway().jvm
    return jvm.org.apache.flink.runtime.state.KeyGroupRangeAssignment.assignToKeyGroup(
        java_row([key]), model.MAX_PARALLELISM
    )


def java_row(values: Any) -> Any:
    jvm = get_gateway().jvm
    if isinstance(values[0], int):
        # As a Long, which would be an Integer on its way there.
        coded = from_type_info(long := Types.ROW([Types.LONG()])).get_impl().encode(Row(*values))
        config = jvm.org.apache.flink.api.common.serialization.SerializerConfigImpl()
        view = jvm.org.apache.flink.core.memory.DataInputDeserializer(coded)
        return long.get_java_type_info().createSerializer(config).deserialize(view)
    row = jvm.org.apache.flink.types.Row(len(values))
    for i, value in enumerate(values):
        match value:
            case Row():
                value = java_row([*value])
            case tuple():
                value = jvm.org.apache.flink.api.java.tuple.Tuple2(*value)
        row.setField(i, value)
    return row


if __name__ == "__main__":
    task, mode, *rest = sys.argv[1:]
    fixed = {"write": 3, "read": 2, "expected": 1}[task]
    uids = rest[fixed:] or [*model.KEY_TYPES]
    match task:
        case "write":
            write(mode, rest[0], rest[1], Path(rest[2]), uids)
        case "read":
            read(mode, rest[0], Path(rest[1]), uids)
        case "expected":
            known = json.dumps(
                model.expected(mode, uids, group_of), ensure_ascii=False, separators=(",", ":")
            )
            Path(rest[0]).write_text(known + "\n")
