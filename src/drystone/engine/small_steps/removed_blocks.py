"""Blocks taken away in the middle of a history: a `State` comes in, the `State` without them goes out.

What they had of kinetic energy, and their joints of elastic energy, goes to who takes them: the entry `ground` of the ledger.
Their potential energy stays in it, that of a weight which is held where it is, so that taking a block away is no collapse.
"""

import numpy as np

from drystone.contact.patch_memory import PatchMemory
from drystone.engine.small_steps.bodies import momenta
from drystone.engine.state import State
from drystone.structure.model import Bodies

Array = np.ndarray


def without(bodies: Bodies, state: State, gone: Array) -> State:
    """The state when the blocks `gone` (B,) bool are taken away: they stand still, and no joint of theirs is remembered."""
    lost = gone[bodies.owner[state.patches.piece]].any(axis=1)
    elastic = stored(state.patches, lost)
    moving = kinetic(bodies, state.rotation, state.velocity, gone & ~bodies.fixed)
    energy = state.energy._replace(
        kinetic=state.energy.kinetic - moving,
        elastic=state.energy.elastic - elastic,
        ground=state.energy.ground - moving - elastic,
    )
    velocity = np.where(gone[:, None], 0.0, state.velocity)
    return state._replace(velocity=velocity, energy=energy, patches=PatchMemory(*(each[~lost] for each in state.patches)))


def stored(patches: PatchMemory, which: Array) -> float:
    """[J] elastic, of pressure and shear, in some patches (P,) bool."""
    shear = 0.5 * patches.shear_stiffness * (patches.stretch**2).sum(axis=1)
    return float((patches.energy + shear)[which].sum())


def kinetic(bodies: Bodies, rotation: Array, velocity: Array, which: Array) -> float:
    """[J] of some blocks (B,) bool."""
    momentum = np.empty((len(rotation), 3))
    momenta(rotation, velocity, bodies.inertia, momentum)
    twice = bodies.mass * (velocity[:, :3] ** 2).sum(axis=1) + (velocity[:, 3:] * momentum).sum(axis=1)
    return 0.5 * float(twice[which].sum())
