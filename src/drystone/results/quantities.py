"""Quantities that pictures, the page and exports show for a frame of a `Run`, one number per block or per joint.

`QUANTITIES` are those by which blocks can be coloured; `frame_resultants` are the forces in the joints; `displacements` are
those of all blocks.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from drystone.base import quaternion
from drystone.base.errors import InputError, did_you_mean
from drystone.contact.contacts import Contacts
from drystone.io.case import Case
from drystone.results.measures import mechanism_of_frame
from drystone.results.resultants import Resultants, joint_resultants
from drystone.results.store.run_reader import Run, recorded_case
from drystone.structure.deformable_blocks import gauss_stresses, von_mises

Array = np.ndarray

FULL_TURN = 2.0 * np.pi


class Quantity(NamedTuple):
    """A quantity by which the blocks of a frame can be coloured."""

    unit: str
    of: Callable[[Run, int], Array]  # (B,) values in a frame; nan for blocks that have none
    categorical: bool = False  # the values are numbers of classes (0: blocks at rest), not amounts


def find_quantity(name: str) -> Quantity:
    """The entry of `QUANTITIES` with this name."""
    if name not in QUANTITIES:
        raise InputError(f"{name!r} is not a quantity{did_you_mean(name, QUANTITIES)}; choose one of {', '.join(QUANTITIES)}")
    return QUANTITIES[name]


def list_quantities(run: Run) -> list[str]:
    """The names of the quantities that a run has."""
    return [name for name in QUANTITIES if name != "von mises" or run.model.elastic is not None]


def displacements(run: Run, start: int = 0, before: Array | None = None) -> Array:
    """(F - start, B, 6) [m, rad] displacements of the centroids since the first frame, and rotation vectors in which full turns
    are counted, continuing those of the frame before, `before` (B, 6)."""
    (position, rotation), (first, upright) = run.poses(start, run.frames), run.poses(0, 1)
    turn = quaternion.rotation_vector(quaternion.product(rotation, quaternion.conjugate(upright)))
    known = turn[:0] if before is None else before[None, :, 3:]
    counted = _unwrapped(np.concatenate([known, turn]))[len(known) :]
    return np.concatenate([position - first, counted], axis=-1)


def frame_resultants(run: Run, frame: int) -> Resultants:
    """The resultant forces in the joints [N] in a frame; in a history, their means over the step that ends in it."""
    return joint_resultants(run.model, contact_forces(run, frame))


def contact_forces(run: Run, frame: int) -> Contacts:
    """The contacts of a frame with forces [N] in the field `impulse`."""
    contacts, case = run.contacts(frame), _case(run)
    if not case.goes_through_time:
        return contacts
    return contacts._replace(impulse=contacts.impulse / case.history.time_step)


def joint_pressures(resultants: Resultants) -> Array:
    """(J,) [Pa] the mean pressure in each joint; nan in joints without area, such as hinges."""
    thrust, area = resultants.thrust, resultants.area
    return np.divide(thrust, area, out=np.full(len(area), np.nan), where=area > 0.0)


def block_pressures(run: Run, resultants: Resultants) -> Array:
    """(B,) [Pa] the largest mean pressure in the joints of each block that have an area; nan if it has no such joint."""
    largest = np.full(len(run.model.blocks), np.nan)
    pressure = np.maximum(joint_pressures(resultants), 0.0)
    for side in (resultants.a, resultants.b):
        np.fmax.at(largest, side, pressure)
    return largest


def _pressure(run: Run, frame: int) -> Array:
    return block_pressures(run, frame_resultants(run, frame))


def _displacement(run: Run, frame: int) -> Array:
    return np.linalg.norm(run.position[frame] - run.position[0], axis=1)


def _rotation(run: Run, frame: int) -> Array:
    turn = quaternion.product(run.rotation[frame], quaternion.conjugate(run.rotation[0]))
    return np.linalg.norm(quaternion.rotation_vector(turn), axis=1)


def _velocity(run: Run, frame: int) -> Array:
    return np.linalg.norm(run.velocity[frame, :, :3], axis=1)


def _von_mises(run: Run, frame: int) -> Array:
    """(B,) [Pa] the largest von Mises stress among the bricks of each block."""
    elastic, largest = run.model.elastic, np.full(len(run.model.blocks), np.nan)
    if elastic is None:
        raise InputError(f"{run.folder}: all blocks are rigid and have no stresses; set deformable in [structure]")
    stresses = gauss_stresses(elastic, run.state(frame).amplitude)
    largest[elastic.block] = [von_mises(stress.mean(axis=1)).max() for stress in stresses]
    return largest


def _macro(run: Run, frame: int) -> Array:
    return mechanism_of_frame(run, frame).macro.astype(float)


QUANTITIES = {
    "displacement": Quantity("m", _displacement),
    "velocity": Quantity("m/s", _velocity),
    "rotation": Quantity("rad", _rotation),
    "joint pressure": Quantity("Pa", _pressure),
    "von mises": Quantity("Pa", _von_mises),
    "macro-block": Quantity("", _macro, categorical=True),
}


def _unwrapped(turn: Array) -> Array:
    """(F, B, 3) rotation vectors with full turns added, so that each is nearest to that of the frame before."""
    turn = turn.copy()
    for before, now in pairwise(turn):
        angle = np.linalg.norm(now, axis=1, keepdims=True)
        axis = np.divide(now, angle, out=np.zeros_like(now), where=angle > 0.0)
        along = np.einsum("ij,ij->i", before, axis)[:, None]
        now += FULL_TURN * np.round((along - angle) / FULL_TURN) * axis
    return turn


@lru_cache(maxsize=8)
def _case(run: Run) -> Case:
    return recorded_case(run)
