"""What ``inspect`` tells: the snapshot, what it holds, and which names were not found in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..io.metadata import SnapshotType, snapshot_type
from ..schemas.operator_id import operator_id_of_uid
from ..state_ops.inventory import OperatorInventory
from ..state_ops.snapshot import Operator, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """``unresolved`` are ids of operators whose uid is not known, ``not_in_snapshot`` names that were
    given, of operators and of PyFlink's states, and that it does not have."""

    url: str
    type: SnapshotType
    metadata_version: int
    checkpoint_id: int
    operators: Sequence[OperatorInventory]
    unresolved: Sequence[str]
    not_in_snapshot: Sequence[str]

    @property
    def nbytes(self) -> int:
        return sum(operator.nbytes for operator in self.operators)

    @property
    def problems(self) -> list[str]:
        return [problem for operator in self.operators for problem in operator.problems]

    def as_dict(self) -> dict[str, Any]:
        """For machines: plain values, sizes in ``bytes``."""
        return {
            "url": self.url,
            "kind": self.type.kind,
            "format_type": self.type.format_type,
            "type_name": self.type.name,
            "metadata_version": self.metadata_version,
            "checkpoint_id": self.checkpoint_id,
            "bytes": self.nbytes,
            "operators": [_operator(operator) for operator in self.operators],
            "unresolved": list(self.unresolved),
            "not_in_snapshot": list(self.not_in_snapshot),
            "problems": self.problems,
        }


def overview(snapshot: Snapshot, uids: Iterable[str], operators: Sequence[OperatorInventory]) -> Overview:
    """``uids`` are the names of operators that were given to try."""
    ids = {operator.meta.operator_id.hex() for operator in snapshot.operators}
    declared = (uid for operator in snapshot.operators for uid in operator.python.uids)
    names = dict.fromkeys([*uids, *declared])
    return Overview(
        url=snapshot.url,
        type=snapshot_type(snapshot.metadata),
        metadata_version=snapshot.metadata.version,
        checkpoint_id=snapshot.checkpoint_id,
        operators=operators,
        unresolved=[operator.id for operator in operators if operator.uid is None],
        not_in_snapshot=[
            *(uid for uid in names if not {operator_id_of_uid(uid).hex(), uid.lower()} & ids),
            *(text for operator in snapshot.operators for text in _declared(operator)),
        ],
    )


def _declared(operator: Operator) -> list[str]:
    """The states that Python types were declared for and that the operator does not have."""
    names = [state.name for state in operator.states]
    unknown = operator.python.unknown(operator.meta.operator_id, names)
    return [f"state {name} of {operator.label}, which has {', '.join(names) or 'none'}" for name in unknown]


def _operator(operator: OperatorInventory) -> dict[str, Any]:
    fields = asdict(operator)
    states = [_renamed(state) for state in fields.pop("states")]
    return {**_renamed(fields), "states": states}


def _renamed(fields: dict[str, Any]) -> dict[str, Any]:
    """What everything stands under need not be said again in it."""
    return {
        "bytes" if name == "nbytes" else name: value for name, value in fields.items() if name != "operator"
    }
