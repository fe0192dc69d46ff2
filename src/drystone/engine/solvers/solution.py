"""What every contact solver takes and returns besides the problem."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from drystone.engine.solvers.problem import Problem

Array = np.ndarray

SMALL_STEPS = "small steps"  # the path of steps that no solver took
FINER_STEPS = "small steps, some repeated finer"  # likewise, where contact had made energy at first


class Residual(NamedTuple):
    """How far a pair (velocity, impulse) is from solving the problem; see `residual.grade`. All are relative:
    velocities to g h, impulses to the weight impulse of the mean block."""

    error: float  # estimate (compliant form: bound) of the mass-weighted rms velocity error
    momentum: float  # largest imbalance of a block
    natural_map: float  # largest defect of the contact law; NOT an error bound
    penetration: float  # largest velocity into a contact
    gap: float  # complementarity: mean of impulse . velocity over the contacts


class Guess(NamedTuple):
    """What the last step leaves for this one."""

    velocity: Array  # (N, D) [kg^1/2 m/s] whitened, at the start of the step
    impulse: Array  # (C, 3) [N s] contact frame, zero for new contacts
    hardship: int  # of the last step


class Solution(NamedTuple):
    """The answer of a solver and how it was found. Solvers report, they do not raise, print or mend."""

    velocity: Array  # (N, D) [kg^1/2 m/s] whitened
    impulse: Array  # (C, 3) [N s] contact frame: normal, tangent 1, tangent 2
    converged: bool
    path: str  # what ran, e.g. "warm", "newton", "newton+interior", "newton+interior+clarabel"
    factorisations: int
    residual: Residual
    hardship: int  # memory for the next step's choice of path


ContactSolver = Callable[["Problem", Guess], Solution]
