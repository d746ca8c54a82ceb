"""The golden savepoints, as tests of several floors use them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import statelift
from statelift.state_ops.snapshot import Snapshot

ROOT = Path(__file__).parent / "golden"
UIDS = ("fraud-detector", "session-tracker", "buffering-sink", "rules", "gen-source")
ALL = sorted(str(path.parent.relative_to(ROOT)) for path in ROOT.glob("*/*/savepoint"))


def savepoint(name: str) -> Path:
    """The folder of the savepoint ``name``, such as ``2.3.0/rocksdb-native``."""
    return ROOT / name / "savepoint"


def opened(name: str) -> Snapshot:
    return statelift.open(str(savepoint(name)), uids=UIDS)


def copied(name: str, to: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(savepoint(name), to / "savepoint"))


def expected(name: str, uid: str, section: str, state: str) -> list[dict[str, Any]]:
    """What Flink's job says is in a state: ``expected.json``, see README.md there."""
    contents = json.loads((ROOT / name / "expected.json").read_text())
    entries: list[dict[str, Any]] = contents["operators"][uid][section][state]["entries"]
    return entries


def plain(value: Any) -> Any:
    """A value of ``expected.json`` without its tags: objects and maps as dicts, tuples as theirs."""
    match value:
        case {"$object": _, "fields": fields}:
            return {name: plain(one) for name, one in fields.items()}
        case {"$map": pairs}:
            return {key: plain(one) for key, one in pairs}
        case {"$tuple": parts}:
            return {f"f{i}": plain(one) for i, one in enumerate(parts)}
        case list():
            return [plain(one) for one in value]
    return value
