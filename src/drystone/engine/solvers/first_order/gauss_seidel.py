"""The projected fixed point of Anitescu and Tasora, one contact after another (T22; BRT section 2.4, their reference 5).

    impulse_c <- relax P_K(impulse_c - omega step_c s_c) + (1 - relax) impulse_c,    step_c = 3 / trace(W_cc)

omega = relax = 1, as in Chrono. With less dilatancy than the associated law s has the shift of (T19), by the sliding speed at
that moment: the fixed points are those of the law, as in De Saxce and Feng; nothing assures that they are reached. One step
length a contact leaves the cone its shape. Where one eigenvalue of W_cc is more than two thirds of the trace the published
length lets the objective rise: it is held to 1.9 / |W_cc|, with which no sweep does.
"""

import numpy as np

from drystone.base.kernel import inner
from drystone.engine.solvers.cone import project
from drystone.engine.solvers.first_order.impulse_problem import diagonal_blocks, push, slip_at
from drystone.engine.solvers.first_order.iteration import Advance, iterative
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.solution import ContactSolver

Array = np.ndarray


def gauss_seidel(
    tolerance: float = 1e-6, sweeps: int = 20_000, time_limit: float | None = None, omega: float = 1.0, relax: float = 1.0
) -> ContactSolver:
    """`omega` and `relax` in (0, 1]."""

    def begin(problem: Problem, x: Array, impulse: Array) -> Advance:
        step = omega * _steps(diagonal_blocks(problem))
        return lambda count: _sweep(problem, step, relax, x, impulse, count)

    return iterative("gauss-seidel", begin, tolerance, sweeps, time_limit)


def _steps(blocks: Array) -> Array:
    return np.minimum(3 / np.trace(blocks, axis1=1, axis2=2), 1.9 / np.linalg.norm(blocks, axis=(1, 2)))


@inner
def _sweep(problem, step, relax, x, impulse, count):
    """`count` sweeps over all contacts; x = free + rows^T impulse throughout."""
    stay = 1 - relax
    for _ in range(count):
        for c in range(step.shape[0]):
            s0, s1, s2 = slip_at(problem, c, x, impulse)
            s0 += (problem.friction[c] - problem.dilatancy[c]) * np.sqrt(s1 * s1 + s2 * s2)
            p0, p1, p2 = impulse[c, 0], impulse[c, 1], impulse[c, 2]
            q0, q1, q2 = project(p0 - step[c] * s0, p1 - step[c] * s1, p2 - step[c] * s2, problem.friction[c])
            push(problem, c, stay * p0 + relax * q0, stay * p1 + relax * q1, stay * p2 + relax * q2, x, impulse)
