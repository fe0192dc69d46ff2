"""Stresses in deformable blocks for pictures: a frame of a `Run` comes in, its brick elements and their stresses go out.

`STRESS_MEASURES` are the numbers that can be drawn: "von mises"; "tension" and "compression", the largest principal stresses;
and for a dome about the z axis "hoop tension", "hoop compression" and "meridian compression", in the axes of the blocks as
built.
"""

from collections.abc import Callable

import numpy as np

from drystone.base import quaternion
from drystone.base.errors import InputError
from drystone.results.store.run_reader import Run
from drystone.structure.deformable_blocks import elements, gauss_stresses, nodal, principal, von_mises
from drystone.structure.model import Block, Model, make_bodies
from drystone.structure.polyhedra import Solids, make_surfaces

Array = np.ndarray

BRICK_FACES = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))  # of a brick, from outside


def _hoop_stress(stress: Array, place: Array) -> Array:
    """(E,) [Pa] the normal stress along the horizontal circle about the z axis."""
    across = place[:, :2] / np.linalg.norm(place[:, :2], axis=1, keepdims=True)
    x, y = -across[:, 1], across[:, 0]
    return stress[:, 0] * x * x + stress[:, 1] * y * y + 2.0 * stress[:, 3] * x * y


def _meridian_stress(stress: Array, place: Array) -> Array:
    """(E,) [Pa] the smallest principal stress in the vertical plane through the z axis."""
    x, y = (place[:, :2] / np.linalg.norm(place[:, :2], axis=1, keepdims=True)).T
    out = stress[:, 0] * x * x + stress[:, 1] * y * y + 2.0 * stress[:, 3] * x * y
    shear = stress[:, 5] * x + stress[:, 4] * y
    return (out + stress[:, 2]) / 2 - np.hypot((out - stress[:, 2]) / 2, shear)


STRESS_MEASURES: dict[
    str, Callable[[Array, Array], Array]
] = {  # (E,) [Pa] of the mean stresses (E, 6) of bricks at places (E, 3)
    "von mises": lambda stress, place: von_mises(stress),
    "tension": lambda stress, place: np.maximum(principal(stress)[:, -1], 0.0),
    "compression": lambda stress, place: np.maximum(-principal(stress)[:, 0], 0.0),
    "hoop tension": lambda stress, place: np.maximum(_hoop_stress(stress, place), 0.0),
    "hoop compression": lambda stress, place: np.maximum(-_hoop_stress(stress, place), 0.0),
    "meridian compression": lambda stress, place: np.maximum(-_meridian_stress(stress, place), 0.0),
}


def stressed_bricks(run: Run, frame: int, measure: str, exaggerate: float) -> tuple[Model, Array]:
    """A model for drawing of the rigid blocks and of the bricks of deformable blocks in a frame, and (N,) [Pa] one of the
    `STRESS_MEASURES` of each, nan if it is rigid. Strains, but not the motion of the blocks, are multiplied by `exaggerate`."""
    if run.model.elastic is None:
        raise InputError(f"{run.folder}: all blocks are rigid and have no stresses; set deformable in [structure]")
    drawn, values = _pieces(run, frame, measure, exaggerate)
    return _model(drawn), values


def _pieces(run: Run, frame: int, measure: str, exaggerate: float) -> tuple[list[Block], Array]:
    """The rigid blocks and the bricks of deformable blocks in a frame, and (N,) [Pa] the measure of each, nan if it is
    rigid."""
    model, state, elastic = run.model, run.state(frame), run.model.elastic
    assert elastic is not None
    moved, stresses = nodal(elastic, state.amplitude), gauss_stresses(elastic, state.amplitude)
    drawn, values = [], []
    for i, block in enumerate(model.blocks):
        s = int(elastic.row[i])
        if s < 0:
            corners = np.asarray(block.vertices, float) - model.position[i]
            place = state.position[i] + quaternion.rotate(state.rotation[i], corners)
            drawn.append(Block(place, block.faces, fixed=block.fixed))
            values.append(np.nan)
            continue
        kind = int(elastic.kind[s])
        place = state.position[i] + quaternion.rotate(state.rotation[i], elastic.node[kind] + exaggerate * moved[s])
        corners_of = elements(elastic.mesh[kind].tolist())
        drawn += [Block(place[corners], BRICK_FACES) for corners in corners_of]
        middle = model.position[i] + elastic.node[kind][corners_of].mean(axis=1)
        values += STRESS_MEASURES[measure](stresses[s].mean(axis=1), middle).tolist()
    return drawn, np.array(values)


def _model(drawn: list[Block]) -> Model:
    """A model that can only be drawn: the faces of its blocks may be slightly curved, and the blocks may overlap."""
    count, none = len(drawn), np.zeros(len(drawn))
    surfaces = make_surfaces([block.vertices for block in drawn], [block.faces for block in drawn], [""] * count)
    middle = np.array([block.vertices.mean(axis=0) for block in drawn])
    fixed = np.array([block.fixed for block in drawn])
    solids = Solids(none, middle, np.zeros((count, 3, 3)))
    bodies = make_bodies(surfaces, solids, np.arange(count), none, fixed, np.zeros(count, np.int64))
    return Model(tuple(drawn), bodies, middle, np.zeros((1, 1)))
