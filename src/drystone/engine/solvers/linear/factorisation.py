"""The linear systems of the native solver: I + rows^T weight rows, by multifrontal block Cholesky, or LU if the weights are
not symmetric.

A `Problem` comes in, a `System` goes out: assemble it with a weight a contact, factorise it (fronts.py, after the `Plan` of
elimination_plan.py), solve with it. Branches of the plan and tiles of the fronts above them are shared with helper threads, if
there are any (base/kernel/helper_threads.py): same bits with and without.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from drystone.base.kernel import inlined, inner, kernel, unlocked
from drystone.base.kernel.helper_threads import (
    HELPER_COUNT,
    JOB,
    JOB_FAILED,
    JOB_WEIGHT,
    begin_job,
    finish_tile,
    make_control,
    next_tile,
    run_with_helpers,
    wait_for_tile,
)
from drystone.engine.solvers.linear.elimination_plan import Plan, plan_factorisation
from drystone.engine.solvers.linear.fronts import do_tile, job, jobs
from drystone.engine.solvers.linear.lapack import NONE, Blas, address, make_blas, pointer
from drystone.engine.solvers.linear.substitution import backward, forward
from drystone.engine.solvers.problem import Problem

Array = np.ndarray

ASSEMBLE, BRANCH, FORWARD, BACKWARD = (np.int64(i) for i in range(10, 14))  # jobs besides those of a front
MAIN = np.int64(0)  # the thread that is helped
BODIES = 64  # assembled at a time


class System(NamedTuple):
    """A matrix with dof x dof blocks on a contact graph, and room for its factor. Symmetric and positive definite unless
    there is room for the upper part; one type for both, so that the kernels compile once."""

    plan: Plan
    key: Array  # (E,) int64 the graph: a * N + b of each edge, ascending
    edge: Array  # (C,) int64 edge of each contact, -1 when one side is a support
    start: Array  # (N+1,) the contacts of body i are side[start[i]:start[i+1]] // 2, ascending
    side: Array  # (2C,) 2 c if the body is the contact's a, 2 c + 1 if it is b
    block: Array  # (N + E, D, D) blocks of the matrix: column, row. The lower ones of the bodies, then of the edges
    above: Array  # (E, D, D) transposed upper blocks of the edges; (0, D, D) if symmetric
    factor: Array  # (F,) panels
    upper: Array  # (F,) transposed panels of the upper part; (0,) if symmetric
    pivot: Array  # (N D,) int32 row exchanges within the fronts; (0,) if symmetric
    work: Array  # (W,) update matrices
    x: Array  # (N D,) right-hand side and solution, by position
    carry: Array  # (R D,) what the rows of each supernode pass on in a solve
    blas: Blas
    control: Array


def make_system(problem: Problem, last: System | None = None, symmetric: bool = True, threads: int = 1) -> System:
    """The system of a problem's contact graph. `last` is used again, with its threads, if it has the same graph: same plan,
    same bits. `threads`: of `helped`."""
    bodies, dof = problem.free.shape
    key, edge, start, side = _graph(problem.a, problem.b, bodies)
    same = last is not None and last.plan.dof == dof and len(last.plan.order) == bodies and np.array_equal(key, last.key)
    if last is not None and same and (len(last.upper) == 0) == symmetric:
        return last._replace(edge=edge, start=start, side=side)
    graph = key // max(bodies, 1), key % max(bodies, 1)
    plan = last.plan if last is not None and same else plan_factorisation(problem.place, *graph, dof)
    room, full = plan.panel[-1], 0 if symmetric else 1
    return System(
        plan, key, edge, start, side, np.empty((bodies + len(key), dof, dof)), np.empty((full * len(key), dof, dof)),
        np.empty(room), np.empty(full * room), np.empty(full * bodies * dof, np.int32), np.empty(max(plan.work, 1)),
        np.empty(bodies * dof), np.empty(max(len(plan.rows) * dof, 1)), make_blas(threads), make_control(),
    )  # fmt: skip


def helped(kernel: Callable, problem: Problem, system: System, *rest: Any) -> Any:
    """kernel(problem, system, *rest) with the system's threads at work, if it is large enough to be shared."""
    helpers = len(system.blas.size) - 1 if len(system.plan.branch) > 1 else 0
    return run_with_helpers(kernel, assist, helpers, system.control, problem, system, *rest)


