"""Rapier (https://rapier.rs), an engine of games and robots, for comparison (make bench installs it).

Its best setting for masonry, found by trial: steps of 1 ms with 10 parts of 10 sweeps each, Coulomb friction at every contact
point, contact springs of 1,000 Hz instead of 30, errors of 10 micrometres allowed instead of 5 mm, all contact points kept and
found anew in every step. Numbers are single precision. The ground stands still and its acceleration acts on all blocks.

Stones that are no boxes are hulls, smaller by 1 mm all around and rounded by as much, so that faces stay where they are: hulls
that touch without a gap are thrown apart by some mm in the first step.
"""

from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
from scipy.spatial import ConvexHull

from bench.peers.peer import Peer, Setting, Steps, frictions, half_size, hulls, weight
from drystone.base.units import GRAVITY
from drystone.ground.motion import Motion
from drystone.structure.model import Model

Array = np.ndarray
BEST = {
    "num_solver_iterations": 10,
    "num_internal_pgs_iterations": 10,
    "normalized_allowed_linear_error": 1e-5,
    "normalized_prediction_distance": 2e-3,
    "contact_clustering": False,
    "contact_recycling": False,
}
HERTZ, DAMPING = 1000.0, 5.0  # of the contact springs at the best setting
ROUND = 1e-3  # [m] of the edges of hulls


def steps(model: Model, motions: Sequence[Motion], setting: Setting) -> Steps:
    """After every step, how to ask where the centroids are."""
    world, friction, shapes = new_world(setting), frictions(model), hulls(model)
    handles = [world.add_body(*body_of(model, i, shapes[i], float(friction[i]))) for i in range(len(model.blocks))]

    def where() -> Array:
        places = [world.rigid_bodies[handle].translation for handle in handles]
        return np.array([(place.x, place.y, place.z) for place in places])

    def step(index: int) -> Callable[[], Array]:
        world.gravity = tuple(weight(motions, index, setting.time_step).tolist())
        world.step()
        return where

    return map(step, count())


def new_world(setting: Setting):
    """An empty world on one thread."""
    import rapier3d

    world = rapier3d.PhysicsWorld(gravity=(0.0, 0.0, -GRAVITY))
    world.set_num_threads(1)
    parameters = world.integration_parameters
    parameters.dt = setting.time_step
    for name, value in setting.options.items():
        setattr(parameters, name, value)
    if setting.options:
        parameters.friction_model = rapier3d.FrictionModel.COULOMB
        parameters.contact_softness = parameters.static_contact_softness = rapier3d.SpringCoefficients(HERTZ, DAMPING)
    return world


def body_of(model: Model, index: int, pieces: list[Array], friction: float):
    """A body that never sleeps, and its shapes."""
    import rapier3d

    larger = rapier3d.CoefficientCombineRule.MAX
    shapes = shapes_of(model, index, pieces)
    shapes = [each.friction(friction).friction_combine_rule(larger).restitution(0.0) for each in shapes]
    body = rapier3d.RigidBody.fixed() if model.blocks[index].fixed else rapier3d.RigidBody.dynamic()
    return body.translation(tuple(model.position[index].tolist())).can_sleep(False), shapes


def shapes_of(model: Model, index: int, pieces: list[Array]) -> list:
    """A box if it is one, else the rounded hulls of its pieces."""
    import rapier3d

    half, density = half_size(model, index), model.blocks[index].density
    if half is not None:
        return [rapier3d.Collider.cuboid(*half.tolist()).density(density)]
    whole = [ConvexHull(piece) for piece in pieces]
    return [rapier3d.Collider.round_convex_hull(smaller(each), ROUND).mass(density * each.volume) for each in whole]


def smaller(hull: ConvexHull) -> Array:
    """(V, 3) [m] its corners after every face has moved inwards by ROUND; that of many faces to where it fits them best."""
    out = hull.points.copy()
    for k in hull.vertices:
        normals = np.unique(hull.equations[(hull.simplices == k).any(axis=1), :3].round(9), axis=0)
        out[k] -= ROUND * np.linalg.lstsq(normals, np.ones(len(normals)), rcond=None)[0]
    return out[hull.vertices]


PEER = Peer(
    "Rapier", "rapier3d", "Apache 2.0", "boxes, and convex hulls rounded by 1 mm",
    {
        "best": Setting(1e-3, "steps of 1 ms with 10 parts of 10 sweeps, Coulomb friction, contact springs of 1,000 Hz, errors "
                              "of 10 µm allowed, no contact point left out or kept from the last step", BEST),
        "defaults": Setting(1 / 60, "steps of 1/60 s with 4 parts of one sweep, simplified friction, contact springs of 30 Hz, "
                                    "errors of 5 mm allowed", {}),
    },
    steps,
)  # fmt: skip
