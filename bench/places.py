"""What whole histories are followed on: a structure, its shaking, and for how long. Names come in, models go out.

Walls and towers are those of bench/scenes.py; house, spandrel arch and church are examples, with their own shaking.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.scenes import SCENES, Direction, make_model
from drystone.ground.motion import Motion
from drystone.io.case import read_case
from drystone.structure.model import Model

REST = 0.1  # [s] after which what still moves drifts
EXAMPLES = Path(__file__).parents[1] / "examples"
CASES = {
    "house": EXAMPLES / "pulsed-house.toml",
    "spandrel arch": EXAMPLES / "spandrel-arch.toml",
    "church": EXAMPLES / "church.toml",
}


class Place(NamedTuple):
    """What is followed and for how long."""

    scene: str
    size: int
    phase: str  # standing or shaken
    span: float  # [s]
    without: tuple[str, ...] = ()  # the methods that are left out


def scene_of(place: Place) -> tuple[Model, Sequence[Motion]]:
    """The structure and its shaking."""
    if place.scene in SCENES:
        return make_model(place.scene, place.size), sine(SCENES[place.scene].direction)
    case = read_case(CASES[place.scene])
    return case.model(), case.motions


def sine(direction: Direction) -> tuple[Motion, ...]:
    """1 g with a half-period of 30 ms."""
    return (Motion("sine", amplitude=9.81, half_period=0.03, direction=direction),)
