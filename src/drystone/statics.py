"""Statics: a model comes in, whether it stands goes out: one contact problem from rest.

The step of T9 taken from rest with every gap closed: its velocity is zero if and only if contact forces that the friction
allows balance the weight (T12); if not, it is the mechanism that starts, in units of the length of the step.
"""

from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.detect import detect
from drystone.joints import RIGID
from drystone.model import Model
from drystone.problem import unwhiten
from drystone.simulate import initial_state
from drystone.solvers.solution import ContactSolver, Solution
from drystone.stepping import Load, Scheme, assemble
from drystone.units import GRAVITY

Array = np.ndarray

STILL = 1e-4  # acceleration in units of g, mass-weighted rms, of what is said to stand


class Equilibrium(NamedTuple):
    """What the weight does to a structure at rest."""

    stands: bool
    motion: float  # mass-weighted rms acceleration in units of g
    acceleration: Array  # (B, 6) [m/s2, rad/s2] with which it starts to move
    contacts: Contacts  # with forces [N] in the place of impulses; of rigid contact not unique
    solution: Solution


def equilibrium(model: Model, *, solver: ContactSolver, gravity: float = GRAVITY) -> Equilibrium:
    """Whether the structure, as built, bears its weight. Blocks as near as contact detection sees are taken to touch."""
    h = 1.0  # [s]: nothing moves, so any step gives the same forces
    state, fixed = initial_state(model, gravity), model.bodies.fixed
    contacts, _ = detect(model.bodies, state.position, state.rotation, state.velocity, h, no_contacts(), 0, model.planar)
    contacts = contacts._replace(gap=np.zeros_like(contacts.gap))
    load = Load(gravity, np.zeros(3), np.zeros_like(state.velocity))
    scheme = Scheme(h, 1.0, True, RIGID, GRAVITY * h, 1)
    problem, guess, axes = assemble(model, state, state.position, state.rotation, state.velocity, contacts, load, scheme)
    with threadpool_limits(1, user_api="blas"):
        solution = solver(problem, guess)
    acceleration = np.zeros_like(state.velocity)
    acceleration[~fixed] = unwhiten(problem.mass, axes.inverse_root, solution.velocity) / h
    motion = float(np.linalg.norm(solution.velocity) / (problem.speed * np.sqrt(problem.total_mass)))
    forces = np.einsum("cji,cj->ci", axes.contact, solution.impulse) / h
    stands = bool(solution.converged and motion <= STILL)
    return Equilibrium(stands, motion, acceleration, contacts._replace(impulse=forces), solution)
