"""One time step: a `State` comes in, the `State` at its end goes out.

    middle   = drift(state, (1 - theta) h)       configuration where contact is tested
    contacts = detect(middle)                    who touches whom
    problem  = assemble(middle, contacts, load)  laws become cones; velocity without contact; mass
    solution = solver(problem, guess)            velocities and impulses
    state    = advance(middle, solution, theta h)

theta = 1 is backward Euler (NB); 1/2 <= theta < 1 is the theta method with Jean's shifted gap (AJ), see T7.
Deformable blocks have more unknowns than rigid ones: deform.py adds them to the problem and takes their displacement into gaps.
A step in which impacts take much of the energy is taken again in small ones, see docs/decisions/0006-impacts.md.
"""

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.contact.detect import detect
from drystone.deform import add_modal_unknowns, interpolate_contacts, predict_free_modes, strain_energy
from drystone.joints import ContactSurface, apply_laws
from drystone.kernel import inner, kernel
from drystone.model import Model
from drystone.mortar import JointSolution, create_bonds, solve_bonded_joints, solve_dry_joints
from drystone.problem import Problem, relative_velocity, unknowns_of, unwhiten, whiten
from drystone.solvers.solution import ContactSolver, Guess, Solution
from drystone.spin import (
    cross,
    dot,
    invert_lower,
    move_freely,
    multiply_vector,
    positive_root,
    smallest_moment,
    torque_free,
    transposed,
    world_inertia,
)  # fmt: skip
from drystone.state import Energy, State

Array = np.ndarray


class Load(NamedTuple):
    """What acts during one step, or a part of one, besides contact."""

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
    substeps: int  # of a step with a notable impact; 1 is never
    modal_mass: float = 1.0  # of the elastic modes of deformable blocks; 0: only their rigid modes have inertia (T358)


NOTABLE = 1e-2  # share of the kinetic energy that impacts take in a step worth taking again in small ones
SLOW = 3.0  # in units of the speed: below this rms velocity a structure counts as resting


Seconds = tuple[float, float, float]  # spent in contact detection, solver and rest


def advance(
    model: Model, state: State, load_of: Callable[[int, int], Load], scheme: Scheme, solver: ContactSolver
) -> tuple[State, Solution, Seconds]:
    """The state one step later, refined if it holds a notable impact. load_of(k, n) is what acts in part k of n."""
    whole = step(model, state, load_of(0, 1), scheme, solver)
    count = scheme.substeps
    if count == 1 or not _notable(state.energy, whole[0].energy, scheme, model):
        return whole
    fine = scheme._replace(h=scheme.h / count)
    here = _rescaled(state, 1 / count)
    parts = []
    for k in range(count):
        here, solution, seconds = step(model, here, load_of(k, count), fine, solver)
        parts.append((solution, seconds))
    here = _rescaled(here._replace(step=whole[0].step, time=whole[0].time), count)
    return here, _together([solution for solution, _ in parts]), _total([whole[2], *(seconds for _, seconds in parts)])


def _notable(before: Energy, after: Energy, scheme: Scheme, model: Model) -> bool:
    """Whether impacts took a notable share of the kinetic energy of a structure that moves."""
    mass = float(model.bodies.mass[~model.bodies.fixed].sum())
    return after.impact - before.impact > NOTABLE * max(before.kinetic, 0.5 * mass * (SLOW * scheme.speed) ** 2)


def _rescaled(state: State, factor: float) -> State:
    """The impulses of the last step as those of a step that is so many times longer: forces stay."""
    return state._replace(contacts=state.contacts._replace(impulse=factor * state.contacts.impulse))


def _together(parts: list[Solution]) -> Solution:
    """The report of a step taken in parts: the worst of them, all their factorisations."""
    worst = max(parts, key=lambda solution: (not solution.converged, solution.residual.error))
    return worst._replace(
        velocity=parts[-1].velocity,
        impulse=parts[-1].impulse,
        factorisations=sum(solution.factorisations for solution in parts),
        hardship=parts[-1].hardship,
    )


