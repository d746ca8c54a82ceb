"""The numpy arrays that blocks are decoded into."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Tags: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
"""``sequence number << 8 | value type`` of an entry."""
