"""Whether a structure stands: a model and its loads come in, forces or the mechanism that starts go out.

The step of T9 taken from rest with every gap closed: its velocity is zero if and only if contact forces that the friction
allows balance the loads (T12); if not, it is the mechanism that starts, in units of the length of the step. Rigid blocks
leave forces undetermined; `bounds` gives the least and the largest value of one of them over all admissible states.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from drystone.blas import one_blas_thread
from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.detect import detect
from drystone.joints import RIGID, Surface
from drystone.ledger import with_strain
from drystone.loads import Push, members, unit, wrench
from drystone.model import Model
from drystone.problem import unwhiten
from drystone.simulate import initial_state
from drystone.solvers.solution import ContactSolver, Solution
from drystone.statics.balance import Balance
from drystone.statics.program import optimise
from drystone.stepping import Load, Scheme, State, assemble, bear_joints
from drystone.units import GRAVITY

Array = np.ndarray

SECOND = 1.0  # [s] the step: a structure that stands does not move in it, so that any step gives the same forces
STILL = 1e-4  # acceleration in units of g, mass-weighted rms, of what is said to stand


class Equilibrium(NamedTuple):
    """What its loads do to a structure at rest."""

    stands: bool
    motion: float  # mass-weighted rms acceleration in units of g
    acceleration: Array  # (B, 6) [m/s2, rad/s2] with which it starts to move
    contacts: Contacts  # with forces [N] in the place of impulses; of rigid contact not unique
    solution: Solution


def equilibrium(
    model: Model,
    *,
    solver: ContactSolver,
    gravity: float = GRAVITY,
    loads: Iterable[Push] = (),
    push: Array | None = None,
    surface: Surface = RIGID,
    widest: float = np.inf,
) -> Equilibrium:
    """Whether the structure, as built, bears its weight, loads and a further push (B, 6) [N, N m] on its blocks. Blocks as near
    as contact detection sees are taken to touch, but for gaps above `widest` [m]. A compliant surface makes the forces unique
    (BRT's regularised state)."""
    state = initial_state(model, gravity)
    contacts, _ = detect(model.bodies, state.position, state.rotation, state.velocity, SECOND, no_contacts(), 0, model.planar)
    contacts = Contacts(*(each[contacts.gap <= widest] for each in contacts))
    touching = state._replace(contacts=contacts._replace(gap=np.zeros_like(contacts.gap)))
    total = wrench(model, loads, gravity) + (0.0 if push is None else push)
    return press(model, touching, total, solver=solver, gravity=gravity, surface=surface)


def press(
    model: Model, state: State, push: Array, *, solver: ContactSolver, gravity: float, surface: Surface
) -> Equilibrium:
    """What weight and a push (B, 6) [N, N m] do in a step from rest, with the contacts of the state and their forces [N]. The
    step is a second, so that velocities, accelerations and displacements are the same numbers, and impulses are forces."""
    h, fixed, contacts = SECOND, model.bodies.fixed, state.contacts
    still = Load(gravity, np.zeros(3), np.zeros_like(state.velocity), push)
    scheme = Scheme(h, 1.0, True, surface._replace(relaxation=0.0), GRAVITY * h)
    problem, guess, axes = assemble(model, state, state.position, state.rotation, state.velocity, contacts, still, scheme)
    with one_blas_thread():
        borne = bear_joints(model, True, problem, guess, axes, contacts, h, solver)
    solution = borne.solution
    after, _ = with_strain(axes, borne, solution.impulse, 0.0, h)
    acceleration = np.zeros_like(state.velocity)
    acceleration[~fixed] = unwhiten(problem.mass, axes.inverse_root, solution.velocity) / h
    motion = float(np.linalg.norm(solution.velocity) / (problem.speed * np.sqrt(problem.total_mass)))
    forces = np.einsum("cji,cj->ci", axes.contact, solution.impulse) / h
    stands = bool(solution.converged and motion <= STILL)
    return Equilibrium(stands, motion, acceleration, after._replace(impulse=forces), solution)


class Bounds(NamedTuple):
    """How much a force may be [N]; nan where no state is admissible, infinite where nothing bounds it."""

    least: float
    largest: float


def bounds(balance: Balance, dead: Array, between: tuple[str, str], direction: Iterable[float]) -> Bounds:
    """The component along `direction` of the force that one block or group exerts on another, over all admissible states
    (Heyman's minimum and maximum thrust; T32)."""
    if not len(balance.friction):
        return Bounds(np.nan, np.nan)
    cost = _component(balance, between, direction)
    least, most = optimise(balance, dead, cost=cost), optimise(balance, dead, cost=-cost)
    ends = [end.value if end.status != "endless" else -np.inf for end in (least, most)]
    return Bounds(ends[0], -ends[1])


def _component(balance: Balance, between: tuple[str, str], direction: Iterable[float]) -> Array:
    """(C, d) what each force adds to the component; forces act on b."""
    model, contacts = balance.model, balance.contacts
    one, other = (np.isin(np.arange(len(model.blocks)), members(model, name, "bounds.between")) for name in between)
    sign = (one[contacts.a] & other[contacts.b]).astype(float) - (other[contacts.a] & one[contacts.b])
    return sign[:, None] * (balance.frame @ unit(direction))
