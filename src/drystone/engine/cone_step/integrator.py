"""One time step: a `State` comes in, the `State` at its end goes out.

    middle   = drift(state, (1 - theta) h)         configuration where contact is tested
    contacts = detect(middle)                      who touches whom
    problem  = assemble_problem(middle, contacts)  laws become cones; velocity without contact; mass
    solution = solver(problem, guess)              velocities and impulses
    state    = advance(middle, solution, theta h)

theta = 1 is backward Euler (NB); 1/2 <= theta < 1 is the theta method with Jean's shifted gap (AJ), see T7.
Deformable blocks have more unknowns than rigid ones: modal_unknowns.py adds them to the problem and takes their displacement
into gaps. Contacts that land within the step leave the others what they bore until then (landing.py); overlaps are led apart in
the positions alone (push_apart.py); compliant contacts remember their strain (contact_strain.py). See
docs/decisions/0023-energy-of-the-papers-step.md.
"""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner, kernel
from drystone.contact.contacts import Contacts
from drystone.contact.detection import detect
from drystone.engine.cone_step.contact_strain import Found, approach_of, found_bonded, found_elastic, found_rigid, kept_force
from drystone.engine.cone_step.energy_ledger import Axes, balanced, kinetic_energy, settle, work_of_loads
from drystone.engine.cone_step.landing import Landing, landing, unpressed, whole
from drystone.engine.cone_step.modal_unknowns import (
    add_modal_unknowns,
    interpolate_contacts,
    predict_free_modes,
    strain_energy,
)
from drystone.engine.cone_step.mortar import JointSolution, create_bonds, solve_bonded_joints, solve_dry_joints
from drystone.engine.cone_step.push_apart import Apart, no_parting, push_apart
from drystone.engine.contact_laws import ContactSurface, apply_laws
from drystone.engine.rotation import (
    cross,
    invert_lower,
    move_freely,
    multiply_vector,
    positive_root,
    smallest_moment,
    torque_free,
    transposed,
    world_inertia,
)  # fmt: skip
from drystone.engine.solvers.problem import Problem, relative_velocity, unknowns_of, unwhiten, whiten
from drystone.engine.solvers.solution import ContactSolver, Guess, Solution
from drystone.engine.state import Energy as Energy
from drystone.engine.state import State
from drystone.structure.model import Model

Array = np.ndarray


class Load(NamedTuple):
    """What acts during one step besides contact."""

    gravity: float  # [m/s2] downwards
    ground: Array  # (3,) [m/s] change of the ground's velocity over the step
    support: Array  # (B, 6) [m/s] velocity of moved supports seen from the ground; rows of free blocks are not read
    wrench: Array  # (B, 6) [N, N m] of loads about the centroids, as the blocks lie at the start of the step


class Scheme(NamedTuple):
    """How time is stepped."""

    h: float  # [s] of this step
    theta: float  # 1 backward Euler .. 1/2
    implicit_spin: bool  # NB's inertia at the end of the step; False: explicit gyroscopic couple
    surface: ContactSurface
    speed: float  # [m/s] g times the user's step: what velocity errors are measured by
    modal_mass: float = 1.0  # of the elastic modes of deformable blocks; 0: only their rigid modes have inertia (T358)


SLOW = 3.0  # in units of the speed: what closes more slowly does not bounce
SEEN = 1e-3  # of g times the step squared: overlaps that are less are left


Seconds = tuple[float, float, float]  # spent in contact detection, solver and rest


