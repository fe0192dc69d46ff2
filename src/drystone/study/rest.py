"""When nothing can happen any more: the states of a history come in, one after the other, yes or no goes out.

A structure has come to rest when its motions are over and, for CALM seconds since, no point of any block has moved by STILL.
Not a small velocity or kinetic energy: a block at the top of its swing has none of either, and near the angle where it would
balance it has little of both for long. What is accelerated by more than 2 STILL / CALM^2, 5 millionths of g, moves further than
that from rest: stopped too early is only what balances on its edge more closely (T120).
"""

import numpy as np

from drystone.changes import last_of
from drystone.io.analysis_tables import SettlementHistory
from drystone.io.case import Case
from drystone.loads import last_change
from drystone.model import Model
from drystone.motion import end_of
from drystone.state import State

Array = np.ndarray

REST_DURATION = 0.2  # [s]
MAX_REST_MOVEMENT = 1e-6  # [m]


class AtRest:
    """Whether the states it was shown, in the order of time, end at rest."""

    def __init__(self, case: Case, model: Model):
        self._over = max(end_of(case.motions), last_change(case.loads), last_of(case.changes))  # [s]
        self._inert = isinstance(case.analysis, SettlementHistory)  # without inertia what falls may fall as slowly as it likes
        self._radius = model.bodies.radius
        self._since: State | None = None  # the state from which on nothing has moved

    def __call__(self, state: State) -> bool:
        if self._inert or state.time < self._over:
            return False
        if self._since is None or largest_movement(self._since, state, self._radius) > MAX_REST_MOVEMENT:
            self._since = state
        return state.time - self._since.time >= REST_DURATION


def largest_movement(first: State, second: State, radius: Array) -> float:
    """[m] by which some point of a block may have moved, at most: the shift of its centroid and its turn. radius (B,) [m]"""
    shift = np.linalg.norm(second.position - first.position, axis=1)
    rotation = 2 * np.linalg.norm(second.rotation - first.rotation, axis=1)  # [rad] of small turns
    return float((shift + rotation * radius).max())
