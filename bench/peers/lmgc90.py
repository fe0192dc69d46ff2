"""LMGC90, contact dynamics of masonry and grains, through https://github.com/BlockResearchGroup/compas_lmgc90.

Non-smooth contact dynamics by non-linear Gauss-Seidel, rigid stones, exact Coulomb friction. The wheel of compas_lmgc90 is used
without COMPAS, by its compiled module alone (pip install --no-deps): it chooses solver and tolerance itself, knows one friction
for all joints, convex stones, and one simulation a process. The supports move as the ground does; positions are told from them.

Its first step finds all contact forces from nothing: that of the wall of 1,000 blocks took 70 s, the second 15 s, the third
1.3 s.
"""

from collections.abc import Callable, Sequence
from itertools import count

import numpy as np

from bench.peers.peer import Peer, Setting, Steps
from drystone.ground.motion import Motion, total_velocity
from drystone.structure.model import Block, Model

Array = np.ndarray
LONGEST = 10.0  # [s] of shaking that is told to it ahead
NAME = "iqsc0"  # of the one contact law, as compas_lmgc90 has it


def steps(model: Model, motions: Sequence[Motion], setting: Setting) -> Steps:
    """After every step, how to ask where the centroids are."""
    solver = new_solver(model, motions, setting)
    start = np.array(solver.get_initial_state().init_bodies)
    support = int(np.flatnonzero(model.bodies.fixed)[0])

    def step(_: int) -> Callable[[], Array]:
        result = solver.compute_one_step()

        def where() -> Array:
            moved = np.array(result.bodies) - start
            return model.position + moved - moved[support]

        return where

    return map(step, count())


def new_solver(model: Model, motions: Sequence[Motion], setting: Setting):
    """The blocks as polyhedra under one contact law."""
    from compas_lmgc90 import _lmgc90

    solver, free = _lmgc90.LMGC90Solver(), int(np.flatnonzero(~model.bodies.fixed)[0])
    group = model.bodies.group[free]
    solver.initialize(setting.time_step, setting.options["theta"], False)
    solver.add_one_tact_behav(NAME, setting.options["law"], [float(model.friction[group, group])])
    names = {density: f"s{k + 1:04}" for k, density in enumerate(sorted({block.density for block in model.blocks}))}
    solver.set_materials(list(names))
    solver.set_see_tables(setting.options["alert"])
    solver.set_nb_bodies(len(model.blocks))
    ground = evolution(motions, setting.time_step)
    for i, (block, centre) in enumerate(zip(model.blocks, model.position, strict=True)):
        add_block(solver, i + 1, block, centre, names[block.density], ground)
    solver.close_before_computing()
    return solver


def add_block(solver, number: int, block: Block, centre: Array, material: str, ground: list[Array]) -> None:
    """One polyhedron of triangles; a support moves as the ground does and does not turn."""
    if block.pieces:
        raise ValueError(f"{block.name} is not convex, and LMGC90 is given convex stones alone")
    triangles = [(face[0], face[k], face[k + 1]) for face in block.faces for k in range(1, len(face) - 1)]
    corners = (np.array(triangles) + 1).ravel().tolist()
    solver.set_one_polyr(material, centre.tolist(), corners, (block.vertices - centre).ravel().tolist(), 6 * block.fixed, 0)
    for direction in range(6 * block.fixed):
        moves = direction < 3 and bool(ground)
        values = ground[direction] if moves else np.zeros(6)
        solver.set_drvdof(number, direction + 1, values.ravel(), True, moves)


def evolution(motions: Sequence[Motion], time_step: float) -> list[Array]:
    """Of the ground along x, y and z: instants [s] and velocities [m/s] (2, n); nothing if it stands still."""
    if not motions:
        return []
    instants = time_step * np.arange(round(LONGEST / time_step) + 1)
    return [np.array([instants, along]) for along in total_velocity(motions, instants).T]


PEER = Peer(
    "LMGC90", "compas_lmgc90", "CeCILL, its binding MIT", "convex polyhedra, one friction for all joints",
    {
        "best": Setting(1e-3, "steps of 1 ms, IQS_CLB, theta 0.5", {"law": "IQS_CLB", "theta": 0.5, "alert": 1e-3}),
        "defaults": Setting(1e-2, "steps of 10 ms, IQS_CLB, theta 0.5", {"law": "IQS_CLB", "theta": 0.5, "alert": 1e-3}),
    },
    steps,
)  # fmt: skip
