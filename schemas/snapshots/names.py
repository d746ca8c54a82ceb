"""Packages of Flink's serializer snapshot classes, as the format description abbreviates them."""

from __future__ import annotations

FLINK = "org.apache.flink."
TU = FLINK + "api.common.typeutils."
B = TU + "base."
A = B + "array."
R = FLINK + "api.java.typeutils.runtime."
K = R + "kryo."
S = FLINK + "runtime.state."
W = FLINK + "streaming.api.windowing.windows."
T = FLINK + "table.runtime.typeutils."
DV = FLINK + "table.dataview."
TW = FLINK + "table.runtime.operators.window."
CEP = FLINK + "cep.nfa."
SCALA = (FLINK + "api.scala.typeutils.", FLINK + "table.api.typeutils.")
"""The Scala API and, since 2.0, the copy in flink-table-api-scala."""


def inner(serializer: str) -> str:
    """The snapshot class nested in its serializer's class: ``X$XSnapshot``."""
    return f"{serializer}${serializer.rpartition('.')[2].rpartition('$')[2]}Snapshot"
