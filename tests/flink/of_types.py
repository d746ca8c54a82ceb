"""What the tests of jobs with state of many types (``TypesFamily``) share: write, read, encode anew, restore."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import statelift
from statelift.state_ops.apply import apply
from statelift.state_ops.plan import Plan
from statelift.state_ops.report import Report
from statelift.state_ops.states import State

from ..state_ops.sections import compare_operator
from .compare import assert_same_content
from .flink import Contents, FlinkHarness, Restore, Written

#: What a plan does with a state: its operator's uid, the state.
PlanOf = Callable[[str, State], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TypesFamily:
    """A family of jobs, ``declared`` what the snapshots do not say of its classes, ``unstable`` the operators by keys
    whose hash only Flink computes."""

    name: str
    declared: Mapping[str, Any] = field(default_factory=dict)
    unstable: frozenset[str] = frozenset()

    def write(self, flink: FlinkHarness, target: Path, backend: str, format: str) -> Written:
        small = {"state.backend.rocksdb.writebuffer.size": "256kb"}
        return flink.write(
            target, backend=backend, format=format, family=self.name, rounds=1, parallelism=1, config=small
        )

    def opened(self, written: Written, wide_times: bool = False) -> statelift.Snapshot:
        uids = written.expected["operators"]
        types = dict(self.declared) or None
        return statelift.open(str(written.path), uids=uids, types=types, wide_times=wide_times)

    def differences(self, written: Written, expected: Contents) -> tuple[list[str], set[str]]:
        """What reads otherwise than expected, and what is opaque."""
        snapshot, opaque = self.opened(written), set[str]()
        different = [
            one
            for uid, sections in expected["operators"].items()
            for one in compare_operator(snapshot.operator(uid), uid, sections, opaque)
        ]
        return different, opaque

    def encode_all(
        self,
        written: Written,
        target: Path,
        format: str,
        plan_of: PlanOf,
        *,
        opaque: bool = False,
        wide_times: bool = False,
    ) -> Report:
        """A snapshot of the same content, where everything (but what is ``opaque``) is decoded and encoded anew."""
        snapshot, operators = self.opened(written), {}
        for uid in written.expected["operators"]:
            states = [
                state
                for state in snapshot.operator(uid).states
                if state.name != "SourceReaderState" and (not opaque or state.opaque is None)
            ]
            operators[uid] = {"states": {state.name: plan_of(uid, state) for state in states}}
        places = {"source": str(written.path), "target": str(target), "format": format}
        reading = {"wide_times": wide_times, **({"types": self.declared} if self.declared else {})}
        return apply(Plan.of({**places, **reading, "operators": operators}), workers=1)

    def select(self, uid: str, state: State) -> dict[str, Any]:
        """Keys too are encoded anew, and placed, where the query is no longer one row by row."""
        rows = f'SELECT * FROM "{uid}"."{state.name}"'
        keys = uid.startswith("by-") and uid not in self.unstable
        return {"select": f"{rows} UNION ALL ({rows} LIMIT 0)" if keys else rows}

    def set_or_select(self, uid: str, state: State) -> dict[str, Any]:
        return self.select(uid, state) if state.kind == "timer" else {"set": {"value": "value"}}

    def restored(
        self, flink: FlinkHarness, expected: Contents, snapshot: Path, backend: str
    ) -> dict[str, str]:
        """Flink's verdicts by state, once it has restored a snapshot and found in it what is expected."""
        restore = Restore(
            snapshot=snapshot, backend=backend, parallelism=1, family=self.name, compatibility=True
        )
        [found] = flink.restore([restore])
        assert_same_content(expected, found, same_parallelism=True)
        return {
            f"{uid} {state}": verdict
            for uid, states in found["compatibility"].items()
            for state, verdict in states.items()
        }
