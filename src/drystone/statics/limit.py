"""How much of a live load a structure bears: a balance, dead and live loads come in, the collapse multiplier goes out (T33).

Associated friction makes it one cone program whose multipliers are the mechanism, and also say how much the collapse
multiplier would gain by a little more of anything (T37). The multiplier of Coulomb's law is not unique; it is at most the
associated one, see nonassociated.py.
"""

from typing import NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.model import Model
from drystone.statics.balance import Balance
from drystone.statics.fibres import best_in_fibres, has_strengths
from drystone.statics.program import SOLVED, Optimum, optimise_forces

Array = np.ndarray


class LimitState(NamedTuple):
    """The state of collapse."""

    multiplier: float  # of the live load; infinite if nothing bounds it, nan if the structure stands under none
    velocity: Array  # (B, 6) the mechanism, its fastest corner moving at 1 m/s
    contacts: Contacts  # with forces [N] at collapse in the place of impulses
    optimum: Optimum
    balance: Balance  # whose contacts these are: that given, in fibres if joints are glued or can be crushed


def solve_limit(balance: Balance, dead: Array, live: Array) -> LimitState:
    """The associated collapse multiplier of live loads (B, 6) on dead ones."""
    balance, optimum = best_forces(balance, dead, live)
    multiplier = np.inf if optimum.status == "endless" else optimum.multiplier
    return LimitState(
        multiplier, normalise_mechanism(balance, optimum.velocity), balance.with_forces(optimum.force), optimum, balance
    )


def stands_with_associated_friction(balance: Balance, dead: Array) -> bool:
    """Whether forces that friction allows balance the dead load (B, 6) alone."""
    return best_forces(balance, dead)[1].status == SOLVED


def best_forces(balance: Balance, dead: Array, live: Array | None = None) -> tuple[Balance, Optimum]:
    """The optimum of dead and live loads, and the balance whose contacts bear it."""
    return best_in_fibres(balance, dead, live) if has_strengths(balance) else (balance, optimise_forces(balance, dead, live))


def multiplier_shortfall(balance: Balance, optimum: Optimum) -> float:
    """By how much, to first order, the multiplier found may still be too low; nan if there is none. Its forces are admissible,
    so it is not too high; the mechanism misses the dual cone by a little, on which the normal forces do this power."""
    if optimum.status != SOLVED:
        return np.nan
    drift = balance.relative_velocity(optimum.velocity)
    missed = np.maximum(balance.friction * np.linalg.norm(drift[:, 1:], axis=1) - drift[:, 0], 0.0)
    return float(missed @ np.abs(optimum.force[:, 0])) + optimum.error


def gain_by_load(optimum: Optimum, dead: Array, live: Array) -> float:
    """By how much the multiplier grows with so much more dead and live load (B, 6), to first order (T37)."""
    return -float(np.vdot(optimum.velocity, dead + optimum.multiplier * live))


def gain_by_friction(optimum: Optimum) -> Array:
    """(C,) by how much the multiplier grows with the coefficient of friction of each contact, per unit of it (T37)."""
    return optimum.rate * optimum.force[:, 0]


def normalise_mechanism(balance: Balance, velocity: Array) -> Array:
    """A mechanism (B, 6) scaled so that its fastest block, at its rim, moves at 1 m/s."""
    return velocity / (largest_rim_speed(balance.model, velocity).max() or 1.0)


def largest_rim_speed(model: Model, velocity: Array) -> Array:
    """(B,) how fast each block moves, at most, at its rim."""
    return np.linalg.norm(velocity[:, :3], axis=1) + model.bodies.radius * np.linalg.norm(velocity[:, 3:], axis=1)
