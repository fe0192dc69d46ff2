"""The linear systems of the native solver: I + rows^T weight rows, by multifrontal block Cholesky, or LU (lu.py) if the
weights are not symmetric.

A `Problem` comes in, a `System` goes out: assemble it with a weight a contact, factorise it (dense fronts through
LAPACK, after the `Plan` of ordering.py), solve with it.
"""

from typing import NamedTuple

import numpy as np

from drystone.kernel import kernel
from drystone.problem import Problem
from drystone.solvers.lapack import LETTER, NUMBER, ROUTINE, call
from drystone.solvers.lu import factorise_lu, solve_lu
from drystone.solvers.ordering import Plan, extent, plan_factorisation

Array = np.ndarray


class System(NamedTuple):
    """A matrix with dof x dof blocks on a contact graph, and room for its factor. Symmetric and positive definite unless
    there is room for the upper part; one type for both, so that the kernels compile once."""

    plan: Plan
    key: Array  # (E,) int64 the graph: a * N + b of each edge, ascending
    edge: Array  # (C,) int64 edge of each contact, -1 when one side is a support
    factor: Array  # (F,) the assembled matrix, then its factor
    upper: Array  # (F,) the transposed upper part; (0,) if symmetric
    pivot: Array  # (N D,) int32 row exchanges within the fronts; (0,) if symmetric
    work: Array  # (W,) stack of update matrices
    routine: Array  # addresses of LAPACK and BLAS
    letter: Array
    number: Array
    size: Array


def make_system(problem: Problem, last: System | None = None, symmetric: bool = True) -> System:
    """The system of a problem's contact graph. `last` is used again if it has the same graph: same plan, same bits."""
    bodies, dof = problem.free.shape
    both = (problem.a >= 0) & (problem.b >= 0)
    pair = problem.a[both] * bodies + problem.b[both]
    key = np.unique(pair)
    edge = np.full(len(problem.a), -1)
    edge[both] = np.searchsorted(key, pair)
    same = last is not None and last.plan.dof == dof and len(last.plan.order) == bodies and np.array_equal(key, last.key)
    if last is not None and same and (len(last.upper) == 0) == symmetric:
        return last._replace(edge=edge)
    graph = key // max(bodies, 1), key % max(bodies, 1)
    plan = last.plan if last is not None and same else plan_factorisation(problem.place, *graph, dof)
    room = plan.panel[-1]
    upper, pivot = (np.empty(0), np.empty(0, np.int32)) if symmetric else (np.empty(room), np.empty(bodies * dof, np.int32))
    work, size = np.empty(max(plan.work, 1)), np.zeros(4, np.int32)
    return System(plan, key, edge, np.empty(room), upper, pivot, work, ROUTINE, LETTER, NUMBER, size)


@kernel
def assemble(problem, system, weight):
    """Fill the factor's room with I + rows^T weight rows; weight (C, 3, 3), its symmetry that of the system."""
    plan, factor, upper, dof = system.plan, system.factor, system.upper, system.plan.dof
    symmetric = upper.shape[0] == 0
    factor[:] = 0.0
    upper[:] = 0.0
    n = plan.diagonal.shape[0]
    for i in range(n):
        for k in range(dof):
            factor[plan.diagonal[i] + k * plan.height[i] + k] = 1.0
    g = np.empty((3, dof))
    for c in range(problem.a.shape[0]):
        if _is_zero(weight[c]):
            continue
        for side in range(2):
            i, j = (problem.a[c], problem.b[c]) if side == 0 else (problem.b[c], problem.a[c])
            if i < 0:
                continue
            mine, other = (problem.row_a[c], problem.row_b[c]) if side == 0 else (problem.row_b[c], problem.row_a[c])
            _weigh(weight[c], mine, g)
            _add_block(mine, g, factor, plan.diagonal[i], plan.height[i], symmetric)
            e = system.edge[c]
            if j >= 0 and plan.edge_flipped[e] == (side == 1):  # i is eliminated first: its column, the other's rows
                _add_block(other, g, factor, plan.edge[e], plan.height[n + e], False)
                if not symmetric:
                    _weigh(weight[c].T, mine, g)
                    _add_block(other, g, upper, plan.edge[e], plan.height[n + e], False)


@kernel
def _is_zero(weight):
    for i in range(3):
        for k in range(3):
            if weight[i, k] != 0.0:
                return False
    return True


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
    """Overwrite the assembled matrix by its factor; False if it is singular or, when symmetric, not positive definite."""
    plan, factor, upper, work = system.plan, system.factor, system.upper, system.work
    routine, letter, number, size = system.routine, system.letter, system.number, system.size
    if upper.shape[0] == 0:
        return _factorise(plan, factor, work, routine, letter, number, size)
    return factorise_lu(plan, factor, upper, system.pivot, work, routine, letter, number, size)


@kernel
def solve(system, right, out):
    """Solution (N, D) for a right-hand side (N, D)."""
    if system.upper.shape[0] == 0:
        _solve(system.plan, system.factor, right, out)
    else:
        solve_lu(system.plan, system.factor, system.upper, system.pivot, right, out)


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
        own, below, _ = extent(plan, s)
        update = plan.update[s]
        work[update:update + below * below] = 0.0
        _add_children(plan, s, factor, work, own, below)
        size[0], size[1], size[2], size[3] = own, own + below, below, 0
        top = factor[plan.panel[s]:].ctypes.data
        call(routine[0], (lower, own_, top, height_, info_))  # type: ignore[call-arg]
        if size[3] != 0:
            return False
        if below > 0:
            rest = factor[plan.panel[s] + own:].ctypes.data
            call(routine[1], (right, lower, transposed, plain, below_, own_, one, top, height_, rest, height_))
            call(routine[2], (lower, plain, below_, own_, minus, rest, height_, one, work[update:].ctypes.data, below_))
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
        own, below, x0 = extent(plan, s)
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
        own, below, x0 = extent(plan, s)
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
