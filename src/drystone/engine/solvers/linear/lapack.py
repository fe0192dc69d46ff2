# mypy: disable-error-code=call-arg
"""BLAS and LAPACK for kernels: the routines that SciPy brings, called by their addresses.

Matrices are column-major and given by the address of their first number and the distance of their columns. Addresses of
routines are data, not code, so that the compiled callers can be cached on disk. All arguments go as addresses of numbers
in a `Blas` record, which the caller owns: Numba may release a local array of which only the address is used.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import get_cython_function_address, intrinsic

from drystone.base.kernel import inner
from drystone.base.kernel.address import address, call

Array = np.ndarray

# Numbers as NumPy's: Numba compiles a function again for every value of a plain constant it is called with.
LOWER, RIGHT, TRANSPOSED, PLAIN, UPPER, UNIT = (np.int64(i) for i in (0, 1, 2, 3, 4, 4))  # places of L R T N U
NONE, ONCE = np.int64(0), np.int64(1)


class Blas(NamedTuple):
    """What calls need; each thread has its row for whole numbers."""

    routine: Array  # (6,) int64 addresses of potrf, getrf, trsm, gemm, trsv, gemv
    letter: Array  # (5,) uint8 L R T N U
    number: Array  # (3,) 0 1 -1
    size: Array  # (threads, 16) int32, a cache line each


def _find(name: str) -> int:
    module, routine = name.split(".")
    return get_cython_function_address(f"scipy.linalg.cython_{module}", routine)


# Found when this file is loaded, so that who limits the threads of BLAS afterwards limits those of this one.
_NAMES = ("lapack.dpotrf", "lapack.dgetrf", "blas.dtrsm", "blas.dgemm", "blas.dtrsv", "blas.dgemv")
_ROUTINE = np.array([_find(name) for name in _NAMES])


def make_blas(threads: int) -> Blas:
    """For so many threads."""
    letter = np.frombuffer(b"LRTNU", np.uint8).copy()
    return Blas(_ROUTINE, letter, np.array([0.0, 1.0, -1.0]), np.zeros((threads, 16), np.int32))


@intrinsic
def pointer(typing_context, place):
    """An address as a pointer to numbers, of which `numba.carray` makes an array."""

    def generate(context, builder, signature, values):
        return builder.inttoptr(values[0], context.get_value_type(types.CPointer(types.float64)))

    return types.CPointer(types.float64)(types.int64), generate


@inner
def _sizes(blas, me, a, b, c, d, e, f):
    """Write whole numbers where thread `me` keeps them; their addresses, and one for what comes back."""
    size = blas.size[me]
    size[0], size[1], size[2], size[3], size[4], size[5], size[6] = a, b, c, d, e, f, 0
    at = address(size, 0)
    return at, at + 4, at + 8, at + 12, at + 16, at + 20, at + 24


@inner
def potrf(blas, me, n, a, lda):
    """Lower Cholesky factor of A (n, n) in place; 0 if A is positive definite."""
    n_, lda_, _, _, _, _, info_ = _sizes(blas, me, n, lda, NONE, NONE, NONE, NONE)
    call(blas.routine[0], (address(blas.letter, LOWER), n_, a, lda_, info_))
    return blas.size[me, 6]


@inner
def getrf(blas, me, n, a, lda, pivot):
    """LU of A (n, n) in place with row exchanges (int32, from 1) at `pivot`; 0 if A is regular."""
    n_, lda_, _, _, _, _, info_ = _sizes(blas, me, n, lda, NONE, NONE, NONE, NONE)
    call(blas.routine[1], (n_, n_, a, lda_, pivot, info_))
    return blas.size[me, 6]


@inner
def trsm(blas, me, half, turned, diagonal, m, n, a, lda, b, ldb):
    """B (m, n) = B op(A)^-1 with a triangle A (n, n): LOWER or UPPER, PLAIN or TRANSPOSED, diagonal PLAIN or UNIT."""
    m_, n_, lda_, ldb_, _, _, _ = _sizes(blas, me, m, n, lda, ldb, NONE, NONE)
    at, one = address(blas.letter, 0), address(blas.number, 1)
    call(blas.routine[2], (at + RIGHT, at + half, at + turned, at + diagonal, m_, n_, one, a, lda_, b, ldb_))


@inner
def gemm(blas, me, m, n, k, a, lda, b, ldb, turned, keep, c, ldc):
    """C (m, n) = keep C - A op(B), A (m, k), B PLAIN or TRANSPOSED, keep 0 or 1."""
    m_, n_, k_, lda_, ldb_, ldc_, _ = _sizes(blas, me, m, n, k, lda, ldb, ldc)
    at, number = address(blas.letter, 0), address(blas.number, 0)
    factors = (number + 16, a, lda_, b, ldb_, number + 8 * keep, c, ldc_)
    call(blas.routine[3], (at + PLAIN, at + turned, m_, n_, k_, *factors))


@inner
def trsv(blas, me, half, turned, diagonal, n, a, lda, x):
    """x = op(A)^-1 x with a triangle A (n, n), as in `trsm`."""
    n_, lda_, one, _, _, _, _ = _sizes(blas, me, n, lda, ONCE, NONE, NONE, NONE)
    at = address(blas.letter, 0)
    call(blas.routine[4], (at + half, at + turned, at + diagonal, n_, a, lda_, x, one))


@inner
def gemv(blas, me, turned, m, n, a, lda, x, keep, y):
    """y = keep y - op(A) x, A (m, n) PLAIN or TRANSPOSED, keep 0 or 1."""
    m_, n_, lda_, one, _, _, _ = _sizes(blas, me, m, n, lda, ONCE, NONE, NONE)
    at, number = address(blas.letter, 0), address(blas.number, 0)
    call(blas.routine[5], (at + turned, m_, n_, number + 16, a, lda_, x, one, number + 8 * keep, y, one))
