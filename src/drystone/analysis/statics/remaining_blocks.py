"""The part of a structure that remains if it does not stand as a whole.

The structure is followed under Coulomb friction, and the blocks that fall fastest are removed, stage by stage, until the rest
stands (T46). The rest bears itself with forces of its own, like a natural arch in a wall or a corbelled dome over a hole."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from drystone.analysis.statics.standing import StandingTrial, try_standing
from drystone.base.units import GRAVITY
from drystone.structure.joint_laws import DEFAULT_YOUNG
from drystone.structure.loads import AppliedLoad
from drystone.structure.model import Model

Array = np.ndarray

# of the largest fall: blocks that fall at least so far are removed in the same stage; slower ones may come to rest
FASTEST_SHARE = 0.9


class RemainingStructure(NamedTuple):
    """The blocks that fell, and whether the rest stands."""

    stays: Array  # (B,) bool, supports included
    stages: tuple[Array, ...]  # numbers of the blocks removed in each stage
    rest: StandingTrial  # of what stays; does not stand if it moves without falling


def find_remaining(
    model: Model,
    *,
    gravity: float = GRAVITY,
    loads: Iterable[AppliedLoad] = (),
    young: float = DEFAULT_YOUNG,
    threads: int | None = 1,
) -> RemainingStructure:
    """The part of a structure that stands when the blocks that fall are gone."""
    *_, last = remove_falling_blocks(model, gravity=gravity, loads=loads, young=young, threads=threads)
    return last


def remove_falling_blocks(
    model: Model,
    *,
    gravity: float = GRAVITY,
    loads: Iterable[AppliedLoad] = (),
    young: float = DEFAULT_YOUNG,
    threads: int | None = 1,
) -> Iterator[RemainingStructure]:
    """The structure after each stage. After the last one the rest stands, or moves without falling."""
    stays, stages, loads = np.ones(len(model.blocks), bool), list[Array](), list(loads)
    while True:
        rest_trial = try_standing(remove_blocks(model, ~stays), gravity=gravity, loads=loads, young=young, threads=threads)
        yield RemainingStructure(stays.copy(), tuple(stages), rest_trial)
        down = -rest_trial.displacement[:, 2] * (~model.bodies.fixed & stays)
        if rest_trial.stands or not rest_trial.finite or down.max() <= 0:
            return
        stages.append(np.flatnonzero(down >= FASTEST_SHARE * down.max()))
        stays[stages[-1]] = False
        if not (stays & ~model.bodies.fixed).any():
            return


def remove_blocks(model: Model, gone: Array) -> Model:
    """The model without some blocks. They become supports that lie aside and touch nothing, so that block numbers do not
    change."""
    size = np.ptp(model.position, axis=0).max() + 2 * model.bodies.radius.max()
    aside = model.position - gone[:, None] * [0.0, 0.0, 2 * size]
    return replace(model, position=aside, bodies=model.bodies._replace(fixed=model.bodies.fixed | gone))
