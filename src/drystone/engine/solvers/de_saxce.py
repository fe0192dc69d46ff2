"""Coulomb's exact law by a solver of the associated one: De Saxce's fixed point on the shift (T19).

With the sliding speed of the round before, the shift (friction - dilatancy) |slip_t| is a number added to the bias, and the
step is convex. The rounds contract slowly by themselves; Anderson's method speeds them up. A fixed point need not exist.
"""

import numpy as np

from drystone.engine.solvers.problem import Problem, relative_velocity
from drystone.engine.solvers.residual import is_associated, judge
from drystone.engine.solvers.solution import ContactSolver, Guess, Solution

Array = np.ndarray

DEPTH = 5  # rounds that Anderson's method remembers


def by_shift(convex: ContactSolver, tolerance: float, closer: ContactSolver | None = None, rounds: int = 60) -> ContactSolver:
    """A solver of any dilatancy from one of the associated law, or a closer one for the rounds; held to the exact law by the
    measure of all methods. The answer is the round with the least error."""

    def solve(problem: Problem, guess: Guess) -> Solution:
        if is_associated(problem):
            return convex(problem, guess)
        shift, spent, best, memory = _shift(problem, guess.velocity, guess.impulse), 0, None, Memory()
        for _ in range(rounds):
            answer = (closer or convex)(_shifted(problem, shift), guess)
            spent += answer.factorisations
            residual, good = judge(problem, answer.velocity, answer.impulse, tolerance)
            answer = answer._replace(converged=good, path="shift", residual=residual)
            best = answer if best is None or residual.error < best.residual.error else best
            if good or not np.isfinite(residual.error):
                break
            guess = guess._replace(velocity=answer.velocity, impulse=answer.impulse)
            shift = memory.mix(shift, _shift(problem, answer.velocity, answer.impulse) - shift)
        assert best is not None
        return best._replace(factorisations=spent)

    return solve


class Memory:
    """Anderson's method: the last rounds, of which the mix is taken whose changes cancel best."""

    def __init__(self) -> None:
        self.points: list[Array] = []
        self.changes: list[Array] = []

    def mix(self, point: Array, change: Array) -> Array:
        """The next shift after one that the round wants to change so."""
        if self.changes and np.linalg.norm(change) > 2 * np.linalg.norm(self.changes[-1]):  # the memory misleads
            self.points, self.changes = [], []
        self.points, self.changes = [*self.points[-DEPTH:], point], [*self.changes[-DEPTH:], change]
        if len(self.points) == 1:
            return np.maximum(point + change, 0.0)
        step = np.diff(np.array(self.changes), axis=0).T
        share = np.linalg.lstsq(step, change, rcond=1e-10)[0]
        return np.maximum(point + change - (np.diff(np.array(self.points), axis=0).T + step) @ share, 0.0)


def _shift(problem: Problem, x: Array, impulse: Array) -> Array:
    """(friction - dilatancy) times the speed of plastic slip (C,)."""
    slip = relative_velocity(problem, x)[:, 1:] + problem.compliance[:, None] * (impulse - problem.memory)[:, 1:]
    return (problem.friction - problem.dilatancy) * np.hypot(slip[:, 0], slip[:, 1])


def _shifted(problem: Problem, shift: Array) -> Problem:
    bias = problem.bias.copy()
    bias[:, 0] += shift
    return problem._replace(bias=bias, dilatancy=problem.friction)