@kernel
def _graph(a, b, bodies):
    """Edges, edge of each contact and contacts of each body, as in `System`; contacts are sorted by pair."""
    count, edges = a.shape[0], 0
    key, edge, start = np.empty(count, np.int64), np.full(count, -1), np.zeros(bodies + 1, np.int64)
    for c in range(count):
        start[a[c] + 1] += a[c] >= 0
        start[b[c] + 1] += b[c] >= 0
        if a[c] >= 0 and b[c] >= 0:
            pair = a[c] * bodies + b[c]
            if edges == 0 or pair != key[edges - 1]:
                key[edges] = pair
                edges += 1
            edge[c] = edges - 1
    for i in range(bodies):
        start[i + 1] += start[i]
    fill, side = start[:bodies].copy(), np.empty(start[bodies], np.int64)
    for c in range(count):
        for k in range(2):
            i = a[c] if k == 0 else b[c]
            if i >= 0:
                side[fill[i]] = 2 * c + k
                fill[i] += 1
    return key[:edges].copy(), edge, start, side


@inner
def assemble_matrix(problem, system, weight):
    """Fill the blocks with I + rows^T weight rows; weight (C, 3, 3), its symmetry that of the system."""
    control, helpers = system.control, system.control[HELPER_COUNT]
    control[JOB_WEIGHT] = address(weight, 0)
    tiles = (problem.free.shape[0] + BODIES - 1) // BODIES
    tile = begin_job(control, ASSEMBLE, NONE, NONE, tiles, helpers)
    while tile >= 0:
        _assemble(problem, system, weight, tile)
        tile = next_tile(control, tile, tiles, helpers)


@inner
def _assemble(problem, system, weight, tile):
    """The blocks of some bodies, and of the edges to bodies that are eliminated later."""
    bodies, dof = problem.free.shape
    for i in range(tile * BODIES, min(bodies, (tile + 1) * BODIES)):
        system.block[i] = 0.0
        for k in range(dof):
            system.block[i, k, k] = 1.0
        last = -1
        for q in range(system.start[i], system.start[i + 1]):
            c, second = system.side[q] // 2, system.side[q] % 2 == 1
            e = system.edge[c]
            early = e >= 0 and system.plan.flipped[e] == second
            if early and e != last:  # contacts are sorted by pair
                system.block[bodies + e] = 0.0
                if system.upper.shape[0] > 0:
                    system.above[e] = 0.0
                last = e
            if _is_zero(weight[c]):
                continue
            mine, other = (problem.row_b[c], problem.row_a[c]) if second else (problem.row_a[c], problem.row_b[c])
            if dof == 6:  # a number the compiler can unroll
                _add_contact(system, weight[c], mine, other, i, bodies, e, early, 6)
            else:
                _add_contact(system, weight[c], mine, other, i, bodies, e, early, dof)


@inner
def _is_zero(weight):
    for i in range(3):
        for k in range(3):
            if weight[i, k] != 0.0:
                return False
    return True


@inlined
def _add_contact(system, weight, mine, other, i, bodies, e, early, dof):
    """Add a contact to the block of body i and, if asked, to its edge's blocks."""
    symmetric = system.upper.shape[0] == 0
    block = system.block[i]
    for k in range(dof):
        a, b, c = mine[0, k], mine[1, k], mine[2, k]
        x = weight[0, 0] * a + weight[0, 1] * b + weight[0, 2] * c
        y = weight[1, 0] * a + weight[1, 1] * b + weight[1, 2] * c
        z = weight[2, 0] * a + weight[2, 1] * b + weight[2, 2] * c
        for r in range(dof):
            block[k, r] += mine[0, r] * x + mine[1, r] * y + mine[2, r] * z
        if early:
            beside = system.block[bodies + e]
            for r in range(dof):
                beside[k, r] += other[0, r] * x + other[1, r] * y + other[2, r] * z
            if not symmetric:
                above = system.above[e]
                x = weight[0, 0] * a + weight[1, 0] * b + weight[2, 0] * c
                y = weight[0, 1] * a + weight[1, 1] * b + weight[2, 1] * c
                z = weight[0, 2] * a + weight[1, 2] * b + weight[2, 2] * c
                for r in range(dof):
                    above[k, r] += other[0, r] * x + other[1, r] * y + other[2, r] * z


