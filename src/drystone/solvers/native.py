"""The default solver. Each step says which path ran and what it reached.

Rigid form: warm (the last impulses still solve it: no factorisation) -> Newton on the augmented Lagrangian -> interior
point, with three proximal compliances -> Clarabel. Compliant form: warm -> Newton -> Clarabel.

The tolerance is on velocities, mass-weighted rms, relative to g h. A compliant step is converged if its rigorous bound is
within the tolerance, a rigid one if its error estimate is within MARGIN times it: near limit states double precision does not
go much further. What does not get there says so; nothing is loosened along the way.
"""

from collections.abc import Callable

import numpy as np

from drystone.problem import Problem
from drystone.solvers import clarabel
from drystone.solvers.cone import project_all
from drystone.solvers.crew import cores
from drystone.solvers.factor import System, helped, make_system
from drystone.solvers.interior import interior_point
from drystone.solvers.newton import minimise, predict
from drystone.solvers.residual import contact_mass, grade
from drystone.solvers.solution import Guess, Solution

Array = np.ndarray

STIFF = 1e7  # sigma of the rigid form in units of the contact's effective mass
SOFT = (0.01, 0.1, 1.0)  # proximal compliances of the interior point in units of 1 / sigma, tried in this order
EASY = 8  # factorisations up to which Newton is thought to go well
MARGIN = 10.0  # velocity error of a rigid step in units of the tolerance
AMPLIFIED = 1e3  # velocity error a defect of the contact law may cause in a rigid step, at most (160 seen at limit states)
REST = 0.03  # Newton goes on to this share of the tolerance, so that a standing structure is still within it a step later
RETRY = 5  # steps after a failed Newton before it is tried again


def native(tolerance: float = 1e-6, threads: int | None = None) -> Callable[[Problem, Guess], Solution]:
    """A solver that keeps the plan of the last contact graph. Neither that nor `threads` (None: two, if there are two cores)
    changes anything but the time."""
    last: System | None = None
    threads = threads or cores()

    def solve(problem: Problem, guess: Guess) -> Solution:
        nonlocal last
        if len(problem.a) == 0:
            return _finish(problem, problem.free.copy(), np.empty((0, 3)), tolerance, "free", 0, 0)
        last = make_system(problem, last, threads=threads)
        if problem.compliance[0] > 0:
            return _compliant(problem, last, guess, tolerance)
        return _rigid(problem, last, guess, MARGIN * tolerance)

    return solve


def _finish(problem, x, impulse, tolerance, path, factorisations, hardship, error=np.inf) -> Solution:
    """Grade and report. `error` is a better estimate than the grade's own, if there is one."""
    residual = grade(problem, x, impulse)
    residual = residual._replace(error=float(min(error, residual.error)))
    good = residual.error <= tolerance
    return Solution(x, impulse, good, path, factorisations, residual, hardship)


def _start(problem: Problem, guess: Guess, tolerance: float) -> Array:
    """The last velocity; rest if that is within the tolerance of it: carried on, it would open and close the joints of a
    standing structure for ever."""
    fastest = np.sqrt(np.max(np.sum(guess.velocity**2, axis=1) / problem.mass))
    return np.zeros_like(problem.free) if fastest <= tolerance * problem.speed else guess.velocity.copy()


def _compliant(problem: Problem, system: System, guess: Guess, tolerance: float) -> Solution:
    sigma, base = 1 / problem.compliance, problem.memory
    x, impulse, weight = _start(problem, guess, tolerance), np.empty_like(base), np.empty((len(base), 3, 3))
    scale = problem.speed * np.sqrt(problem.total_mass)
    target = tolerance * scale
    norm, _ = minimise(problem, system, weight, base, sigma, x, impulse, target, 0.0, 0, 0.0, False)
    if norm <= target:
        return _finish(problem, x, impulse, tolerance, "warm", 0, 0, norm / scale)
    aim = REST * target
    easy = guess.hardship <= EASY
    spent = 1 if easy else 0
    factored = easy and helped(predict, problem, system, weight, base, sigma, guess.drift, x)
    norm, done = helped(minimise, problem, system, weight, base, sigma, x, impulse, aim, 0.0, 200, 0.0, factored)
    spent += done
    if norm <= target:
        return _finish(problem, x, impulse, tolerance, "newton", spent, spent, norm / scale)
    answer = clarabel.static(tolerance=1e-10)(problem, guess)  # the kinematic form is unreliable here (measured)
    spent += answer.factorisations
    return _finish(problem, answer.velocity, answer.impulse, tolerance, "newton+clarabel", spent, spent)


