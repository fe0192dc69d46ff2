"""The record of where a history is between two of its intervals."""

from typing import NamedTuple

import numpy as np

from drystone.contact.patch_memory import CellMemory, PatchMemory
from drystone.engine.state import NO_MODES, Energy

Array = np.ndarray


class Course(NamedTuple):
    """Where the blocks are in the middle of a time step."""

    position: Array  # (B, 3)
    rotation: Array  # (B, 4)
    velocity: Array  # (B, 6)
    momentum: Array  # (B, 3) angular
    memory: PatchMemory
    cells: CellMemory
    energy: Energy
    ratio: tuple[float, int]
    rest: Array  # (B,) [s] how long each block has rested, as in the state
    is_start: bool  # nothing of the time step has passed yet
    amplitude: Array = NO_MODES  # (S, m) of deformable blocks
    rate: Array = NO_MODES  # (S, m)