@inner
def factorise(system):
    """Factorise the assembled blocks; False if the matrix is singular or, when symmetric, not positive definite."""
    control, plan, helpers = system.control, system.plan, system.control[HELPER_COUNT]
    control[JOB_FAILED] = 0
    tiles = plan.branch.shape[0]
    tile = begin_job(control, BRANCH, NONE, NONE, tiles, helpers)
    while tile >= 0:
        _branch(system, MAIN, tile)
        tile = next_tile(control, tile, tiles, helpers)
    for k in range(plan.top.shape[0]):
        _front(system, MAIN, plan.top[k], helpers)
    return control[JOB_FAILED] == 0


@inner
def solve_factorised(system, right, out):
    """Solution (N, D) for a right-hand side (N, D)."""
    plan, x, dof = system.plan, system.x, system.plan.dof
    for k in range(plan.order.shape[0]):
        for i in range(dof):
            x[dof * k + i] = right[plan.order[k], i]
    _sweep_branches(system, FORWARD)
    for k in range(plan.top.shape[0]):
        forward(system, MAIN, plan.top[k])
    for k in range(plan.top.shape[0] - 1, -1, -1):
        backward(system, MAIN, plan.top[k])
    _sweep_branches(system, BACKWARD)
    for k in range(plan.order.shape[0]):
        for i in range(dof):
            out[plan.order[k], i] = x[dof * k + i]


@unlocked
def assist(problem, system, me):
    """What helper `me` does until it is told to stop: tiles of any job."""
    control = system.control
    tile = wait_for_tile(control, me)
    while tile >= 0:
        kind = control[JOB]
        if kind == ASSEMBLE:
            weight = numba.carray(pointer(control[JOB_WEIGHT]), (problem.a.shape[0], 3, 3))  # type: ignore[call-arg]
            _assemble(problem, system, weight, tile)
        elif kind == BRANCH:
            _branch(system, me, tile)
        elif kind > BRANCH:
            _sweep(system, me, kind, tile)
        else:
            do_tile(system, me, kind, control[JOB + 1], control[JOB + 2], tile)
        finish_tile(control, me)
        tile = wait_for_tile(control, me)


@inner
def _branch(system, me, b):
    """Factorise a branch, alone."""
    for s in range(system.plan.branch[b, 0], system.plan.branch[b, 1]):
        _front(system, me, s, NONE)


@inner
def _sweep_branches(system, kind):
    """All branches in a solve."""
    control, tiles, helpers = system.control, system.plan.branch.shape[0], system.control[HELPER_COUNT]
    tile = begin_job(control, kind, NONE, NONE, tiles, helpers)
    while tile >= 0:
        _sweep(system, MAIN, kind, tile)
        tile = next_tile(control, tile, tiles, helpers)


@inner
def _sweep(system, me, kind, b):
    """The part of a branch in a solve."""
    first, end = system.plan.branch[b, 0], system.plan.branch[b, 1]
    for k in range(end - first):
        if kind == FORWARD:
            forward(system, me, first + k)
        else:
            backward(system, me, end - 1 - k)


@inner
def _front(system, me, s, helpers):
    """All jobs of a front in turn, until one fails."""
    control = system.control
    for k in range(jobs(system, s)):
        if control[JOB_FAILED] != 0:
            return
        kind, block, tiles = job(system, s, k)
        tile = begin_job(control, kind, s, block, tiles, helpers)
        while tile >= 0:
            do_tile(system, me, kind, s, block, tile)
            tile = next_tile(control, tile, tiles, helpers)
