"""The linear systems of the native solver: I + rows^T weight rows, by multifrontal block Cholesky.

A `Problem` comes in, a `System` goes out: assemble it with a weight a contact, factorise it (dense fronts through
LAPACK, after the `Plan` of ordering.py), solve with it.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address, intrinsic

from drystone.kernel import kernel
from drystone.problem import Problem
from drystone.solvers.ordering import Plan, plan_factorisation

Array = np.ndarray

# Addresses are data, not code, so that the compiled callers can be cached on disk.
_ROUTINE = np.array(
    [
        get_cython_function_address("scipy.linalg.cython_lapack", "dpotrf"),
        get_cython_function_address("scipy.linalg.cython_blas", "dtrsm"),
        get_cython_function_address("scipy.linalg.cython_blas", "dsyrk"),
    ],
    dtype=np.int64,
)
# Arguments of BLAS belong to the caller: Numba may release a local array of which only the address is used.
_LETTER = np.array([ord("L"), ord("R"), ord("T"), ord("N")], dtype=np.uint8)
_NUMBER = np.array([1.0, -1.0])


@intrinsic
def _call(typing_context, address, arguments):
    """Call `void f(void *, ...)` at an address with a tuple of addresses."""
    signature = types.void(address, arguments)

    def generate(context, builder, signature, values):
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer] * len(arguments))
        function = builder.inttoptr(values[0], kind.as_pointer())
        builder.call(function, [builder.inttoptr(builder.extract_value(values[1], i), pointer) for i in range(len(arguments))])
        return context.get_dummy_value()

    return signature, generate


class System(NamedTuple):
    """A symmetric positive definite matrix with dof x dof blocks on a contact graph, and room for its factor."""

    plan: Plan
    key: Array  # (E,) int64 the graph: a * N + b of each edge, ascending
    edge: Array  # (C,) int64 edge of each contact, -1 when one side is a support
    factor: Array  # (F,) the assembled matrix, then its factor
    work: Array  # (W,) stack of update matrices
    routine: Array  # addresses of dpotrf, dtrsm, dsyrk
    letter: Array
    number: Array
    size: Array


def make_system(problem: Problem, last: System | None = None) -> System:
    """The system of a problem's contact graph. `last` is used again if it has the same graph: same plan, same bits."""
    bodies, dof = problem.free.shape
    both = (problem.a >= 0) & (problem.b >= 0)
    pair = problem.a[both] * bodies + problem.b[both]
    key = np.unique(pair)
    edge = np.full(len(problem.a), -1)
    edge[both] = np.searchsorted(key, pair)
    if last is not None and last.plan.dof == dof and len(last.plan.order) == bodies and np.array_equal(key, last.key):
        return last._replace(edge=edge)
    plan = plan_factorisation(problem.place, key // max(bodies, 1), key % max(bodies, 1), dof)
    factor, work = np.empty(plan.panel[-1]), np.empty(max(plan.work, 1))
    return System(plan, key, edge, factor, work, _ROUTINE, _LETTER, _NUMBER, np.zeros(4, np.int32))


@kernel
def assemble(problem, system, weight):
    """Fill the factor's room with I + rows^T weight rows; weight (C, 3, 3) is symmetric."""
    plan, factor, dof = system.plan, system.factor, system.plan.dof
    factor[:] = 0.0
    n = plan.diagonal.shape[0]
    for i in range(n):
        for k in range(dof):
            factor[plan.diagonal[i] + k * plan.height[i] + k] = 1.0
    g = np.empty((3, dof))
    for c in range(problem.a.shape[0]):
        if weight[c, 0, 0] == 0.0 and weight[c, 1, 1] == 0.0:
            continue
        i, j = problem.a[c], problem.b[c]
        if i >= 0:
            _weigh(weight[c], problem.row_a[c], g)
            _add_block(problem.row_a[c], g, factor, plan.diagonal[i], plan.height[i], True)
            if j >= 0:
                e = system.edge[c]
                if not plan.edge_flipped[e]:
                    _add_block(problem.row_b[c], g, factor, plan.edge[e], plan.height[n + e], False)
        if j >= 0:
            _weigh(weight[c], problem.row_b[c], g)
            _add_block(problem.row_b[c], g, factor, plan.diagonal[j], plan.height[j], True)
            if i >= 0:
                e = system.edge[c]
                if plan.edge_flipped[e]:
                    _add_block(problem.row_a[c], g, factor, plan.edge[e], plan.height[n + e], False)


@kernel
def _weigh(weight, row, out):
    """out = weight row, (3, dof)."""
    for k in range(row.shape[1]):
        x, y, z = row[0, k], row[1, k], row[2, k]
        for i in range(3):
            out[i, k] = weight[i, 0] * x + weight[i, 1] * y + weight[i, 2] * z


@kernel
def _add_block(row, g, factor, offset, height, lower):
    """Add row^T g (only its lower half if asked) to the block at an offset, column-major."""
    dof = row.shape[1]
    for k in range(dof):
        x, y, z = g[0, k], g[1, k], g[2, k]
        column = offset + k * height
        for i in range(k if lower else 0, dof):
            factor[column + i] += row[0, i] * x + row[1, i] * y + row[2, i] * z


@kernel
def factorise(system):
    """Overwrite the assembled lower blocks by the Cholesky factor; False if not positive definite."""
    return _factorise(system.plan, system.factor, system.work, system.routine, system.letter, system.number, system.size)


@kernel
def solve(system, right, out):
    """Solution (N, 6) for a right-hand side (N, 6)."""
    _solve(system.plan, system.factor, right, out)


@kernel
def _add_children(plan, s, factor, work, own, below):
    """Add the update matrices of the children to the panel and the update matrix of supernode s."""
    height, dof = own + below, plan.dof
    panel, update = plan.panel[s], plan.update[s]
    c = plan.child[s]
    while c >= 0:
        r0, count = plan.row_start[c], plan.row_start[c + 1] - plan.row_start[c]
        source, stride = plan.update[c], dof * count
        for j in range(count):
            column = dof * plan.slot[r0 + j]
            inside = column < own
            for jj in range(dof):
                take = source + (dof * j + jj) * stride
                if inside:
                    put = panel + (column + jj) * height
                else:
                    put = update + (column - own + jj) * below - own
                for i in range(j, count):
                    row = put + dof * plan.slot[r0 + i]
                    if inside:
                        for ii in range(dof):
                            factor[row + ii] += work[take + dof * i + ii]
                    else:
                        for ii in range(dof):
                            work[row + ii] += work[take + dof * i + ii]
        c = plan.sibling[c]


@kernel
def _factorise(plan, factor, work, routine, letter, number, size):
    lower, right = letter[0:].ctypes.data, letter[1:].ctypes.data
    transposed, plain = letter[2:].ctypes.data, letter[3:].ctypes.data
    one, minus = number[0:].ctypes.data, number[1:].ctypes.data
    own_, height_, below_, info_ = size[0:].ctypes.data, size[1:].ctypes.data, size[2:].ctypes.data, size[3:].ctypes.data
    for s in range(plan.child.shape[0]):
        own, below, _ = _extent(plan, s)
        update = plan.update[s]
        work[update:update + below * below] = 0.0
        _add_children(plan, s, factor, work, own, below)
        size[0], size[1], size[2], size[3] = own, own + below, below, 0
        top = factor[plan.panel[s]:].ctypes.data
        _call(routine[0], (lower, own_, top, height_, info_))  # type: ignore[call-arg]
        if size[3] != 0:
            return False
        if below > 0:
            rest = factor[plan.panel[s] + own:].ctypes.data
            _call(routine[1], (right, lower, transposed, plain, below_, own_, one, top, height_, rest, height_))
            _call(routine[2], (lower, plain, below_, own_, minus, rest, height_, one, work[update:].ctypes.data, below_))
    return True


@kernel
def _solve(plan, factor, right, out):
    n, dof = right.shape
    x = np.empty(n * dof)
    for k in range(n):
        for i in range(dof):
            x[dof * k + i] = right[plan.order[k], i]
    gather = np.empty(n * dof)
    for s in range(plan.child.shape[0]):
        own, below, x0 = _extent(plan, s)
        height, r0 = own + below, plan.row_start[s]
        gather[:below] = 0.0
        for j in range(own):
            column = plan.panel[s] + j * height
            value = x[x0 + j] / factor[column + j]
            x[x0 + j] = value
            for i in range(j + 1, own):
                x[x0 + i] -= value * factor[column + i]
            for i in range(below):
                gather[i] += value * factor[column + own + i]
        for i in range(below):
            x[dof * plan.rows[r0 + i // dof] + i % dof] -= gather[i]
    for s in range(plan.child.shape[0] - 1, -1, -1):
        own, below, x0 = _extent(plan, s)
        height, r0 = own + below, plan.row_start[s]
        for i in range(below):
            gather[i] = x[dof * plan.rows[r0 + i // dof] + i % dof]
        for j in range(own - 1, -1, -1):
            column = plan.panel[s] + j * height
            value = x[x0 + j]
            for i in range(j + 1, own):
                value -= factor[column + i] * x[x0 + i]
            for i in range(below):
                value -= factor[column + own + i] * gather[i]
            x[x0 + j] = value / factor[column + j]
    for k in range(n):
        for i in range(dof):
            out[plan.order[k], i] = x[dof * k + i]


@kernel
def _extent(plan, s):
    """Number of own unknowns and of unknowns below, and the first own unknown, of a supernode."""
    dof = plan.dof
    own = dof * (plan.first[s + 1] - plan.first[s])
    below = dof * (plan.row_start[s + 1] - plan.row_start[s])
    return own, below, dof * plan.first[s]
