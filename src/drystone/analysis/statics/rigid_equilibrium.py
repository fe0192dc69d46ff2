"""Whether a structure of rigid blocks stands, with its contact forces or the mechanism that starts.

The step of T9 is taken from rest with every gap closed. Its velocity is zero if and only if contact forces within the cone of
friction balance the loads (T12). If not, it is the mechanism that starts, in units of the length of the step. Forces between
rigid blocks are not unique; `force_bounds` gives the smallest and the largest value of one of them over all admissible states.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from drystone.analysis.statics.balance import Balance
from drystone.analysis.statics.cone_program import optimise_forces
from drystone.base.blas import one_blas_thread
from drystone.base.units import GRAVITY
from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.detection import detect
from drystone.engine.cone_step.energy_ledger import with_strain
from drystone.engine.cone_step.integrator import Load, Scheme, State, assemble_problem, bear_joints
from drystone.engine.contact_laws import RIGID_SURFACE, ContactSurface
from drystone.engine.simulation import initial_state
from drystone.engine.solvers.problem import unwhiten, velocity_scale
from drystone.engine.solvers.solution import ContactSolver, Solution
from drystone.structure.loads import AppliedLoad, find_blocks, load_wrench, unit_vector
from drystone.structure.model import Model

Array = np.ndarray

STEP_DURATION = 1.0  # [s] any duration gives the same forces, because a structure that stands does not move in the step
STANDING_ACCELERATION = 1e-4  # [g] the largest mass-weighted rms acceleration of a structure that stands


class ContactEquilibrium(NamedTuple):
    """The effect of the loads on a structure at rest."""

    stands: bool
    motion: float  # mass-weighted rms acceleration in units of g
    acceleration: Array  # (B, 6) [m/s2, rad/s2] with which it starts to move
    contacts: Contacts  # with forces [N] instead of impulses; not unique for rigid contact
    solution: Solution


def solve_equilibrium(
    model: Model,
    *,
    solver: ContactSolver,
    gravity: float = GRAVITY,
    loads: Iterable[AppliedLoad] = (),
    push: Array | None = None,
    surface: ContactSurface = RIGID_SURFACE,
    widest: float = np.inf,
) -> ContactEquilibrium:
    """Whether the structure as drawn bears its weight, loads and a further push (B, 6) [N, N m] on its blocks. Blocks that
    contact detection finds are taken to touch, except for gaps above `widest` [m]. A compliant surface makes the forces unique
    (the regularised state of BRT)."""
    state = initial_state(model, gravity)
    contacts, _ = detect(
        model.bodies, state.position, state.rotation, state.velocity, STEP_DURATION, no_contacts(), 0, model.planar
    )
    contacts = Contacts(*(each[contacts.gap <= widest] for each in contacts))
    touching = state._replace(contacts=contacts._replace(gap=np.zeros_like(contacts.gap)))
    total = load_wrench(model, loads, gravity) + (0.0 if push is None else push)
    return step_from_rest(model, touching, total, solver=solver, gravity=gravity, surface=surface)


def step_from_rest(
    model: Model, state: State, push: Array, *, solver: ContactSolver, gravity: float, surface: ContactSurface
) -> ContactEquilibrium:
    """The effect of weight and a push (B, 6) [N, N m] in a step from rest, with the contacts of the state and their forces [N].
    The step takes one second, so that velocities, accelerations and displacements are the same numbers, and impulses are
    forces."""
    h, fixed, contacts = STEP_DURATION, model.bodies.fixed, state.contacts
    at_rest = Load(gravity, np.zeros(3), np.zeros_like(state.velocity), push)
    scheme = Scheme(h, 1.0, True, surface._replace(relaxation=0.0), GRAVITY * h)
    problem, guess, axes = assemble_problem(
        model, state, state.position, state.rotation, state.velocity, contacts, at_rest, scheme
    )
    with one_blas_thread():
        borne = bear_joints(model, True, problem, guess, axes, contacts, h, solver)
    solution = borne.solution
    after, _ = with_strain(axes, borne, solution.impulse, 0.0, h)
    acceleration = np.zeros_like(state.velocity)
    acceleration[~fixed] = unwhiten(problem.mass, axes.inverse_root, solution.velocity) / h
    motion = float(np.linalg.norm(solution.velocity) / velocity_scale(problem))
    forces = np.einsum("cji,cj->ci", axes.contact, solution.impulse) / h
    stands = bool(solution.converged and motion <= STANDING_ACCELERATION)
    return ContactEquilibrium(stands, motion, acceleration, after._replace(impulse=forces), solution)


class ForceBounds(NamedTuple):
    """[N] The smallest and largest value of a force; nan if no state is admissible, infinite if unbounded."""

    least: float
    largest: float


def force_bounds(balance: Balance, dead: Array, between: tuple[str, str], direction: Iterable[float]) -> ForceBounds:
    """The component along `direction` of the force that one block or group exerts on another, over all admissible states
    (Heyman's minimum and maximum thrust; T32)."""
    if not len(balance.friction):
        return ForceBounds(np.nan, np.nan)
    cost = _component(balance, between, direction)
    least, largest = optimise_forces(balance, dead, cost=cost), optimise_forces(balance, dead, cost=-cost)
    ends = [end.value if end.status != "endless" else -np.inf for end in (least, largest)]
    return ForceBounds(ends[0], -ends[1])


def _component(balance: Balance, between: tuple[str, str], direction: Iterable[float]) -> Array:
    """(C, d) The contribution of each contact force to the component; forces act on b."""
    model, contacts = balance.model, balance.contacts
    first, second = (np.isin(np.arange(len(model.blocks)), find_blocks(model, name, "bounds.between")) for name in between)
    sign = (first[contacts.a] & second[contacts.b]).astype(float) - (second[contacts.a] & first[contacts.b])
    return sign[:, None] * (balance.frame @ unit_vector(direction))
