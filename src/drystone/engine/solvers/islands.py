"""Islands: bodies that contacts join, supports apart. A step falls into one problem an island, exactly; those that the last
velocities and impulses still solve are left alone while others move.

An island at rest is held to the tolerance by its own mass, so the whole is within it too: the squares of the errors add up.
"""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel import kernel
from drystone.engine.solvers.cone import project, respond
from drystone.engine.solvers.problem import Problem, momentum_into, relative_velocity_into
from drystone.engine.solvers.residual import AMPLIFIED, MARGIN, contact_mass
from drystone.engine.solvers.solution import Guess

Array = np.ndarray

BY_CONTACT = ("a", "b", "row_a", "row_b", "bias", "friction", "dilatancy", "compliance", "memory")


class Rest(NamedTuple):
    """What stays as it was."""

    bodies: Array  # (N,) bool
    contacts: Array  # (C,) bool
    velocity: Array  # (N, D) whitened; that of the others is their start
    impulse: Array  # (C, 3)
    error: float  # of what rests: largest of its islands


def find_rest(problem: Problem, guess: Guess, tolerance: float) -> Rest:
    """The islands that the guess solves within the tolerance, or MARGIN times it if contact is rigid. An island slower than
    that starts at rest: carried on, its velocity would open and close the joints of a standing structure for ever."""
    island = _label(len(problem.free), problem.a, problem.b)
    rigid = bool(problem.compliance[0] == 0.0)
    allowed = MARGIN * tolerance if rigid else tolerance
    velocity, impulse = guess.velocity.copy(), guess.impulse.copy()
    error = _errors(problem, island, rigid, allowed, velocity, impulse)
    still = error <= allowed
    owner = island[np.maximum(problem.a, problem.b)]
    return Rest(still[island], still[owner], velocity, impulse, float(error[still].max(initial=0.0)))


def part(problem: Problem, guess: Guess, rest: Rest) -> tuple[Problem, Guess]:
    """The problem and the guess of what does not rest."""
    moving, touching = ~rest.bodies, ~rest.contacts
    slot = np.cumsum(moving) - 1
    rows = {name: getattr(problem, name)[touching] for name in BY_CONTACT}
    for side in ("a", "b"):
        rows[side] = np.where(rows[side] >= 0, slot[rows[side]], -1)
    mass = problem.mass[moving]
    small = problem._replace(**rows, free=problem.free[moving], mass=mass, place=problem.place[moving],
                             total_mass=float(mass.sum()))  # fmt: skip
    return small, guess._replace(velocity=rest.velocity[moving], impulse=rest.impulse[touching])


@kernel
def _label(count, a, b):
    """Island of each body: the smallest body in it."""
    parent = np.arange(count)
    for c in range(a.shape[0]):
        i, j = a[c], b[c]
        if i < 0 or j < 0:
            continue
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        while parent[j] != j:
            parent[j] = parent[parent[j]]
            j = parent[j]
        parent[max(i, j)] = min(i, j)
    for i in range(count):
        parent[i] = parent[parent[i]]
    return parent


@kernel
def _errors(problem, island, rigid, allowed, x, tau):
    """Relative error (N,) of each island, by the number of its smallest body, with x and tau made those of rest where slow."""
    count = x.shape[0]
    fastest, touched, mass = np.zeros(count), np.zeros(count, np.bool_), np.zeros(count)
    for i in range(count):
        square = 0.0
        for k in range(x.shape[1]):
            square += x[i, k] ** 2
        fastest[island[i]] = max(fastest[island[i]], np.sqrt(square / problem.mass[i]))
        mass[island[i]] += problem.mass[i]
    for c in range(tau.shape[0]):
        touched[island[max(problem.a[c], problem.b[c])]] = True
    for i in range(count):
        free, slow = not touched[island[i]], fastest[island[i]] <= allowed * problem.speed
        if free or slow:
            for k in range(x.shape[1]):
                x[i, k] = problem.free[i, k] if free else 0.0
    w, lag = np.empty_like(tau), np.empty_like(x)
    relative_velocity_into(problem, x, 1.0, w)
    inertia, defect, product, loose = contact_mass(problem), np.zeros(count), np.zeros(count), np.zeros(count)
    for c in range(tau.shape[0]):
        mu, psi = problem.friction[c], problem.dilatancy[c]
        if not rigid:
            s, m = 1 / problem.compliance[c], problem.memory[c]
            tau[c, 0], tau[c, 1], tau[c, 2] = respond(m[0] - s * w[c, 0], m[1] - s * w[c, 1], m[2] - s * w[c, 2], mu, psi)
            continue
        p0, p1, p2 = project(tau[c, 0], tau[c, 1], tau[c, 2], mu)
        tau[c, 0], tau[c, 1], tau[c, 2] = p0, p1, p2
        m, i = inertia[c], island[max(problem.a[c], problem.b[c])]
        s1, s2 = w[c, 1], w[c, 2]
        s0 = w[c, 0] + (mu - psi) * np.sqrt(s1 * s1 + s2 * s2)
        q0, q1, q2 = project(p0 - m * s0, p1 - m * s1, p2 - m * s2, mu)
        defect[i] = max(defect[i], np.sqrt((p0 - q0) ** 2 + (p1 - q1) ** 2 + (p2 - q2) ** 2) / m)
        pressing = np.sqrt(max(p0 * p0 + p1 * p1 + p2 * p2, q0 * q0 + q1 * q1 + q2 * q2))
        q0, q1, q2 = project(-s0, -s1, -s2, mu)
        product[i] += p0 * s0 + p1 * s1 + p2 * s2
        loose[i] += pressing * np.sqrt(q0 * q0 + q1 * q1 + q2 * q2)
    momentum_into(problem, tau, lag)
    error, total = np.zeros(count), np.zeros(count)
    for i in range(count):
        square = 0.0
        for k in range(x.shape[1]):
            square += (x[i, k] - problem.free[i, k] - lag[i, k]) ** 2
        total[island[i]] += square
        error[island[i]] = max(error[island[i]], np.sqrt(square / problem.mass[i]))
    for i in range(count):
        if mass[i] == 0.0:
            continue
        if rigid:  # the smaller of the estimates of `residual.grade` and of the defects
            bound = 0.5 * np.sqrt(total[i]) + np.sqrt(0.25 * total[i] + abs(product[i]) + loose[i])
            error[i] = min(error[i] + AMPLIFIED * defect[i], bound / np.sqrt(mass[i])) / problem.speed
        else:
            error[i] = np.sqrt(total[i] / mass[i]) / problem.speed
    return error
