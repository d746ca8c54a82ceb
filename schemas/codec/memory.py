"""Loads and stores for the kernels, as single machine instructions without numba's index checks.

The caller has checked that the bytes are inside the buffer. Addresses are in bytes for byte arrays, in elements
for ``word`` and ``set_word``. Native means little-endian: Arrow's memory and Flink's binary rows.
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
    function = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
        builder.module, ir.FunctionType(kind, [kind]), f"llvm.bswap.i{width}"
    )
    return builder.call(function, [value])


def _load(width: int, swap: bool, signed: bool = True) -> Any:
    @intrinsic
    def load(typingctx: Any, buffer: Any, position: Any) -> Any:
        signature = types.int64(buffer, types.int64)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _pointer(context, builder, sig.args[0], args[0], args[1], width)
            value = builder.load(pointer)
            value.align = 1
            if swap:
                value = _swap(builder, value, width)
            if width == 64:
                return value
            extend = builder.sext if signed else builder.zext
            return extend(value, ir.IntType(64))

        return signature, codegen

    return load


def _store(width: int, swap: bool) -> Any:
    @intrinsic
    def store(typingctx: Any, buffer: Any, position: Any, value: Any) -> Any:
        signature = types.void(buffer, types.int64, types.int64)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _pointer(context, builder, sig.args[0], args[0], args[1], width)
            value = args[2] if width == 64 else builder.trunc(args[2], ir.IntType(width))
            written = builder.store(_swap(builder, value, width) if swap else value, pointer)
            written.align = 1
            return context.get_dummy_value()

        return signature, codegen

    return store


@intrinsic
def word(typingctx: Any, array: Any, index: Any) -> Any:
    """word(array: int64[:], index: int64) -> int64"""
    signature = types.int64(array, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.load(builder.gep(data, [args[1]]))

    return signature, codegen


@intrinsic
def set_word(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """set_word(array: int64[:], index: int64, value: int64)"""
    signature = types.void(array, types.int64, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        builder.store(args[2], builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return signature, codegen


#: load_iN(buffer: uint8[:], position: int64) -> int64: big-endian, sign-extended
load_i2, load_i4, load_i8 = _load(16, True), _load(32, True), _load(64, True)
#: store_iN(buffer: uint8[:], position: int64, value: int64): big-endian
store_i2, store_i4, store_i8 = _store(16, True), _store(32, True), _store(64, True)
#: get_N(buffer: uint8[:], position: int64) -> int64: native, zero-extended
get_1, get_2, get_4 = _load(8, False, False), _load(16, False, False), _load(32, False, False)
get_8 = _load(64, False)
#: put_N(buffer: uint8[:], position: int64, value: int64): native
put_1, put_2, put_4, put_8 = _store(8, False), _store(16, False), _store(32, False), _store(64, False)
