"""One time step: a `State` comes in, the `State` at the end of the step goes out."""

from typing import NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts

Array = np.ndarray


class Energy(NamedTuple):
    """The ledger [J]: the first three are of this instant, the others have been added up since the start.
    kinetic + potential + elastic + friction + impact + numerical = const + ground."""

    kinetic: float
    potential: float  # gravity, from the level of the lowest point of the free blocks at the start
    elastic: float  # stored in compliant contacts
    ground: float  # work of the ground on the structure, seen from the ground
    friction: float  # dissipated by sliding
    impact: float  # dissipated by impact
    numerical: float  # dissipated by the time integration


class State(NamedTuple):
    """All that is needed to go on, bit for bit."""

    step: int
    time: float  # [s]
    position: Array  # (B, 3) [m] centroids, seen from the moving ground
    rotation: Array  # (B, 4) unit quaternion, scalar first, body to world
    velocity: Array  # (B, 6) [m/s, rad/s] world axes, seen from the moving ground
    contacts: Contacts  # of the last step, with their impulses
    next_id: int  # first free contact id
    hardship: int  # how hard the last step was to solve: the native solver chooses its path by it
    energy: Energy
