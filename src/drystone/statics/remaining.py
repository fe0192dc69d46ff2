"""What is left of a structure that does not stand as a whole: a model and its loads come in, what falls and what stays go out.

In stages: of the blocks that start to go down those that do so fastest are taken away, until the rest stands (T46). What is
left bears itself by a state of forces of its own: a natural arch in a wall, a corbelled dome over a hole.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from drystone.joints import RIGID, Surface
from drystone.loads import Push
from drystone.model import Model
from drystone.solvers.solution import ContactSolver
from drystone.statics.equilibrium import Equilibrium, equilibrium
from drystone.units import GRAVITY

Array = np.ndarray

FASTEST = 0.5  # of the largest acceleration downwards: what falls at least so fast goes in one stage


class Remaining(NamedTuple):
    """What fell, and the balance of the rest."""

    stays: Array  # (B,) bool, supports included
    stages: tuple[Array, ...]  # numbers of the blocks taken away, stage by stage
    rest: Equilibrium  # of what stays; does not stand if it moves without falling, or the solver gave up


def remaining(
    model: Model,
    *,
    solver: ContactSolver,
    gravity: float = GRAVITY,
    loads: Iterable[Push] = (),
    surface: Surface = RIGID,
) -> Remaining:
    """The part of a structure that stands when the blocks that fall are gone."""
    stays, stages = np.ones(len(model.blocks), bool), list[Array]()
    while True:
        rest = equilibrium(without(model, ~stays), solver=solver, gravity=gravity, loads=loads, surface=surface)
        down = -rest.acceleration[:, 2] * ~model.bodies.fixed
        if rest.stands or not rest.solution.converged or down.max() <= 0:
            return Remaining(stays, tuple(stages), rest)
        stages.append(np.flatnonzero(down >= FASTEST * down.max()))
        stays[stages[-1]] = False


def without(model: Model, gone: Array) -> Model:
    """The model with some blocks taken away: laid down as supports where they touch nothing, so that numbers stay."""
    size = np.ptp(model.position, axis=0).max() + 2 * model.bodies.radius.max()
    aside = model.position - gone[:, None] * [0.0, 0.0, 2 * size]
    return replace(model, position=aside, bodies=model.bodies._replace(fixed=model.bodies.fixed | gone))
