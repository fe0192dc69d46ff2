"""The record of where a structure is: what a step starts from, a run keeps and is read from. No kernel is loaded with it."""

from typing import NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.contact.patch_memory import CellMemory, PatchMemory, no_cells, no_memory

Array = np.ndarray


class Energy(NamedTuple):
    """The ledger [J]: the first three are of this instant, the others have been added up since the start.
    kinetic + potential + elastic + strain + friction + fracture + impact + damping + geometry + numerical - made
    = const + ground."""

    kinetic: float
    potential: float  # gravity, from the level of the lowest point of the free blocks at the start
    elastic: float  # stored in compliant contacts
    ground: float  # work of the ground, seen from the ground, of loads, and of who takes blocks away
    friction: float  # dissipated by sliding
    impact: float  # dissipated by impact
    numerical: float  # dissipated by the time integration
    fracture: float = 0.0  # dissipated by bonds that break or are damaged, and by crushing
    strain: float = 0.0  # of this instant, stored in deformable blocks
    damping: float = 0.0  # dissipated by vibrations of the stone in joints (small steps)
    geometry: float = 0.0  # lost where joints were found anew and their elastic energy was less than before (small steps)
    made: float = 0.0  # a gain, not a loss: made by contact, which should make none (cone programs, T464)


NO_MODES = np.zeros((0, 0))  # where no block is deformable
NO_MEMORY = no_memory()
NO_CELLS = no_cells()
NO_REST = np.zeros(0)  # of a state whose blocks are all awake, as of one that small steps did not make


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
    amplitude: Array = NO_MODES  # (S, m) [kg^1/2 m] of the elastic modes of the deformable blocks
    rate: Array = NO_MODES  # (S, m) [kg^1/2 m/s]
    patches: PatchMemory = NO_MEMORY  # of small steps
    cells: CellMemory = NO_CELLS  # of joints that remember
    step_ratio: float = 0.0  # longest stable step over its bound, and the number of patches for which it was found
    ratio_patches: int = 0
    rest: Array = NO_REST  # (B,) [s] how long the island of each block has rested; engine/sleep.py: from CALM on it sleeps
