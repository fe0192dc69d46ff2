# mypy: disable-error-code=call-arg
"""Addresses in kernels: that of a number in an array, and calls of functions by their address."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from drystone.base.kernel import inner


@intrinsic
def call(typing_context, address, arguments):
    """Call `void f(void *, ...)` at an address with a tuple of addresses."""
    signature = types.void(address, arguments)

    def generate(context, builder, signature, values):
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer] * len(arguments))
        function = builder.inttoptr(values[0], kind.as_pointer())
        builder.call(function, [builder.inttoptr(builder.extract_value(values[1], i), pointer) for i in range(len(arguments))])
        return context.get_dummy_value()

    return signature, generate


@inner
def address(array, index):
    """The address of a number in a contiguous array."""
    return np.int64(array.ctypes.data) + index * array.itemsize