def _total(seconds: list[Seconds]) -> Seconds:
    contact, solver, rest = (sum(part) for part in zip(*seconds, strict=True))
    return contact, solver, rest


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
    problem, guess, axes = assemble(model, state, position, rotation, moving, contacts, load, scheme)
    if elastic:
        modes = predict_free_modes(elastic, state.rotation, moving[:, 3:], state.amplitude, rate, scheme.h, scheme.theta,
                        scheme.modal_mass)  # fmt: skip
        problem, guess = add_modal_unknowns(elastic, problem, guess, contacts, axes.contact, grip, modes)
    before_solver = perf_counter()
    borne = bear_joints(model, state.step == 0, problem, guess, axes, contacts, scheme.h, solver)
    after_solver = perf_counter()
    solution = borne.solution
    velocity = moving.copy()
    velocity[~model.bodies.fixed] = unwhiten(problem.mass, axes.inverse_root, solution.velocity[:, :6])
    end_position, end_rotation = move_freely(position, rotation, velocity, scheme.theta * scheme.h)
    if elastic:
        rate = modes.scale * solution.velocity[elastic.slot, 6:]
        amplitude = amplitude + scheme.theta * scheme.h * rate
    contacts, work = _settle(state, problem, guess, axes, borne, scheme)
    lift = (end_position - state.position)[~model.bodies.fixed]
    kinetic = kinetic_energy(model.bodies, end_rotation, velocity) + 0.5 * scheme.modal_mass * float(np.vdot(rate, rate))
    strain = strain_energy(elastic, amplitude) if elastic else 0.0
    turn = early * moving[:, 3:] + scheme.theta * scheme.h * velocity[:, 3:]
    loads = _work_of_loads(model, load.wrench, end_position - state.position, turn)
    energy = _ledger(state.energy, work, kinetic, strain, problem.mass @ lift, loads, load, scheme)
    after = State(
        state.step + 1, (state.step + 1) * scheme.h, end_position, end_rotation, velocity, contacts, next_id,
        solution.hardship, energy, amplitude, rate,
    )  # fmt: skip
    contact_time, solver_time = after_contact - before_contact, after_solver - before_solver
    return after, solution, (contact_time, solver_time, perf_counter() - begin - contact_time - solver_time)


def _with_supports(model: Model, velocity: Array, support: Array) -> Array:
    return np.where(model.bodies.fixed[:, None], support, velocity)


class Axes(NamedTuple):
    """How the coordinates of a `Problem` lie in the world."""

    contact: Array  # (C, 3, 3) world vectors: normal, tangent, tangent; in the plane the last is zero
    inverse_root: Array  # (N, 3, 3) inverse of the lower root of the rotational inertia
    approach: Array  # (C,) [m/s] of the bias what is not the velocity of supports: gap / h, negative where a contact bounces


def assemble(model, state, position, rotation, moving, contacts, load, scheme) -> tuple[Problem, Guess, Axes]:
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
    _rows(contacts, position, moving, slot, bodies.mass, inverse_root, scheme.h, model.planar, row_a, row_b, frame, bias)
    approach = contacts.gap / scheme.h
    _turn_into(frame, contacts.impulse, old_impulse)
    memory = old_impulse * np.array([0.0, 1.0, 1.0]) if scheme.surface.compliant else np.zeros((count, 3))
    mass, old_velocity = bodies.mass[movable], whiten(bodies.mass[movable], inverse_root, moving[movable])
    row_a, row_b, free, old_velocity = (unknowns_of(each, model.planar) for each in (row_a, row_b, free, old_velocity))
    problem = Problem(
        slot[contacts.a], slot[contacts.b], row_a, row_b, bias, law.friction, law.dilatancy, law.compliance, memory, free,
        mass, model.position[movable], scheme.speed, float(mass.sum()),
    )  # fmt: skip
    if model.restitution is not None:
        bounce = model.restitution[bodies.group[contacts.a], bodies.group[contacts.b]]
        approach = _with_rebound(problem, old_velocity, approach, bounce, scheme)
        problem.bias[:, 0] += approach - contacts.gap / scheme.h
    guess = Guess(old_velocity, old_impulse, state.hardship)
    return problem, guess, Axes(frame, inverse_root, approach)


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
def _rows(contacts, position, velocity, slot, mass, inverse_root, h, planar, row_a, row_b, frame, bias):
    """Contact frames, whitened Jacobian rows and bias (T9)."""
    for c in range(contacts.a.shape[0]):
        _frame(contacts.normal[c], planar, frame[c])
        bias[c, 0], bias[c, 1], bias[c, 2] = contacts.gap[c] / h, 0.0, 0.0
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


