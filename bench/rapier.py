"""Rapier (https://rapier.rs), an engine of games and robots, for comparison (pip install --group bench).

Its best setting for masonry, found by trial: steps of 1 ms with 10 parts of 10 sweeps each, Coulomb friction at every contact
point, contact springs of 1,000 Hz instead of 30, errors of 10 micrometres allowed instead of 1 mm, all contact points kept and
found anew in every step. Its defaults cost a quarter of that, but a wall of 1,000 blocks creeps by millimetres in 30 ms.
Numbers are single precision.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import count

import numpy as np

from drystone.model import Block, Model
from drystone.motion import Motion, velocity
from drystone.units import GRAVITY

Array = np.ndarray
TIME_STEP = 1e-3  # [s]


def installed() -> str:
    """Its version, nothing if it is not there."""
    try:
        return version("rapier3d")
    except PackageNotFoundError:
        return ""


def steps(model: Model, motions: Sequence[Motion]) -> Iterator[Callable[[], Array]]:
    """After every step, how to ask where the centroids of the blocks are (B, 3). The ground stands still and its acceleration
    acts on all blocks. The world is built at once, so that no step is charged for it."""
    world, friction = new_world(), float(model.friction[0, 0])
    handles = [world.add_body(*body_of(*stone, friction)) for stone in zip(model.blocks, model.position, strict=True)]

    def where() -> Array:
        places = [world.rigid_bodies[handle].translation for handle in handles]
        return np.array([(place.x, place.y, place.z) for place in places])

    def step(index: int) -> Callable[[], Array]:
        before, after = velocity(motions, TIME_STEP * np.array([index, index + 1]))
        world.gravity = tuple((np.array([0.0, 0.0, -GRAVITY]) - (after - before) / TIME_STEP).tolist())
        world.step()
        return where

    return map(step, count())


def new_world():
    """An empty world on one thread, at the best setting."""
    import rapier3d

    world = rapier3d.PhysicsWorld(gravity=(0.0, 0.0, -GRAVITY))
    world.set_num_threads(1)
    setting = world.integration_parameters
    setting.dt = TIME_STEP
    setting.friction_model = rapier3d.FrictionModel.COULOMB
    setting.num_solver_iterations = setting.num_internal_pgs_iterations = 10
    setting.normalized_allowed_linear_error = 1e-5
    setting.normalized_prediction_distance = 2e-3
    setting.contact_clustering = setting.contact_recycling = False
    setting.contact_softness = setting.static_contact_softness = rapier3d.SpringCoefficients(1000.0, 5.0)
    return world


def body_of(block: Block, centre: Array, friction: float):
    """A box that never sleeps, and its shape; walls and towers have no other stones."""
    import rapier3d

    size = np.ptp(block.vertices, axis=0)
    if len(block.vertices) != 8 or not np.isclose(np.abs(block.vertices - centre), size / 2).all():
        raise ValueError(f"{block.name} is not an upright box")
    body = rapier3d.RigidBody.fixed() if block.fixed else rapier3d.RigidBody.dynamic()
    shape = rapier3d.Collider.cuboid(*(size / 2).tolist()).density(block.density).friction(friction).restitution(0.0)
    return body.translation(tuple(centre.tolist())).can_sleep(False), [shape]