def step(model: Model, state: State, load: Load, scheme: Scheme, solver: ContactSolver) -> tuple[State, Solution, Seconds]:
    """The state one step later, the solver's report, and the seconds spent in contact detection, solver and rest."""
    begin = perf_counter()
    early = (1 - scheme.theta) * scheme.h
    moving = _with_supports(model, state.velocity, load.support)
    position, rotation = move_freely(state.position, state.rotation, moving, early)
    amplitude, rate, elastic = state.amplitude + early * state.rate, state.rate, model.elastic
    before_contact = perf_counter()
    contacts, next_id = detect(model.bodies, position, rotation, moving, scheme.h, state.contacts, state.next_id,
                               model.planar, elastic.bricks if elastic else None, model.nearest)  # fmt: skip
    after_contact = perf_counter()
    if elastic:
        contacts, grip = interpolate_contacts(elastic, contacts, position, rotation, amplitude)
    problem, guess, axes = assemble_problem(model, state, position, rotation, moving, contacts, load, scheme)
    if elastic:
        modes = predict_free_modes(elastic, state.rotation, moving[:, 3:], state.amplitude, rate, scheme.h, scheme.theta,
                        scheme.modal_mass)  # fmt: skip
        problem, guess = add_modal_unknowns(elastic, problem, guess, contacts, axes.contact, grip, modes)
    before_solver = perf_counter()
    eased = _eased(model, problem, guess, axes, contacts, scheme)
    borne = bear_joints(model, state.step == 0, eased.problem, eased.guess, axes, contacts, scheme.h, solver)
    after_solver = perf_counter()
    solution = borne.solution._replace(impulse=borne.solution.impulse + eased.borne)
    velocity = moving.copy()
    parted = _parted(model, problem, guess, axes, contacts, solution, scheme)
    velocity[~model.bodies.fixed] = unwhiten(problem.mass, axes.inverse_root, solution.velocity[:, :6])
    end_position, end_rotation = move_freely(position, rotation, velocity, scheme.theta * scheme.h)
    if parted.multiplier.any():
        parting = np.zeros_like(moving)
        parting[~model.bodies.fixed] = unwhiten(problem.mass, axes.inverse_root, parted.displacement)
        end_position, end_rotation = move_freely(end_position, end_rotation, parting, 1.0)
    if elastic:
        rate = modes.scale * solution.velocity[elastic.slot, 6:]
        amplitude = amplitude + scheme.theta * scheme.h * rate
    contacts, work = settle(state.energy, problem, guess, axes, borne, eased, parted, scheme.surface.relaxation, scheme.h)
    lift = (end_position - state.position)[~model.bodies.fixed]
    kinetic = kinetic_energy(model.bodies, end_rotation, velocity) + 0.5 * scheme.modal_mass * float(np.vdot(rate, rate))
    strain = strain_energy(elastic, amplitude) if elastic else 0.0
    turn = early * moving[:, 3:] + scheme.theta * scheme.h * velocity[:, 3:]
    loads = work_of_loads(model, load.wrench, end_position - state.position, turn)
    energy = balanced(state.energy, work, kinetic, strain, problem.mass @ lift, loads, load.gravity, load.ground / scheme.h)
    after = State(
        state.step + 1, (state.step + 1) * scheme.h, end_position, end_rotation, velocity, contacts, next_id,
        solution.hardship, energy, amplitude, rate,
    )  # fmt: skip
    contact_time, solver_time = after_contact - before_contact, after_solver - before_solver
    return after, solution, (contact_time, solver_time, perf_counter() - begin - contact_time - solver_time)


def _with_supports(model: Model, velocity: Array, support: Array) -> Array:
    return np.where(model.bodies.fixed[:, None], support, velocity)


def _eased(model: Model, problem: Problem, guess: Guess, axes: Axes, contacts: Contacts, scheme: Scheme) -> Landing:
    """The problem in which contacts bear what they bore until others land; joints with mortar take their landings whole."""
    if model.laws is not None:
        return whole(problem, guess, axes.approach)
    return landing(problem, guess, axes.steady, axes.approach, contacts.gap, scheme.h, scheme.theta)


def _parted(model, problem, guess, axes, contacts, solution, scheme) -> Apart:
    """How overlaps that the step leaves are led apart (T463): all of rigid contacts; of compliant ones, what those that have
    just landed sank in before the middle of the step."""
    h, left = scheme.h, axes.found.gap - contacts.gap
    if model.laws is not None or not (left > SEEN * scheme.speed * h).any():
        return no_parting(problem)
    before, after = (relative_velocity(problem, x.velocity)[:, 0] - axes.approach for x in (guess, solution))
    landed = unpressed(problem, guess.impulse)
    if scheme.surface.compliant:
        left = np.where(landed, np.minimum(left, (1 - scheme.theta) * h * np.maximum(-before, 0.0)), 0.0)
    gap, elastic = contacts.gap + h * after, np.minimum(axes.found.gap + h * after, 0.0)
    wanted = np.minimum(left, elastic - gap)
    seen = wanted > SEEN * scheme.speed * h
    if not seen.any():
        return no_parting(problem)
    return push_apart(problem, np.where(seen, wanted, -np.maximum(gap, 0.0)), landed & (before < 0.0))


