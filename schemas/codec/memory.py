"""Unaligned big-endian loads and stores for the kernels, as single machine instructions.

The caller has checked that the bytes are inside the buffer.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, position: Any, width: int) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    at = builder.gep(builder.bitcast(data, ir.IntType(8).as_pointer()), [position])
    return builder.bitcast(at, ir.IntType(width).as_pointer())


def _swap(builder: Any, value: Any, width: int) -> Any:
    kind = ir.IntType(width)
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind]), f"llvm.bswap.i{width}"
    )
    return builder.call(function, [value])


def _load(width: int) -> Any:
    @intrinsic
    def load(typingctx: Any, buffer: Any, position: Any) -> Any:
        signature = types.int64(buffer, types.int64)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _pointer(context, builder, sig.args[0], args[0], args[1], width)
            raw = builder.load(pointer)
            raw.align = 1
            value = _swap(builder, raw, width)
            return value if width == 64 else builder.sext(value, ir.IntType(64))

        return signature, codegen

    return load


def _store(width: int) -> Any:
    @intrinsic
    def store(typingctx: Any, buffer: Any, position: Any, value: Any) -> Any:
        signature = types.void(buffer, types.int64, types.int64)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _pointer(context, builder, sig.args[0], args[0], args[1], width)
            value = args[2] if width == 64 else builder.trunc(args[2], ir.IntType(width))
            written = builder.store(_swap(builder, value, width), pointer)
            written.align = 1
            return context.get_dummy_value()

        return signature, codegen

    return store


#: load_iN(buffer: uint8[:], position: int64) -> int64, sign-extended
load_i2, load_i4, load_i8 = _load(16), _load(32), _load(64)
#: store_iN(buffer: uint8[:], position: int64, value: int64)
store_i2, store_i4, store_i8 = _store(16), _store(32), _store(64)
