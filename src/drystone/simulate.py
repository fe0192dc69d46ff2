"""A run as a generator of steps: recording, live view and stopping are plain `for` loops over it."""

from collections.abc import Iterator
from typing import NamedTuple

from drystone.model import Model
from drystone.motion import Motion
from drystone.solvers.solution import Solution
from drystone.stepping import State


class Step(NamedTuple):
    """One computed step and what it cost."""

    state: State
    solution: Solution
    seconds: tuple[float, float, float]  # contact detection, solver, rest