class Work(NamedTuple):
    """What the contacts of one step did [J]."""

    elastic: float  # stored at the end of the step
    friction: float
    fracture: float
    impact: float
    support: float  # done by moved supports


def _settle(state, problem, guess, axes, borne, scheme) -> tuple[Contacts, Work]:
    """Contacts with the impulses and velocities of the step, and the work done in them (T17)."""
    solution, _, elastic, friction, fracture, contacts = borne
    tau = solution.impulse
    mean = relative_velocity(problem, 0.5 * (guess.velocity + solution.velocity))
    mean[:, 0] -= axes.approach  # now the mean relative velocity of the points, supports included
    support = problem.bias.copy()
    support[:, 0] -= axes.approach
    impact = -float(np.vdot(tau, mean)) - friction - fracture - (elastic - state.energy.elastic)
    work = Work(elastic, friction, fracture, impact, -float(np.vdot(tau, support)))
    world = axes.contact.transpose(0, 2, 1)
    impulse = np.einsum("cij,cj->ci", world, tau)
    closing = np.einsum("cij,cj->ci", world, borne.drift)
    return contacts._replace(impulse=impulse, velocity=closing), work


def _work_of_loads(model: Model, wrench: Array, movement: Array, turn: Array) -> float:
    """[J] of loads (B, 6) on free blocks that move (B, 3) [m] and turn (B, 3) [rad] (T42)."""
    push = wrench[~model.bodies.fixed]
    return float(np.vdot(push[:, :3], movement[~model.bodies.fixed]) + np.vdot(push[:, 3:], turn[~model.bodies.fixed]))


def _ledger(
    old: Energy, work: Work, kinetic: float, strain: float, lift: Array, loads: float, load: Load, scheme: Scheme
) -> Energy:
    """Close the balance of a step: what no other entry explains is numerical dissipation. lift (3,) [kg m] is the
    displacement of the free blocks weighted by their mass, loads [J] the work of the loads."""
    potential = old.potential + load.gravity * float(lift[2])
    ground = work.support - float(lift @ load.ground) / scheme.h + loads
    stored = kinetic + potential + work.elastic - old.kinetic - old.potential - old.elastic + (strain - old.strain)
    numerical = ground - stored - work.friction - work.fracture - work.impact
    return Energy(
        kinetic, potential, work.elastic, old.ground + ground, old.friction + work.friction, old.impact + work.impact,
        old.numerical + numerical, old.fracture + work.fracture, strain,
    )  # fmt: skip


@inner
def kinetic_energy(bodies, rotation, velocity):
    """[J] of the free bodies."""
    total = 0.0
    for i in range(velocity.shape[0]):
        if bodies.fixed[i]:
            continue
        v, spin = velocity[i], (velocity[i, 3], velocity[i, 4], velocity[i, 5])
        total += 0.5 * bodies.mass[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        total += 0.5 * dot(spin, multiply_vector(world_inertia(rotation[i], bodies.inertia[i]), spin))
    return total