def _rigid(problem: Problem, system: System, guess: Guess, tolerance: float) -> Solution:
    x, impulse = _start(problem, guess, tolerance), project_all(guess.impulse, problem.friction)
    old = grade(problem, x, impulse)
    still = old.momentum + AMPLIFIED * old.natural_map
    if min(old.error, still) <= tolerance:
        return _finish(problem, x, impulse, tolerance, "warm", 0, 0, still)
    sigma = STIFF * contact_mass(problem)
    path, spent, tried = [], 0, guess.hardship <= EASY
    best = (np.inf, x, impulse)  # error, velocity, impulse
    if tried:
        found, spent = _augmented(problem, system, sigma, x, impulse, guess.drift, tolerance)
        path, best = ["newton"], min(best, found, key=_error)
        if _error(best) <= tolerance:
            return _finish(problem, best[1], best[2], tolerance, "newton", spent, spent, _error(best))
    hardship = RETRY + EASY if tried else guess.hardship - 1
    for soft in SOFT:
        inside, forces = x.copy(), impulse.copy()
        error, done = helped(interior_point, problem, system, soft / sigma, inside, forces, tolerance, 80)
        path, spent = [*path, "interior"], spent + done
        best = min(best, (error, inside, project_all(forces, problem.friction)), key=_error)
        if _error(best) <= tolerance:
            break
    else:
        found, done = _generic(problem, guess)
        path, spent = [*path, "clarabel"], spent + done
        best = min(best, found, key=_error)
    return _finish(problem, best[1], best[2], tolerance, "+".join(path), spent, hardship, _error(best))


def _error(found: tuple[float, Array, Array]) -> float:
    return found[0]


def _generic(problem: Problem, guess: Guess) -> tuple[tuple[float, Array, Array], int]:
    """Clarabel at two tolerances: what separates them is the error, infinite if one of them did not solve it."""
    coarse, fine = (clarabel.kinematic(tolerance=t, accept=1e-5)(problem, guess) for t in (1e-8, 1e-10))
    x = fine.velocity
    moved = np.linalg.norm(x - coarse.velocity) / (problem.speed * np.sqrt(problem.total_mass))
    error = float(max(moved, fine.residual.momentum)) if coarse.converged and fine.converged else np.inf
    return (error, x, project_all(fine.impulse, problem.friction)), coarse.factorisations + fine.factorisations


def _augmented(problem, system, sigma, x, impulse, drift, tolerance) -> tuple[tuple[float, Array, Array], int]:
    """Augmented Lagrangian from (x, impulse): proximal steps on the impulses. The error is taken from the velocity change of
    the last step, and only if that is next to nothing or ten times shorter than the step before: at limit states they shrink
    slowly and prove nothing (T16)."""
    scale = problem.speed * np.sqrt(problem.total_mass)
    target, short = 0.5 * tolerance * scale, 0.01 * tolerance * scale
    x, base, out, weight = x.copy(), impulse, np.empty_like(impulse), np.empty((len(impulse), 3, 3))
    factored = helped(predict, problem, system, weight, base, sigma, drift, x)
    spent, moved = 1, np.inf
    for outer in range(5):
        start, last = x.copy(), moved
        left = 1 + EASY - spent
        norm, done = helped(minimise, problem, system, weight, base, sigma, x, out, target, short, left, 0.05, factored)
        spent, factored = spent + done, True
        if norm > target:
            break
        moved = np.linalg.norm(x - start) / scale if outer else np.inf
        if moved <= 0.01 * tolerance or (outer > 1 and moved <= min(0.5 * tolerance, 0.1 * last)):
            return (moved + norm / scale, x, out), spent
        base = out.copy()
    return (np.inf, x, out), spent
