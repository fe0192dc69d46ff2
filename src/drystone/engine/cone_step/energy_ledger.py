"""The energy ledger of a step by a cone program: what the solver found comes in, the work done in the contacts and the new
`Energy` go out (T17, T464)."""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner
from drystone.contact.contacts import Contacts
from drystone.engine.cone_step.contact_strain import Found, strained
from drystone.engine.cone_step.landing import Landing, still_steady
from drystone.engine.cone_step.mortar import JointSolution
from drystone.engine.cone_step.push_apart import Apart
from drystone.engine.rotation import dot, multiply_vector, world_inertia
from drystone.engine.solvers.problem import Problem, relative_velocity
from drystone.engine.solvers.solution import Guess
from drystone.engine.state import Energy
from drystone.structure.model import Model

Array = np.ndarray

AMISS = 0.01  # in units of g times the step: contacts that part more slowly do so by rounding and the solver's error


class Axes(NamedTuple):
    """How the coordinates of a `Problem` lie in the world, and with what its contacts begin."""

    contact: Array  # (C, 3, 3) world vectors: normal, tangent, tangent; in the plane the last is zero
    inverse_root: Array  # (N, 3, 3) inverse of the lower root of the rotational inertia
    approach: Array  # (C,) [m/s] of the bias what is not the velocity of supports: gap / h, negative where a contact bounces
    found: Found
    stiffness: Array  # (C,) [N/m] zero if rigid
    steady: Array  # (C, 3) [N s] what the contacts bore in the last step without a blow


class ContactWork(NamedTuple):
    """What the contacts of one step did [J]."""

    elastic: float  # stored at the end of the step
    friction: float
    fracture: float
    impact: float
    support: float  # done by moved supports
    made: float  # by pushing blocks apart that overlapped


def settle(
    old: Energy, problem: Problem, guess: Guess, axes: Axes, borne: JointSolution, eased: Landing, parted: Apart,
    relaxation: float, h: float,
) -> tuple[Contacts, ContactWork]:  # fmt: skip
    """Contacts with the impulses, velocities and strains of the step, and the work done in them."""
    tau = borne.solution.impulse + eased.borne
    mean = relative_velocity(problem, 0.5 * (guess.velocity + borne.solution.velocity))
    mean[:, 0] -= axes.approach  # now the mean relative velocity of the points, supports included
    support = problem.bias.copy()
    support[:, 0] -= axes.approach
    contacts, elastic = with_strain(axes, borne, tau, relaxation, h)
    made, lift = _made(problem, guess, axes, borne, parted, h)
    impact = made - lift - float(np.vdot(tau, mean)) - borne.friction - borne.fracture - (elastic - old.elastic)
    work = ContactWork(elastic, borne.friction, borne.fracture, impact, -float(np.vdot(tau, support)), made)
    steady = still_steady(problem, guess, borne.solution, eased.borne, axes.steady)
    world = np.stack([tau, borne.drift, steady], axis=1) @ axes.contact
    impulse, velocity, steady = (np.ascontiguousarray(world[:, k]) for k in range(3))
    return contacts._replace(impulse=impulse, velocity=velocity, steady=steady), work


def with_strain(axes: Axes, borne: JointSolution, tau: Array, relaxation: float, h: float) -> tuple[Contacts, float]:
    """The contacts with their springs after the step, and the energy in these [J]."""
    contacts = borne.contacts._replace(stiffness=axes.stiffness)
    if borne.bonded or not axes.stiffness.any():
        return contacts, borne.elastic
    springs = strained(axes.found, tau, axes.stiffness, relaxation, h)
    return contacts._replace(strain=np.einsum("cji,cj->ci", axes.contact, springs.strain)), springs.energy


def _made(problem: Problem, guess: Guess, axes: Axes, borne: JointSolution, parted: Apart, h: float) -> tuple[float, float]:
    """[J] that contacts made by pushing blocks apart, and that parting them lifted, in all. What a landing went too far in the
    drift fell by as much before, and is not made (T464)."""
    overlaps = (axes.approach < -AMISS * problem.speed) & (axes.approach * h == axes.found.gap) & (axes.stiffness == 0.0)
    pushed = -float(borne.solution.impulse[overlaps, 0] @ axes.approach[overlaps])
    if not parted.multiplier.any():
        return pushed, 0.0
    pull = (problem.free - guess.velocity)[:, : parted.displacement.shape[1]] / h
    pull[:, parted.displacement.shape[1] // 2 :] = 0.0
    lifted = -_along(problem, pull) * parted.multiplier
    return pushed + float(np.maximum(lifted, 0.0)[~parted.landed].sum()), float(lifted.sum())


def _along(problem: Problem, vector: Array) -> Array:
    """(C,) rows of the normal times a whitened vector (N, D)."""
    padded = np.vstack([vector, np.zeros(vector.shape[1])])
    width = vector.shape[1]
    return np.einsum("ck,ck->c", problem.row_a[:, 0, :width], padded[problem.a]) + np.einsum(
        "ck,ck->c", problem.row_b[:, 0, :width], padded[problem.b]
    )  # fmt: skip


def work_of_loads(model: Model, wrench: Array, movement: Array, turn: Array) -> float:
    """[J] of loads (B, 6) on free blocks that move (B, 3) [m] and turn (B, 3) [rad] (T42)."""
    push = wrench[~model.bodies.fixed]
    return float(np.vdot(push[:, :3], movement[~model.bodies.fixed]) + np.vdot(push[:, 3:], turn[~model.bodies.fixed]))


def balanced(
    old: Energy, work: ContactWork, kinetic: float, strain: float, lift: Array, loads: float, gravity: float, ground: Array
) -> Energy:
    """Close the balance of a step: what no other entry explains is numerical dissipation. lift (3,) [kg m] is the
    displacement of the free blocks weighted by their mass, loads [J] the work of the loads, ground (3,) [m/s2] the mean
    acceleration of the ground."""
    potential = old.potential + gravity * float(lift[2])
    came = work.support - float(lift @ ground) + loads
    stored = kinetic + potential + work.elastic - old.kinetic - old.potential - old.elastic + (strain - old.strain)
    numerical = came + work.made - stored - work.friction - work.fracture - work.impact
    return Energy(
        kinetic, potential, work.elastic, old.ground + came, old.friction + work.friction, old.impact + work.impact,
        old.numerical + numerical, old.fracture + work.fracture, strain, made=old.made + work.made,
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
