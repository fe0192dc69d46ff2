"""BLAS and LAPACK for kernels: the routines that SciPy brings, called by their addresses.

Addresses are data, not code, so that the compiled callers can be cached on disk. All arguments are addresses of numbers
that belong to the caller's caller: Numba may release a local array of which only the address is used.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address, intrinsic

ROUTINE = np.array(
    [
        get_cython_function_address("scipy.linalg.cython_lapack", "dpotrf"),
        get_cython_function_address("scipy.linalg.cython_blas", "dtrsm"),
        get_cython_function_address("scipy.linalg.cython_blas", "dsyrk"),
        get_cython_function_address("scipy.linalg.cython_lapack", "dgetrf"),
        get_cython_function_address("scipy.linalg.cython_blas", "dgemm"),
    ],
    dtype=np.int64,
)
LETTER = np.array([ord("L"), ord("R"), ord("T"), ord("N"), ord("U")], dtype=np.uint8)  # U: upper and unit
NUMBER = np.array([1.0, -1.0])


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
