"""The default solver. Each step says which path ran and what it reached.

Rigid form: warm (the last impulses still solve it: no factorisation) -> Newton on the augmented Lagrangian -> interior
point, polished by Newton -> Clarabel. Compliant form: warm -> Newton -> Clarabel. A step is converged only if its error
(residual.py) is within the tolerance; nothing is loosened to get there.
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
EASY = 8  # factorisations up to which Newton is thought to go well


def native(tolerance: float = 1e-6) -> Callable[[Problem, Guess], Solution]:
    """A solver that keeps the plan of the last contact graph (which changes nothing but the time)."""
    last: System | None = None

    def solve(problem: Problem, guess: Guess) -> Solution:
        nonlocal last
        if len(problem.a) == 0:
            return _finish(problem, problem.free.copy(), np.empty((0, 3)), tolerance, "free", 0, 0)
        last = make_system(problem, last)
        form = _compliant if problem.compliance[0] > 0 else _rigid
        return form(problem, last, guess, tolerance)

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
    answer = clarabel.kinematic(accept=tolerance)(problem, guess)
    return answer._replace(path="newton+clarabel", factorisations=spent + answer.factorisations, hardship=spent)


def _rigid(problem: Problem, system: System, guess: Guess, tolerance: float) -> Solution:
    x, impulse = whiten(problem, guess.velocity), project_all(guess.impulse, problem.friction)
    residual = grade(problem, x, impulse)
    if residual.error <= tolerance:
        return _finish(problem, x, impulse, tolerance, "warm", 0, 0, residual)
    sigma = STIFF * contact_mass(problem)
    spent, path = 0, ""
    if guess.hardship <= EASY:
        x1 = x.copy()
        predict(problem, system, impulse, sigma, guess.drift, x1)
        x1, tau1, residual, done = _augmented(problem, system, sigma, x1, impulse, tolerance, 2 * EASY, 0.05)
        spent, path = 1 + done, "newton"
        if residual.error <= tolerance:
            return _finish(problem, x1, tau1, tolerance, path, spent, spent, residual)
    path = f"{path}+interior" if path else "interior"
    x2, tau2 = x.copy(), impulse.copy()
    gap, worst, done = interior_point(problem, system, 0.1 / sigma, x2, tau2, 1e-3, 1e-9, 1e-6, 80)
    spent += done
    tau2 = project_all(tau2, problem.friction)
    x2, tau2, residual, done = _augmented(problem, system, sigma, x2, tau2, tolerance, 2 * EASY, 0.0)
    spent += done
    hardship = max(guess.hardship - 1, EASY) if guess.hardship > EASY else 3 * EASY
    if residual.error <= tolerance:
        return _finish(problem, x2, tau2, tolerance, path, spent, hardship, residual)
    answer = clarabel.kinematic(accept=tolerance)(problem, guess)
    best = min((residual, x2, tau2), (answer.residual, whiten(problem, answer.velocity), answer.impulse), key=lambda r: r[0].error)
    return _finish(problem, best[1], best[2], tolerance, path + "+clarabel", spent + answer.factorisations, hardship, best[0])


def _augmented(problem, system, sigma, x, impulse, tolerance, limit, least) -> tuple[Array, Array, Residual, int]:
    """Augmented Lagrangian from (x, impulse). Each outer step is a proximal step on the impulses; once the velocity moves
    less than the tolerance in one, the velocity error is that small too (T16)."""
    scale = problem.speed * np.sqrt(problem.total_mass)
    target = 0.1 * tolerance * scale
    x, base, out, spent, moved = x.copy(), impulse, np.empty_like(impulse), 0, np.inf
    for outer in range(8):
        before = x.copy()
        norm, done = minimise(problem, system, base, sigma, x, out, target, limit - spent, least, outer > 0)
        spent += done
        moved = np.linalg.norm(x - before) / scale if outer else np.inf
        if norm > target or moved <= tolerance:
            break
        base = out.copy()
    residual = grade(problem, x, out)
    error = min(residual.error, moved + norm / scale if norm <= target else np.inf)
    return x, out, residual._replace(error=float(error)), spent
