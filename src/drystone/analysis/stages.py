"""What all analyses share: stages, the loads of a case, and the frames of a run.

The first frame of a run of statics is the structure as drawn. The others have forces [N] instead of impulses. Where the
structure has a mechanism, they also have its velocity and are displaced along it far enough to be visible."""

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from drystone.analysis.statics.collapse_multiplier import largest_rim_speed
from drystone.analysis.statics.cone_program import SOLVED, Optimum
from drystone.base.errors import InputError
from drystone.contact.contacts import Contacts
from drystone.engine.rotation import move_freely
from drystone.engine.simulation import Step, initial_state
from drystone.engine.solvers.solution import Residual, Solution
from drystone.io.case import Case
from drystone.results.mechanism import read_mechanism
from drystone.structure.boxes import all_vertices
from drystone.structure.loads import body_force, load_wrench, weight_wrench
from drystone.structure.model import Model

Array = np.ndarray

DRAWN_SHARE = 0.05  # of the size of the structure: the displacement with which the fastest block of a mechanism is drawn
# of the largest displacement: smaller movements of a mechanism count as none; the optimum of a program is accurate to less
MECHANISM_TOLERANCE = 1e-2
MIN_DRAWN_SPEED = 1e-4  # [m/s, m/s2] a mechanism whose fastest block is slower is due to rounding


class Stage(NamedTuple):
    """The progress of an analysis."""

    share: float  # done, 0 to 1
    words: str
    step: Step | None = None  # a state to record


Stages = Generator[Stage, None, dict[str, Any]]


def dead_and_live_loads(
    case: Case, model: Model, direction: tuple[float, float, float] | None, rotation: Array | None = None
) -> tuple[Array, Array]:
    """The dead and live loads (B, 6) of rotated blocks; `direction` is the direction of a live body force of 1 g."""
    gravity = case.analysis.gravity
    dead = weight_wrench(model, gravity) + load_wrench(model, [load for load in case.loads if not load.live], gravity, rotation)
    live = load_wrench(model, [load for load in case.loads if load.live], gravity, rotation)
    if direction is not None:
        live = live + body_force(model, direction, gravity)
    if not live.any():
        raise InputError(f"{case.path}: no live load is defined; give analysis.direction, or live = true in a [[load]]")
    return dead, live


def displaced_frame(case: Case, model: Model, number: int, velocity: Array, contacts: Contacts, solution: Solution) -> Step:
    """The frame of a structure with these forces and this mechanism, displaced along the mechanism far enough to be visible. A
    velocity that is due to rounding counts as none."""
    start = initial_state(model, case.analysis.gravity)
    fastest = float(largest_rim_speed(model, velocity).max())
    velocity = velocity if fastest > MIN_DRAWN_SPEED else np.zeros_like(velocity)
    stretch = DRAWN_SHARE * structure_size(model) / (fastest or 1.0)
    position, rotation = move_freely(start.position, start.rotation, velocity, stretch)
    state = start._replace(step=number, time=float(number), position=position, rotation=rotation, velocity=velocity)
    return Step(state._replace(contacts=contacts), solution, (0.0, 0.0, 0.0))


def structure_size(model: Model) -> float:
    """[m] The longest side of the bounding box of a structure."""
    return float(np.ptp(all_vertices(model.blocks), axis=0).max())


def optimum_as_solution(optimum: Optimum) -> Solution:
    """The answer of a cone program in the form of a solution for the run."""
    return forces_as_solution(optimum.error, optimum.status == SOLVED, "clarabel")


def forces_as_solution(error: float, solved: bool, method: str) -> Solution:
    """A state of forces in the form of a solution for the run."""
    return Solution(np.empty((0, 6)), np.empty((0, 3)), solved, method, 0, Residual(error, error, 0.0, 0.0, 0.0), 0)


def mechanism_result(
    model: Model, contacts: Contacts, velocity: Array, tolerance: float = MECHANISM_TOLERANCE
) -> dict[str, Any]:
    """The mechanism of a structure in words and numbers."""
    return read_mechanism(model, contacts, velocity, tolerance=tolerance).as_dict()
