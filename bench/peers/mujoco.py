"""MuJoCo (https://mujoco.org), an engine of robotics, for comparison (make bench installs it).

Contacts are soft: `solref` is the time in which an overlap goes back, and a wall of 32 courses sinks by what all its joints
give way together. Tried with version 4.0.0 on the wall of 1,000 blocks, one thread:

| step | solref | other | standing: moved by 0.1 s | cost, ms a ms |
|---|---|---|---|---|
| 2 ms | 0.02 s | **the defaults** | 21 mm; 12 mm at the end, at rest | 53 |
| 1 ms | 0.004 s | elliptic cones | 2.0 mm | 84 |
| 1 ms | 0.004 s | solimp 0.99 0.999 | 7.4 mm | 193 |
| 1 ms | 0.003 s | | 11 mm | 124 |
| 1 ms | 0.002 s | | 49 mm | 122 |
| 0.5 ms | 0.002 s | **the best** | 0.18 mm, at rest | 199 |
| 0.5 ms | 0.002 s | elliptic cones | 0.63 mm, and creeps on | 176 |
| 0.5 ms | 0.002 s | solimp 0.99 0.999 | 0.02 mm, at rest | 305 |
| 0.5 ms | 0.001 s | | 6.5 mm | 278 |
| 0.25 ms | 0.001 s | | 0.05 mm | 281 |

Conjugate gradients and Gauss-Seidel took longer than Newton's method, the default, and stopped at 100 iterations. The ground
stands still and its acceleration acts on all blocks.
"""

from collections.abc import Callable, Sequence
from itertools import count

import numpy as np

from bench.peers.peer import Peer, Setting, Steps, frictions, half_size, hulls, weight
from drystone.ground.motion import Motion
from drystone.structure.model import Model

Array = np.ndarray
MEMORY = 250_000  # [B] a block for contacts, three times what was seen; its own guess for 5,000 blocks is more than 40 GB


def steps(model: Model, motions: Sequence[Motion], setting: Setting) -> Steps:
    """After every step, how to ask where the centroids are."""
    import mujoco

    world = new_world(model, setting)
    data = mujoco.MjData(world)
    mujoco.mj_forward(world, data)
    fixed = model.bodies.fixed

    def where() -> Array:
        position = model.position.copy()
        position[~fixed] = data.qpos.reshape(-1, 7)[:, :3]  # free joints in order; `xipos` is that of the step before
        return position

    def step(index: int) -> Callable[[], Array]:
        world.opt.gravity[:] = weight(motions, index, setting.time_step)
        mujoco.mj_step(world, data)
        return where

    return map(step, count())


def new_world(model: Model, setting: Setting):
    """The blocks as free bodies, in their order; supports are part of the world."""
    import mujoco

    spec, friction, shapes = mujoco.MjSpec(), frictions(model), hulls(model)
    spec.option.timestep = setting.time_step
    spec.memory = MEMORY * max(len(model.blocks), 200)
    for i, block in enumerate(model.blocks):
        at = model.position[i]
        body = spec.worldbody if block.fixed else spec.worldbody.add_body(pos=at)
        if not block.fixed:
            body.add_freejoint()
        known = {"density": block.density, "friction": [friction[i], 0.005, 0.0001], "pos": at if block.fixed else np.zeros(3)}
        add_shapes(spec, body, f"{i}", half_size(model, i), shapes[i], known | setting.options)
    return spec.compile()


def add_shapes(spec, body, name: str, half: Array | None, pieces: list[Array], known: dict) -> None:
    """A box if it is one, else the hulls of the pieces."""
    import mujoco

    if half is not None:
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=half, **known)
        return
    for k, piece in enumerate(pieces):
        mesh = spec.add_mesh(name=f"{name}-{k}", uservert=piece.ravel())
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh.name, **known)


PEER = Peer(
    "MuJoCo", "mujoco", "Apache 2.0", "boxes and convex hulls",
    {
        "best": Setting(5e-4, "steps of 0.5 ms, overlaps that go back within 2 ms (solref)", {"solref": [0.002, 1.0]}),
        "defaults": Setting(2e-3, "steps of 2 ms, overlaps that go back within 20 ms (solref)", {}),
    },
    steps,
)  # fmt: skip
