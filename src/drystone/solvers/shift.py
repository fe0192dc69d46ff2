"""Coulomb's exact law by a solver of the associated one: De Saxce's fixed point on the shift (T19).

With the sliding speed of the round before, the shift (friction - dilatancy) |slip_t| is a number added to the bias, and the
step is convex. The rounds contract slowly by themselves; Anderson's method speeds them up. A fixed point need not exist.
"""

import numpy as np

from drystone.problem import Problem, relative_velocity
from drystone.solvers.residual import MARGIN, grade
from drystone.solvers.solution import ContactSolver, Guess, Solution

Array = np.ndarray

DEPTH = 5  # rounds that Anderson's method remembers


def is_exact(problem: Problem) -> bool:
    """Whether some contact slides with less dilatancy than the associated law's."""
    return bool((problem.dilatancy < problem.friction).any())


def by_shift(convex: ContactSolver, tolerance: float, rounds: int = 60) -> ContactSolver:
    """A solver of any dilatancy from one of the associated law. Its error is the largest of the last convex solution's, the
    velocity change of the last round and the defect of the exact law."""

    def solve(problem: Problem, guess: Guess) -> Solution:
        if not is_exact(problem):
            return convex(problem, guess)
        excess, scale = problem.friction - problem.dilatancy, problem.speed * np.sqrt(problem.total_mass)
        limit = tolerance if problem.compliance[0] > 0 else MARGIN * tolerance
        shift = excess * _sliding(problem, guess.velocity, guess.impulse)
        shifts: list[Array] = []
        changes: list[Array] = []
        spent, last = 0, np.inf
        best: Solution | None = None
        for _ in range(rounds):
            answer = convex(_shifted(problem, shift), guess)
            spent += answer.factorisations
            moved = np.linalg.norm(answer.velocity - guess.velocity) / scale
            residual = grade(problem, answer.velocity, answer.impulse)
            error = float(max(answer.residual.error, moved, residual.momentum, residual.natural_map))
            good = bool(answer.converged and max(moved, residual.momentum, residual.natural_map) <= limit)
            answer = answer._replace(converged=good, path="shift", residual=residual._replace(error=error))
            if best is None or good or error < best.residual.error:
                best = answer
            if good or not np.isfinite(error):
                break
            guess = guess._replace(velocity=answer.velocity, impulse=answer.impulse)
            change = excess * _sliding(problem, answer.velocity, answer.impulse) - shift
            if np.linalg.norm(change) > 2 * last:  # the memory misleads
                shifts, changes = [], []
            last = float(np.linalg.norm(change))
            shifts, changes = [*shifts[-DEPTH:], shift], [*changes[-DEPTH:], change]
            shift = np.maximum(_mixed(shifts, changes), 0.0)
        assert best is not None
        return best._replace(factorisations=spent)

    return solve


def _sliding(problem: Problem, x: Array, impulse: Array) -> Array:
    """Speed of plastic slip (C,)."""
    slip = relative_velocity(problem, x)[:, 1:] + problem.compliance[:, None] * (impulse - problem.memory)[:, 1:]
    return np.hypot(slip[:, 0], slip[:, 1])


def _shifted(problem: Problem, shift: Array) -> Problem:
    bias = problem.bias.copy()
    bias[:, 0] += shift
    return problem._replace(bias=bias, dilatancy=problem.friction)


def _mixed(points: list[Array], changes: list[Array]) -> Array:
    """Anderson's next point: the mix of the last rounds whose changes cancel best."""
    if len(points) == 1:
        return points[0] + changes[0]
    step = np.diff(np.array(changes), axis=0).T
    share = np.linalg.lstsq(step, changes[-1], rcond=1e-10)[0]
    return points[-1] + changes[-1] - (np.diff(np.array(points), axis=0).T + step) @ share