def assemble_problem(model, state, position, rotation, moving, contacts, load, scheme) -> tuple[Problem, Guess, Axes]:
    """The contact problem of the step in the middle configuration, and what the last step leaves for its solver."""
    bodies = model.bodies
    movable = np.flatnonzero(~bodies.fixed)
    slot = np.full(len(bodies.fixed), -1)
    slot[movable] = np.arange(len(movable))
    push = scheme.h * np.array([0.0, 0.0, -load.gravity]) - load.ground
    free, inverse_root = _unhindered(movable, bodies, state.rotation, rotation, moving, push, scheme.h, scheme.theta,
                                     scheme.implicit_spin)  # fmt: skip
    if load.wrench.any():
        free[:, :3] += scheme.h * load.wrench[movable, :3] / np.sqrt(bodies.mass[movable])[:, None]
        free[:, 3:] += scheme.h * np.einsum("nij,nj->ni", inverse_root, load.wrench[movable, 3:])
    law = apply_laws(model, scheme.surface, contacts, position, scheme.h)
    count = len(contacts.gap)
    row_a, row_b, frame = np.empty((count, 3, 6)), np.empty((count, 3, 6)), np.empty((count, 3, 3))
    bias, old_impulse = np.empty((count, 3)), np.empty((count, 3))
    _rows(contacts, position, moving, slot, bodies.mass, inverse_root, model.planar, row_a, row_b, frame, bias)
    found = _found(model, contacts, law.stiffness, frame, scheme)
    approach = approach_of(found.gap, scheme.surface.relaxation, scheme.h)
    bias[:, 0] += approach
    _turn_into(frame, contacts.impulse, old_impulse)
    steady = np.empty((count, 3))
    kept = kept_force(contacts, law.stiffness)[:, None] if scheme.surface.compliant else 1.0
    _turn_into(frame, kept * contacts.steady, steady)
    mass, old_velocity = bodies.mass[movable], whiten(bodies.mass[movable], inverse_root, moving[movable])
    row_a, row_b, free, old_velocity = (unknowns_of(each, model.planar) for each in (row_a, row_b, free, old_velocity))
    problem = Problem(
        slot[contacts.a], slot[contacts.b], row_a, row_b, bias, law.friction, law.dilatancy, law.compliance, found.memory, free,
        mass, model.position[movable], scheme.speed, float(mass.sum()),
    )  # fmt: skip
    if model.restitution is not None:
        bounce = model.restitution[bodies.group[contacts.a], bodies.group[contacts.b]]
        slower = _with_rebound(problem, old_velocity, approach, bounce, scheme)
        problem.bias[:, 0] += slower - approach
        approach = slower
    guess = Guess(old_velocity, old_impulse, state.hardship)
    return problem, guess, Axes(frame, inverse_root, approach, found, law.stiffness, steady)


def _found(model: Model, contacts: Contacts, stiffness: Array, frame: Array, scheme: Scheme) -> Found:
    if not scheme.surface.compliant:
        return found_rigid(contacts, scheme.speed, scheme.h)
    if model.laws is None:
        return found_elastic(contacts, stiffness, frame, scheme.h)
    return found_bonded(contacts, stiffness, frame)


def _with_rebound(problem: Problem, old: Array, approach: Array, bounce: Array, scheme: Scheme) -> Array:
    """(C,) [m/s] the speed at which each contact may close in the step: gap / h as given, or less than none, a rebound, where
    points that close faster than a structure at rest would meet in it (T88)."""
    before = relative_velocity(problem, old)[:, 0] - approach
    pulled = relative_velocity(problem, problem.free)[:, 0] - approach - before
    rebound = -bounce * before + (2 * scheme.theta - 1) * np.minimum(pulled, 0.0)
    bounces = (before < -SLOW * scheme.speed) & (approach + before + np.minimum(pulled, 0.0) < 0) & (rebound > 0)
    return np.where(bounces, np.minimum(approach, -rebound), approach)


