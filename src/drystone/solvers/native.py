"""The default solver. Each step says which path ran and what it reached.

Rigid form: warm (the last impulses still solve it: no factorisation) -> Newton on the augmented Lagrangian -> interior
point, polished by Newton -> Clarabel. Compliant form: warm -> Newton -> Clarabel. A step is converged only if its error
(residual.py) is within the tolerance; nothing is loosened to get there.

The tolerance is on velocities, mass-weighted rms, relative to g h. A compliant step has a rigorous bound and must be within
it; a rigid one has an estimate and may be MARGIN times it, which near limit states is as far as double precision goes.
"""

from collections.abc import Callable

import numpy as np

from drystone.problem import Problem, unwhiten, whiten
from drystone.solvers import clarabel
from drystone.solvers.cone import project_all
from drystone.solvers.factor import System, make_system
from drystone.solvers.interior import interior_point
from drystone.solvers.newton import minimise, predict
from drystone.solvers.residual import contact_mass, grade
from drystone.solvers.solution import Guess, Residual, Solution

Array = np.ndarray

STIFF = 1e7  # sigma of the rigid form in units of the contact's effective mass
SOFT = (0.01, 0.1, 1.0)  # proximal compliances of the interior point in units of 1 / sigma, tried in this order
EASY = 8  # factorisations up to which Newton is thought to go well
MARGIN = 10.0  # velocity error of a rigid step in units of the tolerance
RETRY = 5  # steps after a failed Newton before it is tried again


def native(tolerance: float = 1e-6) -> Callable[[Problem, Guess], Solution]:
    """A solver that keeps the plan of the last contact graph (which changes nothing but the time)."""
    last: System | None = None

    def solve(problem: Problem, guess: Guess) -> Solution:
        nonlocal last
        if len(problem.a) == 0:
            return _finish(problem, problem.free.copy(), np.empty((0, 3)), tolerance, "free", 0, 0)
        last = make_system(problem, last)
        if problem.compliance[0] > 0:
            return _compliant(problem, last, guess, tolerance)
        return _rigid(problem, last, guess, MARGIN * tolerance)

    return solve


def _finish(problem, x, impulse, tolerance, path, factorisations, hardship, residual: Residual | None = None) -> Solution:
    residual = residual or grade(problem, x, impulse)
    good = bool(residual.error <= tolerance)
    return Solution(unwhiten(problem, x), impulse, good, path, factorisations, residual, hardship)


def _compliant(problem: Problem, system: System, guess: Guess, tolerance: float) -> Solution:
    sigma = 1 / problem.compliance
    x, impulse = whiten(problem, guess.velocity), np.empty_like(problem.bias)
    target = tolerance * problem.speed * np.sqrt(problem.total_mass)
    norm, _ = minimise(problem, system, problem.memory, sigma, x, impulse, target, 0, 0.0, False)
    if norm <= target:
        return _finish(problem, x, impulse, tolerance, "warm", 0, 0)
    spent = 0
    if guess.hardship <= EASY:
        predict(problem, system, problem.memory, sigma, guess.drift, x)
        spent = 1
    norm, done = minimise(problem, system, problem.memory, sigma, x, impulse, target, 200, 0.0, False)
    spent += done
    if norm <= target:
        return _finish(problem, x, impulse, tolerance, "newton", spent, spent)
    answer = clarabel.kinematic(tolerance=1e-10)(problem, guess)
    x = whiten(problem, answer.velocity)
    return _finish(problem, x, answer.impulse, tolerance, "newton+clarabel", spent + answer.factorisations, spent)


def _rigid(problem: Problem, system: System, guess: Guess, tolerance: float) -> Solution:
    x, impulse = whiten(problem, guess.velocity), project_all(guess.impulse, problem.friction)
    residual = grade(problem, x, impulse)
    if residual.error <= tolerance:
        return _finish(problem, x, impulse, tolerance, "warm", 0, 0, residual)
    sigma = STIFF * contact_mass(problem)
    path, spent, tried = [], 0, guess.hardship <= EASY
    if tried:
        x1 = x.copy()
        predict(problem, system, impulse, sigma, guess.drift, x1)
        x1, tau1, residual, done = _augmented(problem, system, sigma, x1, impulse, tolerance, EASY)
        path, spent = ["newton"], 1 + done
        if residual.error <= tolerance:
            return _finish(problem, x1, tau1, tolerance, "newton", spent, spent, residual)
    hardship = RETRY + EASY if tried else guess.hardship - 1
    for soft in SOFT:
        x2, tau2 = x.copy(), impulse.copy()
        error, done = interior_point(problem, system, soft / sigma, x2, tau2, tolerance, 80)
        path, spent = [*path, "interior"], spent + done
        tau2 = project_all(tau2, problem.friction)
        if error <= tolerance:
            residual = grade(problem, x2, tau2)
            residual = residual._replace(error=min(error, residual.error))
            return _finish(problem, x2, tau2, tolerance, "+".join(path), spent, hardship, residual)
    answer = clarabel.kinematic(tolerance=1e-10)(problem, guess)
    path, spent = [*path, "clarabel"], spent + answer.factorisations
    coarse = clarabel.kinematic(tolerance=1e-8)(problem, guess)
    x3 = whiten(problem, answer.velocity)
    moved = np.linalg.norm(x3 - whiten(problem, coarse.velocity)) / (problem.speed * np.sqrt(problem.total_mass))
    residual = answer.residual._replace(error=float(max(moved, answer.residual.momentum)))
    if error < residual.error:
        x3, answer, residual = x2, answer._replace(impulse=tau2), grade(problem, x2, tau2)._replace(error=error)
    return _finish(problem, x3, answer.impulse, tolerance, "+".join(path), spent, hardship, residual)


def _augmented(problem, system, sigma, x, impulse, tolerance, limit) -> tuple[Array, Array, Residual, int]:
    """Augmented Lagrangian from (x, impulse): proximal steps on the impulses. Its error is taken from the velocity change
    of the last step, and only if each step is ten times shorter than the one before: at limit states they shrink slowly
    and prove nothing (T16)."""
    scale = problem.speed * np.sqrt(problem.total_mass)
    target = 0.1 * tolerance * scale
    base, out, spent, error, moved = impulse, np.empty_like(impulse), 0, np.inf, np.inf
    for outer in range(5):
        start, last = x.copy(), moved
        norm, done = minimise(problem, system, base, sigma, x, out, target, limit - spent, 0.05, outer > 0)
        spent += done
        if norm > target:
            break
        moved = np.linalg.norm(x - start) / scale
        if outer > 0 and (moved <= 0.1 * last or moved <= 0.01 * tolerance):
            error = moved + norm / scale
            if error <= tolerance:
                break
        elif outer > 1:
            break
        base = out.copy()
    residual = grade(problem, x, out)
    return x, out, residual._replace(error=float(min(residual.error, error))), spent
