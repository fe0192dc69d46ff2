"""The default solver. Each step says which path ran and what it reached.

    warm      the last velocities and impulses still solve the step, of the whole or of an island: nothing is factorised
    newton    on velocities and impulses together (newton.py), in the rigid form with a proximal stiffness
    then, if that gives up, by law and form:
    associated, compliant   descent (Newton with line search, convergent) -> Clarabel
    associated, rigid       interior point with three proximal compliances -> newton from there -> Clarabel
    exact, compliant        Newton from the associated answer, taking dilatancy off it -> fixed point on the shift (shift.py)
    exact, rigid            compliant steps, each from the impulses of the last -> the fixed point

The tolerance is on velocities, mass-weighted rms, relative to g h. A compliant associated step is converged if its rigorous
bound is within the tolerance; a rigid one if its error estimate is within MARGIN times it: near limit states double precision
does not go much further. What does not get there says so; nothing is loosened along the way.
"""

import numpy as np

from drystone.kernel.crew import default_threads
from drystone.problem import Problem
from drystone.solvers import clarabel
from drystone.solvers.cone import project_all
from drystone.solvers.descent import minimise
from drystone.solvers.factor import System, helped, make_system
from drystone.solvers.interior import interior_point
from drystone.solvers.islands import find_rest, part
from drystone.solvers.newton import follow
from drystone.solvers.residual import AMPLIFIED, MARGIN, contact_mass, grade
from drystone.solvers.shift import by_shift, is_exact
from drystone.solvers.solution import ContactSolver, Guess, Residual, Solution

Array = np.ndarray
Pair = tuple[float, Array, Array]  # error, velocity, impulse

STIFF = 1e6  # proximal stiffness of the rigid form in units of the contact's effective mass
WEIGHT = 7.0  # rho of Newton in units of the contact's effective mass (measured: 3 to 10 are alike)
LOOSE = 10.0  # error of the first proximal step in units of the tolerance
GENTLE = 1e3  # proximal stiffness where the exact law does not bear STIFF
PROXIMAL = 12  # steps of that at most
SOFT = (0.001, 0.01, 0.1)  # proximal compliances of the interior point in units of 1 / STIFF, tried in this order
PATIENCE = 3  # rounds without progress that Newton is granted
LIMIT = 30  # factorisations that Newton is granted
SLOW = 0.01  # below this speed, in units of g h, a compliant structure may be standing and is solved to
REST = 0.03  # this share of the tolerance: it is then still within it a step later
STRIDE = 0.3  # share of the dilatancy taken off at first when continuing from the associated law
ROUGH = 1e-3  # tolerance on the way there
RETRY = 5  # steps after a failed Newton before it is tried again in the rigid form


