"""What the first-order methods share: a start, a stop and a report. A method brings its sweeps.

The stop is the same for all: `residual.judge`.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np

from drystone.engine.solvers.cone import project_all
from drystone.engine.solvers.first_order.impulse_problem import slip_into
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.residual import grade, judge
from drystone.engine.solvers.solution import ContactSolver, Guess, Solution

Array = np.ndarray
Advance = Callable[[int], None]  # does so many sweeps on the arrays it was made with


def iterative(
    path: str, begin: Callable[[Problem, Array, Array], Advance], tolerance: float, sweeps: int, time_limit: float | None
) -> ContactSolver:
    """A solver that sweeps until the error is within the tolerance, or until `sweeps` or `time_limit` [s] are spent.
    begin(problem, x, impulse) gives the `Advance`, which finds x = free + rows^T impulse and leaves impulses on their cones."""

    def solve(problem: Problem, guess: Guess) -> Solution:
        if len(problem.a) == 0:
            x, impulse = problem.free.copy(), np.empty((0, 3))
            return Solution(x, impulse, True, "free", 0, grade(problem, x, impulse), 0)
        start, done = perf_counter(), 0
        impulse = project_all(guess.impulse, problem.friction)
        x, slip = np.empty_like(problem.free), np.empty_like(impulse)
        advance = begin(problem, x, impulse)
        while True:
            slip_into(problem, impulse, x, slip)  # x anew: sums of small changes drift
            residual, good = judge(problem, x, impulse, tolerance)
            spent = perf_counter() - start
            if good or done >= sweeps or not np.isfinite(residual.error) or (time_limit is not None and spent >= time_limit):
                return Solution(x, impulse, good, path, done, residual, 0)
            more = min(4 + done // 10, sweeps - done)
            if time_limit is not None and done:
                more = max(1, min(more, int((time_limit - spent) * done / spent)))
            advance(more)
            done += more

    return solve
