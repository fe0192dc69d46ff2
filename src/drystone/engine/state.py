"""The state of a structure at an instant, from which a step starts and which a run stores. Importing it loads no kernel."""

from typing import NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.contact.patch_memory import CellMemory, PatchMemory, no_cells, no_memory

Array = np.ndarray


class Energy(NamedTuple):
    """The energy balance [J]: kinetic, potential, elastic and strain are of this instant, the others are summed since the
    start.
    kinetic + potential + elastic + strain + friction + fracture + impact + damping + geometry + numerical - made
    = const + ground."""

    kinetic: float
    potential: float  # gravity, from the level of the lowest point of the free blocks at the start
    elastic: float  # stored in compliant contacts
    ground: float  # work of the ground, in its moving frame, of loads, and of removing blocks
    friction: float  # dissipated by sliding
    impact: float  # dissipated by impact
    numerical: float  # dissipated by the time integration
    fracture: float = 0.0  # dissipated by breaking and damage of bonds, and by crushing
    strain: float = 0.0  # of this instant, stored in deformable blocks
    damping: float = 0.0  # dissipated by vibrations of the stone in joints (small steps)
    geometry: float = 0.0  # lost where joints were detected again and had less elastic energy than before (small steps)
    made: float = 0.0  # a gain, not a loss: made by contact, which should make none (cone programs, T464)


NO_MODES = np.zeros((0, 0))  # where no block is deformable
NO_MEMORY = no_memory()
NO_CELLS = no_cells()
NO_REST = np.zeros(0)  # for a state whose blocks are all awake, or that small steps did not make


class State(NamedTuple):
    """Everything that is needed to continue a history bit by bit."""

    step: int
    time: float  # [s]
    position: Array  # (B, 3) [m] centroids, seen from the moving ground
    rotation: Array  # (B, 4) unit quaternion, scalar first, body to world
    velocity: Array  # (B, 6) [m/s, rad/s] world axes, seen from the moving ground
    contacts: Contacts  # of the last step, with their impulses
    next_id: int  # first unused contact id
    hardship: int  # steps for which the native solver skips Newton's method, after a step where Newton failed
    energy: Energy
    amplitude: Array = NO_MODES  # (S, m) [kg^1/2 m] of the elastic modes of the deformable blocks
    rate: Array = NO_MODES  # (S, m) [kg^1/2 m/s]
    patches: PatchMemory = NO_MEMORY  # of small steps
    cells: CellMemory = NO_CELLS  # of joints whose law has a memory
    step_ratio: float = 0.0  # longest stable step over its bound
    ratio_patches: int = 0  # the number of patches for which `step_ratio` was computed
    # (B,) [s] how long the island of each block has been at rest; after CALM it sleeps (engine/small_steps/sleeping_islands.py)
    rest: Array = NO_REST
