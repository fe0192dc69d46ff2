"""One residual for all solvers: how far (velocity, impulse) is from solving a `Problem`.

The natural map is reported because the literature does, but it is no error bound: near a limit state it may be a
hundred times smaller than the velocity error. The error below comes from the strong convexity of the step (T15).
"""

import numpy as np

from drystone.base.kernel import kernel
from drystone.engine.solvers.cone import project
from drystone.engine.solvers.first_order.impulse_problem import duality_gap, law_imbalance
from drystone.engine.solvers.problem import Problem, momentum_into, relative_velocity_into, velocity_scale
from drystone.engine.solvers.solution import Residual

Array = np.ndarray

MARGIN = 10.0  # velocity error of a converged rigid step in units of the tolerance
AMPLIFIED = 1e3  # velocity error a defect of the contact law may cause in a rigid step, at most (160 seen at limit states)


def grade(problem: Problem, x: Array, impulse: Array) -> Residual:
    """Residuals of a whitened velocity x (N, D) and impulses (C, 3)."""
    imbalance, momentum, natural_map, penetration, complementarity, slack = _grade(problem, x, impulse)
    speed, mass = problem.speed, problem.total_mass
    contacts, weight = max(len(impulse), 1), mass / len(x) * speed
    error = velocity_error(imbalance, slack) / velocity_scale(problem)
    gap = abs(complementarity) / (contacts * weight * speed)
    return Residual(error, momentum / speed, natural_map / speed, penetration / speed, gap)


def judge(problem: Problem, x: Array, impulse: Array, tolerance: float) -> tuple[Residual, bool]:
    """The residual with the error that every method is held to, and whether that is small enough. Of rigid contact MARGIN times
    the tolerance is allowed."""
    compliant = bool(np.min(problem.compliance, initial=np.inf) > 0)
    residual = _judged_compliant(problem, x, impulse) if compliant else judged_rigid(problem, x, impulse)
    return residual, bool(residual.error <= (tolerance if compliant else MARGIN * tolerance))


def judged_rigid(problem: Problem, x: Array, impulse: Array) -> Residual:
    """The error is momentum with a thousandfold natural map; with associated friction the estimate (T15), if less."""
    residual = grade(problem, x, impulse)
    error = residual.momentum + AMPLIFIED * residual.natural_map
    return residual._replace(error=min(residual.error, error) if is_associated(problem) else error)


def _judged_compliant(problem: Problem, x: Array, impulse: Array) -> Residual:
    """The error is what the impulses that the law gives at x leave unbalanced. With associated friction that is a bound, and
    so is the root of the duality gap (T21) for impulses on their cones and the x that they give; with Coulomb friction
    momentum with a thousandfold natural map stands beside it. The smaller one counts."""
    residual, scale = grade(problem, x, impulse), velocity_scale(problem)
    if is_associated(problem):
        other = np.sqrt(duality_gap(problem, x, impulse)) / scale
    else:
        other = residual.momentum + AMPLIFIED * residual.natural_map
    return residual._replace(error=float(min(law_imbalance(problem, x) / scale, other)))


def is_associated(problem: Problem) -> bool:
    """Whether no contact slides with less dilatancy than the associated law's."""
    return not bool((problem.dilatancy < problem.friction).any())


def velocity_error(imbalance: float, slack: float) -> float:
    """|x - x*| <= imbalance / 2 + sqrt(imbalance^2 / 4 + slack) (T15): in a rigid problem with the computed impulses
    standing in for the exact ones in `slack`, or those of one projected step, if larger: no impulse is no excuse. Likewise
    the velocities."""
    return float(imbalance / 2 + np.sqrt(imbalance * imbalance / 4 + slack))


@kernel
def contact_mass(problem):
    """Effective mass (C,) [kg] of each contact: 3 over the trace of rows rows^T."""
    out = np.empty(problem.a.shape[0])
    for c in range(out.shape[0]):
        trace = 0.0
        for i in range(3):
            for k in range(problem.row_a.shape[2]):
                trace += problem.row_a[c, i, k] ** 2 + problem.row_b[c, i, k] ** 2
        out[c] = 3.0 / trace
    return out


@kernel
def _grade(problem, x, impulse):
    """|imbalance|, largest imbalance of a block [m/s], natural map [m/s], penetration [m/s], impulse . s, slack."""
    change, s = np.empty_like(x), np.empty_like(impulse)
    momentum_into(problem, impulse, change)
    total, worst = 0.0, 0.0
    for i in range(x.shape[0]):
        square = 0.0
        for k in range(x.shape[1]):
            square += (x[i, k] - problem.free[i, k] - change[i, k]) ** 2
        total += square
        worst = max(worst, np.sqrt(square / problem.mass[i]))
    relative_velocity_into(problem, x, 1.0, s)
    inertia = contact_mass(problem)
    natural, closing, product, loose = 0.0, 0.0, 0.0, 0.0
    for c in range(s.shape[0]):
        m, mu = inertia[c], problem.friction[c]
        p0, p1, p2 = impulse[c, 0], impulse[c, 1], impulse[c, 2]
        s0 = s[c, 0] + problem.compliance[c] * (p0 - problem.memory[c, 0])
        s1 = s[c, 1] + problem.compliance[c] * (p1 - problem.memory[c, 1])
        s2 = s[c, 2] + problem.compliance[c] * (p2 - problem.memory[c, 2])
        s0 += (mu - problem.dilatancy[c]) * np.sqrt(s1 * s1 + s2 * s2)
        q0, q1, q2 = project(p0 - m * s0, p1 - m * s1, p2 - m * s2, mu)
        natural = max(natural, np.sqrt((p0 - q0) ** 2 + (p1 - q1) ** 2 + (p2 - q2) ** 2) / m)
        larger = np.sqrt(max(p0 * p0 + p1 * p1 + p2 * p2, q0 * q0 + q1 * q1 + q2 * q2))
        q0, q1, q2 = project(-s0, -s1, -s2, mu)
        distance = np.sqrt(q0 * q0 + q1 * q1 + q2 * q2)  # of s to K*
        closing = max(closing, distance)
        product += p0 * s0 + p1 * s1 + p2 * s2
        q0, q1, q2 = project(p0, p1, p2, mu)
        outside = np.sqrt((p0 - q0) ** 2 + (p1 - q1) ** 2 + (p2 - q2) ** 2)  # distance of the impulse to K
        loose += distance * larger + outside * max(np.sqrt(s0 * s0 + s1 * s1 + s2 * s2), outside / m)
    return np.sqrt(total), worst, natural, closing, product, abs(product) + loose
