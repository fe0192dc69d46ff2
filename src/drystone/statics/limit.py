"""How much of a live load a structure bears: a balance, dead and live loads come in, the collapse multiplier goes out (T33).

Associated friction makes it one cone program whose multipliers are the mechanism. The multiplier of the exact law is not
unique; it is at most the associated one.
"""

from typing import NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.statics.balance import Balance
from drystone.statics.program import Optimum, optimise

Array = np.ndarray


class Limit(NamedTuple):
    """The state of collapse."""

    multiplier: float  # of the live load; infinite if nothing bounds it, nan if the structure stands under none
    velocity: Array  # (B, 6) the mechanism, its fastest corner moving at 1 m/s
    contacts: Contacts  # with forces [N] at collapse in the place of impulses
    optimum: Optimum


def limit(balance: Balance, dead: Array, live: Array) -> Limit:
    """The associated collapse multiplier of live loads (B, 6) on dead ones."""
    optimum = optimise(balance, dead, live)
    multiplier = np.inf if optimum.status == "endless" else optimum.multiplier
    return Limit(multiplier, paced(balance, optimum.velocity), balance.with_forces(optimum.force), optimum)


def paced(balance: Balance, velocity: Array) -> Array:
    """A mechanism (B, 6) scaled so that its fastest block, at its rim, moves at 1 m/s."""
    return velocity / (rim(balance, velocity).max() or 1.0)


def rim(balance: Balance, velocity: Array) -> Array:
    """(B,) how fast each block moves, at most, at its rim."""
    return np.linalg.norm(velocity[:, :3], axis=1) + balance.model.bodies.radius * np.linalg.norm(velocity[:, 3:], axis=1)
