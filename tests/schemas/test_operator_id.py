"""Operator ids of uids, as Flink computed them."""

from __future__ import annotations

import pytest
from statelift.schemas.operator_id import operator_id_of_uid


@pytest.mark.parametrize(
    ("uid", "operator_id"),
    [
        ("u", "18ee88c14cc4b81e796fad3220cd8db9"),
        ("kp-uid", "707764f348632201e6977900b7d7a2a6"),
        ("src-uid", "65eb651c08e51afc6b01b9ec8c609cba"),
        ("win-uid", "bed9783592ef4082cef71ee95b5f7d64"),
        ("sink1", "cc9780c0642784af2274a40b24d6acc9"),
        ("a", "897859f6655555855a890e51483ab5e6"),
        ("b", "eed1d3b157a9987ae9944e541e132efa"),
        ("c", "d7741f4a6cdf388e747557749a0f0d21"),
        ("z", "936222da3bb558848f700bb01edb34c0"),
        ("keyed-state-process-uid", "928f3b38bde6af749ed4cb45aa1237db"),
        ("broadcast-source-uid", "3a6f51704798c4f418be51bfb6813b77"),
        ("keyed-broadcast-process-uid", "413c1d6f88ee8627fe4b8bc533b4cf1b"),
    ],
)
def test_the_operator_id_of_a_uid(uid: str, operator_id: str) -> None:
    assert operator_id_of_uid(uid).hex() == operator_id


def test_a_lone_surrogate_counts_as_a_question_mark() -> None:
    assert operator_id_of_uid("a\ud800b") == operator_id_of_uid("a?b")
