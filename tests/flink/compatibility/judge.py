"""Flink's own verdict on pairs of serializer snapshots, with user classes made up for those that they name."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from statelift.schemas.snapshots import (
    EnumSnapshot,
    KryoRegistration,
    KryoSnapshot,
    PojoSnapshot,
    SerializerSnapshot,
    write_proxy,
)
from statelift.schemas.wire import Writer

from ..flink import build

JUDGE = Path(__file__).with_name("Judge.java")
Pair = tuple[SerializerSnapshot, SerializerSnapshot]


def flink_verdicts(version: str, pairs: Sequence[Pair], folder: Path, jars: Sequence[Path] = ()) -> list[str]:
    """What Flink says of each pair (written, wanted): a verdict in words, or ``throws`` and the exception.

    The classes that the wanted snapshots name are compiled into ``folder``; a class is the same for all pairs.
    """
    classes = folder / "classes"
    classpath = ":".join([build(version), str(classes), *map(str, jars)])
    sources = _write_sources([wanted for _, wanted in pairs], folder / "sources")
    classes.mkdir()
    _run(["javac", "-nowarn", "-cp", classpath, "-d", str(classes), str(JUDGE), *map(str, sources)])
    lines = "".join(f"{_hex(written)} {_hex(wanted)}\n" for written, wanted in pairs)
    answers = _run(
        ["java", "-XX:TieredStopAtLevel=1", *_OPENED, "-cp", classpath, "Judge"], lines
    ).splitlines()
    assert len(answers) == len(pairs)
    return answers


_OPENED = ["--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.util=ALL-UNNAMED"]


def _run(command: list[str], given: str = "") -> str:
    ran = subprocess.run(command, input=given, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-4000:]
    return ran.stdout


def _hex(snapshot: SerializerSnapshot) -> str:
    writer = Writer()
    write_proxy(writer, snapshot)
    return writer.getvalue().hex()


def _write_sources(snapshots: Sequence[SerializerSnapshot], folder: Path) -> list[Path]:
    """A source file for each class; the fields are Objects, for snapshots do not tell and Flink does not look."""
    bodies: dict[str, str] = {}
    for snapshot in snapshots:
        for one in _all_in(snapshot):
            if isinstance(one, EnumSnapshot):
                bodies[one.enum_class] = f"enum @ {{{', '.join(one.constants)}}}"
            elif isinstance(one, PojoSnapshot):
                _add_pojo(one, bodies)
            elif isinstance(one, KryoSnapshot):
                for entry in one.kryo_registrations:
                    _add_registered(entry.key_name, entry.value, bodies)
    written = []
    for name, body in bodies.items():
        package, _, simple = name.rpartition(".")
        file = folder / package.replace(".", "/") / f"{simple}.java"
        file.parent.mkdir(parents=True, exist_ok=True)
        head = f"package {package};\n" if package else ""
        file.write_text(head + "public " + body.replace("@", simple) + "\n")
        written.append(file)
    return written


def _add_registered(name: str, registration: KryoRegistration | None, bodies: dict[str, str]) -> None:
    if not name.startswith(("java.", "org.apache.avro.")):
        bodies.setdefault(name, "class @ {}")
    serializer = registration.serializer if registration else None
    if isinstance(serializer, str) and "$DummyAvro" not in serializer:
        bodies.setdefault(serializer, _KRYO_SERIALIZER)


_KRYO_SERIALIZER = """abstract class @ extends com.esotericsoftware.kryo.Serializer<Object> {}"""


def _add_pojo(pojo: PojoSnapshot, bodies: dict[str, str]) -> None:
    above = next((p.declaring_class for p in pojo.fields if p.declaring_class != pojo.pojo_class), None)
    own = [p.field_name for p in pojo.fields if p.declaring_class == pojo.pojo_class]
    fields = " ".join(f"public Object {name};" for name in own)
    extends = f" extends {above}" if above else ""
    bodies[pojo.pojo_class] = f"class @{extends} {{{fields}}}"
    if above:
        inherited = [p.field_name for p in pojo.fields if p.declaring_class == above]
        bodies.setdefault(above, "class @ {" + " ".join(f"public Object {n};" for n in inherited) + "}")
    for part in (*pojo.registered_subclasses, *pojo.non_registered_subclasses):
        if not isinstance(part.snapshot, PojoSnapshot):
            bodies.setdefault(part.subclass, f"class @ extends {pojo.pojo_class} {{}}")


def _all_in(value: object) -> Iterator[SerializerSnapshot]:
    if isinstance(value, SerializerSnapshot):
        yield value
    if isinstance(value, tuple):
        for one in value:
            yield from _all_in(one)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _all_in(getattr(value, field.name))
