"""Snapshots below a folder that is none itself, for the message to who named it."""

from __future__ import annotations

import contextlib
import re
from itertools import islice

from ..io.stores import Stores, parent
from ..schemas.errors import StoreError

#: How many files are looked at: a folder of checkpoints may hold many more, those of each checkpoint come first.
_MOST_FILES = 5000
_SHOWN = 3


def snapshots_below(stores: Stores, folder: str) -> list[str]:
    """The first few snapshots below ``folder``, named from there, the newest checkpoint (``chk-42``) first."""
    base = folder.rstrip("/") + "/"
    found = []
    with contextlib.suppress(StoreError):  # what cannot be listed has nothing to offer
        for file in islice(stores.list(base), _MOST_FILES):
            if file.url.endswith("/_metadata"):
                found.append(parent(file.url).removeprefix(base))
    found.sort(key=lambda name: [int(number) for number in re.findall(r"chk-(\d+)$", name)], reverse=True)
    return found[:_SHOWN]
