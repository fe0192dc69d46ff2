"""Collapse multipliers put to the test: a model and a load come in; how it fares at rest on a tilted table, or through time
under a constant acceleration of the ground, goes out. Nothing here knows how the multiplier was found."""

import math
from typing import NamedTuple

import numpy as np

from drystone.joints import RIGID, Surface
from drystone.loads import body_force, unit
from drystone.model import Model
from drystone.motion import Motion
from drystone.simulate import simulate
from drystone.solvers.solution import ContactSolver
from drystone.statics.equilibrium import equilibrium
from drystone.units import GRAVITY

Array = np.ndarray
Direction = tuple[float, float, float]

TURN = math.radians(0.05)  # below and above the angle of tilt
MARGIN = 0.01  # of the multiplier, below and above, in time
SEEN = 0.1  # of the way that the surplus of acceleration would go alone: what is said to move


class Trial(NamedTuple):
    """How a structure fares a little below and a little above its multiplier."""

    stands_below: bool
    moves_above: bool


def tilted(model: Model, angle: float, direction: Direction, *, solver: ContactSolver, gravity: float = GRAVITY) -> bool:
    """Whether the structure stands with gravity turned by `angle` [rad] towards a horizontal direction."""
    aside = body_force(model, direction, gravity * math.sin(angle))
    return equilibrium(model, solver=solver, gravity=gravity * math.cos(angle), push=aside).stands


def try_tilt(model: Model, angle: float, direction: Direction, *, solver: ContactSolver, gravity: float = GRAVITY) -> Trial:
    """On a table tilted 0.05 degrees less and more than `angle` [rad]."""
    below, above = (tilted(model, each, direction, solver=solver, gravity=gravity) for each in (angle - TURN, angle + TURN))
    return Trial(below, not above)


def try_in_time(
    model: Model,
    multiplier: float,
    direction: Direction,
    *,
    solver: ContactSolver,
    gravity: float = GRAVITY,
    surface: Surface = RIGID,
    duration: float = 0.5,
    time_step: float = 5e-3,
) -> Trial:
    """Under a constant body force 1 % below and 1 % above the multiplier, for `duration` [s]."""
    surplus = 0.5 * MARGIN * abs(multiplier) * gravity * duration**2  # [m]
    ground = tuple((-math.copysign(1.0, multiplier) * unit(direction)).tolist())  # pushes the structure the other way
    moved = []
    for share in (1 - MARGIN, 1 + MARGIN):
        shake = Motion("rectangular", amplitude=share * abs(multiplier) * gravity, duration=2 * duration, direction=ground)
        *_, last = simulate(
            model, [shake], duration=duration, time_step=time_step, solver=solver, gravity=gravity, surface=surface
        )
        moved.append(float(np.linalg.norm(last.state.position - model.position, axis=1).max()))
    return Trial(moved[0] <= SEEN * surplus, moved[1] > SEEN * surplus)
