"""What is left of a structure that does not stand as a whole: a model and its loads come in, what falls and what stays go out.

In stages: let go under Coulomb friction, the blocks that go down fastest are taken away, until the rest stands
(T46). What is left bears itself by a state of forces of its own: a natural arch in a wall, a corbelled dome over a hole.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from drystone.laws import DEFAULT_YOUNG
from drystone.loads import AppliedLoad
from drystone.model import Model
from drystone.statics.standing import StandingTrial, try_standing
from drystone.units import GRAVITY

Array = np.ndarray

FASTEST_SHARE = (
    0.9  # of the largest fall: what falls so far in the same time goes in one stage; what lags behind may find a hold
)


class RemainingStructure(NamedTuple):
    """What fell, and the balance of the rest."""

    stays: Array  # (B,) bool, supports included
    stages: tuple[Array, ...]  # numbers of the blocks taken away, stage by stage
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
    """The structure after each stage; the rest of the last stands, or moves without falling."""
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
    """The model with some blocks taken away: laid down as supports where they touch nothing, so that numbers stay."""
    size = np.ptp(model.position, axis=0).max() + 2 * model.bodies.radius.max()
    aside = model.position - gone[:, None] * [0.0, 0.0, 2 * size]
    return replace(model, position=aside, bodies=model.bodies._replace(fixed=model.bodies.fixed | gone))