def native(tolerance: float = 1e-6, threads: int | None = None) -> ContactSolver:
    """A solver that keeps the plan of the last contact graph. Neither that nor `threads` (None: two, if there are two cores)
    changes anything but the time."""
    last: dict[bool, System] = {}
    threads = threads or default_threads()

    def newton(problem: Problem, guess: Guess, symmetric: bool, tolerance: float) -> tuple[Solution, System]:
        last[symmetric] = make_system(problem, last.get(symmetric), symmetric, threads=threads)
        attempt = _compliant if problem.compliance[0] > 0 else _rigid
        return attempt(problem, last[symmetric], guess, tolerance), last[symmetric]

    def associated(problem: Problem, guess: Guess) -> Solution:
        answer, system = newton(problem, guess, True, tolerance)
        if answer.converged:
            return answer
        rescue = _descend if problem.compliance[0] > 0 else _rigid_rescue
        return rescue(problem, system, guess, answer, tolerance)

    def continued(problem: Problem, guess: Guess) -> Solution:
        """From the associated law down to the dilatancy asked for, each answer the start of the next."""
        answer = associated(problem._replace(dilatancy=problem.friction), guess)
        share, stride, spent = 1.0, STRIDE, answer.factorisations
        while share > 0.0:
            less = max(share - stride, 0.0)
            dilatancy = problem.dilatancy + less * (problem.friction - problem.dilatancy)
            near = guess._replace(velocity=answer.velocity, impulse=answer.impulse, hardship=0)
            loose = tolerance if less == 0.0 else max(tolerance, ROUGH)
            found, _ = newton(problem._replace(dilatancy=dilatancy), near, False, loose)
            spent += found.factorisations
            if found.converged:
                share, answer, stride = less, found, 1.5 * stride
            elif stride > STRIDE / 20:
                stride *= 0.4
            else:
                residual = grade(problem, answer.velocity, answer.impulse)
                answer = answer._replace(residual=residual, converged=False)
                break
        return answer._replace(path="continued", factorisations=spent)

    def proximal(problem: Problem, guess: Guess) -> Solution:
        """Rigid by compliant steps, each unstrained at the impulses of the last: proximal steps as in `_rigid`, softer."""
        mass, spent, progress = contact_mass(problem), 0, Progress()
        near, limit = guess._replace(hardship=0), MARGIN * tolerance
        for _ in range(PROXIMAL):
            soft = problem._replace(compliance=1 / (GENTLE * mass), memory=near.impulse)
            answer, _ = newton(soft, near, False, tolerance)
            spent += answer.factorisations
            if not answer.converged:
                answer = continued(soft, near)
                spent += answer.factorisations
            moved = float(np.linalg.norm(answer.velocity - near.velocity)) / _scale(problem)
            residual = grade(problem, answer.velocity, answer.impulse)
            error = progress.error(residual, moved, answer.residual.error, limit)
            near = near._replace(velocity=answer.velocity, impulse=answer.impulse)
            if error <= limit or not answer.converged:
                break
        return _finish(problem, answer.velocity, answer.impulse, limit, "proximal", spent, RETRY, error, residual)

    fixed_point = by_shift(associated, tolerance)

    def exact(problem: Problem, guess: Guess) -> Solution:
        answer, _ = newton(problem, guess, False, tolerance)
        path, spent = [answer.path] if answer.path else [], answer.factorisations
        for rescue in (continued if problem.compliance[0] > 0 else proximal, fixed_point):
            if answer.converged:
                break
            answer = rescue(problem, guess)
            path, spent = [*path, answer.path], spent + answer.factorisations
        return answer._replace(path="+".join(path), factorisations=spent)

    def solve(problem: Problem, guess: Guess) -> Solution:
        if len(problem.a) == 0:
            return _finish(problem, problem.free.copy(), np.empty((0, 3)), tolerance, "free", 0, 0)
        rest = find_rest(problem, guess, tolerance)
        if rest.bodies.all():
            return _finish(problem, rest.velocity, rest.impulse, np.inf, "warm", 0, 0, rest.error)
        moving, begin = part(problem, guess, rest) if rest.bodies.any() else (problem, guess._replace(velocity=rest.velocity))
        answer = exact(moving, begin) if is_exact(moving) else associated(moving, begin)
        if not rest.bodies.any():
            return answer
        rest.velocity[~rest.bodies], rest.impulse[~rest.contacts] = answer.velocity, answer.impulse
        return answer._replace(velocity=rest.velocity, impulse=rest.impulse)

    return solve


def _finish(problem, x, impulse, tolerance, path, factorisations, hardship, error=np.inf, residual=None) -> Solution:
    """Grade, unless `residual` is the grade already, and report. `error` is a better estimate than the grade's own, if there
    is one; in the compliant form it stands for itself."""
    residual = grade(problem, x, impulse) if residual is None else residual
    bound = len(impulse) > 0 and problem.compliance[0] > 0 and error < np.inf
    residual = residual._replace(error=float(error if bound else min(error, residual.error)))
    good = residual.error <= tolerance
    return Solution(x, impulse, good, path, factorisations, residual, hardship)


def _scale(problem: Problem) -> float:
    return problem.speed * np.sqrt(problem.total_mass)


def _compliant(problem: Problem, system: System, guess: Guess, tolerance: float) -> Solution:
    """Newton. Not converged: the velocity is the best start for what comes next."""
    sigma, scale = 1 / problem.compliance, _scale(problem)
    x, tau = guess.velocity.copy(), project_all(guess.impulse, problem.friction)
    rho = np.minimum(WEIGHT * contact_mass(problem), sigma)
    aim = _aim(guess, scale, tolerance)
    error, done = helped(follow, problem, system, problem.memory, sigma, rho, x, tau, aim, LIMIT, PATIENCE, False, False)
    return _finish(problem, x, tau, tolerance, "newton", done, 0, error / scale)


def _aim(guess: Guess, scale: float, tolerance: float) -> float:
    """The error at which a compliant step stops."""
    return (REST if np.linalg.norm(guess.velocity) <= SLOW * scale else 1.0) * tolerance * scale


def _descend(problem: Problem, system: System, guess: Guess, failed: Solution, tolerance: float) -> Solution:
    """Newton with line search from where Newton without left off, then Clarabel."""
    x, impulse, scale, spent = failed.velocity, np.empty_like(failed.impulse), _scale(problem), failed.factorisations
    aim = _aim(guess, scale, tolerance)
    norm, done = helped(minimise, problem, system, problem.memory, 1 / problem.compliance, x, impulse, aim, 200)
    if norm <= tolerance * scale:
        return _finish(problem, x, impulse, tolerance, "newton+descent", spent + done, 0, norm / scale)
    answer = clarabel.static(tolerance=1e-10)(problem, guess)  # the kinematic form is unreliable here (measured)
    spent += done + answer.factorisations
    return _finish(problem, answer.velocity, answer.impulse, tolerance, "newton+descent+clarabel", spent, 0)


