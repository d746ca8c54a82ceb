# mypy: ignore-errors
"""How the codec's kernels are compiled, and the types of the arrays that they only read."""

from __future__ import annotations

from numba import int64, types, uint8

READ = types.Array(uint8, 1, "C", readonly=True)
WORDS = types.Array(int64, 1, "C", readonly=True)

#: Of a kernel. It makes no array itself, so numba need not count who holds those that it is given, which would
#: cost more than all else where instructions come one by one; the caller holds them.
KERNEL = {"error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
#: Of what is compiled into kernels, and never called from Python.
PART_OF_KERNEL = {**KERNEL, "nogil": True, "no_cpython_wrapper": True}
#: Of the steps of a walk: they become part of it as if they were written there.
STEP_OF_KERNEL = {**PART_OF_KERNEL, "inline": "always"}
#: Beside one of these, where arrays are made.
MAKES_ARRAYS = {"_nrt": True}