@kernel
def _unhindered(movable, bodies, start, middle, velocity, push, h, theta, implicit):
    """Whitened velocity (N, 6) that each body would reach without contact, and the inverse roots of its inertia (T6)."""
    free, inverse_root = np.empty((movable.shape[0], 6)), np.empty((movable.shape[0], 3, 3))
    for row in range(movable.shape[0]):
        i = movable[row]
        for k in range(3):
            free[row, k] = np.sqrt(bodies.mass[i]) * (velocity[i, k] + push[k])
        spin, inertia = (velocity[i, 3], velocity[i, 4], velocity[i, 5]), bodies.inertia[i]
        here = world_inertia(start[i], inertia)
        momentum = multiply_vector(here, spin)
        least = 1e-3 * smallest_moment(inertia)
        if implicit:
            omega, jacobian = torque_free(middle[i], inertia, momentum, spin, theta * h)
            root = positive_root(jacobian, least)
            inverse = invert_lower(root)
        else:
            root = positive_root(here, least)
            inverse = invert_lower(root)
            couple = cross(spin, momentum)
            back = multiply_vector(transposed(inverse), multiply_vector(inverse, couple))
            omega = spin[0] - h * back[0], spin[1] - h * back[1], spin[2] - h * back[2]
        whitened = multiply_vector(transposed(root), omega)
        for k in range(3):
            free[row, 3 + k] = whitened[k]
            for j in range(3):
                inverse_root[row, k, j] = inverse[k][j]
    return free, inverse_root


@inner
def _rows(contacts, position, velocity, slot, mass, inverse_root, planar, row_a, row_b, frame, bias):
    """Contact frames, whitened Jacobian rows and what supports add to the bias (T9)."""
    for c in range(contacts.a.shape[0]):
        _frame(contacts.normal[c], planar, frame[c])
        bias[c, 0], bias[c, 1], bias[c, 2] = 0.0, 0.0, 0.0
        for side in range(2):
            body = contacts.a[c] if side == 0 else contacts.b[c]
            row = row_a[c] if side == 0 else row_b[c]
            sign = -1.0 if side == 0 else 1.0
            x = contacts.point[c, 0] - position[body, 0]
            y = contacts.point[c, 1] - position[body, 1]
            z = contacts.point[c, 2] - position[body, 2]
            i = slot[body]
            for d in range(3):
                f0, f1, f2 = frame[c, d, 0], frame[c, d, 1], frame[c, d, 2]
                m0, m1, m2 = y * f2 - z * f1, z * f0 - x * f2, x * f1 - y * f0
                if i < 0:
                    v = velocity[body]
                    bias[c, d] += sign * (f0 * v[0] + f1 * v[1] + f2 * v[2] + m0 * v[3] + m1 * v[4] + m2 * v[5])
                    row[d] = 0.0
                    continue
                scale = sign / np.sqrt(mass[body])
                row[d, 0], row[d, 1], row[d, 2] = scale * f0, scale * f1, scale * f2
                r = inverse_root[i]
                row[d, 3] = sign * (r[0, 0] * m0)
                row[d, 4] = sign * (r[1, 0] * m0 + r[1, 1] * m1)
                row[d, 5] = sign * (r[2, 0] * m0 + r[2, 1] * m1 + r[2, 2] * m2)


@inner
def _turn_into(frame, vector, out):
    """World vectors (C, 3) in the contact frames."""
    for c in range(vector.shape[0]):
        for i in range(3):
            out[c, i] = frame[c, i, 0] * vector[c, 0] + frame[c, i, 1] * vector[c, 1] + frame[c, i, 2] * vector[c, 2]


@inner
def _frame(normal, planar, out):
    """Orthonormal normal, tangent, tangent: the first tangent is the world axis least along the normal, made orthogonal; in
    the plane it is x or z, and in place of the second is nothing (T51)."""
    x, y, z = abs(normal[0]), np.inf if planar else abs(normal[1]), abs(normal[2])
    k = 0 if x <= min(y, z) else (1 if y <= z else 2)
    length = np.sqrt(1.0 - normal[k] * normal[k])
    for i in range(3):
        out[0, i] = normal[i]
        out[1, i] = ((1.0 if i == k else 0.0) - normal[k] * normal[i]) / length
    out[2, 0] = normal[1] * out[1, 2] - normal[2] * out[1, 1]
    out[2, 1] = normal[2] * out[1, 0] - normal[0] * out[1, 2]
    out[2, 2] = normal[0] * out[1, 1] - normal[1] * out[1, 0]
    if planar:
        out[2] = 0.0


def bear_joints(
    model: Model, begins: bool, problem: Problem, guess: Guess, axes: Axes, contacts: Contacts, h: float, solver: ContactSolver
) -> JointSolution:
    """What the joints bear; a structure that begins to be has all its bonds."""
    if model.laws is None:
        return solve_dry_joints(problem, guess, contacts, solver)
    contacts = create_bonds(contacts, model, model.laws) if begins else contacts
    return solve_bonded_joints(problem, guess, contacts, model.laws, model.bodies.group, axes.contact, h, solver)
