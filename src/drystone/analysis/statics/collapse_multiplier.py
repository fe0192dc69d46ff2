"""Limit analysis with associated friction: the collapse multiplier of a live load on a dead load (T33).

It is one cone program. Its dual variables are the mechanism and also give the sensitivity of the collapse multiplier to loads
and friction (T37). The multiplier by Coulomb friction is not unique; it is at most the associated one, see coulomb_collapse.py.
"""

from typing import NamedTuple

import numpy as np

from drystone.analysis.statics.balance import Balance
from drystone.analysis.statics.cone_program import SOLVED, Optimum, optimise_forces
from drystone.analysis.statics.fibres import best_in_fibres, has_strengths
from drystone.contact.contacts import Contacts
from drystone.structure.model import Model

Array = np.ndarray


class LimitState(NamedTuple):
    """The state of collapse."""

    multiplier: float  # of the live load; infinite if unbounded, nan if the structure stands under no multiple of it
    velocity: Array  # (B, 6) the mechanism, its fastest corner moving at 1 m/s
    contacts: Contacts  # with forces [N] at collapse instead of impulses
    optimum: Optimum
    balance: Balance  # the balance of these contacts: the given one, or its fibres if joints are bonded or can be crushed


def solve_limit(balance: Balance, dead: Array, live: Array) -> LimitState:
    """The associated collapse multiplier of live loads (B, 6) on dead ones."""
    balance, optimum = best_forces(balance, dead, live)
    multiplier = np.inf if optimum.status == "endless" else optimum.multiplier
    return LimitState(
        multiplier, normalise_mechanism(balance, optimum.velocity), balance.with_forces(optimum.force), optimum, balance
    )


def stands_with_associated_friction(balance: Balance, dead: Array) -> bool:
    """Whether forces within the cone of friction balance the dead load (B, 6) alone."""
    return best_forces(balance, dead)[1].status == SOLVED


def best_forces(balance: Balance, dead: Array, live: Array | None = None) -> tuple[Balance, Optimum]:
    """The balance whose contacts bear the loads, and the optimum of dead and live loads."""
    return best_in_fibres(balance, dead, live) if has_strengths(balance) else (balance, optimise_forces(balance, dead, live))


def multiplier_shortfall(balance: Balance, optimum: Optimum) -> float:
    """By how much, to first order, the computed multiplier may be too low; nan if there is none. It is not too high, because
    its forces are admissible. The mechanism lies slightly outside the dual cone, and this is the power of the normal forces
    there."""
    if optimum.status != SOLVED:
        return np.nan
    drift = balance.relative_velocity(optimum.velocity)
    missed = np.maximum(balance.friction * np.linalg.norm(drift[:, 1:], axis=1) - drift[:, 0], 0.0)
    return float(missed @ np.abs(optimum.force[:, 0])) + optimum.error


def gain_by_load(optimum: Optimum, dead: Array, live: Array) -> float:
    """The increase of the multiplier, to first order, by these additional dead and live loads (B, 6) (T37)."""
    return -float(np.vdot(optimum.velocity, dead + optimum.multiplier * live))


def gain_by_friction(optimum: Optimum) -> Array:
    """(C,) The derivative of the multiplier with respect to the coefficient of friction of each contact (T37)."""
    return optimum.rate * optimum.force[:, 0]


def normalise_mechanism(balance: Balance, velocity: Array) -> Array:
    """A mechanism (B, 6) scaled so that the largest rim speed of its blocks is 1 m/s."""
    return velocity / (largest_rim_speed(balance.model, velocity).max() or 1.0)


def largest_rim_speed(model: Model, velocity: Array) -> Array:
    """(B,) An upper bound of the speed of each block at its rim."""
    return np.linalg.norm(velocity[:, :3], axis=1) + model.bodies.radius * np.linalg.norm(velocity[:, 3:], axis=1)
