"""The default solver. Each step says which attempts ran and what they reached.

What the last velocities and impulses still solve, of the whole or of an island, is left as it is and nothing is factorised
("warm"). The rest goes through the attempts of its `cascade` until one is good enough. After a step in which the first, quick
ones failed they are left out for a few steps, in compliant contact for twice as many each time they fail again (`hardship`,
which is part of the state, so that a resumed run chooses alike).

The tolerance is on velocities, mass-weighted rms, relative to g h. A compliant step is converged if its error is within the
tolerance, with associated friction a rigorous bound; a rigid one if its error estimate is within MARGIN times it: near limit
states double precision does not go much further. What does not get there says so; nothing is loosened along the way.
"""

import numpy as np

from drystone.base.kernel.helper_threads import default_threads
from drystone.engine.solvers.attempts import RUN, StepProblem, Systems, finish
from drystone.engine.solvers.cascade import ASSOCIATED, BEST, COLD, GUESS, LAST, Attempt, cascade, quick
from drystone.engine.solvers.islands import find_rest, part
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.residual import grade
from drystone.engine.solvers.solution import Guess, Solution

Array = np.ndarray

RETRY_RIGID = 5  # steps after a failed Newton before it is tried again
RETRY_COMPLIANT, RETRY_MOST = 2, 32  # the same at first, and at most
LEVEL = 100  # hardship = steps left + LEVEL * times that Newton failed in a row


def native(tolerance: float = 1e-6, threads: int | None = None) -> "Native":
    """The default solver; threads None: two, if there are two cores."""
    return Native(tolerance, threads or default_threads())


class Native:
    """A solver that keeps the plan of the last contact graph: neither that nor `threads` changes anything but the time."""

    def __init__(self, tolerance: float, threads: int):
        self.tolerance, self.systems = tolerance, Systems(threads)

    def __call__(self, problem: Problem, guess: Guess) -> Solution:
        if len(problem.a) == 0:
            x, impulse = problem.free.copy(), np.empty((0, 3))
            return Solution(x, impulse, True, "free", 0, grade(problem, x, impulse), 0)
        rest = find_rest(problem, guess, self.tolerance)
        if rest.bodies.all():
            step = StepProblem(problem, guess, np.inf, self.systems)
            return finish(step, rest.velocity, rest.impulse, "warm", 0, rest.error)
        if not rest.bodies.any():
            return solve(StepProblem(problem, guess._replace(velocity=rest.velocity), self.tolerance, self.systems))
        answer = solve(StepProblem(*part(problem, guess, rest), self.tolerance, self.systems))
        rest.velocity[~rest.bodies], rest.impulse[~rest.contacts] = answer.velocity, answer.impulse
        return answer._replace(velocity=rest.velocity, impulse=rest.impulse)


def solve(step: StepProblem, attempts: tuple[Attempt, ...] | None = None) -> Solution:
    """The first answer that is good enough, else the one with the least error; with the path and all factorisations."""
    attempts = attempts or cascade("associated" if step.associated else "coulomb", step.compliant)
    left, failures = step.guess.hardship % LEVEL, step.guess.hardship // LEVEL
    hasty = quick(attempts)
    begin = hasty if left > 0 and not step.resting else 0
    hardship = step.guess.hardship - 1 if begin else 0
    path, spent, found = list[str](), 0, list[Solution]()
    for number, attempt in enumerate(attempts[begin:], start=begin + 1):
        start, before = _start(step, attempt, found)
        answer = RUN[type(attempt)](step, start, attempt)
        found, path, spent = [*found, answer], [*path, answer.path], spent + before + answer.factorisations
        if answer.converged:
            break
        if number == hasty:
            hardship = _hardship(failures + 1) if step.compliant else RETRY_RIGID
    best = min(found, key=_error)
    return best._replace(path="+".join(path), factorisations=spent, hardship=hardship)


def _hardship(failures: int) -> int:
    """After Newton has failed so many times in a row."""
    failures = min(failures, LEVEL)
    return LEVEL * failures + min(RETRY_COMPLIANT * 2 ** (failures - 1), RETRY_MOST)


def _start(step: StepProblem, attempt: Attempt, found: list[Solution]) -> tuple[Guess, int]:
    """Where an attempt begins, and the factorisations that took."""
    problem, guess = step.problem, step.guess
    if attempt.start == GUESS or (attempt.start in (LAST, BEST) and not found):
        return guess, 0
    if attempt.start == COLD:
        return Guess(problem.free.copy(), np.zeros_like(problem.bias), 0), 0
    if attempt.start == ASSOCIATED:
        convex = solve(step._replace(problem=problem._replace(dilatancy=problem.friction), guess=guess._replace(hardship=0)))
        return Guess(convex.velocity, convex.impulse, 0), convex.factorisations
    answer = found[-1] if attempt.start == LAST else min(found, key=_error)
    return Guess(answer.velocity, answer.impulse, 0), 0


def _error(answer: Solution) -> float:
    """Of an answer that is good enough nothing, of NaN infinite."""
    return 0.0 if answer.converged else float(np.nan_to_num(answer.residual.error, nan=np.inf))
