"""Spectral projected gradient with diagonal preconditioning and fall-back, P-SPG-FB (T23; BRT section 2.4, their reference 24).

The static program (T11) is minimised along d = P_K(impulse - alpha s / weight) - impulse with the step lengths of Barzilai and
Borwein, the two in turn, and the non-monotone line search of Grippo, Lampariello and Lucidi. The weight is one number a
contact, trace(W_cc) / 3, so that P_K is the projection in the metric of the weights too and d always a descent; with one a
component it would be that of another cone. The answer is the iterate of the least projected gradient so far.
"""

import numpy as np

from drystone.base.kernel import inner, kernel
from drystone.engine.solvers.cone import project
from drystone.engine.solvers.first_order.impulse_problem import diagonal_blocks, product_into, slip_into
from drystone.engine.solvers.first_order.iteration import Advance, iterative
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.solution import ContactSolver

Array = np.ndarray

MEMORY = 10  # values of the objective that the line search looks back on
SLOPE = 1e-4  # share of the slope that a step must keep
SHORTEST, LONGEST = 1e-13, 1e13  # step lengths allowed


def spectral(tolerance: float = 1e-6, sweeps: int = 20_000, time_limit: float | None = None) -> ContactSolver:
    """Associated law only. A sweep is one product with W."""

    def begin(problem: Problem, x: Array, impulse: Array) -> Advance:
        weight = np.trace(diagonal_blocks(problem), axis1=1, axis2=2) / 3
        current, values = impulse.copy(), np.full(MEMORY, -np.inf)
        memo = np.array([1.0, np.inf, 0.0, 0.0])  # step length, least projected gradient, iterations, objective
        return lambda count: _descend(problem, weight, current, values, memo, impulse, count)

    return iterative("p-spg-fb", begin, tolerance, sweeps, time_limit)


@inner
def _project_gradient(z, slip, weight, alpha, friction, out):
    """out = P_K(z - alpha slip / weight) - z; returns its norm in the metric of the weights."""
    total = 0.0
    for c in range(z.shape[0]):
        k = alpha / weight[c]
        q0, q1, q2 = project(z[c, 0] - k * slip[c, 0], z[c, 1] - k * slip[c, 1], z[c, 2] - k * slip[c, 2], friction[c])
        out[c, 0], out[c, 1], out[c, 2] = q0 - z[c, 0], q1 - z[c, 1], q2 - z[c, 2]
        total += weight[c] * (out[c, 0] ** 2 + out[c, 1] ** 2 + out[c, 2] ** 2)
    return np.sqrt(total)


@inner
def _dots(slip, d, product, weight):
    """slip . d, d . product, d . weight d, product . product / weight."""
    slope, curve, stretched, shrunk = 0.0, 0.0, 0.0, 0.0
    for c in range(d.shape[0]):
        for k in range(3):
            slope += slip[c, k] * d[c, k]
            curve += d[c, k] * product[c, k]
            stretched += weight[c] * d[c, k] * d[c, k]
            shrunk += product[c, k] * product[c, k] / weight[c]
    return slope, curve, stretched, shrunk


@inner
def _line_search(slope, curve, value, highest):
    """Step t <= 1 and the value there, which is at most `highest` and a share of the slope: the objective is quadratic."""
    t = 1.0
    while True:
        there = value + t * slope + 0.5 * t * t * curve
        if there <= highest + SLOPE * t * slope or t < 1e-10:
            return t, there
        t = min(max(-slope / curve, 0.1 * t), 0.9 * t)


@kernel
def _descend(problem, weight, z, values, memo, best, count):
    """`count` iterations from z (overwritten); the best iterate goes to `best`. The objective counts from the start:
    differences are all the line search needs."""
    slip, d, product, x = np.empty_like(z), np.empty_like(z), np.empty_like(z), np.empty_like(problem.free)
    slip_into(problem, z, x, slip)
    value = memo[3]
    for _ in range(count):
        turn = int(memo[2])
        values[turn % MEMORY] = value
        _project_gradient(z, slip, weight, memo[0], problem.friction, d)
        product_into(problem, d, x, product)
        slope, curve, stretched, shrunk = _dots(slip, d, product, weight)
        t, value = _line_search(slope, curve, value, np.max(values))
        for c in range(z.shape[0]):
            for k in range(3):
                z[c, k] += t * d[c, k]
                slip[c, k] += t * product[c, k]
        alpha = 1.0
        if curve > 0.0:
            alpha = stretched / curve if turn % 2 == 0 else curve / shrunk
        memo[0], memo[2], memo[3] = min(max(alpha, SHORTEST), LONGEST), turn + 1, value
        defect = _project_gradient(z, slip, weight, 1.0, problem.friction, d)
        if defect < memo[1]:
            memo[1] = defect
            best[:] = z
