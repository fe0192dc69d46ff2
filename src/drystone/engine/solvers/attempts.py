"""What each attempt of a cascade does: a step and a start come in, a `Solution` goes out, with the factorisations it took.

Every answer is graded by `residual.grade`. In the compliant form its error is a bound, or with Coulomb friction the imbalance
that the impulses of the law leave (T15); in the rigid form an estimate (T15, T16, T18). The tolerance is on velocities,
mass-weighted rms, relative to g h; a rigid step may have MARGIN times it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from drystone.engine.solvers import clarabel
from drystone.engine.solvers.cascade import Clarabel, Descent, Interior, Newton, Stiffening, Sweeps
from drystone.engine.solvers.cone import project_all
from drystone.engine.solvers.first_order.impulse_problem import slip_into
from drystone.engine.solvers.first_order.nlgs import nlgs
from drystone.engine.solvers.interior_point import interior_point
from drystone.engine.solvers.linear.factorisation import System, helped, make_system
from drystone.engine.solvers.newton import follow
from drystone.engine.solvers.problem import Problem, velocity_scale
from drystone.engine.solvers.residual import AMPLIFIED, MARGIN, contact_mass, grade, is_associated, judge, judged_rigid
from drystone.engine.solvers.solution import Guess, Residual, Solution
from drystone.engine.solvers.velocity_newton import minimise

Array = np.ndarray

STIFF = 1e6  # proximal stiffness of the rigid form in units of the contact's effective mass
WEIGHT = 7.0  # rho of Newton in units of the contact's effective mass (measured: 3 to 10 are alike)
LOOSE = 10.0  # error of the first proximal step in units of what is allowed
PATIENCE = 3  # rounds without progress that Newton is granted
LIMIT = 30  # factorisations that Newton is granted
SLOW = 0.01  # below this speed, in units of g h, a compliant structure may be standing and is solved to
REST = 0.03  # this share of the tolerance: it is then still within it a step later
INTERIOR = 80  # factorisations that the interior point is granted
GROWTH = 10.0  # of the stiffness from one proximal step to the next, and
SOFTENING = 1.5  # power of it by which a step that fails is softened
SOFTEST, STIFFEST = 1e-3, 1e8  # in units of the contact's effective mass; some impulses exist in the limit only
HARD = 1e4  # stiffness from which Newton is judged by the defects of balance and law: rounding drowns the gradient
OWN = 1e4  # largest stiffness of compliant contacts, in units of their effective mass, that proximal springs are compared with
BESIDE = 2.0  # stiffness, in units of the contact's own, from which proximal springs are left out, and
ROUGH = 3e-3  # error [g h] to which the steps before are solved
BACK = 8  # steps softened at most
SPEND = 200  # factorisations of stiffening steps, at most
STALLED = 8  # proximal steps without a smaller residual


class Systems:
    """The linear systems of the last contact graph: neither they nor `threads` change anything but the time."""

    def __init__(self, threads: int):
        self.threads = threads
        self._last: dict[bool, System] = {}

    def of(self, problem: Problem, symmetric: bool) -> System:
        self._last[symmetric] = make_system(problem, self._last.get(symmetric), symmetric, threads=self.threads)
        return self._last[symmetric]


class StepProblem(NamedTuple):
    """A contact problem to be solved."""

    problem: Problem
    guess: Guess
    tolerance: float
    systems: Systems

    @property
    def compliant(self) -> bool:
        return bool(self.problem.compliance[0] > 0)

    @property
    def associated(self) -> bool:
        return is_associated(self.problem)

    @property
    def allowed(self) -> float:
        """Error of a converged step."""
        return self.tolerance if self.compliant else MARGIN * self.tolerance

    @property
    def resting(self) -> bool:
        return not self.guess.velocity.any()


def finish(step: StepProblem, x: Array, impulse: Array, path: str, factorisations: int, error: float = np.inf,
           residual: Residual | None = None) -> Solution:  # fmt: skip
    """Grade, unless `residual` is the grade already, and report. `error` is a better estimate than the grade's own, if there
    is one; in the compliant form it stands for itself."""
    if residual is None:
        residual = (grade if step.compliant else judged_rigid)(step.problem, x, impulse)
    error = error if step.compliant and error < np.inf else min(error, residual.error)
    residual = residual._replace(error=float(error))
    return Solution(x, impulse, residual.error <= step.allowed, path, factorisations, residual, 0)


def run_newton(step: StepProblem, begin: Guess, attempt: Newton) -> Solution:
    """Until the bound (T15) or its estimate is within what is allowed."""
    return _newton_compliant(step, begin) if step.compliant else _newton_rigid(step, begin)


def _newton_compliant(step: StepProblem, begin: Guess) -> Solution:
    problem, scale = step.problem, velocity_scale(step.problem)
    sigma = 1 / problem.compliance
    error, done, x, tau = _follow(step, begin, problem.memory, sigma, _aim(step), LIMIT, False, False)
    return finish(step, x, tau, "newton", done, error / scale)


def _aim(step: StepProblem) -> float:
    """The error of whitened velocities at which a compliant step stops."""
    slow = np.linalg.norm(step.guess.velocity) <= SLOW * velocity_scale(step.problem)
    return (REST if slow else 1.0) * step.tolerance * velocity_scale(step.problem)


def run_descent(step: StepProblem, begin: Guess, attempt: Descent) -> Solution:
    problem, x, impulse = step.problem, begin.velocity.copy(), np.empty_like(begin.impulse)
    system, sigma = step.systems.of(problem, True), 1 / problem.compliance
    error, done = helped(minimise, problem, system, problem.memory, sigma, x, impulse, _aim(step), attempt.most)
    return finish(step, x, impulse, "descent", done, error / velocity_scale(problem))


def _newton_rigid(step: StepProblem, begin: Guess) -> Solution:
    """In proximal steps on the impulses (T16). Not converged: back to where it began."""
    problem, scale, spent, progress = step.problem, velocity_scale(step.problem), 0, Progress()
    stiff = (10 if step.resting else 1) * STIFF * contact_mass(problem)  # at rest what is left of penetration must not wake it
    near = begin._replace(impulse=project_all(begin.impulse, problem.friction))
    for proximal in range(8):
        target = (0.9 if proximal else LOOSE) * step.allowed * scale
        error, done, x, tau = _follow(step, near, near.impulse, stiff, target, LIMIT - spent, True, proximal > 0)
        spent, moved = spent + done, float(np.linalg.norm(x - near.velocity)) / scale
        if error > target:
            break
        near = near._replace(velocity=x, impulse=project_all(tau, problem.friction))
        residual = judged_rigid(problem, x, near.impulse)
        estimate = progress.error(residual, moved, error / scale, step.allowed)
        if estimate <= step.allowed:
            return finish(step, x, near.impulse, "newton", spent, estimate, residual)
    return finish(step, begin.velocity, project_all(begin.impulse, problem.friction), "newton", spent)


def _follow(
    step: StepProblem, begin: Guess, base: Array, sigma: Array, target: float, limit: int, hard: bool, factored: bool
) -> Any:
    """`follow` from a copy of the start: error, factorisations, velocity, impulse."""
    problem, x = step.problem, begin.velocity.copy()
    tau, rho = project_all(begin.impulse, problem.friction), np.minimum(WEIGHT * contact_mass(problem), sigma)
    system = step.systems.of(problem, step.associated)
    error, done = helped(follow, problem, system, base.copy(), sigma, rho, x, tau, target, limit, PATIENCE, hard, factored)
    return error, done, x, tau


class Progress:
    """The error of proximal steps, from one to the next: that of the defects of balance and law, or the velocity change of the
    last step if it is next to nothing or ten times shorter than the one before, and the law's defect, small, falls no more:
    at limit states proximal steps shrink slowly and prove nothing (T16)."""

    def __init__(self) -> None:
        self.count, self.moved, self.defect = 0, np.inf, np.inf

    def error(self, residual: Residual, moved: float, rest: float, allowed: float) -> float:
        """After a step that moved the velocity so far and left `rest` unsolved."""
        moved = moved if self.count else np.inf  # the first comes from the guess
        short = moved <= 0.05 * allowed or (self.count > 1 and moved <= min(0.5 * allowed, 0.1 * self.moved))
        stalled = 0.3 * self.defect <= residual.natural_map <= allowed
        self.count, self.moved, self.defect = self.count + 1, moved, residual.natural_map
        error = min(residual.error, rest + AMPLIFIED * residual.natural_map)
        return min(error, moved + rest) if short and stalled else error


def run_stiffening(step: StepProblem, begin: Guess, attempt: Stiffening) -> Solution:
    """Each proximal step starts from the last one that succeeded, with a stiffness ten times as large; one that fails is taken
    again softer, and from there the stiffness grows more slowly. Compliant contact ends with a step without any."""
    problem, compliant = step.problem, step.compliant
    mass = contact_mass(problem)
    unit = np.minimum(1 / problem.compliance, OWN * mass) if compliant else mass
    stiffness, growth, spent, failed, idle = attempt.first, GROWTH, 0, 0, 0
    near, best = begin._replace(impulse=project_all(begin.impulse, problem.friction)), None
    while spent < SPEND and failed <= BACK and idle <= STALLED:
        found = _proximal(step, near, stiffness, unit, mass)
        spent += max(found.factorisations, 1)
        if found.hardship:  # the proximal step itself was not solved
            failed, stiffness, growth = failed + 1, max(stiffness / growth**SOFTENING, SOFTEST), max(growth**0.7, 1.5)
            continue
        near = near._replace(velocity=found.velocity, impulse=found.impulse)
        idle = 0 if best is None or found.residual.error < best.residual.error else idle + 1
        best = found if idle == 0 else best
        if found.converged:
            break
        stiffness = min(growth * stiffness, STIFFEST)
    best = finish(step, near.velocity, near.impulse, "stiffening", 0) if best is None else best
    return best._replace(path="stiffening", factorisations=spent, hardship=0)


def _proximal(step: StepProblem, near: Guess, stiffness: float, unit: Array, mass: Array) -> Solution:
    """A step with a spring beside the compliance of each contact, so many units stiff and unstrained at the impulses of `near`.
    hardship is 1 if it was not solved."""
    problem, soft, allowed = step.problem, 1 / (stiffness * unit), step.allowed
    last = step.compliant and bool(np.all(problem.compliance > BESIDE * soft))
    soft = np.zeros_like(soft) if last else soft
    give, target = problem.compliance + soft, (max(allowed, ROUGH) if step.compliant and not last else allowed)
    base = (problem.compliance[:, None] * problem.memory + soft[:, None] * near.impulse) / give[:, None]
    aim, hard = (target if step.compliant else 0.1 * target) * velocity_scale(problem), bool(np.median(give * mass) < 1 / HARD)
    error, done, x, tau = _follow(step, near, base, 1 / give, aim, 2 * LIMIT, hard, False)
    tau, solved = project_all(tau, problem.friction), error <= target * velocity_scale(problem)
    if last and not hard:
        return finish(step, x, tau, "", done, error / velocity_scale(problem))._replace(hardship=int(not solved))
    residual, good = judge(problem, x, tau, step.tolerance)
    return Solution(x, tau, bool(good and solved), "", done, residual, int(not solved))


def run_sweeps(step: StepProblem, begin: Guess, attempt: Sweeps) -> Solution:
    return nlgs(step.tolerance, attempt.times)(step.problem, begin)._replace(path="sweeps", factorisations=0)


def run_interior(step: StepProblem, begin: Guess, attempt: Interior) -> Solution:
    """A compliant step is judged by its bound (T21), with the velocities that the impulses give."""
    problem, system = step.problem, step.systems.of(step.problem, True)
    x, impulse = begin.velocity.copy(), project_all(begin.impulse, problem.friction)
    soft = attempt.soft / (STIFF * contact_mass(problem))
    error, done = helped(interior_point, problem, system, soft, x, impulse, step.allowed, INTERIOR)
    impulse = project_all(impulse, problem.friction)
    if not step.compliant or error <= step.allowed:
        return finish(step, x, impulse, "interior", done, error)
    slip_into(problem, impulse, x, np.empty_like(impulse))
    residual, good = judge(problem, x, impulse, step.tolerance)
    return Solution(x, impulse, good, "interior", done, residual, 0)


def run_clarabel(step: StepProblem, begin: Guess, attempt: Clarabel) -> Solution:
    """The static program, and of a rigid step besides the kinematic one: what separates them is an estimate of the error."""
    static = clarabel.static(accept=step.tolerance)(step.problem, begin)._replace(path="clarabel")
    if static.converged or step.compliant:
        return static
    other = clarabel.kinematic(accept=step.tolerance)(step.problem, begin)
    apart = float(np.linalg.norm(static.velocity - other.velocity)) / velocity_scale(step.problem)
    spent = static.factorisations + other.factorisations
    return finish(step, static.velocity, static.impulse, "clarabel", spent, max(apart, static.residual.momentum))


RUN: dict[type, Callable[[StepProblem, Guess, Any], Solution]] = {
    Newton: run_newton,
    Descent: run_descent,
    Interior: run_interior,
    Sweeps: run_sweeps,
    Stiffening: run_stiffening,
    Clarabel: run_clarabel,
}