def _rigid(problem: Problem, system: System, guess: Guess, tolerance: float) -> Solution:
    """Newton in proximal steps on the impulses, unless it failed a few steps ago while things moved."""
    tolerance *= MARGIN
    x, tau = guess.velocity.copy(), project_all(guess.impulse, problem.friction)
    resting = not guess.velocity.any()
    if guess.hardship > 0 and not resting:
        return _finish(problem, x, tau, 0.0, "", 0, guess.hardship - 1)
    mass, scale, spent, progress = contact_mass(problem), _scale(problem), 0, Progress()
    stiff = (10 if resting else 1) * STIFF * mass  # at rest what is left of penetration must not wake the next step
    for proximal in range(8):
        base, begin = tau.copy(), x.copy()
        target = (0.9 if proximal else LOOSE) * tolerance * scale
        norm, done = helped(follow, problem, system, base, stiff, WEIGHT * mass, x, tau, target, LIMIT - spent, PATIENCE,
                            True, proximal > 0)  # fmt: skip
        spent, tau = spent + done, project_all(tau, problem.friction)
        if norm > target:
            break
        residual = grade(problem, x, tau)
        error = progress.error(residual, float(np.linalg.norm(x - begin)) / scale, norm / scale, tolerance)
        if error <= tolerance:
            return _finish(problem, x, tau, tolerance, "newton", spent, 0, error, residual)
    return _finish(problem, guess.velocity, project_all(guess.impulse, problem.friction), 0.0, "newton", spent, RETRY)


class Progress:
    """The error of proximal steps, from one to the next: that of the defects of balance and law, or the velocity change of the
    last step if it is next to nothing or ten times shorter than the one before, and the law's defect, small, falls no more:
    at limit states proximal steps shrink slowly and prove nothing (T16)."""

    def __init__(self) -> None:
        self.count, self.moved, self.defect = 0, np.inf, np.inf

    def error(self, residual: Residual, moved: float, rest: float, tolerance: float) -> float:
        """After a step that moved the velocity so far and left `rest` unsolved."""
        moved = moved if self.count else np.inf  # the first comes from the guess
        short = moved <= 0.05 * tolerance or (self.count > 1 and moved <= min(0.5 * tolerance, 0.1 * self.moved))
        stalled = 0.3 * self.defect <= residual.natural_map <= tolerance
        self.count, self.moved, self.defect = self.count + 1, moved, residual.natural_map
        error = min(residual.error, rest + AMPLIFIED * residual.natural_map)
        return min(error, moved + rest) if short and stalled else error


def _rigid_rescue(problem: Problem, system: System, guess: Guess, failed: Solution, tolerance: float) -> Solution:
    """Interior point from where the step began, Newton from where that ends, then Clarabel."""
    tolerance *= MARGIN
    path, spent = [failed.path] if failed.path else [], failed.factorisations
    best: Pair = (np.inf, failed.velocity, failed.impulse)
    for soft in SOFT:
        x, forces = failed.velocity.copy(), failed.impulse.copy()
        compliance = soft / (STIFF * contact_mass(problem))
        error, done = helped(interior_point, problem, system, compliance, x, forces, tolerance, 80)
        path, spent = [*path, "interior"], spent + done
        best = min(best, (error, x, project_all(forces, problem.friction)), key=_error)
        if _error(best) <= tolerance:
            break
    else:
        near = guess._replace(velocity=best[1], impulse=best[2], hardship=0)
        polished = _rigid(problem, system, near, tolerance / MARGIN)
        path, spent = [*path, "newton"], spent + polished.factorisations
        if polished.converged:
            best = polished.residual.error, polished.velocity, polished.impulse
        else:
            found, done = _generic(problem, guess)
            path, spent = [*path, "clarabel"], spent + done
            best = min(best, found, key=_error)
    return _finish(problem, best[1], best[2], tolerance, "+".join(path), spent, failed.hardship, _error(best))


def _error(found: Pair) -> float:
    return found[0]


def _generic(problem: Problem, guess: Guess) -> tuple[Pair, int]:
    """Clarabel at two tolerances: what separates them is the error, infinite if one of them did not solve it."""
    coarse, fine = (clarabel.kinematic(tolerance=t, accept=1e-5)(problem, guess) for t in (1e-8, 1e-10))
    moved = float(np.linalg.norm(fine.velocity - coarse.velocity)) / _scale(problem)
    error = max(moved, fine.residual.momentum) if coarse.converged and fine.converged else np.inf
    return (error, fine.velocity, project_all(fine.impulse, problem.friction)), coarse.factorisations + fine.factorisations
