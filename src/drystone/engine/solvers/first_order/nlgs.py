"""Non-linear block Gauss-Seidel of Jean and Moreau: each contact in turn is solved for itself, the others held (T24; AJ section
3.3). Coulomb's exact law and any dilatancy; the contact's own problem is in `local`.

A contact's own matrix may be singular (a problem in the plane has a tangent without rows), so the change of its impulse is
charged with a proximal term, PROXIMAL times the mean of the diagonal: it alters no solution of the whole.
"""

import numpy as np

from drystone.base.kernel import inner
from drystone.engine.solvers.first_order.impulse_problem import diagonal_blocks, push, slip_at
from drystone.engine.solvers.first_order.iteration import Advance, iterative
from drystone.engine.solvers.first_order.single_contact import local_impulse
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.solution import ContactSolver

Array = np.ndarray

PROXIMAL = 1e-9


def nlgs(tolerance: float = 1e-6, sweeps: int = 20_000, time_limit: float | None = None) -> ContactSolver:
    def begin(problem: Problem, x: Array, impulse: Array) -> Advance:
        blocks = diagonal_blocks(problem)
        blocks += PROXIMAL / 3 * np.trace(blocks, axis1=1, axis2=2)[:, None, None] * np.eye(3)
        return lambda count: _sweep(problem, blocks, x, impulse, count)

    return iterative("nlgs", begin, tolerance, sweeps, time_limit)


@inner
def _sweep(problem, blocks, x, impulse, count):
    """`count` sweeps over all contacts; x = free + rows^T impulse throughout."""
    for _ in range(count):
        for c in range(blocks.shape[0]):
            s0, s1, s2 = slip_at(problem, c, x, impulse)
            p0, p1, p2 = impulse[c, 0], impulse[c, 1], impulse[c, 2]
            q0, q1, q2 = local_impulse(blocks[c], s0, s1, s2, problem.friction[c], problem.dilatancy[c], p0, p1, p2)
            push(problem, c, q0, q1, q2, x, impulse)
