"""The record of what patches of contact carry over from one detection to the next. No kernel is loaded with it."""

from typing import NamedTuple

import numpy as np

from drystone.structure.joint_laws import OwnLaws

Array = np.ndarray

FRICTION_POINTS = 6  # of a patch


class PatchMemory(NamedTuple):
    """P patches, sorted by the blocks of their pair, its pieces and their faces."""

    piece: Array  # (P, 2) int64 convex pieces
    face: Array  # (P, 2) int64
    stretch: Array  # (P, 12) [m] of the friction points, each along t1 and t2
    shear_stiffness: Array  # (P,) [N/m] of a friction point
    energy: Array  # (P,) [J] elastic, of the pressure
    offset: Array  # (P,) [m] overlap that stays without force; the same for all patches of a pair of pieces
    dilation: Array  # (P, 2) [m] by which the joint has opened as it slid, [m/s] how fast it does


EVERY_CELL = 4  # numbers that any cell remembers, as engine/small_steps/cell_stress.py names them; those of its law follow
CELL_NUMBERS = 9  # that a cell remembers for a `JointLaw`


class CellMemory(NamedTuple):
    """What C cells carry over from one detection to the next, in the order of their patches."""

    piece: Array  # (C, 2) int64
    face: Array  # (C, 2) int64
    cell: Array  # (C, 2) int64 number along both axes of the face
    state: Array  # (C, M) M is CELL_NUMBERS, or more where a law from outside needs more


def cell_numbers(own: OwnLaws | None) -> int:
    """How many numbers a cell remembers in a model with these laws from outside."""
    return max([CELL_NUMBERS, *(EVERY_CELL + law.memory for row in own or () for law in row if law is not None)])


def no_cells(numbers: int = CELL_NUMBERS) -> CellMemory:
    """The empty record."""
    i = np.empty((0, 2), np.int64)
    return CellMemory(i, i, i, np.empty((0, numbers)))


def no_memory() -> PatchMemory:
    """The empty record, from which every history starts."""
    i, s = np.empty((0, 2), np.int64), np.empty(0)
    return PatchMemory(i, i, np.empty((0, 2 * FRICTION_POINTS)), s, s, s, np.empty((0, 2)))
